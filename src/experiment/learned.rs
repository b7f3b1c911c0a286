//! The learned estimators of a fitted benchmark: training them, and the estimates of its test models.

use std::sync::Arc;

use rayon::prelude::*;

use super::fitted::{Fitted, FittedScenario};
use super::folds::Folds;
use super::run::SelectionEstimates;
use super::settings::Settings;
use super::together::Together;
use crate::anchors::Selection;
use crate::data::{Benchmark, weighted_mean};
use crate::error::Result;
use crate::estimate::{Components, Example, Refitted, Stacker};
use crate::progress::Observer;

/// Chooses the items of a scenario from the training models of the fit that it is given.
pub type Chooser<'a> = &'a (dyn Fn(&FittedScenario) -> Result<Selection> + Sync);

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
    choose: Option<Chooser<'_>>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Vec<Option<Stacker>>> {
    let found: Vec<(Vec<Vec<Example>>, Vec<Refitted>)> = folds
        .folds
        .par_iter()
        .map(|fold| {
            observer.check()?;
            let examples = held_out(benchmark, fold, selections, settings);
            let Some(choose) = choose else {
                return Ok((examples, Vec::new()));
            };
            let chosen: Vec<Selection> =
                fold.scenarios.iter().map(choose).collect::<Result<_>>()?;
            let refitted = held_out(benchmark, fold, &chosen, settings)
                .into_iter()
                .zip(fold.scenarios.iter().zip(&chosen))
                .map(|(held_out, (scenario, selection))| Refitted {
                    rest: scores_and_truths(benchmark, scenario, selection),
                    held_out,
                })
                .collect();
            Ok((examples, refitted))
        })
        .collect::<Result<_>>()?;
    let mut examples: Vec<Vec<Example>> = vec![Vec::new(); fitted.scenarios.len()];
    let mut refitted: Vec<Vec<Refitted>> = vec![Vec::new(); fitted.scenarios.len()];
    for (of_fold, again) in found {
        for (all, some) in examples.iter_mut().zip(of_fold) {
            all.extend(some);
        }
        for (all, one) in refitted.iter_mut().zip(again) {
            all.push(one);
        }
    }
    let each: Vec<_> = examples.into_iter().zip(refitted).collect();
    Ok(each
        .into_par_iter()
        .map(|(examples, refitted)| Stacker::train(&examples, &refitted))
        .collect())
}

/// Adds to the estimates of one kind of selection, a scenario each in the order of `fitted.scenarios`, what is learned from
/// the training models: the learned estimates, and what intervals of all estimates rest on. `choose` as for [`stackers`].
///
/// # Errors
/// As [`stackers`].
pub fn learn(
    benchmark: &Benchmark,
    fitted: &Fitted,
    folds: &Folds,
    found: &mut [SelectionEstimates],
    choose: Option<Chooser<'_>>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<()> {
    let selections: Vec<Selection> = found.iter().map(|s| s.selection.clone()).collect();
    let trained = stackers(
        benchmark,
        fitted,
        folds,
        &selections,
        choose,
        settings,
        observer,
    )?;
    let components = test_components(benchmark, fitted, &selections, settings);
    for ((scenario, stacker), models) in found.iter_mut().zip(trained).zip(components) {
        let Some(stacker) = stacker else { continue };
        for (model, example) in models {
            let at = scenario.models.binary_search_by_key(&model, |m| m.model);
            if let Ok(at) = at {
                let learned = stacker.learned(&example.components);
                scenario.models[at].estimates.learned = Some(learned);
            }
        }
        scenario.stacker = Some(Arc::new(stacker));
    }
    Ok(())
}

