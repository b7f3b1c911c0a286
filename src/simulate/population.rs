//! Populations of models and items, fitted to real benchmarks.

use ndarray::Array2;
use rayon::prelude::*;

use super::family::{PairSums, Tree};
use super::residual::{Factors, Residuals};
use crate::data::{Benchmark, Responses, Scenario, SubScenario};
use crate::error::{Error, Result};
use crate::irt::{self, AbilityMethod, FitOptions, Gaussians, choose_dimension};
use crate::progress::{Observer, Part};

/// How a population is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FitSettings {
    /// Candidates for D, validated over for each scenario.
    pub dims: Vec<usize>,
}

impl Default for FitSettings {
    /// D of 2 or 5: what more dimensions would hold stands in the factors of the residuals.
    fn default() -> Self {
        Self { dims: vec![2, 5] }
    }
}

/// Distributions of models, items and responses to draw a benchmark from.
#[derive(Debug, Clone)]
pub struct Population {
    pub(super) sources: Vec<Source>,
    /// What stands in the manifest of a benchmark drawn from it.
    pub(super) notes: String,
}

/// What is kept of one real benchmark.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) name: String,
    /// Families of its models.
    pub(super) forest: Vec<Tree>,
    /// Its models by rising score.
    pub(super) order: Vec<usize>,
    pub(super) scenarios: Vec<SourceScenario>,
}

/// What is kept of one scenario.
#[derive(Debug, Clone)]
pub(super) struct SourceScenario {
    pub(super) name: String,
    pub(super) metric: String,
    pub(super) subscenarios: Vec<SubScenario>,
    /// Posteriors of (a, b), one an item.
    pub(super) items: Gaussians,
    /// Posteriors of theta, one a model of the source (the prior where it answered nothing here).
    pub(super) abilities: Gaussians,
    /// Factors of the residuals: a row a model of the source; a row an item.
    pub(super) factors: Factors,
    /// Standard deviation of the effects of model and sub-scenario, on the logit.
    pub(super) effect: f64,
    /// For scores in between, Var(score) / p (1 - p): of each item, overall, and the share of ties at 1/2.
    pub(super) scores: Option<Scores>,
    /// Of each model of the source, the score that it has on every item, where there is one (a judge's reference).
    pub(super) constant: Vec<Option<f64>>,
    /// True when no data stand behind the parameters.
    pub(super) made_up: bool,
}

/// How scores in between scatter.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    pub(super) dispersion: Vec<f64>,
    pub(super) overall: f64,
    pub(super) ties: f64,
}

impl SourceScenario {
    /// Scale of the posterior covariances: the fit takes a score for one 0/1 response, which says less than a score does.
    pub(super) fn overall_dispersion(&self) -> f64 {
        self.scores.as_ref().map_or(1.0, |s| s.overall)
    }
}

impl Population {
    /// Fits a population to benchmarks: for each scenario an M2PL model, factors of its residuals, effects of sub-scenarios
    /// and the dispersion of scores; for each benchmark the families of its models. The first benchmark gives the families
    /// and the spread of ability of whatever is drawn; the others' models are matched to it by rank.
    ///
    /// # Errors
    /// [`Error::Setting`] where a scenario has too few models or there is no benchmark; [`Error::Cancelled`].
    pub fn fit(
        benchmarks: &[&Benchmark],
        settings: &FitSettings,
        observer: &dyn Observer,
    ) -> Result<Self> {
        if benchmarks.is_empty() {
            return Err(Error::setting(
                "a population needs data to be fitted to",
                "name a benchmark",
            ));
        }
        if settings.dims.is_empty() || settings.dims.contains(&0) {
            return Err(Error::setting(
                "D must be at least 1",
                "name one dimension or more",
            ));
        }
        let total = benchmarks.len() as f64;
        let mut sources = Vec::new();
        for (k, benchmark) in benchmarks.iter().enumerate() {
            let part = Part::new(
                observer,
                format!("population of {}", benchmark.name),
                k as f64 / total,
                (k + 1) as f64 / total,
            );
            sources.push(Source::fit(benchmark, settings, &part)?);
        }
        let names: Vec<&str> = sources.iter().map(|s| s.name.as_str()).collect();
        let notes = format!("population fitted to {}", names.join(", "));
        Ok(Self { sources, notes })
    }
}

impl Source {
    fn fit(benchmark: &Benchmark, settings: &FitSettings, observer: &dyn Observer) -> Result<Self> {
        let n_models = benchmark.matrix.n_models();
        let mut pairs = PairSums::new(n_models);
        let mut scenarios = Vec::new();
        let items: usize = benchmark.scenarios.iter().map(Scenario::n_items).sum();
        let mut done = 0;
        for (index, scenario) in benchmark.scenarios.iter().enumerate() {
            let share = |n: usize| n as f64 / items.max(1) as f64;
            let part = Part::new(
                observer,
                scenario.name.clone(),
                share(done),
                share(done + scenario.n_items()),
            );
            done += scenario.n_items();
            scenarios.push(fit_scenario(benchmark, index, settings, &mut pairs, &part)?);
        }
        let mut order: Vec<(f64, usize)> = (0..n_models)
            .map(|l| (mean_score(benchmark, l), l))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let stem = benchmark.origin.file_name().unwrap_or_default();
        let stem = stem.to_string_lossy();
        let name = stem.split('.').next().unwrap_or_default();
        Ok(Self {
            name: if name.is_empty() {
                benchmark.name.clone()
            } else {
                name.to_owned()
            },
            forest: pairs.families(),
            order: order.into_iter().map(|(_, l)| l).collect(),
            scenarios,
        })
    }
}

