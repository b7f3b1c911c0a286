//! A data set of many files: the listing, then every file it names, some side by side; a record says when all are there.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::catalogue::{DataSet, Layout};
use super::client::Client;
use super::listing::{Entry, Item};
use super::sniff::Kind;
use super::transfer::{self, Budget, Lack, Wanted};
use super::{Fetched, Options, not_found, size};
use crate::data::write;
use crate::error::{Error, Result};
use crate::progress::{Observer, Progress};

/// The record's name in the folder.
const RECORD: &str = "fetched.json";
/// How many files come side by side.
const LANES: usize = 4;

/// What a folder holds; written anew when a fetch begins and when it has come to its end.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) data_set: String,
    /// Everything that was asked for is there.
    pub(super) complete: bool,
    /// What the names hold that were asked for; empty for all.
    only: Vec<String>,
    source: String,
    missing: Vec<String>,
    files: Vec<Whole>,
}

/// A whole file of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Whole {
    path: String,
    bytes: u64,
}

impl Record {
    /// The record of a folder, where it has one.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok()
    }

    fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(RECORD);
        let text = serde_json::to_vec_pretty(self);
        let mut text = text.map_err(|e| Error::io(&path, "writing", e.into()))?;
        text.push(b'\n');
        write::atomically(&path, &text)
    }

    /// Bytes of its files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|f| f.bytes).sum()
    }

    /// Whether `only` is part of what was asked for, and every file is there as it was recorded.
    fn covers(&self, folder: &Path, only: &[String]) -> bool {
        let asked = self.only.is_empty()
            || (!only.is_empty() && only.iter().all(|o| self.only.contains(o)));
        let there =
            |f: &Whole| fs::metadata(folder.join(&f.path)).is_ok_and(|m| m.len() == f.bytes);
        self.complete && asked && self.files.iter().all(there)
    }
}

/// Fetches a data set of many files.
pub(super) fn fetch(
    layout: Layout,
    set: &DataSet,
    client: &Client,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Fetched> {
    let folder = set.target(&options.folder);
    let before = Record::read(&folder);
    if let Some(record) = before.as_ref().filter(|_| !options.again)
        && record.covers(&folder, &options.only)
    {
        return Ok(Fetched {
            bytes: record.bytes(),
            files: record.files.len(),
            new: 0,
            missing: record.missing.clone(),
            path: folder,
        });
    }
    fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, "making the folder", e))?;
    let budget = Budget::new(options.max_size);
    let entries = list(layout, client, options, &budget, &folder, observer)?;
    let listing = layout.listing();
    let mut record = Record {
        data_set: set.name.to_owned(),
        complete: false,
        only: asked(before.as_ref(), &options.only),
        source: client.url(listing.path),
        ..Record::default()
    };
    record.write(&folder)?;
    let work = Work {
        client,
        options,
        folder: &folder,
        budget: &budget,
        observer,
        entries: &entries,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        new: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        found: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for _ in 0..LANES.min(entries.len()) {
            scope.spawn(|| work.lane());
        }
    });
    let new = work.new.load(Ordering::Relaxed);
    let found = work.found.into_inner().unwrap_or_default();
    if let Some(error) = found.error {
        return Err(error);
    }
    observer.check()?;
    if let (Some(first), true) = (entries.first(), found.missing.len() == entries.len()) {
        return Err(nothing(client, first, &folder));
    }
    record.missing = found.missing;
    record.files = found.files;
    for whole in before.map(|b| b.files).unwrap_or_default() {
        let still = fs::metadata(folder.join(&whole.path)).is_ok_and(|m| m.len() == whole.bytes);
        if still && !record.files.iter().any(|f| f.path == whole.path) {
            record.files.push(whole);
        }
    }
    record.files.sort();
    record.missing.sort();
    record.complete = true;
    record.write(&folder)?;
    Ok(Fetched {
        bytes: record.bytes(),
        files: record.files.len(),
        new,
        missing: record.missing,
        path: folder,
    })
}

/// What was asked for, with what was complete before.
fn asked(before: Option<&Record>, only: &[String]) -> Vec<String> {
    let before = before.filter(|record| record.complete && !record.only.is_empty());
    let mut asked = only.to_vec();
    if let Some(record) = before.filter(|_| !only.is_empty()) {
        asked.extend(record.only.iter().cloned());
    }
    asked.sort();
    asked.dedup();
    asked
}

