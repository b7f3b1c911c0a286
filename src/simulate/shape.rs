//! The shape of a benchmark to draw: scenarios, sub-scenarios, numbers of items and models.

use std::path::Path;

use serde_json::{Map, Value};

use crate::data::{Aggregate, Benchmark};
use crate::error::{Error, Result};

/// What a drawn benchmark looks like.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Its name.
    pub name: String,
    /// Number of models.
    pub models: usize,
    /// Its scenarios, in order; at least one.
    pub scenarios: Vec<ShapeScenario>,
}

/// One scenario of a [`Shape`].
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeScenario {
    /// Its name.
    pub name: String,
    /// How its items are averaged.
    pub aggregate: Aggregate,
    /// Sub-scenarios: name and number of items, at least 1 each.
    pub subscenarios: Vec<(String, usize)>,
    /// Floor of guessing, in [0, 1): .25 for four options, .5 for two, 0 for free answers.
    pub guess: f64,
    /// Highest share of slips, in [0, 1).
    pub slip: f64,
    /// The scenario of the population to draw from, `scenario` or `data/scenario`; by its own name where absent.
    pub like: Option<String>,
}

impl ShapeScenario {
    /// Number of items.
    pub fn n_items(&self) -> usize {
        self.subscenarios.iter().map(|s| s.1).sum()
    }
}

impl Shape {
    /// One scenario of `items` items in one part.
    pub fn plain(models: usize, items: usize) -> Self {
        Self {
            name: "simulated".into(),
            models,
            scenarios: vec![ShapeScenario {
                name: "simulated".into(),
                aggregate: Aggregate::Micro,
                subscenarios: vec![("all".into(), items)],
                guess: 0.0,
                slip: 0.0,
                like: None,
            }],
        }
    }

    /// The shape of a benchmark, for its twin.
    pub fn of(benchmark: &Benchmark) -> Self {
        Self {
            name: benchmark.name.clone(),
            models: benchmark.matrix.n_models(),
            scenarios: benchmark
                .scenarios
                .iter()
                .map(|s| ShapeScenario {
                    name: s.name.clone(),
                    aggregate: s.aggregate,
                    subscenarios: s
                        .subscenarios
                        .iter()
                        .filter(|sub| !sub.items.is_empty())
                        .map(|sub| (sub.name.clone(), sub.items.len()))
                        .collect(),
                    guess: 0.0,
                    slip: 0.0,
                    like: None,
                })
                .collect(),
        }
    }

    /// The same floor of guessing for every scenario.
    pub fn with_guess(mut self, guess: f64) -> Self {
        self.scenarios.iter_mut().for_each(|s| s.guess = guess);
        self
    }

    /// The same highest share of slips for every scenario.
    pub fn with_slip(mut self, slip: f64) -> Self {
        self.scenarios.iter_mut().for_each(|s| s.slip = slip);
        self
    }

    /// Number of items.
    pub fn n_items(&self) -> usize {
        self.scenarios.iter().map(ShapeScenario::n_items).sum()
    }

    /// Reads a shape: a manifest of the native format, or a JSON object with
    ///
    /// - `benchmark` (name), `models`, `aggregate` (`macro` or `micro`, or one a scenario);
    /// - `scenarios`: {scenario: items, or {sub-scenario: items or \[first, end)}}; or `subscenarios` {sub-scenario: items}
    ///   or `items` for a single scenario named like the benchmark;
    /// - `guess`, `slip` and `like`: one for all scenarios, or {scenario: value}.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Input`] with what is wrong.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).map_err(|e| Error::io(path, "reading the shape", e))?;
        let value: Value = serde_json::from_str(&text).map_err(|e| Error::Input {
            place: crate::error::Place {
                file: path.to_owned(),
                line: Some(e.line() as u64),
                column: Some(e.column() as u64),
            },
            what: format!("not JSON: {e}"),
            hint: REMEDY.into(),
        })?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        parse(&value, stem.split('.').next().unwrap_or_default())
            .map_err(|what| Error::input(path, what, REMEDY))
    }

    /// Says what cannot be drawn.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::setting(what, ""));
        if self.models == 0 {
            return wrong("a benchmark needs at least one model".into());
        }
        if self.scenarios.is_empty() {
            return wrong("a benchmark needs at least one scenario".into());
        }
        for s in &self.scenarios {
            if s.subscenarios.is_empty() || s.subscenarios.iter().any(|sub| sub.1 == 0) {
                return wrong(format!("scenario {:?} has a part without items", s.name));
            }
            let fine = |x: f64| (0.0..1.0).contains(&x);
            if !fine(s.guess) || !fine(s.slip) || s.guess + s.slip >= 1.0 {
                return wrong(format!(
                    "guess {} and slip {} of scenario {:?} must be in [0, 1) and together below 1",
                    s.guess, s.slip, s.name
                ));
            }
        }
        Ok(())
    }
}

