//! How far estimates are from true scores, over test models.

/// Errors and rank correlations over models. What cannot be computed is `None`, never 0 or NaN.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Metrics {
    /// Number of models.
    #[serde(skip)]
    pub models: usize,
    /// Mean |estimate - truth| (the paper's average estimation error); `None` without models.
    pub mae: Option<f64>,
    /// Root of the mean squared error.
    pub rmse: Option<f64>,
    /// Mean of estimate - truth.
    pub bias: Option<f64>,
    /// Largest |estimate - truth|.
    pub max_error: Option<f64>,
    /// Spearman's rho with average ranks; `None` where estimates or truths are all the same.
    pub spearman: Option<f64>,
    /// Kendall's tau-b; `None` where estimates or truths are all the same.
    pub kendall: Option<f64>,
    /// Share of the truly best 5 models that are found among the 5 with the highest estimates; see [`top_recall`]. `None`
    /// with 5 models or fewer.
    pub top5_recall: Option<f64>,
    /// Share of pairs of models put in the right order; see [`pairs_in_order`]. `None` where no pair differs.
    pub pairs_in_order: Option<f64>,
}

impl Metrics {
    /// Metrics of (truth, estimate) pairs.
    pub fn of(pairs: &[(f64, f64)]) -> Self {
        let n = pairs.len() as f64;
        let over = |f: &dyn Fn(f64) -> f64| {
            (!pairs.is_empty()).then(|| pairs.iter().map(|(t, e)| f(e - t)).sum::<f64>() / n)
        };
        let (truth, estimate): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        Self {
            models: pairs.len(),
            mae: over(&f64::abs),
            rmse: over(&|e| e * e).map(f64::sqrt),
            bias: over(&|e| e),
            max_error: pairs.iter().map(|(t, e)| (e - t).abs()).reduce(f64::max),
            spearman: spearman(&truth, &estimate),
            kendall: kendall_tau_b(&truth, &estimate),
            top5_recall: top_recall(&truth, &estimate, 5),
            pairs_in_order: pairs_in_order(&truth, &estimate),
        }
    }
}

/// Average ranks, from 1 for the smallest; equal values share the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut out = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let mut to = from + 1;
        while to < order.len() && values[order[to]] == values[order[from]] {
            to += 1;
        }
        for &i in &order[from..to] {
            out[i] = (from + 1 + to) as f64 / 2.0;
        }
        from = to;
    }
    out
}

/// Spearman's rank correlation: Pearson's of the average ranks. `None` for fewer than two values or constant ones.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    let (x, y) = (ranks(x), ranks(y));
    let middle = (x.len() as f64 + 1.0) / 2.0;
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(&y) {
        let (a, b) = (a - middle, b - middle);
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

/// Kendall's tau-b, corrected for ties on both sides. `None` for fewer than two values or constant ones. O(n^2).
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mut agree, mut x_differs, mut y_differs) = (0i64, 0i64, 0i64);
    for i in 0..x.len() {
        for j in 0..i {
            let a = sign(x[i], x[j]);
            let b = sign(y[i], y[j]);
            agree += a * b;
            x_differs += a.abs();
            y_differs += b.abs();
        }
    }
    (x_differs > 0 && y_differs > 0)
        .then(|| agree as f64 / (x_differs as f64 * y_differs as f64).sqrt())
}

/// Share of the `k` models with the highest truths that are among the `k` with the highest estimates, in \[0, 1\]. Ties at
/// the boundary count on both sides: truly best is every model whose truth is at least the k-th highest, found every one of
/// them whose estimate is at least the k-th highest. `None` with `k` models or fewer, and for k = 0.
pub fn top_recall(truth: &[f64], estimate: &[f64], k: usize) -> Option<f64> {
    if k == 0 || truth.len() <= k {
        return None;
    }
    let boundary = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        sorted[k - 1]
    };
    let (least_truth, least_estimate) = (boundary(truth), boundary(estimate));
    let best = truth
        .iter()
        .zip(estimate)
        .filter(|(t, _)| **t >= least_truth);
    let (found, all) = best.fold((0, 0), |(found, all), (_, e)| {
        (found + usize::from(*e >= least_estimate), all + 1)
    });
    (all > 0).then(|| found as f64 / all as f64)
}

