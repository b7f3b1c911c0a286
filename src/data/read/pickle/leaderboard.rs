//! The tutorials' responses: `{"models": [...], "data": {sub-benchmark: {"correctness": items x models}}}`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::view::Grid;
use super::{Pickle, View, load, unknown};
use crate::data::read::{Reading, Source};
use crate::data::{Aggregate, Benchmark, ItemTexts, MatrixBuilder, Scenario, SubScenario};
use crate::error::{Error, Result};

/// What the Open LLM Leaderboard put before every model's name.
const PREFIX: &str = "open-llm-leaderboard/details_";

const STRUCTURE: &str =
    "write {\"models\": [names], \"data\": {sub-benchmark: {\"correctness\": items x models}}}";

/// Reads a benchmark from a pickle of the tutorials' structure.
///
/// # Errors
/// Those of [`load`]; another structure, arrays that do not fit the models, scores outside \[0, 1\].
pub(in crate::data::read) fn benchmark(
    path: &Path,
    source: Source<'_>,
    reading: &Reading<'_>,
) -> Result<Benchmark> {
    of_pickle(path, &load(path, source)?, reading)
}

/// The benchmark in a pickle that was read.
///
/// # Errors
/// Those of [`benchmark`].
pub(crate) fn of_pickle(path: &Path, pickle: &Pickle, reading: &Reading<'_>) -> Result<Benchmark> {
    let root = pickle.root();
    let (Some(models), Some(data)) = (root.get("models"), root.get("data")) else {
        return Err(no_responses(path, root));
    };
    let wrong = |what: String| Error::input(path, what, STRUCTURE);
    let (models, mut warnings) = model_names(models).ok_or_else(|| {
        wrong(format!(
            "`models` is {}, no list of names",
            models.describe()
        ))
    })?;
    for model in &models {
        reading.limits.check_name(path, model)?;
    }
    let parts = data
        .entries()
        .filter(|parts| !parts.is_empty() && !models.is_empty())
        .ok_or_else(|| wrong(format!("`data` is {}, no responses", data.describe())))?;
    let mut subs = Vec::with_capacity(parts.len());
    let mut items = 0usize;
    for (name, part) in &parts {
        let correctness = part.get("correctness").unwrap_or(*part);
        let grid = correctness.grid().ok_or_else(|| {
            wrong(format!(
                "sub-benchmark {name:?} has {}, no table of scores",
                correctness.describe()
            ))
        })?;
        let (rows, columns) = grid.shape();
        if rows == 0 {
            warnings.push(format!("sub-benchmark {name:?} has no items: left out"));
            continue;
        }
        if columns != models.len() {
            return Err(Error::input(
                path,
                format!(
                    "sub-benchmark {name:?} is {rows} x {columns}, but there are {} models",
                    models.len()
                ),
                "`correctness` has a row an item and a column a model",
            ));
        }
        items = items.saturating_add(rows);
        reading.limits.check_cells(path, columns, items)?;
        subs.push((name.as_str(), grid));
    }
    if subs.is_empty() {
        return Err(wrong("no items in any sub-benchmark".into()));
    }
    let (items, scenarios) = layout(&subs);
    let mut matrix = MatrixBuilder::new(items);
    let scale = if reading.percent { 0.01 } else { 1.0 };
    let mut scores = Vec::new();
    for (column, model) in models.iter().enumerate() {
        scores.clear();
        for (name, grid) in &subs {
            for row in 0..grid.shape().0 {
                scores.push(score(grid, row, column, scale).ok_or_else(|| {
                    Error::input(
                        path,
                        format!(
                            "sub-benchmark {name:?}, item {row}, model {model:?}: {}, not a score in [0, 1]",
                            grid.get(row, column).map_or("no number".into(), |x| x.to_string())
                        ),
                        "scores are in [0, 1], NaN where missing (--percent for 0 to 100)",
                    )
                })?);
            }
        }
        matrix.push(model.as_str(), &scores);
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Benchmark {
        name: name.into_owned(),
        origin: path.to_owned(),
        simulated: false,
        source: String::new(),
        licence: String::new(),
        metric: "correctness".into(),
        notes: String::new(),
        matrix: matrix.finish(),
        scenarios,
        released: BTreeMap::new(),
        organisations: BTreeMap::new(),
        texts: ItemTexts::default(),
        warnings,
    })
}

