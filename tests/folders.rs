//! Folders of HELM runs and AlpacaEval annotations: the handed cases, and variants made here.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::path::Path;

use tinyscope::data::Benchmark;
use tinyscope::data::read::{ReadOptions, Runs, benchmark};

fn read(path: &Path) -> tinyscope::Result<Benchmark> {
    benchmark(path, &ReadOptions::default())
}

fn score(b: &Benchmark, model: &str, item: &str) -> Option<f64> {
    let row = b
        .matrix
        .models()
        .iter()
        .position(|m| m == model)
        .expect(model);
    let column = b.matrix.items().iter().position(|i| i == item).expect(item);
    b.matrix.get(row, column)
}

#[test]
fn helm_runs_of_the_cases() {
    let Some(shared) = common::shared() else {
        return;
    };
    let b = read(&shared.join("cases/helm")).unwrap();
    assert_eq!((b.matrix.n_models(), b.scenarios.len()), (2, 1));
    let subs: Vec<(&str, usize)> = b.scenarios[0]
        .subscenarios
        .iter()
        .map(|s| (s.name.as_str(), s.items.len()))
        .collect();
    assert_eq!(subs, [("econometrics", 6), ("us_foreign_policy", 4)]);
    assert_eq!(
        score(&b, "meta_llama-y", "mmlu/econometrics/id2"),
        Some(1.0)
    );
    let said = b.warnings.join("\n");
    assert!(said.contains("metric: exact_match (mmlu)"), "{said}");
    assert!(
        said.contains("perturbed rows left out") && said.contains("later trials"),
        "{said}"
    );
}

#[test]
fn alpaca_annotations_of_the_cases() {
    let Some(shared) = common::shared() else {
        return;
    };
    let b = read(&shared.join("cases/alpaca_eval")).unwrap();
    assert_eq!((b.matrix.n_models(), b.matrix.n_items()), (2, 5));
    let answered = |model: &str| {
        (0..5)
            .filter(|i| score(&b, model, &format!("alpaca_eval/{i:04}")).is_some())
            .count()
    };
    assert_eq!(answered("model-a"), 4);
    assert!(b.texts.get("alpaca_eval/0000").is_some());
}

/// One model's annotations: preferences by instruction.
fn annotations(path: &Path, model: &str, rows: &[(&str, &str)]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let rows: Vec<String> = rows
        .iter()
        .map(|(instruction, preference)| {
            format!(
                "{{\"instruction\": \"{instruction}\", \"generator_2\": \"{model}\", \"preference\": {preference}}}"
            )
        })
        .collect();
    fs::write(path, format!("[{}]", rows.join(","))).unwrap();
}

#[test]
fn alpaca_items_are_joined_by_instruction_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = |model: &str| folder.path().join(model).join("judge/annotations.json");
    annotations(
        &file("a"),
        "a",
        &[("one", "1.25"), ("two", "0"), ("NaN \\\" three", "NaN")],
    );
    annotations(
        &file("b"),
        "b",
        &[("two", "2"), ("one", "null"), ("four", "1")],
    );
    let b = read(folder.path()).unwrap();
    assert_eq!((b.matrix.n_models(), b.matrix.n_items()), (2, 4));
    assert_eq!(score(&b, "a", "alpaca_eval/0000"), Some(0.25));
    assert_eq!(score(&b, "a", "alpaca_eval/0001"), Some(0.5));
    assert_eq!(score(&b, "a", "alpaca_eval/0002"), None);
    assert_eq!(score(&b, "b", "alpaca_eval/0001"), Some(1.0));
    assert_eq!(score(&b, "b", "alpaca_eval/0000"), None);
    annotations(&file("c"), "c", &[("one", "3")]);
    let why = read(folder.path()).unwrap_err().to_string();
    assert!(
        why.contains("annotation 1") && why.contains("preference 3"),
        "{why}"
    );
    fs::write(file("c"), "{\"not\": \"a list\"}").unwrap();
    let why = read(folder.path()).unwrap_err().to_string();
    assert!(why.contains("annotations.json, line 1"), "{why}");
}

