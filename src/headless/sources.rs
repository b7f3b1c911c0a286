//! `tinyscope sources`: error against the number of training models.

use std::io::Write;

use tinyscope::data::{Benchmark, Diagnostics};
use tinyscope::experiment::{Sources, sources};
use tinyscope::export::{sources_json, warnings};

use super::plan::place;
use super::table::{Table, number};
use super::{Bar, Failure, heading, json, load, threads, warn};
use crate::cli;

pub(crate) fn run(args: &cli::Sources, out: &mut dyn Write) -> Result<(), Failure> {
    let trials = &args.trials;
    threads(trials.model.threads)?;
    let benchmark = load(&args.data)?;
    let settings = trials.settings(&benchmark)?;
    let bar = Bar::new();
    let found = sources(&benchmark, &settings, &args.models, trials.seeds, &bar)?;
    drop(bar);
    let diagnostics = Diagnostics::within(&benchmark, &settings.scenario_indices(&benchmark));
    if trials.json {
        let value = sources_json(&benchmark, &diagnostics, &found, trials.seeds, &settings);
        return json(out, &value);
    }
    heading(out, &benchmark.name, benchmark.simulated)?;
    writeln!(
        out,
        "MAE with so many training models and n = {} a scenario; split {}, seeds {} to {}; enough: within 10 % of the error \
         with all\n",
        settings.n,
        settings.split,
        settings.seed,
        settings.seed + trials.seeds as u64 - 1
    )?;
    let counts: Vec<String> = found.counts.iter().map(usize::to_string).collect();
    let mut headings = vec!["scenario", "selection", "estimator"];
    headings.extend(counts.iter().map(String::as_str));
    headings.push("enough");
    let mut table = Table::new(3, &headings);
    for r in &found.rows {
        let mut cells = vec![
            place(&benchmark, r.scenario),
            r.selection.name().to_owned(),
            r.estimator.name().to_owned(),
        ];
        cells.extend(r.mae.iter().map(|m| number(m.map(|m| m.0))));
        cells.push(r.enough().map_or("-".into(), |at| counts[at].clone()));
        table.row(cells);
    }
    writeln!(out, "{}", table.text())?;
    let mut scenarios: Vec<Option<usize>> = found.rows.iter().map(|r| r.scenario).collect();
    scenarios.dedup();
    for scenario in scenarios {
        if let Some(said) = sentence(&benchmark, &found, scenario) {
            writeln!(out, "{said}")?;
        }
    }
    warn(&warnings(&benchmark, &diagnostics, &found.warnings));
    Ok(())
}

/// How many source models it takes, in one sentence.
fn sentence(benchmark: &Benchmark, found: &Sources, scenario: Option<usize>) -> Option<String> {
    let best = found.best(scenario)?;
    let (at, all) = (best.enough()?, found.counts.last()?);
    let place = place(benchmark, scenario);
    let how = format!(
        "{} items and {}",
        best.selection.name(),
        best.estimator.name()
    );
    let error = 100.0 * best.with_all()?;
    let count = found.counts[at];
    Some(if count == *all {
        format!(
            "{place}: with {how}, best of all, more training models still help: all {all} (MAE {error:.2} points) are more \
             than 10 % better than any fewer tried."
        )
    } else {
        format!(
            "{place}: with {how}, best of all, {count} training models are enough: the error is within 10 % of that with all \
             {all} (MAE {error:.2} points)."
        )
    })
}
