//! A benchmark fitted on its training models: everything that does not depend on n.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::imported::Joined;
use super::settings::{ResponseForm, Scope, Settings};
use crate::data::{Benchmark, Responses, Scenario, Split, threshold};
use crate::error::{Error, Result};
use crate::irt::{
    DimensionChoice, Fit, FitOptions, ItemParameters, Part, Validation, choose_dimension, fit,
    fit_abilities, validate_given,
};
use crate::progress::{Observer, Part as Stretch};

/// One scenario with the fit that serves it.
#[derive(Debug, Clone)]
pub struct FittedScenario {
    /// Index of the scenario in the benchmark.
    pub index: usize,
    /// Training models that answered something of the scenario (rows of the matrix).
    pub train: Vec<usize>,
    /// Test models that answered something of the scenario.
    pub test: Vec<usize>,
    /// Balance weight of each item, mean 1.
    pub balance: Vec<f64>,
    /// The fit; shared by all scenarios in joint scope.
    pub fit: Arc<Fit>,
    /// The models that `fit.abilities` are of, in that order.
    pub fitted_models: Arc<Vec<usize>>,
    /// This scenario's items in the fit.
    pub fit_items: Range<usize>,
    /// The chosen D and the table it was chosen from; in joint scope shared.
    pub choice: Arc<DimensionChoice>,
    /// b: this scenario's validation error at the chosen D; NaN where it could not be measured.
    pub b: f64,
    /// s2: mean over training models of the population variance over items of their raw, unweighted scores.
    pub s2: f64,
    /// The threshold c where responses were binarised.
    pub threshold: Option<f64>,
}

impl FittedScenario {
    /// Parameters of this scenario's items, by position.
    pub fn items(&self) -> ItemParameters {
        self.fit
            .items
            .select(&self.fit_items.clone().collect::<Vec<_>>())
    }

    /// D.
    pub fn dims(&self) -> usize {
        self.fit.dims()
    }
}

/// A benchmark fitted on its training models.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// Training and test models.
    pub split: Split,
    /// The scenarios asked for.
    pub scenarios: Vec<FittedScenario>,
    /// Whether they share one fit.
    pub scope: Scope,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Chooses D and fits, for each scenario asked for or (joint scope) once for all; with `settings.parameters` only the
