//! Folders of HELM runs and AlpacaEval annotations: the handed cases, and variants made here.

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
    let Some(shared) = crate::common::shared() else {
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
    let Some(shared) = crate::common::shared() else {
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

/// The same sources in both orders.
fn in_both_orders(one: &Path, two: &Path, options: &ReadOptions) -> [Benchmark; 2] {
    [(one, two), (two, one)].map(|(first, second)| {
        let options = ReadOptions {
            also: vec![second.to_owned()],
            ..options.clone()
        };
        benchmark(first, &options).unwrap()
    })
}

#[test]
fn annotations_given_one_by_one_are_joined_by_instruction_and_of_one_judge() {
    let folder = tempfile::tempdir().unwrap();
    let file = |model: &str, judge: &str| {
        let file = folder.path().join(model).join(judge);
        file.join("annotations.json")
    };
    annotations(&file("a", "j1"), "a", &[("one", "1"), ("two", "2")]);
    annotations(&file("a", "j2"), "a", &[("one", "2"), ("two", "1")]);
    annotations(&file("b", "j1"), "b", &[("two", "2"), ("one", "1.5")]);
    annotations(&file("b", "j0"), "b", &[("two", "1"), ("three", "1")]);
    let whole = read(folder.path()).unwrap();
    let options = ReadOptions::default();
    let folders = in_both_orders(&folder.path().join("a"), &folder.path().join("b"), &options);
    let files = in_both_orders(&file("a", "j1"), &file("b", "j1"), &options);
    for b in folders.iter().chain(&files) {
        assert_eq!(b.matrix.n_items(), 2);
        let item = |text: &str| {
            let ids = b.matrix.items().iter();
            let mut ids = ids.filter(|id| b.texts.get(id).unwrap().text == text);
            ids.next().unwrap().clone()
        };
        assert_eq!(score(b, "a", &item("one")), Some(0.0));
        assert_eq!(score(b, "a", &item("two")), Some(1.0));
        assert_eq!(score(b, "b", &item("one")), Some(0.5));
        assert_eq!(score(b, "b", &item("two")), Some(1.0));
    }
    for b in folders.iter().chain([&whole]) {
        let said = b.warnings.join("\n");
        assert!(
            said.contains("the judge j1 counts, 2 annotations of others are left out: j0, j2"),
            "{said}"
        );
    }
    // A folder and a file in it: the file is read once.
    let [b, _] = in_both_orders(folder.path(), &file("a", "j1"), &options);
    let said = b.warnings.join("\n");
    assert!(
        said.contains("1 log named twice: each is read once"),
        "{said}"
    );
    assert!(!said.contains("annotated twice"), "{said}");
    // The annotations name the judge where no folder does.
    for (name, judge, preference) in [("x.json", "j1", "2"), ("y.json", "j2", "1")] {
        let text = format!(
            "[{{\"instruction\": \"\\\"annotator\\\": one\", \"generator_2\": \"{name}\", \"annotator\": \"{judge}\", \"preference\": {preference}}}]"
        );
        fs::write(folder.path().join(name), text).unwrap();
    }
    let options = ReadOptions {
        metric: Some("j1".into()),
        ..options
    };
    let (x, y) = (folder.path().join("x.json"), folder.path().join("y.json"));
    for b in in_both_orders(&x, &y, &options) {
        assert_eq!(b.matrix.models(), ["x.json"]);
    }
}

#[test]
fn suites_given_one_by_one_are_runs_of_the_same_models() {
    let folder = tempfile::tempdir().unwrap();
    for (suite, mean) in [("v1.9.0", 0), ("v1.10.0", 1)] {
        let run = folder.path().join(suite).join("gsm:model=org_x");
        fs::create_dir_all(&run).unwrap();
        let stats = format!(
            "[{{\"instance_id\": \"id1\", \"stats\": [{{\"name\": {{\"name\": \"final_number_exact_match\"}}, \"mean\": {mean}}}]}}]"
        );
        fs::write(run.join("per_instance_stats.json"), stats).unwrap();
    }
    let (old, new) = (folder.path().join("v1.9.0"), folder.path().join("v1.10.0"));
    for b in in_both_orders(&old, &new, &ReadOptions::default()) {
        assert_eq!(score(&b, "org_x", "gsm/id1"), Some(1.0));
        let said = b.warnings.join("\n");
        assert!(said.contains("left out: gsm of v1.9.0"), "{said}");
    }
    let separate = ReadOptions {
        runs: Runs::Separate,
        ..ReadOptions::default()
    };
    for b in in_both_orders(&old, &new, &separate) {
        assert_eq!(score(&b, "org_x @v1.9.0", "gsm/id1"), Some(0.0));
        assert_eq!(score(&b, "org_x @v1.10.0", "gsm/id1"), Some(1.0));
    }
}

#[test]
fn log_files_given_one_by_one_are_runs_of_the_same_models() {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str, lines: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, lines).unwrap();
        file
    };
    let sample = |id: u64, hash: &str, acc: u64| {
        format!("{{\"doc_id\": {id}, \"doc_hash\": \"{hash}\", \"acc\": {acc}}}\n")
    };
    let old = log(
        "one/m/samples_t_2024-01-05T10-00-00.jsonl",
        &sample(0, "h0", 0),
    );
    let new = log(
        "two/m/samples_t_2025-01-05T10-00-00.jsonl",
        &sample(0, "h0", 1),
    );
    let other = log(
        "two/k/samples_t_2025-01-05T10-00-00.jsonl",
        &(sample(0, "another", 1) + &sample(1, "h1", 1)),
    );
    for (one, two) in [
        (old.as_path(), new.as_path()),
        (&folder.path().join("one"), &new),
    ] {
        for b in in_both_orders(one, two, &ReadOptions::default()) {
            assert_eq!(score(&b, "m", "t/0"), Some(1.0));
            assert!(b.warnings.join("\n").contains("the newest counts"));
        }
    }
    for b in in_both_orders(&old, &other, &ReadOptions::default()) {
        assert!(
            b.warnings
                .join("\n")
                .contains("doc_id 0 with another doc_hash")
        );
    }
    // Beside a table, logs are one source still.
    let table = log("t.csv", "model,t/0,t/1\nx,1,0\n");
    for order in [[&table, &old, &new], [&new, &table, &old]] {
        let options = ReadOptions {
            also: order[1..].iter().map(|p| p.to_path_buf()).collect(),
            ..ReadOptions::default()
        };
        let b = benchmark(order[0], &options).unwrap();
        assert_eq!(score(&b, "m", "t/0"), Some(1.0));
        assert_eq!((b.matrix.n_models(), b.matrix.n_items()), (2, 2));
    }
}

