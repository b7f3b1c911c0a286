//! The engine's main steps. `cargo bench`; the real matrices are benchmarked where `../shared` is.

#![allow(clippy::expect_used)]

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use tinyscope::anchors::weighted_kmeans;
use tinyscope::data::{Benchmark, MatrixBuilder, ResponseMatrix, Responses, read};
use tinyscope::experiment::{Settings, sweep};
use tinyscope::irt::{FitOptions, fit, sigmoid};
use tinyscope::progress::Silent;
use tinyscope::random::{Stream, rng};

fn real(name: &str) -> Option<Benchmark> {
    let path = Path::new("../shared/data").join(format!("{name}.json"));
    if !path.exists() {
        eprintln!("{name}: left out, ../shared is not here");
        return None;
    }
    Some(read::benchmark(&path, &read::ReadOptions::default()).expect("readable"))
}

/// 0/1 responses of an M2PL population with standard normal abilities.
fn simulated(models: usize, items: usize, dims: usize) -> ResponseMatrix {
    let mut random = rng(0, Stream::Simulate(0));
    let normal = |random: &mut _| -> f64 { StandardNormal.sample(random) };
    let a = Array2::from_shape_simple_fn((items, dims), || 0.6 + 0.4 * normal(&mut random));
    let b: Vec<f64> = (0..items).map(|_| normal(&mut random)).collect();
    let mut matrix = MatrixBuilder::new((0..items).map(|i| i.to_string()).collect());
    for l in 0..models {
        let theta = ndarray::Array1::from_shape_simple_fn(dims, || normal(&mut random));
        let logits = a.dot(&theta);
        let row: Vec<f64> = logits
            .iter()
            .zip(&b)
            .map(|(x, b)| f64::from(random.random::<f64>() < sigmoid(x - b)))
            .collect();
        matrix.push(l.to_string(), &row);
    }
    matrix.finish()
}

fn all(m: &ResponseMatrix) -> Responses<'_> {
    Responses::new(m, (0..m.n_models()).collect(), (0..m.n_items()).collect())
}

fn fits(c: &mut Criterion) {
    let mut group = c.benchmark_group("fit");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(20));
    if let Some(b) = real("mmlu-pro") {
        group.bench_function("mmlu-pro, 47 x 12,032, D 5", |bench| {
            bench.iter(|| fit(&all(&b.matrix), &FitOptions::new(5), &Silent).expect("a fit"))
        });
    }
    let m = simulated(300, 14_042, 10);
    group.bench_function("simulated, 300 x 14,042, D 10", |bench| {
        bench.iter(|| fit(&all(&m), &FitOptions::new(10), &Silent).expect("a fit"))
    });
    group.finish();
}

fn anchors(c: &mut Criterion) {
    let mut group = c.benchmark_group("anchors");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    let mut random = rng(1, Stream::Simulate(0));
    let points = Array2::from_shape_simple_fn((12_000, 6), || StandardNormal.sample(&mut random));
    let weights = vec![1.0; 12_000];
    group.bench_function("IRT, 12,000 items of 6 numbers, k 100", |bench| {
        bench.iter(|| {
            weighted_kmeans(black_box(&points), &weights, 100, 0, 0, &Silent).expect("clusters")
        })
    });
    // linfa's k-means on the same points, as many runs: unweighted, it serves as a yardstick.
    group.bench_function("the same by linfa, unweighted", |bench| {
        use linfa::DatasetBase;
        use linfa::traits::Fit;
        let data = DatasetBase::from(points.clone());
        bench.iter(|| {
            linfa_clustering::KMeans::params(100)
                .n_runs(5)
                .fit(&data)
                .expect("clusters")
        })
    });
    let m = simulated(300, 12_000, 2);
    let responses = all(&m);
    let mut points = Array2::zeros((12_000, 300));
    for (l, mut column) in points.axis_iter_mut(ndarray::Axis(1)).enumerate() {
        column.assign(&ndarray::Array1::from(responses.row(l)));
    }
    group.bench_function("correctness, 12,000 items of 300 models, k 100", |bench| {
        bench.iter(|| {
            weighted_kmeans(black_box(&points), &weights, 100, 0, 0, &Silent).expect("clusters")
        })
    });
    group.finish();
}

fn sweeps(c: &mut Criterion) {
    let Some(b) = real("helm-lite") else { return };
    let mut group = c.benchmark_group("sweep");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(15));
    let settings = Settings {
        scenarios: vec![b.scenario_index("mmlu").expect("mmlu")],
        dims: vec![2, 5, 10],
        ..Settings::default()
    };
    group.bench_function(
        "helm-lite mmlu, 5 seeds, n 10,30,60,100, D of 2,5,10",
        |bench| {
            bench.iter(|| sweep(&b, &settings, &[10, 30, 60, 100], 5, &Silent).expect("a sweep"))
        },
    );
    group.finish();
}

criterion_group!(benches, fits, anchors, sweeps);
criterion_main!(benches);
