//! Logs made here: orders, packings, several runs, mistakes.

use std::io::Write;
use std::path::Path;

use crate::data::Benchmark;
use crate::data::read::{ReadOptions, Runs, benchmark};

const RUN: &str = "2025-01-05T10-00-00.000001";

/// A sample of metric acc; question and hash follow from `doc`.
fn sample(id: u64, doc: &str, acc: &str) -> String {
    format!(
        r#"{{"doc_id": {id}, "doc": {{"question": "{doc}?", "choices": ["x", "y"], "answer": 1}}, "target": "1", "arguments": {{"gen_args_0": ["a\ud800", NaN]}}, "resps": [["-Infinity"]], "doc_hash": "{doc}", "filter": "none", "metrics": ["acc"], "acc": {acc}}}"#
    )
}

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::File::create(&path).unwrap();
    if name.ends_with("gz") {
        let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        gz.write_all(text.as_bytes()).unwrap();
        gz.finish().unwrap();
    } else {
        file.write_all(text.as_bytes()).unwrap();
    }
}

fn read(root: &Path) -> Benchmark {
    benchmark(root, &ReadOptions::default()).unwrap()
}

fn scores(b: &Benchmark, model: &str) -> Vec<Option<f64>> {
    let l = b.matrix.models().iter().position(|m| m == model).unwrap();
    (0..b.matrix.n_items())
        .map(|i| b.matrix.get(l, i))
        .collect()
}

#[test]
fn order_packing_and_form_do_not_matter() {
    let lines = |order: &[u64]| -> Vec<String> {
        order
            .iter()
            .map(|&i| sample(i, &format!("q{i}"), if i % 3 == 0 { "1.0" } else { "0.0" }))
            .collect()
    };
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let name = |model: &str, ending: &str| format!("{model}/samples_t_{RUN}.{ending}");
    write(
        root,
        &name("o__a", "jsonl"),
        &lines(&[0, 1, 2, 10, 3]).join("\n"),
    );
    write(
        root,
        &name("o__b", "jsonl.gz"),
        &(lines(&[10, 3, 1, 0, 2]).join("\n") + "\n\n"),
    );
    // Array in a file of either ending, lines in one called json.
    write(
        root,
        &name("deep/o__c", "jsonl"),
        &format!("[{}]", lines(&[3, 2, 1, 0, 10]).join(",\n")),
    );
    write(
        root,
        &name("o__d", "json"),
        &lines(&[3, 2, 1, 0, 10]).join("\r\n"),
    );
    let b = read(root);
    assert_eq!(b.matrix.models(), ["o/a", "o/b", "o/c", "o/d"]);
    assert_eq!(b.matrix.items(), ["t/0", "t/1", "t/2", "t/3", "t/10"]);
    let expected = [Some(1.0), Some(0.0), Some(0.0), Some(1.0), Some(0.0)];
    for model in b.matrix.models() {
        assert_eq!(scores(&b, model), expected, "{model}");
    }
    assert_eq!(b.warnings, [""; 0]);
    assert_eq!(b.metric, "acc");
    let text = b.texts.get("t/10").unwrap();
    assert_eq!(
        (text.text.as_str(), text.answer.as_deref()),
        ("q10?", Some("y"))
    );
}

#[test]
fn subjects_of_mmlu_are_parts_of_one_scenario() {
    let dir = tempfile::tempdir().unwrap();
    for (subject, acc) in [("anatomy", "1.0"), ("virology", "0.0")] {
        let name = format!("m/samples_mmlu_{subject}_{RUN}.jsonl");
        write(dir.path(), &name, &sample(0, subject, acc));
    }
    write(
        dir.path(),
        &format!("m/samples_winogrande_{RUN}.jsonl"),
        &sample(0, "w", "true"),
    );
    let b = read(dir.path());
    assert_eq!(
        b.matrix.items(),
        ["mmlu/anatomy/0", "mmlu/virology/0", "winogrande/0"]
    );
    assert_eq!(b.scenarios.len(), 2);
    let subs = &b.scenarios[0].subscenarios;
    assert_eq!(
        (subs[0].name.as_str(), subs[1].name.as_str()),
        ("anatomy", "virology")
    );
    assert_eq!(b.true_score(0, &b.scenarios[0]), Some(0.5));
}

