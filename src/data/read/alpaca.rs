//! AlpacaEval: a folder of models, each with the annotations of a judge (`annotations.json`).

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Reading;
use super::gather::{ALL, Gathered};
use super::jsonlines::list as records;
use super::python::number;
use crate::data::{Benchmark, ItemText, list};
use crate::error::{Error, Result, nearest};

/// The file that a judge writes.
const FILE: &str = "annotations.json";

#[derive(Deserialize)]
struct Annotation {
    instruction: String,
    #[serde(default)]
    generator_2: Option<String>,
    #[serde(default, deserialize_with = "number")]
    preference: Option<f64>,
}

/// `annotations.json` of every model below a folder, in the order of their paths.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let children = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|e| e.path()).collect();
        paths.sort();
        paths
    };
    // FOLDER/model/judge/annotations.json, FOLDER/model/annotations.json, FOLDER/annotations.json.
    let mut level = vec![folder.to_owned()];
    for _ in 0..3 {
        let mut next = Vec::new();
        for folder in level {
            let file = folder.join(FILE);
            if file.is_file() {
                found.push(file);
            }
            next.extend(children(&folder).into_iter().filter(|p| p.is_dir()));
        }
        level = next;
    }
    found.sort();
    found
}

/// Reads the annotations of a folder, or one file of them. A score is the preference for the model's answer: preference - 1, in \[0, 1\];
/// 0 is a tie (.5), null and NaN are missing. Items are joined by their instruction, which is also their text.
///
/// # Errors
/// Placed ones of the file that is no list of annotations, or whose preference is none.
pub(super) fn read(folder: &Path, files: &[PathBuf], reading: &Reading<'_>) -> Result<Benchmark> {
    let mut gathered = Gathered::default();
    let files = of_one_judge(folder, files, reading, &mut gathered.warnings)?;
    let mut order: HashMap<String, usize> = HashMap::new();
    for file in files {
        let annotations: Vec<Annotation> = records(
            file,
            reading,
            "annotations",
            "give AlpacaEval's annotations.json",
        )?;
        let name = annotations.iter().find_map(|a| a.generator_2.clone());
        let name = name.unwrap_or_else(|| model_of(folder, file));
        reading.limits.check_name(file, &name)?;
        let model = gathered.model(&name);
        let mut repeated = 0;
        for (number, annotation) in annotations.into_iter().enumerate() {
            let next = order.len();
            let at = *order.entry(annotation.instruction.clone()).or_insert(next);
            let place = ("alpaca_eval".to_owned(), ALL.to_owned(), format!("{at:04}"));
            let item = gathered.item(&place);
            gathered.text(&place, || {
                Some(ItemText {
                    text: annotation.instruction.clone(),
                    options: Vec::new(),
                    answer: None,
                    category: None,
                })
            });
            let score = match annotation.preference {
                None => continue,
                Some(0.0) => 0.5,
                Some(x) if (1.0..=2.0).contains(&x) => x - 1.0,
                Some(x) => {
                    return Err(Error::input(
                        file,
                        format!(
                            "annotation {}: preference {x} is neither 0 nor in [1, 2]",
                            number + 1
                        ),
                        "give AlpacaEval's annotations.json",
                    ));
                }
            };
            repeated += usize::from(gathered.score(model, item, score).is_some());
        }
        if repeated > 0 {
            gathered.warnings.push(format!(
                "{name}: {repeated} instructions annotated twice, the last one counts"
            ));
        }
    }
    gathered
        .finish(
            folder,
            "AlpacaEval annotations",
            "win probability".into(),
            &reading.limits,
        )?
        .ok_or_else(|| {
            Error::input(
                folder,
                "no annotation in it",
                "give a folder with MODEL/.../annotations.json",
            )
        })
}

/// The judge of AlpacaEval 2.0, which the paper uses.
const JUDGE: &str = "weighted_alpaca_eval_gpt4_turbo";

/// The annotations of one judge: verdicts of several are never mixed. The judge is the folder between the model's and the
/// file. `--metric` names one; else that of AlpacaEval 2.0, else the one with most models, and it is said.
fn of_one_judge<'f>(
    folder: &Path,
    files: &'f [PathBuf],
    reading: &Reading<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<&'f PathBuf>> {
    let judge = |file: &PathBuf| -> Option<String> {
        let mut between = file.strip_prefix(folder).ok()?.components().skip(1);
        let judge = between.next()?.as_os_str().to_string_lossy().into_owned();
        (judge != FILE).then_some(judge)
    };
    let mut judges: BTreeMap<String, usize> = BTreeMap::new();
    for judge in files.iter().filter_map(judge) {
        *judges.entry(judge).or_default() += 1;
    }
    let chosen = match &reading.metric {
        Some(asked) if judges.contains_key(asked) => asked.clone(),
        Some(asked) => {
            let hint = match nearest(asked, judges.keys().map(String::as_str)) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there are: {}", list(judges.keys().map(String::as_str))),
            };
            return Err(Error::input(
                folder,
                format!("no model was annotated by the judge {asked}"),
                hint,
            ));
        }
        None if judges.len() < 2 => return Ok(files.iter().collect()),
        None if judges.contains_key(JUDGE) => JUDGE.to_owned(),
        None => {
            let most = judges.iter().max_by_key(|(_, n)| **n);
            most.map_or(String::new(), |(judge, _)| judge.clone())
        }
    };
    let (kept, others): (Vec<_>, Vec<_>) = files
        .iter()
        .partition(|file| judge(file).is_none_or(|judge| judge == chosen));
    judges.remove(&chosen);
    if !others.is_empty() {
        warnings.push(format!(
            "the judge {chosen} counts, {} annotations of others are left out: {} (--metric chooses)",
            others.len(),
            list(judges.keys().map(String::as_str))
        ));
    }
    Ok(kept)
}

/// The model's folder: the first one below the benchmark's.
fn model_of(folder: &Path, file: &Path) -> String {
    let below = file.strip_prefix(folder).unwrap_or(file);
    let first = below.components().next();
    let name = first.map(|c| c.as_os_str().to_string_lossy().into_owned());
    name.filter(|n| n != FILE).unwrap_or_else(|| {
        let own = folder.file_name().map(|n| n.to_string_lossy().into_owned());
        own.unwrap_or_default()
    })
}
