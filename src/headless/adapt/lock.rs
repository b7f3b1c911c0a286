//! One test at a time on a file of answers: each writes what it knows, and would write over what another was told.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tinyscope::Error;
use tinyscope::data::write;

/// Held as long as it lives, by a hidden file beside the answers. The system lets go of it where the program is killed: a file
/// that was left behind harms nothing.
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// # Errors
    /// Another test has it; nothing can be written beside `answers`.
    pub(super) fn take(answers: &Path) -> tinyscope::Result<Self> {
        let target = write::followed(answers);
        let mut name = OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(".lock");
        let path = target.with_file_name(name);
        let failed = |e| Error::io(answers, "writing beside it", e);
        loop {
            let mut options = File::options();
            let file = options.write(true).create(true).truncate(false);
            let file = file.open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::input(
                        answers,
                        "another `tinyscope adapt` keeps its answers there",
                        "wait until it has ended, or name another file",
                    ));
                }
                // File systems without locks: as good as it gets there.
                Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(e)) => return Err(failed(e)),
            }
            // Whoever had it may have removed the file in between: then it is no longer where others look.
            if is_at(&file, &path) {
                return Ok(Self { path, _file: file });
            }
        }
    }

    /// The file beside the answers.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Best effort: it is harmless.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// A file that is open cannot be removed here.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let answers = dir.path().join("mine.json");
        let lock = Lock::take(&answers).unwrap();
        assert!(Lock::take(&answers).is_err());
        assert!(Lock::take(&dir.path().join("other.json")).is_ok());
        let path = lock.path().to_owned();
        assert!(path.exists());
        drop(lock);
        assert!(!path.exists());
        // Left behind by a program that was killed.
        fs::write(&path, "").unwrap();
        assert!(Lock::take(&answers).is_ok());
    }
}