#[test]
fn helm_metrics_parts_and_texts() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, stats: &str| {
        let run = folder.path().join("runs/v1").join(name);
        fs::create_dir_all(&run).unwrap();
        fs::write(run.join("per_instance_stats.json"), stats).unwrap();
        run
    };
    let row = |id: &str, metric: &str, mean: &str| {
        format!(
            "{{\"instance_id\": \"{id}\", \"train_trial_index\": 0, \"stats\": [{{\"name\": {{\"name\": \"{metric}\"}}, \"mean\": {mean}}}]}}"
        )
    };
    let first = run(
        "gsm:model=org_x,stop=none",
        &format!(
            "[{},{}]",
            row("id1", "final_number_exact_match", "1.0"),
            row("id2", "final_number_exact_match", "NaN")
        ),
    );
    run(
        "legalbench:subset=proa,model=org_x",
        &format!("[{}]", row("id7", "quasi_exact_match", "0")),
    );
    let text = "[{\"id\": \"id1\", \"input\": {\"text\": \"1 + 1?\"}, \"references\": [{\"output\": {\"text\": \"2\"}, \"tags\": [\"correct\"]}]}]";
    fs::write(first.join("instances.json"), text).unwrap();
    let b = read(folder.path()).unwrap();
    let names: Vec<&str> = b.scenarios.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["gsm", "legalbench"]);
    assert_eq!(score(&b, "org_x", "gsm/id1"), Some(1.0));
    assert_eq!(score(&b, "org_x", "gsm/id2"), None);
    assert_eq!(score(&b, "org_x", "legalbench/proa/id7"), Some(0.0));
    assert_eq!(b.texts.get("gsm/id1").unwrap().answer.as_deref(), Some("2"));
    assert!(
        b.metric.contains("quasi_exact_match (legalbench)"),
        "{}",
        b.metric
    );
    run(
        "math:model=org_x",
        &format!("[{}]", row("id1", "math_equiv_chain_of_thought", "1.5")),
    );
    let why = read(folder.path()).unwrap_err().to_string();
    assert!(
        why.contains("outside [0, 1]") && why.contains("id1"),
        "{why}"
    );
    let empty = tempfile::tempdir().unwrap();
    let why = read(empty.path()).unwrap_err().to_string();
    assert!(
        why.contains("a folder without logs that this reads"),
        "{why}"
    );
}

/// What was read is written as the native pair, and the pair reads as the same; writing it again changes no byte.
#[test]
fn an_import_reads_as_what_was_imported_and_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let file = |model: &str| {
        folder
            .path()
            .join("in")
            .join(model)
            .join("judge/annotations.json")
    };
    annotations(
        &file("a"),
        "a",
        &[("one", "1.25"), ("two", "0"), ("three", "NaN")],
    );
    annotations(
        &file("b"),
        "b",
        &[("two", "2"), ("one", "null"), ("four", "1")],
    );
    let import = |from: &str, to: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_tinyscope"))
            .args(["import", from, "--out", to])
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    let done = import("in", "first.json");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let (direct, first) = (
        read(&folder.path().join("in")).unwrap(),
        read(&folder.path().join("first.json")).unwrap(),
    );
    assert_eq!(direct.matrix.models(), first.matrix.models());
    assert_eq!(direct.matrix.items(), first.matrix.items());
    for model in 0..2 {
        let rows = (direct.matrix.row(model), first.matrix.row(model));
        assert!(
            rows.0
                .iter()
                .zip(&rows.1)
                .all(|(p, q)| p == q || p.is_nan() && q.is_nan())
        );
    }
    assert_eq!(
        direct.texts.get("alpaca_eval/0002"),
        first.texts.get("alpaca_eval/0002")
    );
    fs::create_dir(folder.path().join("again")).unwrap();
    assert!(import("first.json", "again/first.json").status.success());
    for end in ["json", "csv.gz", "items.jsonl.gz"] {
        let bytes =
            |dir: &str| fs::read(folder.path().join(dir).join(format!("first.{end}"))).unwrap();
        assert_eq!(bytes("."), bytes("again"), "{end}");
    }
    let refused = import("first.json", "first.json");
    assert_eq!(refused.status.code(), Some(1));
    let refused = import("in", "first.csv");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("ends in .json"));
}

#[test]
fn completions_and_manual_pages_are_written() {
    let run = |args: &[&str]| {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_tinyscope"))
            .args(args)
            .output();
        let done = done.unwrap();
        assert!(done.status.success());
        String::from_utf8(done.stdout).unwrap()
    };
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            run(&["completions", shell]).contains("tinyscope"),
            "{shell}"
        );
    }
    let man = run(&["man"]);
    assert!(
        man.contains(".TH tinyscope 1") && man.contains("tinyscope-render"),
        "no page"
    );
}

