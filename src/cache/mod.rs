//! What took long to compute, kept in the user's cache folder for the next time.
//!
//! An entry is a file named by the digest of everything that its content depends on: what was computed from, the options,
//! the program's code and the machine's arithmetic. So an entry is never out of date, only no longer asked for. It is written
//! beside its place and renamed, so programs that write at once do not disturb each other. What is damaged, cut short or of
//! another version counts as absent and is removed. Nothing here is ever an error: where the folder cannot be written or
//! read, everything is computed anew.

mod entry;
mod key;
mod store;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use entry::Entry;
pub use key::Key;
pub use store::Cleared;
use store::Store;

use crate::error::Result;

/// The folder of the entries within the program's cache folder.
pub const FOLDER: &str = "computed";
/// Bytes that all entries together take at most.
pub const LIMIT: u64 = 2_000_000_000;
/// What takes less than this is computed anew each time: a file for it is not worth having.
pub const WORTH: Duration = Duration::from_millis(10);

/// A folder of entries; clones share it.
#[derive(Debug, Clone)]
pub struct Cache {
    store: Arc<Store>,
    /// The benchmark that entries are said to be of.
    of: Arc<str>,
    worth: Duration,
}

impl Cache {
    /// The entries in `folder`, at most [`LIMIT`] bytes; it is made with the first one.
    pub fn at(folder: PathBuf) -> Self {
        Self::bounded(folder, LIMIT, WORTH)
    }

    /// The entries in `folder`, at most `limit` bytes, of what took at least `worth` to compute.
    pub fn bounded(folder: PathBuf, limit: u64, worth: Duration) -> Self {
        Self {
            store: Arc::new(Store::new(folder, limit)),
            of: "".into(),
            worth,
        }
    }

    /// The cache of this user; `None` where the environment names no folder.
    pub fn of_user() -> Option<Self> {
        crate::folders::cache().map(|folder| Self::at(folder.join(FOLDER)))
    }

    /// The same entries; new ones are said to be of this benchmark.
    pub fn named(&self, benchmark: &str) -> Self {
        Self {
            of: benchmark.into(),
            ..self.clone()
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.store.folder()
    }

    /// The entry of `key`, else what `compute` gives, which is then kept. `what` says in a few words what it is.
    ///
    /// # Errors
    /// Those of `compute`.
    pub fn kept<T: Serialize + DeserializeOwned>(
        &self,
        what: &str,
        key: &Key,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(found) = self.get(key) {
            return Ok(found);
        }
        let start = Instant::now();
        let computed = compute()?;
        if start.elapsed() >= self.worth {
            self.put(what, key, &computed);
        }
        Ok(computed)
    }

    /// The entry of `key`, where it is there and whole.
    pub fn get<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        self.store.get(&key.name()?)
    }

    /// Keeps a value under `key`, as well as that goes.
    pub fn put<T: Serialize>(&self, what: &str, key: &Key, value: &T) {
        if let Some(name) = key.name() {
            self.store.put(&name, what, &self.of, value);
        }
    }

    /// All entries, the one that was used last first; of this and other versions, damaged ones too.
    pub fn entries(&self) -> Vec<Entry> {
        self.store.entries()
    }

    /// Removes all entries, and nothing else that may stand in the folder.
    ///
    /// # Errors
    /// The first file that could not be removed; the others are.
    pub fn clear(&self) -> Result<Cleared> {
        self.store.clear()
    }
}

#[cfg(test)]
mod tests;
