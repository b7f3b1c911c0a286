//! `tinyscope compare`: two models that answered the same items.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use tinyscope::Error;
use tinyscope::data::read;
use tinyscope::estimate::Estimator;
use tinyscope::export::{AnchorsFile, Compared};

use super::table::Table;
use super::{Failure, heading, json, warn};
use crate::cli::{Compare, More};

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
    let answers = [&args.first, &args.second].map(|path| read::responses(path, &options));
    let [first, second] = answers;
    let (first, second) = (first?, second?);
    let mut warnings = differing(&file, &first, &second);
    let found = file.compare(&first, &second, args.lambda.lambda);
    if found.is_empty() {
        // Says what is missing, where it is answers.
        file.score(&first, args.lambda.lambda)?;
        file.score(&second, args.lambda.lambda)?;
        return Err(Error::input(
            &args.anchors,
            "it does not hold how large errors are",
            "write it again with `tinyscope anchors DATA --out FILE`; it needs some ten training models",
        )
        .into());
    }
    let simulated = file.simulated;
    if args.json {
        let rows: Vec<Value> = found.iter().map(|c| row(&file, c)).collect();
        return json(
            out,
            &json!({
                "benchmark": file.benchmark, "simulated": simulated, "warnings": warnings,
                "first": args.first, "second": args.second, "rows": rows,
            }),
        );
    }
    heading(out, &file.benchmark, simulated)?;
    let (a, b) = (name(&args.first), name(&args.second));
    writeln!(out, "difference: {a} minus {b}; 90 % intervals\n")?;
    let headings = [
        "scenario",
        "selection",
        "estimator",
        &a,
        &b,
        "difference",
        "interval",
        "resolves",
        "better",
    ];
    let mut table = Table::new(3, &headings);
    for c in &found {
        let d = &c.comparison;
        table.row([
            c.scenario
                .map_or("mean score".into(), |s| file.scenarios[s].name.clone()),
            c.selection.name().to_owned(),
            c.estimator.name().to_owned(),
            format!("{:.4}", c.estimates[0]),
            format!("{:.4}", c.estimates[1]),
            format!("{:+.4}", d.difference),
            format!("{:+.4} to {:+.4}", d.low, d.high),
            format!("{:.4}", d.resolvable),
            format!("{:.0} %", 100.0 * d.better),
        ]);
    }
    write!(out, "{}", table.text())?;
    if let Some(words) = words(&found, &a, &b) {
        writeln!(out, "\n{words}")?;
    }
    warnings.retain(|w| !w.is_empty());
    warn(&warnings);
    Ok(())
}

/// The answer in words, by the stacked estimate of the mean score (or of the only scenario) with the smallest doubt.
fn words(found: &[Compared], a: &str, b: &str) -> Option<String> {
    let scenarios = found.iter().filter_map(|c| c.scenario).max();
    let wanted = |c: &&Compared| {
        c.estimator == Estimator::Stacked && (c.scenario.is_none() || scenarios == Some(0))
    };
    let c = found
        .iter()
        .filter(wanted)
        .min_by(|x, y| x.comparison.resolvable.total_cmp(&y.comparison.resolvable))?;
    let d = &c.comparison;
    let (better, worse, share) = if d.difference >= 0.0 {
        (a, b, d.better)
    } else {
        (b, a, 1.0 - d.better)
    };
    let points = 100.0 * d.difference.abs();
    Some(if d.low > 0.0 || d.high < 0.0 {
        format!(
            "{better} is better than {worse} by {points:.1} points (probability {:.0} %).",
            100.0 * share
        )
    } else {
        format!(
            "These items cannot tell them apart: {points:.1} points for {better} (probability {:.0} %), and differences below {:.1} are within the error.",
            100.0 * share,
            100.0 * d.resolvable
        )
    })
}

fn row(file: &AnchorsFile, c: &Compared) -> Value {
    let d = &c.comparison;
    json!({
        "scenario": c.scenario.map(|s| &file.scenarios[s].name),
        "selection": c.selection.name(), "estimator": c.estimator.name(),
        "first": c.estimates[0], "second": c.estimates[1],
        "difference": d.difference, "interval": [d.low, d.high],
        "resolvable": d.resolvable, "first_is_better": d.better,
    })
}

/// Chosen items that only one of the two answered.
fn differing(
    file: &AnchorsFile,
    a: &HashMap<String, f64>,
    b: &HashMap<String, f64>,
) -> Vec<String> {
    let chosen = file.scenarios.iter().flat_map(|s| &s.selections);
    let ids = chosen.flat_map(|c| &c.anchors).map(|a| a.id.as_str());
    let only = ids
        .filter(|id| a.contains_key(*id) != b.contains_key(*id))
        .count();
    if only == 0 {
        return Vec::new();
    }
    vec![format!(
        "{only} chosen items were answered by one of the two only: the difference is less sure than it says"
    )]
}

fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
