//! Selections, estimates of every test model, and their metrics.

use std::borrow::Borrow;
use std::sync::Arc;

use rayon::prelude::*;

use super::fitted::{Fitted, FittedScenario};
use super::folds::Folds;
use super::learned::{Chooser, learn};
use super::metrics::Metrics;
use super::select::{select, select_with};
use super::settings::{Lambda, Settings};
use super::together::Together;
use super::uncertain::{estimated, intervals};
use crate::anchors::{Selection, SelectionKind};
use crate::data::Benchmark;
use crate::error::Result;
use crate::estimate::{Estimates, Estimator, PartEstimate, Stacker, paper_lambda};
use crate::irt::Ability;
use crate::progress::Observer;

/// One test model's true score and estimates on a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelEstimate {
    /// Row of the matrix.
    pub model: usize,
    /// True score.
    pub truth: f64,
    /// Estimates from the chosen items.
    pub estimates: Estimates,
    /// One a sub-scenario of the scenario, in order; empty where the scenario has only one.
    pub parts: Vec<PartEstimate>,
    /// The ability they rest on.
    pub ability: Ability,
}

/// The test models of one scenario under one selection. lambda is not applied yet: it is a matter of a moment, and the
/// screen moves it.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionEstimates {
    /// Index of the scenario in the benchmark.
    pub scenario: usize,
    /// The chosen items.
    pub selection: Selection,
    /// The paper's lambda.
    pub paper_lambda: f64,
    /// Test models with an answer on a chosen item, in row order.
    pub models: Vec<ModelEstimate>,
    /// What was learned from held-out training models, where it was asked for and there were enough.
    pub stacker: Option<Arc<Stacker>>,
}

impl SelectionEstimates {
    /// (truth, estimate) of every model that has one.
    pub fn pairs(&self, estimator: Estimator, lambda: Lambda) -> Vec<(f64, f64)> {
        let lambda = lambda.value(self.paper_lambda);
        self.models
            .iter()
            .filter_map(|m| Some((m.truth, m.estimates.get(estimator, lambda)?)))
            .collect()
    }

    /// (truth, estimate) on sub-scenario `part` of the models where both are finite; none where the scenario has no such
    /// part, or only one.
    pub fn part_pairs(&self, part: usize, estimator: Estimator, lambda: Lambda) -> Vec<(f64, f64)> {
        let lambda = lambda.value(self.paper_lambda);
        self.models
            .iter()
            .filter_map(|m| m.parts.get(part))
            .map(|e| (e.truth, e.get(estimator, lambda)))
            .filter(|(truth, estimate)| truth.is_finite() && estimate.is_finite())
            .collect()
    }

    /// Metrics over the models.
    pub fn metrics(&self, estimator: Estimator, lambda: Lambda) -> Metrics {
        Metrics::of(&self.pairs(estimator, lambda))
    }
}

/// Estimates of every test model under one selection a scenario, all of one kind, in the order of `fitted.scenarios`.
///
/// In scenario scope the ability is that of the scenario's chosen items; in joint scope that of the chosen items of all.
pub fn estimate_selection(
    benchmark: &Benchmark,
    fitted: &Fitted,
    selections: &[Selection],
    settings: &Settings,
) -> Vec<SelectionEstimates> {
    Together::of(fitted, selections)
        .flat_map(|together| estimate_together(benchmark, &together, settings))
        .collect()
}

fn estimate_together(
    benchmark: &Benchmark,
    together: &Together<'_>,
    settings: &Settings,
) -> Vec<SelectionEstimates> {
    let scenarios = together.scenarios;
    let mut models: Vec<usize> = scenarios.iter().flat_map(|s| s.test.clone()).collect();
    models.sort_unstable();
    models.dedup();
    let found: Vec<Vec<Option<ModelEstimate>>> =
        together.each(benchmark, &models, settings, |model, scores, theta| {
            scenarios
                .iter()
                .zip(scores)
                .enumerate()
                .map(|(s, (scenario, y))| {
                    let scenario = &benchmark.scenarios[scenario.index];
                    let truth = benchmark.true_score(model, scenario)?;
                    let parts = &scenario.subscenarios;
                    let (estimates, parts) = together.with_parts(s, y, parts, &theta, settings)?;
                    Some(ModelEstimate {
                        model,
                        truth,
                        estimates,
                        parts,
                        ability: theta.clone(),
                    })
                })
                .collect()
        });
    scenarios
        .iter()
        .zip(together.selections)
        .enumerate()
        .map(|(s, (scenario, selection))| SelectionEstimates {
            scenario: scenario.index,
            selection: selection.clone(),
            paper_lambda: paper_lambda(selection.kind, scenario.b, scenario.s2, selection.n()),
            models: found.iter().filter_map(|m| m[s].clone()).collect(),
            stacker: None,
        })
        .collect()
}

