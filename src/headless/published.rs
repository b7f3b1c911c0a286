//! `tinyscope show` of the pickles that the paper's package and tutorials publish.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use tinyscope::export::{AnchorPoints, AnchorsFile, Published};

use super::table::Table;
use super::{Failure, json};

pub(crate) fn show(
    path: &Path,
    found: &Published,
    as_json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match found {
        Published::Benchmarks(files) => benchmarks(files, as_json, out),
        Published::Points(scenarios) => points(path, scenarios, as_json, out),
        Published::Lambdas(lambdas) => {
            if as_json {
                let lambdas: serde_json::Map<String, Value> = lambdas
                    .iter()
                    .map(|(name, lambda)| (name.clone(), json!(lambda)))
                    .collect();
                return json(
                    out,
                    &json!({"kind": "published-lambdas", "lambdas": lambdas}),
                );
            }
            writeln!(out, "{}\npublished lambdas of gp-IRT\n", path.display())?;
            let mut table = Table::new(1, &["scenario", "lambda"]);
            for (name, lambda) in lambdas {
                table.row([name.clone(), format!("{lambda:.5}")]);
            }
            Ok(write!(out, "{}", table.text())?)
        }
    }
}

fn points(
    path: &Path,
    scenarios: &[AnchorPoints],
    as_json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let sum = |s: &AnchorPoints| s.points.iter().map(|p| p.1).sum::<f64>();
    if as_json {
        let scenarios: Vec<Value> = scenarios
            .iter()
            .map(|s| {
                let anchors: Vec<Value> = s
                    .points
                    .iter()
                    .map(|(position, weight)| json!({"position": position, "weight": weight}))
                    .collect();
                json!({"name": s.scenario, "n": s.points.len(), "weight_sum": sum(s), "anchors": anchors})
            })
            .collect();
        return json(
            out,
            &json!({"kind": "published-anchors", "scenarios": scenarios}),
        );
    }
    writeln!(
        out,
        "{}\npublished anchors: positions within the scenario, and weights; no item parameters\n",
        path.display()
    )?;
    let mut table = Table::new(1, &["scenario", "n", "sum of weights"]);
    for s in scenarios {
        table.row([
            s.scenario.clone(),
            s.points.len().to_string(),
            format!("{:.5}", sum(s)),
        ]);
    }
    writeln!(out, "{}", table.text())?;
    let mut table = Table::new(1, &["scenario", "position", "weight"]);
    for s in scenarios {
        for (position, weight) in &s.points {
            table.row([
                s.scenario.clone(),
                position.to_string(),
                format!("{weight:.5}"),
            ]);
        }
    }
    Ok(write!(out, "{}", table.text())?)
}

fn benchmarks(files: &[AnchorsFile], as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if as_json {
        let files: Vec<Value> = files.iter().map(super::show::anchors_json).collect();
        return json(out, &json!({"kind": "published", "benchmarks": files}));
    }
    for (k, file) in files.iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        writeln!(
            out,
            "{}\npublished anchors and item parameters (convention: the intercept is D b); items are {}/POSITION\n",
            file.benchmark, file.benchmark
        )?;
        super::show::anchors_tables(file, out)?;
    }
    Ok(())
}
