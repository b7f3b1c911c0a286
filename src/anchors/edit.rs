//! Items that the user keeps out of a selection, or always has in it.

use std::collections::BTreeSet;

use ndarray::{Array1, Array2, ArrayView1};
use rand::seq::SliceRandom;

use super::kmeans::squared_distance;
use super::{Anchor, Selection};
use crate::data::Scenario;
use crate::random::{Stream, rng};

/// Items of one scenario that the user keeps out of a selection, or always has in it. Positions in the scenario; an item
/// is in at most one of the two.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Edits {
    /// Never chosen, unless nothing else remains.
    pub excluded: BTreeSet<usize>,
    /// Always chosen.
    pub forced: BTreeSet<usize>,
}

impl Edits {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.excluded.is_empty() && self.forced.is_empty()
    }

    /// Keeps `item` out; it is no longer forced.
    pub fn exclude(&mut self, item: usize) {
        self.forced.remove(&item);
        self.excluded.insert(item);
    }

    /// Has `item` in; it is no longer excluded.
    pub fn force(&mut self, item: usize) {
        self.excluded.remove(&item);
        self.forced.insert(item);
    }

    /// Leaves `item` to the selection again.
    pub fn release(&mut self, item: usize) {
        self.excluded.remove(&item);
        self.forced.remove(&item);
    }

    /// Has `to` instead of `from`: excludes the one and forces the other.
    pub fn swap(&mut self, from: usize, to: usize) {
        self.exclude(from);
        self.force(to);
    }
}

/// Applies edits to a selection of `scenario`. `points` is what its anchors were clustered as (one row an item), `balance`
/// the items' balance weights; `seed` and `index` (the scenario's place in the benchmark) decide which random items come
/// in. Without edits, or with none within the scenario, the base as it is; positions beyond the scenario are passed over,
/// and an item that stands on both sides counts as forced.
///
/// Anchors, cluster by cluster of the base: an excluded anchor gives way to the cluster's forced items, or where there are
/// none to the member that is nearest to the cluster's balance-weighted centre and not excluded. Forced items beside an
/// anchor that stays share its cluster: every item goes to the nearest anchor of its cluster in `points`, the first of
/// equals, and an anchor belongs to itself. Of a cluster without an item that may be chosen, all go to the nearest
/// remaining anchor. Weights are the shares of balance weight. So excluding keeps n, forcing adds one, and a swap within a
/// cluster keeps n. Without `points` all distances count as 0.
///
/// Random items: the places of excluded items go first to forced items that were not chosen, each to the first one of its
/// sub-scenario, then in order to any that are left. Forced items beyond those places come on top. A place beyond the
/// forced items goes to an item of its sub-scenario, drawn among those neither chosen nor excluded; where there is none, to
/// any other such item; where there is none either, n falls. So here too excluding keeps n, forcing adds one and a swap, of
/// any two sub-scenarios, keeps n. Weights are 1/n.
///
/// Where every item is excluded the base stays.
///
/// # Panics
/// When `balance`, `points` or the base's clusters are not one an item of the scenario.
pub fn edited(
    base: &Selection,
    edits: &Edits,
    points: Option<&Array2<f64>>,
    balance: &[f64],
    scenario: &Scenario,
    seed: u64,
    index: usize,
) -> Selection {
    let n = scenario.n_items();
    let mut state = vec![Wish::Free; n];
    for (items, wish) in [
        (&edits.excluded, Wish::Excluded),
        (&edits.forced, Wish::Forced),
    ] {
        items.range(..n).for_each(|&i| state[i] = wish);
    }
    if state.iter().all(|w| *w == Wish::Free) || state.iter().all(|w| *w == Wish::Excluded) {
        return base.clone();
    }
    match &base.clusters {
        None => random_items(base, &state, scenario, seed, index),
        Some(clusters) => {
            let none = Array2::zeros((n, 0));
            let points = points.unwrap_or(&none);
            assert!(clusters.len() == n && balance.len() == n && points.nrows() == n);
            reclustered(base, clusters, &state, points, balance)
        }
    }
}

/// What the user wishes of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Free,
    Excluded,
    Forced,
}

