//! Simulated benchmarks: what was put in comes out again.

use tinyscope::data::{Benchmark, Responses};
use tinyscope::irt::{FitOptions, fit};
use tinyscope::progress::{CancelToken, Observer, Progress, Silent};
use tinyscope::simulate::{FitSettings, Plain, Population, Shape, ShapeScenario};

fn plain(models: usize, items: usize, seed: u64) -> tinyscope::simulate::Simulated {
    let shape = Shape::plain(models, items);
    let population = Plain::default().population(&shape, seed).unwrap();
    population.draw(&shape, seed, &Silent).unwrap()
}

fn rows(benchmark: &Benchmark) -> Vec<Vec<f64>> {
    let m = &benchmark.matrix;
    (0..m.n_models()).map(|l| m.row(l)).collect()
}

#[test]
fn a_fit_recovers_the_true_probabilities_and_its_evidence_never_falls() {
    // Without relatives: errors that models share are no noise, and no fit can take them for it.
    let shape = Shape::plain(200, 2000);
    let lone = Plain {
        families: false,
        ..Plain::default()
    };
    let population = lone.population(&shape, 1).unwrap();
    let drawn = population.draw(&shape, 1, &Silent).unwrap();
    let responses = Responses::new(
        &drawn.benchmark.matrix,
        (0..200).collect(),
        (0..2000).collect(),
    );
    let fitted = fit(&responses, &FitOptions::new(2), &Silent).unwrap();
    let mut error = 0.0;
    for l in 0..200 {
        let truth = drawn.truth.scenarios[0].probabilities(l);
        let found = fitted.items.probabilities(&fitted.abilities, l);
        error += truth
            .iter()
            .zip(&found)
            .map(|(a, b)| (a - b).abs())
            .sum::<f64>();
    }
    error /= 200.0 * 2000.0;
    assert!(error < 0.03, "mean absolute error {error}");
    for pair in fitted.evidence.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-6 * pair[0].abs(), "{pair:?}");
    }
}

#[test]
fn a_seed_gives_one_benchmark_on_any_number_of_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| plain(60, 300, 4).benchmark)
    };
    let (one, four) = (on(1), on(4));
    assert_eq!(rows(&one), rows(&four));
    assert_eq!(one.matrix.models(), four.matrix.models());
    assert_eq!(one.released, four.released);
    assert_ne!(rows(&one), rows(&plain(60, 300, 5).benchmark));
}

#[test]
fn a_fitted_population_serves_other_sizes_and_names_what_it_does_not_have() {
    let source = plain(50, 200, 2).benchmark;
    let population = Population::fit(&[&source], &FitSettings { dims: vec![2] }, &Silent).unwrap();
    let mut shape = Shape::plain(130, 450);
    shape.scenarios[0].guess = 0.25;
    let drawn = population.draw(&shape, 3, &Silent).unwrap();
    assert_eq!(
        (
            drawn.benchmark.matrix.n_models(),
            drawn.benchmark.matrix.n_items()
        ),
        (130, 450)
    );
    assert!(drawn.benchmark.simulated);
    let mean = |b: &Benchmark| {
        let all: Vec<f64> = rows(b).into_iter().flatten().collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let (before, after) = (mean(&source), mean(&drawn.benchmark));
    assert!((before - after).abs() < 0.05, "{before} {after}");

    let mut two = source.clone();
    let mut second = two.scenarios[0].clone();
    second.name = "other".into();
    two.scenarios.push(second);
    let population = Population::fit(&[&two], &FitSettings { dims: vec![2] }, &Silent).unwrap();
    shape.scenarios[0].name = "nowhere".into();
    let e = population.draw(&shape, 0, &Silent).unwrap_err().to_string();
    assert!(e.contains("nowhere") && e.contains("other"), "{e}");
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let shape = Shape::plain(10, 20);
    let population = Plain::default().population(&shape, 0).unwrap();
    let broken = |change: &dyn Fn(&mut Shape)| {
        let mut shape = Shape::plain(10, 20);
        change(&mut shape);
        population.draw(&shape, 0, &Silent).is_err()
    };
    assert!(broken(&|s| s.models = 0));
    assert!(broken(&|s| s.scenarios.clear()));
    assert!(broken(&|s| s.scenarios[0].subscenarios[0].1 = 0));
    assert!(broken(&|s: &mut Shape| {
        let part: &mut ShapeScenario = &mut s.scenarios[0];
        (part.guess, part.slip) = (0.6, 0.5);
    }));
    assert!(Population::fit(&[], &FitSettings::default(), &Silent).is_err());
    let dims = Plain {
        dims: 0,
        ..Plain::default()
    };
    assert!(dims.population(&shape, 0).is_err());
    let tiny = plain(3, 4, 0).benchmark;
    assert!(Population::fit(&[&tiny], &FitSettings::default(), &Silent).is_err());
}

#[test]
fn drawing_stops_when_told_to() {
    struct Stopped(CancelToken);
    impl Observer for Stopped {
        fn progress(&self, _: &Progress) {}
        fn cancelled(&self) -> bool {
            self.0.is_cancelled()
        }
    }
    let shape = Shape::plain(10, 20);
    let population = Plain::default().population(&shape, 0).unwrap();
    let stopped = Stopped(CancelToken::default());
    stopped.0.cancel();
    assert!(matches!(
        population.draw(&shape, 0, &stopped),
        Err(tinyscope::Error::Cancelled)
    ));
}
