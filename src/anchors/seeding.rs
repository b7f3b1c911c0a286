//! k-means++ with point weights.

use ndarray::Array2;
use rand::RngExt;

use super::kmeans::{Points, squared_distance};
use crate::error::Result;
use crate::progress::Observer;

/// k-means++: each further centre is a point drawn with probability weight times squared distance to the nearest centre.
/// `Err` when cancelled.
pub(super) fn seed_centres(
    points: &Points<'_>,
    weights: &[f64],
    k: usize,
    random: &mut impl RngExt,
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let mut centres = Array2::zeros((k, points.dims()));
    let mut distance = vec![f64::INFINITY; points.len()];
    let mut mass: Vec<f64> = weights.to_vec();
    for c in 0..k {
        observer.check()?;
        let chosen = draw(&mass, random);
        let centre = points.exact.row(chosen);
        centres.row_mut(c).assign(&centre);
        let products = points.single.dot(&points.single.row(chosen));
        for i in 0..distance.len() {
            let (norm, other) = (points.norms[i], points.norms[chosen]);
            let mut d = (norm + other - 2.0 * f64::from(products[i])).max(0.0);
            // Small ones exactly, and 0 for the centre's own copies: they must not be drawn again.
            if d <= 100.0 * points.error(norm, other) {
                d = squared_distance(points.exact.row(i), centre);
            }
            distance[i] = distance[i].min(d);
            mass[i] = weights[i] * distance[i];
        }
    }
    Ok(centres)
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
