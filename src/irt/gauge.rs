//! The scale, origin and rotation of the latent space, which the likelihood leaves free.
//!
//! After a fit the abilities are shifted and whitened (mean 0, mean S + scatter of the means = I) and rotated to the
//! principal axes of the discriminations, largest first, each oriented so that the mean of a is positive. Items,
//! covariances and priors follow, so that every probability stays what it was.

use nalgebra::{DMatrix, SymmetricEigen};
use ndarray::{Array1, Array2};

use super::moments::Gaussians;
use super::packed;
use super::parameters::Prior;

/// theta' = W (theta - m), and for z = (a, b): z' = T z with a' = W^-T a, b' = b - a . m.
struct Gauge {
    d: usize,
    shift: Vec<f64>,
    /// W, row-major.
    theta: Vec<f64>,
    /// T, row-major, (D + 1) x (D + 1).
    item: Vec<f64>,
}

/// Brings abilities, items and their priors into the canonical gauge, in place.
pub(super) fn canonical(
    theta: &mut Gaussians,
    z: &mut Gaussians,
    prior_theta: &mut Prior,
    prior_z: &mut Prior,
) {
    let gauge = Gauge::of(theta, z);
    let d = gauge.d;
    for t in theta.mean.chunks_exact_mut(d) {
        let moved: Vec<f64> = t.iter().zip(&gauge.shift).map(|(t, m)| t - m).collect();
        product(&gauge.theta, &moved, t);
    }
    congruent(&gauge.theta, theta);
    for z in z.mean.chunks_exact_mut(d + 1) {
        let old = z.to_vec();
        product(&gauge.item, &old, z);
    }
    congruent(&gauge.item, z);
    let moved: Vec<f64> = prior_theta
        .mean
        .iter()
        .zip(&gauge.shift)
        .map(|(t, m)| t - m)
        .collect();
    transform_prior(prior_theta, &gauge.theta, &moved);
    let mean = prior_z.mean.clone();
    transform_prior(prior_z, &gauge.item, &mean);
}

impl Gauge {
    fn of(theta: &Gaussians, z: &Gaussians) -> Self {
        let (n, d) = (theta.len() as f64, theta.dims());
        let mut shift = vec![0.0; d];
        for l in 0..theta.len() {
            for (s, t) in shift.iter_mut().zip(theta.mean(l)) {
                *s += t / n;
            }
        }
        let spread = DMatrix::from_fn(d, d, |i, j| {
            (0..theta.len())
                .map(|l| {
                    let m = theta.mean(l);
                    theta.cov(l)[packed::at(i, j)] + (m[i] - shift[i]) * (m[j] - shift[j])
                })
                .sum::<f64>()
                / n
        });
        // spread = V E V'; whitening W = E^-1/2 V', its inverse transpose E^1/2 V'.
        let eigen = SymmetricEigen::new(spread);
        let roots: Vec<f64> = eigen
            .eigenvalues
            .iter()
            .map(|v| v.max(1e-12).sqrt())
            .collect();
        let whiten = DMatrix::from_fn(d, d, |i, j| eigen.eigenvectors[(j, i)] / roots[i]);
        let inverse_t = DMatrix::from_fn(d, d, |i, j| eigen.eigenvectors[(j, i)] * roots[i]);
        let a: Vec<_> = (0..z.len())
            .map(|i| &inverse_t * nalgebra::DVector::from_column_slice(&z.mean(i)[..d]))
            .collect();
        let mut second = DMatrix::zeros(d, d);
        let mut mean = nalgebra::DVector::zeros(d);
        for a in &a {
            second += a * a.transpose();
            mean += a;
        }
        let axes = SymmetricEigen::new(second);
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&i, &j| axes.eigenvalues[j].total_cmp(&axes.eigenvalues[i]));
        let rotation = DMatrix::from_fn(d, d, |i, j| {
            let axis = axes.eigenvectors.column(order[i]);
            let sign = if axis.dot(&mean) < 0.0 { -1.0 } else { 1.0 };
            sign * axis[j]
        });
        let w = &rotation * whiten;
        let w_inverse_t = &rotation * inverse_t;
        let k = d + 1;
        let mut item = vec![0.0; k * k];
        for i in 0..d {
            for j in 0..d {
                item[i * k + j] = w_inverse_t[(i, j)];
            }
            item[d * k + i] = -shift[i];
        }
        item[k * k - 1] = 1.0;
        Self {
            d,
            shift,
            theta: (0..d * d).map(|q| w[(q / d, q % d)]).collect(),
            item,
        }
    }
}

fn product(m: &[f64], x: &[f64], out: &mut [f64]) {
    for (o, row) in out.iter_mut().zip(m.chunks_exact(x.len())) {
        *o = row.iter().zip(x).map(|(a, b)| a * b).sum();
    }
}

fn congruent(t: &[f64], gaussians: &mut Gaussians) {
    let k = gaussians.dims();
    for c in gaussians.cov.chunks_exact_mut(packed::len(k)) {
        let moved = packed::congruence(t, c, k);
        c.copy_from_slice(&moved);
    }
    gaussians.refresh_log_det();
}

fn transform_prior(prior: &mut Prior, t: &[f64], mean: &[f64]) {
    let mut moved = vec![0.0; mean.len()];
    product(t, mean, &mut moved);
    let covariance = packed::congruence(t, &prior.covariance(), mean.len());
    *prior = Prior::from_covariance(moved, covariance);
}

/// The first `count` principal components of the rows of `points`: scores (n x count) and the share of variance of each.
/// Each component is oriented so that its largest loading is positive. Fewer columns than components leave zeros.
pub fn principal_components(points: &Array2<f64>, count: usize) -> (Array2<f64>, Vec<f64>) {
    let (n, k) = points.dim();
    let mean = points
        .mean_axis(ndarray::Axis(0))
        .unwrap_or_else(|| Array1::zeros(k));
    let centred = points - &mean;
    let cov = centred.t().dot(&centred);
    let eigen = SymmetricEigen::new(DMatrix::from_fn(k, k, |i, j| cov[(i, j)]));
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    let total: f64 = eigen.eigenvalues.iter().map(|v| v.max(0.0)).sum();
    let mut scores = Array2::zeros((n, count));
    let mut shares = vec![0.0; count];
    for (c, &k) in order.iter().take(count).enumerate() {
        let axis = eigen.eigenvectors.column(k);
        let largest = axis
            .iter()
            .copied()
            .fold(0.0f64, |a, b| if b.abs() > a.abs() { b } else { a });
        let sign = if largest < 0.0 { -1.0 } else { 1.0 };
        let axis = Array1::from_iter(axis.iter().map(|v| v * sign));
        scores.column_mut(c).assign(&centred.dot(&axis));
        if total > 0.0 {
            shares[c] = eigen.eigenvalues[k].max(0.0) / total;
        }
    }
    (scores, shares)
}
