//! How the fit grows with models, items and D, and how far it is from what the machine's matrix products can do.
//!
//! `cargo bench --bench scale` doubles one of the three at a time from 200 models, 4,000 items and D = 5: median of three fits
//! of 20 sweeps, each in a process of its own whose peak memory is told, with the exponents; then the rate of plain matrix
//! products of the shapes of the fit, and of large square ones. `cargo bench --bench scale -- big` fits 6,000 models x 28,659
//! items at D = 5 once, in 60 sweeps. `cargo bench --bench scale -- precision` fits the real matrices in single and in double
//! precision and tells how far what comes of it differs.

#![allow(clippy::expect_used, clippy::print_stdout)]

mod simulated;

use std::process::Command;
use std::time::Instant;

use ndarray::Array2;
use ndarray::linalg::general_mat_mul;
use rayon::prelude::*;
use simulated::{all, simulated};
use tinyscope::anchors::{irt_points, weighted_kmeans};
use tinyscope::data::{ResponseMatrix, Responses, read};
use tinyscope::irt::{AbilityMethod, FitOptions, Precision, ability, fit};
use tinyscope::progress::Silent;

/// Sweeps of a timed fit: each costs the same.
const SWEEPS: usize = 20;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |k: usize| arguments.get(k).and_then(|a| a.parse::<usize>().ok());
    match arguments.get(1).map(String::as_str) {
        Some("one") => {
            let sizes = [2, 3, 4, 5].map(|k| number(k).expect("sizes"));
            let (seconds, sweeps) = one(sizes[0], sizes[1], sizes[2], sizes[3]);
            println!("{seconds} {sweeps} {}", peak_megabytes());
        }
        Some("big") => {
            let [seconds, sweeps, megabytes] = child(6_000, 28_659, 5, 60);
            println!(
                "6,000 x 28,659, D 5: {seconds:.0} s in {sweeps} sweeps, {megabytes:.0} MB at most, the responses included"
            );
        }
        Some("precision") => precision(),
        _ => {
            let rate = scaling();
            products(rate);
        }
    }
}

/// Single against double precision on every scenario of the real matrices with many responses: four of five models
/// are fitted, the rest estimated from every 7th item.
fn precision() {
    let folder = std::path::Path::new("../shared/data");
    if !folder.exists() {
        println!("left out, ../shared is not here");
        return;
    }
    println!(
        "D 5, 60 sweeps; single / double precision, or their difference (scores': root mean square)"
    );
    println!(
        "| scenario | models x items | seconds | evidence an answer | scores | mean error of scores | same anchors |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "json") && !p.ends_with("sizes.json"))
        .collect();
    paths.sort();
    for path in paths {
        let b = read::benchmark(&path, &read::ReadOptions::default()).expect("readable");
        for scenario in &b.scenarios {
            let columns = &scenario.columns;
            let answers = |l: usize| {
                columns
                    .iter()
                    .filter(|&&i| b.matrix.get(l, i).is_some())
                    .count()
            };
            let models: Vec<usize> = (0..b.matrix.n_models())
                .filter(|&l| 2 * answers(l) > columns.len())
                .collect();
            if models.len() * columns.len() * 4 / 5 >= 1 << 16 {
                let file = path.file_stem().expect("a name").display().to_string();
                compare(
                    &format!("{file} {}", scenario.name),
                    &b.matrix,
                    &models,
                    columns,
                );
            }
        }
    }
}

/// What is compared of a fit.
struct Outcome {
    seconds: f64,
    evidence: f64,
    anchors: Vec<usize>,
    scores: Vec<f64>,
}

/// One row of the table.
fn compare(name: &str, matrix: &ResponseMatrix, models: &[usize], columns: &[usize]) {
    let (new, train): (Vec<usize>, Vec<usize>) = models.iter().partition(|&&l| l % 5 == 0);
    let score_of = |l: usize, columns: &[usize]| -> Vec<f64> {
        let score = |&i: &usize| matrix.get(l, i).unwrap_or(f64::NAN);
        columns.iter().map(score).collect()
    };
    let outcome = |precision| {
        let train = Responses::new(matrix, train.clone(), columns.to_vec());
        let start = Instant::now();
        let options = FitOptions {
            precision,
            ..FitOptions::new(5)
        };
        let found = fit(&train, &options, &Silent).expect("a fit");
        let seconds = start.elapsed().as_secs_f64();
        let (k, weights) = (100.min(columns.len()), vec![1.0; columns.len()]);
        let points = irt_points(&found.items);
        let anchors = weighted_kmeans(&points, &weights, k, 0, 0, &Silent)
            .expect("clusters")
            .representatives(&points);
        let scores = new.iter().map(|&l| {
            let mut y = score_of(l, columns);
            for (y, column) in y.iter_mut().zip(columns) {
                if column % 7 > 0 {
                    *y = f64::NAN;
                }
            }
            let theta = ability(
                &found.items,
                &y,
                &found.ability_prior,
                AbilityMethod::Posterior,
            );
            let p = theta.probabilities(&found.items);
            p.iter().sum::<f64>() / p.len() as f64
        });
        Outcome {
            seconds,
            evidence: found.evidence.last().expect("one")
                / (train.n_models() * columns.len()) as f64,
            scores: scores.collect(),
            anchors: anchors.iter().map(|&i| columns[i]).collect(),
        }
    };
    let double = outcome(Precision::Double);
    let single = outcome(Precision::Single);
    let n = new.len() as f64;
    let apart = |a: &Outcome| {
        let squares = a
            .scores
            .iter()
            .zip(&double.scores)
            .map(|(a, b)| (a - b).powi(2));
        (squares.sum::<f64>() / n).sqrt()
    };
    let error = |a: &Outcome| {
        let errors = new.iter().zip(&a.scores).map(|(&l, estimate)| {
            let mut y = score_of(l, columns);
            y.retain(|y| !y.is_nan());
            (y.iter().sum::<f64>() / y.len() as f64 - estimate).abs()
        });
        errors.sum::<f64>() / n
    };
    let same = |a: &Outcome| {
        a.anchors
            .iter()
            .filter(|i| double.anchors.contains(i))
            .count()
    };
    println!(
        "| {name} | {} x {} | {:.2} / {:.2} | {:.1e} | {:.1e} | {:.6} / {:.6} | {} of {} |",
        train.len(),
        columns.len(),
        single.seconds,
        double.seconds,
        single.evidence - double.evidence,
        apart(&single),
        error(&single),
        error(&double),
        same(&single),
        double.anchors.len(),
    );
}

/// Seconds of a fit of so many sweeps, and sweeps done.
fn one(models: usize, items: usize, dims: usize, sweeps: usize) -> (f64, usize) {
    let m = simulated(models, items, dims.min(10));
    let options = FitOptions {
        max_sweeps: sweeps,
        tolerance: 0.0,
        ..FitOptions::new(dims)
    };
    let start = Instant::now();
    let found = fit(&all(&m), &options, &Silent).expect("a fit");
    (start.elapsed().as_secs_f64(), found.moves.len())
}

/// The same in a process of its own: seconds, sweeps, peak memory in MB.
fn child(models: usize, items: usize, dims: usize, sweeps: usize) -> [f64; 3] {
    let sizes = [models, items, dims, sweeps].map(|n| n.to_string());
    let out = Command::new(std::env::current_exe().expect("this program"))
        .arg("one")
        .args(sizes)
        .output()
        .expect("it starts");
    let text = String::from_utf8(out.stdout).expect("text");
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(|n| n.parse().expect("a number"))
        .collect();
    numbers.try_into().expect("three numbers")
}

/// The most memory that this process had, where the system tells.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM"));
    let number = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<f64>().ok());
    number.map_or(f64::NAN, |kb| kb / 1024.0)
}

