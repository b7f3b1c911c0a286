//! What a fit leaves: factors, dispersion of scores, effects of sub-scenarios, relatives.

use nalgebra::{DMatrix, SymmetricEigen};
use ndarray::Array2;
use rand::RngExt;
use rayon::prelude::*;

use super::family::PairSums;
use crate::data::SubScenario;
use crate::random::{Stream, rng};

/// At most so many factors.
const FACTORS: usize = 10;
/// Sign flips whose largest singular values are averaged.
const FLIPS: usize = 3;
/// A probability with its factors stays this far from 0 and 1.
pub(super) const MARGIN: f64 = 0.002;

/// Scores and fitted probabilities of some models on some items.
#[derive(Debug, Clone)]
pub(super) struct Residuals {
    /// Fitted probabilities, models x items.
    pub(super) p: Array2<f64>,
    /// Score minus probability; 0 where the score is missing.
    pub(super) r: Array2<f64>,
    /// p (1 - p); 0 where the score is missing.
    pub(super) v: Array2<f64>,
}

/// Factors of residuals: model scores (models x k, scaled) and item loadings (items x k).
#[derive(Debug, Clone)]
pub(super) struct Factors {
    pub(super) models: Array2<f64>,
    pub(super) items: Array2<f64>,
}

impl Residuals {
    /// Of scores `y` (NaN missing) under probabilities `p`, both models x items.
    pub(super) fn new(y: &Array2<f64>, p: Array2<f64>) -> Self {
        let mut r = y - &p;
        r.mapv_inplace(|r| if r.is_nan() { 0.0 } else { r });
        let mut v = p.mapv(|p| p * (1.0 - p));
        v.zip_mut_with(y, |v, y| {
            if y.is_nan() {
                *v = 0.0;
            }
        });
        Self { p, r, v }
    }

    /// Factors that stand out of noise, by parallel analysis with random signs (Hong, Sheng, Dobriban 2020): those whose
    /// singular value is above the largest one of the same residuals with every sign drawn anew; of each the part above
    /// that is kept. Signs are drawn twice, the second time without the factors found first, which are no noise.
    pub(super) fn factors(&self, part: usize) -> Factors {
        let (l, n) = self.r.dim();
        let mut random = rng(0, Stream::Simulate(part));
        let eigen = SymmetricEigen::new(gram(&self.r));
        let mut order: Vec<usize> = (0..l).collect();
        order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
        order.truncate(FACTORS);
        let axis =
            |k: usize| ndarray::Array1::from_iter(eigen.eigenvectors.column(k).iter().copied());
        let above = |edge: f64| -> Vec<usize> {
            let over = |k: &usize| eigen.eigenvalues[*k] > edge * edge * (1.0 + 1e-9);
            order.iter().copied().filter(over).collect()
        };
        let first = noise_edge(&self.r, &mut random);
        let mut rest = self.r.clone();
        for k in above(first) {
            let u = axis(k);
            let v = self.r.t().dot(&u);
            for (mut row, u) in rest.rows_mut().into_iter().zip(&u) {
                row.scaled_add(-u, &v);
            }
        }
        let edge = noise_edge(&rest, &mut random);
        let found = above(edge);
        let mut models = Array2::zeros((l, found.len()));
        let mut items = Array2::zeros((n, found.len()));
        for (k, &from) in found.iter().enumerate() {
            let squared = eigen.eigenvalues[from];
            let u = axis(from);
            items
                .column_mut(k)
                .assign(&(self.r.t().dot(&u) / squared.sqrt()));
            models
                .column_mut(k)
                .assign(&(u * (squared - edge * edge).sqrt()));
        }
        Factors { models, items }
    }

    /// The same scores under probabilities with the factors added.
    pub(super) fn beside(&self, y: &Array2<f64>, factors: &Factors) -> Self {
        let mut p = factors.models.dot(&factors.items.t());
        p += &self.p;
        p.mapv_inplace(|p| p.clamp(MARGIN, 1.0 - MARGIN));
        Self::new(y, p)
    }

    /// Var(score) / p (1 - p), overall and for each item (towards the whole where an item tells little); models whose score
    /// never changes tell nothing.
    pub(super) fn dispersion(&self, y: &Array2<f64>) -> (f64, Vec<f64>) {
        let n = self.r.ncols();
        let (mut r2, mut v) = (vec![0.0; n], vec![0.0; n]);
        let mut cells = 0usize;
        for (l, scores) in y.rows().into_iter().enumerate() {
            let known = || scores.iter().filter(|y| !y.is_nan());
            if known().all(|&y| Some(&y) == known().next()) {
                continue;
            }
            cells += known().count();
            for i in 0..n {
                r2[i] += self.r[(l, i)].powi(2);
                v[i] += self.v[(l, i)];
            }
        }
        let (sum_r2, sum_v): (f64, f64) = (r2.iter().sum(), v.iter().sum());
        let overall = (sum_r2 / sum_v.max(1e-9)).clamp(0.02, 0.98);
        let one_cell = sum_v / cells.max(1) as f64;
        let items = r2
            .iter()
            .zip(&v)
            .map(|(r2, v)| {
                ((r2 + overall * one_cell) / (v + one_cell).max(1e-12)).clamp(0.02, 0.98)
            })
            .collect();
        (overall, items)
    }

