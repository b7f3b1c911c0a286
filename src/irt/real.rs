//! The numbers of a fit's tiles: single or double precision.

use ndarray::NdFloat;

/// `f32` or `f64`, with the functions of the elementwise part.
///
/// They are written out, because the standard library's are a call for each number: these compile to vector instructions. No
/// fused operations are used: every instruction set gives the same bits.
pub(super) trait Real: NdFloat {
    /// Rounded.
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
    /// exp(-c) for c >= 0, to a few units in the last place; where it would vanish, a number that is nothing beside 1.
    fn exp_negative(self) -> Self;
    /// omega = tanh(c/2) / (2c) of this c, given e = exp(-c); 1/4 at 0.
    fn omega(self, e: Self) -> Self;
}

impl Real for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn exp_negative(self) -> Self {
        // Adding 1.5 x 2^52 rounds to a whole number, which then stands in the lowest bits.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        // ln 2 in two parts, the first short enough for exact products with whole numbers.
        const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
        const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
        let x = -(if self < 700.0 { self } else { 700.0 });
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
        p * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
    }

    #[inline(always)]
    fn omega(self, e: Self) -> Self {
        // The series near 0, where the quotient cancels.
        let near = 0.25 - self * self / 48.0;
        let far = (1.0 - e) / ((1.0 + e) * (2.0 * self));
        if self < 1e-3 { near } else { far }
    }
}

impl Real for f32 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x as f32
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn exp_negative(self) -> Self {
        // As for f64; 1.5 x 2^23.
        const ROUND: f32 = 12_582_912.0;
        const LN2_HIGH: f32 = 0.693_359_4;
        const LN2_LOW: f32 = -2.121_944_4e-4;
        let x = -(if self < 80.0 { self } else { 80.0 });
        let rounded = x * std::f32::consts::LOG2_E + ROUND;
        let k = rounded - ROUND;
        let r = (x - k * LN2_HIGH) - k * LN2_LOW;
        // Taylor to degree 7: the next term is below 6e-9.
        let mut p = 1.0 / 5_040.0;
        p = p * r + 1.0 / 720.0;
        p = p * r + 1.0 / 120.0;
        p = p * r + 1.0 / 24.0;
        p = p * r + 1.0 / 6.0;
        p = p * r + 0.5;
        p = p * r + 1.0;
        p = p * r + 1.0;
        p * f32::from_bits(rounded.to_bits().wrapping_add(127) << 23)
    }

    #[inline(always)]
    fn omega(self, e: Self) -> Self {
        // The series to c^10 below 1/2, where the quotient loses digits; the next term is below 3e-9.
        let s = self * self;
        let mut near = -1_382.0 / 638_668_800.0;
        near = near * s + 62.0 / 2_903_040.0;
        near = near * s - 17.0 / 80_640.0;
        near = near * s + 1.0 / 480.0;
        near = near * s - 1.0 / 48.0;
        near = near * s + 0.25;
        let far = (1.0 - e) / ((1.0 + e) * (2.0 * self));
        if self < 0.5 { near } else { far }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn omega_of(c: f64) -> f64 {
        if c < 1e-8 {
            0.25
        } else {
            (c / 2.0).tanh() / (2.0 * c)
        }
    }

    proptest! {
        #[test]
        fn the_exponential_is_the_standard_librarys(c in prop_oneof![0.0..1e-6f64, 0.0..3.0f64, 0.0..699.0f64]) {
            let (ours, std) = (c.exp_negative(), (-c).exp());
            prop_assert!((ours - std).abs() <= 2e-15 * std, "{} {} {}", c, ours, std);
            if c < 79.0 {
                let c = c as f32;
                let (ours, std) = (c.exp_negative().wide(), (-c.wide()).exp());
                prop_assert!((ours - std).abs() <= 3e-7 * std, "{} {} {}", c, ours, std);
            }
        }

        #[test]
        fn omega_is_its_definition(c in prop_oneof![0.0..1e-2f64, 0.0..1.0f64, 0.0..900.0f64]) {
            let right = omega_of(c);
            prop_assert!((c.omega(c.exp_negative()) - right).abs() <= 1e-12 * right);
            let c = c as f32;
            let (ours, right) = (c.omega(c.exp_negative()).wide(), omega_of(c.wide()));
            prop_assert!((ours - right).abs() <= 4e-7 * right, "{} {} {}", c, ours, right);
        }
    }
}
