//! Work for the worker, and the keys by which its results are kept.

use std::path::PathBuf;
use std::sync::Arc;

use tinyscope::anchors::{Edits, SelectionKind};
use tinyscope::experiment::Scope as Theta;

use super::choices::Source;

/// Which fit serves a scenario: the split depends on the seed, the ability on the scope of theta.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FitKey {
    /// Scenario index.
    pub(crate) scenario: usize,
    /// One fit a scenario, or one for all.
    pub(crate) theta: Theta,
    /// Seed of the split.
    pub(crate) seed: u64,
}

/// Which choice of items: fit, selection, n and what the user changed by hand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CellKey {
    /// The fit that it rests on.
    pub(crate) fit: FitKey,
    /// How the items are chosen.
    pub(crate) selection: SelectionKind,
    /// How many are asked for.
    pub(crate) n: usize,
    /// Items kept out or always in, where there are any.
    pub(crate) edits: Option<Arc<Edits>>,
}

/// Whose answers a replay reveals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    /// A model of the matrix, by row.
    Model(usize),
    /// The user's own model.
    Mine,
}

/// Work for the worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Job {
    /// Read a benchmark.
    Load(Source),
    /// Fit a scenario.
    Fit(FitKey),
    /// Choose items and estimate.
    Cell(CellKey),
    /// Learn from the training models: the learned estimates, and how sure all of them are.
    Learn(CellKey),
    /// Read the answers of the user's own model.
    Answers(PathBuf),
    /// Reveal a model's answers one by one.
    Replay(CellKey, Who),
    /// Look for what a sceptic would: duplicates, constant items, missing answers.
    Diagnose,
}
