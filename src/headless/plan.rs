//! `tinyscope plan`: how many items reach a wanted error.

use std::io::Write;

use tinyscope::data::{Benchmark, Diagnostics};
use tinyscope::experiment::{Goal, Plan, PlanRow, RESAMPLES, plan};
use tinyscope::export::{plan_json, warnings};

use super::table::Table;
use super::{Bar, Failure, heading, json, load, threads, warn};
use crate::cli;

pub(crate) fn run(args: &cli::Plan, out: &mut dyn Write) -> Result<(), Failure> {
    threads(args.model.threads)?;
    let benchmark = load(&args.data)?;
    let (settings, goal) = (args.settings(&benchmark)?, args.goal());
    let bar = Bar::new();
    let found = plan(&benchmark, &settings, &goal, &bar)?;
    drop(bar);
    let diagnostics = Diagnostics::within(&benchmark, &settings.scenario_indices(&benchmark));
    if args.json {
        let value = plan_json(&benchmark, &diagnostics, &found, &goal, &settings);
        return json(out, &value);
    }
    heading(out, &benchmark.name, benchmark.simulated)?;
    let tried = |at: Option<&usize>| at.map_or(String::new(), usize::to_string);
    writeln!(
        out,
        "items a scenario for {} of {}; n of {} to {} tried, split {}, seeds {} to {}\nrange: n in 90 % of {RESAMPLES} \
         resamples of seeds and test models\n",
        wanted(&goal),
        percent(goal.error),
        tried(found.ladder.first()),
        tried(found.ladder.last()),
        settings.split,
        settings.seed,
        settings.seed + goal.seeds as u64 - 1
    )?;
    let mut table = Table::new(3, &HEADINGS);
    for row in &found.rows {
        table.row(cells(&benchmark, row));
    }
    writeln!(out, "{}", table.text())?;
    let mut scenarios: Vec<Option<usize>> = found.rows.iter().map(|r| r.scenario).collect();
    scenarios.dedup();
    for scenario in scenarios {
        if let Some(said) = sentence(&benchmark, &found, &goal, scenario) {
            writeln!(out, "{said}")?;
        }
    }
    warn(&warnings(&benchmark, &diagnostics, &found.warnings));
    Ok(())
}

const HEADINGS: [&str; 8] = [
    "scenario",
    "selection",
    "estimator",
    "n",
    "range",
    "items",
    "saved",
    "saved %",
];

pub(super) fn place(benchmark: &Benchmark, scenario: Option<usize>) -> String {
    scenario.map_or("mean score".into(), |s| benchmark.scenarios[s].name.clone())
}

fn percent(x: f64) -> String {
    // As many digits as it takes: 2 %, 0.5 %.
    let digits = format!("{:.4}", 100.0 * x);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits} %")
}

fn wanted(goal: &Goal) -> &'static str {
    match goal.measure.name() {
        "max" => "a largest error",
        "p90" => "a 90th percentile of errors",
        _ => "a mean absolute error",
    }
}

fn count(row: &PlanRow) -> String {
    match row.need.n {
        Some(n) if row.need.or_fewer => format!("{n} or fewer"),
        Some(n) => n.to_string(),
        None => format!(
            "not reached, best {:.4} at {}",
            row.need.best.0, row.need.best.1
        ),
    }
}

fn range(row: &PlanRow) -> String {
    match row.range {
        (None, None) => "-".into(),
        (None, Some(high)) => format!("to {high}"),
        (Some(low), None) => format!("{low} to not reached"),
        (Some(low), Some(high)) => format!("{low} to {high}"),
    }
}

fn cells(benchmark: &Benchmark, row: &PlanRow) -> Vec<String> {
    let dash = || "-".to_owned();
    let saved = row.saved();
    vec![
        place(benchmark, row.scenario),
        row.selection.name().into(),
        row.estimator.name().into(),
        count(row),
        range(row),
        row.items
            .map_or_else(dash, |i| format!("{i} of {}", row.all)),
        saved.map_or_else(dash, |s| s.0.to_string()),
        saved.map_or_else(dash, |s| format!("{:.1}", 100.0 * s.1)),
    ]
}

/// What to do, in one sentence.
fn sentence(
    benchmark: &Benchmark,
    plan: &Plan,
    goal: &Goal,
    scenario: Option<usize>,
) -> Option<String> {
    let place = place(benchmark, scenario);
    let (error, measure) = (percent(goal.error), wanted(goal));
    let how = |r: &PlanRow| format!("{} items and {}", r.selection.name(), r.estimator.name());
    let each = if scenario.is_none() {
        " a scenario"
    } else {
        ""
    };
    Some(match plan.recommended(scenario) {
        Some(r) => {
            let (saved, share) = r.saved()?;
            let safe = match r.range.1 {
                Some(high) => format!("take {high} to be safe"),
                None => "some resamples do not reach it".into(),
            };
            format!(
                "{place}: {measure} of {error} takes n = {}{each} with {} ({safe}); a model needs {} of {} items, which saves \
                 {saved} ({:.1} %).",
                count(r),
                how(r),
                r.items?,
                r.all,
                100.0 * share
            )
        }
        None => {
            let r = plan.nearest(scenario)?;
            format!(
                "{place}: {measure} of {error} is not reached; the best is {} with {} at n = {}{each}.",
                percent(r.need.best.0),
                how(r),
                r.need.best.1
            )
        }
    })
}
