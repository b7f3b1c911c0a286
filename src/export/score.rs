//! Scoring a new model that answered only the chosen items of an anchors file.

use std::collections::{HashMap, HashSet};

use super::anchors_file::{AnchorsFile, ScenarioAnchors};
use crate::anchors::{Anchor, SelectionKind};
use crate::data::list;
use crate::error::{Error, Result};
use crate::estimate::{Estimates, Estimator, Interval, Seen, components, estimates};
use crate::experiment::{Comparison, Errors, LEVEL, Lambda, Scope};
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
        let mut missing = Vec::new();
        let mut overall_intervals = Vec::new();
        for &kind in &kinds {
            let found = self.score_kind(kind, responses);
            for estimator in Estimator::ALL {
                for (s, out) in scenarios.iter_mut().enumerate() {
                    let sure = self.sure(&[s], &found, kind, estimator, lambda);
                    out.intervals
                        .extend(sure.map(|s| (kind, estimator, s.interval())));
                }
                let all: Vec<usize> = (0..self.scenarios.len()).collect();
                let sure = self.sure(&all, &found, kind, estimator, lambda);
                overall_intervals.extend(sure.map(|s| (kind, estimator, s.interval())));
            }
            // A selection that was not asked at all is not missing.
            let asked = found.iter().any(Option::is_some);
            for ((out, s), found) in scenarios.iter_mut().zip(&self.scenarios).zip(found) {
                let Some(chosen) = s.chosen(kind) else {
                    continue;
                };
                let answered = found.map_or(0, |e| e.answered);
                out.answered.push((kind, answered, chosen.n));
                if asked {
                    for a in &chosen.anchors {
                        if answer(responses, &a.id).is_none() && !missing.contains(&a.id) {
                            missing.push(a.id.clone());
                        }
                    }
                }
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
        let mut warnings = self.warnings(responses, &missing, &kinds);
        let silent: Vec<&str> = scenarios
            .iter()
            .filter(|s| s.estimates.is_empty())
            .map(|s| s.name.as_str())
            .collect();
        if !silent.is_empty() {
            warnings.push(format!(
                "no answer in {}: no estimate there, and none of the mean score",
                list(silent.into_iter())
            ));
        }
        Ok(Score {
            scenarios,
            overall,
            overall_intervals,
            warnings,
        })
    }

    fn warnings(
        &self,
        responses: &HashMap<String, f64>,
        missing: &[String],
        kinds: &[SelectionKind],
    ) -> Vec<String> {
        let mut out = Vec::new();
        if !missing.is_empty() {
            out.push(format!(
                "{} of the chosen items without a score, left out and the other weights renormalised: {}",
                missing.len(),
                list(missing.iter().map(String::as_str))
            ));
        }
        let chosen: HashSet<&str> = self
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

    /// Mean of the estimates on these scenarios, with how large its errors are.
    fn sure(
        &self,
        scenarios: &[usize],
        found: &[Option<Estimates>],
        kind: SelectionKind,
        estimator: Estimator,
        lambda: Lambda,
    ) -> Option<Sure> {
        let count = scenarios.len() as f64;
        let (mut estimate, mut square) = (0.0, 0.0);
        let mut known = Vec::with_capacity(scenarios.len());
        for &s in scenarios {
            let chosen = self.scenarios[s].chosen(kind)?;
            let found = found[s].as_ref()?;
            let lambda = lambda.value(chosen.lambda);
            estimate += found.get(estimator, lambda)? / count;
            square += (found.learned?.spread / count).powi(2);
            known.push((chosen.learned.as_ref()?.known.as_slice(), lambda));
        }
        Some(Sure {
            estimate,
            spread: square.sqrt(),
            errors: Errors::of(&known, estimator)?,
        })
    }

    /// Two models that answered the same items, by selection and estimator: on each scenario, and on the mean over scenarios
    /// where every scenario has an estimate. None where the file does not hold how large errors are.
    pub fn compare(
        &self,
        a: &HashMap<String, f64>,
        b: &HashMap<String, f64>,
        lambda: Lambda,
    ) -> Vec<Compared> {
        let mut out = Vec::new();
        let all: Vec<usize> = (0..self.scenarios.len()).collect();
        let mut groups: Vec<(Option<usize>, Vec<usize>)> =
            all.iter().map(|&s| (Some(s), vec![s])).collect();
        groups.push((None, all));
        for kind in self.kinds() {
            let both = [self.score_kind(kind, a), self.score_kind(kind, b)];
            for (scenario, group) in &groups {
                for estimator in Estimator::ALL {
                    let [a, b] =
                        [0, 1].map(|k| self.sure(group, &both[k], kind, estimator, lambda));
                    let (Some(a), Some(b)) = (a, b) else { continue };
                    let pair = ((a.estimate, a.spread), (b.estimate, b.spread));
                    out.push(Compared {
                        scenario: *scenario,
                        selection: kind,
                        estimator,
                        estimates: [a.estimate, b.estimate],
                        comparison: a.errors.compare(pair.0, pair.1, LEVEL),
                    });
                }
            }
        }
        out
    }
}

/// One line of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Index of the scenario in the file; `None` for the mean over all.
    pub scenario: Option<usize>,
    /// How the items were chosen.
    pub selection: SelectionKind,
    /// The estimator.
    pub estimator: Estimator,
    /// Of both models.
    pub estimates: [f64; 2],
    /// The first against the second.
    pub comparison: Comparison,
}

/// An estimate with how large its errors are.
struct Sure {
    estimate: f64,
    spread: f64,
    errors: Errors,
}

impl Sure {
    fn interval(&self) -> Interval {
        self.errors.interval(self.estimate, self.spread, LEVEL)
    }
}

fn answer(responses: &HashMap<String, f64>, id: &str) -> Option<f64> {
    responses.get(id).copied().filter(|y| !y.is_nan())
}
