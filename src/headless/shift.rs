//! `tinyscope shift`: estimates of models unlike those that train.

use std::io::Write;

use tinyscope::data::{Benchmark, Diagnostics};
use tinyscope::experiment::{Shift, ShiftRow, shift};
use tinyscope::export::{shift_json, warnings};

use super::plan::place;
use super::table::{Table, number};
use super::{Bar, Failure, heading, json, load, threads, warn};
use crate::cli;

pub(crate) fn run(args: &cli::Shift, out: &mut dyn Write) -> Result<(), Failure> {
    let trials = &args.trials;
    threads(trials.model.threads)?;
    let benchmark = load(&args.data)?;
    let settings = trials.settings(&benchmark)?;
    let bar = Bar::new();
    let found = shift(&benchmark, &settings, trials.seeds, &bar)?;
    drop(bar);
    let diagnostics = Diagnostics::within(&benchmark, &settings.scenario_indices(&benchmark));
    if trials.json {
        let value = shift_json(&benchmark, &diagnostics, &found, trials.seeds, &settings);
        return json(out, &value);
    }
    heading(out, &benchmark.name, benchmark.simulated)?;
    writeln!(
        out,
        "n = {} a scenario, seeds {} to {}; test models: a random quarter (iid), the newest (date), other organisations \
         (org), the strongest (top)\n",
        settings.n,
        settings.seed,
        settings.seed + trials.seeds as u64 - 1
    )?;
    let mut table = Table::new(4, &HEADINGS);
    for row in &found.rows {
        table.row(cells(&benchmark, row));
    }
    writeln!(out, "{}", table.text())?;
    for (split, why) in &found.skipped {
        writeln!(out, "{split}: not compared, {why}")?;
    }
    verdicts(&benchmark, &found, out)?;
    warn(&warnings(&benchmark, &diagnostics, &found.warnings));
    Ok(())
}

const HEADINGS: [&str; 10] = [
    "scenario",
    "selection",
    "estimator",
    "split",
    "MAE",
    "/ iid",
    "bias",
    "largest",
    "covered",
    "Spearman",
];

fn cells(benchmark: &Benchmark, r: &ShiftRow) -> Vec<String> {
    let short = |x: Option<f64>| x.map_or("-".into(), |x| format!("{x:.2}"));
    vec![
        place(benchmark, r.scenario),
        r.selection.name().into(),
        r.method.name().into(),
        r.split.to_string(),
        number(Some(r.mae)),
        short(r.ratio),
        number(Some(r.bias)),
        number(Some(r.max_error)),
        short(r.coverage),
        number(r.spearman),
    ]
}

/// A line for everything that fails, and one where nothing does.
fn verdicts(benchmark: &Benchmark, found: &Shift, out: &mut dyn Write) -> Result<(), Failure> {
    let mut holds = true;
    for row in &found.rows {
        let Some(trouble) = found.iid(row).and_then(|iid| row.trouble(iid)) else {
            continue;
        };
        holds = false;
        writeln!(
            out,
            "{}, {}, {}, split {}: {trouble}",
            place(benchmark, row.scenario),
            row.selection.name(),
            row.method.name(),
            row.split
        )?;
    }
    if holds && found.skipped.len() < 3 {
        writeln!(out, "estimates hold under every split compared")?;
    }
    Ok(())
}
