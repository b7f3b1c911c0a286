//! Numbers of an independent implementation (`../shared/golden`): helm-lite mmlu with fixed item parameters.

use serde_json::Value;
use tinyscope::anchors::Anchor;
use tinyscope::anchors::SelectionKind;
use tinyscope::data::{Responses, threshold};
use tinyscope::estimate::{Estimator, Seen, estimates, paper_lambda};
use tinyscope::experiment::Metrics;
use tinyscope::irt::{AbilityMethod, Convention, ItemParameters, Prior, ability};

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array()
        .expect("an array")
        .iter()
        .map(|x| x.as_f64().expect("a number"))
        .collect()
}

fn close(what: &str, ours: f64, theirs: f64, tolerance: f64) {
    assert!(
        (ours - theirs).abs() <= tolerance,
        "{what}: {ours} against {theirs}, off by {:e}",
        (ours - theirs).abs()
    );
}

fn golden() -> Option<Value> {
    let text = std::fs::read_to_string(crate::common::shared()?.join("golden/helm-lite-mmlu.json"));
    Some(serde_json::from_str(&text.expect("readable")).expect("JSON"))
}

#[test]
fn abilities_estimates_and_metrics_are_those_of_the_reference() {
    let (Some(g), Some(benchmark)) = (golden(), crate::common::real("helm-lite")) else {
        return;
    };
    let scenario = &benchmark.scenarios[benchmark.scenario_index("mmlu").expect("mmlu")];
    let dims = g["dims"].as_u64().expect("dims") as usize;
    let a: Vec<f64> = g["disc"]
        .as_array()
        .expect("disc")
        .iter()
        .flat_map(numbers)
        .collect();
    let b: Vec<f64> = numbers(&g["diff"]);
    let items = ItemParameters::published(Convention::RepeatedIntercept, dims, &a, &b);
    let seen: Vec<usize> = numbers(&g["seen"]).iter().map(|&i| i as usize).collect();
    let anchors: Vec<Anchor> = seen
        .iter()
        .zip(numbers(&g["weights"]))
        .map(|(&item, weight)| Anchor { item, weight })
        .collect();
    let balance = scenario.balance_weights();
    let s2 = g["mean_item_variance"].as_f64().expect("s2");
    let b = g["validation_error_b"].as_f64().expect("b");
    let lambda = paper_lambda(SelectionKind::AnchorsIrt, b, s2, anchors.len());
    close(
        "lambda",
        lambda,
        g["lambda"]["anchor"].as_f64().unwrap(),
        1e-12,
    );
    let random = paper_lambda(SelectionKind::Random, b, s2, anchors.len());
    close(
        "lambda random",
        random,
        g["lambda"]["random"].as_f64().unwrap(),
        1e-12,
    );

    let mut pairs = Vec::new();
    for (k, model) in g["test_models"]
        .as_array()
        .expect("models")
        .iter()
        .enumerate()
    {
        let row = 4 * k;
        let name = model["model"].as_str().expect("name");
        assert_eq!(benchmark.matrix.models()[row], name);
        let y = benchmark.scores(row, &scenario.columns);
        let truth = benchmark.true_score(row, scenario).expect("answers");
        close("truth", truth, model["true"].as_f64().unwrap(), 1e-9);
        let mut on_seen = vec![f64::NAN; y.len()];
        seen.iter().for_each(|&i| on_seen[i] = y[i]);
        let theta = ability(
            &items,
            &on_seen,
            &Prior::standard(dims),
            AbilityMethod::MaximumLikelihood,
        );
        for (ours, theirs) in theta.theta.mean(0).iter().zip(numbers(&model["theta"])) {
            close(&format!("theta of {name}"), *ours, theirs, 1e-4);
        }
        let p = theta.probabilities(&items);
        for (form, key) in [
            (Seen::Balance, "balanced_mean"),
            (Seen::Anchor, "anchor_weighted"),
        ] {
            let e = estimates(&y, |_| true, &anchors, &balance, &p, form).expect("answers");
            close("naive", e.naive, model["naive"].as_f64().unwrap(), 1e-6);
            close(
                "p-irt",
                e.p_irt,
                model["p_irt"][key].as_f64().unwrap(),
                1e-6,
            );
            let gp = e.get(Estimator::GpIrt, lambda).unwrap();
            close("gp-irt", gp, model["gp_irt"][key].as_f64().unwrap(), 1e-6);
        }
        pairs.push((
            model["true"].as_f64().unwrap(),
            model["gp_irt"]["balanced_mean"].as_f64().unwrap(),
        ));
    }
    let m = Metrics::of(&pairs);
    let theirs = &g["metrics_gp_irt_balanced_mean"];
    for (key, ours) in [
        ("mae", m.mae),
        ("max_abs_error", m.max_error),
        ("rmse", m.rmse),
        ("spearman", m.spearman),
        ("kendall_tau_b", m.kendall),
    ] {
        close(key, ours.expect(key), theirs[key].as_f64().unwrap(), 1e-9);
    }
}

#[test]
fn mean_item_variance_is_over_training_models() {
    let (Some(g), Some(benchmark)) = (golden(), crate::common::real("helm-lite")) else {
        return;
    };
    let scenario = &benchmark.scenarios[benchmark.scenario_index("mmlu").expect("mmlu")];
    let variances: Vec<f64> = (0..benchmark.matrix.n_models())
        .filter(|l| l % 4 != 0)
        .map(|l| {
            let y = benchmark.scores(l, &scenario.columns);
            let mean = y.iter().sum::<f64>() / y.len() as f64;
            y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / y.len() as f64
        })
        .collect();
    let s2 = variances.iter().sum::<f64>() / variances.len() as f64;
    close("s2", s2, g["mean_item_variance"].as_f64().unwrap(), 1e-12);
}

#[test]
fn binarisation_finds_the_references_threshold() {
    let (Some(g), Some(benchmark)) = (golden(), crate::common::real("alpacaeval2")) else {
        return;
    };
    let columns = benchmark.scenarios[0].columns.clone();
    let complete: Vec<usize> = (0..benchmark.matrix.n_models())
        .filter(|&l| benchmark.scores(l, &columns).iter().all(|y| !y.is_nan()))
        .collect();
    let b = &g["binarisation"];
    assert_eq!(complete.len() as u64, b["models"].as_u64().unwrap());
    let responses = Responses::new(&benchmark.matrix, complete, columns);
    let c = threshold(&responses);
    close("threshold", c, b["threshold"].as_f64().unwrap(), 1e-12);
    let (mut above, mut total, mut n) = (0.0, 0.0, 0.0);
    for l in 0..responses.n_models() {
        for y in responses.row(l) {
            above += f64::from(y > c);
            total += y;
            n += 1.0;
        }
    }
    close(
        "binary mean",
        above / n,
        b["binary_mean"].as_f64().unwrap(),
        1e-9,
    );
    close(
        "score mean",
        total / n,
        b["score_mean"].as_f64().unwrap(),
        1e-9,
    );
}
