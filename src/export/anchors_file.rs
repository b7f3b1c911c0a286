//! The anchors file: all that is needed to score a new model.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{StoredItems, check_prior, item_ids, split_name, write_json};
use crate::anchors::{Anchor, Selection, SelectionKind};
use crate::data::{Aggregate, Benchmark, Scenario};
use crate::error::{Error, Result};
use crate::estimate::{AdaptiveCalibration, Stacker, paper_lambda};
use crate::experiment::{Fitted, Scope, Settings, shortened};
use crate::irt::Prior;

/// Self-contained: every item's id, balance weight and posterior, the prior, the chosen items with their weights, b, s2,
/// n and the paper's lambda of every scenario. Scoring with it gives what `estimate` gives, to rounding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnchorsFile {
    /// Always `anchors`: what the file is.
    pub tinyscope: String,
    /// Version of the format.
    pub version: u32,
    /// Name of the benchmark.
    pub benchmark: String,
    /// True when the responses were simulated.
    pub simulated: bool,
    /// Seed of the split and of the choice of items.
    pub seed: u64,
    /// The training models' split; `all models` where none was left out.
    pub split: String,
    /// Number of training models.
    pub training_models: usize,
    /// `scenario`: an ability for each scenario; `joint`: one, from the chosen items of all.
    pub scope: String,
    /// `posterior` or `ml`.
    pub ability: String,
    /// Seen part of p-IRT: `anchor` or `balance`.
    pub seen: String,
    /// Prior of the ability, one a scenario (the same in joint scope).
    pub scenarios: Vec<ScenarioAnchors>,
}

/// One scenario of an anchors file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenarioAnchors {
    /// Its name.
    pub name: String,
    /// How its items are averaged.
    pub aggregate: Aggregate,
    /// b: validation error; absent where it could not be measured.
    pub b: Option<f64>,
    /// s2: mean variance of the training models' scores.
    pub s2: f64,
    /// Scores above it count 1 in the ability, where responses were binarised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Lowest and highest true score of the training models: intervals hold for models like these. Absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_scores: Option<[f64; 2]>,
    /// Prior of the ability.
    pub prior: Prior,
    /// What was chosen, by kind.
    pub selections: Vec<Chosen>,
    /// Ids of all items, in order of position.
    pub items: Vec<String>,
    /// Balance weights, mean 1.
    pub balance: Vec<f64>,
    /// Parameters of all items.
    pub parameters: StoredItems,
    /// What was learned for adaptive tests; absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveCalibration>,
}

/// The chosen items of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// `random`, `anchors-correctness` or `anchors-irt`.
    pub selection: String,
    /// Number of chosen items.
    pub n: usize,
    /// The paper's lambda for gp-IRT.
    pub lambda: f64,
    /// Ids and weights; the weights sum to 1.
    pub anchors: Vec<ChosenItem>,
    /// What the learned estimates and all intervals rest on, where there were training models enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Stacker>,
}

/// A chosen item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChosenItem {
    /// Its id.
    pub id: String,
    /// Its weight.
    pub weight: f64,
}

const KIND: &str = "anchors";
const VERSION: u32 = 1;

impl AnchorsFile {
    /// From a fit and selections: for each kind, one selection a fitted scenario, in order.
    pub fn of(
        benchmark: &Benchmark,
        fitted: &Fitted,
        selections: &[Vec<Selection>],
        settings: &Settings,
    ) -> Self {
        let scenarios = fitted
            .scenarios
            .iter()
            .enumerate()
            .map(|(s, f)| {
                let scenario = &benchmark.scenarios[f.index];
                let ids = item_ids(benchmark, scenario);
                let chosen = selections.iter().map(|kind| {
                    let selection = &kind[s];
                    Chosen {
                        selection: selection.kind.name().into(),
                        n: selection.n(),
                        lambda: paper_lambda(selection.kind, f.b, f.s2, selection.n()),
                        anchors: selection
                            .anchors
                            .iter()
                            .map(|a| ChosenItem {
                                id: ids[a.item].clone(),
                                weight: a.weight,
                            })
                            .collect(),
                        learned: None,
                    }
                });
                ScenarioAnchors {
                    name: scenario.name.clone(),
                    aggregate: scenario.aggregate,
                    b: (!f.b.is_nan()).then_some(f.b),
                    s2: f.s2,
                    threshold: f.threshold,
                    training_scores: training_scores(benchmark, scenario, &f.train),
                    prior: f.fit.ability_prior.clone(),
                    selections: chosen.collect(),
                    balance: f.balance.clone(),
                    parameters: StoredItems::of(&f.items()),
                    items: ids,
                    adaptive: None,
                }
            })
            .collect();
        Self {
            tinyscope: KIND.into(),
            version: VERSION,
            benchmark: benchmark.name.clone(),
            simulated: benchmark.simulated,
            seed: settings.seed,
            split: split_name(fitted, settings),
            training_models: fitted.split.train.len(),
            scope: fitted.scope.name().into(),
            ability: settings.ability.name().into(),
            seen: settings.seen.name().into(),
            scenarios,
        }
    }

