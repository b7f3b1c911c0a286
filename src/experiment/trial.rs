//! One split, fitted once: any n, selection and estimator, the paper's and the learned ones, judged on its test models.

use rayon::prelude::*;

use super::fitted::{Fitted, FittedScenario, fit_benchmark};
use super::folds::Folds;
use super::learned::{Chooser, learn};
use super::run::{SelectionEstimates, estimate_selection};
use super::select::{select, select_with};
use super::settings::Settings;
use super::uncertain::intervals;
use crate::anchors::{Selection, SelectionKind};
use crate::data::{Benchmark, Split};
use crate::error::Result;
use crate::estimate::{Estimator, Interval};
use crate::progress::{Observer, Part as Stretch};

/// How much an estimator takes, from 0: a weighted mean, a regression, a response model, combinations of these. Of those that
/// do as well, the smaller is recommended.
pub(super) fn complexity(estimator: Estimator) -> usize {
    match estimator {
        Estimator::Naive => 0,
        Estimator::Ridge => 1,
        Estimator::PIrt => 2,
        Estimator::Aipw => 3,
        Estimator::GpIrt => 4,
        Estimator::GpIrtCv => 5,
        Estimator::Stacked => 6,
    }
}

/// One test model.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedModel {
    /// Row of the matrix.
    pub model: usize,
    /// True score.
    pub truth: f64,
    /// In the order of [`Estimator::ALL`]; `None` where too few training models answered to learn one.
    pub estimates: [Option<f64>; 7],
    /// The interval of `stacked` that covers [`LEVEL`](super::LEVEL); `None` where it was not asked for.
    pub interval: Option<Interval>,
}

/// The test models of one scenario under one choice of items.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Index of the scenario; `None` for the mean over scenarios.
    pub scenario: Option<usize>,
    /// Chosen items; for the mean over scenarios of all of them together.
    pub items: usize,
    /// Test models with an answer on a chosen item, in row order.
    pub models: Vec<JudgedModel>,
}

impl Judged {
    /// (truth, estimate) by the method at this place of [`Estimator::ALL`].
    pub fn pairs(&self, method: usize) -> Vec<(f64, f64)> {
        let pair = |m: &JudgedModel| Some((m.truth, m.estimates[method]?));
        self.models.iter().filter_map(pair).collect()
    }
}

/// A benchmark fitted on the training models of a split, and on those outside each fold of them.
#[derive(Debug, Clone)]
pub struct Trial<'a> {
    benchmark: &'a Benchmark,
    /// The fit on all training models.
    pub fitted: Fitted,
    folds: Folds,
}

impl<'a> Trial<'a> {
    /// Fits; n, selection and seed of the choice may differ in every [`Trial::judge`].
    ///
    /// # Errors
    /// As [`fit_benchmark`].
    pub fn fit(
        benchmark: &'a Benchmark,
        split: &Split,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let whole = Stretch::new(observer, "", 0.0, 0.5);
        let fitted = fit_benchmark(benchmark, split, settings, &whole)?;
        let folds = Folds::fit(benchmark, &fitted, &Stretch::new(observer, "", 0.5, 1.0))?;
        Ok(Self {
            benchmark,
            fitted,
            folds,
        })
    }

