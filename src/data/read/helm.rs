//! HELM: a folder of runs, each named `SCENARIO:KEY=VALUE,...,model=MODEL` and with `per_instance_stats.json`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::gather::{ALL, Gathered, Place};
use super::jsonlines::list;
use super::names::{as_text, own_name, own_names};
use super::python::number;
use super::{Reading, Runs};
use crate::data::{Benchmark, ItemText, count, list as names};
use crate::error::{Error, Result, nearest};

/// The file with a run's scores.
const FILE: &str = "per_instance_stats.json";
/// The file with the texts of its instances.
const TEXTS: &str = "instances.json";
/// Arguments of a run that name no part of the scenario.
const NOT_PARTS: [&str; 11] = [
    "model",
    "model_deployment",
    "method",
    "data_augmentation",
    "stop",
    "max_train_instances",
    "num_outputs",
    "num_train_trials",
    "eval_split",
    "groups",
    "use_chain_of_thought",
];
/// Metrics that a scenario is scored by where the user names none: HELM Lite's own, then by how common they are.
const DEFAULTS: [(&str, &str); 9] = [
    ("mmlu", "exact_match"),
    ("openbookqa", "exact_match"),
    ("gsm", "final_number_exact_match"),
    ("math", "math_equiv_chain_of_thought"),
    ("legalbench", "quasi_exact_match"),
    ("med_qa", "quasi_exact_match"),
    ("narrative_qa", "f1_score"),
    ("natural_qa", "f1_score"),
    ("wmt_14", "bleu_4"),
];
const COMMON: [&str; 6] = [
    "exact_match",
    "quasi_exact_match",
    "final_number_exact_match",
    "math_equiv_chain_of_thought",
    "f1_score",
    "bleu_4",
];

#[derive(Deserialize)]
struct Instance {
    instance_id: String,
    #[serde(default)]
    perturbation: Option<IgnoredAny>,
    #[serde(default)]
    train_trial_index: u64,
    #[serde(default)]
    stats: Vec<Stat>,
}

#[derive(Deserialize)]
struct Stat {
    name: StatName,
    #[serde(default, deserialize_with = "number")]
    mean: Option<f64>,
}

