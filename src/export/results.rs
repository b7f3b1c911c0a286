//! Results as JSON, in the forms that the README documents.

use std::borrow::Borrow;

use serde_json::{Map, Value, json};

use crate::data::{Benchmark, Diagnostics};
use crate::estimate::{Estimator, Interval};
use crate::experiment::{
    Fitted, Lambda, Row, SelectionEstimates, Settings, Sweep, cap_warnings, errors, estimated,
    lacking, overall, pairs_of, rows,
};

/// `show --json`: models with their true scores, scenarios, warnings.
pub fn show_json(benchmark: &Benchmark, diagnostics: &Diagnostics) -> Value {
    let models: Vec<Value> = benchmark
        .matrix
        .models()
        .iter()
        .enumerate()
        .map(|(l, name)| {
            let scores: Map<String, Value> = benchmark
                .scenarios
                .iter()
                .map(|s| (s.name.clone(), json!(benchmark.true_score(l, s))))
                .collect();
            json!({"name": name, "scores": scores, "mean": benchmark.overall_score(l)})
        })
        .collect();
    let scenarios: Vec<Value> = benchmark
        .scenarios
        .iter()
        .map(|s| {
            let subs: Vec<Value> = s
                .subscenarios
                .iter()
                .map(|sub| json!({"name": sub.name, "items": sub.items.len()}))
                .collect();
            json!({
                "name": s.name, "items": s.n_items(), "aggregate": s.aggregate.name(),
                "subscenarios": subs,
            })
        })
        .collect();
    json!({
        "benchmark": benchmark.name,
        "simulated": benchmark.simulated,
        "models": models,
        "scenarios": scenarios,
        "missing_cells": diagnostics.missing_cells,
        "warnings": warnings(benchmark, diagnostics, &[]),
    })
}

/// What reading, the responses themselves and an experiment have to warn of, in this order.
pub fn warnings(
    benchmark: &Benchmark,
    diagnostics: &Diagnostics,
    experiment: &[String],
) -> Vec<String> {
    let mut out = benchmark.warnings.clone();
    out.extend(diagnostics.warnings(benchmark));
    out.extend_from_slice(experiment);
    out
}

fn row_json(row: &Row) -> Value {
    let m = &row.metrics;
    json!({
        "selection": row.selection.name(), "estimator": row.estimator.name(),
        "lambda": row.lambda, "n": row.n,
        "mae": m.mae, "rmse": m.rmse, "bias": m.bias, "max_error": m.max_error,
        "spearman": m.spearman, "kendall": m.kendall,
        "top5_recall": m.top5_recall, "pairs_in_order": m.pairs_in_order,
        "coverage": row.coverage, "half_width": row.half_width,
    })
}

/// Intervals and possible ranks of the test models under one selection and estimator.
struct Sure {
    key: String,
    /// By row of the matrix.
    models: Vec<(usize, Interval, (usize, usize))>,
}

/// One an estimator; none where nothing was learned.
fn sure<S: Borrow<SelectionEstimates>>(scenarios: &[S], lambda: Lambda) -> Vec<Sure> {
    let Some(first) = scenarios.first() else {
        return Vec::new();
    };
    let selection = first.borrow().selection.kind.name();
    let of = |estimator: Estimator| {
        let errors = errors(scenarios, estimator, lambda).ok()?;
        let models = estimated(scenarios, estimator, lambda);
        let each: Vec<(f64, f64)> = models.iter().map(|m| (m.estimate, m.spread)).collect();
        let ranks = errors.ranks(&each);
        let models = models.iter().zip(ranks).map(|(m, ranks)| {
            let interval = errors.interval(m.estimate, m.spread);
            (m.model, interval, ranks)
        });
        Some(Sure {
            key: format!("{selection}/{}", estimator.name()),
            models: models.collect(),
        })
    };
    Estimator::ALL.into_iter().filter_map(of).collect()
}

/// Intervals and ranks of a model, by selection and estimator.
fn of_model(sure: &[Sure], model: usize) -> (Map<String, Value>, Map<String, Value>) {
    let (mut intervals, mut ranks) = (Map::new(), Map::new());
    for s in sure {
        if let Ok(at) = s.models.binary_search_by_key(&model, |m| m.0) {
            let (_, interval, (best, worst)) = s.models[at];
            intervals.insert(s.key.clone(), json!([interval.low, interval.high]));
            ranks.insert(s.key.clone(), json!([best, worst]));
        }
    }
    (intervals, ranks)
}

