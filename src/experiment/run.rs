//! Selections, estimates of every test model, and their metrics.

use std::borrow::Borrow;

use rayon::prelude::*;

use super::fitted::{Fitted, FittedScenario};
use super::metrics::Metrics;
use super::select::select;
use super::settings::{Lambda, Scope, Settings};
use crate::anchors::{Selection, SelectionKind};
use crate::data::Benchmark;
use crate::error::Result;
use crate::estimate::{Estimates, Estimator, estimates, paper_lambda};
use crate::irt::{Ability, ability};
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
}

impl SelectionEstimates {
    /// (truth, estimate) of every model.
    pub fn pairs(&self, estimator: Estimator, lambda: Lambda) -> Vec<(f64, f64)> {
        let lambda = lambda.value(self.paper_lambda);
        self.models
            .iter()
            .map(|m| (m.truth, m.estimates.get(estimator, lambda)))
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
    match fitted.scope {
        Scope::Scenario => fitted
            .scenarios
            .iter()
            .zip(selections)
            .map(|(scenario, selection)| {
                let one = (
                    std::slice::from_ref(scenario),
                    std::slice::from_ref(selection),
                );
                estimate_together(benchmark, one.0, one.1, settings).remove(0)
            })
            .collect(),
        Scope::Joint => estimate_together(benchmark, &fitted.scenarios, selections, settings),
    }
}

/// Scenarios that share a fit, and therefore the ability of a model.
fn estimate_together(
    benchmark: &Benchmark,
    scenarios: &[FittedScenario],
    selections: &[Selection],
    settings: &Settings,
) -> Vec<SelectionEstimates> {
    let mut seen: Vec<(usize, usize, usize)> = Vec::new();
    for (s, (scenario, selection)) in scenarios.iter().zip(selections).enumerate() {
        for anchor in &selection.anchors {
            seen.push((s, anchor.item, scenario.fit_items.start + anchor.item));
        }
    }
    let fit = &scenarios[0].fit;
    let rows: Vec<usize> = seen.iter().map(|s| s.2).collect();
    let seen_items = fit.items.select(&rows);
    let items: Vec<_> = scenarios.iter().map(FittedScenario::items).collect();
    let mut models: Vec<usize> = scenarios.iter().flat_map(|s| s.test.clone()).collect();
    models.sort_unstable();
    models.dedup();
    let found: Vec<Vec<Option<ModelEstimate>>> = models
        .par_iter()
        .map(|&model| {
            let scores: Vec<Vec<f64>> = scenarios
                .iter()
                .map(|s| benchmark.scores(model, &benchmark.scenarios[s.index].columns))
                .collect();
            let y: Vec<f64> = seen
                .iter()
                .map(|&(s, item, _)| binarised(scores[s][item], scenarios[s].threshold))
                .collect();
            let theta = ability(&seen_items, &y, &fit.ability_prior, settings.ability);
            scenarios
                .iter()
                .zip(selections)
                .zip(&scores)
                .zip(&items)
                .map(|(((scenario, selection), y), items)| {
                    let truth = benchmark.true_score(model, &benchmark.scenarios[scenario.index]);
                    let estimates = estimates(
                        y,
                        |i| !y[i].is_nan(),
                        &selection.anchors,
                        &scenario.balance,
                        &theta.probabilities(items),
                        settings.seen,
                    );
                    Some(ModelEstimate {
                        model,
                        truth: truth?,
                        estimates: estimates?,
                        ability: theta.clone(),
                    })
                })
                .collect()
        })
        .collect();
    scenarios
        .iter()
        .zip(selections)
        .enumerate()
        .map(|(s, (scenario, selection))| SelectionEstimates {
            scenario: scenario.index,
            selection: selection.clone(),
            paper_lambda: paper_lambda(selection.kind, scenario.b, scenario.s2, selection.n()),
            models: found.iter().filter_map(|m| m[s].clone()).collect(),
        })
        .collect()
}

fn binarised(y: f64, threshold: Option<f64>) -> f64 {
    match threshold {
        Some(c) if !y.is_nan() => f64::from(y > c),
        _ => y,
    }
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
}

/// One row an estimator for a scenario under a selection.
pub fn rows(found: &SelectionEstimates, lambda: Lambda) -> Vec<Row> {
    Estimator::ALL
        .into_iter()
        .map(|estimator| Row {
            selection: found.selection.kind,
            estimator,
            lambda: (estimator == Estimator::GpIrt).then(|| lambda.value(found.paper_lambda)),
            n: found.selection.n(),
            metrics: found.metrics(estimator, lambda),
        })
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
                estimate += found.estimates.get(estimator, lambda.value(s.paper_lambda)) / count;
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
            }
        })
        .collect()
}
