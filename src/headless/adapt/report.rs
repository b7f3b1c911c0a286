//! What was found, as JSON and as a table.

use std::io::{self, Write};

use serde_json::{Value, json};
use tinyscope::experiment::LEVEL;

use super::super::table::Table;
use super::prepare::Prepared;
use super::session::{Found, plain};

/// All that was found, as JSON.
pub(super) fn result(prepared: &Prepared, found: &[Found], notes: &[String]) -> Value {
    let scenarios: Vec<Value> = found
        .iter()
        .map(|f| {
            let answers: Vec<Value> = f
                .asked
                .iter()
                .map(|(id, y)| json!({"item": id, "score": y}))
                .collect();
            json!({
                "name": f.name, "estimate": f.interval.estimate, "low": f.interval.low, "high": f.interval.high,
                "half_width": f.half_width, "calibrated": f.calibrated, "n": f.asked.len(), "items": f.items, "ended": f.ended.name(),
                "random_items": f.random_items(), "answers": answers,
            })
        })
        .collect();
    json!({
        "benchmark": prepared.benchmark, "simulated": prepared.simulated, "rule": prepared.rule.name(),
        "level": LEVEL, "calibrated": calibrated(prepared, found), "warnings": notes, "scenarios": scenarios,
        "overall": {"estimate": overall(prepared, found)},
    })
}

fn calibrated(prepared: &Prepared, found: &[Found]) -> bool {
    prepared.calibrated() && found.iter().all(|f| f.calibrated)
}

/// The mean over scenarios, where all were asked.
fn overall(prepared: &Prepared, found: &[Found]) -> Option<f64> {
    let sum: f64 = found.iter().map(|f| f.interval.estimate).sum();
    (found.len() == prepared.scenarios.len()).then(|| sum / found.len().max(1) as f64)
}

/// The same as a table.
pub(super) fn table(prepared: &Prepared, found: &[Found], out: &mut dyn Write) -> io::Result<()> {
    let headings = [
        "scenario",
        "ended by",
        "estimate",
        "from",
        "to",
        "answers",
        "of items",
        "random items",
    ];
    let mut table = Table::new(2, &headings);
    for f in found {
        let score = |x: f64| format!("{x:.4}");
        table.row([
            plain(&f.name),
            f.ended.name().into(),
            score(f.interval.estimate),
            score(f.interval.low),
            score(f.interval.high),
            f.asked.len().to_string(),
            f.items.to_string(),
            f.random_items().to_string(),
        ]);
    }
    write!(out, "{}", table.text())?;
    if let Some(mean) = overall(prepared, found).filter(|_| found.len() > 1) {
        writeln!(
            out,
            "\nmean score over the {} scenarios: {mean:.4}",
            found.len()
        )?;
    }
    let what = match (prepared.calibrated(), calibrated(prepared, found)) {
        (true, true) => "90 % interval",
        (true, false) => "90 % interval, beyond what it is calibrated for",
        (false, _) => "90 % interval by the model alone",
    };
    writeln!(
        out,
        "\nfrom, to: {what}; random items: how many right-or-wrong ones give as narrow a one"
    )
}
