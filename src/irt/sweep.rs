//! The half-sweeps of the variational fit: all items given the abilities, all abilities given the items.
//!
//! Both walk the responses in tiles and are matrix products on packed second moments:
//! c^2 = E\[xx'\] . E\[zz'\]; weights omega = tanh(c/2) / (2c); precisions = Lambda + sum of omega times the other
//! side's second moments. The numbers of a tile may be single; its sums are added up in double precision, and everything
//! that is inverted is double. Every output row is summed by one thread in a fixed order, so the result does not depend on
//! the number of threads.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use super::centred::Centred;
use super::lane::{LANES, Lane, Number, solve};
use super::moments::{Gaussians, doubled, extended_means, extended_moments};
use super::packed;
use super::parameters::Prior;
use super::weigh::{self, Weighed};

/// Items a tile; with `MODELS` rows the two tiles of numbers stay in the second-level cache.
const ITEMS: usize = 256;
const _: () = assert!(ITEMS <= weigh::LONGEST);
/// Models a tile.
const MODELS: usize = 128;
/// In the ability half the items are divided into so many parts, each summed by one thread.
const PARTS: usize = 16;
/// Models a task where abilities are updated from their sums.
const ABILITIES: usize = 64;

/// The posteriors q(z) of the items with what sweeps read of them, in the numbers of their tiles.
pub(super) struct Items<T> {
    z: Gaussians,
    /// E\[z\], a row an item.
    means: Array2<T>,
    /// E\[zz'\] packed, a row an item.
    moments: Array2<T>,
}

impl<T: Weighed> Items<T> {
    pub(super) fn new(z: Gaussians) -> Self {
        let (n, k) = (z.len(), z.dims());
        let mut items = Self {
            means: Array2::zeros((n, k)),
            moments: Array2::zeros((n, packed::len(k))),
            z,
        };
        let z = &items.z;
        read(
            &z.mean,
            &z.cov,
            items.means.view_mut(),
            items.moments.view_mut(),
        );
        items
    }

    pub(super) fn posterior(&self) -> &Gaussians {
        &self.z
    }
}

/// Means and packed second moments of Gaussians given by means and covariances, in the numbers of a tile.
fn read<T: Weighed>(
    mean: &[f64],
    cov: &[f64],
    mut means: ArrayViewMut2<'_, T>,
    mut moments: ArrayViewMut2<'_, T>,
) {
    let (k, p) = (means.ncols(), moments.ncols());
    for (((m, c), mut means), mut moments) in (mean.chunks_exact(k))
        .zip(cov.chunks_exact(p))
        .zip(means.outer_iter_mut())
        .zip(moments.outer_iter_mut())
    {
        for (a, &ma) in m.iter().enumerate() {
            means[a] = T::of(ma);
            for (b, mb) in m[..=a].iter().enumerate() {
                let q = packed::at(a, b);
                moments[q] = T::of(c[q] + ma * mb);
            }
        }
    }
}

/// The numbers of a tile, from double precision.
fn cast<T: Weighed>(from: Array2<f64>) -> Array2<T> {
    from.mapv(T::of)
}

/// Working memory of one thread.
struct Tile<T> {
    /// c^2, then omega: models x items.
    c: Array2<T>,
    /// y - 1/2.
    kappa: Array2<T>,
    /// Products of this tile.
    precision: Array2<T>,
    linear: Array2<T>,
}

/// What the precisions and the linear terms of a half-sweep's outputs are summed up in.
struct Sums {
    precision: Array2<f64>,
    linear: Array2<f64>,
}

impl Sums {
    fn new(outputs: usize, k: usize) -> Self {
        Self {
            precision: Array2::zeros((outputs, packed::len(k))),
            linear: Array2::zeros((outputs, k)),
        }
    }

    fn clear(&mut self) {
        self.precision.fill(0.0);
        self.linear.fill(0.0);
    }
}

impl<T: Weighed> Tile<T> {
    /// For tiles of so many models and items, and outputs a tile of so many.
    fn new(models: usize, items: usize, outputs: usize, k: usize) -> Self {
        Self {
            c: Array2::zeros((models.min(MODELS), items.min(ITEMS))),
            kappa: Array2::zeros((models.min(MODELS), items.min(ITEMS))),
            precision: Array2::zeros((outputs, packed::len(k))),
            linear: Array2::zeros((outputs, k)),
        }
    }

