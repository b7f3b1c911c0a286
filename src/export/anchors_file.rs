//! The anchors file: all that is needed to score a new model, and the scoring itself.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::StoredItems;
use crate::anchors::{Anchor, Selection, SelectionKind};
use crate::data::{Aggregate, Benchmark, write};
use crate::error::{Error, Result};
use crate::estimate::{Estimates, Estimator, Seen, estimates, paper_lambda};
use crate::experiment::{Fitted, Lambda, Scope, Settings};
use crate::irt::{AbilityMethod, ItemParameters, Prior, ability};

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
}

/// A chosen item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChosenItem {
    /// Its id.
    pub id: String,
    /// Its weight.
    pub weight: f64,
}

/// A new model's estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// One a scenario of the file.
    pub scenarios: Vec<ScenarioScore>,
    /// Mean over scenarios by selection and estimator, where every scenario has an estimate.
    pub overall: Vec<(SelectionKind, Estimator, f64)>,
    /// Missing anchors and ignored items.
    pub warnings: Vec<String>,
}

/// A new model's estimates on one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioScore {
    /// Name of the scenario.
    pub name: String,
    /// By selection and estimator; a selection without any answer is absent.
    pub estimates: Vec<(SelectionKind, Estimator, f64)>,
    /// By selection: items answered, items chosen.
    pub answered: Vec<(SelectionKind, usize, usize)>,
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
                let ids: Vec<String> = scenario
                    .columns
                    .iter()
                    .map(|&c| benchmark.matrix.items()[c].clone())
                    .collect();
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
                    }
                });
                ScenarioAnchors {
                    name: scenario.name.clone(),
                    aggregate: scenario.aggregate,
                    b: (!f.b.is_nan()).then_some(f.b),
                    s2: f.s2,
                    threshold: f.threshold,
                    prior: f.fit.ability_prior.clone(),
                    selections: chosen.collect(),
                    balance: f.balance.clone(),
                    parameters: StoredItems::of(&f.items()),
                    items: ids,
                }
            })
            .collect();
        Self {
            tinyscope: KIND.into(),
            version: VERSION,
            benchmark: benchmark.name.clone(),
            simulated: benchmark.simulated,
            seed: settings.seed,
            split: if fitted.split.test.is_empty() {
                "all models".into()
            } else {
                settings.split.to_string()
            },
            training_models: fitted.split.train.len(),
            scope: fitted.scope.name().into(),
            ability: settings.ability.name().into(),
            seen: settings.seen.name().into(),
            scenarios,
        }
    }

    /// Writes the file whole or not at all; compressed where its name ends in `.gz`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut text =
            serde_json::to_vec(self).map_err(|e| Error::io(path, "writing", e.into()))?;
        text.push(b'\n');
        write::atomically(path, &text)
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
                format!("not an anchors file: {e}"),
                "write one with `tinyscope anchors DATA --out FILE`",
            )
        })?;
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
        for s in &file.scenarios {
            s.check()
                .map_err(|what| Error::input(path, format!("scenario {:?}: {what}", s.name), ""))?;
        }
        Ok(file)
    }

    fn method(&self) -> AbilityMethod {
        match self.ability.as_str() {
            "ml" => AbilityMethod::MaximumLikelihood,
            _ => AbilityMethod::Posterior,
        }
    }

    /// Estimates of a model from its scores by item id. Chosen items without a score are named and drop out, the weights of
    /// the others renormalised; items that were not chosen are ignored, with a warning.
    ///
    /// # Errors
    /// None of the chosen items has a score.
    pub fn score(&self, responses: &HashMap<String, f64>, lambda: Lambda) -> Result<Score> {
        let mut scenarios: Vec<ScenarioScore> = self
            .scenarios
            .iter()
            .map(|s| ScenarioScore {
                name: s.name.clone(),
                estimates: Vec::new(),
                answered: Vec::new(),
            })
            .collect();
        let kinds = self.kinds();
        let mut missing = Vec::new();
        for &kind in &kinds {
            let found = self.score_kind(kind, responses);
            for ((out, s), found) in scenarios.iter_mut().zip(&self.scenarios).zip(found) {
                let Some(chosen) = s.chosen(kind) else {
                    continue;
                };
                let answered = found.map_or(0, |e| e.answered);
                out.answered.push((kind, answered, chosen.n));
                let Some(found) = found else { continue };
                for estimator in Estimator::ALL {
                    let value = found.get(estimator, lambda.value(chosen.lambda));
                    out.estimates.push((kind, estimator, value));
                }
                for a in &chosen.anchors {
                    if answer(responses, &a.id).is_none() && !missing.contains(&a.id) {
                        missing.push(a.id.clone());
                    }
                }
            }
        }
        if scenarios.iter().all(|s| s.estimates.is_empty()) {
            return Err(Error::setting(
                format!(
                    "none of the chosen items of {} has a score among the {} given",
                    self.benchmark,
                    responses.len()
                ),
                "item ids must be those of the anchors file; `tinyscope show ANCHORS` lists them",
            ));
        }
        let mut overall = Vec::new();
        for &kind in &kinds {
            for estimator in Estimator::ALL {
                let each: Option<Vec<f64>> = scenarios
                    .iter()
                    .map(|s| {
                        let mut found = s.estimates.iter();
                        found
                            .find(|(k, e, _)| (*k, *e) == (kind, estimator))
                            .map(|e| e.2)
                    })
                    .collect();
                if let Some(each) = each {
                    let mean = each.iter().sum::<f64>() / each.len() as f64;
                    overall.push((kind, estimator, mean));
                }
            }
        }
        Ok(Score {
            scenarios,
            overall,
            warnings: self.warnings(responses, &missing, &kinds),
        })
    }

    /// The kinds of selections in the file.
    pub fn kinds(&self) -> Vec<SelectionKind> {
        SelectionKind::ALL
            .into_iter()
            .filter(|&k| self.scenarios.iter().any(|s| s.chosen(k).is_some()))
            .collect()
    }

    fn warnings(
        &self,
        responses: &HashMap<String, f64>,
        missing: &[String],
        kinds: &[SelectionKind],
    ) -> Vec<String> {
        use crate::data::list;
        let mut out = Vec::new();
        if !missing.is_empty() {
            out.push(format!(
                "{} of the chosen items without a score, left out and the other weights renormalised: {}",
                missing.len(),
                list(missing.iter().map(String::as_str))
            ));
        }
        let chosen: std::collections::HashSet<&str> = self
            .scenarios
            .iter()
            .flat_map(|s| kinds.iter().filter_map(|&k| s.chosen(k)))
            .flat_map(|c| c.anchors.iter().map(|a| a.id.as_str()))
            .collect();
        let mut extra: Vec<&str> = responses
            .keys()
            .map(String::as_str)
            .filter(|id| !chosen.contains(id))
            .collect();
        extra.sort_unstable();
        if !extra.is_empty() {
            out.push(format!(
                "{} scores of items that were not chosen, ignored: {}",
                extra.len(),
                list(extra.into_iter())
            ));
        }
        out
    }

    fn score_kind(
        &self,
        kind: SelectionKind,
        responses: &HashMap<String, f64>,
    ) -> Vec<Option<Estimates>> {
        if self.scope == Scope::Joint.name() {
            let all: Vec<&ScenarioAnchors> = self.scenarios.iter().collect();
            self.together(&all, kind, responses)
        } else {
            self.scenarios
                .iter()
                .flat_map(|s| self.together(&[s], kind, responses))
                .collect()
        }
    }

    /// Scenarios whose answers tell one ability.
    fn together(
        &self,
        scenarios: &[&ScenarioAnchors],
        kind: SelectionKind,
        responses: &HashMap<String, f64>,
    ) -> Vec<Option<Estimates>> {
        // Checked when the file was read.
        let parameters: Vec<ItemParameters> = scenarios
            .iter()
            .filter_map(|s| s.parameters.parameters(s.items.len()).ok())
            .collect();
        let selections: Vec<Vec<Anchor>> = scenarios.iter().map(|s| s.anchors(kind)).collect();
        let mut y: Vec<Vec<f64>> = Vec::new();
        let (mut seen, mut seen_y) = (Vec::new(), Vec::new());
        for ((s, anchors), items) in scenarios.iter().zip(&selections).zip(&parameters) {
            let mut scores = vec![f64::NAN; s.items.len()];
            let rows: Vec<usize> = anchors.iter().map(|a| a.item).collect();
            for &i in &rows {
                scores[i] = answer(responses, &s.items[i]).unwrap_or(f64::NAN);
                seen_y.push(match s.threshold {
                    Some(c) if !scores[i].is_nan() => f64::from(scores[i] > c),
                    _ => scores[i],
                });
            }
            seen.push(items.select(&rows));
            y.push(scores);
        }
        let Some(seen) = ItemParameters::concat(&seen) else {
            return vec![None; scenarios.len()];
        };
        let theta = ability(&seen, &seen_y, &scenarios[0].prior, self.method());
        let form = if self.seen == Seen::Balance.name() {
            Seen::Balance
        } else {
            Seen::Anchor
        };
        scenarios
            .iter()
            .zip(&selections)
            .zip(y.iter().zip(&parameters))
            .map(|((s, anchors), (y, items))| {
                let missing: Vec<usize> = anchors
                    .iter()
                    .map(|a| a.item)
                    .filter(|&i| y[i].is_nan())
                    .collect();
                estimates(
                    y,
                    |i| !missing.contains(&i),
                    anchors,
                    &s.balance,
                    &theta.probabilities(items),
                    form,
                )
            })
            .collect()
    }
}

