//! Choosing items anew where some stay chosen: reference anchors while the pool of items changes.

use std::collections::BTreeSet;

use super::fitted::FittedScenario;
use super::select::{edit_selection, select};
use crate::anchors::{Edits, Selection, SelectionKind};
use crate::data::Benchmark;
use crate::error::Result;
use crate::progress::Observer;

/// Chooses `n` items of a fitted scenario of which `kept` (positions) are some in any case; more than `n` where more are
/// kept. Weights are those of the new choice.
///
/// Anchors: clusters of the whole pool, as [`select`] makes them; a cluster with kept items has these as its anchors (each
/// item belongs to the nearest), every other cluster its own. Where kept items share clusters there are more than n: then
/// fewer clusters are made, until n are chosen, or as few more as it takes. Random items: a kept item takes the place of a
/// drawn one, of its sub-scenario where there is one.
///
/// # Errors
/// As [`select`].
pub fn keep_selection(
    benchmark: &Benchmark,
    fitted: &FittedScenario,
    kept: &BTreeSet<usize>,
    kind: SelectionKind,
    n: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection> {
    let mut clusters = n.max(kept.len()).max(1);
    let wanted = clusters;
    loop {
        let base = select(benchmark, fitted, kind, clusters, seed, observer)?;
        let edits = Edits {
            excluded: giving_way(benchmark, fitted, &base, kept),
            forced: kept.clone(),
        };
        let found = edit_selection(benchmark, fitted, &base, &edits, seed);
        let excess = found.n().saturating_sub(wanted);
        if excess == 0 || clusters == 1 {
            return Ok(found);
        }
        clusters = clusters.saturating_sub(excess).max(1);
    }
}

/// The chosen items that give way to kept ones: of every cluster with one its anchor; of random items as many as come in.
fn giving_way(
    benchmark: &Benchmark,
    fitted: &FittedScenario,
    base: &Selection,
    kept: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let free = |item: &usize| !kept.contains(item);
    if let Some(clusters) = &base.clusters {
        let anchors = kept.iter().map(|&k| base.anchors[clusters[k]].item);
        return anchors.filter(free).collect();
    }
    let of = benchmark.scenarios[fitted.index].subscenario_of();
    let mut drawn: Vec<usize> = base.anchors.iter().map(|a| a.item).filter(free).collect();
    let mut out = BTreeSet::new();
    let chosen: BTreeSet<usize> = base.anchors.iter().map(|a| a.item).collect();
    let mut homeless = 0;
    for &item in kept.difference(&chosen) {
        match drawn.iter().position(|&d| of[d] == of[item]) {
            Some(at) => _ = out.insert(drawn.remove(at)),
            None => homeless += 1,
        }
    }
    out.extend(drawn.into_iter().take(homeless));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::cases::{ITEMS, few, fitted};
    use crate::progress::Silent;

    #[test]
    fn kept_items_stay_n_holds_and_weights_are_shares() {
        let (b, f) = fitted(&few());
        for kind in SelectionKind::ALL {
            for s in &f.scenarios {
                let old = select(&b, s, kind, 12, 7, &Silent).unwrap();
                let old: BTreeSet<usize> = old.anchors.iter().map(|a| a.item).collect();
                let bunch: BTreeSet<usize> = (20..34).collect();
                for (kept, n) in [(&old, 12), (&old, 20), (&bunch, 16), (&bunch, 5)] {
                    let new = keep_selection(&b, s, kept, kind, n, 0, &Silent).unwrap();
                    let items: BTreeSet<usize> = new.anchors.iter().map(|a| a.item).collect();
                    assert!(items.is_superset(kept), "{kind:?} {n}");
                    let weight: f64 = new.anchors.iter().map(|a| a.weight).sum();
                    assert!((weight - 1.0).abs() < 1e-12);
                    assert!(new.anchors.iter().all(|a| a.weight > 0.0 && a.item < ITEMS));
                    assert!(new.n() <= n.max(kept.len()), "{kind:?}: {} of {n}", new.n());
                    assert!(new.n() + 2 >= n.min(ITEMS), "{kind:?}: {} of {n}", new.n());
                }
                // Nothing kept: the choice as it is.
                let none = keep_selection(&b, s, &BTreeSet::new(), kind, 12, 0, &Silent).unwrap();
                assert_eq!(none, select(&b, s, kind, 12, 0, &Silent).unwrap());
            }
        }
    }
}
