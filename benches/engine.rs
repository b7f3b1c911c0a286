//! The engine's main steps. `cargo bench --bench engine`; the real matrices are benchmarked where `../shared` is.

#![allow(clippy::expect_used)]

mod simulated;

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::Array2;
use rand_distr::{Distribution, StandardNormal};
use simulated::{all, simulated};
use tinyscope::anchors::weighted_kmeans;
use tinyscope::cache::Cache;
use tinyscope::data::{Benchmark, ResponseMatrix, kept, read, write};
use tinyscope::experiment::{Settings, sweep};
use tinyscope::irt::{
    AbilityMethod, DEFAULT_DIMS, FitOptions, Part, abilities as abilities_of, choose_dimension, fit,
};
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

fn fits(c: &mut Criterion) {
    let mut group = c.benchmark_group("fit");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(20));
    if let Some(b) = real("mmlu-pro") {
        group.bench_function("mmlu-pro, 47 x 12,032, D 5", |bench| {
            bench.iter(|| fit(&all(&b.matrix), &FitOptions::new(5), &Silent).expect("a fit"))
        });
        let part = Part {
            items: 0..b.matrix.n_items(),
            weights: vec![1.0; b.matrix.n_items()],
        };
        let parts = [part];
        group.bench_function("mmlu-pro, D of 2, 5, 10, 15 by validation", |bench| {
            bench.iter(|| {
                let method = AbilityMethod::Posterior;
                choose_dimension(&all(&b.matrix), &parts, &DEFAULT_DIMS, method, &Silent)
                    .expect("a choice")
            })
        });
    }
    for items in [14_042, 28_659] {
        let m = simulated(300, items, 10);
        group.bench_function(format!("simulated, 300 x {items}, D 10"), |bench| {
            bench.iter(|| fit(&all(&m), &FitOptions::new(10), &Silent).expect("a fit"))
        });
    }
    group.finish();
}

fn abilities(c: &mut Criterion) {
    let m = simulated(400, 600, 10);
    let train = tinyscope::data::Responses::new(&m, (0..300).collect(), (0..600).collect());
    let fitted = fit(&train, &FitOptions::new(10), &Silent).expect("a fit");
    let new: Vec<Vec<f64>> = (300..400).map(|l| m.row(l)).collect();
    let mut group = c.benchmark_group("abilities");
    for method in [AbilityMethod::Posterior, AbilityMethod::MaximumLikelihood] {
        let name = format!("100 models, 600 items, D 10, {}", method.name());
        group.bench_function(name, |bench| {
            bench.iter(|| abilities_of(&fitted.items, &new, &fitted.ability_prior, method))
        });
    }
    group.finish();
}

fn anchors(c: &mut Criterion) {
    let mut group = c.benchmark_group("anchors");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    let items = 14_042;
    let mut random = rng(1, Stream::Simulate(0));
    let points = Array2::from_shape_simple_fn((items, 11), || StandardNormal.sample(&mut random));
    let weights = vec![1.0; items];
    group.bench_function("IRT, 14,042 items of 11 numbers, k 100", |bench| {
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
    let m = simulated(300, items, 10);
    let fitted = fit(&all(&m), &FitOptions::new(10), &Silent).expect("a fit");
    let points = tinyscope::anchors::irt_points(&fitted.items);
    group.bench_function("IRT, parameters of simulated 300 x 14,042, D 10", |bench| {
        bench.iter(|| {
            weighted_kmeans(black_box(&points), &weights, 100, 0, 0, &Silent).expect("clusters")
        })
    });
    let points = scores(&m);
    group.bench_function("correctness, 14,042 items of 300 models, k 100", |bench| {
        bench.iter(|| {
            weighted_kmeans(black_box(&points), &weights, 100, 0, 0, &Silent).expect("clusters")
        })
    });
    group.finish();
}

/// Items x models.
fn scores(m: &ResponseMatrix) -> Array2<f64> {
    let responses = all(m);
    let mut points = Array2::zeros((m.n_items(), m.n_models()));
    for (l, mut column) in points.axis_iter_mut(ndarray::Axis(1)).enumerate() {
        column.assign(&ndarray::Array1::from(responses.row(l)));
    }
    points
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

/// A table of the shape of the Open LLM Leaderboard, parsed and from the cache.
fn reading(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table.csv.gz");
    let m = simulated(395, 28_659, 2);
    let mut text = format!("model,{}\n", m.items().join(","));
    for (l, name) in m.models().iter().enumerate() {
        text.push_str(name);
        for y in m.row(l) {
            text.push_str(if y == 1.0 { ",1" } else { ",0" });
        }
        text.push('\n');
    }
    write::atomically(&path, text.as_bytes()).expect("written");
    let options = read::ReadOptions::default();
    let cache = Cache::at(folder.path().join("cache"));
    let mut group = c.benchmark_group("reading");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("395 x 28,659 CSV.gz, parsed", |bench| {
        bench.iter(|| read::benchmark(&path, &options).expect("readable"))
    });
    let kept = || kept::watched(&path, &options, &Silent, &cache).expect("readable");
    kept();
    group.bench_function("395 x 28,659 CSV.gz, from the cache", |bench| {
        bench.iter(kept)
    });
    group.finish();
}

criterion_group!(benches, fits, abilities, anchors, sweeps, reading);
criterion_main!(benches);
