//! `tinyscope anchors`: chooses items and writes what scoring a new model needs.

use std::io::Write;

use tinyscope::anchors::Selection;
use tinyscope::data::{Diagnostics, split_or_all, write};
use tinyscope::experiment::{cap_warning, fit_benchmark, select};
use tinyscope::export::{AnchorsFile, anchors_csv, anchors_for_harness, warnings};

use super::adapt::train_for_tests;
use super::table::Table;
use super::{Bar, Failure, heading, keep_input, keep_parameters, load, threads, warn};
use crate::cli::{Anchors, AnchorsFormat};

pub(crate) fn run(args: &Anchors, out: &mut dyn Write) -> Result<(), Failure> {
    threads(args.model.threads)?;
    keep_input(&args.data.sources(), args.out.as_deref())?;
    keep_parameters(&args.model, args.out.as_deref())?;
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
    if let Some(rule) = args.adaptive {
        file = file.with_adaptive(&train_for_tests(
            &benchmark,
            &fitted,
            rule.rule(),
            settings.n,
            &bar,
        )?);
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
        "seed {}, trained on {} models ({}), theta {}\n",
        settings.seed, file.training_models, file.split, file.scope
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
