//! The multidimensional two-parameter logistic model (M2PL): P(Y = 1) = sigmoid(a . theta - b).
//!
//! Fitted by variational Bayes with Polya-Gamma augmentation (Polson, Scott, Windle 2013), which takes scores in \[0, 1\]
//! as they are and skips missing entries. Paper: section 3.1; the updates stand at [`fit()`].

mod ability;
mod centred;
mod curve;
mod dimension;
mod fit;
mod gauge;
mod given;
mod lane;
mod likelihood;
mod moments;
pub(crate) mod packed;
mod parameters;
mod posterior;
mod real;
mod start;
mod sweep;
#[cfg(test)]
mod tests;
mod weigh;

pub use ability::{Ability, AbilityMethod, abilities, ability};
pub(crate) use ability::{TOGETHER, Tempered, tempered_ability};
pub use curve::{Bin, Shape, binned_proportions, wilson_interval};
pub use dimension::{
    DEFAULT_DIMS, DimensionChoice, Part, Validation, choose_dimension, validate_given,
};
pub use fit::{Fit, FitOptions, Precision, fit};
pub use gauge::principal_components;
pub use given::{GivenPrior, fit_abilities};
pub use moments::Gaussians;
pub(crate) use moments::doubled_extended;
pub use parameters::{Convention, ItemParameters, Prior};

/// 1 / (1 + exp(-x)), without overflow.
#[inline]
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}