    /// Fills the tile of the responses of models from `model` and items from `item` on: omega and y - 1/2, both 0 where the
    /// response is missing, from the second moments of both sides. Returns the sum over observed entries of
    /// -c/2 - log(1 + e^-c).
    fn fill(
        &mut self,
        y: &Centred<T>,
        (model, xx): (usize, &ArrayView2<'_, T>),
        (item, zz): (usize, &ArrayView2<'_, T>),
    ) -> f64 {
        let (rows, columns) = (xx.nrows(), zz.nrows());
        let mut c = self.c.slice_mut(s![..rows, ..columns]);
        let mut kappa = self.kappa.slice_mut(s![..rows, ..columns]);
        general_mat_mul(T::one(), xx, &zz.t(), T::zero(), &mut c);
        let mut sum = 0.0;
        for (l, (mut c, mut kappa)) in c.outer_iter_mut().zip(kappa.outer_iter_mut()).enumerate() {
            // Rows of a tile are contiguous; the slices are never absent.
            if let (Some(c), Some(kappa)) = (c.as_slice_mut(), kappa.as_slice_mut()) {
                y.load(model + l, item, kappa);
                sum += weigh::row(c, kappa);
            }
        }
        sum
    }

    /// Adds to the sums of the tile's items what the models x, E\[xx'\] of the tile give them.
    fn add_to_items(
        &mut self,
        items: usize,
        x: &ArrayView2<'_, T>,
        xx: &ArrayView2<'_, T>,
        sums: &mut Sums,
    ) {
        let c = self.c.slice(s![..x.nrows(), ..items]);
        let kappa = self.kappa.slice(s![..x.nrows(), ..items]);
        let precision = sums.precision.slice_mut(s![..items, ..]);
        add_product(&c.t(), xx, &mut self.precision, precision);
        let linear = sums.linear.slice_mut(s![..items, ..]);
        add_product(&kappa.t(), x, &mut self.linear, linear);
    }

    /// Adds to the sums of the models from `model` on what the items z, E\[zz'\] of the tile give them.
    fn add_to_models(
        &mut self,
        (model, rows): (usize, usize),
        z: &ArrayView2<'_, T>,
        zz: &ArrayView2<'_, T>,
        sums: &mut Sums,
    ) {
        let c = self.c.slice(s![..rows, ..z.nrows()]);
        let kappa = self.kappa.slice(s![..rows, ..z.nrows()]);
        let precision = sums.precision.slice_mut(s![model..model + rows, ..]);
        add_product(&c, zz, &mut self.precision, precision);
        let linear = sums.linear.slice_mut(s![model..model + rows, ..]);
        add_product(&kappa, z, &mut self.linear, linear);
    }
}

/// sums += a b, the product in the numbers of the tile.
fn add_product<T: Weighed>(
    a: &ArrayView2<'_, T>,
    b: &ArrayView2<'_, T>,
    product: &mut Array2<T>,
    mut sums: ArrayViewMut2<'_, f64>,
) {
    let mut product = product.slice_mut(s![..a.nrows(), ..]);
    general_mat_mul(T::one(), a, b, T::zero(), &mut product);
    sums.zip_mut_with(&product, |sum, part| *sum += part.wide());
}

/// Updates q(z) of every item and returns the evidence bound without the abilities' divergence, sum over observed entries of
/// (y - 1/2) m . E\[x\] - c/2 - log(1 + e^-c) less the items' divergence from their prior, at the posteriors *before* the
/// update.
pub(super) fn items<T: Weighed>(
    y: &Centred<T>,
    theta: &Gaussians,
    items: &mut Items<T>,
    prior: &Prior,
) -> f64 {
    let k = items.z.dims();
    let p = packed::len(k);
    let x = cast(extended_means(theta));
    let xx = cast(extended_moments(theta));
    let twice = cast(doubled(extended_moments(theta), k));
    let shift = prior.shift();
    let divergence = prior.divergence();
    let (n_models, n_items) = (y.n_models(), y.n_items());
    let terms: Vec<f64> = (items.z.mean.par_chunks_mut(ITEMS * k))
        .zip(items.z.cov.par_chunks_mut(ITEMS * p))
        .zip(items.z.log_det.par_chunks_mut(ITEMS))
        .zip(items.means.axis_chunks_iter_mut(Axis(0), ITEMS))
        .zip(items.moments.axis_chunks_iter_mut(Axis(0), ITEMS))
        .enumerate()
        .map_init(
            || {
                let outputs = ITEMS.min(n_items);
                let tile = Tile::new(n_models, n_items, outputs, k);
                (tile, Sums::new(outputs, k))
            },
            |(tile, sums), (t, ((((mean, cov), log_det), means), moments))| {
                let (n, mut term) = (log_det.len(), 0.0);
                sums.clear();
                for first in (0..n_models).step_by(MODELS) {
                    let rows = s![first..(first + MODELS).min(n_models), ..];
                    let (x, xx, twice) = (x.slice(rows), xx.slice(rows), twice.slice(rows));
                    term += tile.fill(y, (first, &twice), (t * ITEMS, &moments.view()));
                    tile.add_to_items(n, &x, &xx, sums);
                }
                for (i, linear) in sums.linear.outer_iter().take(n).enumerate() {
                    let m = &mut mean[i * k..(i + 1) * k];
                    let s = &mut cov[i * p..(i + 1) * p];
                    term += m.iter().zip(linear).map(|(m, h)| m * h).sum::<f64>()
                        - divergence.of(m, s, log_det[i]);
                    for (q, s) in s.iter_mut().enumerate() {
                        *s = prior.precision[q] + sums.precision[(i, q)];
                    }
                    for (j, m) in m.iter_mut().enumerate() {
                        *m = shift[j] + linear[j];
                    }
                }
                update(cov, mean, log_det, k);
                read(mean, cov, means, moments);
                term
            },
        )
        .collect();
    terms.iter().sum()
}

/// Updates q(theta) of every model; returns the largest move of any ability.
pub(super) fn abilities<T: Weighed>(
    y: &Centred<T>,
    theta: &mut Gaussians,
    items: &Items<T>,
    prior: &Prior,
) -> f64 {
    let (d, k) = (theta.dims(), items.z.dims());
    let inner = packed::len(d);
    let (n_models, n_items) = (y.n_models(), y.n_items());
    let twice = cast(doubled(extended_moments(theta), k));
    let part = n_items.div_ceil(ITEMS).div_ceil(PARTS) * ITEMS;
    let parts: Vec<usize> = (0..n_items).step_by(part.max(1)).collect();
    let parts: Vec<Sums> = parts
        .into_par_iter()
        .map_init(
            || Tile::new(n_models, n_items, MODELS.min(n_models), k),
            |tile, from| {
                let mut sums = Sums::new(n_models, k);
                let to = (from + part).min(n_items);
                for item in (from..to).step_by(ITEMS) {
                    let columns = s![item..(item + ITEMS).min(to), ..];
                    let (z, zz) = (items.means.slice(columns), items.moments.slice(columns));
                    for model in (0..n_models).step_by(MODELS) {
                        let rows = MODELS.min(n_models - model);
                        let twice = twice.slice(s![model..model + rows, ..]);
                        tile.fill(y, (model, &twice), (item, &zz));
                        tile.add_to_models((model, rows), &z, &zz, &mut sums);
                    }
                }
                sums
            },
        )
        .collect();
    let mut sums = Sums::new(n_models, k);
    for part in &parts {
        sums.precision += &part.precision;
        sums.linear += &part.linear;
    }
    let shift = prior.shift();
    let moves: Vec<f64> = (theta.mean.par_chunks_mut(ABILITIES * d))
        .zip(theta.cov.par_chunks_mut(ABILITIES * inner))
        .zip(theta.log_det.par_chunks_mut(ABILITIES))
        .enumerate()
        .map(|(t, ((mean, cov), log_det))| {
            let mut updated = vec![0.0; mean.len()];
            for (l, (s, m)) in (cov.chunks_exact_mut(inner))
                .zip(updated.chunks_exact_mut(d))
                .enumerate()
            {
                let row = t * ABILITIES + l;
                let (precision, linear) = (sums.precision.row(row), sums.linear.row(row));
                for (q, s) in s.iter_mut().enumerate() {
                    *s = prior.precision[q] + precision[q];
                }
                // Behind the packed block of a stand the products a b: E[a b] weighted by omega.
                for (j, m) in m.iter_mut().enumerate() {
                    *m = shift[j] + linear[j] + precision[inner + j];
                }
            }
            update(cov, &mut updated, log_det, d);
            let mut largest = 0.0f64;
            for (m, new) in mean.iter_mut().zip(&updated) {
                largest = largest.max((new - *m).abs());
                *m = *new;
            }
            largest
        })
        .collect();
    moves.iter().fold(0.0, |a, &b| a.max(b))
}

/// From precisions and right-hand sides (a row each) to covariances and means, in place, with log det S.
fn update(precision: &mut [f64], rhs: &mut [f64], log_det: &mut [f64], k: usize) {
    let p = packed::len(k);
    let mut lanes = (vec![Lane::of(0.0); p], vec![Lane::of(0.0); k]);
    for ((precision, rhs), log_det) in (precision.chunks_mut(LANES * p))
        .zip(rhs.chunks_mut(LANES * k))
        .zip(log_det.chunks_mut(LANES))
    {
        let n = log_det.len();
        // Lanes beyond the last row repeat it.
        let gather = |to: &mut [Lane], from: &[f64]| {
            let columns = to.len();
            for (q, to) in to.iter_mut().enumerate() {
                *to = Lane(std::array::from_fn(|r| from[r.min(n - 1) * columns + q]));
            }
        };
        gather(&mut lanes.0, precision);
        gather(&mut lanes.1, rhs);
        let found = solve(&mut lanes.0, &mut lanes.1);
        log_det.copy_from_slice(&found.0[..n]);
        for (to, from) in [(precision, &lanes.0), (rhs, &lanes.1)] {
            for (r, row) in to.chunks_exact_mut(from.len()).enumerate() {
                for (to, from) in row.iter_mut().zip(from) {
                    *to = from.0[r];
                }
            }
        }
    }
}
