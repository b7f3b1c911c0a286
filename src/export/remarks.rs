//! What there is to say of a new model's answers beside its estimates.

use std::collections::{HashMap, HashSet};

use super::anchors_file::AnchorsFile;
use super::score::{ScenarioScore, answer};
use crate::anchors::SelectionKind;
use crate::data::list;
use crate::estimate::Estimator;

impl AnchorsFile {
    /// Warnings: chosen items without a score, of the kinds that were asked (a selection that was not asked at all is not
    /// missing), scores that do not count, scenarios without an answer, and scores beyond the training models'.
    pub(super) fn remarks(
        &self,
        responses: &HashMap<String, f64>,
        asked: &[SelectionKind],
        scenarios: &[ScenarioScore],
    ) -> Vec<String> {
        let mut out = Vec::new();
        let ids = |kinds: &[SelectionKind]| -> Vec<&str> {
            let mut seen = HashSet::new();
            let each = kinds.iter().flat_map(|&kind| {
                let chosen = self.scenarios.iter().filter_map(move |s| s.chosen(kind));
                chosen.flat_map(|c| c.anchors.iter().map(|a| a.id.as_str()))
            });
            each.filter(|id| seen.insert(*id)).collect()
        };
        let chosen = ids(asked);
        let missing = chosen.iter().filter(|id| answer(responses, id).is_none());
        let missing: Vec<&str> = missing.copied().collect();
        if !missing.is_empty() {
            let intervals = if scenarios.iter().any(|s| !s.intervals.is_empty()) {
                ", intervals reach from all of them wrong to all of them right"
            } else {
                ""
            };
            out.push(format!(
                "{} of the {} chosen items are answered: estimates leave the others out and renormalise the weights{intervals}; \
                 without a score: {}",
                chosen.len() - missing.len(),
                chosen.len(),
                list(missing.into_iter())
            ));
        }
        let chosen: HashSet<&str> = ids(&self.kinds()).into_iter().collect();
        let given = responses.keys().map(String::as_str);
        let mut extra: Vec<&str> = given.filter(|id| !chosen.contains(id)).collect();
        extra.sort_unstable();
        if !extra.is_empty() {
            out.push(format!(
                "{} scores of items that were not chosen, ignored: {}",
                extra.len(),
                list(extra.into_iter())
            ));
        }
        let silent: Vec<&str> = scenarios
            .iter()
            .filter(|s| s.estimates.is_empty())
            .map(|s| s.name.as_str())
            .collect();
        if !silent.is_empty() {
            out.push(format!(
                "no answer in {}: no estimate there, and none of the mean score",
                list(silent.into_iter())
            ));
        }
        out.extend(self.beyond(scenarios));
        out
    }

    /// Where the model is unlike those that the file was trained on: naive, or else the best estimate that there is, lies
    /// outside their scores. One warning a scenario, of the estimate that is farthest out.
    fn beyond(&self, scenarios: &[ScenarioScore]) -> Vec<String> {
        let mut out = Vec::new();
        for (score, s) in scenarios.iter().zip(&self.scenarios) {
            let Some([low, high]) = s.training_scores else {
                continue;
            };
            let learned = score.estimates.iter().any(|e| e.1 == Estimator::Stacked);
            let best = if learned {
                Estimator::Stacked
            } else {
                Estimator::GpIrt
            };
            let outside = |x: f64| (x - high).max(low - x);
            let judged = score
                .estimates
                .iter()
                .filter(|e| e.1 == Estimator::Naive || e.1 == best);
            let farthest = judged.max_by(|a, b| outside(a.2).total_cmp(&outside(b.2)));
            out.extend(farthest.and_then(|(kind, estimator, x)| {
                let what = format!("{} of {}", estimator.name(), kind.name());
                beyond_training(&s.name, &what, *x, [low, high])
            }));
        }
        out
    }
}

/// What there is to say of an estimate `x` (`what` it is, of a scenario) that lies outside the true scores of the training
/// models, from the lowest to the highest, by more than four decimals show.
pub fn beyond_training(
    scenario: &str,
    what: &str,
    x: f64,
    [low, high]: [f64; 2],
) -> Option<String> {
    let (side, end) = if x > high {
        ("above the best", high)
    } else {
        ("below the worst", low)
    };
    ((x - high).max(low - x) >= 1e-4).then(|| {
        format!(
            "{scenario}: {what} is {x:.4}, {side} training model's true score, {end:.4}: estimates and intervals hold for \
             models like those trained on"
        )
    })
}