const REMEDY: &str =
    "a shape has `models` and `scenarios` {scenario: items or {sub-scenario: items}}";

fn parse(value: &Value, stem: &str) -> std::result::Result<Shape, String> {
    let object = value.as_object().ok_or("not a JSON object")?;
    let name = match object.get("benchmark") {
        Some(Value::String(name)) => name.as_str(),
        _ => stem,
    };
    let models = object
        .get("models")
        .and_then(Value::as_u64)
        .ok_or("`models` is not a number of models")? as usize;
    let mut whole = Map::new();
    let scenarios = match object.get("scenarios") {
        Some(Value::Object(scenarios)) => scenarios,
        Some(_) => return Err("`scenarios` is not an object".into()),
        None => {
            let only = object
                .get("subscenarios")
                .or_else(|| object.get("items"))
                .ok_or("no `scenarios`")?;
            whole.insert(name.to_owned(), only.clone());
            &whole
        }
    };
    let scenarios = scenarios
        .iter()
        .map(|(scenario, parts)| {
            let of = |key: &str| match object.get(key) {
                Some(Value::Object(each)) => each.get(scenario),
                other => other,
            };
            let number = |key: &str| match of(key) {
                None | Some(Value::Null) => Ok(0.0),
                Some(v) => v
                    .as_f64()
                    .ok_or_else(|| format!("`{key}` of {scenario:?} is {v}: not a number")),
            };
            Ok(ShapeScenario {
                name: scenario.clone(),
                aggregate: match of("aggregate").and_then(Value::as_str) {
                    None | Some("macro") => Aggregate::Macro,
                    Some("micro") => Aggregate::Micro,
                    Some(other) => {
                        return Err(format!(
                            "`aggregate` of {scenario:?} is {other:?}: neither macro nor micro"
                        ));
                    }
                },
                subscenarios: subscenarios(scenario, parts)?,
                guess: number("guess")?,
                slip: number("slip")?,
                like: of("like").and_then(Value::as_str).map(str::to_owned),
            })
        })
        .collect::<std::result::Result<Vec<_>, String>>()?;
    if scenarios.is_empty() {
        return Err("no scenarios".into());
    }
    Ok(Shape {
        name: name.to_owned(),
        models,
        scenarios,
    })
}

fn subscenarios(
    scenario: &str,
    parts: &Value,
) -> std::result::Result<Vec<(String, usize)>, String> {
    let wrong =
        |v: &Value| format!("scenario {scenario:?} has {v} where a number of items should be");
    let count = |v: &Value| -> std::result::Result<usize, String> {
        let n = match v {
            Value::Array(range) => match (range.first(), range.get(1), range.len()) {
                (Some(first), Some(end), 2) => end
                    .as_u64()
                    .zip(first.as_u64())
                    .and_then(|(end, first)| end.checked_sub(first)),
                _ => None,
            },
            v => v.as_u64(),
        };
        n.filter(|n| *n > 0)
            .map(|n| n as usize)
            .ok_or_else(|| wrong(v))
    };
    match parts {
        Value::Object(subs) => subs
            .iter()
            .map(|(name, v)| Ok((name.clone(), count(v)?)))
            .collect(),
        v => Ok(vec![("all".into(), count(v)?)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_in_every_form() {
        let read = |text: &str| parse(&serde_json::from_str(text).unwrap(), "stem");
        let s = read(
            r#"{"models": 5, "aggregate": "micro", "guess": {"a": 0.25}, "like": "data/x",
                "scenarios": {"a": 10, "b": {"p": [3, 7], "q": 2}}}"#,
        )
        .unwrap();
        assert_eq!((s.name.as_str(), s.models, s.n_items()), ("stem", 5, 16));
        assert_eq!(s.scenarios[0].guess, 0.25);
        assert_eq!(s.scenarios[1].guess, 0.0);
        assert_eq!(
            s.scenarios[1].subscenarios,
            [("p".to_owned(), 4), ("q".to_owned(), 2)]
        );
        assert_eq!(s.scenarios[1].like.as_deref(), Some("data/x"));
        let one = read(r#"{"benchmark": "m", "models": 2, "subscenarios": {"u": 3}}"#).unwrap();
        assert_eq!((one.scenarios[0].name.as_str(), one.n_items()), ("m", 3));
        for wrong in [
            "[]",
            "{}",
            r#"{"models": 2}"#,
            r#"{"models": 2, "scenarios": {}}"#,
            r#"{"models": 2, "scenarios": {"a": 0}}"#,
            r#"{"models": 2, "scenarios": {"a": {"b": [3, 1]}}}"#,
            r#"{"models": 2, "scenarios": {"a": 3}, "guess": "much"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
