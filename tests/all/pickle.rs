//! The pickles of `../shared/CASES.md`, and such as a real numpy writes where Python has one.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::common::tinyscope_in;
use serde_json::Value;

/// Standard output as JSON.
fn parsed(args: &[&str]) -> Value {
    let out = tinyscope_in(Path::new("."), args);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{args:?}: {said}");
    serde_json::from_slice(&out.stdout).expect("JSON")
}

fn case(name: &str) -> Option<String> {
    let path = crate::common::shared()?.join("cases/pickle").join(name);
    Some(path.to_str().expect("a path of text").to_owned())
}

fn close(found: &Value, wanted: f64, tolerance: f64) {
    let x = found.as_f64().expect("a number");
    assert!((x - wanted).abs() < tolerance, "{x}, not {wanted}");
}

#[test]
fn responses_of_the_tutorials_load() {
    let Some(path) = case("lb-small.pickle") else {
        return;
    };
    let found = parsed(&["show", &path, "--json"]);
    let models = found["models"].as_array().unwrap();
    assert_eq!(models.len(), 9);
    for model in models {
        let name = model["name"].as_str().unwrap();
        assert!(name.starts_with("org__m"), "{name}");
    }
    let scenarios: Vec<(&str, u64)> = found["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["name"].as_str().unwrap(), s["items"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        scenarios,
        [
            ("truthfulqa", 8),
            ("gsm8k", 10),
            ("winogrande", 7),
            ("arc", 9),
            ("hellaswag", 12),
            ("mmlu", 11)
        ]
    );
    let out = tinyscope_in(Path::new("."), &["estimate", &path, "--n", "4", "--json"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{said}");
}

#[test]
fn published_parameters_show_and_score() {
    let Some(path) = case("tinyBenchmarks-small.pkl") else {
        return;
    };
    let found = parsed(&["show", &path, "--json"]);
    let file = &found["benchmarks"][0];
    assert_eq!(file["benchmark"], "mmlu");
    assert_eq!(file["theta"], "joint");
    let scenario = &file["scenarios"][0];
    assert_eq!(scenario["items"], 40);
    assert_eq!(scenario["dims"], 3);
    let chosen = &scenario["selections"][0];
    assert_eq!(chosen["n"], 10);
    close(&chosen["lambda"], 0.29, 1e-12);
    assert_eq!(chosen["anchors"][0]["id"], "mmlu/9");
    close(&chosen["anchors"][0]["weight"], 0.1, 1e-9);
    let text = tinyscope_in(Path::new("."), &["show", &path]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("mmlu/39") && text.contains("intercept is D b"),
        "{text}"
    );

    let dir = tempfile::tempdir().unwrap();
    let answers = dir.path().join("answers.csv");
    let mut lines = String::from("item,score\n");
    for (k, a) in chosen["anchors"].as_array().unwrap().iter().enumerate() {
        lines += &format!("{},{}\n", a["id"].as_str().unwrap(), u8::from(k % 2 == 0));
    }
    fs::write(&answers, lines).unwrap();
    let scored = parsed(&["score", &path, answers.to_str().unwrap(), "--json"]);
    let estimates = &scored["scenarios"][0]["estimates"];
    close(&estimates["anchors-irt/naive"], 0.5, 1e-9);
    let p_irt = estimates["anchors-irt/p-irt"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&p_irt));
    close(
        &estimates["anchors-irt/gp-irt"],
        0.29 * 0.5 + 0.71 * p_irt,
        1e-9,
    );
    assert!(scored["warnings"].as_array().unwrap().is_empty());
}

#[test]
fn published_anchors_and_lambdas_show() {
    let (Some(anchors), Some(lambdas)) = (case("anchor.pickle"), case("lambds.pickle")) else {
        return;
    };
    let found = parsed(&["show", &anchors, "--json"]);
    let scenarios = found["scenarios"].as_array().unwrap();
    let names: Vec<&str> = scenarios
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "truthfulqa",
            "gsm8k",
            "winogrande",
            "arc",
            "hellaswag",
            "mmlu"
        ]
    );
    for s in scenarios {
        assert_eq!(s["n"], 100);
        close(&s["weight_sum"], 1.0, 1e-9);
        assert_eq!(s["anchors"].as_array().unwrap().len(), 100);
    }
    let found = parsed(&["show", &lambdas, "--json"]);
    close(&found["lambdas"]["mmlu"], 0.29162, 5e-6);
    close(&found["lambdas"]["gsm8k"], 0.91623, 5e-6);
    let text = tinyscope_in(Path::new("."), &["show", &lambdas]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("0.91623"));
    // Neither has what another command needs, and both say so.
    for (command, file) in [("estimate", &anchors), ("estimate", &lambdas)] {
        let out = tinyscope_in(Path::new("."), &[command, file]);
        assert_eq!(out.status.code(), Some(1));
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(said.contains("no responses of models"), "{said}");
    }
}

#[test]
fn a_function_is_refused_and_never_executed() {
    let Some(path) = case("evil.pickle") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(path).unwrap();
    let path = path.to_str().unwrap();
    for args in [
        &["show", path][..],
        &["estimate", path],
        &["score", path, path],
    ] {
        let out = tinyscope_in(dir.path(), args);
        assert_eq!(out.status.code(), Some(1));
        assert!(out.stdout.is_empty(), "a partial result");
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        for text in [
            "evil.pickle",
            "byte 54",
            "posix.system",
            "not on the short list of numpy constructors",
            "save it again",
        ] {
            assert!(said.contains(text), "{said} lacks {text}");
        }
    }
    assert!(!dir.path().join("pickle-was-executed").exists());
    assert!(!Path::new("pickle-was-executed").exists());
}

/// Every protocol, type, byte order and layout, written by numpy itself.
const WRITER: &str = r#"
import pickle, sys
import numpy as np
rows = [[0, 1, 1], [1, 0, 1]]
for protocol in range(2, 6):
    for dtype in ["<f8", ">f8", "<f4", ">f4", "<f2", ">f2", "<i8", ">i4", "<i2", "i1", ">u8", "<u4", ">u2", "u1", "?"]:
        for order in "CF":
            y = np.array(rows, dtype=dtype, order=order)
            name = "%d-%s-%s.pickle" % (protocol, np.dtype(dtype).str.replace("<", "l").replace(">", "b").replace("|", "n"), order)
            data = {"models": ["a", "b", "c"], "data": {"s": {"correctness": y}, "t": {"correctness": y[::-1, ::1]}}}
            with open(sys.argv[1] + "/" + name, "wb") as f:
                pickle.dump(data, f, protocol=protocol)
"#;

#[test]
fn what_numpy_writes_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let wrote = Command::new("python3")
        .args(["-c", WRITER])
        .arg(dir.path())
        .output()
        .is_ok_and(|out| out.status.success());
    if !wrote {
        let _ = writeln!(
            std::io::stderr(),
            "skipped what_numpy_writes_is_read: needs python3 with numpy, which is not here"
        );
        return;
    }
    let mut files = 0;
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let benchmark = tinyscope::data::read::benchmark(&path, &Default::default())
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(benchmark.matrix.models(), ["a", "b", "c"]);
        for (model, scores) in [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]].iter().enumerate() {
            let [x, y] = *scores;
            assert_eq!(
                benchmark.matrix.row(model),
                [x, y, y, x],
                "{}",
                path.display()
            );
        }
        files += 1;
    }
    assert_eq!(files, 4 * 15 * 2);
}
