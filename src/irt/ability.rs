//! Ability of a model that answered some items, with the item parameters fixed.

use rayon::prelude::*;

use super::lane::LANES;
use super::likelihood;
use super::moments::{Gaussians, doubled_extended};
use super::packed;
use super::parameters::{ItemParameters, Prior};
use super::posterior::posteriors;
use super::real::Real;

/// How an ability is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum AbilityMethod {
    /// The variational posterior under the fitted prior: always finite, with a covariance.
    #[default]
    Posterior,
    /// Maximum likelihood (the reference); it runs off where all answers are right or all wrong.
    MaximumLikelihood,
}

impl AbilityMethod {
    /// `posterior` or `ml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Posterior => "posterior",
            Self::MaximumLikelihood => "ml",
        }
    }
}

/// An estimated ability.
#[derive(Debug, Clone, PartialEq)]
pub struct Ability {
    /// Posterior; a point (covariance 0) for maximum likelihood.
    pub theta: Gaussians,
    /// How it was estimated.
    pub method: AbilityMethod,
    /// False when the iteration met its limit: a maximum-likelihood ability that runs off to infinity.
    pub converged: bool,
}

impl Ability {
    /// Probability of a right answer of each item at this ability: with the posteriors of both for
    /// [`AbilityMethod::Posterior`], from the point estimates of both for maximum likelihood, as the reference has it.
    pub fn probabilities(&self, items: &ItemParameters) -> Vec<f64> {
        match self.method {
            AbilityMethod::Posterior => items.probabilities(&self.theta, 0),
            AbilityMethod::MaximumLikelihood => items.probabilities_at(self.theta.mean(0)),
        }
    }
}

/// The ability of a model with scores `y` (in \[0, 1\], NaN is left out) on `items`; with no answer the prior (posterior
/// method) or 0 (maximum likelihood).
pub fn ability(items: &ItemParameters, y: &[f64], prior: &Prior, method: AbilityMethod) -> Ability {
    let mut one = some(items, &[y], prior, method);
    one.swap_remove(0)
}

/// [`ability`] of many models, the same numbers in less time.
pub fn abilities(
    items: &ItemParameters,
    ys: &[Vec<f64>],
    prior: &Prior,
    method: AbilityMethod,
) -> Vec<Ability> {
    let found: Vec<Vec<Ability>> = ys
        .par_chunks(TOGETHER)
        .map(|ys| {
            let ys: Vec<&[f64]> = ys.iter().map(Vec::as_slice).collect();
            some(items, &ys, prior, method)
        })
        .collect();
    found.into_iter().flatten().collect()
}

/// Models that [`abilities`] works on at once: who has many brings so many together.
pub(crate) const TOGETHER: usize = LANES;

/// At most [`TOGETHER`] models.
fn some(
    items: &ItemParameters,
    ys: &[&[f64]],
    prior: &Prior,
    method: AbilityMethod,
) -> Vec<Ability> {
    match method {
        AbilityMethod::Posterior => posteriors(items, ys, prior)
            .into_iter()
            .map(|(theta, converged)| Ability {
                theta,
                method,
                converged,
            })
            .collect(),
        AbilityMethod::MaximumLikelihood => ys
            .iter()
            .map(|y| {
                let (theta, converged) = likelihood::maximum(items, y);
                Ability {
                    theta: Gaussians::points(items.dims(), theta),
                    method,
                    converged,
                }
            })
            .collect(),
    }
}

/// An answer that counts so many times in an ability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tempered {
    /// Position of the item.
    pub(crate) item: usize,
    /// Its score in \[0, 1\].
    pub(crate) score: f64,
    /// The power of its likelihood, above 0: 1 for right or wrong, more for graded scores that scatter less than these.
    pub(crate) weight: f64,
}

/// Close enough for choosing items and for scores that are printed to four digits.
const TEMPERED_TOLERANCE: f64 = 1e-6;
const TEMPERED_STEPS: usize = 1000;

/// The posterior of [`ability`] with the likelihood of each answer raised to its weight, from a start near it; `moments` are
/// E\[z z'\] of all items, packed.
pub(crate) fn tempered_ability(
    items: &ItemParameters,
    moments: &ndarray::Array2<f64>,
    answers: &[Tempered],
    prior: &Prior,
    start: &Gaussians,
) -> Gaussians {
    let d = items.dims();
    let inner = packed::len(d);
    if answers.is_empty() {
        return Gaussians::new(d, prior.mean.clone(), prior.covariance());
    }
    let mut linear = prior.shift();
    for answer in answers {
        let a = items.discrimination(answer.item);
        for (h, a) in linear.iter_mut().zip(a) {
            *h += answer.weight * (answer.score - 0.5) * a;
        }
    }
    let mut theta = start.clone();
    let (mut precision, mut mean) = (vec![0.0; inner], vec![0.0; d]);
    for _ in 0..TEMPERED_STEPS {
        let xx = doubled_extended(&theta);
        precision.copy_from_slice(&prior.precision);
        mean.copy_from_slice(&linear);
        for answer in answers {
            let zz = moments.row(answer.item);
            let second: f64 = zz.iter().zip(&xx).map(|(z, x)| z * x).sum();
            let c = second.max(0.0).sqrt();
            let w = answer.weight * c.omega((-c).exp());
            for (q, s) in precision.iter_mut().enumerate() {
                *s += w * zz[q];
            }
            for (j, m) in mean.iter_mut().enumerate() {
                *m += w * zz[inner + j];
            }
        }
        packed::cholesky(&mut precision, d);
        packed::solve(&precision, d, &mut mean);
        packed::invert(&mut precision, d);
        let moved = (theta.mean.iter().zip(&mean)).fold(0.0f64, |a, (t, m)| a.max((m - t).abs()));
        theta.mean.copy_from_slice(&mean);
        theta.cov.copy_from_slice(&precision);
        if moved < TEMPERED_TOLERANCE {
            break;
        }
    }
    theta.refresh_log_det();
    theta
}