/// A pickle without responses: what it is instead.
fn no_responses(path: &Path, root: View<'_>) -> Error {
    let published = root.get("anchor_points").is_some()
        || root.entries().is_some_and(|entries| {
            entries
                .iter()
                .any(|(_, v)| v.get("irt_parameters").is_some() || v.number().is_some())
        });
    if published {
        return Error::input(
            path,
            "anchors, item parameters or lambdas as they are published: no responses of models",
            "see it with `tinyscope show`; `tinyscope score FILE RESPONSES` takes tinyBenchmarks.pkl",
        );
    }
    unknown(path, root)
}

/// Names without the leaderboard's prefix; equal ones are kept apart, with a warning.
fn model_names(models: View<'_>) -> Option<(Vec<String>, Vec<String>)> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut names = Vec::new();
    let mut warnings = Vec::new();
    for model in models.items()? {
        let full = model.text()?;
        let name = full.strip_prefix(PREFIX).unwrap_or(full);
        let mut kept = name.to_owned();
        while let Some(count) = taken.get_mut(&kept) {
            *count += 1;
            kept = format!("{name} #{count}");
        }
        if kept != name {
            warnings.push(format!(
                "model {name:?} stands again: kept apart as {kept:?}"
            ));
        }
        taken.insert(kept.clone(), 1);
        names.push(kept);
    }
    Some((names, warnings))
}

/// The score of an item and model; NaN where missing, `None` for what is none.
fn score(grid: &Grid<'_>, row: usize, column: usize, scale: f64) -> Option<f64> {
    let y = grid.get(row, column)? * scale;
    (y.is_nan() || (0.0..=1.0).contains(&y)).then_some(y)
}

/// Item ids `scenario/sub/position`, and the scenarios: a sub-benchmark each, MMLU's subjects in one.
fn layout(subs: &[(&str, Grid<'_>)]) -> (Vec<String>, Vec<Scenario>) {
    let mut items: Vec<String> = Vec::new();
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut at: HashMap<String, usize> = HashMap::new();
    for (name, grid) in subs {
        let (scenario, sub) = scenario_of(name);
        let index = *at.entry(scenario.clone()).or_insert_with(|| {
            scenarios.push(Scenario {
                name: scenario.clone(),
                aggregate: Aggregate::Macro,
                columns: Vec::new(),
                subscenarios: Vec::new(),
            });
            scenarios.len() - 1
        });
        let scenario = &mut scenarios[index];
        // Two runs of one task, with other numbers of examples in the prompt.
        let sub = if scenario.subscenarios.iter().any(|s| s.name == sub) {
            (*name).to_owned()
        } else {
            sub
        };
        let (first, n) = (scenario.columns.len(), grid.shape().0);
        scenario.columns.extend(items.len()..items.len() + n);
        items.extend((0..n).map(|i| format!("{}/{sub}/{i}", scenario.name)));
        scenario.subscenarios.push(SubScenario {
            name: sub,
            items: first..first + n,
        });
    }
    (items, scenarios)
}

/// Scenario and sub-scenario of a leaderboard's sub-benchmark: `harness_hendrycksTest_anatomy_5` is MMLU's anatomy,
/// `harness_arc_challenge_25` is arc, `harness_truthfulqa_mc_0` is truthfulqa; others keep their names without `harness_` and
/// the number of examples in the prompt.
pub(crate) fn scenario_of(sub_benchmark: &str) -> (String, String) {
    let Some(task) = sub_benchmark.strip_prefix("harness_") else {
        return (sub_benchmark.to_owned(), "all".into());
    };
    let task = match task.rsplit_once('_') {
        Some((task, shots)) if shots.bytes().all(|b| b.is_ascii_digit()) => task,
        _ => task,
    };
    if let Some(subject) = task
        .strip_prefix("hendrycksTest_")
        .or_else(|| task.strip_prefix("hendrycksTest-"))
    {
        return ("mmlu".into(), subject.to_owned());
    }
    let name = match task {
        "arc_challenge" => "arc",
        "truthfulqa_mc" => "truthfulqa",
        other => other,
    };
    (name.to_owned(), "all".into())
}
