//! `tinyscope show`: what a benchmark, an anchors file or a model file holds.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use tinyscope::Error;
use tinyscope::data::read::{self, demo_name};
use tinyscope::data::{Benchmark, Diagnostics, Scenario, count};
use tinyscope::experiment::{Settings, Unexpected, unexpectedly_right};
use tinyscope::export::{
    AnchorsFile, ModelFile, Pickled, pickled, read_parameters, show_json, warnings,
};

use super::table::{Table, number};
use super::{Bar, Failure, heading, json, load, warn};
use crate::cli::Show;

pub(crate) fn run(args: &Show, out: &mut dyn Write) -> Result<(), Failure> {
    let path = &args.data.data;
    let own = own_file(path, &args.data.options())?;
    if args.unexpected && own.is_some() {
        return Err(Error::input(
            path,
            "no benchmark: --unexpected tests the models of one",
            "name the data that it was made from",
        )
        .into());
    }
    match own {
        Some((kind, text)) if kind == "anchors" => {
            return anchors(&AnchorsFile::parse(path, &text)?, args.json, out);
        }
        Some((kind, text)) if kind == "model" => {
            return model(&ModelFile::parse(path, &text)?, args.json, out);
        }
        Some((kind, _)) => {
            return Err(Error::input(
                path,
                format!("a tinyscope file of the unknown kind {kind:?}"),
                "it may come from a newer version",
            )
            .into());
        }
        None => {}
    }
    if demo_name(path).is_none() && path.is_file() && read::is_parameters(path)? {
        return parameters(path, args.json, out);
    }
    if demo_name(path).is_none()
        && path.is_file()
        && let Some(what) = read::chosen_items(path)?
    {
        let hint = "`show` and `score` take what `tinyscope anchors DATA --out FILE.json` writes without --format";
        return Err(Error::input(path, format!("{what}, no benchmark"), hint).into());
    }
    let options = args.data.options();
    // A pipe can be read once only.
    let alone = demo_name(path).is_none() && path.is_file() && options.also.is_empty();
    let pickled = if alone {
        pickled(path, &options)?
    } else {
        None
    };
    let benchmark = match pickled {
        Some(Pickled::Published(found)) => {
            return super::published::show(path, &found, args.json, out);
        }
        Some(Pickled::Benchmark(benchmark)) => *benchmark,
        None => load(&args.data)?,
    };
    let diagnostics = Diagnostics::of(&benchmark);
    let unexpected = match args.unexpected {
        true => Some(unexpectedly_right(
            &benchmark,
            &Settings::default(),
            &Bar::new(),
        )?),
        false => None,
    };
    if args.json {
        let mut value = show_json(&benchmark, &diagnostics);
        if let Some(found) = &unexpected {
            value["unexpected"] = unexpected_json(&benchmark, &found.0);
            value["unexpected_tests"] = found.1.into();
        }
        return json(out, &value);
    }
    text(&benchmark, &diagnostics, out)?;
    if let Some((found, tests)) = &unexpected {
        unexpected_text(&benchmark, found, *tests, out)?;
    }
    warn(&warnings(&benchmark, &diagnostics, &[]));
    Ok(())
}

/// Kind and text of a file that this program wrote.
fn own_file(path: &Path, options: &read::ReadOptions) -> Result<Option<(String, String)>, Failure> {
    #[derive(serde::Deserialize)]
    struct Kind {
        tinyscope: String,
    }
    // What is not there, [`benchmark`] says better.
    // A pipe can be read once only.
    if demo_name(path).is_some() || !path.is_file() {
        return Ok(None);
    }
    let Some(text) = read::own_text(path, options)? else {
        return Ok(None);
    };
    Ok(serde_json::from_str::<Kind>(&text)
        .ok()
        .map(|k| (k.tinyscope, text)))
}

