use proptest::prelude::*;

use super::*;
use crate::data::{Aggregate, Scenario, SubScenario};
use crate::progress::{CancelToken, Progress, Silent};

pub(super) fn scenario(sizes: &[usize], aggregate: Aggregate) -> Scenario {
    let mut at = 0;
    let subscenarios = sizes
        .iter()
        .enumerate()
        .map(|(k, &n)| {
            at += n;
            SubScenario {
                name: format!("s{k}"),
                items: at - n..at,
            }
        })
        .collect();
    Scenario {
        name: "s".into(),
        aggregate,
        columns: (0..at).collect(),
        subscenarios,
    }
}

pub(super) fn check(
    selection: &Selection,
    n_items: usize,
) -> std::result::Result<(), TestCaseError> {
    let total: f64 = selection.anchors.iter().map(|a| a.weight).sum();
    prop_assert!((total - 1.0).abs() < 1e-9, "weights sum to {total}");
    prop_assert!(
        selection
            .anchors
            .iter()
            .all(|a| a.weight > 0.0 && a.item < n_items)
    );
    prop_assert!(selection.anchors.windows(2).all(|w| w[0].item < w[1].item));
    Ok(())
}

proptest! {
    #[test]
    fn stratified_counts_are_as_the_method_says(
        sizes in prop::collection::vec(1usize..40, 1..8), n in 1usize..120, seed in 0u64..50, micro: bool,
    ) {
        let s = scenario(&sizes, if micro { Aggregate::Micro } else { Aggregate::Macro });
        prop_assume!(s.n_items() >= 2);
        let chosen = stratified(&s, n, seed, 0).unwrap();
        check(&chosen, s.n_items())?;
        let n = n.min(s.n_items());
        prop_assert_eq!(chosen.n(), n);
        prop_assert_eq!(&chosen, &stratified(&s, n, seed, 0).unwrap());
        let counts: Vec<usize> = s.subscenarios.iter()
            .map(|sub| chosen.anchors.iter().filter(|a| sub.items.contains(&a.item)).count()).collect();
        for (k, &c) in counts.iter().enumerate() {
            if micro {
                let share = (sizes[k] * n) as f64 / s.n_items() as f64;
                prop_assert!((c as f64 - share).abs() < 1.0);
            } else {
                prop_assert!(c >= (n / sizes.len()).min(sizes[k]));
            }
        }
    }

    #[test]
    fn anchors_are_distinct_and_no_cluster_is_empty(
        values in prop::collection::vec((0i32..4, 0i32..3), 2..60), n in 1usize..70, seed in 0u64..20,
    ) {
        let points = Array2::from_shape_fn((values.len(), 2), |(i, j)| {
            f64::from(if j == 0 { values[i].0 } else { values[i].1 }) * 0.3
        });
        let balance: Vec<f64> = (0..values.len()).map(|i| 0.5 + (i % 3) as f64).collect();
        let chosen = anchors(SelectionKind::AnchorsIrt, &points, &balance, n, seed, 0, &Silent).unwrap();
        check(&chosen, values.len())?;
        prop_assert_eq!(chosen.n(), n.min(distinct_rows(&points)));
        let clusters = chosen.clusters.as_ref().unwrap();
        for (a, anchor) in chosen.anchors.iter().enumerate() {
            prop_assert_eq!(clusters[anchor.item], a);
        }
    }

    #[test]
    fn weights_count_as_repeated_points(seed in 0u64..20) {
        let mut random = crate::random::rng(seed, crate::random::Stream::Items(7));
        let points = Array2::from_shape_simple_fn((12, 2), || rand::RngExt::random::<f64>(&mut random));
        let weights: Vec<f64> = (0..12).map(|i| 1.0 + (i % 3) as f64).collect();
        let weighted = weighted_kmeans(&points, &weights, 3, seed, 0, &Silent).unwrap();
        // A centre is the weighted mean of its members.
        for c in 0..3 {
            let members: Vec<usize> = (0..12).filter(|&i| weighted.labels[i] == c).collect();
            let total: f64 = members.iter().map(|&i| weights[i]).sum();
            for j in 0..2 {
                let mean = members.iter().map(|&i| weights[i] * points[(i, j)]).sum::<f64>() / total;
                prop_assert!((weighted.centres[(c, j)] - mean).abs() < 1e-9);
            }
        }
    }
}

