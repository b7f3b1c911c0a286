//! The half-sweeps of the variational fit: all items given the abilities, all abilities given the items.
//!
//! Both walk the response matrix in tiles and are matrix products on packed second moments:
//! c^2 = E\[xx'\] . E\[zz'\]; weights omega = tanh(c/2) / (2c); precisions = Lambda + sum of omega times the other
//! side's second moments. Every output row is summed by one thread in a fixed order, so the result does not depend on the
//! number of threads.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

use super::moments::{Gaussians, doubled, extended_means, extended_moments};
use super::parameters::Prior;
use super::{packed, weigh};
use crate::data::Responses;

/// Items a tile; with `MODELS` rows the two tiles of numbers stay in the second-level cache.
const ITEMS: usize = 256;
const _: () = assert!(ITEMS <= weigh::LONGEST);
/// Models a tile in the item half.
const MODELS: usize = 128;
/// Models a task in the ability half: small, so that two threads share a few hundred models evenly.
const ABILITIES: usize = 32;

/// Working memory of one thread.
struct Tile {
    c: Array2<f64>,
    y: Array2<f64>,
    precision: Array2<f64>,
    linear: Array2<f64>,
}

impl Tile {
    fn new(models: usize, outputs: usize, k: usize) -> Self {
        Self {
            c: Array2::zeros((models, ITEMS)),
            y: Array2::zeros((models, ITEMS)),
            precision: Array2::zeros((outputs, packed::len(k))),
            linear: Array2::zeros((outputs, k)),
        }
    }
}

/// Updates q(z) of every item and returns the evidence bound's data term, sum over observed entries of
/// (y - 1/2) m . E\[x\] - c/2 - log(1 + e^-c), at the posteriors *before* the update.
pub(super) fn items(y: &Responses<'_>, theta: &Gaussians, z: &mut Gaussians, prior: &Prior) -> f64 {
    let k = z.dims();
    let p = packed::len(k);
    let x = extended_means(theta);
    let xx = extended_moments(theta);
    let zz = doubled(z.second_moments(), k);
    let shift = prior.shift();
    let (n_models, n_items) = (y.n_models(), y.n_items());
    let terms: Vec<f64> = z
        .mean
        .par_chunks_mut(ITEMS * k)
        .zip(z.cov.par_chunks_mut(ITEMS * p))
        .zip(z.log_det.par_chunks_mut(ITEMS))
        .enumerate()
        .map_init(
            || Tile::new(MODELS.min(n_models), ITEMS.min(n_items), k),
            |tile, (t, ((mean, cov), log_det))| {
                let (from, n) = (t * ITEMS, log_det.len());
                let mut term = 0.0;
                tile.precision.fill(0.0);
                tile.linear.fill(0.0);
                for first in (0..n_models).step_by(MODELS) {
                    let rows = first..(first + MODELS).min(n_models);
                    let mut c = tile.c.slice_mut(s![..rows.len(), ..n]);
                    let mut kappa = tile.y.slice_mut(s![..rows.len(), ..n]);
                    let xx = xx.slice(s![rows.clone(), ..]);
                    let zz = zz.slice(s![from..from + n, ..]);
                    general_mat_mul(1.0, &xx, &zz.t(), 0.0, &mut c);
                    term += weigh(y, rows.start, from, c.view_mut(), kappa.view_mut());
                    let mut precision = tile.precision.slice_mut(s![..n, ..]);
                    general_mat_mul(1.0, &c.t(), &xx, 1.0, &mut precision);
                    let mut linear = tile.linear.slice_mut(s![..n, ..]);
                    general_mat_mul(1.0, &kappa.t(), &x.slice(s![rows, ..]), 1.0, &mut linear);
                }
                for i in 0..n {
                    let linear = tile.linear.row(i);
                    let m = &mut mean[i * k..(i + 1) * k];
                    term += m.iter().zip(linear).map(|(m, h)| m * h).sum::<f64>();
                    let cov = &mut cov[i * p..(i + 1) * p];
                    for (q, s) in cov.iter_mut().enumerate() {
                        *s = prior.precision[q] + tile.precision[(i, q)];
                    }
                    for (j, m) in m.iter_mut().enumerate() {
                        *m = shift[j] + linear[j];
                    }
                    log_det[i] = update(cov, m);
                }
                term
            },
        )
        .collect();
    terms.iter().sum()
}

