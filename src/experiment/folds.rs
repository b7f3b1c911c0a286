//! The training models in folds, with a fit on the rest for each: what the learned estimators learn from.

use std::sync::Arc;

use super::fitted::{Fitted, FittedScenario};
use crate::data::{Benchmark, Responses, Split};
use crate::error::Result;
use crate::irt::{FitOptions, fit};
use crate::progress::{Observer, Part as Stretch};

/// Folds of the training models.
pub const FOLDS: usize = 5;

/// For each fold a fit on the training models outside it, with the D of the whole fit. It depends on no n: fitted once, it
/// serves every choice of items.
#[derive(Debug, Clone)]
pub struct Folds {
    /// One a fold, with the scenarios of the whole fit in order: `train` are the models fitted on, `test` those held out.
    pub folds: Vec<Fitted>,
}

impl Folds {
    /// Puts the k-th training model of each fit into fold k mod [`FOLDS`] and fits each
    /// scenario, in joint scope all together, without the fold. Test models are not read.
    ///
    /// A scenario of which fewer than two models are left has no models held out in that fold.
    ///
    /// # Errors
    /// Cancellation.
    pub fn fit(benchmark: &Benchmark, fitted: &Fitted, observer: &dyn Observer) -> Result<Self> {
        let folds = (0..FOLDS)
            .map(|fold| {
                let at = |k: usize| k as f64 / FOLDS as f64;
                let label = format!("fold {} of {FOLDS}", fold + 1);
                let stretch = Stretch::new(observer, label, at(fold), at(fold + 1));
                Self::one(benchmark, fitted, fold, &stretch)
            })
            .collect::<Result<_>>()?;
        Ok(Self { folds })
    }

    /// Fold `fold`, counted from 0 to [`FOLDS`], of [`Folds::fit`]: for work that may be interrupted and goes on later.
    ///
    /// # Errors
    /// Cancellation.
    pub fn one(
        benchmark: &Benchmark,
        fitted: &Fitted,
        fold: usize,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        without_fold(benchmark, fitted, fold, observer)
    }
}

fn without_fold(
    benchmark: &Benchmark,
    fitted: &Fitted,
    fold: usize,
    observer: &dyn Observer,
) -> Result<Fitted> {
    let mut scenarios: Vec<FittedScenario> = Vec::with_capacity(fitted.scenarios.len());
    let mut from = 0;
    while from < fitted.scenarios.len() {
        // Scenarios that share a fit stand together.
        let shared = &fitted.scenarios[from].fit;
        let group: Vec<&FittedScenario> = fitted.scenarios[from..]
            .iter()
            .take_while(|s| Arc::ptr_eq(&s.fit, shared))
            .collect();
        let at = |k: usize| k as f64 / fitted.scenarios.len() as f64;
        let label = benchmark.scenarios[group[0].index].name.clone();
        let stretch = Stretch::new(observer, label, at(from), at(from + group.len()));
        from += group.len();
        scenarios.extend(group_without_fold(benchmark, &group, fold, &stretch)?);
    }
    let models = |of: fn(&FittedScenario) -> &Vec<usize>| {
        let mut all: Vec<usize> = scenarios.iter().flat_map(|s| of(s).clone()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    Ok(Fitted {
        split: Split {
            train: models(|s| &s.train),
            test: models(|s| &s.test),
            warnings: Vec::new(),
        },
        scenarios,
        scope: fitted.scope,
        warnings: Vec::new(),
    })
}

fn group_without_fold(
    benchmark: &Benchmark,
    group: &[&FittedScenario],
    fold: usize,
    observer: &dyn Observer,
) -> Result<Vec<FittedScenario>> {
    let models = &group[0].fitted_models;
    let rest: Vec<usize> = every(models, |k| k % FOLDS != fold);
    let mut columns = Vec::new();
    let mut thresholds = Vec::new();
    for s in group {
        let of = &benchmark.scenarios[s.index].columns;
        columns.extend_from_slice(of);
        thresholds.extend(std::iter::repeat_n(s.threshold.unwrap_or(0.5), of.len()));
    }
    let mut responses = Responses::new(&benchmark.matrix, rest.clone(), columns);
    if group.iter().any(|s| s.threshold.is_some()) {
        responses = responses.binarised(thresholds);
    }
    let enough = rest.len() >= 2 && rest.len() < models.len();
    let (fit, fitted_models) = if enough {
        let dims = group[0].dims().min(rest.len() - 1);
        let fit = fit(&responses, &FitOptions::new(dims), observer)?;
        (Arc::new(fit), Arc::new(rest.clone()))
    } else {
        (
            Arc::clone(&group[0].fit),
            Arc::clone(&group[0].fitted_models),
        )
    };
    Ok(group
        .iter()
        .map(|s| {
            let (train, test): (Vec<usize>, Vec<usize>) =
                s.train.iter().partition(|l| rest.binary_search(l).is_ok());
            let usable = enough && train.len() >= 2;
            FittedScenario {
                train,
                test: if usable { test } else { Vec::new() },
                fit: Arc::clone(&fit),
                fitted_models: Arc::clone(&fitted_models),
                ..(*s).clone()
            }
        })
        .collect())
}

fn every(models: &[usize], keep: impl Fn(usize) -> bool) -> Vec<usize> {
    let kept = models.iter().enumerate().filter(|(k, _)| keep(*k));
    kept.map(|(_, &l)| l).collect()
}
