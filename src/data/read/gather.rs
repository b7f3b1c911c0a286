//! Scores that come one by one, in any order, gathered into a benchmark.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::Limits;
use crate::data::{
    Aggregate, Benchmark, ItemText, ItemTexts, MatrixBuilder, Scenario, SubScenario,
};
use crate::error::Result;

/// Scenario, sub-scenario and item: what a score is of.
pub(super) type Place = (String, String, String);

/// A sub-scenario with its items.
type Part = (String, Vec<String>);

/// Scores by model and place.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Items of every sub-scenario, in order of their first score.
    scenarios: Vec<(String, Vec<Part>)>,
    at: HashMap<Place, usize>,
    models: Vec<(String, HashMap<usize, f64>)>,
    /// Texts by the item's id in the benchmark.
    pub(super) texts: ItemTexts,
    /// What was left out or mended.
    pub(super) warnings: Vec<String>,
}

impl Gathered {
    /// The number of a model, made where there is none yet.
    pub(super) fn model(&mut self, name: &str) -> usize {
        match self.models.iter().position(|m| m.0 == name) {
            Some(at) => at,
            None => {
                self.models.push((name.to_owned(), HashMap::new()));
                self.models.len() - 1
            }
        }
    }

    /// The number of an item, made where there is none yet.
    pub(super) fn item(&mut self, place: &Place) -> usize {
        if let Some(&at) = self.at.get(place) {
            return at;
        }
        let (scenario, sub, item) = place;
        let scenarios = &mut self.scenarios;
        let s = scenarios
            .iter()
            .position(|s| s.0 == *scenario)
            .unwrap_or_else(|| {
                scenarios.push((scenario.clone(), Vec::new()));
                scenarios.len() - 1
            });
        let subs = &mut scenarios[s].1;
        let k = subs.iter().position(|k| k.0 == *sub).unwrap_or_else(|| {
            subs.push((sub.clone(), Vec::new()));
            subs.len() - 1
        });
        subs[k].1.push(item.clone());
        let number = self.at.len();
        self.at.insert(place.clone(), number);
        number
    }

    /// Sets a model's score; returns the one before, where there was one.
    pub(super) fn score(&mut self, model: usize, item: usize, score: f64) -> Option<f64> {
        self.models[model].1.insert(item, score)
    }

    /// The id that an item has in the benchmark.
    pub(super) fn id((scenario, sub, item): &Place) -> String {
        if sub == ALL {
            format!("{scenario}/{item}")
        } else {
            format!("{scenario}/{sub}/{item}")
        }
    }

    /// Keeps the first text of an item.
    pub(super) fn text(&mut self, place: &Place, text: impl FnOnce() -> Option<ItemText>) {
        let id = Self::id(place);
        if self.texts.get(&id).is_none()
            && let Some(text) = text()
        {
            self.texts.insert(id, text);
        }
    }

    /// The benchmark: scenarios and items in order of their first score, models in order of theirs. Sub-scenarios count
    /// equally. `None` without a score.
    ///
    /// # Errors
    /// More cells than the limit.
    pub(super) fn finish(
        self,
        origin: &Path,
        source: &str,
        metric: String,
        limits: &Limits,
    ) -> Result<Option<Benchmark>> {
        if self.models.is_empty() || self.at.is_empty() {
            return Ok(None);
        }
        limits.check_cells(origin, self.models.len(), self.at.len())?;
        let mut items = Vec::with_capacity(self.at.len());
        let mut columns = Vec::with_capacity(self.at.len());
        let mut scenarios = Vec::new();
        for (name, subs) in &self.scenarios {
            let first = items.len();
            let mut subscenarios = Vec::new();
            for (sub, ids) in subs {
                let from = items.len() - first;
                for id in ids {
                    let place = (name.clone(), sub.clone(), id.clone());
                    items.push(Self::id(&place));
                    columns.push(self.at[&place]);
                }
                subscenarios.push(SubScenario {
                    name: sub.clone(),
                    items: from..items.len() - first,
                });
            }
            scenarios.push(Scenario {
                name: name.clone(),
                aggregate: Aggregate::Macro,
                columns: (first..items.len()).collect(),
                subscenarios,
            });
        }
        let mut builder = MatrixBuilder::new(items);
        for (name, scores) in &self.models {
            let row: Vec<f64> = columns
                .iter()
                .map(|number| scores.get(number).copied().unwrap_or(f64::NAN))
                .collect();
            builder.push(name.clone(), &row);
        }
        let name = origin.file_name().map(|n| n.to_string_lossy().into_owned());
        Ok(Some(Benchmark {
            name: name.unwrap_or_default(),
            origin: origin.to_owned(),
            simulated: false,
            source: source.to_owned(),
            licence: String::new(),
            metric,
            notes: String::new(),
            matrix: builder.finish(),
            scenarios,
            released: BTreeMap::new(),
            organisations: BTreeMap::new(),
            texts: self.texts,
            warnings: self.warnings,
        }))
    }
}

/// The name of a scenario's only sub-scenario.
pub(super) const ALL: &str = "all";
