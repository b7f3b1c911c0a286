//! Symmetric matrices packed as lower triangles, row by row: entry (i, j), j <= i, stands at i (i + 1) / 2 + j.
//!
//! The last variable's row comes last, so the leading k x k block of a packed matrix is a prefix of it. What the sweeps do for
//! every item takes one matrix, or one of each lane.

use super::lane::Number;

/// Number of entries of a packed k x k matrix.
#[inline]
pub(crate) const fn len(k: usize) -> usize {
    k * (k + 1) / 2
}

/// Position of (i, j), in either order.
#[inline]
pub(crate) const fn at(i: usize, j: usize) -> usize {
    if i >= j { len(i) + j } else { len(j) + i }
}

/// Factors a positive definite matrix in place into its Cholesky factor (lower triangle, packed) and returns the log
/// determinant of the matrix. Pivots are kept above a tiny fraction of the diagonal, so that the result is always finite
/// for finite input.
#[inline(always)]
pub(crate) fn cholesky<E: Number>(m: &mut [E], k: usize) -> E {
    let (mut log_det, mut product) = (E::of(0.0), E::of(1.0));
    for i in 0..k {
        let (done, row) = m.split_at_mut(len(i));
        let row = &mut row[..i + 1];
        for j in 0..i {
            let other = &done[len(j)..len(j) + j + 1];
            let mut sum = row[j];
            for p in 0..j {
                sum = sum - row[p] * other[p];
            }
            row[j] = sum / other[j];
        }
        let diagonal = row[i];
        let mut sum = diagonal;
        for &x in &row[..i] {
            sum = sum - x * x;
        }
        let pivot = sum
            .max(diagonal.map(f64::abs) * E::of(1e-14))
            .max(E::of(f64::MIN_POSITIVE.sqrt()));
        row[i] = pivot.map(f64::sqrt);
        product = product * pivot;
        E::settle(&mut product, &mut log_det);
    }
    log_det + product.map(f64::ln)
}

/// Solves L L' x = b in place, `l` as [`cholesky`] leaves it.
#[inline(always)]
pub(crate) fn solve<E: Number>(l: &[E], k: usize, b: &mut [E]) {
    for i in 0..k {
        let row = &l[len(i)..len(i) + i + 1];
        let mut sum = b[i];
        for p in 0..i {
            sum = sum - row[p] * b[p];
        }
        b[i] = sum / row[i];
    }
    for i in (0..k).rev() {
        let mut sum = b[i];
        for p in i + 1..k {
            sum = sum - l[at(p, i)] * b[p];
        }
        b[i] = sum / l[at(i, i)];
    }
}

/// Turns a Cholesky factor into the inverse of the factored matrix, (L L')^-1, in place.
#[inline(always)]
pub(crate) fn invert<E: Number>(l: &mut [E], k: usize) {
    // L^-1, row by row: rows above are already inverted.
    for i in 0..k {
        let (done, row) = l.split_at_mut(len(i));
        let row = &mut row[..i + 1];
        let pivot = E::of(1.0) / row[i];
        for j in 0..i {
            let mut sum = E::of(0.0);
            for p in j..i {
                sum = sum + row[p] * done[at(p, j)];
            }
            row[j] = (E::of(0.0) - sum) * pivot;
        }
        row[i] = pivot;
    }
    // (L^-1)' L^-1: entry (i, j) needs rows i.. only, so it may overwrite from the top.
    for i in 0..k {
        for j in 0..=i {
            let mut sum = E::of(0.0);
            for p in i..k {
                sum = sum + l[at(p, i)] * l[at(p, j)];
            }
            l[at(i, j)] = sum;
        }
    }
}

/// x' M x.
pub(crate) fn quadratic(m: &[f64], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, &xi) in x.iter().enumerate() {
        let row = &m[len(i)..len(i) + i + 1];
        let mut dot = 0.0;
        for p in 0..i {
            dot += row[p] * x[p];
        }
        sum += xi * (2.0 * dot + row[i] * xi);
    }
    sum
}

/// M x.
pub(crate) fn times(m: &[f64], x: &[f64], out: &mut [f64]) {
    for (i, o) in out.iter_mut().enumerate() {
        *o = x.iter().enumerate().map(|(j, &v)| m[at(i, j)] * v).sum();
    }
}

/// The trace of M N.
pub(crate) fn trace_of_product(m: &[f64], n: &[f64], k: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..k {
        let row = len(i)..len(i) + i;
        for (a, b) in m[row.clone()].iter().zip(&n[row]) {
            sum += 2.0 * a * b;
        }
        sum += m[at(i, i)] * n[at(i, i)];
    }
    sum
}

