//! Scoring a new model that answered only the chosen items of an anchors file.

use std::collections::HashMap;

use super::anchors_file::{AnchorsFile, ScenarioAnchors};
use crate::anchors::{Anchor, SelectionKind};
use crate::error::{Error, Result};
use crate::estimate::{Calibration, Estimates, Estimator, Interval, Seen, components, estimates};
use crate::experiment::{Errors, LEVEL, Lack, Lambda, MEAN, Scope};
use crate::irt::{AbilityMethod, ItemParameters, ability};

/// A new model's estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// One a scenario of the file.
    pub scenarios: Vec<ScenarioScore>,
    /// Mean over scenarios by selection and estimator, where every scenario has an estimate.
    pub overall: Vec<(SelectionKind, Estimator, f64)>,
    /// Its intervals at [`LEVEL`], where the file holds what they rest on.
    pub overall_intervals: Vec<(SelectionKind, Estimator, Interval)>,
    /// Of these answers: missing anchors, ignored items, scores beyond the training models'.
    pub warnings: Vec<String>,
    /// What the file cannot give intervals of, in words.
    pub lacking: Vec<String>,
}

/// A new model's estimates on one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioScore {
    /// Name of the scenario.
    pub name: String,
    /// By selection and estimator; a selection without any answer is absent.
    pub estimates: Vec<(SelectionKind, Estimator, f64)>,
    /// Intervals at [`LEVEL`], where the file holds what they rest on.
    pub intervals: Vec<(SelectionKind, Estimator, Interval)>,
    /// By selection: items answered, items chosen.
    pub answered: Vec<(SelectionKind, usize, usize)>,
}

