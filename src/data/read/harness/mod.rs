//! Sample logs of lm-evaluation-harness: a folder of models with `samples_<task>_<time>.jsonl` each (gzip, and the older
//! arrays of one JSON text too), or one such file. Logs are read a few at a time and a sample at a time; what stays is a
//! byte a score and the texts of the first model that has them.

mod choice;
mod doc;
mod folder;
mod log;
mod packed;
mod sample;
mod task;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::manifest::by_key;
use super::names::own_names;
use super::{Reading, Runs};
use crate::data::{Benchmark, ItemTexts, MatrixBuilder, list};
use crate::error::{Error, Result};
use choice::Choice;
pub(super) use folder::paths;
use folder::{Log, describe};
use packed::Packed;
use sample::{Docs, Outside};

/// Scenario, sub-scenario and task.
type Key = (String, String, String);

/// What one log holds: scores by filter and metric.
struct Run {
    /// Row of the benchmark.
    row: usize,
    path: PathBuf,
    /// Filter and metric of each.
    names: Vec<(String, String)>,
    /// In the order of the task's documents when it was read.
    scores: Vec<Packed>,
    /// A value that is no score, where there is one: an error once these count.
    outside: Vec<Option<Outside>>,
}

#[derive(Default)]
struct Task {
    docs: Docs,
    runs: Vec<Run>,
}

/// Reads the logs at these paths; `origin` is what the user named.
///
/// # Errors
/// With file and line: what is no sample, a score of the chosen metric outside \[0, 1\]; a filter or metric that no log has;
/// no sample at all.
pub(super) fn read(origin: &Path, paths: Vec<PathBuf>, reading: &Reading<'_>) -> Result<Benchmark> {
    let mut warnings = Vec::new();
    let logs = describe(paths, reading, &mut warnings);
    let (models, logs) = rows(logs, reading.runs, &mut warnings);
    let mut tasks: BTreeMap<Key, Task> = BTreeMap::new();
    // The first log of every task, which tells the most of its documents, then model by model.
    let mut queue: Vec<(bool, usize, Key, &Log)> = Vec::with_capacity(logs.len());
    for (place, (_, log)) in logs.iter().enumerate() {
        let (scenario, sub) = task::scenario(&log.task);
        let key = (scenario, sub, log.task.clone());
        let known = tasks.contains_key(&key);
        tasks.entry(key.clone()).or_default();
        queue.push((known, place, key, log));
    }
    queue.sort_by_key(|(known, place, ..)| (*known, *place));
    let mut said: Vec<Vec<String>> = vec![Vec::new(); logs.len()];
    let mut rest = queue.as_slice();
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(batch(rest.iter().map(|(.., log)| log.bytes)));
        let read: Vec<Result<log::Read>> = batch
            .par_iter()
            .map(|(.., key, log)| log::read(log, &tasks[key].docs, reading))
            .collect();
        for ((_, place, key, log), read) in batch.iter().zip(read) {
            let task = tasks.entry(key.clone()).or_default();
            let run = read?.join(logs[*place].0, log, &mut task.docs, &mut said[*place]);
            task.runs.extend(run);
        }
        rest = after;
    }
    warnings.extend(said.into_iter().flatten());
    tasks.retain(|_, t| !t.runs.is_empty());
    if tasks.is_empty() {
        return Err(Error::input(
            origin,
            "no samples in the logs",
            "samples have `doc_id` and a metric",
        ));
    }
    let choices = choice::choose(origin, &tasks, reading, &mut warnings)?;
    let items = tasks.values().map(|task| task.docs.all.len()).sum();
    reading.limits.check_cells(origin, models.len(), items)?;
    assemble(origin, models, tasks, &choices, warnings)
}

/// The benchmark's models and which log belongs to which; of several runs of a task the newest, or all of them.
fn rows(
    logs: Vec<Log>,
    runs: Runs,
    warnings: &mut Vec<String>,
) -> (Vec<String>, Vec<(usize, Log)>) {
    let mut by_model: BTreeMap<String, BTreeMap<String, Vec<Log>>> = BTreeMap::new();
    for log in logs {
        let tasks = by_model.entry(log.model.clone()).or_default();
        tasks.entry(log.task.clone()).or_default().push(log);
    }
    let (mut models, mut out) = (Vec::new(), Vec::new());
    for (model, mut tasks) in by_model {
        for logs in tasks.values_mut() {
            // The newest first; ties by path, so that the order of the file system does not matter.
            logs.sort_by(|a, b| (&b.time, &b.path).cmp(&(&a.time, &a.path)));
        }
        let several = tasks.values().any(|logs| logs.len() > 1);
        if several && runs == Runs::Separate {
            // In the order of their paths, so that the order of the arguments does not matter.
            let mut folders: Vec<PathBuf> = tasks.values().flatten().map(folder).collect();
            folders.sort();
            folders.dedup();
            let names: BTreeMap<PathBuf, String> =
                folders.iter().cloned().zip(own_names(&folders)).collect();
            let label = |log: &Log| match names.get(&folder(log)) {
                Some(name) if log.time.is_empty() => name.clone(),
                _ => log.time.clone(),
            };
            let mut by_run: BTreeMap<(String, usize), Vec<Log>> = BTreeMap::new();
            for logs in tasks.into_values() {
                for log in logs {
                    let label = label(&log);
                    // Two logs of one task and time, in two folders, are two runs.
                    let taken = |n: &usize| {
                        let run = by_run.get(&(label.clone(), *n));
                        run.is_some_and(|r| r.iter().any(|l| l.task == log.task))
                    };
                    let n = (1..).find(|n| !taken(n)).unwrap_or(1);
                    by_run.entry((label, n)).or_default().push(log);
                }
            }
            for ((label, n), logs) in by_run.into_iter().rev() {
                let number = if n > 1 {
                    format!(" #{n}")
                } else {
                    String::new()
                };
                out.extend(logs.into_iter().map(|log| (models.len(), log)));
                models.push(format!("{model} @{label}{number}"));
            }
            continue;
        }
        let mut older = Vec::new();
        for logs in tasks.into_values() {
            let mut logs = logs.into_iter();
            out.extend(logs.next().map(|log| (models.len(), log)));
            older.extend(logs.map(|log| file_name(&log.path)));
        }
        if !older.is_empty() {
            warnings.push(format!(
                "model {model:?} has several runs of a task: the newest counts, left out: {} (--runs separate keeps them)",
                list(older.iter().map(String::as_str))
            ));
        }
        models.push(model);
    }
    (models, out)
}

