//! AlpacaEval: a folder of models, each with the annotations of a judge (`annotations.json`).

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Reading;
use super::gather::{ALL, Gathered};
use super::jsonlines::list as records;
use super::names::{as_text, own_name};
use super::python::number;
use crate::data::{Benchmark, ItemText, count, list};
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

/// A file of annotations, and the folder that it was found in: the file itself where it was named.
#[derive(Debug, Clone)]
pub(super) struct Annotations {
    pub(super) file: PathBuf,
    folder: PathBuf,
}

impl Annotations {
    /// A file that was named.
    pub(super) fn file(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            folder: file.to_owned(),
        }
    }

    /// The folders between the one that was named and the file.
    fn between(&self) -> Vec<String> {
        let below = self.file.strip_prefix(&self.folder);
        let names = below.iter().flat_map(|b| b.components());
        let mut names: Vec<String> = names.map(|c| as_text(c.as_os_str())).collect();
        names.pop();
        names
    }

    /// The judge: the folder between the model's and the file; where that cannot be told, because the model's folder or the
    /// file itself was named, the first annotation's `annotator`, or the file's folder where the one above is called like
    /// the model. `None` where nothing tells.
    fn judge(&self, reading: &Reading<'_>) -> Result<Option<String>> {
        if let Some(judge) = self.between().into_iter().nth(1) {
            return Ok(Some(judge));
        }
        let head = reading.open(&self.file)?.head().to_vec();
        if let Some(judge) = first_text(&head, "annotator") {
            return Ok(Some(judge));
        }
        let whole = self.file.canonicalize().unwrap_or_default();
        let mut above = whole.ancestors().skip(1).map(own_name);
        let (judge, model) = (above.next(), above.next());
        Ok(judge.filter(|_| model.is_some() && model == first_text(&head, "generator_2")))
    }

    /// The model where no annotation names it: the first folder below the benchmark's, else the file's own.
    fn model(&self) -> String {
        let first = self.between().into_iter().next();
        first.unwrap_or_else(|| {
            let own = own_name(&self.file);
            match self.file.parent() {
                Some(folder) if own == FILE => own_name(folder),
                _ => own,
            }
        })
    }
}

/// True for the keys of an annotation.
pub(super) fn is_annotations(keys: &[String]) -> bool {
    let has = |key: &str| keys.iter().any(|k| k == key);
    has("generator_2") && has("preference")
}

/// The text of a key, where it stands in the first stretch of a file: the first one.
fn first_text(head: &[u8], key: &str) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let named = format!("\"{key}\"");
    // Inside a text the quotes of the key have backslashes before them.
    let found = head.match_indices(&named);
    let mut values = found.filter_map(|(at, _)| {
        let value = head[at + named.len()..].trim_start().strip_prefix(':')?;
        let mut value = serde_json::Deserializer::from_str(value).into_iter::<String>();
        value.next()?.ok()
    });
    values.next()
}

/// `annotations.json` of every model below a folder, in the order of their paths.
pub(super) fn files(folder: &Path) -> Vec<Annotations> {
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
    let found = found.into_iter().map(|file| Annotations {
        file,
        folder: folder.to_owned(),
    });
    found.collect()
}

/// Reads annotations; `origin` is what the user named first. A score is the preference for the model's answer: preference - 1, in \[0, 1\];
/// 0 is a tie (.5), null and NaN are missing. Items are joined by their instruction, which is also their text.
///
/// # Errors
/// Placed ones of the file that is no list of annotations, or whose preference is none.
pub(super) fn read(
    origin: &Path,
    files: &[Annotations],
    reading: &Reading<'_>,
) -> Result<Benchmark> {
    let mut gathered = Gathered::default();
    let files = of_one_judge(origin, files, reading, &mut gathered.warnings)?;
    let mut order: HashMap<String, usize> = HashMap::new();
    for found in files {
        let file = &found.file;
        let annotations: Vec<Annotation> = records(
            file,
            reading,
            "annotations",
            "give AlpacaEval's annotations.json",
        )?;
        let name = annotations.iter().find_map(|a| a.generator_2.clone());
        let name = name.unwrap_or_else(|| found.model());
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
                "{name}: {} annotated twice, the last one counts",
                count(repeated, "instruction")
            ));
        }
    }
    gathered
        .finish(
            origin,
            "AlpacaEval annotations",
            "win probability".into(),
            &reading.limits,
        )?
        .ok_or_else(|| {
            Error::input(
                origin,
                "no annotation in it",
                "give a folder with MODEL/.../annotations.json",
            )
        })
}

/// The judge of AlpacaEval 2.0, which the paper uses.
const JUDGE: &str = "weighted_alpaca_eval_gpt4_turbo";

/// The annotations of one judge: verdicts of several are never mixed. `--metric` names one; else that of AlpacaEval 2.0, else
/// the one with most models, and it is said.
fn of_one_judge<'f>(
    origin: &Path,
    files: &'f [Annotations],
    reading: &Reading<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<&'f Annotations>> {
    let by: Vec<Option<String>> = files
        .iter()
        .map(|found| found.judge(reading))
        .collect::<Result<_>>()?;
    let mut judges: BTreeMap<&str, usize> = BTreeMap::new();
    for judge in by.iter().flatten() {
        *judges.entry(judge).or_default() += 1;
    }
    let chosen = match reading.metric.as_deref() {
        Some(asked) if judges.contains_key(asked) => asked,
        Some(asked) => {
            let hint = match nearest(asked, judges.keys().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there are: {}", list(judges.keys().copied())),
            };
            return Err(Error::input(
                origin,
                format!("no model was annotated by the judge {asked}"),
                hint,
            ));
        }
        None if judges.len() < 2 => return Ok(files.iter().collect()),
        None if judges.contains_key(JUDGE) => JUDGE,
        None => {
            let most = judges.iter().max_by_key(|(_, n)| **n);
            most.map_or("", |(judge, _)| judge)
        }
    };
    let kept: Vec<&Annotations> = files
        .iter()
        .zip(&by)
        .filter(|(_, judge)| judge.as_deref().is_none_or(|judge| judge == chosen))
        .map(|(found, _)| found)
        .collect();
    let others = judges.keys().copied().filter(|judge| *judge != chosen);
    let others: Vec<&str> = others.collect();
    if kept.len() < files.len() {
        warnings.push(format!(
            "the judge {chosen} counts, {} of others {} left out: {} (--metric chooses)",
            count(files.len() - kept.len(), "annotation"),
            if files.len() - kept.len() == 1 {
                "is"
            } else {
                "are"
            },
            list(others.into_iter())
        ));
    }
    Ok(kept)
}
