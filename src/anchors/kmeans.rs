//! Weighted k-means: Lloyd's algorithm with k-means++ seeding, both with point weights.
//!
//! linfa's k-means ignores weights, and on 12,000 items it took more than five times as long (`cargo bench`); it is the
//! oracle of the tests, and this is the only path.

use std::borrow::Cow;
use std::collections::HashSet;

use multiversion::multiversion;
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;

use super::lloyd::lloyd;
use super::seeding::seed_centres;
use crate::error::Result;
use crate::progress::Observer;
use crate::random::{Stream, rng};

/// Restarts, of which the one with the least inertia counts.
pub const RESTARTS: usize = 5;

/// Points in k clusters, none of them empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    /// k x dims centres: the weighted means of their clusters.
    pub centres: Array2<f64>,
    /// Cluster of every point.
    pub labels: Vec<usize>,
    /// Sum of weight times squared distance to the point's centre.
    pub inertia: f64,
}

impl Clustering {
    /// The member of each cluster that is nearest to its centre; the first of equals.
    pub fn representatives(&self, points: &Array2<f64>) -> Vec<usize> {
        let mut best = vec![(f64::INFINITY, 0); self.centres.nrows()];
        for (i, (&label, point)) in self.labels.iter().zip(points.outer_iter()).enumerate() {
            let d = squared_distance(point, self.centres.row(label));
            if d < best[label].0 {
                best[label] = (d, i);
            }
        }
        best.into_iter().map(|(_, i)| i).collect()
    }
}

/// Clusters the rows of `points`, each counting `weights` (positive), into `k` clusters or as many as there are distinct
/// points. Best of [`RESTARTS`]; the same seed gives the same clusters on any number of threads.
///
/// # Errors
/// Cancellation, which is looked for at every centre seeded and every round of Lloyd's.
///
/// # Panics
/// When there is no point, or not one weight a point.
pub fn weighted_kmeans(
    points: &Array2<f64>,
    weights: &[f64],
    k: usize,
    seed: u64,
    scenario: usize,
    observer: &dyn Observer,
) -> Result<Clustering> {
    weighted_kmeans_with(points, weights, k, seed, scenario, RESTARTS, observer)
}

/// [`weighted_kmeans`] with the best of so many restarts (at least one).
///
/// # Errors
/// Cancellation.
///
/// # Panics
/// When there is no point, or not one weight a point.
pub fn weighted_kmeans_with(
    points: &Array2<f64>,
    weights: &[f64],
    k: usize,
    seed: u64,
    scenario: usize,
    restarts: usize,
    observer: &dyn Observer,
) -> Result<Clustering> {
    assert!(points.nrows() > 0 && points.nrows() == weights.len());
    let k = k.clamp(1, distinct_rows(points));
    let (scaled, factor) = in_range(points);
    let points = Points::new(&scaled);
    let runs: Vec<Clustering> = (0..restarts.max(1))
        .into_par_iter()
        .map(|restart| {
            let mut random = rng(seed, Stream::KMeans(scenario, restart));
            let centres = seed_centres(&points, weights, k, &mut random, observer)?;
            lloyd(&points, weights, centres, observer)
        })
        .collect::<Result<_>>()?;
    let mut best = runs
        .into_iter()
        .reduce(|best, run| {
            if run.inertia < best.inertia {
                run
            } else {
                best
            }
        })
        .unwrap_or_else(|| unreachable!("there is at least one restart"));
    best.centres.mapv_inplace(|x| x / factor);
    best.inertia /= factor * factor;
    Ok(best)
}

/// The points, by a power of two where their squares could leave the range of single precision, and that power.
fn in_range(points: &Array2<f64>) -> (Cow<'_, Array2<f64>>, f64) {
    let largest = points.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    if largest == 0.0 || (1e-6..1e6).contains(&largest) {
        return (Cow::Borrowed(points), 1.0);
    }
    let factor = 2.0f64.powi(-largest.log2().round() as i32);
    (Cow::Owned(points * factor), factor)
}

/// Number of different rows.
pub fn distinct_rows(points: &Array2<f64>) -> usize {
    let rows: HashSet<Vec<u64>> = points
        .outer_iter()
        .map(|r| r.iter().map(|x| (x + 0.0).to_bits()).collect())
        .collect();
    rows.len()
}

/// The points of a clustering: as they are, and in single precision for the products that tell which centres are far.
pub(super) struct Points<'a> {
    pub(super) exact: &'a Array2<f64>,
    pub(super) single: Array2<f32>,
    /// Squared lengths.
    pub(super) norms: Vec<f64>,
}

impl<'a> Points<'a> {
    pub(super) fn new(exact: &'a Array2<f64>) -> Self {
        Self {
            single: exact.mapv(|x| x as f32),
            norms: exact.outer_iter().map(|p| p.dot(&p)).collect(),
            exact,
        }
    }

    /// Number of points.
    pub(super) fn len(&self) -> usize {
        self.norms.len()
    }

    /// Length of each.
    pub(super) fn dims(&self) -> usize {
        self.exact.ncols()
    }

    /// More than |x|^2 + |y|^2 - 2 x y can be off, in which the product is computed in single precision, for squared lengths
    /// of x and y up to these: each of the numbers is rounded, and each of the sum's steps; some may vanish.
    pub(super) fn error(&self, x: f64, y: f64) -> f64 {
        let (unit, steps) = (f64::from(f32::EPSILON), (self.dims() + 6) as f64);
        unit * (steps * (x * y).sqrt() + 2.0 * (x + y)) + steps * f64::from(f32::MIN_POSITIVE)
    }
}

/// Squared Euclidean distance of two rows.
pub(super) fn squared_distance(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    match (a.as_slice(), b.as_slice()) {
        (Some(a), Some(b)) => squared(a, b),
        _ => squared(&a.to_vec(), &b.to_vec()),
    }
}

/// Sums in lanes: one sum alone would wait for each addition.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn squared(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (groups, others) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = groups.remainder().iter().zip(others.remainder());
    let rest: f64 = rest.map(|(x, y)| (x - y) * (x - y)).sum();
    for (x, y) in groups.zip(others) {
        for k in 0..LANES {
            sums[k] += (x[k] - y[k]) * (x[k] - y[k]);
        }
    }
    sums.iter().sum::<f64>() + rest
}
