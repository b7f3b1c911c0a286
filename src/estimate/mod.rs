//! A model's score from its answers on the chosen items: naive, p-IRT, gp-IRT (paper, section 3.3), and estimators that are
//! learned from the training models ([`Stacker`]).

mod adaptive;
mod components;
mod interval;
mod part;
mod ridge;
mod simplex;
mod stacked;

use crate::anchors::{Anchor, SelectionKind};

pub use adaptive::{AdaptiveCalibration, Known, Stage};
pub use components::{Components, components};
pub use interval::{Calibration, Interval};
pub use part::{PartEstimate, part_estimates};
pub use ridge::Ridge;
pub use simplex::simplex_weights;
pub use stacked::{Example, HeldOut, PARTS, Refitted, Stacker};

/// The estimators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Estimator {
    /// Weighted mean of the scores on the chosen items.
    Naive,
    /// The seen scores, and the model's predictions for the rest.
    PIrt,
    /// lambda naive + (1 - lambda) p-IRT.
    GpIrt,
    /// Difference estimator (AIPW): mean of w P + weighted mean over the anchors of (y - P).
    Aipw,
    /// lambda naive + (1 - lambda) p-IRT, lambda of the least squared error of held-out training models.
    GpIrtCv,
    /// Ridge regression of the true score on the n scores.
    Ridge,
    /// Convex combination of naive, p-IRT, AIPW and ridge, with the weights of the least squared error of held-out training
    /// models.
    Stacked,
}

impl Estimator {
    /// The paper's.
    pub const PAPER: [Self; 3] = [Self::Naive, Self::PIrt, Self::GpIrt];

    /// Those that learn from held-out training models.
    pub const LEARNED: [Self; 4] = [Self::Aipw, Self::GpIrtCv, Self::Ridge, Self::Stacked];

    /// All estimators, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::Naive,
        Self::PIrt,
        Self::GpIrt,
        Self::Aipw,
        Self::GpIrtCv,
        Self::Ridge,
        Self::Stacked,
    ];

    /// `naive`, `p-irt`, `gp-irt`, `aipw`, `gp-irt-cv`, `ridge` or `stacked`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::PIrt => "p-irt",
            Self::GpIrt => "gp-irt",
            Self::Aipw => "aipw",
            Self::GpIrtCv => "gp-irt-cv",
            Self::Ridge => "ridge",
            Self::Stacked => "stacked",
        }
    }
}

/// How the seen part of p-IRT is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Seen {
    /// Sum of anchor weight times score: the paper's experiments.
    #[default]
    Anchor,
    /// (Sum over seen of balance weight times score) / n: the published package.
    Balance,
}

impl Seen {
    /// `anchor` or `balance`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Balance => "balance",
        }
    }
}

/// Estimates of one model on one scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimates {
    /// Weighted mean of the scores on the chosen items.
    pub naive: f64,
    /// The p-IRT estimate.
    pub p_irt: f64,
    /// How many chosen items the model answered.
    pub answered: usize,
    /// What is learned from training models, where there were enough of them and it was asked for.
    pub learned: Option<Learned>,
}

/// The learned estimates of one model on one scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learned {
    /// In the order of [`Estimator::LEARNED`], in \[0, 1\].
    pub scores: [f64; 4],
    /// As [`Components::spread`]: what intervals scale with.
    pub spread: f64,
}

impl Estimates {
    /// The estimate of one kind; `lambda` is for gp-IRT. `None` for a learned one that there is not.
    pub fn get(&self, estimator: Estimator, lambda: f64) -> Option<f64> {
        let learned = |at: usize| self.learned.map(|l| l.scores[at]);
        match estimator {
            Estimator::Naive => Some(self.naive),
            Estimator::PIrt => Some(self.p_irt),
            Estimator::GpIrt => Some(lambda * self.naive + (1.0 - lambda) * self.p_irt),
            Estimator::Aipw => learned(0),
            Estimator::GpIrtCv => learned(1),
            Estimator::Ridge => learned(2),
            Estimator::Stacked => learned(3),
        }
    }
}