/// The models held out of a fold as examples, one list a scenario.
fn held_out(
    benchmark: &Benchmark,
    fold: &Fitted,
    selections: &[Selection],
    settings: &Settings,
) -> Vec<Vec<Example>> {
    test_components(benchmark, fold, selections, settings)
        .into_iter()
        .map(|models| models.into_iter().map(|(_, e)| e).collect())
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
        let found: Vec<Vec<Option<(f64, Components)>>> =
            together.each(benchmark, &models, settings, |model, scores, theta| {
                let one = |(s, y): (usize, &Vec<f64>)| {
                    let scenario = &together.scenarios[s];
                    scenario.test.binary_search(&model).ok()?;
                    let truth = weighted_mean(&scenario.balance, y)?;
                    let answered = |i: usize| !y[i].is_nan();
                    let components = together.components(s, y, answered, &theta, settings)?;
                    Some((truth, components))
                };
                scores.iter().enumerate().map(one).collect()
            });
        for s in 0..together.scenarios.len() {
            let of = |(&model, found): (&usize, &Vec<Option<(f64, Components)>>)| {
                let (truth, components) = found[s].clone()?;
                let example = Example {
                    model,
                    truth,
                    components,
                };
                Some((model, example))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anchors::SelectionKind;
    use crate::data::{MatrixBuilder, split};
    use crate::estimate::Estimator;
    use crate::experiment::cases::{benchmark, few};
    use crate::experiment::{Scope, fit_benchmark, intervals, run_learned};
    use crate::irt::AbilityMethod;
    use crate::progress::Silent;

    struct Run {
        fitted: Fitted,
        folds: Folds,
        found: Vec<SelectionEstimates>,
    }

    fn run(b: &Benchmark, kind: SelectionKind, settings: &Settings) -> Run {
        let split = split(b, &settings.split, settings.seed).unwrap();
        let fitted = fit_benchmark(b, &split, settings, &Silent).unwrap();
        let folds = Folds::fit(b, &fitted, &Silent).unwrap();
        let settings = Settings {
            selections: vec![kind],
            ..settings.clone()
        };
        let found = run_learned(b, &fitted, &folds, true, &settings, &Silent).unwrap();
        Run {
            fitted,
            folds,
            found: found.into_iter().next().unwrap(),
        }
    }

    fn all_settings() -> Vec<Settings> {
        let joint = Settings {
            n: 12,
            scope: Scope::Joint,
            ..few()
        };
        vec![
            Settings { n: 12, ..few() },
            Settings {
                ability: AbilityMethod::MaximumLikelihood,
                ..joint.clone()
            },
            joint,
        ]
    }

    /// The answers of test models on items not chosen turned around: nothing learned, estimated or said of its error moves.
    #[test]
    fn what_test_models_did_not_show_changes_nothing() {
        for settings in all_settings() {
            for kind in SelectionKind::ALL {
                let b = benchmark();
                let before = run(&b, kind, &settings);
                let mut chosen = vec![false; b.matrix.n_items()];
                for s in &before.found {
                    for a in &s.selection.anchors {
                        chosen[b.scenarios[s.scenario].columns[a.item]] = true;
                    }
                }
                let mut scrambled = b.clone();
                let mut matrix = MatrixBuilder::new(b.matrix.items().to_vec());
                for (l, name) in b.matrix.models().iter().enumerate() {
                    let mut row = b.matrix.row(l);
                    if before.fitted.split.test.contains(&l) {
                        for (y, _) in row.iter_mut().zip(&chosen).filter(|(_, seen)| !**seen) {
                            *y = 1.0 - *y;
                        }
                    }
                    matrix.push(name.clone(), &row);
                }
                scrambled.matrix = matrix.finish();
                let after = run(&scrambled, kind, &settings);
                for (before, after) in before.found.iter().zip(&after.found) {
                    assert_eq!(before.stacker, after.stacker);
                    assert!(before.stacker.is_some() && !before.models.is_empty());
                    for (p, q) in before.models.iter().zip(&after.models) {
                        assert_eq!((p.model, &p.estimates), (q.model, &q.estimates));
                        assert_ne!(p.truth, q.truth);
                    }
                    for e in Estimator::ALL {
                        let of = |s: &SelectionEstimates| {
                            intervals(std::slice::from_ref(s), e, settings.lambda)
                        };
                        assert!(!of(before).is_empty());
                        assert_eq!(of(before), of(after));
                    }
                }
            }
        }
    }

    #[test]
    fn every_training_model_is_held_out_once_and_no_test_model_is_seen() {
        for settings in all_settings() {
            let run = run(&benchmark(), SelectionKind::AnchorsIrt, &settings);
            for (s, whole) in run.fitted.scenarios.iter().enumerate() {
                let mut held_out: Vec<usize> = Vec::new();
                for fold in &run.folds.folds {
                    let scenario = &fold.scenarios[s];
                    let mut both = [scenario.train.clone(), scenario.test.clone()].concat();
                    both.sort_unstable();
                    assert_eq!(both, whole.train);
                    assert!(
                        scenario
                            .test
                            .iter()
                            .all(|l| !scenario.fitted_models.contains(l))
                    );
                    assert_eq!(scenario.dims(), whole.dims());
                    held_out.extend(&scenario.test);
                }
                held_out.sort_unstable();
                assert_eq!(held_out, whole.train);
            }
        }
    }

    #[test]
    fn estimates_lie_in_their_intervals() {
        for settings in all_settings() {
            let run = run(&benchmark(), SelectionKind::AnchorsCorrectness, &settings);
            assert!(run.found.iter().all(|s| s.models.len() == 10));
            for (s, e) in run
                .found
                .iter()
                .flat_map(|s| Estimator::ALL.map(|e| (s, e)))
            {
                for (_, i) in intervals(std::slice::from_ref(s), e, settings.lambda) {
                    assert!(0.0 <= i.low && i.low <= i.estimate);
                    assert!(i.estimate <= i.high && i.high <= 1.0 && i.half_width() > 0.0);
                }
            }
        }
    }
}