/// Bytes that are no UTF-8 name two models, not one.
#[cfg(target_os = "linux")]
#[test]
fn folders_whose_names_are_no_text_are_kept_apart() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    for (byte, acc) in [(0xfe, 0), (0xfd, 1)] {
        let model = folder
            .path()
            .join(std::ffi::OsStr::from_bytes(&[b'm', byte]));
        fs::create_dir(&model).unwrap();
        let log = model.join("samples_t_2025-01-05T10-00-00.jsonl");
        fs::write(log, format!("{{\"doc_id\": 0, \"acc\": {acc}}}\n")).unwrap();
    }
    let b = read(folder.path()).unwrap();
    assert_eq!(score(&b, "m\\xfe", "t/0"), Some(0.0));
    assert_eq!(score(&b, "m\\xfd", "t/0"), Some(1.0));
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
        crate::common::program()
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
        let done = crate::common::program().args(args).output();
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
    let Some(shared) = crate::common::shared() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let logs = shared.join("cases/lm-eval");
    let write = |data: &Path, format: &str, name: &str| {
        crate::common::program()
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
    let run = |args: &[&str]| {
        let done = crate::common::program()
            .args(args)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        (done.status.success(), said)
    };
    for (file, what) in [
        ("samples.json", "document indices by task"),
        ("anchors.csv", "a table of chosen items"),
    ] {
        let (done, said) = run(&["show", file]);
        assert!(!done && said.contains(what), "{said}");
    }
    let (done, said) = run(&["anchors", logs.to_str().unwrap(), "--out", "a.csv"]);
    assert!(!done && said.contains("say --format csv"), "{said}");
    // What the harness then writes is scored as it is: a model's folder, or one of several models.
    assert!(write(&logs, "native", "anchors.json").status.success());
    let model = logs.join("org__model-b");
    let (done, said) = run(&["score", "anchors.json", model.to_str().unwrap()]);
    assert!(done, "{said}");
    let all = ["score", "anchors.json", logs.to_str().unwrap()];
    let (done, said) = run(&all);
    assert!(!done && said.contains("--model names one"), "{said}");
    let named = |name: &str| run(&[&all[..], &["--model", name]].concat());
    let name = read(&model).unwrap().matrix.models()[0].clone();
    let (done, said) = named(&name);
    assert!(done, "{said}");
    let (done, said) = named(&format!("{name}x"));
    assert!(
        !done && said.contains(&format!("did you mean {name:?}?")),
        "{said}"
    );
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
