//! What the learned estimators are worth: errors over the reference recipe's, and the coverage of their intervals.
//!
//! `cargo run --release --example beyond -- errors [../shared]` prints, for the five pairs of `baseline.json` on its splits,
//! each estimator's MAE over that of the reference's best method (gp-IRT on the IRT anchors), and the geometric means.
//!
//! `cargo run --release --example beyond -- coverage [../shared [DATA,...]]` prints the share of held-out models whose true
//! score lies within the 90 % intervals, over all scenarios, n = 30 and 100 and seeds 0 to 9, and the mean half widths
//! beside 1.645 standard errors of the naive estimate.
//!
//! `cargo run --release --example beyond -- cost [../shared [DATA]]` times each step at n = 100.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use tinyscope::anchors::{Selection, SelectionKind};
use tinyscope::data::{Benchmark, SplitKind, read, split};
use tinyscope::estimate::{Estimator, Interval};
use tinyscope::experiment::{
    Estimated, Fitted, Folds, SelectionEstimates, Settings, estimated, fit_benchmark, intervals,
    run_learned,
};
use tinyscope::progress::Silent;

#[derive(serde::Deserialize)]
struct Baseline {
    n: Vec<usize>,
    pairs: Vec<Pair>,
}

#[derive(serde::Deserialize)]
struct Pair {
    data: String,
    scenario: String,
    splits: Vec<Vec<String>>,
    mae: BTreeMap<String, f64>,
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const REFERENCE: &str = "anchors-irt/gp-irt";
const MATRICES: [&str; 7] = [
    "helm-lite",
    "mmlu-pro",
    "alpacaeval2",
    "open-llm-leaderboard-2",
    "arc-challenge",
    "swe-bench-verified",
    "livecodebench-testgen",
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let shared = arguments.next().unwrap_or("../shared".into());
    let outcome = match what.as_str() {
        "errors" => errors(Path::new(&shared)),
        "coverage" => {
            let names = arguments.next().unwrap_or(MATRICES.join(","));
            names
                .split(',')
                .try_for_each(|name| coverage(Path::new(&shared), name))
        }
        "cost" => cost(
            Path::new(&shared),
            &arguments.next().unwrap_or("mmlu-pro".into()),
        ),
        _ => Err("say errors, coverage or cost".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

/// All estimates of the test models under one kind of selection, a scenario each: what `tinyscope estimate` computes.
fn judge(
    benchmark: &Benchmark,
    fitted: &Fitted,
    folds: &Folds,
    kind: SelectionKind,
    calibrated: bool,
    settings: &Settings,
) -> Outcome<Vec<SelectionEstimates>> {
    let settings = Settings {
        selections: vec![kind],
        ..settings.clone()
    };
    let found = run_learned(benchmark, fitted, folds, calibrated, &settings, &Silent)?;
    let found = found.into_iter().next().unwrap_or_default();
    if std::env::var_os("SHOW_WEIGHTS").is_some() {
        for s in found.iter().filter_map(|s| s.stacker.as_ref()) {
            println!(
                "# {} n {}: lambda {:.2}, weights {:.2?}, bias {:.3?}, penalty {}",
                kind.name(),
                settings.n,
                s.lambda,
                s.weights,
                s.bias,
                s.ridge.penalty
            );
        }
    }
    Ok(found)
}

fn errors(shared: &Path) -> Outcome<()> {
    let baseline: Baseline =
        serde_json::from_str(&std::fs::read_to_string(shared.join("baseline.json"))?)?;
    let splits = std::env::temp_dir().join(format!("tinyscope-beyond-{}.json", std::process::id()));
    // Method -> one ratio a pair and n, pairs outermost.
    let mut ratios: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for pair in &baseline.pairs {
        std::fs::write(&splits, serde_json::to_string(&pair.splits)?)?;
        let path = shared.join("data").join(format!("{}.json", pair.data));
        let benchmark = read::benchmark(&path, &read::ReadOptions::default())?;
        let mut found: BTreeMap<(String, usize), Vec<f64>> = BTreeMap::new();
        for seed in 0..pair.splits.len() as u64 {
            let settings = Settings {
                scenarios: Settings::find_scenarios(
                    &benchmark,
                    std::slice::from_ref(&pair.scenario),
                )?,
                split: SplitKind::File(splits.clone()),
                dims: vec![2, 5],
                seed,
                ..Settings::default()
            };
            let divided = split(&benchmark, &settings.split, seed)?;
            let fitted = fit_benchmark(&benchmark, &divided, &settings, &Silent)?;
            let folds = Folds::fit(&benchmark, &fitted, &Silent)?;
            for kind in SelectionKind::ALL {
                for &n in &baseline.n {
                    let settings = Settings {
                        n,
                        ..settings.clone()
                    };
                    let judged = judge(&benchmark, &fitted, &folds, kind, false, &settings)?;
                    for e in Estimator::ALL {
                        let key = (format!("{}/{}", kind.name(), e.name()), n);
                        let mae = judged[0].metrics(e, settings.lambda).mae;
                        found.entry(key).or_default().extend(mae);
                    }
                }
            }
        }
        for ((method, n), maes) in &found {
            let reference = pair.mae.get(&format!("{REFERENCE}/{n}")).copied();
            let mae = mean(maes.iter().copied());
            let ratio = mae / reference.unwrap_or(f64::NAN);
            println!(
                "{}\t{}\t{method}\t{n}\t{mae:.4}\t{ratio:.3}",
                pair.data, pair.scenario
            );
            ratios.entry(method.clone()).or_default().push(ratio);
        }
    }
    std::fs::remove_file(&splits)?;
    println!("\nmethod\tall\tby pair\tby n");
    let ns = baseline.n.len();
    for (method, r) in &ratios {
        let pairs: Vec<String> = r
            .chunks(ns)
            .map(|c| format!("{:.2}", geometric(c.iter())))
            .collect();
        let by_n: Vec<String> = (0..ns)
            .map(|k| format!("{:.2}", geometric(r.iter().skip(k).step_by(ns))))
            .collect();
        println!(
            "{method:32}\t{:.3}\t{}\t{}",
            geometric(r.iter()),
            pairs.join(" "),
            by_n.join(" ")
        );
    }
    Ok(())
}

fn coverage(shared: &Path, name: &str) -> Outcome<()> {
    let path = shared.join("data").join(format!("{name}.json"));
    let benchmark = read::benchmark(&path, &read::ReadOptions::default())?;
    let start = Instant::now();
    // Selection and estimator -> covered, half width, half width of the naive interval, covered by that.
    let mut found: BTreeMap<(&str, &str), Vec<[f64; 4]>> = BTreeMap::new();
    // The same of the mean score over scenarios: covered, half width.
    let mut means: BTreeMap<(&str, &str), Vec<[f64; 2]>> = BTreeMap::new();
    let (mut fits, mut slowest) = (0.0, 0.0f64);
    for seed in 0..10 {
        let settings = Settings {
            dims: vec![2, 5],
            seed,
            ..Settings::default()
        };
        let divided = split(&benchmark, &settings.split, seed)?;
        let fitted = fit_benchmark(&benchmark, &divided, &settings, &Silent)?;
        let began = Instant::now();
        let folds = Folds::fit(&benchmark, &fitted, &Silent)?;
        fits += began.elapsed().as_secs_f64();
        for kind in SelectionKind::ALL {
            for n in [30, 100] {
                let settings = Settings {
                    n,
                    ..settings.clone()
                };
                let began = Instant::now();
                let judged = judge(&benchmark, &fitted, &folds, kind, true, &settings)?;
                slowest = slowest.max(began.elapsed().as_secs_f64());
                for e in Estimator::ALL {
                    let key = (kind.name(), e.name());
                    for one in &judged {
                        let columns = &benchmark.scenarios[one.scenario].columns;
                        for (m, i) in held(std::slice::from_ref(one), e, &settings) {
                            let y = benchmark.scores(m.model, columns);
                            let half = naive_half_width(&y, &one.selection);
                            let at = one.models.iter().find(|p| p.model == m.model);
                            let naive = at.map_or(f64::NAN, |p| p.estimates.naive);
                            found.entry(key).or_default().push([
                                share(i.covers(m.truth)),
                                i.half_width(),
                                half,
                                share((naive - m.truth).abs() <= half),
                            ]);
                        }
                    }
                    if judged.len() > 1 {
                        let all = held(&judged, e, &settings);
                        let rows = all
                            .iter()
                            .map(|(m, i)| [share(i.covers(m.truth)), i.half_width()]);
                        means.entry(key).or_default().extend(rows);
                    }
                }
            }
        }
    }
    for ((kind, estimator), rows) in &found {
        let of = |k: usize| mean(rows.iter().map(|r| r[k]));
        println!(
            "{name}\t{kind}\t{estimator}\tcovered {:.3}\thalf width {:.4}\tnaive: covered {:.3}, half width {:.4}\tratio {:.2}",
            of(0),
            of(1),
            of(3),
            of(2),
            of(1) / of(2)
        );
    }
    for ((kind, estimator), rows) in &means {
        let of = |k: usize| mean(rows.iter().map(|r| r[k]));
        println!(
            "{name}\t{kind}\t{estimator}\tmean score: covered {:.3}\thalf width {:.4}",
            of(0),
            of(1)
        );
    }
    println!(
        "# {name}: {:.0} s; fold fits {:.2} s a seed; training and estimates of one n at most {slowest:.2} s",
        start.elapsed().as_secs_f64(),
        fits / 10.0
    );
    Ok(())
}

fn cost(shared: &Path, name: &str) -> Outcome<()> {
    let path = shared.join("data").join(format!("{name}.json"));
    let benchmark = read::benchmark(&path, &read::ReadOptions::default())?;
    let settings = Settings::default();
    let timed = |what: &str, start: Instant| {
        println!("{name}\t{what}\t{:.3} s", start.elapsed().as_secs_f64());
    };
    let divided = split(&benchmark, &settings.split, 0)?;
    let start = Instant::now();
    let fitted = fit_benchmark(&benchmark, &divided, &settings, &Silent)?;
    timed("choice of D and fit", start);
    let start = Instant::now();
    let folds = Folds::fit(&benchmark, &fitted, &Silent)?;
    timed("folds", start);
    for kind in SelectionKind::ALL {
        for (what, calibrated) in [("estimates only", false), ("with intervals", true)] {
            let start = Instant::now();
            judge(&benchmark, &fitted, &folds, kind, calibrated, &settings)?;
            timed(&format!("{}: choice and {what}", kind.name()), start);
        }
    }
    Ok(())
}

/// The test models that have an interval, with it.
fn held(
    scenarios: &[SelectionEstimates],
    estimator: Estimator,
    settings: &Settings,
) -> Vec<(Estimated, Interval)> {
    let models = estimated(scenarios, estimator, settings.lambda);
    let intervals = intervals(scenarios, estimator, settings.lambda);
    let find = |(model, interval): (usize, Interval)| {
        let m = models.iter().find(|m| m.model == model)?;
        Some((*m, interval))
    };
    intervals.into_iter().filter_map(find).collect()
}

fn share(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// 1.645 standard errors of the weighted mean: sqrt(n / (n - 1) sum of weight^2 (y - mean)^2).
fn naive_half_width(y: &[f64], selection: &Selection) -> f64 {
    let seen: Vec<(f64, f64)> = selection
        .anchors
        .iter()
        .filter(|a| !y[a.item].is_nan())
        .map(|a| (a.weight, y[a.item]))
        .collect();
    let total: f64 = seen.iter().map(|(w, _)| w).sum();
    let middle = seen.iter().map(|(w, y)| w * y).sum::<f64>() / total;
    let n = seen.len() as f64;
    let squares: f64 = seen
        .iter()
        .map(|(w, y)| (w / total * (y - middle)).powi(2))
        .sum();
    1.645 * (squares * n / (n - 1.0).max(1.0)).sqrt()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0usize), |(s, n), v| (s + v, n + 1));
    sum / n as f64
}

fn geometric<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    mean(values.map(|v| v.ln())).exp()
}
