//! The elementwise part of a half-sweep: c^2 to omega, scores to y - 1/2, and the evidence bound's logistic terms.
//!
//! It runs once for every response in every half-sweep, so it is written in lanes that compile to vector instructions, with
//! an exponential of its own: the standard library's is a call for each number. No fused operations are used: every
//! instruction set gives the same bits.

use multiversion::multiversion;

/// Numbers worked on at once: two registers of AVX-512, four of AVX.
const LANES: usize = 16;

/// Most numbers a row may have: the product of so many factors in [1, 2] must stay finite.
pub(super) const LONGEST: usize = 512 + LANES;

/// Turns `c2` = c^2 into omega = tanh(c/2) / (2c) and `y` into y - 1/2, both 0 where y is NaN (missing). Returns the sum
/// over observed entries of -c/2 - log(1 + e^-c).
///
/// # Panics
/// When the slices differ in length or are longer than `LONGEST`.
pub(super) fn row(c2: &mut [f64], y: &mut [f64]) -> f64 {
    assert!(c2.len() == y.len() && c2.len() <= LONGEST);
    let (mut half, mut product) = ([0.0; LANES], [1.0; LANES]);
    let whole = c2.len() / LANES * LANES;
    lanes(&mut c2[..whole], &mut y[..whole], &mut half, &mut product);
    // The rest, padded with missing entries.
    let (mut last_c2, mut last_y) = ([0.0; LANES], [f64::NAN; LANES]);
    let rest = c2.len() - whole;
    last_c2[..rest].copy_from_slice(&c2[whole..]);
    last_y[..rest].copy_from_slice(&y[whole..]);
    lanes(&mut last_c2, &mut last_y, &mut half, &mut product);
    c2[whole..].copy_from_slice(&last_c2[..rest]);
    y[whole..].copy_from_slice(&last_y[..rest]);
    // One logarithm for the whole row.
    -half.iter().sum::<f64>() / 2.0 - product.iter().product::<f64>().ln()
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn lanes(c2: &mut [f64], y: &mut [f64], half: &mut [f64; LANES], product: &mut [f64; LANES]) {
    for (c2, y) in c2.chunks_exact_mut(LANES).zip(y.chunks_exact_mut(LANES)) {
        for k in 0..LANES {
            let missing = y[k].is_nan();
            let c = c2[k].max(0.0).sqrt();
            let e = exp_negative(c);
            let w = omega(c, e);
            c2[k] = if missing { 0.0 } else { w };
            y[k] = if missing { 0.0 } else { y[k] - 0.5 };
            half[k] += if missing { 0.0 } else { c };
            product[k] *= if missing { 1.0 } else { 1.0 + e };
        }
    }
}

/// omega = tanh(c/2) / (2c), given e = exp(-c); 1/4 at 0.
#[inline(always)]
pub(super) fn omega(c: f64, e: f64) -> f64 {
    // The series near 0, where the quotient cancels.
    let near = 0.25 - c * c / 48.0;
    let far = (1.0 - e) / ((1.0 + e) * (2.0 * c));
    if c < 1e-3 { near } else { far }
}

/// exp(-c) for c >= 0, to 1e-15 relative; exp(-700) for anything larger.
#[inline(always)]
pub(super) fn exp_negative(c: f64) -> f64 {
    // Adding 1.5 x 2^52 rounds to a whole number, which then stands in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    // ln 2 in two parts, the first short enough for exact products with whole numbers.
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = -(if c < 700.0 { c } else { 700.0 });
    let rounded = x * std::f64::consts::LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    // Taylor to degree 13: |r| <= ln 2 / 2, the next term is below 5e-18.
    let mut p = 1.0 / 6_227_020_800.0;
    p = p * r + 1.0 / 479_001_600.0;
    p = p * r + 1.0 / 39_916_800.0;
    p = p * r + 1.0 / 3_628_800.0;
    p = p * r + 1.0 / 362_880.0;
    p = p * r + 1.0 / 40_320.0;
    p = p * r + 1.0 / 5_040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    let power = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    p * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_exponential_is_the_standard_librarys(c in prop_oneof![0.0..1e-6f64, 0.0..3.0f64, 0.0..699.0f64]) {
            let (ours, std) = (exp_negative(c), (-c).exp());
            prop_assert!((ours - std).abs() <= 2e-15 * std, "{} {} {}", c, ours, std);
        }

        #[test]
        fn a_row_is_what_its_entries_say(
            entries in prop::collection::vec((0.0..900.0f64, prop_oneof![Just(f64::NAN), 0.0..=1.0f64]), 0..60),
        ) {
            let (mut c2, mut y): (Vec<f64>, Vec<f64>) = entries.iter().copied().unzip();
            let sum = row(&mut c2, &mut y);
            let mut expected = 0.0;
            for (k, &(square, score)) in entries.iter().enumerate() {
                if score.is_nan() {
                    prop_assert_eq!((c2[k], y[k]), (0.0, 0.0));
                    continue;
                }
                let c = square.sqrt();
                let w = if c == 0.0 { 0.25 } else { (c / 2.0).tanh() / (2.0 * c) };
                prop_assert!((c2[k] - w).abs() < 1e-13);
                prop_assert_eq!(y[k], score - 0.5);
                expected -= c / 2.0 + (-c).exp().ln_1p();
            }
            prop_assert!((sum - expected).abs() < 1e-10 * expected.abs().max(1.0));
        }
    }

    #[test]
    fn extremes_stay_finite() {
        let mut c2 = vec![f64::MAX, 0.0, -1e-18, 1e-300];
        let mut y = vec![1.0; 4];
        assert!(row(&mut c2, &mut y).is_finite());
        assert!(c2.iter().all(|w| w.is_finite() && *w >= 0.0));
    }
}