/// `estimate --json`. `found` holds, for each selection, every scenario.
pub fn estimate_json(
    benchmark: &Benchmark,
    diagnostics: &Diagnostics,
    fitted: &Fitted,
    found: &[Vec<SelectionEstimates>],
    settings: &Settings,
) -> Value {
    let key =
        |s: &SelectionEstimates, e: Estimator| format!("{}/{}", s.selection.kind.name(), e.name());
    let scenarios: Vec<Value> = fitted
        .scenarios
        .iter()
        .enumerate()
        .map(|(at, f)| {
            let scenario = &benchmark.scenarios[f.index];
            let kinds: Vec<&SelectionEstimates> = found.iter().map(|kind| &kind[at]).collect();
            let table: Vec<Value> = kinds
                .iter()
                .flat_map(|k| rows(k, settings.lambda))
                .map(|r| row_json(&r))
                .collect();
            let sure: Vec<Sure> = kinds
                .iter()
                .flat_map(|k| sure(&[*k], settings.lambda))
                .collect();
            let models: Vec<Value> = f
                .test
                .iter()
                .filter_map(|&model| {
                    let mut estimates = Map::new();
                    for k in &kinds {
                        let Ok(at) = k.models.binary_search_by_key(&model, |m| m.model) else {
                            continue;
                        };
                        for e in Estimator::ALL {
                            let lambda = settings.lambda.value(k.paper_lambda);
                            if let Some(x) = k.models[at].estimates.get(e, lambda) {
                                estimates.insert(key(k, e), json!(x));
                            }
                        }
                    }
                    let (intervals, ranks) = of_model(&sure, model);
                    Some(json!({
                        "name": benchmark.matrix.models()[model],
                        "true": benchmark.true_score(model, scenario)?,
                        "estimates": estimates, "intervals": intervals, "ranks": ranks,
                    }))
                })
                .collect();
            json!({
                "name": scenario.name, "items": scenario.n_items(), "dims": f.dims(),
                "rows": table, "models": models,
            })
        })
        .collect();
    json!({
        "benchmark": benchmark.name,
        "simulated": benchmark.simulated,
        "seed": settings.seed,
        "split": settings.split.to_string(),
        "n": settings.n,
        "warnings": warnings(
            benchmark,
            diagnostics,
            &[
                fitted.warnings.clone(),
                cap_warnings(benchmark, found, settings.n),
                lacking(benchmark, fitted, found, settings.lambda),
            ].concat(),
        ),
        "scenarios": scenarios,
        "overall": overall_json(benchmark, found, settings),
    })
}

fn overall_json(
    benchmark: &Benchmark,
    found: &[Vec<SelectionEstimates>],
    settings: &Settings,
) -> Value {
    let mut models: Vec<(usize, f64, Map<String, Value>)> = Vec::new();
    for kind in found {
        for e in Estimator::ALL {
            for (model, truth, estimate) in pairs_of(kind, e, settings.lambda) {
                let at = match models.binary_search_by_key(&model, |m| m.0) {
                    Ok(at) => at,
                    Err(at) => {
                        models.insert(at, (model, truth, Map::new()));
                        at
                    }
                };
                let key = format!("{}/{}", kind[0].selection.kind.name(), e.name());
                models[at].2.insert(key, json!(estimate));
            }
        }
    }
    let table: Vec<Value> = found
        .iter()
        .flat_map(|kind| overall(kind, settings.lambda))
        .map(|r| row_json(&r))
        .collect();
    let sure: Vec<Sure> = found
        .iter()
        .flat_map(|kind| sure(kind, settings.lambda))
        .collect();
    let models: Vec<Value> = models
        .into_iter()
        .map(|(model, truth, estimates)| {
            let (intervals, ranks) = of_model(&sure, model);
            json!({
                "name": benchmark.matrix.models()[model], "true": truth,
                "estimates": estimates, "intervals": intervals, "ranks": ranks,
            })
        })
        .collect();
    json!({"rows": table, "models": models})
}

/// `sweep --json`.
pub fn sweep_json(
    benchmark: &Benchmark,
    diagnostics: &Diagnostics,
    sweep: &Sweep,
    settings: &Settings,
) -> Value {
    let name = |s: usize| benchmark.scenarios[s].name.clone();
    let dims: Map<String, Value> = sweep
        .dims
        .iter()
        .map(|(s, dims)| (name(*s), json!(dims)))
        .collect();
    let rows: Vec<Value> = sweep
        .rows
        .iter()
        .map(|r| {
            json!({
                "scenario": r.scenario.map(name),
                "selection": r.selection.name(), "estimator": r.estimator.name(), "n": r.n,
                "mae": r.mae, "mae_sd": r.mae_sd,
                "spearman": r.spearman, "spearman_sd": r.spearman_sd, "seeds": r.seeds,
            })
        })
        .collect();
    json!({
        "benchmark": benchmark.name,
        "simulated": benchmark.simulated,
        "split": settings.split.to_string(),
        "dims": dims,
        "warnings": warnings(benchmark, diagnostics, &sweep.warnings),
        "rows": rows,
    })
}
