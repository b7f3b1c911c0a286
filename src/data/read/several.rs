//! Several sources: logs of one kind are read together, whoever named them; the rest source by source, then joined.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::alpaca::Annotations;
use super::{FORMATS, Reading, alpaca, demo_name, files, harness, helm, one};
use crate::data::join::{self, Naming, Part};
use crate::data::read::jsonlines::first_keys;
use crate::data::{Benchmark, count};
use crate::error::{Error, Result};

/// Logs of one kind: runs of models, of which only their reader knows which is the newest and which items are the same.
pub(super) enum Logs {
    Helm(Vec<helm::Run>),
    Annotations(Vec<Annotations>),
    Harness(Vec<PathBuf>),
}

impl Logs {
    /// What stands in the folder at `path`; `None` where it is no folder.
    pub(super) fn in_folder(path: &Path) -> Result<Option<Self>> {
        if !path.is_dir() {
            return Ok(None);
        }
        let runs = helm::runs(path);
        if !runs.is_empty() {
            return Ok(Some(Self::Helm(runs)));
        }
        let annotations = alpaca::files(path);
        if !annotations.is_empty() {
            return Ok(Some(Self::Annotations(annotations)));
        }
        harness::paths(path).map(|logs| Some(Self::Harness(logs)))
    }

    /// The logs that a source is; `None` where it is something else, or a pipe, which can be read once only.
    fn of(path: &Path, reading: &Reading<'_>) -> Result<Option<Self>> {
        if demo_name(path).is_some() {
            return Ok(None);
        }
        if let Some(logs) = Self::in_folder(path)? {
            return Ok(Some(logs));
        }
        if !path.is_file() {
            return Ok(None);
        }
        let source = reading.open(path)?;
        if !matches!(source.first_byte(), Some(b'{' | b'[')) {
            return Ok(None);
        }
        let keys = first_keys(source.head());
        let has = |key: &str| keys.iter().any(|k| k == key);
        Ok(if has("subject_id") {
            None
        } else if has("doc_id") {
            Some(Self::Harness(vec![path.to_owned()]))
        } else if alpaca::is_annotations(&keys) {
            Some(Self::Annotations(vec![Annotations::file(path)]))
        } else {
            None
        })
    }

    /// Adds logs of the same kind; gives others back.
    fn add(&mut self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Helm(all), Self::Helm(more)) => all.extend(more),
            (Self::Annotations(all), Self::Annotations(more)) => all.extend(more),
            (Self::Harness(all), Self::Harness(more)) if !all.is_empty() && !more.is_empty() => {
                all.extend(more);
            }
            (_, other) => return Some(other),
        }
        None
    }

    /// Keeps the first of what was named twice; how many were.
    fn once(&mut self) -> usize {
        let mut seen = HashSet::new();
        let mut new = |path: &Path| seen.insert(real(path));
        let before = self.len();
        match self {
            Self::Helm(runs) => runs.retain(|run| new(run.folder())),
            Self::Annotations(files) => files.retain(|a| new(&a.file)),
            Self::Harness(files) => files.retain(|f| new(f)),
        }
        before - self.len()
    }

    fn len(&self) -> usize {
        match self {
            Self::Helm(runs) => runs.len(),
            Self::Annotations(files) => files.len(),
            Self::Harness(files) => files.len(),
        }
    }

    fn read(self, path: &Path, reading: &Reading<'_>) -> Result<Benchmark> {
        match self {
            Self::Helm(runs) => helm::read(path, &runs, reading),
            Self::Annotations(files) => alpaca::read(path, &files, reading),
            Self::Harness(logs) if logs.is_empty() => Err(Error::input(
                path,
                "a folder without logs that this reads",
                format!("name a file in it, or give {FORMATS}"),
            )),
            Self::Harness(logs) => harness::read(path, logs, reading),
        }
    }

    pub(super) fn files(self) -> Vec<PathBuf> {
        match self {
            Self::Helm(runs) => helm::files(&runs),
            Self::Annotations(files) => files.into_iter().map(|a| a.file).collect(),
            Self::Harness(files) => files,
        }
    }
}

/// Reads all sources and joins them.
pub(super) fn read(sources: &[&Path], reading: &Reading<'_>) -> Result<Benchmark> {
    let mut named: Vec<(&Path, Option<Logs>)> = Vec::with_capacity(sources.len());
    let mut seen: HashSet<Vec<PathBuf>> = HashSet::new();
    let mut warnings = Vec::new();
    for path in sources {
        match Logs::of(path, reading)? {
            Some(logs) => {
                let mut rest = Some(logs);
                for before in named.iter_mut().filter_map(|n| n.1.as_mut()) {
                    rest = rest.and_then(|logs| before.add(logs));
                }
                if rest.is_some() {
                    named.push((path, rest));
                }
            }
            None => {
                let mut touched: Vec<PathBuf> = files(path).iter().map(|f| real(f)).collect();
                touched.sort();
                touched.dedup();
                if demo_name(path).is_some() {
                    touched = vec![path.to_path_buf()];
                }
                if seen.insert(touched) {
                    named.push((path, None));
                } else {
                    warnings.push(format!("{} is named twice: read once", path.display()));
                }
            }
        }
    }
    let mut parts = Vec::with_capacity(named.len());
    for (path, logs) in named {
        reading.check()?;
        let (mut benchmark, naming) = match logs {
            Some(mut logs) => {
                let twice = logs.once();
                if twice > 0 {
                    warnings.push(format!(
                        "{} named twice: each is read once",
                        count(twice, "log")
                    ));
                }
                (logs.read(path, reading)?, Naming::Stated)
            }
            None => one(path, reading)?,
        };
        if reading.percent && is_no_percentage(&benchmark) {
            benchmark.warnings.push(format!(
                "{}: every score is 0 or 1, and --percent makes 1 a hundredth (it applies to every source)",
                path.display()
            ));
        }
        let path = path.to_owned();
        parts.push(Part {
            path,
            benchmark,
            naming,
        });
    }
    let mut benchmark = join::together(parts, reading)?;
    benchmark.warnings.extend(warnings);
    Ok(benchmark)
}

/// True where no score is above 1 % and all are whole.
fn is_no_percentage(benchmark: &Benchmark) -> bool {
    let m = &benchmark.matrix;
    let rows = (0..m.n_models()).map(|l| m.row(l));
    let mut ones = false;
    for y in rows.flatten().filter(|y| !y.is_nan()) {
        ones |= y == 0.01;
        if y != 0.0 && y != 0.01 {
            return false;
        }
    }
    ones
}

/// The path without links and detours, where there is something.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