    /// Standard deviation (of the logit) of the effects of model and sub-scenario: what the sums of residuals vary beyond
    /// their noise. 0 with a single sub-scenario.
    pub(super) fn effect(&self, subscenarios: &[SubScenario], dispersion: f64) -> f64 {
        if subscenarios.len() < 2 {
            return 0.0;
        }
        let variance: f64 = subscenarios
            .iter()
            .map(|sub| {
                let (mut excess, mut scale) = (0.0, 0.0);
                for l in 0..self.r.nrows() {
                    let sum =
                        |m: &Array2<f64>| -> f64 { sub.items.clone().map(|i| m[(l, i)]).sum() };
                    let v = sum(&self.v);
                    excess += sum(&self.r).powi(2) - dispersion * v;
                    scale += v * v;
                }
                (excess / f64::max(scale, 1e-9)).max(0.0)
            })
            .sum();
        (variance / subscenarios.len() as f64).sqrt()
    }

    /// Adds what pairs of models have in common to `sums`; `rows` says which models these are there.
    pub(super) fn add_pairs(&self, rows: &[usize], dispersion: &[f64], sums: &mut PairSums) {
        let l = self.r.nrows();
        let found: Vec<Vec<[f64; 3]>> = (0..l)
            .into_par_iter()
            .map(|i| {
                (i + 1..l)
                    .map(|j| {
                        let mut out = [0.0; 3];
                        for k in 0..self.r.ncols() {
                            let (v, w, d) = (self.v[(i, k)], self.v[(j, k)], dispersion[k]);
                            if v > 0.0 && w > 0.0 {
                                let (p, q) = (self.p[(i, k)], self.p[(j, k)]);
                                out[0] += self.r[(i, k)] * self.r[(j, k)];
                                out[1] += d * (p.min(q) - p * q);
                                out[2] += d * d * v * w;
                            }
                        }
                        out
                    })
                    .collect()
            })
            .collect();
        for (i, row) in found.iter().enumerate() {
            for (j, &[covariance, bound, noise]) in (i + 1..).zip(row) {
                sums.add(rows[i], rows[j], covariance, bound, noise);
            }
        }
    }
}

/// The largest singular value of `r` with random signs, a mean over some draws.
fn noise_edge(r: &Array2<f64>, random: &mut impl RngExt) -> f64 {
    (0..FLIPS)
        .map(|_| {
            let flipped = r.mapv(|r| if random.random::<bool>() { r } else { -r });
            gram(&flipped).symmetric_eigenvalues().max().max(0.0).sqrt()
        })
        .sum::<f64>()
        / FLIPS as f64
}

/// R R'.
fn gram(r: &Array2<f64>) -> DMatrix<f64> {
    let g = r.dot(&r.t());
    DMatrix::from_fn(g.nrows(), g.ncols(), |i, j| g[(i, j)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, StandardNormal};

    fn noise(l: usize, n: usize, seed: u64) -> Array2<f64> {
        let mut random = rng(seed, Stream::Simulate(0));
        Array2::from_shape_fn((l, n), |_| {
            let z: f64 = StandardNormal.sample(&mut random);
            0.3 * z
        })
    }

    #[test]
    fn noise_has_no_factors_and_a_strong_one_is_found() {
        let half = Array2::from_elem((40, 300), 0.5);
        let plain = Residuals::new(&(noise(40, 300, 1) + 0.5), half.clone());
        assert!(plain.factors(0).models.ncols() <= 1);
        let mut y = noise(40, 300, 2) + 0.5;
        for l in 0..40 {
            for i in 0..300 {
                let (s, t) = (
                    if l % 2 == 0 { 1.0 } else { -1.0 },
                    if i % 3 == 0 { 1.0 } else { -0.5 },
                );
                y[(l, i)] += 0.2 * s * t;
            }
        }
        let with = Residuals::new(&y, half);
        let factors = with.factors(0);
        assert!(factors.models.ncols() >= 1);
        let product = factors.models[(0, 0)] * factors.items[(0, 0)];
        assert!((product - 0.2).abs() < 0.12, "{product}");
    }

    #[test]
    fn missing_scores_tell_nothing() {
        let mut y = Array2::from_elem((2, 3), 1.0);
        y[(0, 1)] = f64::NAN;
        let r = Residuals::new(&y, Array2::from_elem((2, 3), 0.5));
        assert_eq!((r.r[(0, 1)], r.v[(0, 1)]), (0.0, 0.0));
        assert_eq!((r.r[(0, 0)], r.v[(0, 0)]), (0.5, 0.25));
    }
}