/// T M T' for a packed symmetric M; `t` is k x k, row-major.
pub(crate) fn congruence(t: &[f64], m: &[f64], k: usize) -> Vec<f64> {
    let mut tm = vec![0.0; k * k];
    for i in 0..k {
        for j in 0..k {
            tm[i * k + j] = (0..k).map(|p| t[i * k + p] * m[at(p, j)]).sum();
        }
    }
    let mut out = vec![0.0; len(k)];
    for i in 0..k {
        for j in 0..=i {
            out[at(i, j)] = (0..k).map(|p| tm[i * k + p] * t[j * k + p]).sum();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::lane::{LANES, Lane};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn inverse_and_solve_undo_a_positive_definite_matrix(k in 1usize..12, seed in prop::collection::vec(-2.0..2.0f64, 144)) {
            let mut m = vec![0.0; len(k)];
            for i in 0..k {
                for j in 0..=i {
                    m[at(i, j)] = (0..k).map(|p| seed[i * 12 + p] * seed[j * 12 + p]).sum::<f64>() + if i == j { 0.5 } else { 0.0 };
                }
            }
            let x: Vec<f64> = (0..k).map(|i| seed[i] + 1.0).collect();
            let mut b = vec![0.0; k];
            times(&m, &x, &mut b);
            let mut l = m.clone();
            let log_det = cholesky(&mut l, k);
            prop_assert!(log_det.is_finite());
            let mut solved = b.clone();
            solve(&l, k, &mut solved);
            let mut inverse = l.clone();
            invert(&mut inverse, k);
            let mut back = vec![0.0; k];
            times(&inverse, &b, &mut back);
            for i in 0..k {
                prop_assert!((solved[i] - x[i]).abs() < 1e-6);
                prop_assert!((back[i] - x[i]).abs() < 1e-6);
            }
            prop_assert!((trace_of_product(&m, &inverse, k) - k as f64).abs() < 1e-6);
            let direct: f64 = x.iter().zip(&b).map(|(a, b)| a * b).sum();
            prop_assert!((quadratic(&m, &x) - direct).abs() < 1e-8 * direct.abs().max(1.0));
        }
    }

    proptest! {
        /// Whatever stands beside a matrix, its numbers are the bits that it has alone.
        #[test]
        fn each_lane_is_what_one_matrix_gives(k in 1usize..12, seed in prop::collection::vec(-2.0..2.0f64, 144), far: bool) {
            // The lanes' matrices differ in size; some leave the range in which pivots are multiplied.
            let sizes: Vec<f64> = (0..LANES).map(|r| if far { 10f64.powi(40 * r as i32 - 120) } else { 1.0 + r as f64 }).collect();
            let one = |r: usize| -> Vec<f64> {
                let mut m = vec![0.0; len(k)];
                for i in 0..k {
                    for j in 0..=i {
                        let product: f64 = (0..k).map(|p| seed[i * 12 + p] * seed[j * 12 + (p + r) % k]).sum();
                        m[at(i, j)] = sizes[r] * (product + if i == j { 50.0 } else { 0.0 });
                    }
                }
                m
            };
            let ones: Vec<Vec<f64>> = (0..LANES).map(one).collect();
            let mut all: Vec<Lane> = (0..len(k)).map(|q| Lane(std::array::from_fn(|r| ones[r][q]))).collect();
            let mut b: Vec<Lane> = (0..k).map(|i| Lane(std::array::from_fn(|r| seed[i + r]))).collect();
            let log_det = cholesky(&mut all, k);
            solve(&all, k, &mut b);
            invert(&mut all, k);
            for (r, mut one) in ones.into_iter().enumerate() {
                let mut right = seed[r..r + k].to_vec();
                let alone = cholesky(&mut one, k);
                prop_assert!(alone.is_finite());
                prop_assert_eq!(alone.to_bits(), log_det.0[r].to_bits());
                solve(&one, k, &mut right);
                invert(&mut one, k);
                prop_assert!(all.iter().zip(&one).all(|(all, one)| all.0[r].to_bits() == one.to_bits()));
                prop_assert!(b.iter().zip(&right).all(|(all, one)| all.0[r].to_bits() == one.to_bits()));
            }
        }
    }

    #[test]
    fn a_singular_matrix_stays_finite() {
        let mut m = vec![1.0, 1.0, 1.0];
        assert!(cholesky(&mut m, 2).is_finite());
        invert(&mut m, 2);
        assert!(m.iter().all(|x| x.is_finite()));
    }
}
