//! The file of answers: what an interrupted test goes on with.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};
use tinyscope::Error;
use tinyscope::data::{count, read, write};

use super::lock::Lock;
use super::underway::Underway;

/// Scores by item id in the order they were given; null for an item that cannot be asked.
pub(super) struct Answers {
    path: Option<PathBuf>,
    values: Map<String, Value>,
    underway: Underway,
    lock: Option<Lock>,
}

const REMEDY: &str = "name a JSON file {item: score}, or one that is not there yet";

impl Answers {
    /// What the file holds; nothing where there is none yet, or none is kept. It is this test's alone until this is dropped.
    ///
    /// # Errors
    /// Nothing can be written there, another test does, it holds something else.
    pub(super) fn open(path: Option<&Path>, underway: &Underway) -> tinyscope::Result<Self> {
        let mut answers = Self {
            path: path.map(Path::to_owned),
            values: Map::new(),
            underway: underway.clone(),
            lock: None,
        };
        if let Some(path) = path {
            writable(path)?;
            let lock = Lock::take(path)?;
            underway.hold().lock = Some(lock.path().to_owned());
            answers.lock = Some(lock);
            if path.exists() {
                answers.values = parse(path)?;
            }
        }
        underway.hold().advice = answers.how_to_go_on();
        Ok(answers)
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
        let mut state = self.underway.hold();
        if let Some(path) = &self.path {
            let mut text = serde_json::to_string_pretty(&self.values)
                .map_err(|e| Error::io(path, "writing", e.into()))?;
            text.push('\n');
            write::atomically(path, text.as_bytes())?;
        }
        state.advice = self.how_to_go_on();
        Ok(())
    }

    /// What to do after a test that ended early.
    pub(super) fn how_to_go_on(&self) -> String {
        let Some(path) = &self.path else {
            return "the answers were not kept; --answers FILE keeps them and goes on".into();
        };
        let answers = self.values.values().filter(|v| !v.is_null()).count();
        let are = if answers == 1 { "is" } else { "are" };
        format!(
            "{} {are} kept in {}; the same command goes on",
            count(answers, "answer"),
            path.display()
        )
    }
}

/// Refuses what answers cannot be written to, before the first is asked for.
fn writable(path: &Path) -> tinyscope::Result<()> {
    write::replaceable(path)?;
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(Error::input(path, "not a regular file", REMEDY));
    }
    let target = write::followed(path);
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|p| !p.is_dir()) {
        return Err(Error::input(
            path,
            format!("there is no folder {}", folder.display()),
            "make it, or name another file",
        ));
    }
    if path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR) {
        return Err(Error::input(path, "a folder, not a file", REMEDY));
    }
    Ok(())
}

fn parse(path: &Path) -> tinyscope::Result<Map<String, Value>> {
    let text = read::text(path, &read::ReadOptions::default())?;
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let Distinct(values) = serde_json::from_str(&text).map_err(|e| {
        let place = format!(" at line {} column {}", e.line(), e.column());
        let why = e.to_string().replace(&place, "");
        match why.strip_prefix(TWICE) {
            Some(item) => Error::at_line(
                path,
                e.line() as u64,
                format!("item {item} stands twice"),
                "give every item one score",
            ),
            None => Error::at_line(
                path,
                e.line() as u64,
                format!("not a JSON object of answers: {why}"),
                REMEDY,
            ),
        }
    })?;
    for (item, value) in &values {
        if score(value).is_none() && !value.is_null() {
            return Err(Error::input(
                path,
                format!("item {item:?} has {value}, which is not a score in [0, 1]"),
                "write a number in [0, 1], or null where it cannot be asked",
            ));
        }
    }
    Ok(values)
}

/// An object no key of which stands twice.
struct Distinct(Map<String, Value>);

/// Before the key that does.
const TWICE: &str = "twice: ";

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Distinct;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object {item: score}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
                let mut values = Map::new();
                while let Some(item) = map.next_key::<String>()? {
                    if values.contains_key(&item) {
                        return Err(A::Error::custom(format!("{TWICE}{item:?}")));
                    }
                    values.insert(item, map.next_value()?);
                }
                Ok(Distinct(values))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

fn score(value: &Value) -> Option<f64> {
    let score = match value {
        Value::Bool(right) => Some(f64::from(u8::from(*right))),
        other => other.as_f64(),
    };
    score.filter(|y| (0.0..=1.0).contains(y))
}
