use proptest::prelude::*;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::moments::{doubled, extended_moments};
use super::*;
use crate::data::{MatrixBuilder, ResponseMatrix, Responses};
use crate::progress::{CancelToken, Observer, Progress, Silent};
use crate::random::{Stream, rng};

/// Responses drawn from an M2PL model with `dims` dimensions; a share `missing` is left out, and where `graded` scores are
/// halves between right and wrong.
fn drawn(l: usize, n: usize, dims: usize, missing: f64, graded: bool, seed: u64) -> ResponseMatrix {
    let mut random = rng(seed, Stream::Simulate(0));
    let normal = |random: &mut _| -> f64 { StandardNormal.sample(random) };
    let items: Vec<(Vec<f64>, f64)> = (0..n)
        .map(|_| {
            let a = (0..dims).map(|_| 0.7 + 0.5 * normal(&mut random)).collect();
            (a, normal(&mut random))
        })
        .collect();
    let mut b = MatrixBuilder::new((0..n).map(|i| format!("i{i}")).collect());
    for m in 0..l {
        let theta: Vec<f64> = (0..dims).map(|_| normal(&mut random)).collect();
        let row: Vec<f64> = items
            .iter()
            .map(|(a, b)| {
                let p = sigmoid(a.iter().zip(&theta).map(|(a, t)| a * t).sum::<f64>() - b);
                let y = f64::from(random.random::<f64>() < p);
                if random.random::<f64>() < missing {
                    f64::NAN
                } else if graded {
                    (y + p) / 2.0
                } else {
                    y
                }
            })
            .collect();
        b.push(format!("m{m}"), &row);
    }
    b.finish()
}

fn all(m: &ResponseMatrix) -> Responses<'_> {
    Responses::new(m, (0..m.n_models()).collect(), (0..m.n_items()).collect())
}

