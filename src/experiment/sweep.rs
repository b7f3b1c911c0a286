//! Error against the number of items, over seeds.

use std::collections::BTreeSet;

use super::fitted::fit_benchmark;
use super::folds::Folds;
use super::metrics::Metrics;
use super::run::{cap_warnings, overall, rows, run_learned};
use super::settings::Settings;
use crate::anchors::SelectionKind;
use crate::data::{Benchmark, split};
use crate::error::Result;
use crate::estimate::Estimator;
use crate::progress::{Observer, Part as Stretch, Progress};

/// Mean and standard deviation over seeds of one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRow {
    /// Index of the scenario; `None` for the benchmark's mean score.
    pub scenario: Option<usize>,
    /// How the items were chosen.
    pub selection: SelectionKind,
    /// The estimator.
    pub estimator: Estimator,
    /// Items a scenario, as asked for.
    pub n: usize,
    /// Mean over seeds of the mean absolute error; `None` where it is undefined for a seed.
    pub mae: Option<f64>,
    /// Sample standard deviation over seeds; `None` for a single seed.
    pub mae_sd: Option<f64>,
    /// Mean over seeds of Spearman's rho; `None` where it is undefined for a seed.
    pub spearman: Option<f64>,
    /// Its standard deviation.
    pub spearman_sd: Option<f64>,
    /// Number of seeds.
    pub seeds: usize,
}

/// A whole sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// By scenario (overall last), selection, estimator and n.
    pub rows: Vec<SweepRow>,
    /// Chosen D: for each scenario index, one a seed.
    pub dims: Vec<(usize, Vec<usize>)>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

type Key = (Option<usize>, SelectionKind, Estimator, usize);

/// Fits once for each seed `settings.seed ..`, then runs every n on each; an n given twice counts once.
///
/// # Errors
/// As [`split`], [`fit_benchmark`] and [`run_learned`].
pub fn sweep(
    benchmark: &Benchmark,
    settings: &Settings,
    ns: &[usize],
    seeds: usize,
    observer: &dyn Observer,
) -> Result<Sweep> {
    let mut seen = BTreeSet::new();
    let ns: Vec<usize> = ns.iter().copied().filter(|n| seen.insert(*n)).collect();
    let mut found: Vec<(Key, Vec<Metrics>)> = Vec::new();
    let mut dims: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut warnings: Vec<String> = Vec::new();
    for s in 0..seeds {
        let settings = Settings {
            seed: settings.seed + s as u64,
            ..settings.clone()
        };
        let at = |x: f64| (s as f64 + x) / seeds as f64;
        let split = split(benchmark, &settings.split, settings.seed)?;
        let stretch = Stretch::new(
            observer,
            format!("seed {}", settings.seed),
            at(0.0),
            at(0.45),
        );
        let fitted = fit_benchmark(benchmark, &split, &settings, &stretch)?;
        let label = format!("seed {}", settings.seed);
        let folds = Folds::fit(
            benchmark,
            &fitted,
            &Stretch::new(observer, label, at(0.45), at(0.7)),
        )?;
        for f in &fitted.scenarios {
            match dims.iter_mut().find(|(index, _)| *index == f.index) {
                Some((_, chosen)) => chosen.push(f.dims()),
                None => dims.push((f.index, vec![f.dims()])),
            }
        }
        for w in &fitted.warnings {
            if !warnings.contains(w) {
                warnings.push(w.clone());
            }
        }
        for (k, &n) in ns.iter().enumerate() {
            observer.progress(&Progress {
                what: format!("seed {}: n = {n}", settings.seed),
                done: at(0.7 + 0.3 * k as f64 / ns.len() as f64),
            });
            let settings = Settings {
                n,
                ..settings.clone()
            };
            let kinds = run_learned(benchmark, &fitted, &folds, false, &settings, observer)?;
            for w in cap_warnings(benchmark, &kinds, n) {
                if !warnings.contains(&w) {
                    warnings.push(w);
                }
            }
            for kind in kinds {
                let each = kind.iter().flat_map(|scenario| {
                    rows(scenario, settings.lambda)
                        .into_iter()
                        .map(|row| (Some(scenario.scenario), row))
                });
                let all = overall(&kind, settings.lambda)
                    .into_iter()
                    .map(|row| (None, row));
                for (scenario, row) in each.chain(all) {
                    let key = (scenario, row.selection, row.estimator, n);
                    match found.iter_mut().find(|(k, _)| *k == key) {
                        Some((_, metrics)) => metrics.push(row.metrics),
                        None => found.push((key, vec![row.metrics])),
                    }
                }
            }
        }
    }
    found.sort_by_key(|((scenario, selection, estimator, n), _)| {
        (scenario.is_none(), *scenario, *selection, *estimator, *n)
    });
    Ok(Sweep {
        rows: found.into_iter().map(summary).collect(),
        dims,
        warnings,
    })
}

fn summary(((scenario, selection, estimator, n), metrics): (Key, Vec<Metrics>)) -> SweepRow {
    let (mae, mae_sd) = mean_and_sd(metrics.iter().map(|m| m.mae));
    let (spearman, spearman_sd) = mean_and_sd(metrics.iter().map(|m| m.spearman));
    SweepRow {
        scenario,
        selection,
        estimator,
        n,
        mae,
        mae_sd,
        spearman,
        spearman_sd,
        seeds: metrics.len(),
    }
}

fn mean_and_sd(values: impl Iterator<Item = Option<f64>>) -> (Option<f64>, Option<f64>) {
    let Some(values) = values
        .collect::<Option<Vec<f64>>>()
        .filter(|v| !v.is_empty())
    else {
        return (None, None);
    };
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.len() > 1)
        .then(|| (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt());
    (Some(mean), sd)
}
