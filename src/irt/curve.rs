//! What an item looks like: multidimensional difficulty and discrimination, response curve, information.

use super::parameters::ItemParameters;
use super::sigmoid;

/// An item along its own direction of steepest slope (Reckase's MDISC and MDIFF).
///
/// For t = a . theta / |a| the response curve is sigmoid(slope t - b), its midpoint at t = difficulty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// |a|, the multidimensional discrimination; at least 0.
    pub discrimination: f64,
    /// b / |a|, the multidimensional difficulty; NaN where |a| = 0.
    pub difficulty: f64,
    /// b, the intercept: at theta = 0, the mean ability, P = sigmoid(-b).
    pub intercept: f64,
    /// a . u, the part of the discrimination along the first axis (of general ability); negative items are easier for
    /// weaker models.
    pub general: f64,
}

impl Shape {
    /// The shape of an item.
    pub fn of(items: &ItemParameters, item: usize) -> Self {
        let a = items.discrimination(item);
        let b = items.intercept(item);
        let discrimination = a.iter().map(|a| a * a).sum::<f64>().sqrt();
        Self {
            discrimination,
            difficulty: if discrimination > 0.0 {
                b / discrimination
            } else {
                f64::NAN
            },
            intercept: b,
            general: a.first().copied().unwrap_or(0.0),
        }
    }

    /// Probability of a right answer at ability t along the item's direction.
    pub fn probability(&self, t: f64) -> f64 {
        sigmoid(self.discrimination * t - self.intercept)
    }

    /// Fisher information about t at t: |a|^2 P (1 - P).
    pub fn information(&self, t: f64) -> f64 {
        let p = self.probability(t);
        self.discrimination.powi(2) * p * (1.0 - p)
    }
}

impl ItemParameters {
    /// Where an ability stands along an item's direction: a . theta / |a|; 0 where a = 0.
    pub fn along(&self, item: usize, theta: &[f64]) -> f64 {
        let a = self.discrimination(item);
        let norm = a.iter().map(|a| a * a).sum::<f64>().sqrt();
        if norm > 0.0 {
            a.iter().zip(theta).map(|(a, t)| a * t).sum::<f64>() / norm
        } else {
            0.0
        }
    }
}

/// Mean score of some models of like ability on an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Mean ability of the bin's models along the item's direction.
    pub ability: f64,
    /// Their mean score, in \[0, 1\].
    pub proportion: f64,
    /// How many they are.
    pub models: usize,
    /// 90 % Wilson interval of the proportion.
    pub interval: (f64, f64),
}

/// Observed proportions in `bins` groups of equal size by ability; points are (ability, score), scores not NaN. Groups of
/// the same ability are not split apart on purpose: ties stand in the order given.
pub fn binned_proportions(mut points: Vec<(f64, f64)>, bins: usize) -> Vec<Bin> {
    points.retain(|(t, y)| t.is_finite() && !y.is_nan());
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bins = bins.min(points.len()).max(1);
    (0..bins)
        .filter_map(|k| {
            let part = &points[k * points.len() / bins..(k + 1) * points.len() / bins];
            if part.is_empty() {
                return None;
            }
            let n = part.len() as f64;
            let proportion = part.iter().map(|p| p.1).sum::<f64>() / n;
            Some(Bin {
                ability: part.iter().map(|p| p.0).sum::<f64>() / n,
                proportion,
                models: part.len(),
                interval: wilson_interval(proportion, n, 1.645),
            })
        })
        .collect()
}

/// Wilson's score interval of a proportion seen on `n` trials, at `z` standard deviations.
pub fn wilson_interval(proportion: f64, n: f64, z: f64) -> (f64, f64) {
    let z2 = z * z / n;
    let centre = (proportion + z2 / 2.0) / (1.0 + z2);
    let half = z / (1.0 + z2)
        * (proportion * (1.0 - proportion) / n + z2 / (4.0 * n))
            .max(0.0)
            .sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irt::{Convention, Gaussians};

    #[test]
    fn shape_puts_the_midpoint_at_the_difficulty() {
        let items = ItemParameters::published(Convention::Logit, 2, &[3.0, 4.0], &[2.5]);
        let s = Shape::of(&items, 0);
        assert!((s.discrimination - 5.0).abs() < 1e-12);
        assert!((s.probability(s.difficulty) - 0.5).abs() < 1e-12);
        assert!((s.information(s.difficulty) - 25.0 / 4.0).abs() < 1e-12);
        assert!((items.along(0, &[3.0, 4.0]) - 5.0).abs() < 1e-12);
        let flat = ItemParameters::new(Gaussians::points(2, vec![0.0, 1.0]));
        assert!(Shape::of(&flat, 0).difficulty.is_nan());
    }

    #[test]
    fn bins_keep_every_point_and_intervals_hold_the_proportion() {
        let points = (0..25).map(|i| (i as f64, f64::from(i % 3 == 0))).collect();
        let bins = binned_proportions(points, 6);
        assert_eq!(bins.iter().map(|b| b.models).sum::<usize>(), 25);
        for b in bins {
            assert!(b.interval.0 <= b.proportion && b.proportion <= b.interval.1);
        }
        assert!(binned_proportions(vec![], 6).is_empty());
    }
}