/// Anchors of each cluster of the base, then every item's anchor among those of its cluster.
fn reclustered(
    base: &Selection,
    clusters: &[usize],
    state: &[Wish],
    points: &Array2<f64>,
    balance: &[f64],
) -> Selection {
    let mut members = vec![Vec::new(); base.n()];
    for (item, &cluster) in clusters.iter().enumerate() {
        members[cluster].push(item);
    }
    let of_cluster: Vec<Vec<usize>> = members
        .iter()
        .zip(&base.anchors)
        .map(|(members, old)| anchors_of(members, old.item, state, points, balance))
        .collect();
    let mut chosen: Vec<usize> = of_cluster.concat();
    chosen.sort_unstable();
    let mut owner = vec![0; clusters.len()];
    for (members, anchors) in members.iter().zip(&of_cluster) {
        let anchors = if anchors.is_empty() { &chosen } else { anchors };
        for &item in members {
            owner[item] = if anchors.binary_search(&item).is_ok() {
                item
            } else {
                nearest(points.row(item), anchors, points)
            };
        }
    }
    let mut place = vec![0; clusters.len()];
    for (at, &item) in chosen.iter().enumerate() {
        place[item] = at;
    }
    let clusters: Vec<usize> = owner.iter().map(|&item| place[item]).collect();
    let mut weights = vec![0.0; chosen.len()];
    for (&at, w) in clusters.iter().zip(balance) {
        weights[at] += w;
    }
    let total: f64 = balance.iter().sum();
    Selection {
        kind: base.kind,
        anchors: chosen
            .into_iter()
            .zip(weights)
            .map(|(item, weight)| Anchor {
                item,
                weight: weight / total,
            })
            .collect(),
        clusters: Some(clusters),
    }
}

/// The anchors of one cluster, in order of position; none where all of its members are excluded.
fn anchors_of(
    members: &[usize],
    old: usize,
    state: &[Wish],
    points: &Array2<f64>,
    balance: &[f64],
) -> Vec<usize> {
    let anchors: Vec<usize> = members
        .iter()
        .copied()
        .filter(|&i| state[i] == Wish::Forced || (i == old && state[i] == Wish::Free))
        .collect();
    if !anchors.is_empty() {
        return anchors;
    }
    let mut centre = Array1::<f64>::zeros(points.ncols());
    let mut weight = 0.0;
    for &i in members {
        centre.scaled_add(balance[i], &points.row(i));
        weight += balance[i];
    }
    centre /= weight;
    let allowed: Vec<usize> = members
        .iter()
        .copied()
        .filter(|&i| state[i] != Wish::Excluded)
        .collect();
    if allowed.is_empty() {
        return allowed;
    }
    vec![nearest(centre.view(), &allowed, points)]
}

/// The item of `among` (at least one) that is nearest to a point, the first of equals.
fn nearest(point: ArrayView1<'_, f64>, among: &[usize], points: &Array2<f64>) -> usize {
    let mut best = (f64::INFINITY, among[0]);
    for &item in among {
        let d = squared_distance(points.row(item), point);
        if d < best.0 {
            best = (d, item);
        }
    }
    best.1
}

/// Random items with forced ones, then drawn ones in the place of those excluded, and the other forced ones on top.
fn random_items(
    base: &Selection,
    state: &[Wish],
    scenario: &Scenario,
    seed: u64,
    index: usize,
) -> Selection {
    let of = scenario.subscenario_of();
    let (gone, kept): (Vec<usize>, Vec<usize>) = base
        .anchors
        .iter()
        .map(|a| a.item)
        .partition(|&i| state[i] == Wish::Excluded);
    let mut chosen: BTreeSet<usize> = kept.into_iter().collect();
    let mut coming: Vec<usize> = (0..state.len())
        .filter(|i| state[*i] == Wish::Forced && !chosen.contains(i))
        .collect();
    chosen.extend(&coming);
    let mut places = gone;
    places.retain(|&place| {
        let at = coming.iter().position(|&i| of[i] == of[place]);
        if let Some(at) = at {
            coming.remove(at);
        }
        at.is_none()
    });
    places.drain(..coming.len().min(places.len()));
    // One order of all items, whatever is excluded: a further edit then moves as few items as it can.
    let mut order: Vec<usize> = (0..state.len()).collect();
    order.shuffle(&mut rng(seed, Stream::Edit(index)));
    order.retain(|&i| state[i] == Wish::Free);
    let mut homeless = 0;
    for place in places {
        let next = order
            .iter()
            .find(|&&i| of[i] == of[place] && !chosen.contains(&i));
        match next {
            Some(&next) => _ = chosen.insert(next),
            None => homeless += 1,
        }
    }
    order.retain(|i| !chosen.contains(i));
    chosen.extend(order.into_iter().take(homeless));
    let weight = 1.0 / chosen.len() as f64;
    Selection {
        kind: base.kind,
        anchors: chosen
            .into_iter()
            .map(|item| Anchor { item, weight })
            .collect(),
        clusters: None,
    }
}

#[cfg(test)]
mod tests;