fn answer(responses: &HashMap<String, f64>, id: &str) -> Option<f64> {
    responses.get(id).copied().filter(|y| !y.is_nan())
}

impl ScenarioAnchors {
    /// What was chosen by `kind`.
    pub fn chosen(&self, kind: SelectionKind) -> Option<&Chosen> {
        self.selections.iter().find(|c| c.selection == kind.name())
    }

    fn anchors(&self, kind: SelectionKind) -> Vec<Anchor> {
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
        if self.balance.len() != n || self.balance.iter().any(|w| !w.is_finite() || *w <= 0.0) {
            return Err(format!(
                "{} balance weights for {n} items",
                self.balance.len()
            ));
        }
        let d = self.parameters.dims;
        if self.prior.mean.len() != d || self.prior.precision.len() != d * (d + 1) / 2 {
            return Err("the prior has another number of dimensions than the items".into());
        }
        let ids: std::collections::HashSet<&str> = self.items.iter().map(String::as_str).collect();
        for chosen in &self.selections {
            if SelectionKind::from_name(&chosen.selection).is_none() {
                return Err(format!("no selection is named {:?}", chosen.selection));
            }
            if let Some(a) = chosen.anchors.iter().find(|a| !ids.contains(a.id.as_str())) {
                return Err(format!("the chosen item {:?} is none of its items", a.id));
            }
            if chosen
                .anchors
                .iter()
                .any(|a| !(a.weight > 0.0 && a.weight.is_finite()))
            {
                return Err("a weight is not positive".into());
            }
        }
        Ok(())
    }
}
