//! One fetch of a data set at a time: the second waits for the first, and then finds it done.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::progress::{Observer, Progress};

/// How often the lock is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// Held as long as a data set is written. The system lets go of it however the program ends; the empty file stays.
pub(super) struct Lock(#[allow(dead_code)] Option<File>);

impl Lock {
    /// Waits until nobody else writes `name` in `folder`.
    pub(super) fn take(folder: &Path, name: &str, observer: &dyn Observer) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, "making the folder", e))?;
        let path = folder.join(format!(".{name}.lock"));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let file = file.map_err(|e| Error::io(&path, "opening", e))?;
        loop {
            observer.check()?;
            match file.try_lock() {
                Ok(()) => return Ok(Self(Some(file))),
                // Some network folders have no locks: better unlocked than not at all.
                Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {
                    return Ok(Self(None));
                }
                Err(TryLockError::Error(e)) => return Err(Error::io(&path, "locking", e)),
                Err(TryLockError::WouldBlock) => {
                    observer.progress(&Progress {
                        what: format!("waiting for another tinyscope that fetches {name}"),
                        done: 0.0,
                    });
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }
}
