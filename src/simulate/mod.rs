//! Simulated benchmarks: for demos, for tests that need the true parameters, for scale.
//!
//! A [`Population`] of models and items is either fitted to real benchmarks ([`Population::fit`]) or made up
//! ([`Plain`]); [`Population::draw`] gives a benchmark of any [`Shape`] with the truth behind it. No response is
//! copied: what is kept of a real matrix are distributions, and every response is drawn anew from
//!
//!   P = clip(g + (1 - g - e) sigmoid(a . theta - b + delta) + u . v),    Y = Q_P(uniform)
//!
//! - a, b, theta from the posteriors of an M2PL fit (heavy tails and negative discriminations stay), each item and model of
//!   the source used once before any is used again;
//! - g a floor of guessing and e a ceiling of slips, at most what the fitted curve of the item leaves room for;
//! - delta an effect of model and sub-scenario;
//! - u . v the factors that stand out of the fit's residuals by parallel analysis, which a fit of few dimensions misses;
//! - the uniforms are shared along a tree of model families, so that relatives err on the same items and near copies nearly
//!   always do;
//! - Q_P is 0/1 for right and wrong, the quantile of Beta(P phi, (1 - P) phi) for scores in between, with a few ties.

mod beta;
mod draw;
mod family;
mod floor;
mod names;
mod plain;
mod population;
mod residual;
mod respond;
mod shape;

pub(crate) use names::placeholder;

pub use draw::{Simulated, Truth, TruthOfScenario};
pub use plain::Plain;
pub use population::{FitSettings, Population};
pub use shape::{Shape, ShapeScenario};