/// Updates q(theta) of every model; returns the largest move of any ability.
pub(super) fn abilities(
    y: &Responses<'_>,
    theta: &mut Gaussians,
    z: &Gaussians,
    prior: &Prior,
) -> f64 {
    let (d, k) = (theta.dims(), z.dims());
    let (p, inner) = (packed::len(k), packed::len(d));
    let xx = doubled(extended_moments(theta), k);
    let zz = z.second_moments();
    let a = z.means();
    let shift = prior.shift();
    let n_items = y.n_items();
    let moves: Vec<f64> = theta
        .mean
        .par_chunks_mut(ABILITIES * d)
        .zip(theta.cov.par_chunks_mut(ABILITIES * inner))
        .zip(theta.log_det.par_chunks_mut(ABILITIES))
        .enumerate()
        .map_init(
            || Tile::new(ABILITIES, ABILITIES, k),
            |tile, (t, ((mean, cov), log_det))| {
                let (from, n) = (t * ABILITIES, log_det.len());
                let xx = xx.slice(s![from..from + n, ..]);
                tile.precision.fill(0.0);
                tile.linear.fill(0.0);
                for first in (0..n_items).step_by(ITEMS) {
                    let columns = first..(first + ITEMS).min(n_items);
                    let mut c = tile.c.slice_mut(s![..n, ..columns.len()]);
                    let mut kappa = tile.y.slice_mut(s![..n, ..columns.len()]);
                    let zz = zz.slice(s![columns.clone(), ..]);
                    general_mat_mul(1.0, &xx, &zz.t(), 0.0, &mut c);
                    weigh(y, from, first, c.view_mut(), kappa.view_mut());
                    let mut precision = tile.precision.slice_mut(s![..n, ..]);
                    general_mat_mul(1.0, &c, &zz, 1.0, &mut precision);
                    let a: ArrayView2<'_, f64> = a.slice(s![columns, ..]);
                    let mut linear = tile.linear.slice_mut(s![..n, ..]);
                    general_mat_mul(1.0, &kappa, &a, 1.0, &mut linear);
                }
                let mut largest = 0.0f64;
                let mut updated = vec![0.0; d];
                for l in 0..n {
                    let (precision, linear) = (tile.precision.row(l), tile.linear.row(l));
                    let cov = &mut cov[l * inner..(l + 1) * inner];
                    for (q, s) in cov.iter_mut().enumerate() {
                        *s = prior.precision[q] + precision[q];
                    }
                    // Behind the packed block of a stand the products a b: E[a b] weighted by omega.
                    for (j, m) in updated.iter_mut().enumerate() {
                        *m = shift[j] + linear[j] + precision[inner + j];
                    }
                    log_det[l] = update(cov, &mut updated);
                    for (m, new) in mean[l * d..(l + 1) * d].iter_mut().zip(&updated) {
                        largest = largest.max((new - *m).abs());
                        *m = *new;
                    }
                }
                largest
            },
        )
        .collect();
    debug_assert_eq!(p, inner + k);
    moves.iter().fold(0.0, |a, &b| a.max(b))
}

/// From precision and right-hand side to covariance and mean, in place; returns log det S.
fn update(precision: &mut [f64], rhs: &mut [f64]) -> f64 {
    let k = rhs.len();
    let log_det = packed::cholesky(precision, k);
    packed::solve(precision, k, rhs);
    packed::invert(precision, k);
    -log_det
}

/// Turns c^2 into omega and loads kappa = y - 1/2, both 0 where the response is missing. Returns the sum over observed
/// entries of -c/2 - log(1 + e^-c).
fn weigh(
    y: &Responses<'_>,
    model: usize,
    item: usize,
    mut c: ArrayViewMut2<'_, f64>,
    mut kappa: ArrayViewMut2<'_, f64>,
) -> f64 {
    let mut sum = 0.0;
    for (l, (mut c, mut kappa)) in c.outer_iter_mut().zip(kappa.outer_iter_mut()).enumerate() {
        // Rows of a tile are contiguous; the slices are never absent.
        let (Some(c), Some(kappa)) = (c.as_slice_mut(), kappa.as_slice_mut()) else {
            continue;
        };
        y.gather(model + l, item, kappa);
        sum += weigh::row(c, kappa);
    }
    sum
}
