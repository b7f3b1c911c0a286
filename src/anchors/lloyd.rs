//! Lloyd's rounds with Hamerly's bounds: a point whose centre cannot have changed is not measured again.

use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;

use super::kmeans::{Clustering, Points, squared_distance};
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
    points: &Points<'_>,
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
    let mut assigned = vec![unknown; points.len()];
    let mut clusters = Clusters::new(k, points.dims());
    for _ in 0..MAX_ROUNDS {
        observer.check()?;
        let before: Vec<usize> = assigned.iter().map(|a| a.label).collect();
        assign(points, &centres, &mut assigned);
        fill_empty(points.exact, weights, &centres, &mut assigned);
        let changed = clusters.update(points.exact, weights, &before, &assigned);
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
    let mut exact = Clusters::new(k, points.dims());
    exact.update(
        points.exact,
        weights,
        &vec![usize::MAX; labels.len()],
        &assigned,
    );
    let centres = exact.means();
    let inertia = points
        .exact
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
fn assign(points: &Points<'_>, centres: &Array2<f64>, assigned: &mut [Assigned]) {
    let norms: Vec<f64> = centres.outer_iter().map(|c| c.dot(&c)).collect();
    let apart = half_gaps(centres, &norms);
    let rounded = (
        centres.mapv(|x| x as f32),
        norms.iter().map(|&n| n as f32).collect::<Vec<f32>>(),
    );
    let longest = norms.iter().copied().fold(0.0, f64::max);
    assigned
        .par_chunks_mut(TILE)
        .enumerate()
        .for_each(|(t, assigned)| {
            let from = t * TILE;
            let open: Vec<usize> = (0..assigned.len())
                .filter(|&i| {
                    is_open(
                        points.exact.row(from + i),
                        centres,
                        &apart,
                        &mut assigned[i],
                    )
                })
                .collect();
            if open.is_empty() {
                return;
            }
            let mut some = Array2::zeros((open.len(), points.dims()));
            for (mut to, &i) in some.outer_iter_mut().zip(&open) {
                to.assign(&points.single.row(from + i));
            }
            // Column by column where points are single numbers: the rows below must be whole.
            let products = some.dot(&rounded.0.t());
            let products = products.as_standard_layout();
            for (&i, products) in open.iter().zip(products.outer_iter()) {
                let Some(products) = products.to_slice() else {
                    continue;
                };
                let norm = points.norms[from + i];
                let error = points.error(norm, longest);
                let point = points.exact.row(from + i);
                assigned[i] = nearest(point, norm, centres, (products, &rounded.1), error);
            }
        });
}

/// A point's nearest centre, from its products with all in single precision: `error` is more than a squared distance by these
/// can be off. Where that leaves several, they are measured exactly.
fn nearest(
    point: ArrayView1<'_, f64>,
    norm: f64,
    centres: &Array2<f64>,
    (products, norms): (&[f32], &[f32]),
    error: f64,
) -> Assigned {
    let exact = |c: usize| squared_distance(point, centres.row(c));
    let (mut label, best, second) = two_nearest(products, norms);
    let (best, second) = (f64::from(best), f64::from(second));
    let (mut upper, mut lower) = (f64::INFINITY, second - error + norm);
    if second - best > 2.0 * error {
        upper = exact(label);
    } else {
        lower = f64::INFINITY;
        for (c, (product, n)) in products.iter().zip(norms).enumerate() {
            let rough = f64::from(n - 2.0 * product);
            // Written so that what is not a number is measured.
            let far = rough > best + 2.0 * error;
            let d = if far { rough - error + norm } else { exact(c) };
            if !far && d < upper {
                (lower, upper, label) = (lower.min(upper), d, c);
            } else {
                lower = lower.min(d);
            }
        }
    }
    Assigned {
        label,
        upper: upper.max(0.0).sqrt(),
        lower: lower.max(0.0).sqrt(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Products in single precision never decide what they cannot: points and centres near each other, far from 0, at any
        /// scale, and equal ones.
        #[test]
        fn every_point_is_brought_to_its_nearest_centre_and_its_bounds_hold(
            numbers in prop::collection::vec(-1.0..1.0f64, 40 * 7), dims in 1usize..7, k in 1usize..30,
            scale in prop_oneof![Just(1e-6), Just(1.0), Just(1e3)], tiny: bool, offset in prop_oneof![Just(0.0), Just(50.0)], whole: bool,
        ) {
            // Some are so small that their products vanish in single precision.
            let scale = |i: usize| if tiny && i > 0 { 1e-22 * scale } else { scale };
            let number = |x: f64| offset + if whole { x.round() } else { 1e-4 * x };
            let all = Array2::from_shape_fn((40, dims), |(i, j)| scale(i) * number(numbers[i * dims + j]));
            let (points, centres) = (Points::new(&all), all.slice(ndarray::s![..k, ..]).to_owned());
            let unknown = Assigned { label: usize::MAX, upper: f64::INFINITY, lower: 0.0 };
            let mut assigned = vec![unknown; 40];
            assign(&points, &centres, &mut assigned);
            for (point, a) in all.outer_iter().zip(&assigned) {
                let distances: Vec<f64> = centres.outer_iter().map(|c| squared_distance(point, c)).collect();
                let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
                prop_assert_eq!(Some(a.label), distances.iter().position(|&d| d == least));
                prop_assert!(a.upper >= least.sqrt());
                for (c, d) in distances.iter().enumerate() {
                    prop_assert!(c == a.label || a.lower <= d.sqrt() * (1.0 + SLACK), "{} {}", a.lower, d.sqrt());
                }
            }
        }
    }
}
