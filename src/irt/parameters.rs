//! Item parameters with their posterior, the prior, and the conventions of published intercepts.

use super::moments::{Gaussians, doubled, extended_moments};
use super::{packed, sigmoid};

/// How a published model's numbers make a logit. Internally every model is a . theta - b; a file keeps the name of its
/// convention, since the reference clips each dimension's term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// a . theta - b (ours).
    Logit,
    /// sum over d of clip(a_d theta_d - b, -30, 30): the scalar b is subtracted D times (tinyBenchmarks and its fork of
    /// py-irt).
    RepeatedIntercept,
    /// sum over d of a_d (theta_d - b_d) (upstream py-irt; its vague priors keep a > 0, its hierarchical ones do not).
    Centred,
}

impl Convention {
    /// `logit` (ours), `fork` or `upstream` (of py-irt).
    pub fn name(self) -> &'static str {
        match self {
            Self::Logit => "logit",
            Self::RepeatedIntercept => "fork",
            Self::Centred => "upstream",
        }
    }
}

/// Where the reference clips each dimension's term.
const CLIP: f64 = 30.0;

/// Parameters of N items: Gaussian posteriors of z = (a_1 .. a_D, b), in the convention a . theta - b.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ItemParameters {
    posterior: Gaussians,
    convention: Convention,
}

impl ItemParameters {
    /// Posteriors of z = (a, b), D + 1 numbers an item, of a model a . theta - b.
    pub fn new(posterior: Gaussians) -> Self {
        Self {
            posterior,
            convention: Convention::Logit,
        }
    }

    /// Point parameters as published: `a` is N x D, `b` is N x 1 for [`Convention::Logit`] and
    /// [`Convention::RepeatedIntercept`], N x D for [`Convention::Centred`]; both row by row.
    ///
    /// # Panics
    /// When the lengths do not fit together.
    pub fn published(convention: Convention, dims: usize, a: &[f64], b: &[f64]) -> Self {
        let n = a.len() / dims;
        let b_dims = if convention == Convention::Centred {
            dims
        } else {
            1
        };
        assert!(a.len() == n * dims && b.len() == n * b_dims);
        let mut mean = Vec::with_capacity(n * (dims + 1));
        for (a, b) in a.chunks_exact(dims).zip(b.chunks_exact(b_dims)) {
            mean.extend_from_slice(a);
            mean.push(match convention {
                Convention::Logit => b[0],
                Convention::RepeatedIntercept => dims as f64 * b[0],
                Convention::Centred => a.iter().zip(b).map(|(a, b)| a * b).sum(),
            });
        }
        Self {
            posterior: Gaussians::points(dims + 1, mean),
            convention,
        }
    }

    /// Posteriors as they were stored, with the convention of their origin.
    pub(crate) fn stored(posterior: Gaussians, convention: Convention) -> Self {
        Self {
            posterior,
            convention,
        }
    }

    /// b of every item in `convention`, D or 1 numbers each as for [`Self::published`]. For [`Convention::Centred`] the
    /// shortest of the b_d that give the intercept: a_d b / |a|^2; not finite where a is 0 and b is not.
    pub fn difficulties(&self, convention: Convention) -> Vec<Vec<f64>> {
        (0..self.len())
            .map(|i| {
                let (a, b) = (self.discrimination(i), self.intercept(i));
                match convention {
                    Convention::Logit => vec![b],
                    Convention::RepeatedIntercept => vec![b / a.len() as f64],
                    Convention::Centred if b == 0.0 => vec![0.0; a.len()],
                    Convention::Centred => {
                        // Scaled by the largest, so that small numbers do not vanish in the squares.
                        let most = a.iter().fold(0.0f64, |m, a| m.max(a.abs()));
                        let square: f64 = a.iter().map(|a| (a / most).powi(2)).sum();
                        a.iter().map(|a| a / most * (b / most / square)).collect()
                    }
                }
            })
            .collect()
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.posterior.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.posterior.is_empty()
    }

    /// D.
    pub fn dims(&self) -> usize {
        self.posterior.dims() - 1
    }

    /// The convention of their origin.
    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// Posterior of (a, b) of every item.
    pub fn posterior(&self) -> &Gaussians {
        &self.posterior
    }

    /// Posterior mean of a, D numbers.
    pub fn discrimination(&self, item: usize) -> &[f64] {
        let m = self.posterior.mean(item);
        &m[..m.len() - 1]
    }

    /// Posterior mean of b, the intercept.
    pub fn intercept(&self, item: usize) -> f64 {
        let m = self.posterior.mean(item);
        m[m.len() - 1]
    }

