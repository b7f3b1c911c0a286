//! What several selections of one scenario have in common.

use super::Selection;

/// Share of `a`'s items that `b` chose too, in \[0, 1\]; 0 where `a` has none. Not symmetric where they differ in n.
pub fn overlap(a: &Selection, b: &Selection) -> f64 {
    // Both are in order of position, each item once.
    let shared = a
        .anchors
        .iter()
        .filter(|x| b.anchors.binary_search_by_key(&x.item, |y| y.item).is_ok())
        .count();
    shared as f64 / a.n().max(1) as f64
}

/// How many of the selections chose each of a scenario's `items` items, by position; 0..=`selections.len()`. Items beyond
/// the scenario are not counted.
pub fn stability(selections: &[&Selection], items: usize) -> Vec<usize> {
    let mut counts = vec![0; items];
    for anchor in selections.iter().flat_map(|s| &s.anchors) {
        if let Some(count) = counts.get_mut(anchor.item) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::anchors::{Anchor, SelectionKind};

    fn of(items: impl IntoIterator<Item = usize>) -> Selection {
        Selection {
            kind: SelectionKind::Random,
            anchors: items
                .into_iter()
                .map(|item| Anchor { item, weight: 0.1 })
                .collect(),
            clusters: None,
        }
    }

    #[test]
    fn known_values() {
        let (a, b) = (of([0, 2, 5, 7]), of([2, 3, 7]));
        assert_eq!(overlap(&a, &b), 0.5);
        assert!((overlap(&b, &a) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(overlap(&of([]), &a), 0.0);
        assert_eq!(stability(&[&a, &b], 7), [1, 0, 2, 1, 0, 1, 0]);
        assert_eq!(stability(&[], 2), [0, 0]);
    }

    proptest! {
        #[test]
        fn overlap_is_a_share_of_what_both_chose(
            a in prop::collection::btree_set(0usize..30, 1..20),
            b in prop::collection::btree_set(0usize..30, 1..20),
        ) {
            let (one, two) = (of(a.iter().copied()), of(b.iter().copied()));
            let shared = stability(&[&one, &two], 30).iter().filter(|&&c| c == 2).count();
            prop_assert_eq!(overlap(&one, &two) * a.len() as f64, shared as f64);
            prop_assert_eq!(overlap(&one, &one), 1.0);
        }
    }
}
