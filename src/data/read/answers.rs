//! Answers of one new model on some items: what `score` takes.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use csv::ReaderBuilder;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::json::{self, without_place};
use super::jsonlines::first_keys;
use super::separated::{self, delimiter, is_missing};
use super::{ReadOptions, Reading, Source, alpaca, demo_name, manifest, pickle, several};
use crate::data::{Benchmark, list};
use crate::error::{Error, Result, nearest};
use crate::progress::Silent;

const REMEDY: &str = "write JSON {\"item\": score, ...}, CSV lines `item,score`, or a table `model,item...`; or give logs";

/// Scores of one model, and what reading had to choose or leave out.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// By item id; missing ones are left out.
    pub scores: HashMap<String, f64>,
    /// As [`Benchmark::warnings`].
    pub warnings: Vec<String>,
}

/// Scores by item id, of the only model that there is: [`answers`] without a name.
///
/// # Errors
/// As [`answers`].
pub fn responses(path: &Path, options: &ReadOptions) -> Result<HashMap<String, f64>> {
    answers(path, options, None).map(|found| found.scores)
}

/// Scores of a model by item id; of several models there the one that is named.
///
/// # Errors
/// As [`sheet`]; several models and no name, a name that is none of theirs.
pub fn answers(path: &Path, options: &ReadOptions, model: Option<&str>) -> Result<Answers> {
    sheet(path, options)?.of(model)
}

/// The answers of one model or several, read once.
#[derive(Debug)]
pub struct Sheet {
    path: PathBuf,
    held: Held,
}

#[derive(Debug)]
enum Held {
    /// Of a model without a name.
    One(HashMap<String, f64>),
    /// Of models with names.
    Named(Box<Benchmark>),
}

/// All answers in a file. JSON `{item: score}`, lines `item,score` with or without a heading, or whatever a benchmark is read
/// from (a table, logs in a folder or file, a manifest).
///
/// # Errors
/// With line or item: a score that is no number in \[0, 1\], an item given twice, no score.
pub fn sheet(path: &Path, options: &ReadOptions) -> Result<Sheet> {
    Ok(Sheet {
        path: path.to_owned(),
        held: held(path, options)?,
    })
}

fn held(path: &Path, options: &ReadOptions) -> Result<Held> {
    let reading = &Reading::new(options, &Silent, &[]);
    let benchmark = || several::read(&[path], reading).map(|b| Held::Named(Box::new(b)));
    if demo_name(path).is_some() || path.is_dir() {
        return benchmark();
    }
    let source = reading.open(path)?;
    let keys = first_keys(source.head());
    let has = |key: &str| keys.iter().any(|k| k == key);
    let scores = match source.first_byte() {
        None => return Err(Error::input(path, "the file is empty", REMEDY)),
        Some(_) if path.is_file() && pickle::is_pickle(source.head()) => return benchmark(),
        Some(b'{' | b'[')
            if path.is_file()
                && (has("doc_id")
                    || has("subject_id") && has("responses")
                    || has("matrix") && has("scenarios")
                    || alpaca::is_annotations(&keys)) =>
        {
            return benchmark();
        }
        Some(b'{') => from_json(path, source, reading)?,
        Some(_) if source.looks_like_text() && is_table(&source, reading) => {
            // A pipe can be read once only, and has no manifest beside it.
            if path.is_file() {
                return benchmark();
            }
            let table = separated::read(path, source, reading)?;
            return Ok(Held::Named(Box::new(manifest::without(path, table).0)));
        }
        Some(_) if source.looks_like_text() => from_lines(path, source, reading)?,
        Some(_) => return Err(Error::input(path, "not a format this reads", REMEDY)),
    };
    if scores.is_empty() {
        return Err(Error::input(path, "no scores", REMEDY));
    }
    Ok(Held::One(scores))
}

impl Sheet {
    /// Names of the models; none where there is one without a name.
    pub fn models(&self) -> &[String] {
        match &self.held {
            Held::One(_) => &[],
            Held::Named(benchmark) => benchmark.matrix.models(),
        }
    }

    /// The answers of the model named, or of the only one.
    ///
    /// # Errors
    /// Several models and no name, a name that is none of theirs, no score.
    pub fn of(&self, model: Option<&str>) -> Result<Answers> {
        match &self.held {
            Held::One(scores) => Ok(Answers {
                scores: scores.clone(),
                warnings: Vec::new(),
            }),
            Held::Named(benchmark) => of_model(&self.path, benchmark, model),
        }
    }
}