/// Share of the pairs of models with different truths whose estimates are in the same order, in \[0, 1\]; equal estimates
/// count half. `None` where no pair differs. O(n^2).
pub fn pairs_in_order(truth: &[f64], estimate: &[f64]) -> Option<f64> {
    let (mut twice_right, mut pairs) = (0i64, 0i64);
    for i in 0..truth.len() {
        for j in 0..i {
            let true_order = sign(truth[i], truth[j]);
            if true_order != 0 {
                pairs += 1;
                twice_right += 1 + true_order * sign(estimate[i], estimate[j]);
            }
        }
    }
    (pairs > 0).then(|| twice_right as f64 / (2 * pairs) as f64)
}

fn sign(a: f64, b: f64) -> i64 {
    i64::from(a > b) - i64::from(a < b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn undefined_is_none() {
        let none = Metrics::of(&[]);
        assert!(none.mae.is_none() && none.spearman.is_none());
        let constant = Metrics::of(&[(0.5, 0.4), (0.5, 0.6)]);
        assert!(constant.spearman.is_none() && constant.kendall.is_none());
        assert!(constant.bias.is_some_and(|b| b.abs() < 1e-12));
    }

    #[test]
    fn ties_share_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        // Known value: one tied pair in x.
        let tau = kendall_tau_b(&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((tau - 5.0 / 30f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn known_orders() {
        let truth = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];
        // The fifth and the sixth change places: 4 of 5, and 20 of 21 pairs.
        let estimate = [0.9, 0.8, 0.7, 0.6, 0.4, 0.5, 0.3];
        let m = Metrics::of(&truth.iter().copied().zip(estimate).collect::<Vec<_>>());
        assert_eq!(m.top5_recall, Some(0.8));
        assert_eq!(m.pairs_in_order, Some(20.0 / 21.0));
        // The sixth estimate ties with the fifth: both are found, and a pair counts half.
        let tied = [0.9, 0.8, 0.7, 0.6, 0.5, 0.5, 0.3];
        assert_eq!(top_recall(&truth, &tied, 5), Some(1.0));
        assert_eq!(pairs_in_order(&truth, &tied), Some(20.5 / 21.0));
        // Six are truly among the best five; one of them is not found.
        assert_eq!(top_recall(&tied, &estimate, 5), Some(5.0 / 6.0));
        assert_eq!(pairs_in_order(&tied, &estimate), Some(1.0));
        // Undefined.
        assert_eq!(top_recall(&truth[..5], &estimate[..5], 5), None);
        assert_eq!(pairs_in_order(&[0.5; 3], &estimate[..3]), None);
        assert_eq!(Metrics::of(&[]).pairs_in_order, None);
    }

    proptest! {
        #[test]
        fn orders_are_shares_and_perfect_for_the_truth(x in prop::collection::vec((0u8..9, 0u8..9), 2..30)) {
            let (a, b): (Vec<f64>, Vec<f64>) = x.iter().map(|&(a, b)| (f64::from(a), f64::from(b))).unzip();
            let back: Vec<f64> = b.iter().map(|b| -b).collect();
            if let Some(r) = pairs_in_order(&a, &b) {
                prop_assert!((0.0..=1.0).contains(&r));
                prop_assert!((r + pairs_in_order(&a, &back).unwrap() - 1.0).abs() < 1e-12);
                prop_assert_eq!(pairs_in_order(&a, &a), Some(1.0));
            }
            if let Some(r) = top_recall(&a, &b, 5) {
                prop_assert!((0.0..=1.0).contains(&r));
                prop_assert_eq!(top_recall(&a, &a, 5), Some(1.0));
            }
        }

        #[test]
        fn correlations_are_symmetric_and_bounded(x in prop::collection::vec((0u8..5, 0u8..5), 2..30)) {
            let (a, b): (Vec<f64>, Vec<f64>) = x.iter().map(|&(a, b)| (f64::from(a), f64::from(b))).unzip();
            for f in [spearman, kendall_tau_b] {
                prop_assert_eq!(f(&a, &b), f(&b, &a));
                if let Some(r) = f(&a, &b) { prop_assert!((-1.0 - 1e-12..=1.0 + 1e-12).contains(&r)); }
                if let Some(r) = f(&a, &a) { prop_assert!((r - 1.0).abs() < 1e-12); }
            }
        }
    }
}
