//! Choosing the items of a fitted scenario.

use ndarray::{Array2, Axis};

use super::fitted::FittedScenario;
use crate::anchors::{
    Edits, RESTARTS, Selection, SelectionKind, anchors_with, edited, irt_points, stratified,
};
use crate::cache::Key;
use crate::data::{Benchmark, Responses, count};
use crate::error::{Error, Result};
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
    select_with(benchmark, fitted, kind, n, seed, RESTARTS, observer)
}

/// [`select`] with so many restarts of k-means: one is enough, and takes a fifth of the time, where the choice is only to
/// tell how errors are spread.
///
/// # Errors
/// As [`select`].
pub fn select_with(
    benchmark: &Benchmark,
    fitted: &FittedScenario,
    kind: SelectionKind,
    n: usize,
    seed: u64,
    restarts: usize,
    observer: &dyn Observer,
) -> Result<Selection> {
    observer.check()?;
    let (scenario, index) = (&benchmark.scenarios[fitted.index], fitted.index);
    if scenario.n_items() < 2 {
        return Err(Error::setting(
            format!(
                "scenario {:?} has {}: choosing items needs at least 2",
                scenario.name,
                count(scenario.n_items(), "item")
            ),
            "leave it out: name the others with --scenario",
        ));
    }
    let clustered = |points: &Array2<f64>| {
        let balance = &fitted.balance;
        anchors_with(kind, points, balance, n, seed, index, restarts, observer)
    };
    let responses = || {
        let columns = scenario.columns.clone();
        Responses::new(&benchmark.matrix, fitted.train.clone(), columns)
    };
    let key = || {
        let key = Key::new("selection", KEPT).with(&(kind, n, seed, index, restarts));
        key.with(&fitted.balance)
    };
    let what = || format!("{n} {} of {}", kind.name(), scenario.name);
    match kind {
        SelectionKind::Random => stratified(scenario, n, seed, index),
        SelectionKind::AnchorsCorrectness => {
            let responses = responses();
            responses.kept(what, key, || clustered(&correctness_points(&responses)))
        }
        SelectionKind::AnchorsIrt => {
            let points = irt_points(&fitted.items());
            let sum = || key().with(&points.iter().collect::<Vec<_>>());
            responses().kept(what, sum, || clustered(&points))
        }
    }
}

/// Counts the forms in which selections were kept.
const KEPT: u32 = 1;

/// A selection of a fitted scenario with the user's edits applied, as [`edited`] has it: with the points that the base's
/// kind clusters. `seed` decides which random items take the place of excluded ones.
pub fn edit_selection(
    benchmark: &Benchmark,
    fitted: &FittedScenario,
    base: &Selection,
    edits: &Edits,
    seed: u64,
) -> Selection {
    if edits.is_empty() {
        return base.clone();
    }
    edited(
        base,
        edits,
        points(benchmark, fitted, base.kind).as_ref(),
        &fitted.balance,
        &benchmark.scenarios[fitted.index],
        seed,
        fitted.index,
    )
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

/// Items as points with one coordinate a model, items x models in the order of `responses`: what `anchors-correctness`
/// clusters, with the training models and raw scores (paper, section 3.2). A coordinate is the model's score on the item,
/// in \[0, 1\]; where missing the item's mean over the models, .5 for an item that nobody answered.
pub fn correctness_points(responses: &Responses<'_>) -> Array2<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::cases::{few, fitted};
    use crate::experiment::{Scope, Settings, estimate_selection};
    use crate::progress::Silent;

    #[test]
    fn edits_of_every_kind_are_obeyed_and_can_be_estimated() {
        let settings = Settings {
            n: 8,
            scope: Scope::Joint,
            ..few()
        };
        let (b, f) = fitted(&settings);
        for kind in SelectionKind::ALL {
            let choose = |s| select(&b, s, kind, settings.n, settings.seed, &Silent).unwrap();
            let base: Vec<Selection> = f.scenarios.iter().map(choose).collect();
            let mut edits = Edits::default();
            assert_eq!(
                edit_selection(&b, &f.scenarios[0], &base[0], &edits, 0),
                base[0]
            );
            let out = base[0].anchors[2].item;
            edits.exclude(out);
            let one = edit_selection(&b, &f.scenarios[0], &base[0], &edits, 0);
            assert_eq!(one.n(), base[0].n(), "{kind:?}");
            assert!(one.anchors.iter().all(|a| a.item != out));
            edits.force(out);
            assert_eq!(
                edit_selection(&b, &f.scenarios[0], &base[0], &edits, 0),
                base[0]
            );
            let selections = [one, base[1].clone()];
            let found = estimate_selection(&b, &f, &selections, &settings);
            assert!(found.iter().all(|s| !s.models.is_empty()));
        }
    }
}