fn text(b: &Benchmark, d: &Diagnostics, out: &mut dyn Write) -> Result<(), Failure> {
    heading(out, &b.name, b.simulated)?;
    for (what, said) in [
        ("metric", &b.metric),
        ("source", &b.source),
        ("licence", &b.licence),
        ("notes", &b.notes),
    ] {
        if !said.is_empty() {
            writeln!(out, "{what}: {said}")?;
        }
    }
    writeln!(
        out,
        "{}, {}, {}, {} with a release date, {}\n",
        count(b.matrix.n_models(), "model"),
        count(b.matrix.n_items(), "item"),
        count(d.missing_cells, "missing cell"),
        b.released.len(),
        count(b.texts.len(), "item text")
    )?;
    let mut table = Table::new(1, &["scenario", "items", "aggregate", "sub-scenarios"]);
    for s in &b.scenarios {
        table.row([
            s.name.clone(),
            s.n_items().to_string(),
            s.aggregate.name().to_owned(),
            s.subscenarios.len().to_string(),
        ]);
    }
    writeln!(out, "{}", table.text())?;
    let mut headings = vec!["model", "mean"];
    headings.extend(b.scenarios.iter().map(|s| s.name.as_str()));
    let mut table = Table::new(1, &headings);
    let mut order: Vec<usize> = (0..b.matrix.n_models()).collect();
    let means: Vec<Option<f64>> = order.iter().map(|&l| b.overall_score(l)).collect();
    order.sort_by(|&i, &j| {
        let key = |l: usize| means[l].unwrap_or(-1.0);
        key(j).total_cmp(&key(i))
    });
    for l in order {
        let scores = b.scenarios.iter().map(|s| number(b.true_score(l, s)));
        let name = b.matrix.models()[l].clone();
        table.row([name, number(means[l])].into_iter().chain(scores));
    }
    write!(out, "{}", table.text())?;
    Ok(())
}

fn unexpected_text(
    b: &Benchmark,
    found: &[Unexpected],
    tests: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if found.is_empty() {
        let said = match tests {
            0 => "unexpectedly right: nothing could be tested; a set takes 21 models of which each is expected to get 5 of its \
                  hard items right"
                .to_owned(),
            _ => format!(
                "unexpectedly right: in {} of a model on a scenario or sub-scenario none is right on hard items more often \
                 than models of like ability",
                count(tests, "test")
            ),
        };
        writeln!(out, "\n{said}")?;
        return Ok(());
    }
    writeln!(
        out,
        "\nunexpectedly right: on items that they should rather miss these models are right more often than models of like \
         ability; a leak looks so, and so does a speciality\n"
    )?;
    let mut table = Table::new(
        3,
        &[
            "model",
            "scenario",
            "part",
            "hard items",
            "right",
            "expected",
            "p",
        ],
    );
    for f in found {
        let scenario = &b.scenarios[f.scenario];
        table.row([
            b.matrix.models()[f.model].clone(),
            scenario.name.clone(),
            part_name(scenario, f),
            f.hard.to_string(),
            format!("{:.0}", f.right),
            format!("{:.1}", f.expected),
            format!("{:.1e}", f.p),
        ]);
    }
    writeln!(out, "{}", table.text())?;
    let mut table = Table::new(
        4,
        &["model", "scenario", "part", "least expected right items"],
    );
    for f in found {
        let scenario = &b.scenarios[f.scenario];
        let items: Vec<&str> = f
            .items
            .iter()
            .map(|&i| b.matrix.items()[i].as_str())
            .collect();
        table.row([
            b.matrix.models()[f.model].clone(),
            scenario.name.clone(),
            part_name(scenario, f),
            items.join(", "),
        ]);
    }
    write!(out, "{}", table.text())?;
    Ok(())
}

/// The sub-scenario that was tested, or all.
fn part_name(scenario: &Scenario, found: &Unexpected) -> String {
    found
        .part
        .map_or("all".into(), |p| scenario.subscenarios[p].name.clone())
}

fn unexpected_json(b: &Benchmark, found: &[Unexpected]) -> Value {
    let one = |f: &Unexpected| {
        let scenario = &b.scenarios[f.scenario];
        let items = f.items.iter().map(|&i| b.matrix.items()[i].as_str());
        json!({
            "model": b.matrix.models()[f.model], "scenario": scenario.name,
            "subscenario": f.part.map(|p| scenario.subscenarios[p].name.as_str()),
            "hard_items": f.hard, "right": f.right, "expected": f.expected,
            "deviations": f.deviations, "p": f.p, "items": items.collect::<Vec<_>>(),
        })
    };
    found.iter().map(one).collect()
}

