//! Reading benchmarks: one entry point that looks at the content, one file a format.

mod alpaca;
mod answers;
mod gather;
mod harness;
mod helm;
mod jsonlines;
mod long;
mod manifest;
mod names;
pub(crate) mod pickle;
mod pyirt;
mod python;
mod separated;
mod source;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use super::Benchmark;
use crate::error::{Error, Result};

pub use answers::responses;
use jsonlines::first_keys;
pub use manifest::{Aggregates, Manifest};
pub use separated::Table;
pub(crate) use source::{Source, open};

/// What the user says about a file that its content does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Scores are percentages, 0 to 100.
    pub percent: bool,
    /// Rows of tables are items, columns are models.
    pub transpose: bool,
    /// What stands between the cells of tables; found in the first line where `None`.
    pub delimiter: Option<u8>,
    /// The answer filter of logs that hold several (lm-evaluation-harness); the reader's choice where `None`.
    pub filter: Option<String>,
    /// The metric of logs that hold several; the reader's choice where `None`.
    pub metric: Option<String>,
    /// What counts where a model was run several times.
    pub runs: Runs,
}

/// What counts where a model was run several times on the same task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runs {
    /// The newest run; the others are listed.
    #[default]
    Newest,
    /// Every run, each as a model of its own.
    Separate,
}

/// The formats that [`benchmark`] reads, as error messages list them.
pub const FORMATS: &str = "CSV, TSV or semicolon-separated responses (gzip too), a manifest NAME.json beside them, py-irt's \
     JSON lines, a pickle of the tutorials (lb.pickle), or a folder of lm-evaluation-harness sample logs, of HELM runs or of \
     AlpacaEval annotations";

/// Reads a benchmark: a manifest `NAME.json` with its matrix, a separated table of responses (a manifest of the same
/// name beside it is used), py-irt's JSON lines, sample logs of lm-evaluation-harness (a folder or a file), a folder of HELM
/// runs, AlpacaEval annotations (a folder or a file), or the tutorials' pickle. The content decides, not the name.
///
/// # Errors
/// [`Error::Input`] with file, line and column where the content is not what it should be; [`Error::Io`].
pub fn benchmark(path: &Path, options: &ReadOptions) -> Result<Benchmark> {
    if path.is_dir() {
        return folder(path, options);
    }
    let source = open(path)?;
    match source.first_byte() {
        None => Err(Error::input(path, "the file is empty", "")),
        Some(_) if pickle::is_pickle(source.head()) => pickle::benchmark(path, source, options),
        Some(first @ (b'{' | b'[')) => {
            let keys = first_keys(source.head());
            let has = |key: &str| keys.iter().any(|k| k == key);
            if has("subject_id") {
                let table = pyirt::read(path, source, options)?;
                Ok(manifest::without(path, table))
            } else if has("doc_id") {
                harness::read(path, vec![path.to_owned()], options)
            } else if has("generator_2") && has("preference") {
                alpaca::read(path, &[path.to_owned()])
            } else if first == b'{' {
                manifest::read(path, source, options)
            } else {
                Err(not_a_format(path))
            }
        }
        Some(_) if source.looks_like_text() => {
            let beside = manifest_beside(path);
            if let Some(beside) = beside.filter(|m| m.is_file())
                && let Some(benchmark) = manifest::read_for(&beside, path, options)?
            {
                return Ok(benchmark);
            }
            let table = separated::read(path, source, options)?;
            Ok(manifest::without(path, table))
        }
        Some(_) => Err(not_a_format(path)),
    }
}

/// Reads a folder by what stands in it.
fn folder(path: &Path, options: &ReadOptions) -> Result<Benchmark> {
    let runs = helm::runs(path);
    if !runs.is_empty() {
        return helm::read(path, &runs, options.metric.as_deref());
    }
    let annotations = alpaca::files(path);
    if !annotations.is_empty() {
        return alpaca::read(path, &annotations);
    }
    let logs = harness::paths(path)?;
    if logs.is_empty() {
        return Err(Error::input(
            path,
            "a folder without logs that this reads",
            format!("name a file in it, or give {FORMATS}"),
        ));
    }
    harness::read(path, logs, options)
}

/// Every file that reading `path` touches, as far as they can be told: the file, its manifest, the manifest's files.
pub fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        let mut files = harness::paths(path).unwrap_or_default();
        files.extend(alpaca::files(path));
        files.extend(helm::files(path));
        return files;
    }
    let mut files = vec![path.to_owned()];
    files.extend(manifest_beside(path).filter(|m| m.is_file()));
    for manifest in files.clone() {
        files.extend(manifest::parts(&manifest));
    }
    files
}

/// The text of a JSON file (gzip too) that holds an object; `None` for anything else, and for logs and records of responses,
/// which may be of gigabytes.
///
/// # Errors
/// [`Error::Io`]; text that is not UTF-8.
pub fn json_text(path: &Path) -> Result<Option<String>> {
    let source = open(path)?;
    if source.first_byte() != Some(b'{') {
        return Ok(None);
    }
    let keys = first_keys(source.head());
    if keys
        .iter()
        .any(|key| key == "doc_id" || key == "subject_id")
    {
        return Ok(None);
    }
    source.text(path).map(Some)
}

/// A benchmark whose manifest and matrix are in memory.
pub(crate) fn bundled(
    origin: &Path,
    manifest: &'static [u8],
    matrix: &'static [u8],
) -> Result<Benchmark> {
    let failed = |e| Error::io(origin, "unpacking", e);
    manifest::joined(
        origin,
        Source::bytes(manifest).map_err(failed)?,
        Source::bytes(matrix).map_err(failed)?,
    )
}

fn not_a_format(path: &Path) -> Error {
    Error::input(path, "not a format this reads", format!("give {FORMATS}"))
}

/// `NAME.json` for `NAME.csv` or `NAME.csv.gz`.
fn manifest_beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    Some(path.with_file_name(format!("{stem}.json")))
}