#[test]
fn what_does_not_belong_together_is_left_out_and_said() {
    let dir = tempfile::tempdir().unwrap();
    let file = |model: &str| format!("{model}/samples_t_{RUN}.jsonl");
    let join = |lines: &[String]| lines.join("\n");
    write(
        dir.path(),
        &file("a"),
        &join(&[sample(0, "q0", "1"), sample(1, "q1", "NaN")]),
    );
    let other = [
        sample(0, "other", "1"),
        sample(1, "q1", "0"),
        sample(1, "q1", "1"),
        sample(1, "q1", "0"),
    ];
    write(dir.path(), &file("b"), &join(&other));
    let cut = [sample(0, "q0", "0"), sample(1, "q1", "1")[..30].to_owned()];
    write(dir.path(), &file("c"), &join(&cut));
    write(dir.path(), &file("d"), "");
    write(
        dir.path(),
        &file("e"),
        &sample(0, "q0", "1").replace("none", "loose"),
    );
    let b = read(dir.path());
    assert_eq!(scores(&b, "a"), [Some(1.0), None]);
    assert_eq!(scores(&b, "b"), [None, Some(0.0)]);
    assert_eq!(scores(&b, "c"), [Some(0.0), None]);
    assert_eq!(scores(&b, "e"), [None, None]);
    let said = b.warnings.join("\n");
    for text in [
        "doc_id 0 with another doc_hash",
        "doc_id 1 with two samples that differ",
        "line 2: the sample is cut off",
        "no sample with a score",
        "t of \"e\" has no acc: left out",
    ] {
        assert!(said.contains(text), "{said} lacks {text}");
    }
}

#[test]
fn runs_in_two_folders_are_runs_of_one_model() {
    let dir = tempfile::tempdir().unwrap();
    for (folder, acc) in [("x/o__m", "0"), ("y/o__m", "1")] {
        let name = format!("{folder}/samples_t_{RUN}.jsonl");
        write(dir.path(), &name, &sample(0, "q", acc));
    }
    let b = read(dir.path());
    assert_eq!(b.matrix.models(), ["o/m"]);
    assert!(b.warnings[0].contains("several runs"), "{:?}", b.warnings);
    let separate = ReadOptions {
        runs: Runs::Separate,
        ..ReadOptions::default()
    };
    let b = benchmark(dir.path(), &separate).unwrap();
    let name = format!("o/m @{RUN}");
    assert_eq!(b.matrix.models(), [format!("{name} #2"), name]);
    // A model in its own folder is called as that is, wherever reading starts.
    let b = read(&dir.path().join("x/o__m"));
    assert_eq!(b.matrix.models(), ["o/m"]);
}

#[test]
fn mistakes_are_placed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("samples_t.jsonl");
    let good = sample(0, "q", "1");
    for (text, texts) in [
        (
            format!("{good}\n{{\"doc_id\": -1}}\n"),
            &["line 2", "-1, not a whole number"][..],
        ),
        (format!("{good}\n{{\"acc\": 1}}\n"), &["line 2", "doc_id"]),
        (
            format!("{good}\nnonsense\n{good}\n"),
            &["line 2", "not a record"],
        ),
        (format!("[{good}, 3]"), &["record 2", "not a record"]),
        (
            sample(0, "q", "7"),
            &["line 1", "acc of doc_id 0 is 7", "--metric"],
        ),
        (sample(0, "q", "\"yes\""), &["no samples"]),
    ] {
        std::fs::write(&path, &text).unwrap();
        let said = benchmark(&path, &ReadOptions::default())
            .unwrap_err()
            .to_string();
        for t in texts {
            assert!(said.contains(t), "{said} lacks {t}");
        }
        assert!(said.contains("samples_t.jsonl"), "{said}");
    }
}