impl AnchorsFile {
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
                intervals: Vec::new(),
                answered: Vec::new(),
            })
            .collect();
        let kinds = self.kinds();
        let all: Vec<usize> = (0..self.scenarios.len()).collect();
        let mut overall_intervals = Vec::new();
        let mut asked = Vec::new();
        let mut lacks = Vec::new();
        for &kind in &kinds {
            let found = self.found(kind, responses);
            for estimator in Estimator::ALL {
                let before = lacks.len();
                for (s, out) in scenarios.iter_mut().enumerate() {
                    match self.interval(&[s], &found, kind, estimator, lambda) {
                        Some(Ok(interval)) => out.intervals.push((kind, estimator, interval)),
                        Some(Err(lack)) => lacks.push((self.place(&[s]), estimator, lack)),
                        None => {}
                    }
                }
                match self.interval(&all, &found, kind, estimator, lambda) {
                    Some(Ok(interval)) => overall_intervals.push((kind, estimator, interval)),
                    Some(Err(lack)) if lacks.len() == before => {
                        lacks.push((self.place(&all), estimator, lack));
                    }
                    _ => {}
                }
            }
            if found.seen.iter().any(Option::is_some) {
                asked.push(kind);
            }
            for ((out, s), found) in scenarios.iter_mut().zip(&self.scenarios).zip(found.seen) {
                let Some(chosen) = s.chosen(kind) else {
                    continue;
                };
                let answered = found.map_or(0, |e| e.answered);
                out.answered.push((kind, answered, chosen.n));
                let Some(found) = found else { continue };
                for estimator in Estimator::ALL {
                    let value = found.get(estimator, lambda.value(chosen.lambda));
                    out.estimates.extend(value.map(|x| (kind, estimator, x)));
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
            warnings: self.remarks(responses, &asked, &scenarios),
            lacking: Lack::words(&lacks),
            scenarios,
            overall,
            overall_intervals,
        })
    }

    /// What these scenarios are called.
    pub(super) fn place(&self, scenarios: &[usize]) -> &str {
        match scenarios {
            [one] => &self.scenarios[*one].name,
            _ => MEAN,
        }
    }

    /// What a model's answers tell of it under one kind of selection.
    pub(super) fn found(&self, kind: SelectionKind, responses: &HashMap<String, f64>) -> Found {
        let seen = self.score_kind(kind, responses, None);
        let mut chosen = self.scenarios.iter().filter_map(|s| s.chosen(kind));
        let whole = chosen.all(|c| c.anchors.iter().all(|a| answer(responses, &a.id).is_some()));
        let bounds = if whole || seen.iter().all(Option::is_none) {
            None
        } else {
            Some([0.0, 1.0].map(|value| self.score_kind(kind, responses, Some(value))))
        };
        Found { seen, bounds }
    }

    /// By scenario; `instead` counts for chosen items that have no score.
    fn score_kind(
        &self,
        kind: SelectionKind,
        responses: &HashMap<String, f64>,
        instead: Option<f64>,
    ) -> Vec<Option<Estimates>> {
        if self.scope == Scope::Joint.name() {
            let all: Vec<&ScenarioAnchors> = self.scenarios.iter().collect();
            self.together(&all, kind, responses, instead)
        } else {
            self.scenarios
                .iter()
                .flat_map(|s| self.together(&[s], kind, responses, instead))
                .collect()
        }
    }

    /// Scenarios whose answers tell one ability.
    fn together(
        &self,
        scenarios: &[&ScenarioAnchors],
        kind: SelectionKind,
        responses: &HashMap<String, f64>,
        instead: Option<f64>,
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
                let score = answer(responses, &s.items[i]).or(instead);
                scores[i] = score.unwrap_or(f64::NAN);
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
                let counts = |i: usize| !missing.contains(&i);
                let p = theta.probabilities(items);
                let mut found = estimates(y, counts, anchors, &s.balance, &p, form)?;
                let stacker = s.chosen(kind).and_then(|c| c.learned.as_ref());
                if let Some(stacker) = stacker {
                    let parts = components(y, counts, anchors, &s.balance, items, &theta, form)?;
                    found.learned = Some(stacker.learned(&parts));
                }
                Some(found)
            })
            .collect()
    }

    /// How large the errors of an estimator of the mean score over these scenarios are; `None` where the file does not hold
    /// it.
    pub(super) fn errors(
        &self,
        scenarios: &[usize],
        kind: SelectionKind,
        estimator: Estimator,
        lambda: Lambda,
    ) -> Option<std::result::Result<Errors, Lack>> {
        let mut known = Vec::with_capacity(scenarios.len());
        for &s in scenarios {
            let chosen = self.scenarios[s].chosen(kind)?;
            match &chosen.learned {
                Some(stacker) => {
                    known.push((stacker.known.as_slice(), lambda.value(chosen.lambda)))
                }
                // Of so few nothing is learned; of more it was not asked for.
                None => {
                    let few = (1..Calibration::needed(LEVEL)).contains(&self.training_models);
                    let known = self.training_models;
                    return few.then_some(Err(Lack::Models { known }));
                }
            }
        }
        Some(Errors::of(&known, estimator))
    }

    /// Mean of the estimates on these scenarios, and its spread where there is one.
    pub(super) fn mean(
        &self,
        scenarios: &[usize],
        found: &[Option<Estimates>],
        kind: SelectionKind,
        estimator: Estimator,
        lambda: Lambda,
    ) -> Option<(f64, f64)> {
        let count = scenarios.len() as f64;
        let (mut estimate, mut square) = (0.0, 0.0);
        for &s in scenarios {
            let chosen = self.scenarios[s].chosen(kind)?;
            let found = found[s].as_ref()?;
            estimate += found.get(estimator, lambda.value(chosen.lambda))? / count;
            let spread = found.learned.map_or(0.0, |l| l.spread);
            square += (spread / count).powi(2);
        }
        Some((estimate, square.sqrt()))
    }

    /// The interval of the mean score over these scenarios: where chosen items were not answered the hull of those if all of
    /// them were wrong and if all were right, with the estimate: estimates rise with nearly every answer. `None` without an estimate.
    fn interval(
        &self,
        scenarios: &[usize],
        found: &Found,
        kind: SelectionKind,
        estimator: Estimator,
        lambda: Lambda,
    ) -> Option<std::result::Result<Interval, Lack>> {
        let mean = |of: &[Option<Estimates>]| self.mean(scenarios, of, kind, estimator, lambda);
        let (estimate, spread) = mean(&found.seen)?;
        let errors = match self.errors(scenarios, kind, estimator, lambda)? {
            Ok(errors) => errors,
            Err(lack) => return Some(Err(lack)),
        };
        let whole = errors.interval(estimate, spread);
        let Some(bounds) = &found.bounds else {
            return Some(Ok(whole));
        };
        let [low, high] = bounds.each_ref().map(|b| mean(b));
        let [low, high] = [low?, high?].map(|(x, spread)| errors.interval(x, spread));
        let estimate = whole.estimate;
        Some(Ok(Interval { estimate, ..low }.hull(high)))
    }
}

/// What a model's answers tell of it under one kind of selection, by scenario.
pub(super) struct Found {
    /// From the answers that are there.
    pub(super) seen: Vec<Option<Estimates>>,
    /// If every chosen item without a score were wrong, and if it were right; `None` where none is without.
    pub(super) bounds: Option<[Vec<Option<Estimates>>; 2]>,
}

pub(super) fn answer(responses: &HashMap<String, f64>, id: &str) -> Option<f64> {
    responses.get(id).copied().filter(|y| !y.is_nan())
}
