//! Reading benchmarks: one entry point that looks at the content, one file a format.

mod alpaca;
mod answers;
mod gather;
mod harness;
mod helm;
mod json;
mod jsonlines;
mod long;
mod manifest;
mod names;
pub(crate) mod pickle;
mod pyirt;
pub(crate) mod python;
mod reading;
mod separated;
mod several;
mod source;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::join::Naming;
use super::{Benchmark, count, demo};
use crate::error::{Error, Result};
use crate::progress::{Observer, Silent};

pub use answers::{Answers, Sheet, answers, responses, sheet};
pub use json::{DEEPEST, DEPTH};
use jsonlines::first_keys;
pub(crate) use manifest::hex;
pub use manifest::{Aggregates, Form, Manifest};
pub(crate) use names::own_names;
pub(crate) use reading::Reading;
pub use separated::Table;
use several::Logs;
pub(crate) use source::Source;

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
    /// Further sources, joined to the one that is named first.
    pub also: Vec<PathBuf>,
    /// Which names are the same, where sources are joined.
    pub names: Names,
    /// How large, deep and long things may be.
    pub limits: Limits,
}

/// Which names are the same, where sources are joined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Names {
    /// Equal ones; near misses are named.
    #[default]
    Exact,
    /// Those that differ in case, spaces, punctuation or `/` against `__` only.
    Loose,
}

/// How large, deep and long things may be: what a damaged or hostile file could ask for without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Levels of nesting in JSON, at most [`DEEPEST`]. At the default of [`DEPTH`] what a reader skips may be deeper.
    pub depth: usize,
    /// Bytes of a model's or item's name.
    pub name: usize,
    /// Bytes that a byte of a gzip file unpacks to, beyond the first 64 MiB.
    pub ratio: u64,
    /// Cells of a response matrix: models times items.
    pub cells: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: DEPTH,
            name: 4_096,
            ratio: 300,
            cells: 500_000_000,
        }
    }
}

impl Limits {
    /// Refuses a matrix of more cells than the limit, before memory is taken for it.
    ///
    /// # Errors
    /// With the numbers of models and items, and the option that raises the limit.
    pub(crate) fn check_cells(&self, path: &Path, models: usize, items: usize) -> Result<()> {
        let most = self.cells;
        if models.saturating_mul(items) <= most {
            return Ok(());
        }
        Err(Error::input(
            path,
            format!(
                "{} x {} are more than {most} cells",
                count(models, "model"),
                count(items, "item")
            ),
            "--max-cells raises the limit; a cell takes 1 to 8 bytes of memory",
        ))
    }

    /// Refuses a name that is longer than the limit.
    ///
    /// # Errors
    /// With the file and the option that raises the limit.
    pub(crate) fn check_name(&self, path: &Path, name: &str) -> Result<()> {
        match self.too_long(name) {
            Some((what, hint)) => Err(Error::input(path, what, hint)),
            None => Ok(()),
        }
    }

    /// What is wrong with a name, where it is longer than the limit.
    pub(crate) fn too_long(&self, name: &str) -> Option<(String, &'static str)> {
        let most = self.name;
        (name.len() > most).then(|| {
            let start: String = name.chars().take(40).collect();
            (
                format!(
                    "a name of {} bytes ({start:?}...), more than {most}",
                    name.len()
                ),
                "--max-name raises the limit",
            )
        })
    }
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
/// runs, AlpacaEval annotations (a folder or a file), the tutorials' pickle, or `demo:NAME`. The content decides, not the
/// name. With [`ReadOptions::also`] further sources are joined to it, by the names of models, scenarios and items.
///
/// # Errors
/// [`Error::Input`] with file, line and column where the content is not what it should be; [`Error::Io`].
pub fn benchmark(path: &Path, options: &ReadOptions) -> Result<Benchmark> {
    watched(path, options, &Silent)
}

/// As [`benchmark`], with an observer that sees how much was read and can end it.
///
/// # Errors
/// As [`benchmark`], and [`Error::Cancelled`].
pub fn watched(path: &Path, options: &ReadOptions, observer: &dyn Observer) -> Result<Benchmark> {
    let sources: Vec<&Path> = std::iter::once(path)
        .chain(options.also.iter().map(PathBuf::as_path))
        .collect();
    let all: Vec<PathBuf> = sources.iter().flat_map(|source| files(source)).collect();
    let reading = Reading::new(options, observer, &all);
    several::read(&sources, &reading).map_err(|e| reading.ended(e))
}

/// Reads a file that is no log, or a demo; and where the names of its scenarios come from.
fn one(path: &Path, reading: &Reading<'_>) -> Result<(Benchmark, Naming)> {
    let stated = |benchmark: Benchmark| (benchmark, Naming::Stated);
    if let Some(name) = demo_name(path) {
        return demo::load(name).map(stated);
    }
    let source = reading.open(path)?;
    match source.first_byte() {
        None => Err(Error::input(path, "the file is empty", "")),
        Some(_) if pickle::is_pickle(source.head()) => {
            pickle::benchmark(path, source, reading).map(stated)
        }
        Some(first @ (b'{' | b'[')) => {
            let keys = first_keys(source.head());
            let has = |key: &str| keys.iter().any(|k| k == key);
            if has("subject_id") {
                let table = pyirt::read(path, source, reading)?;
                Ok(manifest::without(path, table))
            } else if has("doc_id") {
                harness::read(path, vec![path.to_owned()], reading).map(stated)
            } else if alpaca::is_annotations(&keys) {
                alpaca::read(path, &[alpaca::Annotations::file(path)], reading).map(stated)
            } else if first == b'{' {
                manifest::read(path, source, reading).map(stated)
            } else {
                Err(not_a_format(path))
            }
        }
        Some(_) if source.looks_like_text() => {
            let beside = manifest_beside(path);
            if let Some(beside) = beside.filter(|m| m.is_file())
                && let Some(benchmark) = manifest::read_for(&beside, path, reading)?
            {
                return Ok(stated(benchmark));
            }
            let table = separated::read(path, source, reading)?;
            Ok(manifest::without(path, table))
        }
        Some(_) => Err(not_a_format(path)),
    }
}

/// NAME where the path is `demo:NAME`.
pub fn demo_name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix(demo::PREFIX)
}