    /// Chooses `settings.n` items a scenario by `kind` and `settings.seed` and estimates every test model: one entry a
    /// fitted scenario in order, then, where there are several, the mean over them. `calibrated` adds the intervals: items
    /// are then chosen again for every fold, with one restart.
    ///
    /// # Errors
    /// As [`select`]; cancellation.
    pub fn judge(
        &self,
        kind: SelectionKind,
        settings: &Settings,
        calibrated: bool,
        observer: &dyn Observer,
    ) -> Result<Vec<Judged>> {
        let (benchmark, fitted) = (self.benchmark, &self.fitted);
        let selections: Vec<Selection> = fitted
            .scenarios
            .par_iter()
            .map(|s| select(benchmark, s, kind, settings.n, settings.seed, observer))
            .collect::<Result<_>>()?;
        let again = |s: &FittedScenario| {
            select_with(benchmark, s, kind, settings.n, settings.seed, 1, observer)
        };
        let chooser: Option<Chooser<'_>> = if calibrated { Some(&again) } else { None };
        let mut found = estimate_selection(benchmark, fitted, &selections, settings);
        let folds = &self.folds;
        learn(
            benchmark, fitted, folds, &mut found, chooser, settings, observer,
        )?;
        let lambda = settings.lambda;
        let sure = |scenarios: &[SelectionEstimates]| {
            if calibrated {
                intervals(scenarios, Estimator::Stacked, lambda)
            } else {
                Vec::new()
            }
        };
        let mut out: Vec<Judged> = found
            .iter()
            .map(|found| {
                let sure = sure(std::slice::from_ref(found));
                let lambda = lambda.value(found.paper_lambda);
                let models = found.models.iter().map(|m| JudgedModel {
                    model: m.model,
                    truth: m.truth,
                    estimates: Estimator::ALL.map(|e| m.estimates.get(e, lambda)),
                    interval: interval_of(&sure, m.model),
                });
                Judged {
                    scenario: Some(found.scenario),
                    items: found.selection.n(),
                    models: models.collect(),
                }
            })
            .collect();
        if out.len() > 1 {
            let mut mean = mean_over(&out);
            let sure = sure(&found);
            for m in &mut mean.models {
                m.interval = interval_of(&sure, m.model);
            }
            out.push(mean);
        }
        Ok(out)
    }
}

/// The interval of a model, by row of the matrix.
fn interval_of(sure: &[(usize, Interval)], model: usize) -> Option<Interval> {
    let at = sure.binary_search_by_key(&model, |(m, _)| *m).ok()?;
    Some(sure[at].1)
}

/// The mean over scenarios of the models that have all of them.
fn mean_over(scenarios: &[Judged]) -> Judged {
    let share = 1.0 / scenarios.len() as f64;
    let one = |first: &JudgedModel| -> Option<JudgedModel> {
        let (mut truth, mut estimates) = (0.0, [Some(0.0); 7]);
        for s in scenarios {
            let at = s.models.binary_search_by_key(&first.model, |m| m.model);
            let found = &s.models[at.ok()?];
            truth += share * found.truth;
            for (sum, x) in estimates.iter_mut().zip(found.estimates) {
                *sum = sum.zip(x).map(|(sum, x)| sum + share * x);
            }
        }
        Some(JudgedModel {
            model: first.model,
            truth,
            estimates,
            interval: None,
        })
    };
    Judged {
        scenario: None,
        items: scenarios.iter().map(|s| s.items).sum(),
        models: scenarios[0].models.iter().filter_map(one).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::split;
    use crate::experiment::Metrics;
    use crate::experiment::cases::{benchmark, few};
    use crate::experiment::{overall, rows, run_learned};
    use crate::progress::Silent;

    #[test]
    fn a_trial_says_what_a_run_says_and_more() {
        let b = benchmark();
        let settings = Settings { n: 12, ..few() };
        let split = split(&b, &settings.split, settings.seed).unwrap();
        let trial = Trial::fit(&b, &split, &settings, &Silent).unwrap();
        let (fitted, folds) = (&trial.fitted, &trial.folds);
        let plain = run_learned(&b, fitted, folds, false, &settings, &Silent).unwrap();
        for (kind, found) in SelectionKind::ALL.into_iter().zip(plain) {
            let judged = trial.judge(kind, &settings, false, &Silent).unwrap();
            assert_eq!(judged.len(), 3);
            assert_eq!(judged[2].items, 24);
            let of = |j: &Judged, k: usize| Metrics::of(&j.pairs(k)).mae.unwrap();
            for (j, s) in judged.iter().zip(&found) {
                for (k, row) in rows(s, settings.lambda).iter().enumerate() {
                    assert!((of(j, k) - row.metrics.mae.unwrap()).abs() < 1e-12);
                }
            }
            for (k, row) in overall(&found, settings.lambda).iter().enumerate() {
                assert!((of(&judged[2], k) - row.metrics.mae.unwrap()).abs() < 1e-12);
            }
            let m = &judged[0].models[0];
            assert!(m.estimates.iter().all(Option::is_some) && m.interval.is_none());
            // Intervals change no estimate.
            let again = trial.judge(kind, &settings, true, &Silent).unwrap();
            assert_eq!(again[0].models[0].estimates, m.estimates);
            assert!(again[0].models[0].interval.is_some());
            assert!(again[2].models[0].interval.is_some());
        }
    }
}
