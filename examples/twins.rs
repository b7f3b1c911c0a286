//! Simulated twins against the real benchmarks they are fitted to.
//!
//! `cargo run --release --example twins [-- ../shared [SEED [SPLITS [DATA]]]]` fits a population to helm-lite, arc-challenge and
//! alpacaeval2, draws a twin of each at SEED (1, the demos'), and runs every selection and estimator on both, over SPLITS (20) iid splits
//! and n of 10, 30, 60, 100. For each scenario it prints the largest difference of a decile of item means, the twin's mean
//! absolute error over the original's (smallest and largest of the nine selections x estimators, errors averaged over n; and
//! of all cells), and the rank correlation of the nine and of all cells. It fails when a decile is off by more than .05, one of
//! the nine by more than 30 %, or the cells' ranks correlate by less than .8.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::ExitCode;

use tinyscope::data::{Benchmark, read};
use tinyscope::experiment::{Settings, spearman, sweep};
use tinyscope::progress::Silent;
use tinyscope::simulate::{FitSettings, Population, Shape};

const NS: [usize; 4] = [10, 30, 60, 100];
const DECILES: f64 = 0.05;
const ERRORS: f64 = 0.30;
const RANKS: f64 = 0.8;

/// Data sets with the floors of guessing of their scenarios.
const DATA: [(&str, &[(&str, f64)]); 3] = [
    (
        "helm-lite",
        &[("openbookqa", 0.25), ("mmlu", 0.25), ("med_qa", 0.25)],
    ),
    ("arc-challenge", &[("arc_challenge", 0.25)]),
    ("alpacaeval2", &[]),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let shared = args.first().map_or("../shared", String::as_str);
    let number = |at: usize, default: u64| {
        args.get(at)
            .map_or(Ok(default), |s| s.parse())
            .unwrap_or(default)
    };
    match compare_all(Path::new(shared), number(1, 1), number(2, 20) as usize) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("a bound does not hold");
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn compare_all(
    shared: &Path,
    seed: u64,
    splits: usize,
) -> Result<bool, Box<dyn std::error::Error>> {
    println!(
        "data\tscenario\tdecile\tnine min\tnine max\tcells min\tcells max\tcells out\trho nine\trho cells"
    );
    let mut fine = true;
    let only = std::env::args().nth(4);
    for (name, floors) in DATA {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let path = shared.join("data").join(format!("{name}.json"));
        let real = read::benchmark(&path, &read::ReadOptions::default())?;
        let population = Population::fit(&[&real], &FitSettings::default(), &Silent)?;
        let mut shape = Shape::of(&real);
        for s in &mut shape.scenarios {
            s.guess = floors.iter().find(|f| f.0 == s.name).map_or(0.0, |f| f.1);
        }
        let twin = population.draw(&shape, seed, &Silent)?.benchmark;
        let (before, after) = (errors(&real, splits)?, errors(&twin, splits)?);
        for (index, scenario) in real.scenarios.iter().enumerate() {
            let decile = deciles(&real, index)
                .iter()
                .zip(deciles(&twin, index))
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            let line = Line::of(&before[index], &after[index]);
            println!(
                "{name}\t{}\t{decile:.3}\t{:.2}\t{:.2}\t{:.2}\t{:.2}\t{}/{}\t{:.2}\t{:.2}",
                scenario.name,
                line.nine.0,
                line.nine.1,
                line.cells.0,
                line.cells.1,
                line.out,
                before[index].len(),
                line.rho_nine,
                line.rho_cells,
            );
            if std::env::var_os("TWINS_CELLS").is_some() {
                for (a, b) in before[index].iter().zip(&after[index]) {
                    println!(
                        "\t{}\t{}\t{:.4}\t{:.4}\t{:.2}",
                        a.0,
                        a.1,
                        a.2,
                        b.2,
                        b.2 / a.2
                    );
                }
            }
            let within = |x: f64| (1.0 - ERRORS..=1.0 + ERRORS).contains(&x);
            fine &= decile <= DECILES
                && within(line.nine.0)
                && within(line.nine.1)
                && line.rho_cells >= RANKS;
        }
    }
    Ok(fine)
}

/// Selection and estimator, n, mean absolute error.
type Cell = (String, usize, f64);

/// The cells of every scenario.
fn errors(
    benchmark: &Benchmark,
    splits: usize,
) -> Result<Vec<Vec<Cell>>, Box<dyn std::error::Error>> {
    let settings = Settings {
        dims: vec![2, 5],
        ..Settings::default()
    };
    let found = sweep(benchmark, &settings, &NS, splits, &Silent)?;
    let mut out = vec![Vec::new(); benchmark.scenarios.len()];
    for row in &found.rows {
        if let (Some(scenario), Some(mae)) = (row.scenario, row.mae) {
            let name = format!("{}/{}", row.selection.name(), row.estimator.name());
            out[scenario].push((name, row.n, mae));
        }
    }
    Ok(out)
}

struct Line {
    nine: (f64, f64),
    cells: (f64, f64),
    out: usize,
    rho_nine: f64,
    rho_cells: f64,
}

impl Line {
    fn of(real: &[Cell], twin: &[Cell]) -> Self {
        let of = |cells: &[Cell]| -> Vec<f64> { cells.iter().map(|c| c.2).collect() };
        // Cells stand by selection and estimator, n fastest.
        let mean = |cells: &[Cell]| -> Vec<f64> {
            of(cells)
                .chunks(NS.len())
                .map(|c| c.iter().sum::<f64>() / c.len() as f64)
                .collect()
        };
        let ratios = |a: Vec<f64>, b: Vec<f64>| -> Vec<f64> {
            a.iter().zip(&b).map(|(a, b)| b / a).collect()
        };
        let range = |r: &[f64]| {
            r.iter()
                .fold((f64::INFINITY, 0f64), |(lo, hi), &x| (lo.min(x), hi.max(x)))
        };
        let nine = ratios(mean(real), mean(twin));
        let cells = ratios(of(real), of(twin));
        Self {
            nine: range(&nine),
            cells: range(&cells),
            out: cells.iter().filter(|r| (**r - 1.0).abs() > ERRORS).count(),
            rho_nine: spearman(&mean(real), &mean(twin)).unwrap_or(f64::NAN),
            rho_cells: spearman(&of(real), &of(twin)).unwrap_or(f64::NAN),
        }
    }
}

/// The nine deciles of a scenario's item means.
fn deciles(benchmark: &Benchmark, scenario: usize) -> Vec<f64> {
    let columns = &benchmark.scenarios[scenario].columns;
    let (mut sum, mut count) = (vec![0.0; columns.len()], vec![0.0; columns.len()]);
    for l in 0..benchmark.matrix.n_models() {
        for (k, y) in benchmark.scores(l, columns).into_iter().enumerate() {
            if !y.is_nan() {
                sum[k] += y;
                count[k] += 1.0;
            }
        }
    }
    let mut means: Vec<f64> = sum
        .iter()
        .zip(&count)
        .filter(|(_, c)| **c > 0.0)
        .map(|(s, c)| s / c)
        .collect();
    means.sort_by(f64::total_cmp);
    (1..10).map(|q| means[(means.len() - 1) * q / 10]).collect()
}
