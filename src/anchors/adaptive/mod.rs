//! Adaptive selection: the next item is the one whose answer tells most of what is wanted.
//!
//! Around the posterior N(m, S) of the ability, the answer to item i is y_i = P_i + s_i a_i' (theta - m) + e_i, with
//! s_i = dP_i / d(a_i' m) and e_i of variance phi_i = r_i (P_i (1 - P_i) - s_i^2 a_i' S a_i); r_i, the item's dispersion, is
//! 1 for right or wrong and smaller for graded scores. What is not known of the score is sum over unseen of w_i y_i, and with
//! g = sum over unseen of w_i s_i a_i
//!
//!   cov(score, y_i) = s_i g' S a_i + w_i phi_i,    var(y_i) = s_i^2 a_i' S a_i + phi_i,
//!
//! so that the answer to item i is expected to take cov^2 / var off the variance of the score.

mod outlook;
mod pool;
mod progress;
#[cfg(test)]
mod tests;

pub use outlook::Outcome;
pub use pool::Pool;
pub use progress::AdaptiveTest;

/// How the next item is chosen.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The largest expected reduction of the variance of the score, cov^2 / var.
    #[default]
    Score,
    /// The largest determinant of the information about the ability, which grows by 1 + s^2 a' S a / phi (tried by the
    /// authors of the paper, section 3.2).
    DOptimal,
}

impl Rule {
    /// `score` or `d-optimal`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::DOptimal => "d-optimal",
        }
    }
}
