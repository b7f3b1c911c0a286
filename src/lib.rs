//! tinyscope evaluates language models with few examples: the domain, without screen or command line.
//!
//! Data flows one way: [`data::read`] -> [`data::ResponseMatrix`] -> [`data::split`] -> [`irt`] fit -> [`anchors`] ->
//! [`estimate`] -> [`experiment`] metrics -> view. The method is tinyBenchmarks (Maia Polo et al. 2024,
//! arXiv 2402.14992).

pub mod anchors;
pub mod cache;
pub mod data;
pub mod error;
pub mod estimate;
pub mod experiment;
pub mod export;
pub mod fetch;
pub mod folders;
pub mod irt;
pub mod progress;
pub mod random;
pub mod simulate;

pub use error::{Error, Result};
