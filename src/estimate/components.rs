//! What a model's scores on the chosen items tell, before anything is learned from other models.

use super::{Seen, estimates};
use crate::anchors::Anchor;
use crate::irt::{Ability, ItemParameters, packed};

/// The estimates of one model that [`Stacker`](super::Stacker) combines, and what it needs beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    /// Weighted mean of the scores on the chosen items.
    pub naive: f64,
    /// The p-IRT estimate.
    pub p_irt: f64,
    /// The difference estimator (AIPW): mean of w P over all items + weighted mean over the anchors of (y - P).
    pub aipw: f64,
    /// Standard deviation of the model's mean predicted score under the posterior of its ability: sqrt(g' S g), with g the
    /// gradient of mean w P at the posterior mean and S the posterior covariance. 0 where the ability is a point.
    pub spread: f64,
    /// Scores on the chosen items in the order of the anchors; where not answered the predicted probability.
    pub scores: Vec<f64>,
}

/// Components from a model's scores on the chosen items; `y`, `counts`, `anchors` and `balance` as for [`estimates`], `items`
/// the parameters of all items by position, `theta` the ability that the seen items tell. Of `y` only the chosen items are
/// read. `None` when no chosen item was answered.
pub fn components(
    y: &[f64],
    counts: impl Fn(usize) -> bool,
    anchors: &[Anchor],
    balance: &[f64],
    items: &ItemParameters,
    theta: &Ability,
    seen: Seen,
) -> Option<Components> {
    let p = theta.probabilities(items);
    let found = estimates(y, &counts, anchors, balance, &p, seen)?;
    let (mut weight, mut anchored) = (0.0, 0.0);
    let mut is_seen = vec![false; balance.len()];
    for anchor in anchors.iter().filter(|a| !y[a.item].is_nan()) {
        weight += anchor.weight;
        anchored += anchor.weight * p[anchor.item];
        is_seen[anchor.item] = true;
    }
    let (mut total, mut predicted) = (0.0, 0.0);
    let mut gradient = vec![0.0; items.dims()];
    let mut slope = vec![0.0; items.dims()];
    for i in (0..balance.len()).filter(|&i| counts(i) || is_seen[i]) {
        total += balance[i];
        predicted += balance[i] * p[i];
        items.logit(i, theta.theta.mean(0), Some(&mut slope));
        let steep = balance[i] * p[i] * (1.0 - p[i]);
        for (g, a) in gradient.iter_mut().zip(&slope) {
            *g += steep * a;
        }
    }
    let variance = packed::quadratic(theta.theta.cov(0), &gradient).max(0.0);
    let scores = anchors.iter().map(|a| {
        if y[a.item].is_nan() {
            p[a.item]
        } else {
            y[a.item]
        }
    });
    Some(Components {
        naive: found.naive,
        p_irt: found.p_irt,
        aipw: predicted / total + found.naive - anchored / weight,
        spread: variance.sqrt() / total,
        scores: scores.collect(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::irt::{AbilityMethod, Gaussians, Prior, ability};

    const N: usize = 8;

    fn items(z: &[f64]) -> ItemParameters {
        let cov = [0.1, 0.0, 0.1].repeat(N);
        ItemParameters::new(Gaussians::new(2, z.to_vec(), cov))
    }

    proptest! {
        #[test]
        fn aipw_is_what_it_is_defined_as(
            z in prop::collection::vec(-2.0..2.0f64, 2 * N),
            y in prop::collection::vec(prop_oneof![1 => Just(f64::NAN), 4 => 0.0..=1.0f64], N),
            balance in prop::collection::vec(0.2..2.0f64, N), ml: bool,
        ) {
            let items = items(&z);
            let method = if ml { AbilityMethod::MaximumLikelihood } else { AbilityMethod::Posterior };
            let theta = ability(&items, &y, &Prior::standard(1), method);
            let p = theta.probabilities(&items);
            let counts = |i: usize| !y[i].is_nan();
            let answered: Vec<usize> = (0..N).filter(|&i| counts(i)).collect();
            let of = |anchors: &[Anchor], y: &[f64]| {
                components(y, counts, anchors, &balance, &items, &theta, Seen::Anchor)
            };
            let total: f64 = answered.iter().map(|&i| balance[i]).sum();
            let mean = |x: &dyn Fn(usize) -> f64| answered.iter().map(|&i| balance[i] * x(i)).sum::<f64>() / total;
            let few = [Anchor { item: 1, weight: 0.3 }, Anchor { item: 5, weight: 0.7 }];
            if let Some(c) = of(&few, &y) {
                let seen: Vec<&Anchor> = few.iter().filter(|a| counts(a.item)).collect();
                let weight: f64 = seen.iter().map(|a| a.weight).sum();
                let rest: f64 = seen.iter().map(|a| a.weight * (y[a.item] - p[a.item])).sum();
                prop_assert!((c.aipw - mean(&|i| p[i]) - rest / weight).abs() < 1e-12);
                prop_assert_eq!(c.spread == 0.0, ml);
                let scores: Vec<f64> = few.iter().map(|a| if counts(a.item) { y[a.item] } else { p[a.item] }).collect();
                prop_assert_eq!(c.scores, scores);
                // Where the anchors answer as predicted, the predictions' mean.
                let as_predicted: Vec<f64> = (0..N).map(|i| if counts(i) { p[i] } else { f64::NAN }).collect();
                prop_assert!((of(&few, &as_predicted).unwrap().aipw - mean(&|i| p[i])).abs() < 1e-12);
            }
            // Every item an anchor that counts its balance weight: the true score, whatever is predicted.
            let every: Vec<Anchor> = (0..N).map(|item| Anchor { item, weight: balance[item] }).collect();
            if let Some(c) = of(&every, &y) {
                prop_assert!((c.aipw - mean(&|i| y[i])).abs() < 1e-12);
                prop_assert!((c.naive - c.aipw).abs() < 1e-12);
            }
        }
    }
}
