//! `tinyscope fit`: fits the item response model and says how well.

use std::io::Write;

use tinyscope::data::{Diagnostics, count, split_or_all};
use tinyscope::experiment::fit_benchmark;
use tinyscope::export::{ModelFile, PyIrtFile, warnings};

use super::table::{Table, number};
use super::{Bar, Failure, heading, keep_input, keep_parameters, load, native_name, threads, warn};
use crate::cli::{ConventionArg, Fit, FitFormat};

pub(crate) fn run(args: &Fit, out: &mut dyn Write) -> Result<(), Failure> {
    threads(args.model.threads)?;
    keep_input(&args.data.sources(), args.out.as_deref())?;
    keep_parameters(&args.model, args.out.as_deref())?;
    if args.format == FitFormat::Native {
        native_name(args.out.as_deref(), "py-irt")?;
    }
    let benchmark = load(&args.data)?;
    let (reading, writing) = match args.format {
        FitFormat::Native => (args.model.convention, None),
        FitFormat::PyIrt => (
            None,
            Some(args.model.convention.unwrap_or(ConventionArg::Fork)),
        ),
    };
    let settings = args.model.settings_in(&benchmark, reading)?;
    let split = split_or_all(&benchmark, args.model.split.as_ref(), settings.seed)?;
    let bar = Bar::new();
    let fitted = fit_benchmark(&benchmark, &split, &settings, &bar)?;
    drop(bar);
    let file = ModelFile::of(&benchmark, &fitted, &settings);
    // First of all: where it cannot be written, nothing is printed either.
    if let Some(path) = &args.out {
        match writing {
            None => file.write(path)?,
            Some(c) => PyIrtFile::of(&benchmark, &fitted, c.convention())?.write(path)?,
        }
    }
    heading(out, &benchmark.name, benchmark.simulated)?;
    writeln!(
        out,
        "seed {}, trained on {} ({}), theta {}, {} responses\n",
        settings.seed,
        count(split.train.len(), "model"),
        file.split,
        file.scope,
        file.responses
    )?;
    table(&file, out)?;
    if let Some(path) = &args.out {
        writeln!(out, "\nwritten to {}", path.display())?;
    }
    let diagnostics = Diagnostics::within(&benchmark, &settings.scenario_indices(&benchmark));
    warn(&warnings(&benchmark, &diagnostics, &fitted.warnings));
    Ok(())
}

/// Chosen D, evidence and the validation table of every scenario.
pub(super) fn table(file: &ModelFile, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(
        1,
        &[
            "scenario",
            "items",
            "models",
            "D",
            "b",
            "sweeps",
            "evidence",
            "converged",
        ],
    );
    for s in &file.scenarios {
        table.row([
            s.name.clone(),
            s.items.len().to_string(),
            s.models.len().to_string(),
            s.parameters.dims.to_string(),
            number(s.b),
            s.evidence.len().saturating_sub(1).to_string(),
            s.evidence
                .last()
                .map_or(String::new(), |e| format!("{e:.1}")),
            if s.converged { "yes" } else { "no" }.to_owned(),
        ]);
    }
    writeln!(out, "{}", table.text())?;
    let mut table = Table::new(1, &["scenario", "D", "validation error"]);
    for s in &file.scenarios {
        for (d, error) in &s.validation {
            table.row([s.name.clone(), d.to_string(), number(*error)]);
        }
    }
    write!(out, "{}", table.text())?;
    Ok(())
}