    /// With what was learned for each kind of selection and, in it, each scenario in order.
    pub fn with_learned(mut self, stackers: Vec<Vec<Option<Stacker>>>) -> Self {
        for (kind, stackers) in stackers.into_iter().enumerate() {
            for (scenario, stacker) in self.scenarios.iter_mut().zip(stackers) {
                if let Some(chosen) = scenario.selections.get_mut(kind) {
                    chosen.learned = stacker;
                }
            }
        }
        self
    }

    /// Writes the file whole or not at all; compressed where its name ends in `.gz`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, path: &Path) -> Result<()> {
        write_json(path, self)
    }

    /// The file in a JSON text, checked.
    ///
    /// # Errors
    /// With the place in `path`: not an anchors file, another version, parts that do not fit together.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let file: Self = serde_json::from_str(text).map_err(|e| {
            Error::at_line(
                path,
                e.line() as u64,
                format!("not an anchors file: {}", shortened(&e.to_string(), 200)),
                "write one with `tinyscope anchors DATA --out FILE`",
            )
        })?;
        file.checked(path)
    }

    /// The file, when its parts fit together.
    pub(super) fn checked(self, path: &Path) -> Result<Self> {
        let file = self;
        if file.tinyscope != KIND || file.version != VERSION {
            return Err(Error::input(
                path,
                format!(
                    "a tinyscope {:?} file of version {}, not {KIND:?} of version {VERSION}",
                    file.tinyscope, file.version
                ),
                "write one with `tinyscope anchors DATA --out FILE`",
            ));
        }
        for (what, value, known) in [
            ("theta", &file.scope, ["scenario", "joint"]),
            ("ability", &file.ability, ["posterior", "ml"]),
            ("seen", &file.seen, ["anchor", "balance"]),
        ] {
            if !known.contains(&value.as_str()) {
                return Err(Error::input(
                    path,
                    format!(
                        "{what} is {value:?}, neither {:?} nor {:?}",
                        known[0], known[1]
                    ),
                    "",
                ));
            }
        }
        if file.kinds().is_empty() {
            return Err(Error::input(path, "no items were chosen in it", ""));
        }
        let names: HashSet<&str> = file.scenarios.iter().map(|s| s.name.as_str()).collect();
        if names.len() < file.scenarios.len() {
            return Err(Error::input(path, "a scenario stands in it twice", ""));
        }
        let dims = |s: &ScenarioAnchors| s.parameters.dims;
        if file.scope == Scope::Joint.name()
            && file
                .scenarios
                .windows(2)
                .any(|w| dims(&w[0]) != dims(&w[1]))
        {
            return Err(Error::input(
                path,
                "theta is joint, but the scenarios differ in D",
                "",
            ));
        }
        for s in &file.scenarios {
            s.check()
                .map_err(|what| Error::input(path, format!("scenario {:?}: {what}", s.name), ""))?;
        }
        Ok(file)
    }

    /// The kinds of selections in the file.
    pub fn kinds(&self) -> Vec<SelectionKind> {
        SelectionKind::ALL
            .into_iter()
            .filter(|&k| self.scenarios.iter().any(|s| s.chosen(k).is_some()))
            .collect()
    }
}

impl ScenarioAnchors {
    /// What was chosen by `kind`.
    pub fn chosen(&self, kind: SelectionKind) -> Option<&Chosen> {
        self.selections.iter().find(|c| c.selection == kind.name())
    }

