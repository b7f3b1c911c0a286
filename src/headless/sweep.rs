//! `tinyscope sweep`: error against the number of items, over seeds.

use std::io::Write;

use tinyscope::data::{Benchmark, Diagnostics};
use tinyscope::experiment::{Sweep, sweep};
use tinyscope::export::{sweep_json, warnings};

use super::table::{Table, number};
use super::{Bar, Failure, heading, json, load, threads, warn};
use crate::cli;

pub(crate) fn run(args: &cli::Sweep, out: &mut dyn Write) -> Result<(), Failure> {
    threads(args.model.threads)?;
    let benchmark = load(&args.data)?;
    let mut settings = args.model.settings(&benchmark)?;
    settings.selections = args.selection.kinds();
    settings.lambda = args.lambda.lambda;
    args.estimation.apply(&mut settings);
    let bar = Bar::new();
    let found = sweep(&benchmark, &settings, &args.n, args.seeds, &bar)?;
    drop(bar);
    let diagnostics = Diagnostics::within(&benchmark, &settings.scenario_indices(&benchmark));
    if args.json {
        return json(
            out,
            &sweep_json(&benchmark, &diagnostics, &found, &settings),
        );
    }
    if args.csv {
        csv(&benchmark, &found, out)?;
    } else {
        heading(out, &benchmark.name, benchmark.simulated)?;
        writeln!(
            out,
            "split {}, seeds {} to {}; sd over seeds\n",
            settings.split,
            settings.seed,
            settings.seed + args.seeds as u64 - 1
        )?;
        let mut table = Table::new(3, &HEADINGS);
        for cells in lines(&benchmark, &found, "mean score", number) {
            table.row(cells);
        }
        write!(out, "{}", table.text())?;
    }
    warn(&warnings(&benchmark, &diagnostics, &found.warnings));
    Ok(())
}

const HEADINGS: [&str; 9] = [
    "scenario",
    "selection",
    "estimator",
    "n",
    "mae",
    "mae_sd",
    "spearman",
    "spearman_sd",
    "seeds",
];

fn lines(
    benchmark: &Benchmark,
    found: &Sweep,
    overall: &str,
    number: impl Fn(Option<f64>) -> String,
) -> Vec<Vec<String>> {
    found
        .rows
        .iter()
        .map(|r| {
            let scenario = r
                .scenario
                .map_or(overall, |s| benchmark.scenarios[s].name.as_str());
            let mut cells = vec![
                scenario.to_owned(),
                r.selection.name().to_owned(),
                r.estimator.name().to_owned(),
                r.n.to_string(),
            ];
            cells.extend([r.mae, r.mae_sd, r.spearman, r.spearman_sd].map(&number));
            cells.push(r.seeds.to_string());
            cells
        })
        .collect()
}

/// Undefined numbers and the scenario of overall rows are empty; `simulated` stands in every line.
fn csv(benchmark: &Benchmark, found: &Sweep, out: &mut dyn Write) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(out);
    let failed = |e: csv::Error| Failure::Output(e.into());
    let extra = |s: &str| std::iter::once(s.to_owned());
    writer
        .write_record(
            HEADINGS
                .map(str::to_owned)
                .into_iter()
                .chain(extra("simulated")),
        )
        .map_err(failed)?;
    let full = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    for cells in lines(benchmark, found, "", full) {
        let simulated = benchmark.simulated.to_string();
        writer
            .write_record(cells.into_iter().chain(extra(&simulated)))
            .map_err(failed)?;
    }
    Ok(writer.flush()?)
}
