//! Ridge regression with the penalty chosen by leave-one-out errors in closed form.

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use serde::{Deserialize, Serialize};

/// Penalties that are tried, as multiples of the mean squared length of a centred row.
const PENALTIES: [f64; 13] = [
    0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0,
];

/// y = intercept + x . coefficients, fitted by least squares + penalty |coefficients|^2 on centred x and y.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ridge {
    /// Mean of y over the rows.
    pub level: f64,
    /// Mean of each column over the rows where it is not missing.
    pub centre: Vec<f64>,
    /// One a column.
    pub coefficients: Vec<f64>,
    /// The penalty, as a multiple of the mean squared length of a centred row.
    pub penalty: f64,
    /// Leave-one-out prediction of each row, in closed form: y - (y - fitted) / (1 - h), h the leverage.
    #[serde(skip)]
    pub left_out: Vec<f64>,
}

impl Ridge {
    /// Fits `y` (L values) on `rows` (L rows of n; NaN counts as the column's mean) with the penalty of the smallest mean
    /// squared leave-one-out error, or with `penalty`. One eigendecomposition of size min(L, n) serves all penalties.
    ///
    /// `None` for fewer than two rows.
    pub fn fit(rows: &[&[f64]], y: &[f64], penalty: Option<f64>) -> Option<Self> {
        let (l, n) = (rows.len(), rows.first()?.len());
        if l < 2 || y.len() != l {
            return None;
        }
        let level = y.iter().sum::<f64>() / l as f64;
        let centre: Vec<f64> = (0..n).map(|j| column_mean(rows, j)).collect();
        let z = DMatrix::from_fn(l, n, |i, j| {
            let x = rows[i][j];
            if x.is_nan() { 0.0 } else { x - centre[j] }
        });
        let r = DVector::from_iterator(l, y.iter().map(|y| y - level));
        let (u, squares) = left_singular(&z);
        let scale = (z.norm_squared() / l as f64).max(f64::MIN_POSITIVE);
        let projected = u.transpose() * &r;
        let leave_one_out = |penalty: f64| -> Vec<f64> {
            let kept = squares.map(|s| s / (s + penalty * scale));
            let fitted = &u * projected.component_mul(&kept);
            (0..l)
                .map(|i| {
                    let own = (0..kept.len())
                        .map(|k| u[(i, k)].powi(2) * kept[k])
                        .sum::<f64>();
                    let leverage = (1.0 / l as f64 + own).min(1.0 - 1e-9);
                    y[i] - (r[i] - fitted[i]) / (1.0 - leverage)
                })
                .collect()
        };
        let error = |left_out: &[f64]| -> f64 {
            left_out.iter().zip(y).map(|(p, y)| (p - y).powi(2)).sum()
        };
        let tried: Vec<f64> = penalty.map_or(PENALTIES.to_vec(), |p| vec![p]);
        let (penalty, left_out) = tried
            .into_iter()
            .map(|p| (p, leave_one_out(p)))
            .min_by(|a, b| error(&a.1).total_cmp(&error(&b.1)))?;
        let dual = &u
            * DVector::from_iterator(
                squares.len(),
                projected
                    .iter()
                    .zip(squares.iter())
                    .map(|(r, s)| r / (s + penalty * scale)),
            );
        Some(Self {
            level,
            centre,
            coefficients: (z.transpose() * dual).iter().copied().collect(),
            penalty,
            left_out,
        })
    }

    /// The prediction for one row; NaN counts as the column's mean.
    pub fn predict(&self, x: &[f64]) -> f64 {
        let terms = x.iter().zip(&self.centre).zip(&self.coefficients);
        self.level
            + terms
                .map(|((x, m), b)| if x.is_nan() { 0.0 } else { (x - m) * b })
                .sum::<f64>()
    }
}

fn column_mean(rows: &[&[f64]], j: usize) -> f64 {
    let present = rows.iter().map(|r| r[j]).filter(|x| !x.is_nan());
    let (sum, n) = present.fold((0.0, 0usize), |(s, n), x| (s + x, n + 1));
    if n == 0 { 0.5 } else { sum / n as f64 }
}

