//! AlpacaEval: a folder of models, each with the annotations of a judge (`annotations.json`).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::gather::{ALL, Gathered};
use super::jsonlines::list;
use super::python::number;
use crate::data::{Benchmark, ItemText};
use crate::error::{Error, Result};

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
pub(super) fn read(folder: &Path, files: &[PathBuf]) -> Result<Benchmark> {
    let mut gathered = Gathered::default();
    let mut order: HashMap<String, usize> = HashMap::new();
    for file in files {
        let annotations: Vec<Annotation> =
            list(file, "annotations", "give AlpacaEval's annotations.json")?;
        let name = annotations.iter().find_map(|a| a.generator_2.clone());
        let name = name.unwrap_or_else(|| model_of(folder, file));
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
        .finish(folder, "AlpacaEval annotations", "win probability".into())
        .ok_or_else(|| {
            Error::input(
                folder,
                "no annotation in it",
                "give a folder with MODEL/.../annotations.json",
            )
        })
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
