//! A small benchmark for the tests of this module: two scenarios, one of them with holes.

use rand::RngExt;

use super::{Fitted, Settings, fit_benchmark};
use crate::data::{Aggregate, Benchmark, ItemTexts, MatrixBuilder, Scenario, SubScenario, split};
use crate::irt::sigmoid;
use crate::progress::Silent;
use crate::random::{Stream, rng};

/// Items of the first scenario; the second has as many.
pub(super) const ITEMS: usize = 60;

/// Two dimensions, everything else as it comes.
pub(super) fn few() -> Settings {
    Settings {
        dims: vec![2],
        ..Settings::default()
    }
}

/// 40 models; every fifth lacks every seventh item of the second scenario.
pub(super) fn benchmark() -> Benchmark {
    let mut random = rng(1, Stream::Simulate(0));
    let ids: Vec<String> = (0..2 * ITEMS).map(|i| format!("i{i}")).collect();
    let difficulty: Vec<f64> = ids
        .iter()
        .map(|_| 4.0 * random.random::<f64>() - 2.0)
        .collect();
    let mut matrix = MatrixBuilder::new(ids);
    for l in 0..40 {
        let theta = [0, 1].map(|_| 4.0 * random.random::<f64>() - 2.0);
        let row: Vec<f64> = difficulty
            .iter()
            .enumerate()
            .map(|(i, b)| {
                let right = random.random::<f64>() < sigmoid(theta[0] + 0.5 * theta[i % 2] - b);
                if l % 5 == 0 && i >= ITEMS && i % 7 == 0 {
                    f64::NAN
                } else {
                    f64::from(right)
                }
            })
            .collect();
        matrix.push(format!("m{l}"), &row);
    }
    let scenario = |name: &str, from: usize, aggregate| Scenario {
        name: name.into(),
        aggregate,
        columns: (from..from + ITEMS).collect(),
        subscenarios: vec![
            SubScenario {
                name: "a".into(),
                items: 0..20,
            },
            SubScenario {
                name: "b".into(),
                items: 20..ITEMS,
            },
        ],
    };
    Benchmark {
        name: "case".into(),
        origin: "case".into(),
        simulated: true,
        source: String::new(),
        licence: String::new(),
        metric: String::new(),
        notes: String::new(),
        matrix: matrix.finish(),
        scenarios: vec![
            scenario("one", 0, Aggregate::Macro),
            scenario("two", ITEMS, Aggregate::Micro),
        ],
        released: Default::default(),
        organisations: Default::default(),
        texts: ItemTexts::default(),
        warnings: Vec::new(),
    }
}

/// The benchmark and its fit.
pub(super) fn fitted(settings: &Settings) -> (Benchmark, Fitted) {
    let b = benchmark();
    let split = split(&b, &settings.split, settings.seed).unwrap();
    let fitted = fit_benchmark(&b, &split, settings, &Silent).unwrap();
    (b, fitted)
}
