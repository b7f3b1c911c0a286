//! `tinyscope shift`: estimates of models unlike those that train.

use std::io::Write;

use tinyscope::data::{Benchmark, Diagnostics};
use tinyscope::experiment::{SPLITS, Shift, ShiftRow, shift};
use tinyscope::export::{shift_json, warnings};

use super::plan::place;
use super::table::{Table, number, share};
use super::{Bar, Failure, heading, json, load, threads, warn};
use crate::cli;

pub(crate) fn run(args: &cli::Shift, out: &mut dyn Write) -> Result<(), Failure> {
    let trials = &args.trials;
    threads(trials.model.threads)?;
    let benchmark = load(&args.data)?;
    let settings = trials.settings(&benchmark)?;
    if trials.model.split.is_some() {
        warn(&["--split says nothing here: all splits are compared".to_owned()]);
    }
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
    writeln!(out, "{}\n{FAILS}\n", table.text())?;
    for (split, why) in &found.skipped {
        writeln!(out, "{split}: not compared, {why}")?;
    }
    verdicts(&benchmark, &found, out)?;
    warn(&warnings(&benchmark, &diagnostics, &found.warnings));
    Ok(())
}

/// What [`ShiftRow::trouble`] looks for.
const FAILS: &str = "covered: test models whose true score lies in the 90 % interval (stacked only)\nfails: MAE 1.5 times iid's and half a point more; \
    or a bias of a point or more, half the MAE or more;\nor intervals that hold 5 % fewer than 90, and by more than two standard errors";

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
        r.estimator.name().into(),
        r.split.to_string(),
        number(Some(r.mae)),
        short(r.ratio),
        number(Some(r.bias)),
        number(Some(r.max_error)),
        share(r.coverage),
        number(r.spearman),
    ]
}

/// For every split what is best, and a line for everything that fails: of the mean score, or of the only scenario.
fn verdicts(benchmark: &Benchmark, found: &Shift, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(scenario) = found.rows.last().map(|r| r.scenario) else {
        return Ok(());
    };
    let place = place(benchmark, scenario);
    let how = |r: &ShiftRow| format!("{} items and {}", r.selection.name(), r.estimator.name());
    for split in &SPLITS {
        let Some(best) = found.best(scenario, split) else {
            continue;
        };
        let troubled = |r: &&ShiftRow| r.scenario == scenario && r.split == *split;
        let bad: Vec<(&ShiftRow, String)> = found
            .rows
            .iter()
            .filter(troubled)
            .filter_map(|r| Some((r, r.trouble(found.iid(r)?)?)))
            .collect();
        let all = found.rows.iter().filter(troubled).count();
        write!(
            out,
            "{place}, split {split}: best with {} (MAE {:.2} points, bias {:+.2})",
            how(best),
            100.0 * best.mae,
            100.0 * best.bias
        )?;
        match (best.ratio.is_some(), bad.len()) {
            (false, _) => writeln!(out)?,
            (true, 0) => writeln!(out, "; none of the {all} fails")?,
            (true, n) => writeln!(out, "; {n} of the {all} fail:")?,
        }
        for (r, trouble) in bad {
            writeln!(out, "  {}: {trouble}", how(r))?;
        }
    }
    if scenario.is_none() {
        writeln!(out, "--scenario NAME says the same of one scenario")?;
    }
    Ok(())
}
