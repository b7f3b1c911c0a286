//! The folder of the entries.

use std::fs::{self, DirEntry, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::entry::{self, Entry};
use crate::error::{Error, Result};

/// What [`super::Cache::clear`] removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cleared {
    /// Files.
    pub entries: usize,
    /// Their sizes together.
    pub bytes: u64,
}

/// What a program that broke off left unfinished is removed after this.
const STALE: Duration = Duration::from_secs(3600);
/// Digits of a name.
const DIGITS: usize = 64;
const PART: &str = ".part";

#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    limit: u64,
    /// Bytes that may be written before the folder is looked through again.
    room: AtomicU64,
    /// Writing failed once: it is not tried again.
    closed: AtomicBool,
    written: AtomicU64,
}

impl Store {
    pub(super) fn new(folder: PathBuf, limit: u64) -> Self {
        Self {
            folder,
            limit,
            room: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            written: AtomicU64::new(0),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let path = self.folder.join(name);
        // A pipe, a device or a link in its place may have no end.
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let bytes = fs::read(&path).ok()?;
        let found = entry::decode(name, &bytes);
        if found.is_some() {
            // The one that was used last goes last. A folder that cannot be written keeps its times.
            let file = File::options().append(true).open(&path);
            let _ = file.and_then(|f| f.set_modified(SystemTime::now()));
        } else {
            let _ = fs::remove_file(&path);
        }
        found
    }

    pub(super) fn put<T: Serialize>(&self, name: &str, what: &str, of: &str, value: &T) {
        if self.closed.load(Ordering::Relaxed) {
            return;
        }
        let Some(bytes) = entry::encode(name, what, of, value) else {
            return;
        };
        let size = bytes.len() as u64;
        // One that would drive most others out.
        if size > self.limit / 4 {
            return;
        }
        if self.write(name, &bytes).is_err() {
            self.closed.store(true, Ordering::Relaxed);
            return;
        }
        let taken = self
            .room
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |r| {
                r.checked_sub(size)
            });
        if taken.is_err() {
            self.trim();
        }
    }

    /// Writes beside the place and renames: a reader sees all of it or nothing. It need not last through a power cut: what is
    /// not whole is found by its sum.
    fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let count = self.written.fetch_add(1, Ordering::Relaxed);
        let part = format!("{name}.{}-{count}{PART}", std::process::id());
        let part = self.folder.join(part);
        let written = File::create(&part)
            .and_then(|mut f| f.write_all(bytes))
            .and_then(|()| fs::rename(&part, self.folder.join(name)));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }

    /// Removes the entries that were not used for longest until a tenth of the limit is free, and what was left unfinished.
    fn trim(&self) {
        let mut entries = Vec::new();
        for (entry, unfinished) in self.files() {
            let Ok(meta) = entry.metadata() else { continue };
            let used = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if !unfinished {
                entries.push((used, meta.len(), entry.path()));
            } else if used.elapsed().is_ok_and(|age| age > STALE) {
                let _ = fs::remove_file(entry.path());
            }
        }
        entries.sort();
        let mut total: u64 = entries.iter().map(|e| e.1).sum();
        if total > self.limit {
            for (_, size, path) in entries {
                if total <= self.limit - self.limit / 10 {
                    break;
                }
                if fs::remove_file(path).is_ok() {
                    total -= size;
                }
            }
        }
        let room = self.limit.saturating_sub(total);
        self.room.store(room, Ordering::Relaxed);
    }

    /// The files of this cache, with whether they are unfinished; whatever else stands in the folder is none of it.
    fn files(&self) -> impl Iterator<Item = (DirEntry, bool)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let name = entry.file_name();
            let name = name.to_str()?;
            let (key, rest) = name.split_at_checked(DIGITS)?;
            let is_key = key.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            let unfinished = rest.starts_with('.') && rest.ends_with(PART);
            let ours = is_key && (rest.is_empty() || unfinished);
            (ours && entry.file_type().ok()?.is_file()).then_some((entry, unfinished))
        })
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        let finished = self.files().filter(|(_, unfinished)| !unfinished);
        let mut entries: Vec<Entry> = finished
            .filter_map(|(file, _)| {
                let meta = file.metadata().ok()?;
                let (what, of) = entry::about(&file.path()).unzip();
                Some(Entry {
                    key: file.file_name().to_str()?.to_owned(),
                    what,
                    of: of.unwrap_or_default(),
                    bytes: meta.len(),
                    used: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                })
            })
            .collect();
        entries.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.key.cmp(&b.key)));
        entries
    }

    pub(super) fn clear(&self) -> Result<Cleared> {
        let mut cleared = Cleared::default();
        let mut failed = None;
        for (file, unfinished) in self.files() {
            let bytes = file.metadata().map_or(0, |m| m.len());
            match fs::remove_file(file.path()) {
                Ok(()) if unfinished => {}
                Ok(()) => {
                    cleared.entries += 1;
                    cleared.bytes += bytes;
                }
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => failed = failed.or(Some(Error::io(&file.path(), "removing", e))),
            }
        }
        match failed {
            None => Ok(cleared),
            Some(e) => Err(e),
        }
    }
}