/// The chosen items of harness logs go back to the harness: task and document indices, and as a table.
#[test]
fn anchors_of_logs_are_what_the_harness_takes() {
    let Some(shared) = common::shared() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let logs = shared.join("cases/lm-eval");
    let write = |data: &Path, format: &str, name: &str| {
        std::process::Command::new(env!("CARGO_BIN_EXE_tinyscope"))
            .arg("anchors")
            .arg(data)
            .args([
                "--dims", "1", "--n", "4", "--select", "random", "--format", format, "--out", name,
            ])
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    let done = write(&logs, "lm-eval", "samples.json");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let text = fs::read_to_string(folder.path().join("samples.json")).unwrap();
    let tasks: std::collections::BTreeMap<String, Vec<u64>> = serde_json::from_str(&text).unwrap();
    assert_eq!(tasks.keys().collect::<Vec<_>>(), ["arc_challenge", "gsm8k"]);
    for indices in tasks.values() {
        assert_eq!(indices.len(), 4);
        assert!(indices.windows(2).all(|w| w[0] < w[1]) && indices.iter().all(|&i| i < 12));
    }
    assert!(write(&logs, "csv", "anchors.csv").status.success());
    let table = fs::read_to_string(folder.path().join("anchors.csv")).unwrap();
    assert!(
        table.starts_with("scenario,selection,item,weight,cluster_size\n"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 1 + 8);
    // Ids that name no document are refused, and nothing is written.
    let data = folder.path().join("plain.csv");
    fs::write(&data, "model,q1,q2,q3\na,1,0,1\nb,0,0,1\nc,1,1,0\n").unwrap();
    let refused = write(&data, "lm-eval", "none.json");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("TASK/INDEX"));
    assert!(!folder.path().join("none.json").exists());
}

#[test]
fn of_several_helm_suites_the_newest_counts() {
    let folder = tempfile::tempdir().unwrap();
    for (suite, scores) in [("v1.9.0", ["1", "1"]), ("v1.10.0", ["0", "1"])] {
        for (subject, score) in ["anatomy", "law"].iter().zip(scores) {
            let name = format!("runs/{suite}/mmlu:subject={subject},model=org_x");
            let run = folder.path().join(name);
            fs::create_dir_all(&run).unwrap();
            let stats = format!(
                "[{{\"instance_id\": \"id1\", \"stats\": [{{\"name\": {{\"name\": \"exact_match\"}}, \"mean\": {score}}}]}}]"
            );
            fs::write(run.join("per_instance_stats.json"), stats).unwrap();
        }
    }
    let b = read(folder.path()).unwrap();
    assert_eq!(score(&b, "org_x", "mmlu/anatomy/id1"), Some(0.0));
    let said = "model \"org_x\" has several runs: the newest suite counts, left out: mmlu/anatomy of v1.9.0, mmlu/law of v1.9.0 (--runs separate keeps them)";
    assert_eq!(b.warnings[0], said);
    let separate = ReadOptions {
        runs: Runs::Separate,
        ..ReadOptions::default()
    };
    let b = benchmark(folder.path(), &separate).unwrap();
    assert_eq!(b.matrix.models(), ["org_x @v1.10.0", "org_x @v1.9.0"]);
    assert_eq!(score(&b, "org_x @v1.9.0", "mmlu/anatomy/id1"), Some(1.0));
}

#[test]
fn verdicts_of_two_judges_are_never_mixed() {
    let folder = tempfile::tempdir().unwrap();
    for (model, judge, preference) in [
        ("a", "weighted_alpaca_eval_gpt4_turbo", "1.5"),
        ("a", "alpaca_eval_gpt4", "2"),
        ("b", "alpaca_eval_gpt4", "1"),
    ] {
        let file = folder.path().join(model).join(judge);
        annotations(
            &file.join("annotations.json"),
            model,
            &[("one", preference)],
        );
    }
    let b = read(folder.path()).unwrap();
    assert_eq!(b.matrix.models(), ["a"]);
    assert_eq!(score(&b, "a", "alpaca_eval/0000"), Some(0.5));
    let said = "the judge weighted_alpaca_eval_gpt4_turbo counts, 2 annotations of others are left out: alpaca_eval_gpt4 (--metric chooses)";
    assert!(b.warnings.contains(&said.to_owned()), "{:?}", b.warnings);
    let of = |judge: &str| {
        let options = ReadOptions {
            metric: Some(judge.into()),
            ..ReadOptions::default()
        };
        benchmark(folder.path(), &options)
    };
    assert_eq!(of("alpaca_eval_gpt4").unwrap().matrix.n_models(), 2);
    let why = of("alpaca_eval_gpt5").unwrap_err().to_string();
    assert!(why.contains("did you mean alpaca_eval_gpt4?"), "{why}");
}
