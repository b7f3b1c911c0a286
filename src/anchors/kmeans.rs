//! Weighted k-means: Lloyd's algorithm with k-means++ seeding, both with point weights.

use std::collections::HashSet;

use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use rand::RngExt;
use rayon::prelude::*;

use crate::random::{Stream, rng};

/// Restarts, of which the one with the least inertia counts.
pub const RESTARTS: usize = 5;
const MAX_ROUNDS: usize = 300;
/// Points a task.
const TILE: usize = 512;

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
/// # Panics
/// When there is no point, or not one weight a point.
pub fn weighted_kmeans(
    points: &Array2<f64>,
    weights: &[f64],
    k: usize,
    seed: u64,
    scenario: usize,
) -> Clustering {
    assert!(points.nrows() > 0 && points.nrows() == weights.len());
    let k = k.clamp(1, distinct_rows(points));
    let norms: Array1<f64> = points.outer_iter().map(|p| p.dot(&p)).collect();
    let runs: Vec<Clustering> = (0..RESTARTS)
        .into_par_iter()
        .map(|restart| {
            let mut random = rng(seed, Stream::KMeans(scenario, restart));
            let centres = seed_centres(points, &norms, weights, k, &mut random);
            lloyd(points, &norms, weights, centres)
        })
        .collect();
    runs.into_iter()
        .reduce(|best, run| {
            if run.inertia < best.inertia {
                run
            } else {
                best
            }
        })
        .unwrap_or_else(|| unreachable!("there is at least one restart"))
}

/// Number of different rows.
pub fn distinct_rows(points: &Array2<f64>) -> usize {
    let rows: HashSet<Vec<u64>> = points
        .outer_iter()
        .map(|r| r.iter().map(|x| (x + 0.0).to_bits()).collect())
        .collect();
    rows.len()
}

fn squared_distance(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// k-means++: each further centre is a point drawn with probability weight times squared distance to the nearest centre.
fn seed_centres(
    points: &Array2<f64>,
    norms: &Array1<f64>,
    weights: &[f64],
    k: usize,
    random: &mut impl RngExt,
) -> Array2<f64> {
    let mut centres = Array2::zeros((k, points.ncols()));
    let mut distance = vec![f64::INFINITY; points.nrows()];
    let mut mass: Vec<f64> = weights.to_vec();
    for c in 0..k {
        let chosen = draw(&mass, random);
        let centre = points.row(chosen);
        centres.row_mut(c).assign(&centre);
        let products = points.dot(&centre);
        for i in 0..distance.len() {
            // Exactly 0 for the centre's own copies: they must not be drawn again.
            let mut d = (norms[i] + norms[chosen] - 2.0 * products[i]).max(0.0);
            if d <= 1e-9 * norms[chosen].max(norms[i]) {
                d = squared_distance(points.row(i), centre);
            }
            distance[i] = distance[i].min(d);
            mass[i] = weights[i] * distance[i];
        }
    }
    centres
}

/// An index drawn with probability in proportion to `mass`; the largest mass where all are 0 to working precision.
fn draw(mass: &[f64], random: &mut impl RngExt) -> usize {
    let total: f64 = mass.iter().sum();
    let mut left = random.random::<f64>() * total;
    let mut last = 0;
    for (i, &m) in mass.iter().enumerate() {
        if m > 0.0 {
            last = i;
            left -= m;
            if left < 0.0 {
                return i;
            }
        }
    }
    last
}

fn lloyd(
    points: &Array2<f64>,
    norms: &Array1<f64>,
    weights: &[f64],
    mut centres: Array2<f64>,
) -> Clustering {
    let mut labels = vec![usize::MAX; points.nrows()];
    for _ in 0..MAX_ROUNDS {
        let mut nearest = assign(points, norms, &centres);
        fill_empty(&mut nearest, weights, centres.nrows());
        let new: Vec<usize> = nearest.iter().map(|n| n.0).collect();
        if new == labels {
            break;
        }
        labels = new;
        centres = means(points, weights, &labels, centres.nrows());
    }
    let inertia = points
        .outer_iter()
        .zip(&labels)
        .zip(weights)
        .map(|((p, &label), w)| w * squared_distance(p, centres.row(label)))
        .sum();
    Clustering {
        centres,
        labels,
        inertia,
    }
}

/// The nearest centre of every point, the first of equals, and its squared distance.
fn assign(points: &Array2<f64>, norms: &Array1<f64>, centres: &Array2<f64>) -> Vec<(usize, f64)> {
    let centre_norms: Vec<f64> = centres.outer_iter().map(|c| c.dot(&c)).collect();
    let tiles: Vec<Vec<(usize, f64)>> = (0..points.nrows())
        .step_by(TILE)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|from| {
            let to = (from + TILE).min(points.nrows());
            let products = points.slice(s![from..to, ..]).dot(&centres.t());
            products
                .outer_iter()
                .enumerate()
                .map(|(i, row)| {
                    let mut best = (0, f64::INFINITY);
                    for (c, (product, norm)) in row.iter().zip(&centre_norms).enumerate() {
                        let d = norm - 2.0 * product;
                        if d < best.1 {
                            best = (c, d);
                        }
                    }
                    (best.0, (best.1 + norms[from + i]).max(0.0))
                })
                .collect()
        })
        .collect();
    tiles.concat()
}

/// Gives every empty cluster the point that costs most where it is, of a cluster that keeps another.
fn fill_empty(nearest: &mut [(usize, f64)], weights: &[f64], k: usize) {
    let mut sizes = vec![0; k];
    nearest.iter().for_each(|n| sizes[n.0] += 1);
    for cluster in 0..k {
        if sizes[cluster] > 0 {
            continue;
        }
        let farthest = (0..nearest.len())
            .filter(|&i| sizes[nearest[i].0] > 1)
            .max_by(|&i, &j| {
                let cost = |i: usize| weights[i] * nearest[i].1;
                // Of equals the first: `max_by` would take the last.
                cost(i).total_cmp(&cost(j)).then(j.cmp(&i))
            });
        if let Some(i) = farthest {
            sizes[nearest[i].0] -= 1;
            nearest[i] = (cluster, 0.0);
            sizes[cluster] = 1;
        }
    }
}

fn means(points: &Array2<f64>, weights: &[f64], labels: &[usize], k: usize) -> Array2<f64> {
    let mut centres = Array2::zeros((k, points.ncols()));
    let mut total = vec![0.0; k];
    for ((point, &label), &w) in points.outer_iter().zip(labels).zip(weights) {
        centres.row_mut(label).scaled_add(w, &point);
        total[label] += w;
    }
    for (mut c, t) in centres.axis_iter_mut(Axis(0)).zip(total) {
        if t > 0.0 {
            c.mapv_inplace(|x| x / t);
        }
    }
    centres
}