/// All selections of the settings at `settings.n`: for each kind, every fitted scenario in order.
///
/// # Errors
/// As [`select`]; cancellation.
pub fn run(
    benchmark: &Benchmark,
    fitted: &Fitted,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<Vec<SelectionEstimates>>> {
    settings
        .selections
        .iter()
        .map(|&kind| {
            observer.check()?;
            let selections: Vec<Selection> = fitted
                .scenarios
                .par_iter()
                .map(|s| select(benchmark, s, kind, settings.n, settings.seed, observer))
                .collect::<Result<_>>()?;
            Ok(estimate_selection(benchmark, fitted, &selections, settings))
        })
        .collect()
}

/// As [`run`], with what is learned from the training models by `folds`: estimates, and intervals that are calibrated where
/// `calibrated`, on items that each fold chooses for itself (it costs one more choice a fold).
///
/// # Errors
/// As [`run`].
pub fn run_learned(
    benchmark: &Benchmark,
    fitted: &Fitted,
    folds: &Folds,
    calibrated: bool,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<Vec<SelectionEstimates>>> {
    let mut found = run(benchmark, fitted, settings, observer)?;
    for (kind, found) in settings.selections.iter().zip(&mut found) {
        observer.check()?;
        // One restart is enough where the choice only tells how errors are spread.
        let choose = |s: &FittedScenario| {
            select_with(benchmark, s, *kind, settings.n, settings.seed, 1, observer)
        };
        let choose: Option<Chooser<'_>> = if calibrated { Some(&choose) } else { None };
        learn(benchmark, fitted, folds, found, choose, settings, observer)?;
    }
    Ok(found)
}

/// Says where fewer items were chosen than asked for. `found` holds, for each selection, every scenario.
pub fn cap_warnings(
    benchmark: &Benchmark,
    found: &[Vec<SelectionEstimates>],
    n: usize,
) -> Vec<String> {
    let short = found
        .iter()
        .flatten()
        .filter(|s| s.selection.n() < n)
        .map(|s| cap_warning(benchmark, s.scenario, &s.selection, n));
    short.collect()
}

/// Says that `selection` has fewer items than the `n` asked for.
pub fn cap_warning(
    benchmark: &Benchmark,
    scenario: usize,
    selection: &Selection,
    n: usize,
) -> String {
    let scenario = &benchmark.scenarios[scenario];
    let what = match selection.kind {
        SelectionKind::Random => "items",
        _ => "distinct items",
    };
    format!(
        "{}, {}: n = {n} is capped at the {} {what} there are",
        scenario.name,
        selection.kind.name(),
        selection.n()
    )
}

/// One line of a result table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// How the items were chosen.
    pub selection: SelectionKind,
    /// The estimator.
    pub estimator: Estimator,
    /// lambda for gp-IRT; `None` for the others, and for the overall row when scenarios differ.
    pub lambda: Option<f64>,
    /// Number of chosen items; for the overall row of all scenarios.
    pub n: usize,
    /// Over the test models.
    pub metrics: Metrics,
    /// Share of the test models whose true score lies within their 90 % interval; `None` where there are none.
    pub coverage: Option<f64>,
    /// Mean half width of the intervals.
    pub half_width: Option<f64>,
}

impl Row {
    /// With what the intervals of the mean score over `scenarios` are worth.
    fn with_intervals<S: Borrow<SelectionEstimates>>(
        self,
        scenarios: &[S],
        lambda: Lambda,
    ) -> Self {
        let found = intervals(scenarios, self.estimator, lambda);
        let models = estimated(scenarios, self.estimator, lambda);
        if found.is_empty() {
            return self;
        }
        let each = || found.iter().zip(&models);
        let covered = each().filter(|((_, i), m)| i.covers(m.truth)).count();
        let width: f64 = found.iter().map(|(_, i)| i.half_width()).sum();
        Self {
            coverage: Some(covered as f64 / found.len() as f64),
            half_width: Some(width / found.len() as f64),
            ..self
        }
    }
}

/// One row an estimator for a scenario under a selection.
pub fn rows(found: &SelectionEstimates, lambda: Lambda) -> Vec<Row> {
    Estimator::ALL
        .into_iter()
        .map(|estimator| Row {
            selection: found.selection.kind,
            estimator,
            lambda: match estimator {
                Estimator::GpIrt => Some(lambda.value(found.paper_lambda)),
                Estimator::GpIrtCv => found.stacker.as_ref().map(|s| s.lambda),
                _ => None,
            },
            n: found.selection.n(),
            metrics: found.metrics(estimator, lambda),
            coverage: None,
            half_width: None,
        })
        .map(|row| row.with_intervals(&[found], lambda))
        .collect()
}

/// The benchmark's mean score of a test model: (row of the matrix, truth, estimate).
pub type OverallPair = (usize, f64, f64);

/// True and estimated mean over scenarios, for the models that have an estimate on each of them.
pub fn pairs_of<S: Borrow<SelectionEstimates>>(
    scenarios: &[S],
    estimator: Estimator,
    lambda: Lambda,
) -> Vec<OverallPair> {
    let Some(first) = scenarios.first().map(Borrow::borrow) else {
        return Vec::new();
    };
    let count = scenarios.len() as f64;
    first
        .models
        .iter()
        .filter_map(|m| {
            let (mut truth, mut estimate) = (0.0, 0.0);
            for s in scenarios.iter().map(Borrow::borrow) {
                let at = s.models.binary_search_by_key(&m.model, |m| m.model).ok()?;
                let found = &s.models[at];
                truth += found.truth / count;
                let lambda = lambda.value(s.paper_lambda);
                estimate += found.estimates.get(estimator, lambda)? / count;
            }
            Some((m.model, truth, estimate))
        })
        .collect()
}

/// One row an estimator for the benchmark's mean score under one selection.
pub fn overall(scenarios: &[SelectionEstimates], lambda: Lambda) -> Vec<Row> {
    let Some(first) = scenarios.first() else {
        return Vec::new();
    };
    Estimator::ALL
        .into_iter()
        .map(|estimator| {
            let pairs: Vec<(f64, f64)> = pairs_of(scenarios, estimator, lambda)
                .into_iter()
                .map(|(_, truth, estimate)| (truth, estimate))
                .collect();
            let shared = match lambda {
                Lambda::Fixed(x) => Some(x),
                Lambda::Auto if scenarios.len() == 1 => Some(first.paper_lambda),
                Lambda::Auto => None,
            };
            Row {
                selection: first.selection.kind,
                estimator,
                lambda: shared.filter(|_| estimator == Estimator::GpIrt),
                n: scenarios.iter().map(|s| s.selection.n()).sum(),
                metrics: Metrics::of(&pairs),
                coverage: None,
                half_width: None,
            }
        })
        .map(|row| row.with_intervals(scenarios, lambda))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anchors::Anchor;
    use crate::estimate::Seen;
    use crate::experiment::Scope;
    use crate::experiment::cases::{ITEMS, few, fitted};
    use crate::progress::Silent;

    #[test]
    fn sub_scenarios_average_to_the_scenario() {
        for (scope, seen) in [
            (Scope::Scenario, Seen::Anchor),
            (Scope::Scenario, Seen::Balance),
            (Scope::Joint, Seen::Balance),
        ] {
            let settings = Settings {
                n: 12,
                scope,
                seen,
                ..few()
            };
            let (b, f) = fitted(&settings);
            for found in run(&b, &f, &settings, &Silent).unwrap().iter().flatten() {
                let scenario = &b.scenarios[found.scenario];
                let balance = scenario.balance_weights();
                for m in &found.models {
                    assert_eq!(m.parts.len(), 2);
                    let y = b.scores(m.model, &scenario.columns);
                    let weights: Vec<f64> = scenario
                        .subscenarios
                        .iter()
                        .map(|sub| {
                            let items = sub.items.clone().filter(|&i| !y[i].is_nan());
                            items.map(|i| balance[i]).sum()
                        })
                        .collect();
                    let mean = |of: fn(&PartEstimate) -> f64| {
                        let each = m.parts.iter().zip(&weights);
                        each.map(|(e, w)| w * of(e)).sum::<f64>() / weights.iter().sum::<f64>()
                    };
                    assert!((mean(|e| e.truth) - m.truth).abs() < 1e-12);
                    let off = (mean(|e| e.p_irt) - m.estimates.p_irt).abs();
                    match seen {
                        Seen::Balance => assert!(off < 1e-12),
                        // 12 of 60 items are seen: the fifth of the difference of two means.
                        Seen::Anchor => assert!(off < 0.2 * 0.5, "{off}"),
                    }
                }
            }
        }
    }

    #[test]
    fn pairs_of_a_part_leave_out_what_is_unknown() {
        let settings = few();
        let (mut b, f) = fitted(&settings);
        // The first part is one item, which every fifth model lacks; chosen are items of the second only.
        let lacking = (0..ITEMS).find(|i| (ITEMS + i).is_multiple_of(7)).unwrap();
        b.scenarios[1].subscenarios[0].items = lacking..lacking + 1;
        b.scenarios[1].subscenarios[1].items = lacking + 1..ITEMS;
        let anchors = [10, 20, 30].map(|item| Anchor {
            item,
            weight: 1.0 / 3.0,
        });
        let selection = Selection {
            kind: SelectionKind::Random,
            anchors: anchors.to_vec(),
            clusters: None,
        };
        let found = estimate_selection(&b, &f, &[selection.clone(), selection], &settings);
        let found = &found[1];
        let holes = found.models.iter().filter(|m| m.model % 5 == 0).count();
        assert!(holes > 0);
        let count = |part, estimator| found.part_pairs(part, estimator, Lambda::Auto).len();
        assert_eq!(count(0, Estimator::Naive), 0);
        assert_eq!(count(0, Estimator::PIrt), found.models.len() - holes);
        assert_eq!(
            found.part_pairs(0, Estimator::GpIrt, Lambda::Fixed(1.0)),
            found.part_pairs(0, Estimator::PIrt, Lambda::Auto)
        );
        for estimator in Estimator::PAPER {
            assert_eq!(count(1, estimator), found.models.len());
            assert_eq!(count(2, estimator), 0);
        }
    }
}
