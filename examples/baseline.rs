//! Our errors over the reference recipe's, on the same splits (`../shared/baseline.json`).
//!
//! `cargo run --release --example baseline [-- ../shared]` prints one line for each data set, scenario, selection and n with
//! both MAEs of gp-IRT and their ratio, and the geometric mean over the two anchor selections; it fails when that is above
//! .90.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tinyscope::anchors::SelectionKind;
use tinyscope::data::{SplitKind, read};
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{Settings, sweep};
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

const BOUND: f64 = 0.90;

fn main() -> ExitCode {
    let shared = std::env::args().nth(1).unwrap_or("../shared".into());
    match table(Path::new(&shared)) {
        Ok(ratio) if ratio <= BOUND => ExitCode::SUCCESS,
        Ok(ratio) => {
            eprintln!("the geometric mean {ratio:.3} is above {BOUND}");
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn table(shared: &Path) -> Result<f64, Box<dyn std::error::Error>> {
    let baseline: Baseline =
        serde_json::from_str(&std::fs::read_to_string(shared.join("baseline.json"))?)?;
    let splits = std::env::temp_dir().join(format!("tinyscope-splits-{}.json", std::process::id()));
    let mut logs = Vec::new();
    println!("data\tscenario\tselection\tn\treference\tours\tratio");
    for pair in &baseline.pairs {
        std::fs::write(&splits, serde_json::to_string(&pair.splits)?)?;
        let ratios = compare(shared, pair, &baseline.n, splits.clone())?;
        logs.extend(ratios);
    }
    std::fs::remove_file(&splits)?;
    let ratio = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    println!("geometric mean over pairs, n and the two anchor selections: {ratio:.3}");
    Ok(ratio)
}

/// Prints the pair's lines; returns the logarithms of the gp-IRT ratios of anchor selections.
fn compare(
    shared: &Path,
    pair: &Pair,
    ns: &[usize],
    splits: PathBuf,
) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let path = shared.join("data").join(format!("{}.json", pair.data));
    let benchmark = read::benchmark(&path, &read::ReadOptions::default())?;
    let settings = Settings {
        scenarios: Settings::find_scenarios(&benchmark, std::slice::from_ref(&pair.scenario))?,
        split: SplitKind::File(splits),
        dims: vec![2, 5],
        ..Settings::default()
    };
    let found = sweep(&benchmark, &settings, ns, pair.splits.len(), &Silent)?;
    let mut logs = Vec::new();
    for row in found.rows.iter().filter(|r| r.scenario.is_some()) {
        let key = format!(
            "{}/{}/{}",
            row.selection.name(),
            row.estimator.name(),
            row.n
        );
        let (Some(ours), Some(&reference)) = (row.mae, pair.mae.get(&key)) else {
            continue;
        };
        let ratio = ours / reference;
        println!(
            "{}\t{}\t{}/{}\t{}\t{reference:.4}\t{ours:.4}\t{ratio:.3}",
            pair.data,
            pair.scenario,
            row.selection.name(),
            row.estimator.name(),
            row.n
        );
        if row.estimator == Estimator::GpIrt && row.selection != SelectionKind::Random {
            logs.push(ratio.ln());
        }
    }
    Ok(logs)
}
