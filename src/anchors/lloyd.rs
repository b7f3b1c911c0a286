//! Lloyd's rounds with Hamerly's bounds: a point whose centre cannot have changed is not measured again.

use ndarray::{Array1, Array2, ArrayView1, Axis};
use rayon::prelude::*;

use super::kmeans::{Clustering, squared_distance};
use super::nearest::two_nearest;
use crate::error::Result;
use crate::progress::Observer;

const MAX_ROUNDS: usize = 300;
/// Points a task.
const TILE: usize = 512;
/// Bounds are sums of rounded distances; a point is passed over only when they leave this much room.
const SLACK: f64 = 1e-9;

/// Where a point is, and what is known of its distances.
#[derive(Debug, Clone, Copy)]
struct Assigned {
    label: usize,
    /// At least the distance to its centre.
    upper: f64,
    /// At most the distance to any other centre.
    lower: f64,
}

/// Moves the centres until no point changes its cluster; none of the clusters is empty at the end. `Err` when cancelled.
pub(super) fn lloyd(
    points: &Array2<f64>,
    norms: &Array1<f64>,
    weights: &[f64],
    mut centres: Array2<f64>,
    observer: &dyn Observer,
) -> Result<Clustering> {
    let k = centres.nrows();
    let unknown = Assigned {
        label: usize::MAX,
        upper: f64::INFINITY,
        lower: 0.0,
    };
    let mut assigned = vec![unknown; points.nrows()];
    let mut clusters = Clusters::new(k, points.ncols());
    for _ in 0..MAX_ROUNDS {
        observer.check()?;
        let before: Vec<usize> = assigned.iter().map(|a| a.label).collect();
        assign(points, norms, &centres, &mut assigned);
        fill_empty(points, weights, &centres, &mut assigned);
        let changed = clusters.update(points, weights, &before, &assigned);
        if !changed {
            break;
        }
        let new = clusters.means();
        let moves: Vec<f64> = new
            .outer_iter()
            .zip(centres.outer_iter())
            .map(|(a, b)| squared_distance(a, b).sqrt())
            .collect();
        centres = new;
        loosen(&mut assigned, &moves);
    }
    let labels: Vec<usize> = assigned.iter().map(|a| a.label).collect();
    // The running sums carry rounding; the result does not.
    let mut exact = Clusters::new(k, points.ncols());
    exact.update(points, weights, &vec![usize::MAX; labels.len()], &assigned);
    let centres = exact.means();
    let inertia = points
        .outer_iter()
        .zip(&labels)
        .zip(weights)
        .map(|((p, &label), w)| w * squared_distance(p, centres.row(label)))
        .sum();
    Ok(Clustering {
        centres,
        labels,
        inertia,
    })
}

/// Weighted sums of the clusters' points.
struct Clusters {
    sums: Array2<f64>,
    weight: Vec<f64>,
}

impl Clusters {
    fn new(k: usize, dims: usize) -> Self {
        Self {
            sums: Array2::zeros((k, dims)),
            weight: vec![0.0; k],
        }
    }

    /// Moves the points whose label changed, in order of position; true when one did.
    fn update(
        &mut self,
        points: &Array2<f64>,
        weights: &[f64],
        before: &[usize],
        now: &[Assigned],
    ) -> bool {
        let mut changed = false;
        for (i, (&old, new)) in before.iter().zip(now).enumerate() {
            if old == new.label {
                continue;
            }
            changed = true;
            if old != usize::MAX {
                self.add(old, points.row(i), -weights[i]);
            }
            self.add(new.label, points.row(i), weights[i]);
        }
        changed
    }

    fn add(&mut self, cluster: usize, point: ArrayView1<'_, f64>, weight: f64) {
        self.sums.row_mut(cluster).scaled_add(weight, &point);
        self.weight[cluster] += weight;
    }

    fn means(&self) -> Array2<f64> {
        let mut means = self.sums.clone();
        for (mut mean, &w) in means.axis_iter_mut(Axis(0)).zip(&self.weight) {
            mean.mapv_inplace(|x| x / w);
        }
        means
    }
}