fn of_model(path: &Path, benchmark: &Benchmark, model: Option<&str>) -> Result<Answers> {
    let m = &benchmark.matrix;
    let names = || m.models().iter().map(String::as_str);
    let row = match model {
        Some(name) => names().position(|n| n == name).ok_or_else(|| {
            let near = nearest(name, names());
            let near = near.map_or(String::new(), |n| format!("did you mean {n:?}? "));
            Error::input(
                path,
                format!("no model {name:?}"),
                format!("{near}there are: {}", list(names())),
            )
        })?,
        None if m.n_models() == 1 => 0,
        None => {
            return Err(Error::input(
                path,
                format!("{} models; one is scored at a time", m.n_models()),
                format!("--model names one: {}", list(names())),
            ));
        }
    };
    let scores: HashMap<String, f64> = m
        .items()
        .iter()
        .zip(m.row(row))
        .filter(|(_, y)| !y.is_nan())
        .map(|(id, y)| (id.clone(), y))
        .collect();
    if scores.is_empty() {
        let what = format!("no scores of {:?}", m.models()[row]);
        return Err(Error::input(path, what, REMEDY));
    }
    Ok(Answers {
        scores,
        warnings: benchmark.warnings.clone(),
    })
}

/// An object as it stands, an item given twice included: a map would silently keep the last.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object {item: score}")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

fn from_json(
    path: &Path,
    source: Source<'_>,
    reading: &Reading<'_>,
) -> Result<HashMap<String, f64>> {
    let text = source.text(path)?;
    let Pairs(pairs) = json::text(&text, reading.limits.depth).map_err(|e| Error::Input {
        place: json::place(path, &e),
        what: format!("not a JSON object: {}", without_place(&e)),
        hint: REMEDY.into(),
    })?;
    let scale = if reading.percent { 0.01 } else { 1.0 };
    let mut found = HashMap::with_capacity(pairs.len());
    let mut seen = HashSet::with_capacity(pairs.len());
    for (item, value) in pairs {
        if !seen.insert(item.clone()) {
            return Err(Error::input(
                path,
                format!("item {item:?} stands twice"),
                "give every item one score",
            ));
        }
        let score = match &value {
            Value::Null => continue,
            Value::Bool(right) => Some(f64::from(*right)),
            other => other.as_f64().map(|x| x * scale),
        };
        match score.filter(|x| (0.0..=1.0).contains(x)) {
            Some(score) => found.insert(item, score),
            None => {
                return Err(Error::input(
                    path,
                    format!("item {item:?} has {value}, which is not a score in [0, 1]"),
                    "write a number in [0, 1], or null where it is missing (--percent for 0 to 100)",
                ));
            }
        };
    }
    Ok(found)
}

/// What stands between the cells.
fn between(source: &Source<'_>, reading: &Reading<'_>) -> u8 {
    let found = || delimiter(source.head());
    reading.delimiter.unwrap_or_else(found)
}

/// True for a first line with more than an item and a score.
fn is_table(source: &Source<'_>, reading: &Reading<'_>) -> bool {
    let between = between(source, reading);
    let first = source.head().split(|&b| b == b'\n').next().unwrap_or(&[]);
    let cells: Vec<&[u8]> = first.split(|&b| b == between).collect();
    cells.len() > 2 || cells[0].trim_ascii().eq_ignore_ascii_case(b"model")
}

fn from_lines(
    path: &Path,
    source: Source<'_>,
    reading: &Reading<'_>,
) -> Result<HashMap<String, f64>> {
    let mut reader = ReaderBuilder::new()
        .delimiter(between(&source, reading))
        .flexible(true)
        .has_headers(false)
        .from_reader(source.reader());
    let scale = if reading.percent { 0.01 } else { 1.0 };
    let mut found = HashMap::new();
    for (number, record) in reader.records().enumerate() {
        let record = record.map_err(|e| {
            let line = e.position().map_or(number as u64 + 1, csv::Position::line);
            Error::at_line(path, line, format!("unreadable: {e}"), REMEDY)
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != 2 {
            return Err(Error::at_line(
                path,
                line,
                format!("{} cells, 2 expected (item, score)", record.len()),
                REMEDY,
            ));
        }
        let (item, cell) = (record[0].trim(), record[1].trim());
        if is_missing(cell.as_bytes()) {
            continue;
        }
        let score = cell.parse::<f64>().ok().map(|x| x * scale);
        match score.filter(|x| (0.0..=1.0).contains(x)) {
            Some(score) => {
                if found.insert(item.to_owned(), score).is_some() {
                    return Err(Error::at_line(
                        path,
                        line,
                        format!("item {item:?} stands twice"),
                        "give every item one score",
                    ));
                }
            }
            // The heading.
            None if number == 0 && score.is_none() && is_heading(item, cell) => {}
            None => {
                return Err(Error::at_line(
                    path,
                    line,
                    format!("item {item:?} has {cell:?}, which is not a score in [0, 1]"),
                    "write a number in [0, 1], or nothing where it is missing (--percent for 0 to 100)",
                ));
            }
        }
    }
    Ok(found)
}

/// Names that headings of answers have; anything else in the first line is an answer, and must be one.
fn is_heading(item: &str, score: &str) -> bool {
    let among = |name: &str, known: &[&str]| known.contains(&name.to_lowercase().as_str());
    among(
        item,
        &["item", "items", "item_id", "id", "doc_id", "question"],
    ) || among(
        score,
        &["score", "scores", "correct", "value", "result", "acc", "y"],
    )
}
