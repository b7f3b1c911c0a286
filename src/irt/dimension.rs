//! Choosing the number of dimensions D by validation on held-out training models.

use std::ops::Range;

use rayon::prelude::*;

use super::ability::{AbilityMethod, abilities};
use super::fit::{Fit, FitOptions, KEPT, ascend};
use crate::cache::Key;
use crate::data::Responses;
use crate::error::Result;
use crate::progress::{Observer, Part as Stretch};

/// Candidates when the user names none.
pub const DEFAULT_DIMS: [usize; 4] = [2, 5, 10, 15];

/// A larger D must beat a smaller one by more than this in mean absolute error.
const WORTH: f64 = 0.0025;
/// Every so many-th training model is held out.
const HELD_OUT: usize = 5;

/// One scenario's part of the fitted columns.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Part {
    /// Its items among the columns.
    pub items: Range<usize>,
    /// Their balance weights.
    pub weights: Vec<f64>,
}

/// Validation of one candidate.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Validation {
    /// D.
    pub dims: usize,
    /// Mean over scenarios of the errors below.
    pub error: f64,
    /// Mean over held-out models of |mean w P - mean w y| on the odd items, for each scenario; NaN where no held-out
    /// model answered both halves of it.
    pub errors: Vec<f64>,
}

/// The chosen D with the table it was chosen from.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DimensionChoice {
    /// The smallest D within 0.0025 of the best error.
    pub dims: usize,
    /// One row a candidate, in rising order.
    pub table: Vec<Validation>,
}

impl DimensionChoice {
    /// The row of the chosen D.
    pub fn chosen(&self) -> &Validation {
        let at = self.table.iter().position(|v| v.dims == self.dims);
        &self.table[at.unwrap_or(0)]
    }
}

/// Holds out every 5th training model, fits each candidate on the rest, estimates the held-out models' abilities from the
/// even items and predicts the odd ones. A single candidate is validated too: its error is b in gp-IRT's lambda. Where the
/// matrix has a cache, each candidate's validation is looked for in it first, whatever the other candidates are.
///
/// Each fit starts anew. Started from the next smaller candidate's, 30 sweeps would do for 60 and take .63 of the time, but
/// of 42 choices on real matrices one came out differently (MMLU-Pro), with errors up to .007 apart.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn choose_dimension(
    train: &Responses<'_>,
    parts: &[Part],
    candidates: &[usize],
    method: AbilityMethod,
    observer: &dyn Observer,
) -> Result<DimensionChoice> {
    let mut candidates = candidates.to_vec();
    candidates.sort_unstable();
    candidates.dedup();
    let (held_out, rest) = held_out(train);
    let cost = |d: usize| ((d + 1) * (d + 2)) as f64;
    let total: f64 = candidates.iter().map(|&d| cost(d)).sum();
    let mut done = 0.0;
    let mut table = Vec::with_capacity(candidates.len());
    for &dims in &candidates {
        let to = done + cost(dims) / total;
        let stretch = Stretch::new(observer, format!("validating D = {dims}"), done, to);
        table.push(train.kept(
            || format!("validation of D = {dims}"),
            || {
                let key = Key::new("validation", KEPT).with(parts);
                key.with(&FitOptions::new(dims)).with(&method)
            },
            || {
                // This fit serves nothing else: it is not kept.
                let fit = ascend(&rest, &FitOptions::new(dims), &stretch)?;
                Ok(validation(&fit, &held_out, parts, method))
            },
        )?);
        done = to;
    }
    let best = table
        .iter()
        .map(|v| v.error)
        .fold(f64::INFINITY, |a, b| a.min(if b.is_nan() { a } else { b }));
    let dims = table
        .iter()
        .find(|v| v.error <= best + WORTH)
        .map_or(candidates[0], |v| v.dims);
    Ok(DimensionChoice { dims, table })
}

/// Validation at given item parameters: the same held-out models and items, with nothing fitted on the rest. Where the
/// parameters have seen the held-out models, the error is too small.
pub fn validate_given(
    fit: &Fit,
    train: &Responses<'_>,
    parts: &[Part],
    method: AbilityMethod,
) -> DimensionChoice {
    let (held_out, _) = held_out(train);
    let row = validation(fit, &held_out, parts, method);
    DimensionChoice {
        dims: row.dims,
        table: vec![row],
    }
}

/// Every 5th training model, and the rest.
fn held_out<'a>(train: &Responses<'a>) -> (Responses<'a>, Responses<'a>) {
    let (held_out, rest): (Vec<_>, Vec<_>) = train
        .models()
        .iter()
        .enumerate()
        .partition(|(position, _)| position % HELD_OUT == 0);
    let pick = |models: Vec<(usize, &usize)>| {
        train.with_models(models.into_iter().map(|(_, &l)| l).collect())
    };
    (pick(held_out), pick(rest))
}

/// Errors of a fit on the odd items of the held-out models, their abilities from the even ones.
fn validation(
    fit: &Fit,
    held_out: &Responses<'_>,
    parts: &[Part],
    method: AbilityMethod,
) -> Validation {
    let ys: Vec<Vec<f64>> = (0..held_out.n_models()).map(|l| held_out.row(l)).collect();
    let even: Vec<Vec<f64>> = ys
        .iter()
        .map(|y| {
            let mut even = y.clone();
            for part in parts {
                let odd = part.items.clone().skip(1).step_by(2);
                odd.for_each(|i| even[i] = f64::NAN);
            }
            even
        })
        .collect();
    let found = abilities(&fit.items, &even, &fit.ability_prior, method);
    let errors: Vec<Vec<Option<f64>>> = found
        .par_iter()
        .zip(&ys)
        .map(|(theta, y)| {
            let p = theta.probabilities(&fit.items);
            parts.iter().map(|part| odd_error(part, y, &p)).collect()
        })
        .collect();
    let errors: Vec<f64> = (0..parts.len())
        .map(|s| mean(errors.iter().filter_map(|e| e[s])))
        .collect();
    Validation {
        dims: fit.dims(),
        error: mean(errors.iter().copied().filter(|e| !e.is_nan())),
        errors,
    }
}

fn odd_error(part: &Part, y: &[f64], p: &[f64]) -> Option<f64> {
    let (mut predicted, mut observed, mut count) = (0.0, 0.0, 0.0);
    let mut even_answered = false;
    for (offset, i) in part.items.clone().enumerate() {
        if y[i].is_nan() {
            continue;
        }
        if offset % 2 == 0 {
            even_answered = true;
        } else {
            predicted += part.weights[offset] * p[i];
            observed += part.weights[offset] * y[i];
            count += 1.0;
        }
    }
    (even_answered && count > 0.0).then(|| (predicted - observed).abs() / count)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0usize), |(s, n), v| (s + v, n + 1));
    if n == 0 { f64::NAN } else { sum / n as f64 }
}
