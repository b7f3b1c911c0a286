//! Where sample logs stand: `DIR/model/samples_<task>_<time>.jsonl`, with `results_<time>.json` beside them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::data::read::Reading;
use crate::data::read::names::as_text;
use crate::error::{Error, Result};

/// Folders deeper than this below the one that was named are not looked at.
const DEPTH: usize = 5;

/// One file of samples.
#[derive(Debug, Clone)]
pub(super) struct Log {
    pub(super) path: PathBuf,
    pub(super) model: String,
    pub(super) task: String,
    /// When the run was written, as the name has it; empty where it does not.
    pub(super) time: String,
    /// Size of the file, packed as it may be.
    pub(super) bytes: u64,
}

/// Paths of the sample logs in a folder and the folders in it, in order of their names.
///
/// # Errors
/// [`Error::Io`] where a folder cannot be listed.
pub(in crate::data::read) fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    walk(folder, 0, &mut found)?;
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |e| Error::io(folder, "listing the folder", e);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // A link to a folder is not followed: it may lead back here.
        entries.push((entry.path(), entry.file_type().is_ok_and(|t| t.is_dir())));
    }
    entries.sort();
    for (path, is_dir) in entries {
        if is_dir && depth < DEPTH {
            walk(&path, depth + 1, found)?;
        } else if !is_dir && is_named(&path, "samples_") {
            found.push(path);
        }
    }
    Ok(())
}

/// A file whose name begins so and ends like a log's. A pipe nobody asked for by name would be waited for without end; a
/// link that leads nowhere is kept, so that it is an error and not left out.
fn is_named(path: &Path, start: &str) -> bool {
    let name = name(path);
    let is_other = || fs::metadata(path).is_ok_and(|found| !found.is_file());
    name.starts_with(start) && stem(&name).is_some() && !is_other()
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, as_text)
}

/// The name without its ending, where the ending is a sample log's.
fn stem(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.strip_suffix(".jsonl")
        .or_else(|| name.strip_suffix(".json"))
}

/// What the names of logs and the results beside them say of model, task and time.
pub(super) fn describe(
    paths: Vec<PathBuf>,
    reading: &Reading<'_>,
    warnings: &mut Vec<String>,
) -> Vec<Log> {
    let mut models: HashMap<PathBuf, String> = HashMap::new();
    paths
        .into_iter()
        .map(|path| {
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            let model = models
                .entry(folder)
                .or_insert_with_key(|folder| model(folder, reading, warnings))
                .clone();
            let name = name(&path);
            let stem = stem(&name).unwrap_or(&name);
            let stem = stem.strip_prefix("samples_").unwrap_or(stem);
            let (task, time) = match stem.rsplit_once('_') {
                Some((task, time)) if is_time(time) => (task, time),
                _ => (stem, ""),
            };
            Log {
                model,
                task: task.to_owned(),
                time: time.to_owned(),
                bytes: fs::metadata(&path).map_or(0, |m| m.len()),
                path,
            }
        })
        .collect()
}

/// `2025-01-05T10-00-00.000001`.
fn is_time(text: &str) -> bool {
    text.len() >= 10 && text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('T')
}

/// The model whose logs a folder holds: as the newest results name it, else as the folder is called.
fn model(folder: &Path, reading: &Reading<'_>, warnings: &mut Vec<String>) -> String {
    #[derive(Deserialize)]
    struct Results {
        model_name: Option<String>,
    }
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut results: Vec<PathBuf> = fs::read_dir(here)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| is_named(p, "results"))
        .collect();
    results.sort();
    for path in results.iter().rev() {
        let text = match reading.open(path).and_then(|source| source.text(path)) {
            Ok(text) => text,
            Err(e) => {
                warnings.push(format!("the model's name was not looked for: {e}"));
                continue;
            }
        };
        if let Ok(Results {
            model_name: Some(name),
        }) = serde_json::from_str(&text)
            && !name.trim().is_empty()
        {
            match reading.limits.check_name(path, name.trim()) {
                Ok(()) => return name.trim().to_owned(),
                Err(e) => warnings.push(format!("the folder names the model: {e}")),
            }
        }
    }
    let named = match folder.file_name() {
        Some(_) => folder.to_owned(),
        None => here.canonicalize().unwrap_or_default(),
    };
    let named = name(&named).replace("__", "/");
    if named.is_empty() {
        "unnamed".into()
    } else {
        named
    }
}
