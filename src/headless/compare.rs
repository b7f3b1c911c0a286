//! `tinyscope compare`: two models that answered the same items.

mod names;
mod verdict;

use std::collections::HashMap;
use std::io::Write;

use serde_json::{Value, json};
use tinyscope::Error;
use tinyscope::data::read::{self, ReadOptions, Sheet};
use tinyscope::export::{AnchorsFile, Compared};

use super::table::{Table, number};
use super::{Failure, heading, json, warn};
use crate::cli::{Compare, More};

/// A model's answers, what it is called, and what there is to say of reading them.
struct Model {
    name: String,
    scores: HashMap<String, f64>,
    warnings: Vec<String>,
}

pub(crate) fn run(args: &Compare, out: &mut dyn Write) -> Result<(), Failure> {
    let options = args.reading.options(&More::default());
    let text = read::own_text(&args.anchors, &options)?.ok_or_else(|| {
        Error::input(
            &args.anchors,
            "not an anchors file",
            "write one with `tinyscope anchors DATA --out FILE`",
        )
    })?;
    let file = AnchorsFile::parse(&args.anchors, &text)?;
    let models = models(args, &options)?;
    let mut warnings = Vec::new();
    for model in &models {
        // Says what is missing, where it is answers.
        let score = file.score(&model.scores, args.lambda.lambda)?;
        let all = model.warnings.iter().chain(&score.warnings);
        warnings.extend(all.map(|w| format!("{}: {w}", model.name)));
    }
    let [first, second] = &models;
    let found = file.compare(&first.scores, &second.scores, args.lambda.lambda);
    if found.rows.is_empty() {
        return Err(nothing(args, &file).into());
    }
    warnings.extend_from_slice(&found.lacking);
    let names = [first.name.as_str(), second.name.as_str()];
    let verdict = found.verdict();
    if args.json {
        let rows: Vec<Value> = found.rows.iter().map(|c| row(&file, c)).collect();
        return json(
            out,
            &json!({
                "benchmark": file.benchmark, "simulated": file.simulated, "warnings": warnings,
                "first": args.first, "second": args.second, "models": names,
                "verdict": verdict.map(|v| verdict::json(&file, &v, names)), "rows": rows,
            }),
        );
    }
    heading(out, &file.benchmark, file.simulated)?;
    let [a, b] = names;
    writeln!(out, "difference: {a} minus {b}; 90 % intervals\n")?;
    let better = format!("P({a} better)");
    let headings = [
        "scenario",
        "selection",
        "estimator",
        a,
        b,
        "difference",
        "interval",
        "resolves",
        &better,
    ];
    let mut table = Table::new(3, &headings);
    for c in &found.rows {
        // The mean over one scenario is that scenario.
        let scenario = match c.scenario {
            Some(s) => file.scenarios[s].name.clone(),
            None if file.scenarios.len() == 1 => continue,
            None => "mean score".into(),
        };
        let d = &c.comparison;
        table.row([
            scenario,
            c.selection.name().to_owned(),
            c.estimator.name().to_owned(),
            format!("{:.4}", c.estimates[0]),
            format!("{:.4}", c.estimates[1]),
            format!("{:+.4}", c.estimates[0] - c.estimates[1]),
            d.map_or("-".into(), |d| format!("{:+.4} to {:+.4}", d.low, d.high)),
            number(d.map(|d| d.resolvable)),
            d.map_or("-".into(), |d| verdict::percent(d.better)),
        ]);
    }
    write!(out, "{}", table.text())?;
    writeln!(
        out,
        "\nresolves: the smallest difference that these answers tell apart"
    )?;
    if let Some(verdict) = verdict {
        writeln!(out, "{}", verdict::words(&file, &verdict, names))?;
    }
    warn(&warnings);
    Ok(())
}

/// Why there is not one row.
fn nothing(args: &Compare, file: &AnchorsFile) -> Error {
    let mut chosen = file.scenarios.iter().flat_map(|s| &s.selections);
    if chosen.any(|c| c.learned.is_some()) {
        return Error::setting(
            "there is no selection of which both models answered items in one scenario",
            "give both answers to the same chosen items; `tinyscope show ANCHORS` lists them",
        );
    }
    Error::input(
        &args.anchors,
        "it does not hold how large errors are",
        "write it again with `tinyscope anchors DATA --out FILE`; differences need 12 training models",
    )
}

/// The two models of the command line.
fn models(args: &Compare, options: &ReadOptions) -> Result<[Model; 2], Error> {
    let first = read::sheet(&args.first, options)?;
    let Some(path) = &args.second else {
        return both_of(args, &first);
    };
    let second = read::sheet(path, options)?;
    let [a, b] = given(&args.model, &first, &second)?;
    let names = names::of([(&args.first, a), (path, b)]);
    let [x, y] = names;
    Ok([model(&first, a, x)?, model(&second, b, y)?])
}

fn model(sheet: &Sheet, model: Option<&str>, name: String) -> Result<Model, Error> {
    let found = sheet.of(model)?;
    Ok(Model {
        name,
        scores: found.scores,
        warnings: found.warnings,
    })
}

/// Two models of the only file.
fn both_of(args: &Compare, sheet: &Sheet) -> Result<[Model; 2], Error> {
    if sheet.models().is_empty() {
        return Err(Error::input(
            &args.first,
            "scores of one model, without a name",
            "give the second model's file too",
        ));
    }
    let [a, b] = args.model.as_slice() else {
        return Err(Error::setting(
            format!("{} is the only file of answers", args.first.display()),
            "give --model twice, once for each of two models in it, or a second file",
        ));
    };
    if a == b {
        return Err(Error::setting(
            format!("--model names {a:?} twice"),
            "name two models",
        ));
    }
    Ok([
        model(sheet, Some(a), a.clone())?,
        model(sheet, Some(b), b.clone())?,
    ])
}

/// Which model of each of two files: two names in order; one for the file that holds several models, the first before the
/// second, else for the file that holds a model of this name.
fn given<'a>(
    names: &'a [String],
    first: &Sheet,
    second: &Sheet,
) -> Result<[Option<&'a str>; 2], Error> {
    let several = |sheet: &Sheet| sheet.models().len() > 1;
    match names {
        [] => Ok([None, None]),
        [one] if several(first) || !several(second) && first.models().contains(one) => {
            Ok([Some(one), None])
        }
        [one] if several(second) || second.models().contains(one) => Ok([None, Some(one)]),
        [a, b] => Ok([Some(a), Some(b)]),
        [one] => Err(Error::setting(
            format!("no file of answers holds a model named {one:?} beside another"),
            "leave out --model: each file holds one model",
        )),
        _ => Err(Error::setting(
            format!("--model names {} models", names.len()),
            "two are compared at a time",
        )),
    }
}

fn row(file: &AnchorsFile, c: &Compared) -> Value {
    let d = &c.comparison;
    json!({
        "scenario": c.scenario.map(|s| &file.scenarios[s].name),
        "selection": c.selection.name(), "estimator": c.estimator.name(),
        "first": c.estimates[0], "second": c.estimates[1],
        "difference": c.estimates[0] - c.estimates[1], "interval": d.map(|d| [d.low, d.high]),
        "resolvable": d.map(|d| d.resolvable), "first_is_better": d.map(|d| d.better),
    })
}
