use proptest::prelude::*;

use super::*;
use crate::anchors::tests::{check, scenario};
use crate::anchors::{SelectionKind, anchors, stratified};
use crate::data::Aggregate;
use crate::progress::Silent;

/// Six items on a line in two clusters, {0, 1, 2} about 1 and {3, 4, 5} about 4.
fn line() -> (Selection, Array2<f64>, Scenario) {
    let points = Array2::from_shape_vec((6, 1), vec![0.0, 1.0, 2.0, 10.0, 11.0, 13.0]).unwrap();
    let base = Selection {
        kind: SelectionKind::AnchorsIrt,
        anchors: [1, 4].map(|item| Anchor { item, weight: 0.5 }).to_vec(),
        clusters: Some(vec![0, 0, 0, 1, 1, 1]),
    };
    (base, points, scenario(&[6], Aggregate::Micro))
}

fn apply(edits: &Edits) -> Selection {
    let (base, points, s) = line();
    edited(&base, edits, Some(&points), &[1.0; 6], &s, 0, 0)
}

fn items(selection: &Selection) -> Vec<usize> {
    selection.anchors.iter().map(|a| a.item).collect()
}

fn of(excluded: &[usize], forced: &[usize]) -> Edits {
    Edits {
        excluded: excluded.iter().copied().collect(),
        forced: forced.iter().copied().collect(),
    }
}

#[test]
fn an_item_is_on_one_side_only() {
    let mut edits = Edits::default();
    edits.force(3);
    edits.exclude(3);
    assert_eq!(edits, of(&[3], &[]));
    edits.swap(4, 3);
    assert_eq!(edits, of(&[4], &[3]));
    edits.release(3);
    edits.release(4);
    assert!(edits.is_empty());
}

#[test]
fn an_excluded_anchor_gives_way_to_the_member_nearest_to_the_centre() {
    // The centre of {10, 11, 13} is 11.33: 10 is nearer than 13.
    let found = apply(&of(&[4], &[]));
    assert_eq!(items(&found), [1, 3]);
    assert_eq!(found.clusters, Some(vec![0, 0, 0, 1, 1, 1]));
    assert_eq!(found.anchors[1].weight, 0.5);
    // What is no anchor makes no difference when excluded.
    assert_eq!(apply(&of(&[5], &[])), line().0);
}

#[test]
fn forced_items_share_the_cluster_of_an_anchor_that_stays() {
    let found = apply(&of(&[], &[5]));
    assert_eq!(items(&found), [1, 4, 5]);
    assert_eq!(found.clusters, Some(vec![0, 0, 0, 1, 1, 2]));
    assert!((found.anchors[2].weight - 1.0 / 6.0).abs() < 1e-12);
    // Item 1 lies in the middle of 0 and 2: it goes to the first.
    let tie = apply(&of(&[1], &[0, 2]));
    assert_eq!(tie.clusters, Some(vec![0, 0, 1, 2, 2, 2]));
}

#[test]
fn a_swap_within_a_cluster_keeps_n() {
    let mut edits = Edits::default();
    edits.swap(4, 5);
    let found = apply(&edits);
    assert_eq!(items(&found), [1, 5]);
    assert_eq!(found.clusters, Some(vec![0, 0, 0, 1, 1, 1]));
}

#[test]
fn a_cluster_without_an_allowed_item_dissolves() {
    let found = apply(&of(&[3, 4, 5], &[2]));
    assert_eq!(items(&found), [1, 2]);
    assert_eq!(found.clusters, Some(vec![0, 0, 1, 1, 1, 1]));
    assert!((found.anchors[1].weight - 4.0 / 6.0).abs() < 1e-12);
}

#[test]
fn the_base_stays_without_edits_and_where_all_is_excluded() {
    let base = line().0;
    for edits in [
        Edits::default(),
        of(&[6, 99], &[7]),
        of(&[0, 1, 2, 3, 4, 5, 6], &[]),
    ] {
        assert_eq!(apply(&edits), base);
    }
    // On both sides: forced.
    assert_eq!(items(&apply(&of(&[5], &[5]))), [1, 4, 5]);
}

#[test]
fn an_excluded_random_item_gives_way_to_one_of_its_subscenario() {
    let s = scenario(&[4, 20], Aggregate::Macro);
    let base = stratified(&s, 6, 3, 0).unwrap();
    let apply = |edits: &Edits, seed| edited(&base, edits, None, &s.balance_weights(), &s, seed, 0);
    let first = |x: &Selection| items(x).iter().filter(|&&i| i < 4).count();
    let mut edits = Edits::default();
    edits.exclude(items(&base)[0]);
    let found = apply(&edits, 0);
    assert_eq!((found.n(), first(&found)), (6, 3));
    assert_eq!(found, apply(&edits, 0));
    // None left in the first: the others take over.
    let all = apply(&of(&[0, 1, 2, 3], &[]), 0);
    assert_eq!((all.n(), first(&all)), (6, 0));
    // Forced on top, where no place is free.
    let unchosen = (0..24).find(|i| !items(&base).contains(i)).unwrap();
    let more = apply(&of(&[], &[unchosen]), 0);
    assert_eq!(more.n(), 7);
    assert_eq!(more.anchors[0].weight, 1.0 / 7.0);
    // Only two remain.
    let few = apply(&of(&(0..22).collect::<Vec<_>>(), &[]), 0);
    assert_eq!(items(&few), [22, 23]);
    // A swap across sub-scenarios keeps n as well.
    edits.swap(
        items(&base)[0],
        (4..24).find(|i| !items(&base).contains(i)).unwrap(),
    );
    assert_eq!((apply(&edits, 0).n(), first(&apply(&edits, 0))), (6, 2));
    // Of 17 items that could come, two seeds hardly ever draw the same three.
    let three: Vec<usize> = items(&base)[3..].to_vec();
    assert!((1..5).any(|seed| apply(&of(&three, &[]), seed) != apply(&of(&three, &[]), 0)));
}