    /// The items `rows`, in that order.
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            posterior: self.posterior.select(rows),
            convention: self.convention,
        }
    }

    /// Several sets of items as one, where they agree in dimensions and convention; `None` for none at all.
    pub(crate) fn concat(sets: &[Self]) -> Option<Self> {
        let first = sets.first()?;
        let k = first.posterior.dims();
        Some(Self {
            posterior: Gaussians::concat(k, sets.iter().map(|s| &s.posterior)),
            convention: first.convention,
        })
    }

    /// The logit of the posterior means at a point, with the clipping of the item's convention; and its derivative with
    /// respect to each ability, into `slope` where given.
    pub(crate) fn logit(&self, item: usize, theta: &[f64], slope: Option<&mut [f64]>) -> f64 {
        let (a, b) = (self.discrimination(item), self.intercept(item));
        if self.convention != Convention::RepeatedIntercept {
            if let Some(slope) = slope {
                slope.copy_from_slice(a);
            }
            return a.iter().zip(theta).map(|(a, t)| a * t).sum::<f64>() - b;
        }
        let share = b / a.len() as f64;
        let terms = a.iter().zip(theta).map(|(a, t)| a * t - share);
        if let Some(slope) = slope {
            for ((s, term), a) in slope.iter_mut().zip(terms.clone()).zip(a) {
                *s = if term.abs() < CLIP { *a } else { 0.0 };
            }
        }
        terms.map(|t| t.clamp(-CLIP, CLIP)).sum()
    }

    /// Probability of a right answer of each item at the point `theta`, from the posterior means: the reference's.
    pub fn probabilities_at(&self, theta: &[f64]) -> Vec<f64> {
        (0..self.len())
            .map(|i| sigmoid(self.logit(i, theta, None)))
            .collect()
    }

    /// Probability of a right answer of each item for an ability with posterior `theta` (vector `row` of it):
    /// sigmoid(mu / sqrt(1 + pi/8 var)), mu and var those of z . x under both posteriors (MacKay's approximation).
    pub fn probabilities(&self, theta: &Gaussians, row: usize) -> Vec<f64> {
        let d = self.dims();
        let x = doubled(extended_moments(&theta.select(&[row])), d + 1);
        let m = theta.mean(row);
        (0..self.len())
            .map(|i| {
                let (z, c) = (self.posterior.mean(i), self.posterior.cov(i));
                let mu = z[..d].iter().zip(m).map(|(a, t)| a * t).sum::<f64>() - z[d];
                let mut second = 0.0;
                for a in 0..=d {
                    for b in 0..=a {
                        let q = packed::at(a, b);
                        second += (c[q] + z[a] * z[b]) * x[(0, q)];
                    }
                }
                let var = (second - mu * mu).max(0.0);
                sigmoid(mu / (1.0 + std::f64::consts::PI / 8.0 * var).sqrt())
            })
            .collect()
    }
}

/// A Gaussian prior N(mu, Lambda^-1).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Prior {
    /// mu.
    pub mean: Vec<f64>,
    /// Lambda, a packed lower triangle.
    pub precision: Vec<f64>,
}

impl Prior {
    /// N(0, I).
    pub fn standard(k: usize) -> Self {
        let mut precision = vec![0.0; packed::len(k)];
        (0..k).for_each(|i| precision[packed::at(i, i)] = 1.0);
        Self {
            mean: vec![0.0; k],
            precision,
        }
    }

    /// Length of the vectors.
    pub fn dims(&self) -> usize {
        self.mean.len()
    }

    /// Lambda mu.
    pub(crate) fn shift(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.dims()];
        packed::times(&self.precision, &self.mean, &mut out);
        out
    }

    /// Covariance, packed.
    pub(crate) fn covariance(&self) -> Vec<f64> {
        let mut out = self.precision.clone();
        packed::cholesky(&mut out, self.dims());
        packed::invert(&mut out, self.dims());
        out
    }

    /// From a mean and a packed covariance.
    pub(crate) fn from_covariance(mean: Vec<f64>, mut covariance: Vec<f64>) -> Self {
        let k = mean.len();
        packed::cholesky(&mut covariance, k);
        packed::invert(&mut covariance, k);
        Self {
            mean,
            precision: covariance,
        }
    }

    /// Empirical Bayes: mu the mean of the means, Lambda = diag(1 / max(mean of diag S + variance of the means, 1e-3)),
    /// which maximises the evidence bound given the posteriors.
    pub(crate) fn empirical(posteriors: &Gaussians) -> Self {
        let (n, k) = (posteriors.len() as f64, posteriors.dims());
        let mut prior = Self::standard(k);
        for i in 0..posteriors.len() {
            for (mu, m) in prior.mean.iter_mut().zip(posteriors.mean(i)) {
                *mu += m / n;
            }
        }
        let mut spread = vec![0.0; k];
        for i in 0..posteriors.len() {
            let cov = posteriors.cov(i);
            for (j, (m, mu)) in posteriors.mean(i).iter().zip(&prior.mean).enumerate() {
                spread[j] += cov[packed::at(j, j)] + (m - mu).powi(2);
            }
        }
        for (j, spread) in spread.iter().enumerate() {
            prior.precision[packed::at(j, j)] = 1.0 / (spread / n).max(1e-3);
        }
        prior
    }

    /// KL(q || p) of posteriors from this prior.
    pub(crate) fn divergence(&self) -> Divergence<'_> {
        Divergence {
            prior: self,
            log_det: packed::cholesky(&mut self.precision.clone(), self.dims()),
        }
    }
}

/// Kullback-Leibler divergences of Gaussian posteriors from a prior, KL(q || p), in nats.
pub(crate) struct Divergence<'a> {
    prior: &'a Prior,
    /// Of its precision.
    log_det: f64,
}

impl Divergence<'_> {
    /// That of N(mean, cov) with the packed covariance's log determinant.
    pub(crate) fn of(&self, mean: &[f64], cov: &[f64], log_det: f64) -> f64 {
        let Prior {
            mean: mu,
            precision,
        } = self.prior;
        let k = mu.len();
        let mut distance = 0.0;
        for i in 0..k {
            let row = &precision[packed::len(i)..packed::len(i) + i + 1];
            let mut dot = 0.0;
            for p in 0..i {
                dot += row[p] * (mean[p] - mu[p]);
            }
            let d = mean[i] - mu[i];
            distance += d * (2.0 * dot + row[i] * d);
        }
        let trace = packed::trace_of_product(precision, cov, k);
        (trace + distance - k as f64 - self.log_det - log_det) / 2.0
    }

    /// The sum of those of all.
    pub(crate) fn sum(&self, posteriors: &Gaussians) -> f64 {
        (0..posteriors.len())
            .map(|i| self.of(posteriors.mean(i), posteriors.cov(i), posteriors.log_det[i]))
            .sum()
    }
}
