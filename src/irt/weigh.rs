//! The elementwise part of a half-sweep: c^2 to omega and the evidence bound's logistic terms.
//!
//! It runs once for every response in every half-sweep, so it is written in lanes that compile to vector instructions.

use multiversion::multiversion;

use super::real::Real;

/// Numbers worked on at once: two registers of AVX-512 doubles, four of AVX; half as many of single precision.
const LANES: usize = 16;

/// Most numbers a row may have: the product of so many factors in [1, 2] must stay finite.
pub(super) const LONGEST: usize = 512 + LANES;

/// Numbers of a tile's rows.
pub(super) trait Weighed: Real {
    fn lanes(c2: &mut [Self], y: &mut [Self], sums: &mut Sums<Self>);
    /// One of two values for codes 0 and 1, NaN for any other.
    fn choose(codes: &[u8], values: [Self; 2], out: &mut [Self]);
}

/// The sums of c and the products of 1 + e^-c of each lane.
pub(super) struct Sums<T> {
    c: [T; LANES],
    product: [T; LANES],
}

/// Turns `c2` = c^2 into omega = tanh(c/2) / (2c), 0 where y - 1/2 is NaN (missing), which becomes 0 too. Returns the sum
/// over observed entries of -c/2 - log(1 + e^-c).
///
/// # Panics
/// When the slices differ in length or are longer than `LONGEST`.
pub(super) fn row<T: Weighed>(c2: &mut [T], y: &mut [T]) -> f64 {
    assert!(c2.len() == y.len() && c2.len() <= LONGEST);
    let mut sums = Sums {
        c: [T::zero(); LANES],
        product: [T::one(); LANES],
    };
    let whole = c2.len() / LANES * LANES;
    T::lanes(&mut c2[..whole], &mut y[..whole], &mut sums);
    let rest = c2.len() - whole;
    if rest > 0 {
        // Padded with missing entries.
        let (mut last_c2, mut last_y) = ([T::zero(); LANES], [T::nan(); LANES]);
        last_c2[..rest].copy_from_slice(&c2[whole..]);
        last_y[..rest].copy_from_slice(&y[whole..]);
        T::lanes(&mut last_c2, &mut last_y, &mut sums);
        c2[whole..].copy_from_slice(&last_c2[..rest]);
        y[whole..].copy_from_slice(&last_y[..rest]);
    }
    // One logarithm for the whole row.
    let product: f64 = sums.product.iter().map(|p| p.wide()).product();
    -sums.c.iter().map(|c| c.wide()).sum::<f64>() / 2.0 - product.ln()
}

#[inline(always)]
fn weigh<T: Real>(c2: &mut [T], y: &mut [T], sums: &mut Sums<T>) {
    // Copies, which stay in registers.
    let (mut all, mut product) = (sums.c, sums.product);
    for (c2, y) in c2.chunks_exact_mut(LANES).zip(y.chunks_exact_mut(LANES)) {
        for k in 0..LANES {
            let missing = y[k].is_nan();
            let c = c2[k].max(T::zero()).sqrt();
            let e = c.exp_negative();
            let w = c.omega(e);
            c2[k] = if missing { T::zero() } else { w };
            y[k] = if missing { T::zero() } else { y[k] };
            all[k] += if missing { T::zero() } else { c };
            product[k] *= if missing { T::one() } else { T::one() + e };
        }
    }
    (sums.c, sums.product) = (all, product);
}

#[inline(always)]
fn choose<T: Real>(codes: &[u8], values: [T; 2], out: &mut [T]) {
    for (o, &code) in out.iter_mut().zip(codes) {
        let other = if code == 1 { values[1] } else { T::nan() };
        *o = if code == 0 { values[0] } else { other };
    }
}

impl Weighed for f64 {
    fn lanes(c2: &mut [Self], y: &mut [Self], sums: &mut Sums<Self>) {
        #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
        fn double(c2: &mut [f64], y: &mut [f64], sums: &mut Sums<f64>) {
            weigh(c2, y, sums);
        }
        double(c2, y, sums);
    }

    fn choose(codes: &[u8], values: [Self; 2], out: &mut [Self]) {
        #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
        fn double(codes: &[u8], values: [f64; 2], out: &mut [f64]) {
            choose(codes, values, out);
        }
        double(codes, values, out);
    }
}

impl Weighed for f32 {
    fn lanes(c2: &mut [Self], y: &mut [Self], sums: &mut Sums<Self>) {
        #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
        fn single(c2: &mut [f32], y: &mut [f32], sums: &mut Sums<f32>) {
            weigh(c2, y, sums);
        }
        single(c2, y, sums);
    }

    fn choose(codes: &[u8], values: [Self; 2], out: &mut [Self]) {
        #[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
        fn single(codes: &[u8], values: [f32; 2], out: &mut [f32]) {
            choose(codes, values, out);
        }
        single(codes, values, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees<T: Weighed>(entries: &[(f64, f64)], precision: f64) -> Result<(), TestCaseError> {
        let of =
            |f: fn(&(f64, f64)) -> f64| -> Vec<T> { entries.iter().map(|e| T::of(f(e))).collect() };
        let (mut c2, mut y) = (of(|e| e.0), of(|e| e.1));
        let sum = row(&mut c2, &mut y);
        let mut expected = 0.0;
        for (k, &(square, score)) in entries.iter().enumerate() {
            let (c2, y) = (c2[k].wide(), y[k].wide());
            if score.is_nan() {
                prop_assert_eq!((c2, y), (0.0, 0.0));
                continue;
            }
            let c = square.sqrt();
            let w = if c == 0.0 {
                0.25
            } else {
                (c / 2.0).tanh() / (2.0 * c)
            };
            prop_assert!((c2 - w).abs() < precision);
            prop_assert_eq!(y, T::of(score).wide());
            expected -= c / 2.0 + (-c).exp().ln_1p();
        }
        prop_assert!((sum - expected).abs() < 1e3 * precision * expected.abs().max(1.0));
        Ok(())
    }

    proptest! {
        #[test]
        fn a_row_is_what_its_entries_say(
            entries in prop::collection::vec((0.0..900.0f64, prop_oneof![Just(f64::NAN), -0.5..=0.5f64]), 0..60),
        ) {
            agrees::<f64>(&entries, 1e-13)?;
            agrees::<f32>(&entries, 2e-7)?;
        }
    }

    #[test]
    fn extremes_stay_finite() {
        let mut c2 = vec![f64::MAX, 0.0, -1e-18, 1e-300];
        let mut y = vec![0.5; 4];
        assert!(row(&mut c2, &mut y).is_finite());
        assert!(c2.iter().all(|w| w.is_finite() && *w >= 0.0));
        let mut c2 = vec![f32::MAX, 0.0, -1e-18, 1e-30];
        let mut y = vec![0.5f32; 4];
        assert!(row(&mut c2, &mut y).is_finite());
        assert!(c2.iter().all(|w| w.is_finite() && *w >= 0.0));
    }
}
