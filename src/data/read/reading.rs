//! A reading under way: what the user says about the files, who watches, and how far it has come.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{ReadOptions, Source};
use crate::error::{Error, Result};
use crate::progress::{Observer, Progress};

/// Bytes between two reports of progress.
const STEP: u64 = 1 << 20;

/// What every reader is given: the options, and files that count what is read of them.
pub(crate) struct Reading<'a> {
    options: &'a ReadOptions,
    observer: &'a dyn Observer,
    /// Bytes of all files that will be read, as they stand on disk.
    total: u64,
    done: AtomicU64,
}

impl Deref for Reading<'_> {
    type Target = ReadOptions;

    fn deref(&self) -> &ReadOptions {
        self.options
    }
}

impl<'a> Reading<'a> {
    /// A reading of these files.
    pub(crate) fn new(
        options: &'a ReadOptions,
        observer: &'a dyn Observer,
        files: &[PathBuf],
    ) -> Self {
        let sizes = files.iter().filter_map(|f| fs::metadata(f).ok());
        Self {
            options,
            observer,
            total: sizes.map(|m| m.len()).sum(),
            done: AtomicU64::new(0),
        }
    }

    /// Opens a file; gzip is recognised by its first bytes, a UTF-8 byte-order mark is taken off.
    ///
    /// # Errors
    /// [`Error::Io`]; a folder. Later, while it is read: unpacked text of more than [`super::Limits::ratio`] times its
    /// size, and the end of a reading that was cancelled.
    pub(crate) fn open<'s>(&'s self, path: &Path) -> Result<Source<'s>> {
        if path.is_dir() {
            return Err(Error::input(
                path,
                "a folder, not a file",
                "name the file in it",
            ));
        }
        let failed = |e| Error::io(path, "reading", e);
        let file = File::open(path).map_err(failed)?;
        let read = Rc::new(Cell::new(0));
        let counted = Counted {
            file,
            reading: self,
            name: path.file_name().unwrap_or_default().display().to_string(),
            read: Rc::clone(&read),
            next: STEP,
        };
        let raw = BufReader::with_capacity(Source::HEAD, counted);
        Source::new(raw, Some((read, self.limits.ratio))).map_err(failed)
    }

    /// Ends a reading that was cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub(crate) fn check(&self) -> Result<()> {
        self.observer.check()
    }

    /// The error of a reading that went wrong, or that it was cancelled.
    pub(crate) fn ended(&self, e: Error) -> Error {
        if self.observer.cancelled() {
            Error::Cancelled
        } else {
            e
        }
    }
}

/// A file that tells how much of it was read.
struct Counted<'a> {
    file: File,
    reading: &'a Reading<'a>,
    name: String,
    read: Rc<Cell<u64>>,
    next: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(out)?;
        let read = self.read.get() + n as u64;
        self.read.set(read);
        let reading = self.reading;
        let done = reading.done.fetch_add(n as u64, Ordering::Relaxed) + n as u64;
        if read >= self.next || n == 0 {
            self.next = read + STEP;
            if reading.observer.cancelled() {
                return Err(io::Error::other("cancelled"));
            }
            // A pipe has no size.
            if reading.total > 0 {
                reading.observer.progress(&Progress {
                    what: format!("reading {}", self.name),
                    done: (done as f64 / reading.total as f64).min(1.0),
                });
            }
        }
        Ok(n)
    }
}