/// Every file that reading `path` touches, as far as they can be told: the file, its manifest, the manifest's files.
pub fn files(path: &Path) -> Vec<PathBuf> {
    match Logs::in_folder(path) {
        Ok(None) => {}
        Ok(Some(logs)) => return logs.files(),
        Err(_) => return Vec::new(),
    }
    let mut files = vec![path.to_owned()];
    files.extend(manifest_beside(path).filter(|m| m.is_file()));
    for manifest in files.clone() {
        files.extend(manifest::parts(&manifest));
    }
    files.dedup();
    files
}

/// All of a file as text: unpacked where it is gzip, without a byte-order mark.
///
/// # Errors
/// [`Error::Io`]; text that is not UTF-8.
pub fn text(path: &Path, options: &ReadOptions) -> Result<String> {
    let reading = Reading::new(options, &Silent, &[]);
    reading.open(path)?.text(path)
}

/// The text of a file that this program wrote (gzip too): a JSON object with the key `tinyscope` among its first; `None`
/// for anything else.
///
/// # Errors
/// [`Error::Io`]; text that is not UTF-8.
pub fn own_text(path: &Path, options: &ReadOptions) -> Result<Option<String>> {
    text_with(path, options, &|keys| keys.iter().any(|k| k == "tinyscope"))
}

/// True for a JSON object with the keys of py-irt's fitted parameters.
///
/// # Errors
/// [`Error::Io`].
pub fn is_parameters(path: &Path) -> Result<bool> {
    let options = ReadOptions::default();
    let source = Reading::new(&options, &Silent, &[])
        .open(path)?
        .head()
        .to_vec();
    let keys = first_keys(&source);
    let has = |key: &str| keys.iter().any(|k| k == key);
    Ok(has("irt_model") || has("ability") || has("diff") && has("disc"))
}

/// What a file of chosen items is that only other programs take, as `anchors --format csv` and `lm-eval` write them; `None`
/// for anything else.
///
/// # Errors
/// [`Error::Io`]; text that is not UTF-8.
pub fn chosen_items(path: &Path) -> Result<Option<&'static str>> {
    let options = ReadOptions::default();
    let reading = Reading::new(&options, &Silent, &[]);
    let head = reading.open(path)?.head().to_vec();
    if head.starts_with(b"scenario,selection,item,weight,cluster_size") {
        return Ok(Some("a table of chosen items (`anchors --format csv`)"));
    }
    // {task: [
    let object = head.trim_ascii_start().strip_prefix(b"{");
    let value = object.and_then(|o| o.split(|&b| b == b':').nth(1));
    if value.is_none_or(|v| !v.trim_ascii_start().starts_with(b"[")) {
        return Ok(None);
    }
    let tasks = json_text(path)?.is_some_and(|text| {
        let tasks = serde_json::from_str::<HashMap<String, Vec<u64>>>(&text);
        tasks.is_ok_and(|tasks| !tasks.is_empty())
    });
    Ok(tasks.then_some("document indices by task, for lm-evaluation-harness's --samples"))
}

/// The text of a JSON file (gzip too) that holds an object; `None` for anything else, and for logs and records of responses,
/// which may be of gigabytes.
///
/// # Errors
/// [`Error::Io`]; text that is not UTF-8.
pub(crate) fn json_text(path: &Path) -> Result<Option<String>> {
    let wanted = |keys: &[String]| {
        !keys
            .iter()
            .any(|key| key == "doc_id" || key == "subject_id")
    };
    text_with(path, &ReadOptions::default(), &wanted).map_err(|e| match e {
        // No option reaches here.
        Error::Input { place, what, hint } => Error::Input {
            place,
            what: what.replace("--max-ratio raises the limit", "unpack it before"),
            hint,
        },
        other => other,
    })
}

/// The text of a JSON object whose first keys are as wanted: what is not is not read, however large it is.
fn text_with(
    path: &Path,
    options: &ReadOptions,
    wanted: &dyn Fn(&[String]) -> bool,
) -> Result<Option<String>> {
    let reading = Reading::new(options, &Silent, &[]);
    let source = reading.open(path)?;
    if source.first_byte() == Some(b'{') && wanted(&first_keys(source.head())) {
        source.text(path).map(Some)
    } else {
        Ok(None)
    }
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
