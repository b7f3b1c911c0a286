//! `tinyscope anchors`: chooses items and writes what scoring a new model needs.

use std::io::Write;

use tinyscope::anchors::Selection;
use tinyscope::data::{Benchmark, Diagnostics, count, split_or_all, write};
use tinyscope::estimate::Stacker;
use tinyscope::experiment::{
    Fitted, FittedScenario, Folds, Settings, cap_warning, fit_benchmark, select, select_with,
    stackers,
};
use tinyscope::export::{AnchorsFile, anchors_csv, anchors_for_harness, warnings};
use tinyscope::progress::Observer;

use super::table::Table;
use super::{Bar, Failure, heading, keep_input, keep_parameters, load, native_name, threads, warn};
use crate::cli::{Anchors, AnchorsFormat};

/// For each kind of selection one stacker a scenario.
fn learned(
    benchmark: &Benchmark,
    fitted: &Fitted,
    selections: &[Vec<Selection>],
    settings: &Settings,
    observer: &dyn Observer,
) -> tinyscope::Result<Vec<Vec<Option<Stacker>>>> {
    let folds = Folds::fit(benchmark, fitted, observer)?;
    let (n, seed) = (settings.n, settings.seed);
    let kinds = settings.selections.iter().zip(selections);
    kinds
        .map(|(&kind, chosen)| {
            let again = |s: &FittedScenario| select_with(benchmark, s, kind, n, seed, 1, observer);
            stackers(
                benchmark,
                fitted,
                &folds,
                chosen,
                Some(&again),
                settings,
                observer,
            )
        })
        .collect()
}

pub(crate) fn run(args: &Anchors, out: &mut dyn Write) -> Result<(), Failure> {
    threads(args.model.threads)?;
    keep_input(&args.data.sources(), args.out.as_deref())?;
    keep_parameters(&args.model, args.out.as_deref())?;
    if args.format == AnchorsFormat::Native {
        native_name(args.out.as_deref(), "csv")?;
    }
    let benchmark = load(&args.data)?;
    let mut settings = args.model.settings(&benchmark)?;
    args.choice.apply(&mut settings);
    args.estimation.apply(&mut settings);
    let split = split_or_all(&benchmark, args.model.split.as_ref(), settings.seed)?;
    let bar = Bar::new();
    let fitted = fit_benchmark(&benchmark, &split, &settings, &bar)?;
    let selections: Vec<Vec<Selection>> = settings
        .selections
        .iter()
        .map(|&kind| {
            fitted
                .scenarios
                .iter()
                .map(|s| select(&benchmark, s, kind, settings.n, settings.seed, &bar))
                .collect()
        })
        .collect::<tinyscope::Result<_>>()?;
    let mut file = AnchorsFile::of(&benchmark, &fitted, &selections, &settings);
    // What intervals rest on is of use in the native file only.
    if args.out.is_some() && args.format == AnchorsFormat::Native {
        file = file.with_learned(learned(&benchmark, &fitted, &selections, &settings, &bar)?);
    }
    drop(bar);
    // First of all: where it cannot be written, nothing is printed either.
    if let Some(path) = &args.out {
        let text = match args.format {
            AnchorsFormat::Native => None,
            AnchorsFormat::Csv => Some(anchors_csv(&benchmark, &fitted, &selections)?),
            AnchorsFormat::LmEval => {
                let tasks = anchors_for_harness(&benchmark, &fitted, &selections)?;
                Some(format!("{tasks}\n"))
            }
        };
        match text {
            None => file.write(path)?,
            Some(text) => write::atomically(path, text.as_bytes())?,
        }
    }
    heading(out, &benchmark.name, benchmark.simulated)?;
    writeln!(
        out,
        "seed {}, trained on {} ({}), theta {}\n",
        settings.seed,
        count(file.training_models, "model"),
        file.split,
        file.scope
    )?;
    let mut table = Table::new(
        3,
        &["scenario", "selection", "item", "weight", "cluster size"],
    );
    for (s, f) in fitted.scenarios.iter().enumerate() {
        let scenario = &benchmark.scenarios[f.index];
        for kind in &selections {
            for (k, a) in kind[s].anchors.iter().enumerate() {
                table.row([
                    scenario.name.clone(),
                    kind[s].kind.name().to_owned(),
                    benchmark.matrix.items()[scenario.columns[a.item]].clone(),
                    format!("{:.5}", a.weight),
                    kind[s].cluster_size(k).to_string(),
                ]);
            }
        }
    }
    write!(out, "{}", table.text())?;
    if let Some(path) = &args.out {
        writeln!(out, "\nwritten to {}", path.display())?;
    }
    let mut notes = fitted.warnings.clone();
    for selection in selections
        .iter()
        .flat_map(|kind| kind.iter().zip(&fitted.scenarios))
    {
        if selection.0.n() < settings.n {
            notes.push(cap_warning(
                &benchmark,
                selection.1.index,
                selection.0,
                settings.n,
            ));
        }
    }
    warn(&warnings(
        &benchmark,
        &Diagnostics::within(&benchmark, &settings.scenario_indices(&benchmark)),
        &notes,
    ));
    Ok(())
}
