//! Stratified random items.

use rand::RngExt;
use rand::seq::{SliceRandom, index::sample};

use super::{Anchor, Selection, SelectionKind, too_few_items};
use crate::data::{Aggregate, Scenario};
use crate::error::Result;
use crate::random::{Stream, rng};

/// `n` items drawn without replacement, weights 1/n. Macro: n // n_sub from each sub-scenario, the rest one each to
/// randomly chosen ones; micro: in proportion to size (largest remainder). What a sub-scenario does not hold goes to the
/// others. More than all items are not drawn.
///
/// # Errors
/// Fewer than two items.
pub fn stratified(scenario: &Scenario, n: usize, seed: u64, index: usize) -> Result<Selection> {
    let total = scenario.n_items();
    if total < 2 {
        return Err(too_few_items(total));
    }
    let n = n.min(total);
    let mut random = rng(seed, Stream::Items(index));
    let sizes: Vec<usize> = scenario
        .subscenarios
        .iter()
        .map(|s| s.items.len())
        .collect();
    let counts = match scenario.aggregate {
        Aggregate::Macro => equal(&sizes, n, &mut random),
        Aggregate::Micro => proportional(&sizes, n, &mut random),
    };
    let mut items: Vec<usize> = Vec::with_capacity(n);
    for (sub, count) in scenario.subscenarios.iter().zip(counts) {
        let drawn = sample(&mut random, sub.items.len(), count);
        items.extend(drawn.iter().map(|i| sub.items.start + i));
    }
    items.sort_unstable();
    let weight = 1.0 / items.len() as f64;
    Ok(Selection {
        kind: SelectionKind::Random,
        anchors: items
            .into_iter()
            .map(|item| Anchor { item, weight })
            .collect(),
        clusters: None,
    })
}

/// Equal counts; what is left over goes one each to randomly chosen parts with room.
fn equal(sizes: &[usize], n: usize, random: &mut impl RngExt) -> Vec<usize> {
    let mut counts = vec![0; sizes.len()];
    let mut left = n;
    while left > 0 {
        let mut open: Vec<usize> = (0..sizes.len()).filter(|&k| counts[k] < sizes[k]).collect();
        let each = left / open.len().max(1);
        if each == 0 {
            open.shuffle(random);
            open.truncate(left);
        }
        for k in open {
            let more = each.max(1).min(sizes[k] - counts[k]).min(left);
            counts[k] += more;
            left -= more;
        }
    }
    counts
}

/// Counts in proportion to size, by largest remainder; ties go to randomly chosen parts.
fn proportional(sizes: &[usize], n: usize, random: &mut impl RngExt) -> Vec<usize> {
    let total: usize = sizes.iter().sum();
    let mut counts: Vec<usize> = sizes.iter().map(|s| s * n / total).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.shuffle(random);
    order.sort_by_key(|&k| std::cmp::Reverse(sizes[k] * n % total));
    let left = n - counts.iter().sum::<usize>();
    for &k in order.iter().take(left) {
        counts[k] += 1;
    }
    counts
}