/// Fetches the listing and reads what it names.
fn list(
    layout: Layout,
    client: &Client,
    options: &Options,
    budget: &Budget,
    folder: &Path,
    observer: &dyn Observer,
) -> Result<Vec<Entry>> {
    let listing = layout.listing();
    let target = folder.join(listing.name);
    let wanted = Wanted {
        url: &client.url(listing.path),
        target: &target,
        kind: listing.kind,
        bytes: None,
        sha256: None,
    };
    match transfer::file(client, &wanted, options.tries(), budget, observer) {
        Ok(_) => {}
        Err(Lack::Failed(e)) => return Err(e),
        Err(Lack::Missing) => return Err(not_found(&wanted)),
    }
    let text = fs::read(&target).map_err(|e| Error::io(&target, "reading", e))?;
    layout.entries(&target, &text, &options.only)
}

/// No file of the listing is there.
fn nothing(client: &Client, first: &Entry, folder: &Path) -> Error {
    let url = first.files.first().map(|f| client.url(&f.path));
    let hint = format!(
        "the files may have moved, or --base-url names no mirror of them; fetched by other means, they belong below {}",
        folder.display()
    );
    Error::fetch(
        &url.unwrap_or_default(),
        "not found, nor any other file that the listing names",
        hint,
    )
}

/// What the lanes share.
struct Work<'a> {
    client: &'a Client,
    options: &'a Options,
    folder: &'a Path,
    budget: &'a Budget,
    observer: &'a dyn Observer,
    entries: &'a [Entry],
    next: AtomicUsize,
    done: AtomicUsize,
    new: AtomicUsize,
    stop: AtomicBool,
    found: Mutex<Found>,
}

/// What the lanes found.
#[derive(Default)]
struct Found {
    files: Vec<Whole>,
    missing: Vec<String>,
    error: Option<Error>,
}

/// One file's progress is not told, only whether to stop.
struct Quiet<'a>(&'a Work<'a>);

impl Observer for Quiet<'_> {
    fn progress(&self, _: &Progress) {
        self.0.tell();
    }

    fn cancelled(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed) || self.0.observer.cancelled()
    }
}

impl Work<'_> {
    /// Takes entry after entry until all are taken or one has failed.
    fn lane(&self) {
        while !Quiet(self).cancelled() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(entry) = self.entries.get(at) else {
                return;
            };
            if let Err(error) = self.entry(entry) {
                // What the others leave for this error's sake is none of its own.
                let stopped = self.stop.swap(true, Ordering::Relaxed);
                self.note(|found| {
                    if !(stopped && matches!(error, Error::Cancelled)) {
                        found.error.get_or_insert(error);
                    }
                });
                return;
            }
            self.done.fetch_add(1, Ordering::Relaxed);
            self.tell();
        }
    }

    fn note(&self, change: impl FnOnce(&mut Found)) {
        match self.found.lock() {
            Ok(mut found) => change(&mut found),
            Err(poisoned) => change(&mut poisoned.into_inner()),
        }
    }

    fn tell(&self) {
        let (done, all) = (self.done.load(Ordering::Relaxed), self.entries.len());
        self.observer.progress(&Progress {
            what: format!("{done} of {all}, {}", size(self.budget.used())),
            done: done as f64 / all.max(1) as f64,
        });
    }

    /// Fetches the files of an entry; one that is there is whole, because only whole files get their names.
    fn entry(&self, entry: &Entry) -> Result<()> {
        for item in &entry.files {
            let target = self.folder.join(&item.at);
            let url = self.client.url(&item.path);
            let there = fs::metadata(&target)
                .ok()
                .filter(|m| m.is_file() && m.len() > 0);
            let bytes = match there.filter(|_| !self.options.again) {
                Some(there) => {
                    self.budget.take(&url, there.len())?;
                    there.len()
                }
                None => match self.item(&url, &target) {
                    Ok(bytes) => {
                        self.new.fetch_add(1, Ordering::Relaxed);
                        bytes
                    }
                    Err(Lack::Failed(e)) => return Err(e),
                    Err(Lack::Missing) if item.needed => {
                        self.note(|found| found.missing.push(entry.name.clone()));
                        return Ok(());
                    }
                    Err(Lack::Missing) => continue,
                },
            };
            let path = slashed(item);
            self.note(|found| found.files.push(Whole { path, bytes }));
        }
        Ok(())
    }

    fn item(&self, url: &str, target: &Path) -> std::result::Result<u64, Lack> {
        let wanted = Wanted {
            url,
            target,
            kind: Kind::Json,
            bytes: None,
            sha256: None,
        };
        let (tries, quiet) = (self.options.tries(), Quiet(self));
        transfer::file(self.client, &wanted, tries, self.budget, &quiet)
    }
}

/// An item's place with the same separators on every system.
fn slashed(item: &Item) -> String {
    let parts = item
        .at
        .components()
        .map(|c| c.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}