#[derive(Deserialize)]
struct StatName {
    name: String,
    #[serde(default)]
    perturbation: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct InstanceText {
    id: String,
    input: Text,
    #[serde(default)]
    references: Vec<Reference>,
}

#[derive(Deserialize)]
struct Text {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct Reference {
    output: Text,
    #[serde(default)]
    tags: Vec<String>,
}

/// A run's folder with what its name says.
#[derive(Debug, Clone)]
pub(super) struct Run {
    folder: PathBuf,
    scenario: String,
    sub: String,
    model: String,
}

impl Run {
    /// Where its files stand.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn of(folder: PathBuf) -> Option<Run> {
        let name = as_text(folder.file_name()?);
        let (scenario, arguments) = name.split_once(':').unwrap_or((&name, ""));
        let mut model = None;
        let mut parts = Vec::new();
        for argument in arguments.split(',').filter(|a| !a.is_empty()) {
            match argument.split_once('=') {
                Some(("model", value)) => model = Some(value.to_owned()),
                Some((key, value)) if !NOT_PARTS.contains(&key) => parts.push(value),
                _ => {}
            }
        }
        let sub = if parts.is_empty() {
            ALL.to_owned()
        } else {
            parts.join(",")
        };
        Some(Run {
            scenario: scenario.to_owned(),
            sub,
            model: model?,
            folder,
        })
    }
}

/// Runs in a folder, or in the folders in it (`runs/SUITE/RUN`), in the order of their names.
pub(super) fn runs(folder: &Path) -> Vec<Run> {
    let mut found = Vec::new();
    let mut level = vec![folder.to_owned()];
    for _ in 0..3 {
        let mut next = Vec::new();
        for folder in level {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> =
                entries.map(|e| e.path()).filter(|p| p.is_dir()).collect();
            paths.sort();
            for path in paths {
                if path.join(FILE).is_file() {
                    found.extend(Run::of(path));
                } else {
                    next.push(path);
                }
            }
        }
        level = next;
    }
    found
}

/// The files of runs.
pub(super) fn files(runs: &[Run]) -> Vec<PathBuf> {
    let files = runs
        .iter()
        .flat_map(|run| [FILE, TEXTS].map(|name| run.folder.join(name)));
    files.filter(|file| file.is_file()).collect()
}

fn rows<T: serde::de::DeserializeOwned>(file: &Path, reading: &Reading<'_>) -> Result<Vec<T>> {
    list(file, reading, "HELM's", "give a folder of HELM runs")
}

/// The metric of a run: the one asked for, else the scenario's own, else the most common one there is.
fn metric_of(scenario: &str, there: &BTreeSet<String>, asked: Option<&str>) -> Option<String> {
    if let Some(asked) = asked {
        return there.contains(asked).then(|| asked.to_owned());
    }
    let own = DEFAULTS
        .iter()
        .find(|(name, _)| *name == scenario)
        .map(|d| d.1);
    own.into_iter()
        .chain(COMMON)
        .find(|metric| there.contains(*metric))
        .map(str::to_owned)
}

/// The runs that count. Of several of a model and scenario, in several suites, the one of the newest suite does (`v1.10.0`
/// is newer than `v1.9.0`); or each is a model of its own.
fn counted(runs: &[Run], keep: Runs, warnings: &mut Vec<String>) -> Vec<Run> {
    let suite = |run: &Run| run.folder.parent().map_or_else(String::new, own_name);
    let above = |run: &Run| run.folder.parent().unwrap_or(&run.folder).to_owned();
    let labels = own_names(&runs.iter().map(above).collect::<Vec<_>>());
    let mut several: BTreeMap<(&str, &str, &str), Vec<&Run>> = BTreeMap::new();
    for run in runs {
        let same = several.entry((&run.model, &run.scenario, &run.sub));
        same.or_default().push(run);
    }
    let of_several: BTreeSet<&str> = several
        .iter()
        .filter(|(_, same)| same.len() > 1)
        .map(|((model, ..), _)| *model)
        .collect();
    let mut older: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut kept = Vec::with_capacity(runs.len());
    for (run, label) in runs.iter().zip(&labels) {
        let same = &several[&(&*run.model, &*run.scenario, &*run.sub)];
        let newest = same
            .iter()
            .max_by_key(|run| (natural(&suite(run)), &run.folder));
        if keep == Runs::Separate && of_several.contains(&*run.model) {
            kept.push(Run {
                model: format!("{} @{label}", run.model),
                ..run.clone()
            });
        } else if newest.is_none_or(|newest| newest.folder == run.folder) {
            kept.push(run.clone());
        } else {
            let what = match &*run.sub {
                ALL => run.scenario.clone(),
                sub => format!("{}/{sub}", run.scenario),
            };
            let of = older.entry(&run.model).or_default();
            of.push(format!("{what} of {label}"));
        }
    }
    for (model, older) in older {
        warnings.push(format!(
            "model {model:?} has several runs: the newest suite counts, left out: {} (--runs separate keeps them)",
            names(older.iter().map(String::as_str))
        ));
    }
    kept
}

/// What sorts names with numbers in them by the numbers.
fn natural(name: &str) -> Vec<(u64, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let word = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (text, after) = rest.split_at(word);
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        parts.push((0, text.to_owned()));
        parts.push((after[..digits].parse().unwrap_or(u64::MAX), String::new()));
        rest = &after[digits..];
    }
    parts
}

