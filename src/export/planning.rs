//! Results of `plan`, `shift` and `sources` as JSON, in the forms that the README documents.

use serde_json::{Value, json};

use super::warnings;
use crate::data::{Benchmark, Diagnostics};
use crate::experiment::{Goal, Plan, PlanRow, Settings, Shift, SourceRow, Sources};

fn name(benchmark: &Benchmark, scenario: Option<usize>) -> Option<&str> {
    scenario.map(|s| benchmark.scenarios[s].name.as_str())
}

/// The scenarios of rows in order, each once.
fn each(scenarios: impl Iterator<Item = Option<usize>>) -> Vec<Option<usize>> {
    let mut out: Vec<Option<usize>> = scenarios.collect();
    out.dedup();
    out
}

/// `plan --json`.
pub fn plan_json(
    benchmark: &Benchmark,
    diagnostics: &Diagnostics,
    plan: &Plan,
    goal: &Goal,
    settings: &Settings,
) -> Value {
    let row = |r: &PlanRow| {
        json!({
            "scenario": name(benchmark, r.scenario),
            "selection": r.selection.name(), "estimator": r.estimator.name(),
            "n": r.need.n, "or_fewer": r.need.or_fewer, "n_low": r.range.0, "n_high": r.range.1,
            "items": r.items, "all_items": r.all,
            "saved": r.saved().map(|s| s.0), "saved_share": r.saved().map(|s| s.1),
            "best_error": r.need.best.0, "best_n": r.need.best.1,
            "curve": r.need.curve.iter().map(|(n, e, s)| json!([n, e, s])).collect::<Vec<_>>(),
        })
    };
    let recommended: Vec<Value> = each(plan.rows.iter().map(|r| r.scenario))
        .into_iter()
        .filter_map(|s| plan.recommended(s))
        .map(row)
        .collect();
    json!({
        "benchmark": benchmark.name,
        "simulated": benchmark.simulated,
        "split": settings.split.to_string(),
        "seed": settings.seed,
        "seeds": goal.seeds,
        "error": goal.error,
        "measure": goal.measure.name(),
        "ladder": plan.ladder,
        "warnings": warnings(benchmark, diagnostics, &plan.warnings),
        "recommended": recommended,
        "rows": plan.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

/// `shift --json`.
pub fn shift_json(
    benchmark: &Benchmark,
    diagnostics: &Diagnostics,
    shift: &Shift,
    seeds: usize,
    settings: &Settings,
) -> Value {
    let rows: Vec<Value> = shift
        .rows
        .iter()
        .map(|r| {
            json!({
                "scenario": name(benchmark, r.scenario),
                "selection": r.selection.name(), "estimator": r.estimator.name(),
                "split": r.split.to_string(),
                "mae": r.mae, "ratio": r.ratio, "bias": r.bias, "max_error": r.max_error,
                "spearman": r.spearman, "coverage": r.coverage, "models": r.models,
                "trouble": shift.iid(r).and_then(|iid| r.trouble(iid)),
            })
        })
        .collect();
    let skipped: Vec<Value> = shift
        .skipped
        .iter()
        .map(|(split, why)| json!({"split": split.to_string(), "why": why}))
        .collect();
    json!({
        "benchmark": benchmark.name,
        "simulated": benchmark.simulated,
        "seed": settings.seed,
        "seeds": seeds,
        "n": settings.n,
        "skipped": skipped,
        "warnings": warnings(benchmark, diagnostics, &shift.warnings),
        "rows": rows,
    })
}

/// `sources --json`.
pub fn sources_json(
    benchmark: &Benchmark,
    diagnostics: &Diagnostics,
    sources: &Sources,
    seeds: usize,
    settings: &Settings,
) -> Value {
    let row = |r: &SourceRow| {
        json!({
            "scenario": name(benchmark, r.scenario),
            "selection": r.selection.name(), "estimator": r.estimator.name(),
            "mae": r.mae.iter().map(|m| m.map(|m| m.0)).collect::<Vec<_>>(),
            "mae_sd": r.mae.iter().map(|m| m.and_then(|m| m.1)).collect::<Vec<_>>(),
            "enough": r.enough().map(|at| sources.counts[at]),
        })
    };
    json!({
        "benchmark": benchmark.name,
        "simulated": benchmark.simulated,
        "split": settings.split.to_string(),
        "seed": settings.seed,
        "seeds": seeds,
        "n": settings.n,
        "models": sources.counts,
        "warnings": warnings(benchmark, diagnostics, &sources.warnings),
        "rows": sources.rows.iter().map(row).collect::<Vec<_>>(),
    })
}