/// One training model gives every item one number.
#[test]
fn single_numbers_are_clustered() {
    for items in [3, 40, 700] {
        let points = Array2::from_shape_fn((items, 1), |(i, _)| (i % 2) as f64);
        let found = weighted_kmeans(&points, &vec![1.0; items], 2, 0, 0, &Silent).unwrap();
        assert_eq!(found.inertia, 0.0);
        assert!((0..items).all(|i| (found.labels[i] == found.labels[0]) == (i % 2 == 0)));
    }
}

/// What is clustered may have any unit.
#[test]
fn clusters_do_not_depend_on_the_scale() {
    let points = Array2::from_shape_fn((200, 3), |(i, j)| (1.7 * (3 * i + j) as f64).sin());
    let weights = vec![1.0; 200];
    let of = |scale: f64| weighted_kmeans(&(&points * scale), &weights, 9, 0, 0, &Silent).unwrap();
    let one = of(1.0);
    for power in [-400, 400] {
        let scale = 2.0f64.powi(power);
        let other = of(scale);
        assert_eq!(other.labels, one.labels);
        for (a, b) in other.centres.iter().zip(&one.centres) {
            assert!((a / scale - b).abs() < 1e-12);
        }
    }
}

/// linfa's k-means (unweighted) is the oracle where weights are equal: ours must find inertia as low.
#[test]
fn inertia_is_as_low_as_the_oracles_where_weights_are_equal() {
    use linfa::DatasetBase;
    use linfa::traits::Fit;
    use linfa_clustering::KMeans;

    let mut random = crate::random::rng(3, crate::random::Stream::Items(0));
    let points = Array2::from_shape_fn((600, 3), |(i, _)| {
        (i % 8) as f64 + 0.3 * rand::RngExt::random::<f64>(&mut random)
    });
    let ours = weighted_kmeans(&points, &vec![1.0; 600], 8, 0, 0, &Silent).unwrap();
    let oracle = KMeans::params(8)
        .n_runs(5)
        .tolerance(1e-6)
        .fit(&DatasetBase::from(points.clone()))
        .unwrap();
    // linfa reports the mean over points.
    let theirs = oracle.inertia() * 600.0;
    assert!(
        ours.inertia <= theirs * 1.02,
        "{} against {theirs}",
        ours.inertia
    );
}

#[test]
fn thread_counts_give_the_same_anchors() {
    let mut random = crate::random::rng(5, crate::random::Stream::Items(0));
    let points =
        Array2::from_shape_simple_fn((2000, 6), || rand::RngExt::random::<f64>(&mut random));
    let balance = vec![1.0; 2000];
    let with = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(|| weighted_kmeans(&points, &balance, 40, 1, 0, &Silent).unwrap())
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(8));
}

/// Cancels at the check after so many.
struct After(std::sync::atomic::AtomicUsize, CancelToken);

impl Observer for After {
    fn progress(&self, _: &Progress) {}

    fn cancelled(&self) -> bool {
        if self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 1 {
            self.1.cancel();
        }
        self.1.is_cancelled()
    }
}

#[test]
fn clustering_stops_when_it_is_told_to() {
    let mut random = crate::random::rng(5, crate::random::Stream::Items(0));
    let points =
        Array2::from_shape_simple_fn((500, 3), || rand::RngExt::random::<f64>(&mut random));
    // The first check, one while centres are seeded, one in the midst of the rounds.
    for checks in [1, 20, 60] {
        let observer = After(checks.into(), CancelToken::default());
        let found = weighted_kmeans(&points, &[1.0; 500], 10, 0, 0, &observer);
        assert!(matches!(found, Err(Error::Cancelled)), "{checks}");
    }
}
