//! Choosing the items of a fitted scenario.

use ndarray::{Array2, Axis};

use super::fitted::FittedScenario;
use crate::anchors::{Selection, SelectionKind, anchors, irt_points, stratified};
use crate::data::{Benchmark, Responses};
use crate::error::Result;
use crate::progress::Observer;

/// Chooses `n` items of a fitted scenario; fewer where there are not as many distinct items. `observer` is asked whether
/// to stop within k-means too.
///
/// # Errors
/// A scenario of fewer than two items; cancellation.
pub fn select(
    benchmark: &Benchmark,
    fitted: &FittedScenario,
    kind: SelectionKind,
    n: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection> {
    observer.check()?;
    let (scenario, index) = (&benchmark.scenarios[fitted.index], fitted.index);
    match points(benchmark, fitted, kind) {
        None => stratified(scenario, n, seed, index),
        Some(points) => anchors(kind, &points, &fitted.balance, n, seed, index, observer),
    }
}

/// What items are clustered as by `kind`, one row an item; `None` for random items.
fn points(
    benchmark: &Benchmark,
    fitted: &FittedScenario,
    kind: SelectionKind,
) -> Option<Array2<f64>> {
    match kind {
        SelectionKind::Random => None,
        SelectionKind::AnchorsIrt => Some(irt_points(&fitted.items())),
        SelectionKind::AnchorsCorrectness => {
            let columns = benchmark.scenarios[fitted.index].columns.clone();
            let responses = Responses::new(&benchmark.matrix, fitted.train.clone(), columns);
            Some(correctness_points(&responses))
        }
    }
}

/// Items as points with one coordinate a training model: its score, or the item's mean where missing (.5 for an item that
/// nobody answered).
fn correctness_points(responses: &Responses<'_>) -> Array2<f64> {
    let (means, _) = responses.item_means();
    let mut points = Array2::zeros((responses.n_items(), responses.n_models()));
    for (l, mut column) in points.axis_iter_mut(Axis(1)).enumerate() {
        for ((point, y), &mean) in column.iter_mut().zip(responses.row(l)).zip(&means) {
            *point = match (y.is_nan(), mean.is_nan()) {
                (false, _) => y,
                (true, false) => mean,
                (true, true) => 0.5,
            };
        }
    }
    points
}
