//! `tinyscope anchors`: chooses items and writes what scoring a new model needs.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::Path;

use tinyscope::Error;
use tinyscope::anchors::{Selection, SelectionKind};
use tinyscope::data::{Benchmark, Diagnostics, count, read, split_or_all, write};
use tinyscope::estimate::Stacker;
use tinyscope::experiment::{
    Fitted, FittedScenario, Folds, LEVEL, Settings, cap_warning, fit_benchmark, keep_selection,
    select, select_with, stackers, train_adaptive,
};
use tinyscope::export::{AnchorsFile, anchors_csv, anchors_for_harness, warnings};
use tinyscope::progress::Observer;

use super::table::Table;
use super::{Bar, Failure, heading, keep_input, keep_parameters, load, native_name, threads, warn};
use crate::cli::{Anchors, AnchorsFormat};

/// For each kind of selection one stacker a scenario.
fn learned(
    benchmark: &Benchmark,
    (fitted, folds): (&Fitted, &Folds),
    selections: &[Vec<Selection>],
    old: Option<&AnchorsFile>,
    settings: &Settings,
    observer: &dyn Observer,
) -> tinyscope::Result<Vec<Vec<Option<Stacker>>>> {
    let (n, seed) = (settings.n, settings.seed);
    let kinds = settings.selections.iter().zip(selections);
    kinds
        .map(|(&kind, chosen)| {
            let again = |s: &FittedScenario| match old {
                None => select_with(benchmark, s, kind, n, seed, 1, observer),
                Some(old) => {
                    let kept = Kept::of(benchmark, s, old, kind).items;
                    keep_selection(benchmark, s, &kept, kind, n, seed, observer)
                }
            };
            stackers(
                benchmark,
                fitted,
                folds,
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
    keep_input(args.keep.as_slice(), args.out.as_deref())?;
    keep_parameters(&args.model, args.out.as_deref())?;
    if args.format == AnchorsFormat::Native {
        native_name(args.out.as_deref(), "csv")?;
    }
    let benchmark = load(&args.data)?;
    let mut settings = args.model.settings(&benchmark)?;
    args.choice.apply(&mut settings);
    args.estimation.apply(&mut settings);
    let split = split_or_all(&benchmark, args.model.split.as_ref(), settings.seed)?;
    let old = match &args.keep {
        Some(path) => Some(anchors_file(path, &args.data.options())?),
        None => None,
    };
    let native = args.out.is_some() && args.format == AnchorsFormat::Native;
    if args.adaptive.is_some() && !native {
        return Err(Error::setting(
            "--adaptive stands in the native file only, and none is written",
            "name it with --out FILE.json, without --format",
        )
        .into());
    }
    let bar = Bar::new();
    let fitted = fit_benchmark(&benchmark, &split, &settings, &bar)?;
    let selections: Vec<Vec<Selection>> = settings
        .selections
        .iter()
        .map(|&kind| {
            fitted
                .scenarios
                .iter()
                .map(|s| {
                    let (n, seed) = (settings.n, settings.seed);
                    match &old {
                        None => select(&benchmark, s, kind, n, seed, &bar),
                        Some(old) => {
                            let kept = Kept::of(&benchmark, s, old, kind).items;
                            keep_selection(&benchmark, s, &kept, kind, n, seed, &bar)
                        }
                    }
                })
                .collect()
        })
        .collect::<tinyscope::Result<_>>()?;
    let mut file = AnchorsFile::of(&benchmark, &fitted, &selections, &settings);
    // What intervals rest on is of use in the native file only.
    if native {
        let folds = Folds::fit(&benchmark, &fitted, &bar)?;
        let known = learned(
            &benchmark,
            (&fitted, &folds),
            &selections,
            old.as_ref(),
            &settings,
            &bar,
        )?;
        file = file.with_learned(known);
        if let Some(rule) = args.adaptive {
            let n = settings.n;
            let trained = train_adaptive(&benchmark, &fitted, &folds, rule.rule(), n, LEVEL, &bar)?;
            file = file.with_adaptive(&trained);
        }
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
    write!(out, "\n{}", to_run(&selections))?;
    if let Some(old) = &old {
        changes(&benchmark, &fitted.scenarios, old, &selections, out)?;
    }
    if let Some(path) = &args.out {
        writeln!(out, "\nwritten to {}", path.display())?;
    }
    let mut notes = fitted.warnings.clone();
    if let Some(old) = &old {
        notes.extend(not_kept(old, &settings, &selections));
    }
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

/// How many answers a new model has to give.
fn to_run(selections: &[Vec<Selection>]) -> String {
    let items = |kind: &[Selection]| kind.iter().map(Selection::n).sum::<usize>();
    let each: Vec<String> = selections
        .iter()
        .filter_map(|kind| Some(format!("{} of {}", items(kind), kind.first()?.kind.name())))
        .collect();
    let hint = match each.len() {
        0 | 1 => "",
        _ => " (one selection is enough: --select NAME)",
    };
    format!(
        "items that a new model answers: {}{hint}\n",
        each.join(", ")
    )
}

/// What `--keep` could not do as its user may expect.
fn not_kept(old: &AnchorsFile, settings: &Settings, selections: &[Vec<Selection>]) -> Vec<String> {
    let mut notes = Vec::new();
    for (kind, chosen) in settings.selections.iter().zip(selections) {
        let holds = old
            .scenarios
            .iter()
            .flat_map(|s| &s.selections)
            .any(|c| c.selection == kind.name());
        if !holds {
            notes.push(format!(
                "--keep: the older file holds no {} items; these are all new",
                kind.name()
            ));
        }
        if let Some(most) = chosen
            .iter()
            .map(Selection::n)
            .filter(|n| *n > settings.n)
            .max()
        {
            notes.push(format!(
                "--keep: all older {} items are kept, up to {most} a scenario, more than --n {}",
                kind.name(),
                settings.n
            ));
        }
    }
    notes
}

fn anchors_file(path: &Path, options: &read::ReadOptions) -> tinyscope::Result<AnchorsFile> {
    if !path.exists() {
        return Err(Error::setting(
            format!("{}: no such file", path.display()),
            "--keep names an anchors file",
        ));
    }
    match read::own_text(path, options)? {
        Some(text) => AnchorsFile::parse(path, &text),
        None => Err(Error::input(
            path,
            "no anchors file",
            "write one with `tinyscope anchors DATA --out FILE`",
        )),
    }
}

/// What an older file chose of a scenario by a kind.
struct Kept {
    /// Positions of those that the scenario still holds.
    items: BTreeSet<usize>,
    /// Ids of those that it does not.
    lost: Vec<String>,
}

impl Kept {
    fn of(b: &Benchmark, fitted: &FittedScenario, old: &AnchorsFile, kind: SelectionKind) -> Self {
        let scenario = &b.scenarios[fitted.index];
        let place: HashMap<&str, usize> = scenario
            .columns
            .iter()
            .enumerate()
            .map(|(at, &c)| (b.matrix.items()[c].as_str(), at))
            .collect();
        let mut kept = Self {
            items: BTreeSet::new(),
            lost: Vec::new(),
        };
        let chosen = old
            .scenarios
            .iter()
            .filter(|s| s.name == scenario.name)
            .flat_map(|s| &s.selections)
            .filter(|c| c.selection == kind.name());
        for anchor in chosen.flat_map(|c| &c.anchors) {
            match place.get(anchor.id.as_str()) {
                Some(&at) => _ = kept.items.insert(at),
                None => kept.lost.push(anchor.id.clone()),
            }
        }
        kept
    }
}

/// How many of the old anchors are kept and lost, and how many are new.
fn changes(
    b: &Benchmark,
    scenarios: &[FittedScenario],
    old: &AnchorsFile,
    selections: &[Vec<Selection>],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut table = Table::new(2, &["scenario", "selection", "kept", "lost", "new", "n"]);
    let mut lost = Vec::new();
    for (s, f) in scenarios.iter().enumerate() {
        for kind in selections {
            let kept = Kept::of(b, f, old, kind[s].kind);
            table.row([
                b.scenarios[f.index].name.clone(),
                kind[s].kind.name().to_owned(),
                kept.items.len().to_string(),
                kept.lost.len().to_string(),
                (kind[s].n() - kept.items.len().min(kind[s].n())).to_string(),
                kind[s].n().to_string(),
            ]);
            lost.extend(kept.lost);
        }
    }
    write!(out, "\n{}", table.text())?;
    lost.sort();
    lost.dedup();
    if !lost.is_empty() {
        writeln!(out, "lost: {}", lost.join(", "))?;
    }
    let here = |name: &str| scenarios.iter().any(|f| b.scenarios[f.index].name == name);
    for s in old.scenarios.iter().filter(|s| !here(&s.name)) {
        writeln!(
            out,
            "{}: not among these scenarios, nothing of it is kept",
            s.name
        )?;
    }
    Ok(())
}