fn anchors(file: &AnchorsFile, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if as_json {
        return json(out, &anchors_json(file));
    }
    heading(out, &file.benchmark, file.simulated)?;
    writeln!(
        out,
        "anchors file: seed {}, trained on {} ({}), theta {}, ability {}, seen {}\n",
        file.seed,
        count(file.training_models, "model"),
        file.split,
        file.scope,
        file.ability,
        file.seen
    )?;
    anchors_tables(file, out)
}

/// What an anchors file holds.
pub(super) fn anchors_json(file: &AnchorsFile) -> Value {
    let scenarios: Vec<_> = file
        .scenarios
        .iter()
        .map(|s| {
            json!({
                "name": s.name, "items": s.items.len(), "dims": s.parameters.dims,
                "b": s.b, "selections": s.selections,
            })
        })
        .collect();
    json!({
        "kind": "anchors", "benchmark": file.benchmark, "simulated": file.simulated,
        "seed": file.seed, "split": file.split, "theta": file.scope,
        "ability": file.ability, "seen": file.seen, "scenarios": scenarios,
    })
}

/// Its chosen items, a table by selection and one by item.
pub(super) fn anchors_tables(file: &AnchorsFile, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(2, &["scenario", "selection", "items", "D", "n", "lambda"]);
    for s in &file.scenarios {
        for c in &s.selections {
            table.row([
                s.name.clone(),
                c.selection.clone(),
                s.items.len().to_string(),
                s.parameters.dims.to_string(),
                c.n.to_string(),
                format!("{:.4}", c.lambda),
            ]);
        }
    }
    writeln!(out, "{}", table.text())?;
    let mut table = Table::new(3, &["scenario", "selection", "item", "weight"]);
    for s in &file.scenarios {
        for c in &s.selections {
            for a in &c.anchors {
                table.row([
                    s.name.clone(),
                    c.selection.clone(),
                    a.id.clone(),
                    format!("{:.5}", a.weight),
                ]);
            }
        }
    }
    write!(out, "{}", table.text())?;
    Ok(())
}

/// What a file of py-irt's holds.
fn parameters(path: &Path, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let found = read_parameters(path, None)?;
    if as_json {
        let sets: Vec<_> = found
            .sets
            .iter()
            .map(|s| {
                json!({
                    "items": s.items.len(), "dims": s.items.dims(), "ids": !s.ids.is_empty(),
                    "models": s.models.len(),
                })
            })
            .collect();
        return json(
            out,
            &json!({"kind": "parameters", "notes": found.notes, "sets": sets}),
        );
    }
    for note in &found.notes {
        writeln!(out, "{note}")?;
    }
    for s in &found.sets {
        writeln!(
            out,
            "{}, D {}, {} named; `--parameters {}` uses them instead of a fit",
            count(s.items.len(), "item"),
            s.items.dims(),
            count(s.models.len(), "model"),
            path.display()
        )?;
    }
    Ok(())
}

fn model(file: &ModelFile, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if as_json {
        let scenarios: Vec<_> = file
            .scenarios
            .iter()
            .map(|s| {
                json!({
                    "name": s.name, "items": s.items.len(), "models": s.models.len(),
                    "dims": s.parameters.dims, "b": s.b, "validation": s.validation,
                    "evidence": s.evidence, "converged": s.converged,
                })
            })
            .collect();
        return json(
            out,
            &json!({
                "kind": "model", "benchmark": file.benchmark, "simulated": file.simulated,
                "seed": file.seed, "split": file.split, "theta": file.scope,
                "responses": file.responses, "scenarios": scenarios,
            }),
        );
    }
    heading(out, &file.benchmark, file.simulated)?;
    writeln!(
        out,
        "model file: seed {}, {}, theta {}, {} responses\n",
        file.seed, file.split, file.scope, file.responses
    )?;
    super::fit::table(file, out)
}