/// Multiply-adds of a sweep, times two: products of packed moments in both halves, and of the means.
fn flops(models: usize, items: usize, dims: usize) -> f64 {
    let (k, p) = (dims + 1, (dims + 1) * (dims + 2) / 2);
    models as f64 * items as f64 * 2.0 * (4 * p + k + dims) as f64
}

/// Prints the table; returns the rate of the largest D.
fn scaling() -> f64 {
    let base = [200, 4_000, 5];
    println!("{SWEEPS} sweeps; median of 3; two doublings of one size at a time");
    println!("| models | items | D | time | time x | peak | GF/s |\n|---|---|---|---|---|---|---|");
    let mut rate = 0.0;
    for (which, factors) in [[1, 2, 4, 8], [1, 2, 4, 8], [1, 2, 4, 8]]
        .iter()
        .enumerate()
    {
        let (mut first, mut last) = (0.0, 0.0);
        for &factor in factors {
            let mut size = base;
            size[which] *= factor;
            let [models, items, dims] = size;
            let mut runs: Vec<[f64; 3]> =
                (0..3).map(|_| child(models, items, dims, SWEEPS)).collect();
            runs.sort_by(|a, b| a[0].total_cmp(&b[0]));
            let [seconds, sweeps, megabytes] = runs[1];
            rate = flops(models, items, dims) * sweeps / seconds / 1e9;
            let times = if factor == 1 {
                first = seconds;
                String::new()
            } else {
                format!("{:.2}", seconds / last)
            };
            println!(
                "| {models} | {items} | {dims} | {seconds:.2} s | {times} | {megabytes:.0} MB | {rate:.0} |"
            );
            last = seconds;
        }
        let name = ["models", "items", "D"][which];
        println!(
            "time grows with {name} to the power {:.2}",
            (last / first).log2() / 3.0
        );
    }
    rate
}

/// What matrix products alone give on all cores.
fn products(rate: f64) {
    let threads = rayon::current_num_threads();
    let mut square = 0.0;
    for (m, k, n) in [
        (128, 21, 256),
        (128, 66, 256),
        (256, 128, 66),
        (1024, 1024, 1024),
    ] {
        let rounds = (4e9 / (m * k * n) as f64) as usize + 1;
        let start = Instant::now();
        (0..threads).into_par_iter().for_each(|_| {
            let (a, b) = (
                Array2::from_elem((m, k), 0.5),
                Array2::from_elem((k, n), 0.5),
            );
            let mut c = Array2::zeros((m, n));
            for _ in 0..rounds {
                general_mat_mul(1.0, &a, &b, 0.0, &mut c);
            }
            std::hint::black_box(&c);
        });
        let done = 2.0 * (m * k * n) as f64 * (rounds * threads) as f64;
        square = done / start.elapsed().as_secs_f64() / 1e9;
        println!("matrix product {m} x {k} x {n} on {threads} threads: {square:.0} GF/s");
    }
    println!(
        "the fit at the largest D: {rate:.0} GF/s, {:.0} % of the last",
        100.0 * rate / square
    );
}
