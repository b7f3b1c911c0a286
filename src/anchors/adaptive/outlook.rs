//! What is predicted of the items at the ability that the answers tell, and of the score.

use super::AdaptiveTest;
use crate::irt::{doubled_extended, packed, sigmoid};

/// What is predicted of an item at the current ability.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outlook {
    /// P.
    pub(super) p: f64,
    /// s.
    pub(super) slope: f64,
    /// s^2 a' S a, the part of the variance of the answer that the ability explains.
    pub(super) ability: f64,
}

/// What a test tells of the score before anything is learned from other models.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// (sum over seen of w y + sum over unseen of w P) / sum of w, in \[0, 1\].
    pub estimate: f64,
    /// Its standard deviation under the model: sqrt(g' S g + sum over unseen of w^2 phi) / sum of w.
    pub deviation: f64,
    /// Share of the balance weight that was not asked.
    pub unseen: f64,
    /// Items answered.
    pub answered: usize,
}

impl AdaptiveTest<'_> {
    /// What is known of the score.
    pub fn outcome(&self) -> Outcome {
        let cov = self.theta.cov(0);
        let (mut total, mut sum, mut unseen, mut noise) = (0.0, 0.0, 0.0, 0.0);
        for (i, &w) in self.pool.balance.iter().enumerate() {
            let (y, p) = (self.scores[i], self.outlook[i].p);
            if !y.is_nan() {
                total += w;
                sum += w * y;
            } else if self.counts[i] {
                total += w;
                sum += w * p;
                unseen += w;
                noise += w * w * self.noise(i);
            }
        }
        let variance = packed::quadratic(cov, &self.gradient()).max(0.0) + noise;
        let total = if total > 0.0 { total } else { 1.0 };
        Outcome {
            estimate: (sum / total).clamp(0.0, 1.0),
            deviation: variance.sqrt() / total,
            unseen: unseen / total,
            answered: self.order.len(),
        }
    }

    /// g: how what is unseen of the score, times the sum of w, moves with the ability.
    pub(super) fn gradient(&self) -> Vec<f64> {
        let mut gradient = vec![0.0; self.pool.items.dims()];
        for (i, w) in self.pool.balance.iter().enumerate() {
            if self.counts[i] && self.scores[i].is_nan() {
                let steep = w * self.outlook[i].slope;
                let a = self.pool.items.discrimination(i);
                for (g, a) in gradient.iter_mut().zip(a) {
                    *g += steep * a;
                }
            }
        }
        gradient
    }

    /// phi of an item.
    pub(super) fn noise(&self, item: usize) -> f64 {
        let Outlook { p, ability, .. } = self.outlook[item];
        let whole = p * (1.0 - p);
        // To first order the ability may seem to explain more than there is.
        self.pool.dispersion[item] * (whole - ability).max(0.2 * whole).max(1e-12)
    }

    pub(super) fn predict(&mut self) {
        let d = self.pool.items.dims();
        let x = doubled_extended(&self.theta);
        let (m, cov) = (self.theta.mean(0), self.theta.cov(0));
        for (i, (out, zz)) in self
            .outlook
            .iter_mut()
            .zip(self.pool.moments.outer_iter())
            .enumerate()
        {
            let z = self.pool.items.posterior().mean(i);
            let mu = z[..d].iter().zip(m).map(|(a, t)| a * t).sum::<f64>() - z[d];
            let second: f64 = zz.iter().zip(&x).map(|(z, x)| z * x).sum();
            let var = (second - mu * mu).max(0.0);
            let shrink = 1.0 / (1.0 + std::f64::consts::PI / 8.0 * var).sqrt();
            let p = sigmoid(mu * shrink);
            let slope = p * (1.0 - p) * shrink;
            *out = Outlook {
                p,
                slope,
                ability: slope * slope * packed::quadratic(cov, &z[..d]),
            };
        }
    }
}
