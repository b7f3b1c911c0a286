//! The next item takes most off the variance; only the answers and their order matter.

use proptest::prelude::*;

use super::*;
use crate::irt::{Gaussians, ItemParameters, Prior, packed};

const N: usize = 9;

fn pool(z: &[f64], balance: &[f64], dispersion: &[f64]) -> Pool {
    let cov = [0.05, 0.0, 0.05, 0.0, 0.0, 0.05].repeat(N);
    let items = ItemParameters::new(Gaussians::new(3, z.to_vec(), cov));
    let (balance, dispersion) = (balance.to_vec(), dispersion.to_vec());
    Pool::new(items, balance, dispersion, Prior::standard(2), None).unwrap()
}

/// Variance of the score, times the square of the sum of weights, once item i is known: with the posterior
/// S' = (S^-1 + s^2 a a' / phi)^-1 of the linear model and the gradient and noise of what is then left.
fn variance_without(test: &AdaptiveTest<'_>, item: usize) -> f64 {
    let d = 2;
    let mut cov = test.theta.cov(0).to_vec();
    packed::cholesky(&mut cov, d);
    packed::invert(&mut cov, d);
    let (a, out) = (test.pool.items.discrimination(item), test.outlook[item]);
    for i in 0..d {
        for j in 0..=i {
            cov[packed::at(i, j)] += out.slope * out.slope * a[i] * a[j] / test.noise(item);
        }
    }
    packed::cholesky(&mut cov, d);
    packed::invert(&mut cov, d);
    let (mut gradient, mut noise) = (vec![0.0; d], 0.0);
    for i in (0..N).filter(|&i| i != item && test.scores[i].is_nan()) {
        let w = test.pool.balance[i];
        noise += w * w * test.noise(i);
        for (g, a) in gradient.iter_mut().zip(test.pool.items.discrimination(i)) {
            *g += w * test.outlook[i].slope * a;
        }
    }
    packed::quadratic(&cov, &gradient) + noise
}

fn cases() -> impl Strategy<Value = (Pool, Vec<f64>)> {
    (
        prop::collection::vec(-2.0..2.0f64, 3 * N),
        prop::collection::vec(0.2..2.0f64, N),
        prop::collection::vec(0.1..2.0f64, N),
        prop::collection::vec(0.0..=1.0f64, N),
    )
        .prop_map(|(z, balance, dispersion, y)| (pool(&z, &balance, &dispersion), y))
}

proptest! {
    #[test]
    fn the_next_item_leaves_the_least_variance((pool, y) in cases()) {
        let mut test = AdaptiveTest::new(&pool, Rule::Score);
        while let Some(item) = test.next_item() {
            let least = variance_without(&test, item);
            for other in (0..N).filter(|&i| test.scores[i].is_nan()) {
                prop_assert!(least <= variance_without(&test, other) * (1.0 + 1e-9));
            }
            test.answer(item, y[item]).unwrap();
        }
        // All answered: the score, exactly.
        let outcome = test.outcome();
        let total: f64 = pool.balance.iter().sum();
        let truth = pool.balance.iter().zip(&y).map(|(w, y)| w * y).sum::<f64>() / total;
        prop_assert!((outcome.estimate - truth).abs() < 1e-12);
        prop_assert_eq!((outcome.deviation, outcome.unseen, outcome.answered), (0.0, 0.0, N));
    }

    #[test]
    fn an_answer_is_expected_to_leave_less_variance((pool, y) in cases(), x in prop::collection::vec(-1.0..1.0f64, 2)) {
        let total: f64 = pool.balance.iter().sum();
        for rule in [Rule::Score, Rule::DOptimal] {
            let mut test = AdaptiveTest::new(&pool, rule);
            let prior = packed::quadratic(test.theta.cov(0), &x);
            while let Some(item) = test.next_item() {
                let before = (test.outcome().deviation * total).powi(2);
                prop_assert!(variance_without(&test, item) <= before * (1.0 + 1e-9));
                test.answer(item, y[item].round()).unwrap();
                // Whatever is answered: the ability is never less certain than before the first answer.
                prop_assert!(packed::quadratic(test.theta.cov(0), &x) <= prior * (1.0 + 1e-9));
            }
        }
    }

    #[test]
    fn only_the_answers_and_their_order_matter((pool, y) in cases(), wrong in 0.0..=1.0f64) {
        let mut plain = AdaptiveTest::new(&pool, Rule::Score);
        let mut order = Vec::new();
        for _ in 0..5 {
            let item = plain.next_item().unwrap();
            plain.answer(item, y[item]).unwrap();
            order.push((item, y[item]));
        }
        let mut at_once = AdaptiveTest::new(&pool, Rule::Score);
        at_once.answer_all(&order).unwrap();
        let mut corrected = AdaptiveTest::new(&pool, Rule::Score);
        for &(item, score) in &order {
            corrected.answer(item, wrong).unwrap();
            prop_assert_eq!(corrected.undo(), Some(item));
            corrected.answer(item, wrong).unwrap();
            corrected.answer(item, score).unwrap();
        }
        for other in [&at_once, &corrected] {
            prop_assert_eq!(other.outcome(), plain.outcome());
            prop_assert_eq!(other.next_item(), plain.next_item());
            prop_assert_eq!(&other.theta, &plain.theta);
        }
    }
}

#[test]
fn what_cannot_be_asked_is_not_and_still_counts() {
    let z: Vec<f64> = (0..3 * N)
        .map(|i| ((i * 7) % 5) as f64 / 2.0 - 1.0)
        .collect();
    let pool = pool(&z, &[1.0; N], &[]);
    let mut test = AdaptiveTest::new(&pool, Rule::Score);
    let first = test.next_item().unwrap();
    test.set_open(first, false);
    let mut asked = 0;
    while let Some(item) = test.next_item() {
        assert_ne!(item, first);
        test.answer(item, 1.0).unwrap();
        asked += 1;
    }
    assert_eq!(asked, N - 1);
    assert!((test.outcome().unseen - 1.0 / N as f64).abs() < 1e-12);
    let mut counts = vec![true; N];
    counts[first] = false;
    let over = AdaptiveTest::over(&pool, Rule::DOptimal, counts);
    assert_ne!(over.next_item(), Some(first));
    assert!((over.outcome().unseen - 1.0).abs() < 1e-12);
}

#[test]
fn what_does_not_fit_is_refused() {
    let pool = pool(&[0.5; 3 * N], &[1.0; N], &[]);
    let mut test = AdaptiveTest::new(&pool, Rule::Score);
    for (item, score) in [(N, 0.5), (0, 1.5), (0, f64::NAN), (0, -0.1)] {
        assert!(test.answer_all(&[(1, 0.5), (item, score)]).is_err());
    }
    assert!(test.order().is_empty() && test.undo().is_none());
    let items = pool.items.clone();
    let make = |balance: usize, r: Vec<f64>, d| {
        Pool::new(
            items.clone(),
            vec![1.0; balance],
            r,
            Prior::standard(d),
            None,
        )
    };
    assert!(make(N, Vec::new(), 2).is_ok() && make(N - 1, Vec::new(), 2).is_err());
    assert!(make(N, vec![0.0; N], 2).is_err() && make(N, Vec::new(), 3).is_err());
}