/// Mean true score over the scenarios that the model answered.
fn mean_score(benchmark: &Benchmark, model: usize) -> f64 {
    let scores: Vec<f64> = benchmark
        .scenarios
        .iter()
        .filter_map(|s| benchmark.true_score(model, s))
        .collect();
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

fn fit_scenario(
    benchmark: &Benchmark,
    index: usize,
    settings: &FitSettings,
    pairs: &mut PairSums,
    observer: &dyn Observer,
) -> Result<SourceScenario> {
    let scenario = &benchmark.scenarios[index];
    let kept: Vec<usize> = (0..benchmark.matrix.n_models())
        .filter(|&l| benchmark.true_score(l, scenario).is_some())
        .collect();
    if kept.len() < 10 || scenario.n_items() < 10 {
        return Err(Error::setting(
            format!(
                "scenario {:?} has {} models and {} items: too few for a population",
                scenario.name,
                kept.len(),
                scenario.n_items()
            ),
            "name data with at least 10 models and 10 items in every scenario",
        ));
    }
    let responses = Responses::new(&benchmark.matrix, kept.clone(), scenario.columns.clone());
    let parts = [irt::Part {
        items: 0..scenario.n_items(),
        weights: scenario.balance_weights(),
    }];
    let stretch = Part::new(observer, "", 0.0, 0.6);
    let choice = choose_dimension(
        &responses,
        &parts,
        &settings.dims,
        AbilityMethod::Posterior,
        &stretch,
    )?;
    let stretch = Part::new(observer, "", 0.6, 1.0);
    let fit = irt::fit(&responses, &FitOptions::new(choice.dims), &stretch)?;
    let n = scenario.n_items();
    let rows: Vec<(Vec<f64>, Vec<f64>)> = (0..kept.len())
        .into_par_iter()
        .map(|l| (responses.row(l), fit.items.probabilities(&fit.abilities, l)))
        .collect();
    let y = Array2::from_shape_fn((kept.len(), n), |(l, i)| rows[l].0[i]);
    let p = Array2::from_shape_fn((kept.len(), n), |(l, i)| rows[l].1[i]);
    drop(rows);
    let residuals = Residuals::new(&y, p);
    let factors = residuals.factors(index);
    let residuals = residuals.beside(&y, &factors);
    let binary = y.iter().all(|&y| y.is_nan() || y == 0.0 || y == 1.0);
    let scores = (!binary).then(|| {
        let (overall, dispersion) = residuals.dispersion(&y);
        Scores {
            dispersion,
            overall,
            ties: ties(&y),
        }
    });
    let ones = vec![1.0; n];
    let dispersion = scores.as_ref().map_or(&ones, |s| &s.dispersion);
    residuals.add_pairs(&kept, dispersion, pairs);
    let overall = scores.as_ref().map_or(1.0, |s| s.overall);
    let l = benchmark.matrix.n_models();
    let d = fit.dims();
    let mut mean: Vec<f64> = fit.ability_prior.mean.repeat(l);
    let mut cov = fit.ability_prior.covariance().repeat(l);
    let mut models = Array2::zeros((l, factors.models.ncols()));
    let mut constant = vec![None; l];
    let packed = cov.len() / l;
    for (row, &l) in kept.iter().enumerate() {
        mean[l * d..(l + 1) * d].copy_from_slice(fit.abilities.mean(row));
        cov[l * packed..(l + 1) * packed].copy_from_slice(fit.abilities.cov(row));
        models.row_mut(l).assign(&factors.models.row(row));
        constant[l] = only_score(&y.row(row).to_vec());
    }
    Ok(SourceScenario {
        name: scenario.name.clone(),
        metric: benchmark.metric.clone(),
        subscenarios: scenario.subscenarios.clone(),
        items: fit.items.posterior().clone(),
        abilities: Gaussians::new(d, mean, cov),
        effect: residuals.effect(&scenario.subscenarios, overall),
        factors: Factors {
            models,
            items: factors.items,
        },
        scores,
        constant,
        made_up: false,
    })
}

/// The score in between that a model has on every item it answered, if so.
fn only_score(scores: &[f64]) -> Option<f64> {
    let mut known = scores.iter().copied().filter(|y| !y.is_nan());
    let first = known.next().filter(|y| *y > 0.0 && *y < 1.0)?;
    known.all(|y| y == first).then_some(first)
}

/// Share of scores that are exactly 1/2, among models whose score changes.
fn ties(y: &Array2<f64>) -> f64 {
    let (mut ties, mut known) = (0usize, 0usize);
    for row in y.rows() {
        let half = row.iter().filter(|&&y| y == 0.5).count();
        let all = row.iter().filter(|y| !y.is_nan()).count();
        if half < all {
            ties += half;
            known += all;
        }
    }
    ties as f64 / known.max(1) as f64
}
