//! Choosing the n items of a scenario that a new model is asked (paper, section 3.2).

mod adaptive;
mod edit;
mod kmeans;
mod lloyd;
mod nearest;
mod overlap;
mod seeding;
mod stratified;

use ndarray::Array2;

use crate::error::{Error, Result};
use crate::irt::ItemParameters;
use crate::progress::Observer;

pub use adaptive::{AdaptiveTest, Outcome, Pool, Rule};
pub use edit::{Edits, edited};
pub use kmeans::{Clustering, RESTARTS, distinct_rows, weighted_kmeans, weighted_kmeans_with};
pub use overlap::{overlap, stability};
pub use stratified::stratified;

/// How items are chosen.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum SelectionKind {
    /// Stratified random sampling, weights 1/n.
    Random,
    /// k-means on the items' training scores.
    AnchorsCorrectness,
    /// k-means on the items' parameters (a, b).
    AnchorsIrt,
}

impl SelectionKind {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Random, Self::AnchorsCorrectness, Self::AnchorsIrt];

    /// `random`, `anchors-correctness` or `anchors-irt`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::AnchorsCorrectness => "anchors-correctness",
            Self::AnchorsIrt => "anchors-irt",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// A chosen item and what its score counts.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Anchor {
    /// Position in the scenario.
    pub item: usize,
    /// Its weight; positive, the weights of a selection sum to 1.
    pub weight: f64,
}

/// The chosen items of a scenario.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Selection {
    /// How they were chosen.
    pub kind: SelectionKind,
    /// The items in order of position, each at most once.
    pub anchors: Vec<Anchor>,
    /// For anchors: to which anchor (an index into `anchors`) every item of the scenario belongs.
    pub clusters: Option<Vec<usize>>,
}

impl Selection {
    /// Number of chosen items.
    pub fn n(&self) -> usize {
        self.anchors.len()
    }

    /// Number of items that belong to the anchor; 1 for random items.
    pub fn cluster_size(&self, anchor: usize) -> usize {
        self.clusters
            .as_ref()
            .map_or(1, |c| c.iter().filter(|&&a| a == anchor).count())
    }
}

/// Anchors of `points` (one row an item): the member nearest to each centre of a weighted k-means, weighted by its cluster's
/// share of the balance weight. At most as many as there are distinct points; none twice, none of an empty cluster.
///
/// # Errors
/// Fewer than two items; cancellation.
pub fn anchors(
    kind: SelectionKind,
    points: &Array2<f64>,
    balance: &[f64],
    n: usize,
    seed: u64,
    scenario: usize,
    observer: &dyn Observer,
) -> Result<Selection> {
    anchors_with(kind, points, balance, n, seed, scenario, RESTARTS, observer)
}

/// [`anchors`] of the best of so many restarts of k-means: one takes a fifth of the time of five.
///
/// # Errors
/// Fewer than two items; cancellation.
#[allow(clippy::too_many_arguments)]
pub fn anchors_with(
    kind: SelectionKind,
    points: &Array2<f64>,
    balance: &[f64],
    n: usize,
    seed: u64,
    scenario: usize,
    restarts: usize,
    observer: &dyn Observer,
) -> Result<Selection> {
    if points.nrows() < 2 {
        return Err(too_few_items(points.nrows()));
    }
    let clustering = weighted_kmeans_with(points, balance, n, seed, scenario, restarts, observer)?;
    let total: f64 = balance.iter().sum();
    let mut chosen: Vec<(Anchor, usize)> = clustering
        .representatives(points)
        .into_iter()
        .enumerate()
        .map(|(cluster, item)| {
            let members = clustering.labels.iter().zip(balance);
            let weight: f64 = members
                .filter(|(label, _)| **label == cluster)
                .map(|(_, w)| w)
                .sum();
            (
                Anchor {
                    item,
                    weight: weight / total,
                },
                cluster,
            )
        })
        .collect();
    chosen.sort_by_key(|(anchor, _)| anchor.item);
    let mut anchor_of = vec![0; chosen.len()];
    for (at, (_, cluster)) in chosen.iter().enumerate() {
        anchor_of[*cluster] = at;
    }
    Ok(Selection {
        kind,
        anchors: chosen.into_iter().map(|(anchor, _)| anchor).collect(),
        clusters: Some(
            clustering
                .labels
                .iter()
                .map(|&label| anchor_of[label])
                .collect(),
        ),
    })
}

pub(crate) fn too_few_items(n: usize) -> Error {
    Error::setting(
        format!("a scenario of {n} item: choosing items needs at least 2"),
        "",
    )
}

/// Items as points of the IRT anchors: posterior means of (a, b).
pub fn irt_points(items: &ItemParameters) -> Array2<f64> {
    items.posterior().means()
}

#[cfg(test)]
mod tests;
