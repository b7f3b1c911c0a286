//! Where a fit starts: abilities from the leading left singular vectors of the standardised residuals.

use nalgebra::{DMatrix, SymmetricEigen};
use ndarray::{Array2, s};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::centred::Centred;
use super::weigh::Weighed;
use crate::random::{Stream, rng};

/// Directions beyond those asked for, which make the iteration converge fast.
const OVERSAMPLING: usize = 8;
/// Rounds of subspace iteration; a start needs no more.
const ROUNDS: usize = 12;
const TILE: usize = 512;

/// sqrt(L) times the leading `dims` left singular vectors of the residuals (y - p) / sqrt(p (1 - p)), p the item mean
/// clipped to .02-.98, 0 where missing: L x `dims`, by subspace iteration from a fixed seed. Fewer models than dimensions
/// leave the last columns 0.
pub(super) fn abilities<T: Weighed>(y: &Centred<T>, means: &[f64], dims: usize) -> Array2<f64> {
    let l = y.n_models();
    let q = (dims + OVERSAMPLING).min(l);
    let scales: Vec<(T, T)> = means
        .iter()
        .map(|p| {
            let p = p.clamp(0.02, 0.98);
            (T::of(p - 0.5), T::of(1.0 / (p * (1.0 - p)).sqrt()))
        })
        .collect();
    let mut random = rng(0, Stream::FitStart);
    let mut basis = Array2::from_shape_simple_fn((l, q), || StandardNormal.sample(&mut random));
    orthonormalise(&mut basis);
    for _ in 0..ROUNDS {
        basis = gram_times(y, &scales, &basis);
        orthonormalise(&mut basis);
    }
    // Rayleigh-Ritz: rotate the basis to the singular vectors within it.
    let image = gram_times(y, &scales, &basis);
    let small = basis.t().dot(&image);
    let eigen = SymmetricEigen::new(DMatrix::from_fn(q, q, |i, j| {
        0.5 * (small[(i, j)] + small[(j, i)])
    }));
    let mut order: Vec<usize> = (0..q).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    let scale = (l as f64).sqrt();
    let mut theta = Array2::zeros((l, dims));
    for (column, &k) in order.iter().take(dims).enumerate() {
        for row in 0..l {
            theta[(row, column)] = scale
                * (0..q)
                    .map(|j| basis[(row, j)] * eigen.eigenvectors[(j, k)])
                    .sum::<f64>();
        }
    }
    theta
}

/// R R' Q, tile by tile, summed in a fixed order; R from y - 1/2 by the shift and the scale of each item.
fn gram_times<T: Weighed>(y: &Centred<T>, scales: &[(T, T)], basis: &Array2<f64>) -> Array2<f64> {
    let (l, n) = (y.n_models(), y.n_items());
    let tiles: Vec<usize> = (0..n).step_by(TILE).collect();
    let basis = basis.mapv(T::of);
    let mut sum = Array2::zeros(basis.dim());
    // A few tiles at a time, so that memory does not grow with the number of items.
    for some in tiles.chunks(16) {
        let parts: Vec<Array2<T>> = some
            .par_iter()
            .map(|&from| {
                let to = (from + TILE).min(n);
                let mut r = Array2::zeros((l, to - from));
                for (row, mut out) in r.outer_iter_mut().enumerate() {
                    if let Some(out) = out.as_slice_mut() {
                        y.load(row, from, out);
                        for (r, &(shift, scale)) in out.iter_mut().zip(&scales[from..to]) {
                            *r = if r.is_nan() {
                                T::zero()
                            } else {
                                (*r - shift) * scale
                            };
                        }
                    }
                }
                r.dot(&r.t().dot(&basis))
            })
            .collect();
        for part in parts {
            sum.zip_mut_with(&part, |sum: &mut f64, part| *sum += part.wide());
        }
    }
    sum
}

/// Gram-Schmidt, twice for accuracy; directions that vanish become 0.
fn orthonormalise(basis: &mut Array2<f64>) {
    for j in 0..basis.ncols() {
        let before = basis.column(j).dot(&basis.column(j)).sqrt();
        for _ in 0..2 {
            for i in 0..j {
                let (left, mut right) = basis.multi_slice_mut((s![.., i], s![.., j]));
                let dot = left.dot(&right);
                right.scaled_add(-dot, &left);
            }
        }
        let norm = basis.column(j).dot(&basis.column(j)).sqrt();
        let scale = if norm > before * 1e-10 && norm > 0.0 {
            1.0 / norm
        } else {
            0.0
        };
        basis.column_mut(j).mapv_inplace(|x| x * scale);
    }
}
