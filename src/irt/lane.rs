//! Eight numbers of eight items or models side by side, in one register of AVX-512 or two of AVX.
//!
//! Each of the eight is computed by the same operations in the same order as if it stood alone, so its bits do not depend on
//! what is beside it. No fused operations are used: every instruction set gives the same bits.

use std::ops::{Add, Div, Mul, Sub};

use multiversion::multiversion;

use super::packed;

/// How many stand side by side.
pub(super) const LANES: usize = 8;

/// What [`super::packed`] works on: one number, or [`LANES`] of them.
pub(crate) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The same number everywhere.
    fn of(x: f64) -> Self;
    fn map(self, f: impl Fn(f64) -> f64) -> Self;
    fn max(self, other: Self) -> Self;
    /// Moves the logarithm of `product` to `sum`, leaving 1, wherever the product is not far within the range of numbers.
    fn settle(product: &mut Self, sum: &mut Self);
}

/// The range in which one more factor of 1e-150 to 1e150 may follow.
const SAFE: std::ops::Range<f64> = 1e-100..1e100;

impl Number for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        f(self)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::max(self, other)
    }

    #[inline(always)]
    fn settle(product: &mut Self, sum: &mut Self) {
        if !SAFE.contains(product) {
            *sum += product.ln();
            *product = 1.0;
        }
    }
}

/// [`LANES`] numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lane(pub(super) [f64; LANES]);

impl Lane {
    #[inline(always)]
    fn with(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self;
        for k in 0..LANES {
            out.0[k] = f(self.0[k], other.0[k]);
        }
        out
    }
}

impl Add for Lane {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }
}

impl Sub for Lane {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }
}

impl Mul for Lane {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }
}

impl Div for Lane {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.with(other, |a, b| a / b)
    }
}

impl Number for Lane {
    #[inline(always)]
    fn of(x: f64) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        self.with(self, |a, _| f(a))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, f64::max)
    }

    #[inline(always)]
    fn settle(product: &mut Self, sum: &mut Self) {
        if product.0.iter().any(|p| !SAFE.contains(p)) {
            for (product, sum) in product.0.iter_mut().zip(&mut sum.0) {
                f64::settle(product, sum);
            }
        }
    }
}

/// From [`LANES`] precisions and right-hand sides to covariances and means, in place; returns log det S.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn solve(precision: &mut [Lane], rhs: &mut [Lane]) -> Lane {
    let k = rhs.len();
    let log_det = packed::cholesky(precision, k);
    packed::solve(precision, k, rhs);
    packed::invert(precision, k);
    Lane::of(0.0) - log_det
}
