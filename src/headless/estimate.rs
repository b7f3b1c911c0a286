//! `tinyscope estimate`: estimated against true scores of the test models.

use std::io::Write;

use tinyscope::data::{Diagnostics, split};
use tinyscope::experiment::{
    Folds, cap_warnings, fit_benchmark, lacking, overall, rows, run_learned,
};
use tinyscope::export::{estimate_json, warnings};

use super::table::{INTERVALS, RESULTS, Table, result_row};
use super::{Bar, Failure, heading, json, load, threads, warn};
use crate::cli::Estimate;

pub(crate) fn run(args: &Estimate, out: &mut dyn Write) -> Result<(), Failure> {
    threads(args.experiment.model.threads)?;
    let benchmark = load(&args.data)?;
    let settings = args.experiment.settings(&benchmark)?;
    let split = split(&benchmark, &settings.split, settings.seed)?;
    let bar = Bar::new();
    let fitted = fit_benchmark(&benchmark, &split, &settings, &bar)?;
    let folds = Folds::fit(&benchmark, &fitted, &bar)?;
    let found = run_learned(&benchmark, &fitted, &folds, true, &settings, &bar)?;
    drop(bar);
    let diagnostics = Diagnostics::within(&benchmark, &settings.scenario_indices(&benchmark));
    if args.json {
        let value = estimate_json(&benchmark, &diagnostics, &fitted, &found, &settings);
        return json(out, &value);
    }
    heading(out, &benchmark.name, benchmark.simulated)?;
    writeln!(
        out,
        "n = {} a scenario, split {}, seed {}: {} training and {} test models\n",
        settings.n,
        settings.split,
        settings.seed,
        split.train.len(),
        split.test.len()
    )?;
    let mut headings = vec!["scenario"];
    headings.extend(RESULTS);
    let mut table = Table::new(3, &headings);
    for (at, f) in fitted.scenarios.iter().enumerate() {
        let name = &benchmark.scenarios[f.index].name;
        for row in found.iter().flat_map(|k| rows(&k[at], settings.lambda)) {
            table.row(std::iter::once(name.clone()).chain(result_row(&row)));
        }
    }
    if fitted.scenarios.len() > 1 {
        for row in found.iter().flat_map(|k| overall(k, settings.lambda)) {
            table.row(std::iter::once("mean score".to_owned()).chain(result_row(&row)));
        }
    }
    writeln!(out, "{}\n{INTERVALS}", table.text())?;
    let mut notes = fitted.warnings.clone();
    notes.extend(cap_warnings(&benchmark, &found, settings.n));
    notes.extend(lacking(&benchmark, &fitted, &found, settings.lambda));
    warn(&warnings(&benchmark, &diagnostics, &notes));
    Ok(())
}
