//! The estimates of one model on each sub-scenario.

use super::{Estimator, Seen};
use crate::anchors::Anchor;
use crate::data::SubScenario;

/// One test model on one sub-scenario: every item of it counts equally.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartEstimate {
    /// Mean of the items that the model answered; NaN where it answered none.
    pub truth: f64,
    /// Weighted mean of the scores on the part's chosen items; NaN where it answered none of them.
    pub naive: f64,
    /// The p-IRT estimate: the predictions alone where no chosen item of the part was answered, NaN where no item was.
    pub p_irt: f64,
}

impl PartEstimate {
    /// The estimate of one kind; `lambda` is for gp-IRT, which is p-IRT where no chosen item of the part was answered.
    pub fn get(&self, estimator: Estimator, lambda: f64) -> f64 {
        match estimator {
            Estimator::Naive => self.naive,
            Estimator::PIrt => self.p_irt,
            Estimator::GpIrt if self.naive.is_nan() => self.p_irt,
            Estimator::GpIrt => lambda * self.naive + (1.0 - lambda) * self.p_irt,
            // Nothing is learned of parts.
            _ => f64::NAN,
        }
    }
}

/// Estimates of a model of the matrix on each of `parts`, in order; none where there are fewer than two, as the scenario's
/// own [`estimates`](super::estimates) tell all. Indexed by position in the scenario: `y` scores (NaN where not answered),
/// `p` predicted probabilities, both at the ability that the whole selection tells.
///
/// With N items of the part answered and n of them chosen:
///
///   naive = sum of anchor weight y / sum of anchor weight, over the n;
///   p-IRT = (n / N) seen + (1 - n / N) mean of P over the N - n,
///
/// seen being naive ([`Seen::Anchor`]) or the mean of the n scores ([`Seen::Balance`]: balance weights are equal within a
/// sub-scenario).
///
/// Naive estimates of parts, weighted by the weights of their answered anchors, average to the scenario's exactly. So do
/// p-IRT estimates, weighted by balance weight times N (by N in a micro scenario), where the seen part is the plain one:
/// [`Seen::Balance`], or anchors of equal weight in a micro scenario. With other anchor weights a micro scenario's p-IRT is
/// that mean plus (n naive of the scenario - sum over parts of n naive) / N.
pub fn part_estimates(
    y: &[f64],
    anchors: &[Anchor],
    p: &[f64],
    parts: &[SubScenario],
    seen: Seen,
) -> Vec<PartEstimate> {
    if parts.len() < 2 {
        return Vec::new();
    }
    let mut weights = vec![None; y.len()];
    for anchor in anchors {
        weights[anchor.item] = Some(anchor.weight);
    }
    parts
        .iter()
        .map(|part| {
            let (mut n, mut unseen) = (0usize, 0usize);
            let (mut weight, mut weighted, mut plain) = (0.0, 0.0, 0.0);
            let (mut rest, mut predicted) = (0.0, 0.0);
            for i in part.items.clone().filter(|&i| !y[i].is_nan()) {
                match weights[i] {
                    Some(w) => {
                        n += 1;
                        weight += w;
                        weighted += w * y[i];
                        plain += y[i];
                    }
                    None => {
                        unseen += 1;
                        rest += y[i];
                        predicted += p[i];
                    }
                }
            }
            let total = (n + unseen) as f64;
            let naive = weighted / weight;
            let known = match (n, seen) {
                (0, _) => 0.0,
                (_, Seen::Anchor) => n as f64 * naive,
                (_, Seen::Balance) => plain,
            };
            // 0 / 0, so NaN, where the part has no answer.
            PartEstimate {
                truth: (plain + rest) / total,
                naive,
                p_irt: (known + predicted) / total,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::weighted_mean;
    use crate::estimate::estimates;

    fn parts(sizes: &[usize]) -> Vec<SubScenario> {
        let mut from = 0;
        let one = |&size: &usize| {
            from += size;
            SubScenario {
                name: String::new(),
                items: from - size..from,
            }
        };
        sizes.iter().map(one).collect()
    }

    fn anchors(of: &[(usize, f64)]) -> Vec<Anchor> {
        of.iter()
            .map(|&(item, weight)| Anchor { item, weight })
            .collect()
    }

    #[test]
    fn one_part_alone_has_no_estimates_of_its_own() {
        let chosen = anchors(&[(0, 1.0)]);
        assert!(
            part_estimates(&[1.0; 3], &chosen, &[0.5; 3], &parts(&[3]), Seen::Anchor).is_empty()
        );
    }

    #[test]
    fn when_every_item_is_chosen_the_estimate_is_the_truth() {
        let y = [0.0, 1.0, 1.0, 0.5, 0.0];
        let chosen = anchors(&[0, 1, 2, 3, 4].map(|i| (i, 0.2)));
        for seen in [Seen::Anchor, Seen::Balance] {
            let found = part_estimates(&y, &chosen, &[0.9; 5], &parts(&[2, 3]), seen);
            for (e, truth) in found.iter().zip([0.5, 0.5]) {
                for x in Estimator::PAPER.map(|k| e.get(k, 0.3)) {
                    assert!((x - truth).abs() < 1e-12 && e.truth == truth);
                }
            }
        }
    }

    #[test]
    fn seen_scores_take_their_share_and_predictions_the_rest() {
        let y = [1.0, 0.0, 1.0, f64::NAN, 1.0, 0.0];
        let p = [0.5, 0.5, 0.2, 0.9, 0.3, 0.4];
        // Of the first part 0 and 1 are seen and 2 is not, 3 not answered; of the second nothing is seen.
        let chosen = anchors(&[(0, 0.6), (1, 0.2), (3, 0.2)]);
        let of = |seen| part_estimates(&y, &chosen, &p, &parts(&[4, 2]), seen);
        let found = of(Seen::Anchor);
        assert!((found[0].truth - 2.0 / 3.0).abs() < 1e-12);
        assert!((found[0].naive - 0.75).abs() < 1e-12);
        assert!((found[0].p_irt - (2.0 * 0.75 + 0.2) / 3.0).abs() < 1e-12);
        assert!((of(Seen::Balance)[0].p_irt - (1.0 + 0.2) / 3.0).abs() < 1e-12);
        assert_eq!(of(Seen::Balance)[0].naive, found[0].naive);
        // Nothing seen: the predictions.
        assert!(found[1].naive.is_nan() && found[1].get(Estimator::Naive, 0.0).is_nan());
        for lambda in [0.0, 0.5, 1.0] {
            assert_eq!(found[1].get(Estimator::GpIrt, lambda), 0.35);
        }
        assert_eq!((found[1].truth, found[1].p_irt), (0.5, 0.35));
    }

    #[test]
    fn a_part_without_an_answer_or_an_item_is_nan() {
        let y = [1.0, f64::NAN];
        let chosen = anchors(&[(0, 0.5), (1, 0.5)]);
        let found = part_estimates(&y, &chosen, &[0.5; 2], &parts(&[1, 1, 0]), Seen::Anchor);
        assert_eq!((found.len(), found[0].truth), (3, 1.0));
        for e in &found[1..] {
            assert!(e.truth.is_nan() && e.naive.is_nan() && e.p_irt.is_nan());
        }
    }

    proptest! {
        #[test]
        fn parts_average_to_the_scenario(
            y in prop::collection::vec(prop_oneof![1 => Just(f64::NAN), 3 => 0.0..=1.0f64], 12),
            p in prop::collection::vec(0.0..=1.0f64, 12),
            weights in prop::collection::vec(prop::option::of(0.05..1.0f64), 12),
            macro_: bool, first in 1usize..6, lambda in 0.0..=1.0f64,
        ) {
            let parts = parts(&[first, 4, 8 - first]);
            let of_part = |k: usize| if macro_ { 4.0 / parts[k].items.len() as f64 } else { 1.0 };
            let balance: Vec<f64> = (0..3).flat_map(|k| vec![of_part(k); parts[k].items.len()]).collect();
            let chosen: Vec<Anchor> = weights.iter().enumerate()
                .filter_map(|(item, w)| w.map(|weight| Anchor { item, weight })).collect();
            let equal: Vec<Anchor> = chosen.iter().map(|a| Anchor { weight: 0.1, ..*a }).collect();
            let answered = |k: usize| parts[k].items.clone().filter(|&i| !y[i].is_nan()).count() as f64;
            let count: Vec<f64> = (0..3).map(|k| of_part(k) * answered(k)).collect();
            let mean = |anchors: &[Anchor], seen, of: &dyn Fn(&PartEstimate) -> f64, by: &[f64]| {
                let x: Vec<f64> = part_estimates(&y, anchors, &p, &parts, seen).iter().map(of).collect();
                weighted_mean(by, &x)
            };
            let truth = weighted_mean(&balance, &y);
            let of_parts = mean(&chosen, Seen::Anchor, &|e| e.truth, &count);
            prop_assert_eq!(truth.is_some(), of_parts.is_some());
            if let (Some(a), Some(b)) = (truth, of_parts) { prop_assert!((a - b).abs() < 1e-12); }
            let whole = |anchors: &[Anchor], seen| estimates(&y, |i| !y[i].is_nan(), anchors, &balance, &p, seen);
            if let Some(e) = whole(&chosen, Seen::Balance) {
                let x = mean(&chosen, Seen::Balance, &|e| e.p_irt, &count).unwrap();
                prop_assert!((x - e.p_irt).abs() < 1e-12);
                if !macro_ {
                    let x = mean(&equal, Seen::Anchor, &|e| e.p_irt, &count).unwrap();
                    let e = whole(&equal, Seen::Anchor).unwrap();
                    prop_assert!((x - e.p_irt).abs() < 1e-12);
                }
                let by: Vec<f64> = parts.iter().map(|part| chosen.iter()
                    .filter(|a| part.items.contains(&a.item) && !y[a.item].is_nan()).map(|a| a.weight).sum()).collect();
                let x = mean(&chosen, Seen::Anchor, &|e| e.naive, &by).unwrap();
                prop_assert!((x - e.naive).abs() < 1e-12);
                // Any weights, micro: apart by what the seen parts differ by.
                if !macro_ {
                    let total: f64 = count.iter().sum();
                    let found = part_estimates(&y, &chosen, &p, &parts, Seen::Anchor);
                    let n = |k: usize| chosen.iter()
                        .filter(|a| parts[k].items.contains(&a.item) && !y[a.item].is_nan()).count() as f64;
                    let seen: f64 = (0..3).filter(|&k| n(k) > 0.0).map(|k| n(k) * found[k].naive).sum();
                    let whole = whole(&chosen, Seen::Anchor).unwrap();
                    let gap = (e.answered as f64 * whole.naive - seen) / total;
                    let x = mean(&chosen, Seen::Anchor, &|e| e.p_irt, &count).unwrap();
                    prop_assert!((whole.p_irt - x - gap).abs() < 1e-12);
                }
            }
            for e in part_estimates(&y, &chosen, &p, &parts, Seen::Anchor) {
                for x in Estimator::PAPER.map(|k| e.get(k, lambda)) {
                    prop_assert!(x.is_nan() || (-1e-12..=1.0 + 1e-12).contains(&x));
                }
                prop_assert_eq!(e.truth.is_nan(), e.p_irt.is_nan());
            }
        }
    }
}