/// Keeps the bounds true after the centres moved.
fn loosen(assigned: &mut [Assigned], moves: &[f64]) {
    let (mut most, mut second, mut which) = (0.0, 0.0, usize::MAX);
    for (c, &m) in moves.iter().enumerate() {
        if m > most {
            (second, most, which) = (most, m, c);
        } else if m > second {
            second = m;
        }
    }
    for a in assigned {
        a.upper += moves[a.label];
        a.lower -= if a.label == which { second } else { most };
    }
}

/// Brings every point to its nearest centre, the first of equals.
fn assign(
    points: &Array2<f64>,
    norms: &Array1<f64>,
    centres: &Array2<f64>,
    assigned: &mut [Assigned],
) {
    let centre_norms: Vec<f64> = centres.outer_iter().map(|c| c.dot(&c)).collect();
    let apart = half_gaps(centres, &centre_norms);
    assigned
        .par_chunks_mut(TILE)
        .enumerate()
        .for_each(|(t, assigned)| {
            let from = t * TILE;
            let open: Vec<usize> = (0..assigned.len())
                .filter(|&i| is_open(points.row(from + i), centres, &apart, &mut assigned[i]))
                .collect();
            if open.is_empty() {
                return;
            }
            let rows: Vec<usize> = open.iter().map(|i| from + i).collect();
            let products = points.select(Axis(0), &rows).dot(&centres.t());
            for ((&i, &row), products) in open.iter().zip(&rows).zip(products.outer_iter()) {
                // Rows of a product are contiguous; the slice is never absent.
                let Some(products) = products.to_slice() else {
                    continue;
                };
                let (label, best, second) = two_nearest(products, &centre_norms);
                let distance = |d: f64| (d + norms[row]).max(0.0).sqrt();
                assigned[i] = Assigned {
                    label,
                    upper: distance(best),
                    lower: distance(second),
                };
            }
        });
}

/// Whether a point's nearest centre must be looked for; tightens its upper bound where that settles it.
fn is_open(
    point: ArrayView1<'_, f64>,
    centres: &Array2<f64>,
    apart: &[f64],
    a: &mut Assigned,
) -> bool {
    if a.label == usize::MAX {
        return true;
    }
    let bound = a.lower.max(apart[a.label]) * (1.0 - SLACK) - SLACK;
    if a.upper < bound {
        return false;
    }
    a.upper = squared_distance(point, centres.row(a.label)).sqrt();
    a.upper >= bound
}

/// Half the distance from each centre to the nearest other one: a point closer than that is where it belongs.
fn half_gaps(centres: &Array2<f64>, norms: &[f64]) -> Vec<f64> {
    let products = centres.dot(&centres.t());
    (0..norms.len())
        .map(|c| {
            let nearest = (0..norms.len())
                .filter(|&o| o != c)
                .map(|o| norms[c] + norms[o] - 2.0 * products[(c, o)])
                .fold(f64::INFINITY, f64::min);
            nearest.max(0.0).sqrt() / 2.0
        })
        .collect()
}

/// Gives every empty cluster the point that costs most where it is, of a cluster that keeps another.
fn fill_empty(
    points: &Array2<f64>,
    weights: &[f64],
    centres: &Array2<f64>,
    assigned: &mut [Assigned],
) {
    let mut sizes = vec![0; centres.nrows()];
    assigned.iter().for_each(|a| sizes[a.label] += 1);
    for cluster in 0..centres.nrows() {
        if sizes[cluster] > 0 {
            continue;
        }
        let costs: Vec<f64> = assigned
            .iter()
            .enumerate()
            .map(|(i, a)| weights[i] * squared_distance(points.row(i), centres.row(a.label)))
            .collect();
        let farthest = (0..assigned.len())
            .filter(|&i| sizes[assigned[i].label] > 1)
            // Of equals the first: `max_by` would take the last.
            .max_by(|&i, &j| costs[i].total_cmp(&costs[j]).then(j.cmp(&i)));
        if let Some(i) = farthest {
            sizes[assigned[i].label] -= 1;
            sizes[cluster] = 1;
            // Nothing is known of its distances: the next round measures them.
            assigned[i] = Assigned {
                label: cluster,
                upper: f64::INFINITY,
                lower: 0.0,
            };
        }
    }
}