#[test]
fn forced_items_take_the_places_of_excluded_random_ones() {
    // Sub-scenarios {0..4}, {4..8}, {8..12}; 0, 1, 4, 5, 8 and 9 are chosen.
    let s = scenario(&[4, 4, 4], Aggregate::Macro);
    let anchors = [0, 1, 4, 5, 8, 9].map(|item| Anchor {
        item,
        weight: 1.0 / 6.0,
    });
    let base = Selection {
        kind: SelectionKind::Random,
        anchors: anchors.to_vec(),
        clusters: None,
    };
    let apply = |excluded: &[usize], forced: &[usize]| {
        let edits = of(excluded, forced);
        items(&edited(&base, &edits, None, &[1.0; 12], &s, 0, 0))
    };
    assert_eq!(apply(&[0], &[2]), [1, 2, 4, 5, 8, 9]);
    assert_eq!(apply(&[0], &[11]), [1, 4, 5, 8, 9, 11]);
    // What is chosen already takes no place.
    assert_eq!(apply(&[0, 2], &[1]), [1, 3, 4, 5, 8, 9]);
    // One place, two forced: the other comes on top.
    assert_eq!(apply(&[4], &[2, 6]), [0, 1, 2, 5, 6, 8, 9]);
    // 6 takes the place of 4, although 2 comes before it: the place of 8 goes to 2, and nothing is drawn.
    assert_eq!(apply(&[4, 8], &[2, 6]), [0, 1, 2, 5, 6, 9]);
    // 10 takes the place of 8; that of 4 is drawn among {6, 7}, with 6 excluded.
    assert_eq!(apply(&[4, 6, 8], &[10]), [0, 1, 5, 7, 9, 10]);
}

proptest! {
    #[test]
    fn edits_are_obeyed_and_can_be_undone(
        values in prop::collection::vec(0i32..5, 4..40), n in 1usize..12, seed in 0u64..20, random: bool,
        steps in prop::collection::vec((0usize..45, 0usize..45, 0u8..3), 0..30),
    ) {
        let count = values.len();
        let s = scenario(&[count / 2, count - count / 2], Aggregate::Macro);
        let balance = s.balance_weights();
        let points = Array2::from_shape_fn((count, 2), |(i, j)| f64::from(values[(i + j) % count]));
        let base = if random { stratified(&s, n, seed, 0) } else {
            anchors(SelectionKind::AnchorsIrt, &points, &balance, n, seed, 0, &Silent)
        }.unwrap();
        let points = (!random).then_some(&points);
        let mut edits = Edits::default();
        for &(a, b, what) in &steps {
            match what {
                0 => edits.exclude(a),
                1 => edits.force(a),
                _ => edits.swap(a, b),
            }
        }
        prop_assert!(edits.excluded.is_disjoint(&edits.forced));
        let found = edited(&base, &edits, points, &balance, &s, seed, 0);
        check(&found, count)?;
        prop_assert_eq!(&found, &edited(&base, &edits, points, &balance, &s, seed, 0));
        let chosen = items(&found);
        if (0..count).any(|i| !edits.excluded.contains(&i)) {
            prop_assert!(chosen.iter().all(|i| !edits.excluded.contains(i)));
            prop_assert!(edits.forced.iter().all(|&i| i >= count || chosen.contains(&i)));
        } else {
            prop_assert_eq!(&found, &base);
        }
        if random && found != base {
            // Forced items take the places of excluded ones: n grows only by what finds no place.
            let had = items(&base);
            let gone = had.iter().filter(|i| edits.excluded.contains(i)).count();
            let coming = edits.forced.iter().filter(|&&i| i < count && !had.contains(&i)).count();
            let allowed = count - edits.excluded.range(..count).count();
            prop_assert_eq!(found.n(), (base.n() + coming.saturating_sub(gone)).min(allowed));
        }
        if let Some(clusters) = &found.clusters {
            prop_assert_eq!(clusters.len(), count);
            for (a, anchor) in found.anchors.iter().enumerate() {
                prop_assert_eq!(clusters[anchor.item], a);
                let share = (0..count).filter(|&i| clusters[i] == a).map(|i| balance[i]).sum::<f64>() / count as f64;
                prop_assert!((anchor.weight - share).abs() < 1e-9);
            }
        }
        for &(a, b, _) in &steps {
            edits.release(a);
            edits.release(b);
        }
        prop_assert!(edits.is_empty());
        prop_assert_eq!(&edited(&base, &edits, points, &balance, &s, seed, 0), &base);
        // An exclusion alone keeps n while its cluster or the scenario has another item.
        edits.exclude(base.anchors[0].item);
        let room = if random { base.n() < count } else { base.cluster_size(0) > 1 };
        if room {
            prop_assert_eq!(edited(&base, &edits, points, &balance, &s, seed, 0).n(), base.n());
        }
    }
}