fn finite(fit: &Fit) -> bool {
    let ok = |g: &Gaussians| g.mean.iter().chain(&g.cov).all(|x| x.is_finite());
    ok(fit.items.posterior()) && ok(&fit.abilities) && fit.evidence.iter().all(|e| e.is_finite())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_evidence_never_falls(
        l in 1usize..40, n in 1usize..60, dims in 1usize..5, missing in 0.0..0.6f64, graded: bool, seed in 0u64..1000,
    ) {
        let m = drawn(l, n, 2, missing, graded, seed);
        let fit = fit(&all(&m), &FitOptions::new(dims), &Silent).unwrap();
        prop_assert!(finite(&fit));
        for w in fit.evidence.windows(2) {
            prop_assert!(w[1] >= w[0] - 1e-8 * w[0].abs().max(1.0), "{} then {}", w[0], w[1]);
        }
    }

    #[test]
    fn an_ability_does_not_depend_on_the_order_of_items(seed in 0u64..1000) {
        let m = drawn(20, 30, 2, 0.1, false, seed);
        let fit = fit(&all(&m), &FitOptions::new(2), &Silent).unwrap();
        let y = m.row(3);
        let order: Vec<usize> = (0..30).rev().collect();
        let turned: Vec<f64> = order.iter().map(|&i| y[i]).collect();
        let one = ability(&fit.items, &y, &fit.ability_prior, AbilityMethod::Posterior);
        let two = ability(&fit.items.select(&order), &turned, &fit.ability_prior, AbilityMethod::Posterior);
        for (a, b) in one.theta.mean(0).iter().zip(two.theta.mean(0)) {
            prop_assert!((a - b).abs() < 1e-6);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Whoever stands beside a model, and whatever they left out, its numbers are the same bits.
    #[test]
    fn abilities_of_many_are_those_of_each(models in 1usize..20, n in 2usize..60, dims in 1usize..5, missing in 0.0..0.7f64, seed in 0u64..1000) {
        let m = drawn(20, n, 2, missing, seed.is_multiple_of(2), seed);
        let fit = fit(&all(&m), &FitOptions::new(dims), &Silent).unwrap();
        let mut ys: Vec<Vec<f64>> = (0..models).map(|l| m.row(l)).collect();
        ys[models / 2].fill(f64::NAN);
        for method in [AbilityMethod::Posterior, AbilityMethod::MaximumLikelihood] {
            let together = abilities(&fit.items, &ys, &fit.ability_prior, method);
            for (y, one) in ys.iter().zip(&together) {
                prop_assert_eq!(one, &ability(&fit.items, y, &fit.ability_prior, method));
            }
        }
    }

    /// What the steps end at is a fixed point, as computed without lanes.
    #[test]
    fn an_ability_is_a_fixed_point(n in 1usize..50, dims in 1usize..5, seed in 0u64..1000) {
        let m = drawn(20, n, 2, 0.2, false, seed);
        let fit = fit(&all(&m), &FitOptions::new(dims), &Silent).unwrap();
        let (y, prior) = (m.row(1), &fit.ability_prior);
        let found = ability(&fit.items, &y, prior, AbilityMethod::Posterior);
        prop_assert!(found.converged);
        let (zz, theta) = (fit.items.posterior().second_moments(), &found.theta);
        let xx = doubled(extended_moments(theta), dims + 1);
        let inner = packed::len(dims);
        let (mut precision, mut mean) = (prior.precision.clone(), prior.shift());
        for i in (0..n).filter(|&i| !y[i].is_nan()) {
            let c = zz.row(i).dot(&xx.row(0)).max(0.0).sqrt();
            let w = if c > 0.0 { (c / 2.0).tanh() / (2.0 * c) } else { 0.25 };
            (0..inner).for_each(|q| precision[q] += w * zz[(i, q)]);
            for (j, m) in mean.iter_mut().enumerate() {
                *m += (y[i] - 0.5) * fit.items.discrimination(i)[j] + w * zz[(i, inner + j)];
            }
        }
        packed::cholesky(&mut precision, dims);
        packed::solve(&precision, dims, &mut mean);
        for (a, b) in mean.iter().zip(theta.mean(0)) {
            prop_assert!((a - b).abs() < 1e-8, "{} {}", a, b);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// What is computed for each response in single precision and summed in double gives the probabilities of double
    /// precision, and the evidence does not fall then either. (With more dimensions than the responses have, a fit in 60
    /// sweeps is still on its way along directions that rounding decides on.)
    #[test]
    fn single_precision_costs_no_accuracy(
        l in 30usize..160, n in 100usize..700, dims in 1usize..3, missing in 0.0..0.4f64, graded: bool, seed in 0u64..1000,
    ) {
        let m = drawn(l, n, 2, missing, graded, seed);
        let with = |precision| {
            let options = FitOptions { precision, ..FitOptions::new(dims) };
            fit(&all(&m), &options, &Silent).unwrap()
        };
        let (single, double) = (with(Precision::Single), with(Precision::Double));
        prop_assert!(finite(&single));
        for w in single.evidence.windows(2) {
            prop_assert!(w[1] >= w[0] - 1e-6 * w[0].abs().max(1.0), "{} then {}", w[0], w[1]);
        }
        let last = |fit: &Fit| *fit.evidence.last().unwrap();
        prop_assert!((last(&single) - last(&double)).abs() < 1e-6 * last(&double).abs().max(1.0), "{} {}", last(&single), last(&double));
        for row in 0..l {
            let of = |fit: &Fit| fit.items.probabilities(&fit.abilities, row);
            for (a, b) in of(&single).iter().zip(of(&double)) {
                prop_assert!((a - b).abs() < 1e-4, "{} {}", a, b);
            }
        }
    }
}

#[test]
fn the_gauge_is_canonical_and_probabilities_follow_it() {
    let m = drawn(60, 120, 2, 0.05, false, 4);
    let fit = fit(&all(&m), &FitOptions::new(2), &Silent).unwrap();
    let n = fit.abilities.len() as f64;
    for i in 0..2 {
        let mean: f64 = (0..60).map(|l| fit.abilities.mean(l)[i]).sum::<f64>() / n;
        assert!(mean.abs() < 1e-9);
        for j in 0..=i {
            let second: f64 = (0..60)
                .map(|l| {
                    let t = fit.abilities.mean(l);
                    fit.abilities.cov(l)[packed::at(i, j)] + t[i] * t[j]
                })
                .sum::<f64>()
                / n;
            assert!(
                (second - f64::from(i == j)).abs() < 1e-9,
                "{i} {j} {second}"
            );
        }
        let a: f64 = (0..120).map(|k| fit.items.discrimination(k)[i]).sum();
        assert!(a > 0.0);
    }
    // The fit's predictions agree with the responses: the gauge moved abilities, items and prior together.
    let mut off = 0.0;
    for l in 0..60 {
        let y = m.row(l);
        let refound = ability(&fit.items, &y, &fit.ability_prior, AbilityMethod::Posterior);
        for (a, b) in refound.theta.mean(0).iter().zip(fit.abilities.mean(l)) {
            off = f64::max(off, (a - b).abs());
        }
    }
    // Same fixed point, up to the fit's tolerance.
    assert!(off < 0.05, "{off}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // More than a tile of models, and of items.
    let m = drawn(150, 700, 2, 0.1, false, 9);
    for precision in [Precision::Single, Precision::Double] {
        let options = FitOptions {
            precision,
            max_sweeps: 20,
            ..FitOptions::new(3)
        };
        let with = |threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
                .install(|| fit(&all(&m), &options, &Silent).unwrap())
        };
        let one = with(1);
        for threads in [2, 8] {
            let other = with(threads);
            assert_eq!(one.items, other.items);
            assert_eq!(one.abilities, other.abilities);
            assert_eq!(one.evidence, other.evidence);
        }
    }
}

#[test]
fn all_right_and_all_wrong_stay_finite() {
    let m = drawn(20, 25, 1, 0.0, false, 2);
    let fit = fit(&all(&m), &FitOptions::new(1), &Silent).unwrap();
    for y in [vec![1.0; 25], vec![0.0; 25], vec![f64::NAN; 25]] {
        for method in [AbilityMethod::Posterior, AbilityMethod::MaximumLikelihood] {
            let found = ability(&fit.items, &y, &fit.ability_prior, method);
            assert!(found.theta.mean(0)[0].is_finite());
            assert!(
                found
                    .probabilities(&fit.items)
                    .iter()
                    .all(|p| (0.0..=1.0).contains(p))
            );
            if method == AbilityMethod::MaximumLikelihood && !y[0].is_nan() {
                assert!(!found.converged, "it has no maximum");
            }
        }
    }
}

#[test]
fn published_conventions_give_their_own_probabilities() {
    let theta = [0.7, -1.2];
    let a = [1.1, 0.4];
    let p = |c, b: &[f64]| ItemParameters::published(c, 2, &a, b).probabilities_at(&theta)[0];
    let dot = a[0] * theta[0] + a[1] * theta[1];
    assert!((p(Convention::Logit, &[0.3]) - sigmoid(dot - 0.3)).abs() < 1e-15);
    assert!((p(Convention::RepeatedIntercept, &[0.3]) - sigmoid(dot - 0.6)).abs() < 1e-15);
    let centred = a[0] * (theta[0] - 0.3) + a[1] * (theta[1] - 0.2);
    assert!((p(Convention::Centred, &[0.3, 0.2]) - sigmoid(centred)).abs() < 1e-15);
    // The reference clips each dimension's term at 30.
    let far = ItemParameters::published(Convention::RepeatedIntercept, 2, &[100.0, -1.0], &[0.0]);
    assert!((far.probabilities_at(&[1.0, 29.0])[0] - sigmoid(1.0)).abs() < 1e-12);
}

#[test]
fn cancelling_ends_a_fit() {
    struct Cancelled(CancelToken);
    impl Observer for Cancelled {
        fn progress(&self, p: &Progress) {
            if p.what == "sweep 3" {
                self.0.cancel();
            }
        }
        fn cancelled(&self) -> bool {
            self.0.is_cancelled()
        }
    }
    let m = drawn(20, 25, 2, 0.0, false, 2);
    let ended = fit(
        &all(&m),
        &FitOptions::new(2),
        &Cancelled(CancelToken::default()),
    );
    assert!(matches!(ended, Err(crate::Error::Cancelled)));
}

#[test]
fn the_smallest_dimension_near_the_best_is_chosen() {
    let m = drawn(80, 200, 1, 0.0, false, 6);
    let parts = [Part {
        items: 0..200,
        weights: vec![1.0; 200],
    }];
    let choice = choose_dimension(
        &all(&m),
        &parts,
        &[5, 1, 2],
        AbilityMethod::Posterior,
        &Silent,
    )
    .unwrap();
    assert_eq!(
        choice.table.iter().map(|v| v.dims).collect::<Vec<_>>(),
        [1, 2, 5]
    );
    let best = choice.table.iter().map(|v| v.error).fold(1.0, f64::min);
    assert!(choice.chosen().error <= best + 0.0025);
    assert!(
        choice
            .table
            .iter()
            .filter(|v| v.dims < choice.dims)
            .all(|v| v.error > best + 0.0025)
    );
}