#[test]
fn lines_too_long_to_hold_are_read_as_they_come() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("samples_t.jsonl");
    let long = |i: u64| {
        let resps = format!("\"resps\": [[\"{}\", NaN]]", "x\\n".repeat(4 << 20));
        sample(i, &format!("q{i}"), "1").replace("\"resps\": [[\"-Infinity\"]]", &resps)
    };
    let text = [long(0), sample(1, "q1", "0"), long(2)].join("\n");
    std::fs::write(&path, &text).unwrap();
    let b = read(&path);
    assert_eq!(b.matrix.row(0), [1.0, 0.0, 1.0]);
    assert_eq!(b.warnings, [""; 0]);
    std::fs::write(&path, &text[..text.len() - 40]).unwrap();
    let b = read(&path);
    assert_eq!(b.matrix.row(0), [1.0, 0.0]);
    assert!(b.warnings[0].contains("line 3"), "{:?}", b.warnings);
}

/// Logs that are read at once know nothing of each other; what they tell is joined in their order.
#[test]
fn documents_that_only_later_logs_have_are_joined_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let file = |model: &str| format!("{model}/samples_t_{RUN}.jsonl");
    let bare = |id: u64, acc: &str| format!(r#"{{"doc_id": {id}, "acc": {acc}}}"#);
    for (model, lines) in [
        // Document 0 has neither hash nor text yet.
        ("a", [bare(0, "1"), sample(5, "q5", "1")]),
        ("b", [sample(0, "q0", "0"), sample(9, "q9", "1")]),
        ("c", [sample(9, "other", "1"), sample(0, "q0", "1")]),
        ("d", [sample(0, "another", "1"), sample(7, "q7", "1")]),
    ] {
        write(dir.path(), &file(model), &lines.join("\n"));
    }
    let b = read(dir.path());
    assert_eq!(b.matrix.items(), ["t/0", "t/5", "t/7", "t/9"]);
    let (yes, no) = (Some(1.0), Some(0.0));
    assert_eq!(scores(&b, "a"), [yes, yes, None, None]);
    assert_eq!(scores(&b, "b"), [no, None, None, yes]);
    assert_eq!(scores(&b, "c"), [yes, None, None, None]);
    assert_eq!(scores(&b, "d"), [None, None, yes, None]);
    for (id, text) in [("t/0", "q0?"), ("t/7", "q7?"), ("t/9", "q9?")] {
        assert_eq!(b.texts.get(id).unwrap().text, text);
    }
    let said = b.warnings.join("\n");
    for text in [
        "doc_id 9 with another doc_hash",
        "doc_id 0 with another doc_hash",
    ] {
        assert!(said.contains(text), "{said} lacks {text}");
    }
    assert_eq!(b.warnings.len(), 2, "{said}");
}

#[test]
fn a_metric_a_sample_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let lines = (0..1001).map(|i| format!(r#"{{"doc_id": {i}, "m{i}": 1}}"#));
    write(
        dir.path(),
        "samples_t.jsonl",
        &lines.collect::<Vec<_>>().join("\n"),
    );
    let said = benchmark(dir.path(), &ReadOptions::default());
    let said = said.unwrap_err().to_string();
    assert!(
        said.contains("samples_t.jsonl, line 1001: more than 1000 metrics"),
        "{said}"
    );
}

/// A pipe that nobody writes to would be waited for without end.
#[cfg(unix)]
#[test]
fn pipes_among_the_logs_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        &format!("m/samples_t_{RUN}.jsonl"),
        &sample(0, "q", "1"),
    );
    for name in ["m/samples_u.jsonl", "m/results_v.json"] {
        let made = std::process::Command::new("mkfifo")
            .arg(dir.path().join(name))
            .status();
        assert!(made.unwrap().success());
    }
    let (done, wait) = std::sync::mpsc::channel();
    let root = dir.path().to_owned();
    std::thread::spawn(move || done.send(read(&root).matrix.n_items()));
    assert_eq!(wait.recv_timeout(std::time::Duration::from_secs(20)), Ok(1));
    // A link that leads nowhere is a log that is missing.
    std::os::unix::fs::symlink("nowhere", dir.path().join("m/samples_w.jsonl")).unwrap();
    let said = benchmark(dir.path(), &ReadOptions::default()).unwrap_err();
    assert!(
        said.to_string().contains("samples_w.jsonl: reading"),
        "{said}"
    );
}
