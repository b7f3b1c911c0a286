//! `tinyscope score`: a new model that answered only the anchors.

use std::io::Write;

use serde_json::{Map, Value, json};
use tinyscope::Error;
use tinyscope::anchors::SelectionKind;
use tinyscope::data::read;
use tinyscope::estimate::{Estimator, Interval};
use tinyscope::export::{AnchorsFile, Published};

use super::table::Table;
use super::{Failure, heading, json, warn};
use crate::cli::{More, Score};

pub(crate) fn run(args: &Score, out: &mut dyn Write) -> Result<(), Failure> {
    let options = args.reading.options(&More::default());
    let answers = || read::answers(&args.responses, &options, args.model.as_deref());
    let (file, answers) = match read::own_text(&args.anchors, &options)? {
        Some(text) => (AnchorsFile::parse(&args.anchors, &text)?, answers()?),
        None => {
            let published = Published::read(&args.anchors)?.ok_or_else(|| {
                Error::input(
                    &args.anchors,
                    "not an anchors file",
                    "write one with `tinyscope anchors DATA --out FILE`, or give tinyBenchmarks.pkl",
                )
            })?;
            let found = answers()?;
            (published.scored_by(&args.anchors, &found.scores)?, found)
        }
    };
    let mut score = file.score(&answers.scores, args.lambda.lambda)?;
    score.warnings.splice(0..0, answers.warnings);
    score.warnings.append(&mut score.lacking);
    if args.json {
        let scenarios: Vec<Value> = score
            .scenarios
            .iter()
            .map(|s| {
                let answered: Map<String, Value> = s
                    .answered
                    .iter()
                    .map(|(k, answered, n)| {
                        (k.name().to_owned(), json!({"answered": answered, "n": n}))
                    })
                    .collect();
                json!({
                    "name": s.name, "estimates": estimates(&s.estimates),
                    "intervals": intervals(&s.intervals), "anchors": answered,
                })
            })
            .collect();
        return json(
            out,
            &json!({
                "benchmark": file.benchmark, "simulated": file.simulated, "seed": file.seed,
                "warnings": score.warnings, "scenarios": scenarios,
                "overall": {
                    "estimates": estimates(&score.overall),
                    "intervals": intervals(&score.overall_intervals),
                },
            }),
        );
    }
    heading(out, &file.benchmark, file.simulated)?;
    writeln!(out)?;
    let mut headings = vec!["scenario", "selection", "answered"];
    // What was not learned has no column.
    let mut found = score.scenarios.iter().flat_map(|s| &s.estimates);
    let learned = found.any(|e| Estimator::LEARNED.contains(&e.1));
    let shown: &[Estimator] = if learned {
        &Estimator::ALL
    } else {
        &Estimator::PAPER
    };
    headings.extend(shown.iter().map(|e| e.name()));
    if learned {
        headings.push("90 % of stacked");
    }
    let mut table = Table::new(2, &headings);
    let cells = |found: &[(SelectionKind, Estimator, f64)], kind| {
        let each = shown.iter().map(|e| {
            let value = found.iter().find(|f| (f.0, f.1) == (kind, *e));
            super::table::number(value.map(|f| f.2))
        });
        each.collect::<Vec<String>>()
    };
    let interval = |found: &[(SelectionKind, Estimator, Interval)], kind| -> Option<String> {
        let of = found
            .iter()
            .find(|f| (f.0, f.1) == (kind, Estimator::Stacked));
        let text = of.map_or("-".into(), |f| format!("{:.4} - {:.4}", f.2.low, f.2.high));
        learned.then_some(text)
    };
    for s in &score.scenarios {
        for &(kind, answered, n) in &s.answered {
            let mut row = vec![
                s.name.clone(),
                kind.name().into(),
                format!("{answered}/{n}"),
            ];
            row.extend(cells(&s.estimates, kind));
            row.extend(interval(&s.intervals, kind));
            table.row(row);
        }
    }
    if score.scenarios.len() > 1 {
        for kind in file.kinds() {
            let mut row = vec!["mean score".to_owned(), kind.name().into(), String::new()];
            row.extend(cells(&score.overall, kind));
            row.extend(interval(&score.overall_intervals, kind));
            table.row(row);
        }
    }
    write!(out, "{}", table.text())?;
    warn(&score.warnings);
    Ok(())
}

fn intervals(found: &[(SelectionKind, Estimator, Interval)]) -> Map<String, Value> {
    let each = found.iter().map(|(k, e, i)| {
        let key = format!("{}/{}", k.name(), e.name());
        (key, json!([i.low, i.high]))
    });
    each.collect()
}

fn estimates(found: &[(SelectionKind, Estimator, f64)]) -> Map<String, Value> {
    found
        .iter()
        .map(|(k, e, x)| (format!("{}/{}", k.name(), e.name()), json!(x)))
        .collect()
}