/// abilities of the training models are fitted, at these item parameters.
///
/// # Errors
/// Fewer than two training models with answers in a scenario; items without given parameters, or ones that were not fitted
/// together in joint scope; cancellation.
pub fn fit_benchmark(
    benchmark: &Benchmark,
    split: &Split,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Fitted> {
    let indices = settings.scenario_indices(benchmark);
    let groups: Vec<Vec<usize>> = match settings.scope {
        Scope::Scenario => indices.iter().map(|&i| vec![i]).collect(),
        Scope::Joint => vec![indices],
    };
    // Larger groups take longer.
    let size = |group: &[usize]| -> f64 {
        group
            .iter()
            .map(|&i| benchmark.scenarios[i].n_items() as f64)
            .sum()
    };
    let total: f64 = groups.iter().map(|g| size(g)).sum();
    let mut done = 0.0;
    let mut scenarios = Vec::new();
    let mut warnings = split.warnings.clone();
    for group in groups {
        let to = done + size(&group) / total;
        let label = match group.as_slice() {
            [one] => benchmark.scenarios[*one].name.clone(),
            _ => "all scenarios".to_owned(),
        };
        let stretch = Stretch::new(observer, label, done, to);
        scenarios.extend(fit_group(
            benchmark,
            split,
            settings,
            &group,
            &stretch,
            &mut warnings,
        )?);
        done = to;
    }
    Ok(Fitted {
        split: split.clone(),
        scenarios,
        scope: settings.scope,
        warnings,
    })
}

fn fit_group(
    benchmark: &Benchmark,
    split: &Split,
    settings: &Settings,
    group: &[usize],
    observer: &dyn Observer,
    warnings: &mut Vec<String>,
) -> Result<Vec<FittedScenario>> {
    let imported = settings.parameters.as_deref();
    let joined = imported
        .map(|imported| imported.join(benchmark, group))
        .transpose()?;
    let mut scenarios = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    let mut columns = Vec::new();
    let mut thresholds = Vec::new();
    for (at, &index) in group.iter().enumerate() {
        let scenario = &benchmark.scenarios[index];
        let (train, test) = (
            answering(benchmark, scenario, &split.train),
            answering(benchmark, scenario, &split.test),
        );
        if train.len() < 2 {
            return Err(Error::setting(
                format!(
                    "scenario {:?} has {} training model{} with answers: a fit needs at least 2",
                    scenario.name,
                    train.len(),
                    if train.len() == 1 { "" } else { "s" }
                ),
                "leave the scenario out with --scenario, or choose another --split",
            ));
        }
        let raw = Responses::new(&benchmark.matrix, train.clone(), scenario.columns.clone());
        let given = joined.as_ref().and_then(|j| j.places[at].part?.threshold);
        let c = match settings.responses {
            _ if given.is_some() => given,
            ResponseForm::Raw => None,
            ResponseForm::Binary => Some(threshold(&raw)),
        };
        let balance = scenario.balance_weights();
        let from = columns.len();
        columns.extend_from_slice(&scenario.columns);
        thresholds.extend(std::iter::repeat_n(c.unwrap_or(0.5), scenario.n_items()));
        parts.push(Part {
            items: from..columns.len(),
            weights: balance.clone(),
        });
        scenarios.push((index, train, test, balance, item_variance(&raw), c));
    }
    let mut models: Vec<usize> = scenarios.iter().flat_map(|s| s.1.iter().copied()).collect();
    models.sort_unstable();
    models.dedup();
    let mut responses = Responses::new(&benchmark.matrix, models.clone(), columns);
    if scenarios.iter().any(|s| s.5.is_some()) {
        responses = responses.binarised(thresholds);
    }
    let label = |what: &str, from, to| Stretch::new(observer, what, from, to);
    let (fit, choice) = match &joined {
        Some(joined) => at_given(joined, &responses, &parts, settings, &label("", 0.0, 1.0))?,
        None => {
            let dims = candidates(&settings.dims, models.len(), warnings);
            let choice = choose_dimension(
                &responses,
                &parts,
                &dims,
                settings.ability,
                &label("", 0.0, 0.75),
            )?;
            let fit = fit(
                &responses,
                &FitOptions::new(choice.dims),
                &label(&format!("fitting D = {}", choice.dims), 0.75, 1.0),
            )?;
            (fit, choice)
        }
    };
    if let (Some(imported), Some(joined)) = (imported, &joined) {
        for warning in imported.warnings(joined, benchmark, split) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    if choice.chosen().error.is_nan() {
        warnings.push(format!(
            "{}: too few training models or items to validate D; lambda auto is 0",
            names(benchmark, group)
        ));
    }
    let (fit, choice, fitted_models) = (Arc::new(fit), Arc::new(choice), Arc::new(models));
    Ok(scenarios
        .into_iter()
        .zip(parts)
        .enumerate()
        .map(
            |(s, ((index, train, test, balance, s2, threshold), part))| FittedScenario {
                index,
                train,
                test,
                balance,
                fit: Arc::clone(&fit),
                fitted_models: Arc::clone(&fitted_models),
                fit_items: part.items,
                b: choice.chosen().errors[s],
                choice: Arc::clone(&choice),
                s2,
                threshold,
            },
        )
        .collect())
}

/// The fit at given item parameters, and b: the file's where it has one (it was measured on models held out of that fit),
/// else what the validation gives at these parameters.
fn at_given(
    joined: &Joined<'_>,
    responses: &Responses<'_>,
    parts: &[Part],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<(Fit, DimensionChoice)> {
    let fit = fit_abilities(responses, joined.items(), &joined.set.prior, observer)?;
    let choice = match joined.errors() {
        Some(errors) => DimensionChoice {
            dims: fit.dims(),
            table: vec![Validation {
                dims: fit.dims(),
                error: errors.iter().sum::<f64>() / errors.len() as f64,
                errors,
            }],
        },
        None => validate_given(&fit, responses, parts, settings.ability),
    };
    Ok((fit, choice))
}

fn names(benchmark: &Benchmark, group: &[usize]) -> String {
    let names: Vec<&str> = group
        .iter()
        .map(|&i| benchmark.scenarios[i].name.as_str())
        .collect();
    names.join(", ")
}

/// Dimensions that so few models can carry: fewer than the models; the smallest candidate stays, cut to that.
fn candidates(dims: &[usize], models: usize, warnings: &mut Vec<String>) -> Vec<usize> {
    let most = models.saturating_sub(1).max(1);
    let mut kept: Vec<usize> = dims.iter().copied().filter(|&d| d <= most).collect();
    if kept.len() < dims.len() {
        let left_out: Vec<String> = dims
            .iter()
            .filter(|&&d| d > most)
            .map(usize::to_string)
            .collect();
        if kept.is_empty() {
            kept.push(most);
        }
        warnings.push(format!(
            "D = {} needs more than {models} training models: left out",
            left_out.join(", ")
        ));
    }
    kept
}

/// The models among `models` with at least one answer in the scenario.
fn answering(benchmark: &Benchmark, scenario: &Scenario, models: &[usize]) -> Vec<usize> {
    models
        .par_iter()
        .copied()
        .filter(|&l| {
            benchmark
                .scores(l, &scenario.columns)
                .iter()
                .any(|y| !y.is_nan())
        })
        .collect()
}

/// Mean over models of the population variance over items of their scores.
fn item_variance(responses: &Responses<'_>) -> f64 {
    let variances: Vec<f64> = (0..responses.n_models())
        .map(|l| {
            let mut y = responses.row(l);
            y.retain(|y| !y.is_nan());
            let mean = y.iter().sum::<f64>() / y.len() as f64;
            y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / y.len() as f64
        })
        .collect();
    variances.iter().sum::<f64>() / variances.len() as f64
}
