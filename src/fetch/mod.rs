//! Fetching public data sets: a whole file or none, gone on with where it stopped.
//!
//! [`catalogue`] says what there is. A file comes as `NAME.part` and gets its name when its length, its form and, where
//! known, its checksum are right. A set of many files is a folder with a record, `fetched.json`, that says whether it is
//! complete. Names that a listing gives never lead out of the folder.

pub mod catalogue;
mod client;
mod folder;
mod listing;
mod lock;
mod part;
mod sniff;
mod transfer;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use catalogue::{DataSet, Presence};
use catalogue::{Form, OneFile};
use client::Client;
use transfer::{Budget, Lack, Tries, Wanted};

use crate::error::{Error, Result};
use crate::progress::Observer;

/// What the user decides.
#[derive(Debug, Clone)]
pub struct Options {
    /// Data sets go into this folder.
    pub folder: PathBuf,
    /// A mirror instead of the data set's own base; the paths below it are the same.
    pub base: Option<String>,
    /// A data set of more bytes is not fetched.
    pub max_size: u64,
    /// Of a set of many files, only those whose model or run holds one of these texts; all where empty.
    pub only: Vec<String>,
    /// Fetch what is already there once more.
    pub again: bool,
    /// Compare with the length and checksum that are known.
    pub checksum: bool,
    /// How long a connection, an answer and each next byte may take.
    pub timeout: Duration,
    /// How often it is tried again where nothing came.
    pub retries: u32,
    /// The pause before the first of these tries; it doubles.
    pub pause: Duration,
}

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The file or folder.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// How many files were fetched now; 0 where all was there.
    pub new: usize,
    /// How many files there are.
    pub files: usize,
    /// Models or runs that the listing names and the source has no file of.
    pub missing: Vec<String>,
}

/// Fetches a data set.
///
/// # Errors
/// [`Error::Fetch`] with the address; [`Error::Io`]; [`Error::Setting`] for a base or a choice that is none;
/// [`Error::Cancelled`]. What came before stays, to go on from.
pub fn fetch(set: &DataSet, options: &Options, observer: &dyn Observer) -> Result<Fetched> {
    let client = Client::new(options.base.as_deref().unwrap_or(set.base), options.timeout)?;
    let target = set.target(&options.folder);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let _lock = lock::Lock::take(&options.folder, &name, observer)?;
    match &set.form {
        Form::File(file) => one(file, &client, options, &target, observer),
        Form::Folder(layout) => folder::fetch(*layout, set, &client, options, observer),
    }
}

impl Options {
    fn tries(&self) -> Tries {
        Tries {
            retries: self.retries,
            pause: self.pause,
        }
    }
}

/// Fetches a data set of one file.
fn one(
    file: &OneFile,
    client: &Client,
    options: &Options,
    target: &Path,
    observer: &dyn Observer,
) -> Result<Fetched> {
    let done = |bytes, new| Fetched {
        path: target.to_owned(),
        bytes,
        new,
        files: 1,
        missing: Vec::new(),
    };
    let url = client.url(file.path);
    if !options.only.is_empty() {
        return Err(Error::setting(
            "--only chooses among many files, and this is one",
            "",
        ));
    }
    if let Ok(there) = fs::metadata(target) {
        if there.is_dir() {
            return Err(Error::input(
                target,
                "a folder in the place of the file",
                "name another with --to",
            ));
        }
        if !options.again {
            if options.checksum && there.len() != file.bytes {
                return Err(Error::input(
                    target,
                    format!("{} bytes, where {} are known", there.len(), file.bytes),
                    "--again fetches it anew, --no-checksum takes it as it is",
                ));
            }
            return Ok(done(there.len(), 0));
        }
    }
    let wanted = Wanted {
        url: &url,
        target,
        kind: file.kind,
        bytes: options.checksum.then_some(file.bytes),
        sha256: options.checksum.then_some(file.sha256),
    };
    let budget = Budget::new(options.max_size);
    match transfer::file(client, &wanted, options.tries(), &budget, observer) {
        Ok(bytes) => Ok(done(bytes, 1)),
        Err(Lack::Failed(e)) => Err(e),
        Err(Lack::Missing) => Err(not_found(&wanted)),
    }
}

/// The server knows no such file.
fn not_found(wanted: &Wanted<'_>) -> Error {
    let hint = format!(
        "it may have moved, or --base-url names no mirror of it; {}",
        transfer::by_hand(wanted)
    );
    Error::fetch(wanted.url, "not found", hint)
}

/// What to say of a folder whose fetch has not come to its end, or that is in such a folder or holds one; nothing for every
/// other path.
pub fn unfinished(path: &Path) -> Vec<String> {
    let Some(whole) = path.canonicalize().ok().filter(|p| p.is_dir()) else {
        return Vec::new();
    };
    let mut found: Vec<String> = whole.ancestors().filter_map(incomplete).collect();
    let mut level = vec![whole];
    for _ in 0..2 {
        let mut next = Vec::new();
        for folder in level {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let folders = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
            next.extend(folders.map(|e| e.path()));
        }
        found.extend(next.iter().filter_map(|folder| incomplete(folder)));
        level = next;
    }
    found.sort();
    found.dedup();
    found
}

/// What to say of a folder whose own fetch has not come to its end.
fn incomplete(folder: &Path) -> Option<String> {
    let record = folder::Record::read(folder).filter(|record| !record.complete)?;
    Some(format!(
        "not all of it was fetched: tinyscope fetch {} goes on",
        record.data_set
    ))
}

/// Refuses what is no base of addresses.
///
/// # Errors
/// Anything but an http or https URL with a host.
pub fn check_base(base: &str) -> Result<()> {
    client::Client::new(base, Duration::from_secs(1)).map(|_| ())
}

/// A number of bytes, as 90.6 MB.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut units = ["bytes", "kB", "MB", "GB", "TB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        if value < 999.95 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    if unit == "bytes" {
        format!("{bytes} bytes")
    } else {
        format!("{value:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_their_unit() {
        for (bytes, said) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (999_999, "1.0 MB"),
            (90_593_109, "90.6 MB"),
            (2_000_000_000, "2.0 GB"),
        ] {
            assert_eq!(size(bytes), said);
        }
    }
}