/// Reads the `runs` of a folder. Perturbed instances and later trials are left out, and rows without a score where the
/// instance has a scored one. `metric` is taken by name; without it the scenario's own (HELM Lite's), and it is named.
///
/// # Errors
/// Placed ones of a file that is not HELM's, a score outside \[0, 1\], a metric that no run has.
pub(super) fn read(folder: &Path, runs: &[Run], reading: &Reading<'_>) -> Result<Benchmark> {
    let metric = reading.metric.as_deref();
    let mut gathered = Gathered::default();
    let runs = counted(runs, reading.runs, &mut gathered.warnings);
    let mut metrics: BTreeMap<String, String> = BTreeMap::new();
    let mut offered: BTreeSet<String> = BTreeSet::new();
    let (mut perturbed, mut later) = (0usize, 0usize);
    for run in &runs {
        let file = run.folder.join(FILE);
        let instances: Vec<Instance> = rows(&file, reading)?;
        let there: BTreeSet<String> = instances
            .iter()
            .flat_map(|i| i.stats.iter().map(|s| s.name.name.clone()))
            .collect();
        offered.extend(there.iter().cloned());
        let Some(metric) = metric_of(&run.scenario, &there, metric) else {
            let run = run
                .folder
                .file_name()
                .map(|n| n.to_string_lossy().into_owned());
            gathered.warnings.push(format!(
                "{}: none of its metrics is a score, left out",
                run.unwrap_or_default()
            ));
            continue;
        };
        metrics.insert(run.scenario.clone(), metric.clone());
        let model = gathered.model(&run.model);
        let place = |id: &str| -> Place { (run.scenario.clone(), run.sub.clone(), id.to_owned()) };
        for instance in &instances {
            let plain = |s: &&Stat| s.name.name == metric && s.name.perturbation.is_none();
            if instance.perturbation.is_some() {
                perturbed += 1;
                continue;
            }
            if instance.train_trial_index > 0 {
                later += 1;
                continue;
            }
            reading.limits.check_name(&file, &instance.instance_id)?;
            let item = gathered.item(&place(&instance.instance_id));
            let Some(score) = instance.stats.iter().find(plain).and_then(|s| s.mean) else {
                continue;
            };
            if !(0.0..=1.0).contains(&score) {
                return Err(Error::input(
                    &file,
                    format!(
                        "{}: {metric} is {score}, outside [0, 1]",
                        instance.instance_id
                    ),
                    "choose another --metric",
                ));
            }
            gathered.score(model, item, score);
        }
        texts(run, &place, reading, &mut gathered)?;
    }
    if let (Some(asked), true) = (metric, metrics.is_empty()) {
        let hint = match nearest(asked, offered.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near}?"),
            None => format!(
                "there are: {}",
                offered.into_iter().collect::<Vec<_>>().join(", ")
            ),
        };
        return Err(Error::input(
            folder,
            format!("no run has the metric {asked}"),
            hint,
        ));
    }
    if perturbed > 0 {
        let rows = count(perturbed, "perturbed row");
        gathered.warnings.push(format!("{rows} left out"));
    }
    if later > 0 {
        let rows = count(later, "row");
        gathered
            .warnings
            .push(format!("{rows} of later trials left out"));
    }
    let named: Vec<String> = metrics.iter().map(|(s, m)| format!("{m} ({s})")).collect();
    let named = named.join(", ");
    gathered.warnings.push(format!("metric: {named}"));
    gathered
        .finish(
            folder,
            "HELM per-instance statistics",
            named,
            &reading.limits,
        )?
        .ok_or_else(|| Error::input(folder, "no score in it", "give a folder of HELM runs"))
}

/// Texts of a run's instances, where it has them.
fn texts(
    run: &Run,
    place: &dyn Fn(&str) -> Place,
    reading: &Reading<'_>,
    gathered: &mut Gathered,
) -> Result<()> {
    let file = run.folder.join(TEXTS);
    if !file.is_file() {
        return Ok(());
    }
    let mut seen: HashSet<String> = HashSet::new();
    for instance in rows::<InstanceText>(&file, reading)? {
        // Perturbed copies of an instance follow it under the same id.
        if !seen.insert(instance.id.clone()) {
            continue;
        }
        gathered.text(&place(&instance.id), || {
            let right = |r: &&Reference| r.tags.iter().any(|t| t == "correct");
            let answer = instance
                .references
                .iter()
                .find(right)
                .map(|r| r.output.text.clone());
            let options: Vec<String> = instance
                .references
                .iter()
                .map(|r| r.output.text.clone())
                .collect();
            Some(ItemText {
                text: instance.input.text.clone(),
                options: if options.len() > 1 {
                    options
                } else {
                    Vec::new()
                },
                answer,
                category: None,
            })
        });
    }
    Ok(())
}
