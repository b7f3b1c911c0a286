//! Reading benchmarks: one entry point that looks at the content, one file a format.

mod answers;
mod manifest;
pub(crate) mod pickle;
mod separated;
mod source;

use std::path::{Path, PathBuf};

use super::Benchmark;
use crate::error::{Error, Result};

pub use answers::responses;
pub use manifest::{Aggregates, Manifest};
pub use separated::Table;
pub(crate) use source::{Source, open};

/// What the user says about a file that its content does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Scores are percentages, 0 to 100.
    pub percent: bool,
}

/// The formats that [`benchmark`] reads, as error messages list them.
pub const FORMATS: &str = "CSV, TSV or semicolon-separated responses (gzip too), or a manifest NAME.json beside them, or a \
     pickle of the tutorials (lb.pickle)";

/// Reads a benchmark: a manifest `NAME.json` with its matrix, or a separated table of responses (a manifest of the same
/// name beside it is used). The content decides, not the name.
///
/// # Errors
/// [`Error::Input`] with file, line and column where the content is not what it should be; [`Error::Io`].
pub fn benchmark(path: &Path, options: &ReadOptions) -> Result<Benchmark> {
    let source = open(path)?;
    match source.first_byte() {
        None => Err(Error::input(path, "the file is empty", "")),
        Some(_) if pickle::is_pickle(source.head()) => pickle::benchmark(path, source, options),
        Some(b'{') => manifest::read(path, source, options),
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

/// Every file that reading `path` touches, as far as they can be told: the file, its manifest, the manifest's files.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![path.to_owned()];
    files.extend(manifest_beside(path).filter(|m| m.is_file()));
    for manifest in files.clone() {
        files.extend(manifest::parts(&manifest));
    }
    files
}

/// The text of a JSON file (gzip too) that holds an object; `None` for anything else.
///
/// # Errors
/// [`Error::Io`]; text that is not UTF-8.
pub fn json_text(path: &Path) -> Result<Option<String>> {
    let source = open(path)?;
    if source.first_byte() != Some(b'{') {
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