    /// The chosen items by position; empty where nothing was chosen by `kind`.
    pub(super) fn anchors(&self, kind: SelectionKind) -> Vec<Anchor> {
        let position: HashMap<&str, usize> = self
            .items
            .iter()
            .enumerate()
            .map(|(i, id)| (id.as_str(), i))
            .collect();
        self.chosen(kind).map_or(Vec::new(), |c| {
            c.anchors
                .iter()
                .filter_map(|a| {
                    Some(Anchor {
                        item: *position.get(a.id.as_str())?,
                        weight: a.weight,
                    })
                })
                .collect()
        })
    }

    fn check(&self) -> std::result::Result<(), String> {
        let n = self.items.len();
        self.parameters.parameters(n)?;
        if self.balance.len() != n {
            return Err(format!(
                "{} balance weights for {n} items",
                self.balance.len()
            ));
        }
        let mean = self.balance.iter().sum::<f64>() / n as f64;
        if self.balance.iter().any(|w| *w <= 0.0) || !near(mean, 1.0) {
            return Err(format!(
                "the balance weights are not positive with mean 1 (it is {mean})"
            ));
        }
        let d = self.parameters.dims;
        check_prior(&self.prior, d)?;
        if let Some(adaptive) = &self.adaptive {
            adaptive.check(n)?;
        }
        let measured = self.b.is_none_or(|b| (0.0..=1.0).contains(&b));
        if !(measured && (0.0..=1.0).contains(&self.s2)) {
            return Err("b and s2 are errors and variances of scores, in [0, 1]".into());
        }
        let range = |[low, high]: [f64; 2]| (0.0..=high).contains(&low) && high <= 1.0 + 1e-9;
        if let Some(ends) = self.training_scores
            && !range(ends)
        {
            return Err(format!(
                "training_scores: {} to {} is no range of scores in [0, 1]",
                ends[0], ends[1]
            ));
        }
        let ids: HashSet<&str> = self.items.iter().map(String::as_str).collect();
        if ids.len() < n {
            return Err("an item stands in it twice".into());
        }
        let kinds: HashSet<&str> = self
            .selections
            .iter()
            .map(|c| c.selection.as_str())
            .collect();
        if kinds.len() < self.selections.len() {
            return Err("a selection stands in it twice".into());
        }
        for chosen in &self.selections {
            if SelectionKind::from_name(&chosen.selection).is_none() {
                return Err(format!("no selection is named {:?}", chosen.selection));
            }
            if let Some(a) = chosen.anchors.iter().find(|a| !ids.contains(a.id.as_str())) {
                return Err(format!("the chosen item {:?} is none of its items", a.id));
            }
            let distinct: HashSet<&str> = chosen.anchors.iter().map(|a| a.id.as_str()).collect();
            if distinct.len() != chosen.n || chosen.anchors.len() != chosen.n {
                return Err(format!(
                    "{}: n is {}, but {} items of which {} differ were chosen",
                    chosen.selection,
                    chosen.n,
                    chosen.anchors.len(),
                    distinct.len()
                ));
            }
            let total: f64 = chosen.anchors.iter().map(|a| a.weight).sum();
            if chosen.anchors.iter().any(|a| a.weight <= 0.0) || !near(total, 1.0) {
                return Err(format!(
                    "{}: the weights are not positive with sum 1 (it is {total})",
                    chosen.selection
                ));
            }
            if let Some(learned) = &chosen.learned {
                learned
                    .check(chosen.n)
                    .map_err(|what| format!("{}: {what}", chosen.selection))?;
            }
            if !(0.0..=1.0).contains(&chosen.lambda) {
                return Err(format!(
                    "{}: lambda is {}, outside [0, 1]",
                    chosen.selection, chosen.lambda
                ));
            }
        }
        Ok(())
    }
}

/// Lowest and highest true score of these models (rows of the matrix) on a scenario; `None` where none answered.
pub fn training_scores(
    benchmark: &Benchmark,
    scenario: &Scenario,
    models: &[usize],
) -> Option<[f64; 2]> {
    let scores = models
        .iter()
        .filter_map(|&model| benchmark.true_score(model, scenario));
    scores.fold(None, |ends: Option<[f64; 2]>, score| {
        let [low, high] = ends.unwrap_or([score; 2]);
        Some([low.min(score), high.max(score)])
    })
}

/// Equal up to the rounding of a sum.
fn near(x: f64, y: f64) -> bool {
    (x - y).abs() < 1e-6
}
