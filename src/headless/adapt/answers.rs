//! The file of answers: what an interrupted test goes on with.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tinyscope::Error;
use tinyscope::data::write;

/// Scores by item id in the order they were given; null for an item that cannot be asked.
pub(super) struct Answers {
    path: Option<PathBuf>,
    values: Map<String, Value>,
}

const REMEDY: &str = "name a JSON file {item: score}, or one that is not there yet";

impl Answers {
    /// What the file holds; nothing where there is none yet, or none is kept.
    pub(super) fn open(path: Option<&Path>) -> tinyscope::Result<Self> {
        let mut values = Map::new();
        if let Some(path) = path.filter(|p| p.exists()) {
            let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, "reading", e))?;
            if !text.trim().is_empty() {
                values = serde_json::from_str(&text).map_err(|e| {
                    let why = format!("not a JSON object of answers: {e}");
                    Error::at_line(path, e.line() as u64, why, REMEDY)
                })?;
            }
            for (item, value) in &values {
                if score(value).is_none() && !value.is_null() {
                    return Err(Error::input(
                        path,
                        format!("item {item:?} has {value}, which is not a score in [0, 1]"),
                        "write a number in [0, 1], or null where it cannot be asked",
                    ));
                }
            }
        }
        Ok(Self {
            path: path.map(Path::to_owned),
            values,
        })
    }

    /// Item and score in order; no score for one that cannot be asked.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Option<f64>)> {
        self.values.iter().map(|(id, v)| (id.as_str(), score(v)))
    }

    /// Takes an answer and writes the file.
    pub(super) fn set(&mut self, item: &str, score: Option<f64>) -> tinyscope::Result<()> {
        self.values.insert(item.to_owned(), score.into());
        self.save()
    }

    /// Drops an answer and writes the file.
    pub(super) fn remove(&mut self, item: &str) -> tinyscope::Result<()> {
        self.values.shift_remove(item);
        self.save()
    }

    fn save(&self) -> tinyscope::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut text = serde_json::to_string_pretty(&self.values)
            .map_err(|e| Error::io(path, "writing", e.into()))?;
        text.push('\n');
        write::atomically(path, text.as_bytes())
    }

    /// What to do after a test that ended early.
    pub(super) fn how_to_go_on(&self) -> String {
        match &self.path {
            Some(path) => format!(
                "{} answers are kept in {}; the same command goes on",
                self.values.values().filter(|v| !v.is_null()).count(),
                path.display()
            ),
            None => "the answers were not kept; --answers FILE keeps them and goes on".into(),
        }
    }
}

fn score(value: &Value) -> Option<f64> {
    let score = match value {
        Value::Bool(right) => Some(f64::from(u8::from(*right))),
        other => other.as_f64(),
    };
    score.filter(|y| (0.0..=1.0).contains(y))
}