/// Left singular vectors of z with a positive singular value (L x rank), and the squares of those.
fn left_singular(z: &DMatrix<f64>) -> (DMatrix<f64>, DVector<f64>) {
    let (l, n) = z.shape();
    let wide = n > l;
    let gram = if wide {
        z * z.transpose()
    } else {
        z.transpose() * z
    };
    let eigen = SymmetricEigen::new(gram);
    let floor = 1e-10 * eigen.eigenvalues.max().max(f64::MIN_POSITIVE);
    let kept: Vec<usize> = (0..eigen.eigenvalues.len())
        .filter(|&k| eigen.eigenvalues[k] > floor)
        .collect();
    let squares = DVector::from_iterator(kept.len(), kept.iter().map(|&k| eigen.eigenvalues[k]));
    let vectors = eigen.eigenvectors.select_columns(&kept);
    if wide {
        return (vectors, squares);
    }
    let mut u = z * vectors;
    for (k, mut column) in u.column_iter_mut().enumerate() {
        column /= squares[k].sqrt();
    }
    (u, squares)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn leave_one_out_in_closed_form_is_leaving_one_out(
            cells in prop::collection::vec(0.0..1.0f64, 84), y in prop::collection::vec(0.0..1.0f64, 12),
            wide: bool, penalty in 0.05..10.0f64,
        ) {
            let (l, n) = if wide { (6, 14) } else { (12, 7) };
            let rows: Vec<&[f64]> = cells.chunks(n).take(l).collect();
            let y = &y[..l];
            let ridge = Ridge::fit(&rows, y, Some(penalty)).unwrap();
            let of = |z: &[&[f64]]| {
                let means: Vec<f64> = (0..n).map(|j| column_mean(z, j)).collect();
                z.iter().flat_map(|r| r.iter().zip(&means).map(|(x, m)| (x - m).powi(2)).collect::<Vec<_>>()).sum::<f64>()
                    / z.len() as f64
            };
            for out in 0..l {
                let keep = |i: &usize| *i != out;
                let rest: Vec<&[f64]> = (0..l).filter(keep).map(|i| rows[i]).collect();
                let rest_y: Vec<f64> = (0..l).filter(keep).map(|i| y[i]).collect();
                // The same penalty in absolute terms.
                let same = penalty * of(&rows) / of(&rest);
                let brute = Ridge::fit(&rest, &rest_y, Some(same)).unwrap().predict(rows[out]);
                prop_assert!((brute - ridge.left_out[out]).abs() < 1e-6, "{brute} {}", ridge.left_out[out]);
            }
        }

        #[test]
        fn the_best_of_the_penalties_is_chosen(cells in prop::collection::vec(0.0..1.0f64, 40), y in prop::collection::vec(0.0..1.0f64, 10)) {
            let rows: Vec<&[f64]> = cells.chunks(4).collect();
            let error = |r: &Ridge| r.left_out.iter().zip(&y).map(|(p, y)| (p - y).powi(2)).sum::<f64>();
            let chosen = error(&Ridge::fit(&rows, &y, None).unwrap());
            for p in PENALTIES {
                prop_assert!(chosen <= error(&Ridge::fit(&rows, &y, Some(p)).unwrap()) + 1e-15);
            }
        }
    }

    #[test]
    fn what_cannot_be_regressed_gives_the_mean() {
        let rows = [
            [0.5, f64::NAN].as_slice(),
            &[0.5, f64::NAN],
            &[0.5, f64::NAN],
        ];
        let ridge = Ridge::fit(&rows, &[0.1, 0.2, 0.6], None).unwrap();
        assert!((ridge.predict(&[1.0, 1.0]) - 0.3).abs() < 1e-9);
        assert!((ridge.left_out[2] - 0.15).abs() < 1e-9);
        assert!(Ridge::fit(&rows[..1], &[0.1], None).is_none());
    }
}
