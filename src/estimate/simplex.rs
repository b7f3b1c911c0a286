//! Least squares on the simplex.

use crate::irt::packed;

/// The weights w >= 0, sum w = 1, that minimise
///
///   mean over rows of (errors . w)^2 + shrink s |w - 1/K|^2,  s the mean over columns of the mean squared error;
///
/// exactly, by solving every set of positive weights (2^K - 1 of them) and keeping the best that is feasible. Equal weights
/// where there is no row.
pub fn simplex_weights<const K: usize>(errors: &[[f64; K]], shrink: f64) -> [f64; K] {
    let equal = [1.0 / K as f64; K];
    let mut a = [[0.0; K]; K];
    for e in errors {
        for i in 0..K {
            for j in 0..K {
                a[i][j] += e[i] * e[j] / errors.len() as f64;
            }
        }
    }
    let scale = (0..K).map(|i| a[i][i]).sum::<f64>() / K as f64;
    if scale <= 0.0 || !scale.is_finite() {
        return equal;
    }
    // What keeps equal columns apart, whatever `shrink` is.
    let pull = shrink.max(1e-9) * scale;
    for (i, row) in a.iter_mut().enumerate() {
        row[i] += pull;
    }
    // w' A w - 2 pull / K sum w, and the sum is 1: the linear term is a constant.
    let objective = |w: &[f64; K]| -> f64 {
        (0..K)
            .map(|i| w[i] * (0..K).map(|j| a[i][j] * w[j]).sum::<f64>())
            .sum()
    };
    let mut best = (f64::INFINITY, equal);
    for set in 1usize..1 << K {
        let members: Vec<usize> = (0..K).filter(|i| set >> i & 1 == 1).collect();
        let k = members.len();
        let mut part = vec![0.0; packed::len(k)];
        for i in 0..k {
            for j in 0..=i {
                part[packed::at(i, j)] = a[members[i]][members[j]];
            }
        }
        let mut w = vec![1.0; k];
        packed::cholesky(&mut part, k);
        packed::solve(&part, k, &mut w);
        let total: f64 = w.iter().sum();
        let mut full = [0.0; K];
        for (&i, w) in members.iter().zip(&w) {
            full[i] = w / total;
        }
        let value = objective(&full);
        if full.iter().all(|&w| w >= 0.0) && value < best.0 {
            best = (value, full);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn weights_are_on_the_simplex_and_no_neighbour_is_better(
            errors in prop::collection::vec(prop::array::uniform4(-0.2..0.2f64), 1..30), shrink in 0.0..0.5f64,
            other in prop::array::uniform4(0.0..1.0f64),
        ) {
            let w = simplex_weights(&errors, shrink);
            prop_assert!(w.iter().all(|&w| w >= 0.0));
            prop_assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let n = errors.len() as f64;
            let scale = errors.iter().flatten().map(|e| e * e).sum::<f64>() / n / 4.0;
            let cost = |w: &[f64; 4]| {
                let fit = errors.iter().map(|e| e.iter().zip(w).map(|(e, w)| e * w).sum::<f64>().powi(2)).sum::<f64>() / n;
                fit + shrink.max(1e-9) * scale * w.iter().map(|w| (w - 0.25).powi(2)).sum::<f64>()
            };
            let total: f64 = other.iter().sum::<f64>().max(1e-9);
            for step in [1e-3, 0.1, 1.0] {
                let mut moved = w;
                for (m, o) in moved.iter_mut().zip(&other) {
                    *m = (1.0 - step) * *m + step * o / total;
                }
                prop_assert!(cost(&w) <= cost(&moved) + 1e-12);
            }
        }
    }

    #[test]
    fn one_that_is_never_wrong_gets_everything_and_nothing_known_is_shared() {
        let errors = [[0.1, 0.0, -0.2], [0.3, 0.0, 0.1], [-0.1, 0.0, 0.2]];
        assert!(simplex_weights(&errors, 0.0)[1] > 1.0 - 1e-6);
        assert_eq!(simplex_weights::<4>(&[], 0.1), [0.25; 4]);
        assert_eq!(simplex_weights(&[[0.0; 2]; 3], 0.1), [0.5; 2]);
    }
}
