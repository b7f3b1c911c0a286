//! The learned estimators of a fitted benchmark: training them, and the estimates of its test models.

use rayon::prelude::*;

use super::fitted::{Fitted, FittedScenario};
use super::folds::Folds;
use super::settings::Settings;
use super::together::Together;
use crate::anchors::Selection;
use crate::data::{Benchmark, weighted_mean};
use crate::error::Result;
use crate::estimate::{Components, Example, Interval, Refitted, Stacker};
use crate::progress::Observer;

/// One test model's true score and learned estimates on a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedEstimate {
    /// Row of the matrix.
    pub model: usize,
    /// True score.
    pub truth: f64,
    /// In the order of [`Learned::ALL`](crate::estimate::Learned::ALL).
    pub estimates: [Interval; 4],
}

/// Trains one stacker a scenario for the chosen items, in the order of `fitted.scenarios`; `None` where too few training
/// models answered. No test model is read.
///
/// `choose` chooses items of a scenario as `selections` were, from the models that a fold is fitted on: intervals are
/// calibrated on models that the choice has not seen. `None` saves its time; intervals are then too narrow for anchors on
/// correctness.
///
/// # Errors
/// As `choose`; cancellation.
pub fn stackers(
    benchmark: &Benchmark,
    fitted: &Fitted,
    folds: &Folds,
    selections: &[Selection],
    choose: Option<&dyn Fn(&FittedScenario) -> Result<Selection>>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<Option<Stacker>>> {
    let mut examples: Vec<Vec<Example>> = vec![Vec::new(); fitted.scenarios.len()];
    let mut refitted: Vec<Vec<Refitted>> = vec![Vec::new(); fitted.scenarios.len()];
    for fold in &folds.folds {
        observer.check()?;
        let held_out = |selections: &[Selection]| -> Vec<Vec<Example>> {
            test_components(benchmark, fold, selections, settings)
                .into_iter()
                .map(|models| models.into_iter().map(|(_, e)| e).collect())
                .collect()
        };
        for (all, some) in examples.iter_mut().zip(held_out(selections)) {
            all.extend(some);
        }
        let Some(choose) = choose else { continue };
        let chosen: Vec<Selection> = fold.scenarios.iter().map(choose).collect::<Result<_>>()?;
        for (s, held_out) in held_out(&chosen).into_iter().enumerate() {
            let rest = scores_and_truths(benchmark, &fold.scenarios[s], &chosen[s]);
            refitted[s].push(Refitted { rest, held_out });
        }
    }
    let each: Vec<_> = examples.into_iter().zip(refitted).collect();
    Ok(each
        .into_par_iter()
        .map(|(examples, refitted)| Stacker::train(&examples, &refitted))
        .collect())
}

/// Learned estimates of every test model that answered a chosen item, with intervals that cover `level`; one list a
/// scenario, none where there is no stacker.
pub fn estimate_learned(
    benchmark: &Benchmark,
    fitted: &Fitted,
    selections: &[Selection],
    stackers: &[Option<Stacker>],
    level: f64,
    settings: &Settings,
) -> Vec<Vec<LearnedEstimate>> {
    test_components(benchmark, fitted, selections, settings)
        .into_iter()
        .zip(stackers)
        .map(|(models, stacker)| {
            let Some(stacker) = stacker else {
                return Vec::new();
            };
            models
                .into_iter()
                .map(|(model, e)| LearnedEstimate {
                    model,
                    truth: e.truth,
                    estimates: stacker.estimate(&e.components, level),
                })
                .collect()
        })
        .collect()
}

/// Truth and components of the test models of `fitted`, one list a scenario.
fn test_components(
    benchmark: &Benchmark,
    fitted: &Fitted,
    selections: &[Selection],
    settings: &Settings,
) -> Vec<Vec<(usize, Example)>> {
    let mut out = Vec::with_capacity(fitted.scenarios.len());
    for together in Together::of(fitted, selections) {
        let mut models: Vec<usize> = together
            .scenarios
            .iter()
            .flat_map(|s| s.test.clone())
            .collect();
        models.sort_unstable();
        models.dedup();
        let found: Vec<Vec<Option<(f64, Components)>>> = models
            .par_iter()
            .map(|&model| {
                let scores: Vec<Vec<f64>> = together
                    .scenarios
                    .iter()
                    .map(|s| benchmark.scores(model, &benchmark.scenarios[s.index].columns))
                    .collect();
                let theta = together.ability(&scores, settings);
                scores
                    .iter()
                    .enumerate()
                    .map(|(s, y)| {
                        let scenario = &together.scenarios[s];
                        scenario.test.binary_search(&model).ok()?;
                        let truth = weighted_mean(&scenario.balance, y)?;
                        let answered = |i: usize| !y[i].is_nan();
                        let components = together.components(s, y, answered, &theta, settings)?;
                        Some((truth, components))
                    })
                    .collect()
            })
            .collect();
        for s in 0..together.scenarios.len() {
            let of = |(&model, found): (&usize, &Vec<Option<(f64, Components)>>)| {
                let (truth, components) = found[s].clone()?;
                Some((model, Example { truth, components }))
            };
            out.push(models.iter().zip(&found).filter_map(of).collect());
        }
    }
    out
}

/// Scores on the chosen items and true scores of the models that a scenario was fitted on.
fn scores_and_truths(
    benchmark: &Benchmark,
    scenario: &FittedScenario,
    selection: &Selection,
) -> Vec<(Vec<f64>, f64)> {
    let columns = &benchmark.scenarios[scenario.index].columns;
    let one = |&model: &usize| {
        let y = benchmark.scores(model, columns);
        let truth = weighted_mean(&scenario.balance, &y)?;
        Some((selection.anchors.iter().map(|a| y[a.item]).collect(), truth))
    };
    scenario.train.iter().filter_map(one).collect()
}