/// Estimates from a model's scores on the chosen items. Everything is indexed by position in the scenario:
/// `y` scores (NaN where not answered), `counts` which items make up the score that is estimated (for a model of the matrix
/// those it answered), `balance` weights and `p` predicted probabilities.
///
/// With N counted items, n of them seen and balance weights scaled to mean 1 over them:
///
///   naive = sum of anchor weight y / sum of anchor weight, over the anchors answered;
///   p-IRT = (n / N) seen + (1 - n / N) (sum over unseen of w P) / (N - n).
///
/// `None` when no chosen item was answered.
pub fn estimates(
    y: &[f64],
    counts: impl Fn(usize) -> bool,
    anchors: &[Anchor],
    balance: &[f64],
    p: &[f64],
    seen: Seen,
) -> Option<Estimates> {
    let (mut weight, mut weighted, mut balanced) = (0.0, 0.0, 0.0);
    let mut is_seen = vec![false; balance.len()];
    let mut n = 0;
    for anchor in anchors.iter().filter(|a| !y[a.item].is_nan()) {
        weight += anchor.weight;
        weighted += anchor.weight * y[anchor.item];
        balanced += balance[anchor.item] * y[anchor.item];
        is_seen[anchor.item] = true;
        n += 1;
    }
    if n == 0 {
        return None;
    }
    let naive = weighted / weight;
    let (mut total, mut balance_total, mut unseen) = (0usize, 0.0, 0.0);
    for i in (0..balance.len()).filter(|&i| counts(i) || is_seen[i]) {
        total += 1;
        balance_total += balance[i];
        if !is_seen[i] {
            unseen += balance[i] * p[i];
        }
    }
    // Balance weights have mean 1 over the items that count.
    let scale = total as f64 / balance_total;
    let seen = match seen {
        Seen::Anchor => naive,
        Seen::Balance => scale * balanced / n as f64,
    };
    let share = n as f64 / total as f64;
    let rest = if n < total {
        scale * unseen / (total - n) as f64
    } else {
        0.0
    };
    Some(Estimates {
        naive,
        p_irt: share * seen + (1.0 - share) * rest,
        answered: n,
        learned: None,
    })
}

/// The paper's lambda: b^2 / (b^2 + v), b the validation error, v = s2 / n for random items and s2 / (4 n) for anchors,
/// s2 the mean over training models of the variance of their scores. 0 where both vanish (p-IRT is then exact), and where
/// b is unknown (NaN) too.
pub fn paper_lambda(kind: SelectionKind, b: f64, s2: f64, n: usize) -> f64 {
    let v = match kind {
        SelectionKind::Random => s2 / n as f64,
        SelectionKind::AnchorsCorrectness | SelectionKind::AnchorsIrt => s2 / (4.0 * n as f64),
    };
    let lambda = b * b / (b * b + v);
    if lambda.is_nan() { 0.0 } else { lambda }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(_: usize) -> bool {
        true
    }

    proptest! {
        #[test]
        fn estimates_stay_between_the_scores_and_follow_lambda(
            y in prop::collection::vec(prop_oneof![Just(f64::NAN), 0.0..=1.0f64], 8),
            p in prop::collection::vec(0.0..=1.0f64, 8), lambda in 0.0..=1.0f64,
        ) {
            let anchors = [Anchor { item: 1, weight: 0.2 }, Anchor { item: 4, weight: 0.5 }, Anchor { item: 6, weight: 0.3 }];
            let found = estimates(&y, all, &anchors, &[1.0; 8], &p, Seen::Anchor);
            prop_assert_eq!(found.is_none(), [1, 4, 6].iter().all(|&i: &usize| y[i].is_nan()));
            if let Some(e) = found {
                for x in Estimator::PAPER.map(|k| e.get(k, lambda).unwrap()) {
                    prop_assert!((-1e-12..=1.0 + 1e-12).contains(&x));
                }
                prop_assert!(Estimator::LEARNED.iter().all(|k| e.get(*k, lambda).is_none()));
                prop_assert_eq!(e.get(Estimator::GpIrt, 1.0), Some(e.naive));
                prop_assert_eq!(e.get(Estimator::GpIrt, 0.0), Some(e.p_irt));
            }
        }

        #[test]
        fn lambda_is_a_share(b in 0.0..0.5f64, s2 in 0.0..0.25f64, n in 1usize..500) {
            for kind in SelectionKind::ALL {
                prop_assert!((0.0..=1.0).contains(&paper_lambda(kind, b, s2, n)));
            }
        }
    }

    #[test]
    fn when_every_item_is_an_anchor_the_estimate_is_the_score() {
        let y = [0.0, 1.0, 1.0, 0.5];
        let anchors: Vec<Anchor> = (0..4).map(|item| Anchor { item, weight: 0.25 }).collect();
        let e = estimates(&y, all, &anchors, &[1.0; 4], &[0.9; 4], Seen::Balance).unwrap();
        assert_eq!((e.naive, e.p_irt), (0.625, 0.625));
        assert_eq!(paper_lambda(SelectionKind::Random, 0.0, 0.0, 10), 0.0);
        assert_eq!(paper_lambda(SelectionKind::Random, f64::NAN, 0.1, 10), 0.0);
    }
}
