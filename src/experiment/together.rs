//! Scenarios whose chosen items tell one ability: what estimates of any model on them rest on.

use rayon::prelude::*;

use super::fitted::{Fitted, FittedScenario};
use super::settings::{Scope, Settings};
use crate::anchors::Selection;
use crate::data::{Benchmark, SubScenario};
use crate::estimate::{Components, Estimates, PartEstimate, components, estimates, part_estimates};
use crate::irt::{Ability, ItemParameters, TOGETHER, abilities, ability};

/// Scenarios that share a fit, with what was chosen of each; prepared once for many models.
pub(super) struct Together<'a> {
    /// One or more.
    pub(super) scenarios: &'a [FittedScenario],
    /// One a scenario.
    pub(super) selections: &'a [Selection],
    /// Every chosen item: the scenario (an index into `scenarios`) and the position in it.
    seen: Vec<(usize, usize)>,
    seen_items: ItemParameters,
    items: Vec<ItemParameters>,
}

impl<'a> Together<'a> {
    /// In scenario scope one for each scenario, in joint scope one for all; selections in the order of
    /// `fitted.scenarios`.
    pub(super) fn of(
        fitted: &'a Fitted,
        selections: &'a [Selection],
    ) -> impl Iterator<Item = Self> {
        let count = fitted.scenarios.len().min(selections.len());
        let size = match fitted.scope {
            Scope::Scenario => 1,
            Scope::Joint => count.max(1),
        };
        fitted.scenarios[..count]
            .chunks(size)
            .zip(selections[..count].chunks(size))
            .map(|(scenarios, selections)| Self::new(scenarios, selections))
    }

    fn new(scenarios: &'a [FittedScenario], selections: &'a [Selection]) -> Self {
        let mut seen = Vec::new();
        let mut rows = Vec::new();
        for (s, (scenario, selection)) in scenarios.iter().zip(selections).enumerate() {
            for anchor in &selection.anchors {
                seen.push((s, anchor.item));
                rows.push(scenario.fit_items.start + anchor.item);
            }
        }
        Self {
            scenarios,
            selections,
            seen,
            seen_items: scenarios[0].fit.items.select(&rows),
            items: scenarios.iter().map(FittedScenario::items).collect(),
        }
    }

    /// The ability of a model with these scores, one list a scenario by position (NaN where missing), from the chosen items.
    pub(super) fn ability(&self, scores: &[Vec<f64>], settings: &Settings) -> Ability {
        let prior = &self.scenarios[0].fit.ability_prior;
        let y = self.seen_scores(scores);
        ability(&self.seen_items, &y, prior, settings.ability)
    }

    /// The scores on the chosen items, in their order.
    fn seen_scores(&self, scores: &[Vec<f64>]) -> Vec<f64> {
        let one =
            |&(s, item): &(usize, usize)| binarised(scores[s][item], self.scenarios[s].threshold);
        self.seen.iter().map(one).collect()
    }

    /// What `of` makes of each of these models (rows of the matrix), from the model, its scores, one list a scenario by
    /// position, and its ability; in their order.
    pub(super) fn each<T: Send>(
        &self,
        benchmark: &Benchmark,
        models: &[usize],
        settings: &Settings,
        of: impl Fn(usize, &[Vec<f64>], Ability) -> T + Sync,
    ) -> Vec<T> {
        let prior = &self.scenarios[0].fit.ability_prior;
        let some: Vec<Vec<T>> = models
            .par_chunks(TOGETHER)
            .map(|models| {
                let scores: Vec<Vec<Vec<f64>>> = models
                    .iter()
                    .map(|&model| {
                        let each = self.scenarios.iter();
                        each.map(|s| benchmark.scores(model, &benchmark.scenarios[s.index].columns))
                            .collect()
                    })
                    .collect();
                let seen: Vec<Vec<f64>> = scores.iter().map(|s| self.seen_scores(s)).collect();
                let found = abilities(&self.seen_items, &seen, prior, settings.ability);
                let each = models.iter().zip(&scores).zip(found);
                each.map(|((&model, scores), theta)| of(model, scores, theta))
                    .collect()
            })
            .collect();
        some.into_iter().flatten().collect()
    }

    /// Estimates of a model of the matrix on scenario `s`, and on each of its `parts` as [`part_estimates`] has them, from
    /// its scores `y` by position. The predictions are computed once for both.
    pub(super) fn with_parts(
        &self,
        s: usize,
        y: &[f64],
        parts: &[SubScenario],
        theta: &Ability,
        settings: &Settings,
    ) -> Option<(Estimates, Vec<PartEstimate>)> {
        let anchors = &self.selections[s].anchors;
        let (balance, seen) = (&self.scenarios[s].balance, settings.seen);
        let p = theta.probabilities(&self.items[s]);
        let whole = estimates(y, |i| !y[i].is_nan(), anchors, balance, &p, seen)?;
        Some((whole, part_estimates(y, anchors, &p, parts, seen)))
    }

    /// Components on scenario `s` of a model with these scores `y` by position; `counts` as for [`components`].
    pub(super) fn components(
        &self,
        s: usize,
        y: &[f64],
        counts: impl Fn(usize) -> bool,
        theta: &Ability,
        settings: &Settings,
    ) -> Option<Components> {
        components(
            y,
            counts,
            &self.selections[s].anchors,
            &self.scenarios[s].balance,
            &self.items[s],
            theta,
            settings.seen,
        )
    }

    /// Estimates on scenario `s` from its scores `y` by position; `counts` as for [`estimates`].
    pub(super) fn estimates(
        &self,
        s: usize,
        y: &[f64],
        counts: impl Fn(usize) -> bool,
        theta: &Ability,
        settings: &Settings,
    ) -> Option<Estimates> {
        estimates(
            y,
            counts,
            &self.selections[s].anchors,
            &self.scenarios[s].balance,
            &theta.probabilities(&self.items[s]),
            settings.seen,
        )
    }
}

fn binarised(y: f64, threshold: Option<f64>) -> f64 {
    match threshold {
        Some(c) if !y.is_nan() => f64::from(y > c),
        _ => y,
    }
}