fn folder(log: &Log) -> PathBuf {
    log.path.parent().unwrap_or(Path::new("")).to_owned()
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// How many of the next logs are read at once: until they are 64 MiB, but 8 at least, so that what is held of them is bounded
/// and all cores have work. What is known of a task's documents before a log is read, and with it every result, depends on
/// this and not on the number of threads.
fn batch(sizes: impl Iterator<Item = u64>) -> usize {
    let mut bytes = 0;
    let fits = sizes.enumerate().take_while(|(n, size)| {
        bytes += size;
        *n < 8 || bytes <= 64 << 20
    });
    fits.count()
}

/// Joins what was read, a scenario after the other and documents in the order of their numbers.
fn assemble(
    origin: &Path,
    models: Vec<String>,
    tasks: BTreeMap<Key, Task>,
    choices: &BTreeMap<String, Choice>,
    mut warnings: Vec<String>,
) -> Result<Benchmark> {
    let (mut items, mut keys, mut texts) = (Vec::new(), Vec::new(), ItemTexts::default());
    let mut parts: Vec<Part> = Vec::new();
    for ((scenario, sub, name), mut task) in tasks {
        let Some(choice) = choices.get(&scenario) else {
            continue;
        };
        let mut order: Vec<usize> = (0..task.docs.all.len()).collect();
        order.sort_by_key(|&place| task.docs.all[place].id);
        let first = items.len();
        for &place in &order {
            let known = &mut task.docs.all[place];
            let id = match sub.as_str() {
                "all" => format!("{scenario}/{}", known.id),
                sub => format!("{scenario}/{sub}/{}", known.id),
            };
            if let Some(text) = known.text.take() {
                texts.insert(id.clone(), text);
            }
            items.push(id);
            keys.push((scenario.clone(), sub.clone()));
        }
        let mut rows = BTreeMap::new();
        for run in task.runs {
            let at = run.names.iter().position(|n| choice.is(n));
            let Some(at) = at else {
                warnings.push(format!(
                    "{name} of {:?} has no {choice}: left out ({})",
                    models[run.row],
                    run.path.display()
                ));
                continue;
            };
            if let Some((place, doc, value)) = run.outside[at] {
                return Err(place.error(
                    &run.path,
                    format_args!(
                        "{} of doc_id {doc} is {value}, outside [0, 1]",
                        choice.metric
                    ),
                    "--metric chooses another; if these are percentages, say --percent",
                ));
            }
            rows.extend(run.scores.into_iter().nth(at).map(|s| (run.row, s)));
        }
        parts.push(Part { first, order, rows });
    }
    let mut matrix = MatrixBuilder::new(items);
    let mut scores = vec![f64::NAN; keys.len()];
    for (row, model) in models.into_iter().enumerate() {
        scores.fill(f64::NAN);
        for part in &parts {
            let Some(held) = part.rows.get(&row) else {
                continue;
            };
            for (score, &place) in scores[part.first..].iter_mut().zip(&part.order) {
                // Documents that only later logs have are missing here.
                *score = held.get(place);
            }
        }
        matrix.push(model, &scores);
    }
    let folder = origin.canonicalize().unwrap_or_else(|_| origin.to_owned());
    Ok(Benchmark {
        name: file_name(&folder),
        origin: origin.to_owned(),
        simulated: false,
        source: String::new(),
        licence: String::new(),
        metric: choice::summary(choices),
        notes: String::new(),
        scenarios: by_key(&keys),
        matrix: matrix.finish(),
        released: BTreeMap::new(),
        organisations: BTreeMap::new(),
        texts,
        warnings,
    })
}

/// The items of a task within the matrix.
struct Part {
    first: usize,
    /// Place of each item among the task's documents.
    order: Vec<usize>,
    /// By row of the benchmark: the scores that count.
    rows: BTreeMap<usize, Packed>,
}
