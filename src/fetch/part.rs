//! The unfinished file `NAME.part` and the record beside it that says what it is a part of.
//!
//! The record is written before the first byte and names what the server said of the file; bytes without a record that fits
//! are never gone on with.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// What the server said of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Said {
    pub(super) url: String,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) total: Option<u64>,
}

impl Said {
    /// What `If-Range` takes: a strong entity tag, else the date.
    pub(super) fn validator(&self) -> Option<&str> {
        let strong = self.etag.as_deref().filter(|e| e.starts_with('"'));
        strong.or(self.last_modified.as_deref())
    }
}

/// An unfinished file.
pub(super) struct Part {
    target: PathBuf,
    path: PathBuf,
    file: Option<File>,
    said: Option<Said>,
    len: u64,
}

/// `NAME.part`, or another ending after the name.
fn beside(target: &Path, end: &str) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(end);
    target.with_file_name(name)
}

/// How much of `target` is there to go on from; `None` where nothing is.
pub(super) fn length(target: &Path) -> Option<u64> {
    let part = fs::metadata(beside(target, ".part")).ok()?;
    let record = beside(target, ".part.json").is_file();
    (record && part.is_file() && part.len() > 0).then_some(part.len())
}

impl Part {
    /// The part of `target` that an earlier fetch of `url` left, else an empty one. Nothing is written yet.
    pub(super) fn of(target: &Path, url: &str) -> Self {
        let path = beside(target, ".part");
        let said = fs::read(beside(target, ".part.json")).ok();
        let said = said.and_then(|text| serde_json::from_slice::<Said>(&text).ok());
        let said = said.filter(|said| said.url == url);
        let len = length(target).filter(|_| said.is_some()).unwrap_or(0);
        Self {
            target: target.to_owned(),
            path,
            file: None,
            said,
            len,
        }
    }

    /// How many bytes are there.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// What the server said of the file, where any of it is there.
    pub(super) fn said(&self) -> Option<&Said> {
        self.said.as_ref().filter(|_| self.len > 0)
    }

    /// Starts from nothing.
    pub(super) fn begin(&mut self, said: Said) -> Result<()> {
        if let Some(folder) = self.target.parent() {
            fs::create_dir_all(folder).map_err(|e| Error::io(folder, "making the folder", e))?;
        }
        self.len = 0;
        // A link in the part's place is not followed.
        let _ = fs::remove_file(&self.path);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&self.path);
        self.file = Some(file.map_err(|e| self.failed(e))?);
        let record = beside(&self.target, ".part.json");
        let text =
            serde_json::to_vec(&said).map_err(|e| Error::io(&record, "writing", e.into()))?;
        let _ = fs::remove_file(&record);
        fs::write(&record, text).map_err(|e| Error::io(&record, "writing", e))?;
        self.said = Some(said);
        Ok(())
    }

    /// Adds bytes at the end.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.opened()
            .and_then(|file| file.write_all(bytes))
            .map_err(|e| self.failed(e))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    fn opened(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let mut file = OpenOptions::new().read(true).write(true).open(&self.path)?;
                file.set_len(self.len)?;
                file.seek(SeekFrom::End(0))?;
                file
            }
        };
        Ok(self.file.insert(file))
    }

    fn failed(&self, e: io::Error) -> Error {
        Error::io(&self.path, "writing", e)
    }

    /// The SHA-256 of all bytes, and the last of them; `each` sees all of them.
    pub(super) fn digest(
        &mut self,
        tail: usize,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(String, Vec<u8>)> {
        self.hashed(tail, each)
            .map_err(|e| Error::io(&self.path, "reading", e))
    }

    fn hashed(
        &mut self,
        tail: usize,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<(String, Vec<u8>)> {
        let file = self.opened()?;
        file.seek(SeekFrom::Start(0))?;
        let mut hash = Sha256::new();
        let mut bytes = vec![0; 1 << 16];
        let mut last = Vec::new();
        loop {
            let n = file.read(&mut bytes)?;
            if n == 0 {
                break;
            }
            hash.update(&bytes[..n]);
            each(&bytes[..n]);
            last.extend_from_slice(&bytes[n.saturating_sub(tail)..n]);
            last.drain(..last.len().saturating_sub(tail));
        }
        let hex = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Ok((hex, last))
    }

    /// The part becomes the file: on the disk first, then under its name.
    pub(super) fn finish(mut self) -> Result<()> {
        let target = self.target.clone();
        self.opened()
            .and_then(|file| file.sync_all())
            .and_then(|()| {
                self.file = None;
                fs::rename(&self.path, &target)
            })
            .map_err(|e| Error::io(&target, "writing", e))?;
        let _ = fs::remove_file(beside(&target, ".part.json"));
        // The name is as durable as the bytes, where a folder can be synchronised.
        if let Some(folder) = target.parent().and_then(|f| File::open(f).ok()) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Drops what is there.
    pub(super) fn discard(&mut self) {
        self.file = None;
        self.said = None;
        self.len = 0;
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(beside(&self.target, ".part.json"));
    }
}
