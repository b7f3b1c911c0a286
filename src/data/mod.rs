//! Benchmarks in memory: the response matrix, scenarios and sub-scenarios, splits, diagnostics; `read` fills them.

mod benchmark;
mod binarise;
pub mod demo;
mod diagnostics;
mod join;
pub mod kept;
mod matrix;
pub mod read;
mod responses;
mod split;
mod texts;
pub mod write;

#[cfg(test)]
mod tests;

pub(crate) use benchmark::weighted_mean;
pub use benchmark::{Aggregate, Benchmark, Scenario, SubScenario};
pub use binarise::{GRID as BINARISATION_GRID, threshold};
pub use diagnostics::count;
pub(crate) use diagnostics::list;
pub use diagnostics::{Diagnostics, FEW_MODELS};
pub use matrix::{MatrixBuilder, ResponseMatrix};
pub use responses::Responses;
pub use split::{Split, SplitKind, split, split_or_all};
pub use texts::{ItemText, ItemTexts};
