//! Weighted k-means: Lloyd's algorithm with k-means++ seeding, both with point weights.
//!
//! linfa's k-means ignores weights, and on 12,000 items it took more than five times as long (`cargo bench`); it is the
//! oracle of the tests, and this is the only path.

use std::collections::HashSet;

use ndarray::{Array1, Array2, ArrayView1};
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
    let norms: Array1<f64> = points.outer_iter().map(|p| p.dot(&p)).collect();
    let runs: Vec<Clustering> = (0..restarts.max(1))
        .into_par_iter()
        .map(|restart| {
            let mut random = rng(seed, Stream::KMeans(scenario, restart));
            let centres = seed_centres(points, &norms, weights, k, &mut random, observer)?;
            lloyd(points, &norms, weights, centres, observer)
        })
        .collect::<Result<_>>()?;
    let best = runs
        .into_iter()
        .reduce(|best, run| {
            if run.inertia < best.inertia {
                run
            } else {
                best
            }
        })
        .unwrap_or_else(|| unreachable!("there is at least one restart"));
    Ok(best)
}

/// Number of different rows.
pub fn distinct_rows(points: &Array2<f64>) -> usize {
    let rows: HashSet<Vec<u64>> = points
        .outer_iter()
        .map(|r| r.iter().map(|x| (x + 0.0).to_bits()).collect())
        .collect();
    rows.len()
}

pub(super) fn squared_distance(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}
