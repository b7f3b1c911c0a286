//! `tinyscope adapt` as a user meets it: from standard input, by a command, interrupted and gone on.

mod calibrated;
mod commands;
mod kept;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::small;
use serde_json::Value;

fn started(args: &[&str]) -> Child {
    crate::common::program()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Waits until something is so; fails where it takes too long.
fn until(what: &str, so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn run(args: &[&str], input: &str) -> Output {
    let mut child = started(args);
    let mut stdin = child.stdin.take().expect("piped");
    // What ends before it has read everything closes the pipe.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ended_well(out: Output) -> Output {
    assert!(out.status.success(), "{}", text(&out.stderr));
    out
}

fn json(args: &[&str], input: &str) -> Value {
    serde_json::from_slice(&ended_well(run(args, input)).stdout).expect("JSON")
}

/// The small benchmark's anchors file, calibrated.
fn anchors(dir: &Path) -> PathBuf {
    let data = small(dir);
    let file = dir.join("anchors.json");
    let args = [
        "anchors",
        data.to_str().expect("UTF-8"),
        "--n",
        "20",
        "--dims",
        "1",
        "--adaptive",
    ];
    ended_well(run(
        &[&args[..], &["--out", file.to_str().expect("UTF-8")]].concat(),
        "",
    ));
    file
}

#[test]
fn lines_of_standard_input_are_answers() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let kept = dir.path().join("mine.json");
    let args = [
        "adapt",
        file.to_str().unwrap(),
        "--scenario",
        "arithmetic",
        "--n",
        "4",
    ];
    let out = ended_well(run(
        &[&args[..], &["--answers", kept.to_str().unwrap()]].concat(),
        "1\nyes\n2\n0.5\nu\n0\ns\n1\n0\n",
    ));
    let (said, warned) = (text(&out.stdout), text(&out.stderr));
    assert!(said.contains("arithmetic: 25 items"), "{said}");
    assert!(said.contains("\"yes\" is no score") && said.contains("\"2\" is no score"));
    assert!(said.contains("taken back: arithmetic/"));
    let last = said
        .lines()
        .rfind(|l| l.starts_with("   4 answered   estimate 0."));
    let words: Vec<&str> = last.expect(&said).split_whitespace().collect();
    let number = |at: usize| words[at].parse::<f64>().expect("a number");
    let (low, estimate, high) = (number(7), number(3), number(9));
    assert!(0.0 <= low && low < estimate && estimate < high && high <= 1.0);
    // Nobody types: a question ends its line.
    assert!(said.contains("q stop): \n"), "{said}");
    assert!(!said.contains("q stop): \""), "{said}");
    assert_eq!(warned, "");
    let answers: Value = serde_json::from_str(&std::fs::read_to_string(&kept).unwrap()).unwrap();
    let answers: Vec<&Value> = answers.as_object().unwrap().values().collect();
    let expected = [Some(1.0), Some(0.0), None, Some(1.0), Some(0.0)];
    assert_eq!(
        answers.iter().map(|v| v.as_f64()).collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn an_interrupted_test_goes_on_as_if_it_had_not_been() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let whole = dir.path().join("whole.json");
    let parts = dir.path().join("parts.json");
    let base = [
        "adapt",
        file.to_str().unwrap(),
        "--n",
        "6",
        "--json",
        "--answers",
    ];
    let input = "1\n0\n0.25\n1\n1\n0\n0\n1\n1\n1\n0\n1\n";
    let lines: Vec<&str> = input.lines().collect();
    let uninterrupted = json(&[&base[..], &[whole.to_str().unwrap()]].concat(), input);
    assert_eq!(uninterrupted["scenarios"][1]["ended"], "n");
    assert_eq!(uninterrupted["warnings"], Value::Array(Vec::new()));
    for (from, to) in [(0, 2), (2, 7), (7, 12)] {
        let some = lines[from..to].join("\n") + "\n";
        let args = [&base[..], &[parts.to_str().unwrap()]].concat();
        let found = json(&args, &some);
        if to == 12 {
            assert_eq!(found, uninterrupted);
        } else {
            let warning = found["warnings"][0].as_str().unwrap();
            assert!(warning.contains("the same command goes on"), "{warning}");
            assert_eq!(found["overall"]["estimate"].is_null(), to == 2);
        }
    }
    assert_eq!(
        std::fs::read(&whole).unwrap(),
        std::fs::read(&parts).unwrap()
    );
}

#[test]
fn answers_that_were_not_asked_for_count() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let kept = dir.path().join("mine.json");
    std::fs::write(
        &kept,
        r#"{"arithmetic/03": true, "elsewhere": 0.5, "arithmetic/04": 0}"#,
    )
    .unwrap();
    let args = [
        "adapt",
        file.to_str().unwrap(),
        "--scenario",
        "arithmetic",
        "--n",
        "3",
        "--json",
    ];
    let found = json(
        &[&args[..], &["--answers", kept.to_str().unwrap()]].concat(),
        "1\n",
    );
    let answers = found["scenarios"][0]["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!(
        (&answers[0]["item"], &answers[0]["score"]),
        (&"arithmetic/03".into(), &1.0.into())
    );
    assert!(
        found["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("1 answers are of items")
    );
    for (bad, why) in [
        ("[1]", "not a JSON object"),
        (r#"{"arithmetic/03": 7}"#, "\"arithmetic/03\" has 7"),
    ] {
        std::fs::write(&kept, bad).unwrap();
        let out = run(
            &[&args[..], &["--answers", kept.to_str().unwrap()]].concat(),
            "1\n",
        );
        assert_eq!(out.status.code(), Some(1));
        assert!(text(&out.stderr).contains(why), "{}", text(&out.stderr));
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), bad);
    }
}

#[cfg(unix)]
#[test]
fn a_command_answers() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let kept = dir.path().join("mine.json");
    let base = [
        "adapt",
        file.to_str().unwrap(),
        "--scenario",
        "reading",
        "--n",
        "5",
        "--json",
    ];
    let base = [&base[..], &["--answers", kept.to_str().unwrap()]].concat();
    // Dead after two answers.
    let log = dir.path().join("log");
    let script = format!(
        "echo \"$1\" >> '{0}'; test $(wc -l < '{0}') -le 2 || exit 9; test \"$1\" = \"$TINYSCOPE_ITEM\" && echo 1",
        log.display()
    );
    let out = run(&[&base[..], &["--ask", &script]].concat(), "");
    assert_eq!(out.status.code(), Some(1));
    let message = text(&out.stderr);
    let last = message.lines().last().unwrap();
    assert!(last.starts_with("tinyscope: item reading/"), "{message}");
    assert!(
        last.contains("exit status: 9") && last.contains("2 answers are kept in"),
        "{message}"
    );
    let asked = std::fs::read_to_string(&log).unwrap();
    // It goes on with the item that failed.
    let again = format!("echo \"$1\" >> '{}'; echo 1", log.display());
    let found = json(
        &[&base[..], &["--ask", &again, "--timeout", "60"]].concat(),
        "",
    );
    assert_eq!(found["scenarios"][0]["n"], 5);
    let all = std::fs::read_to_string(&log).unwrap();
    let all: Vec<&str> = all.lines().collect();
    assert_eq!(all[2], all[3]);
    assert_eq!(asked.lines().count(), 3);
    assert_eq!(all.len(), 6);
    let slow = run(
        &[
            &base[..4],
            &["--n", "2", "--ask", "sleep 20", "--timeout", "0.2"],
        ]
        .concat(),
        "",
    );
    assert_eq!(slow.status.code(), Some(1));
    assert!(text(&slow.stderr).contains("more than 0.2 seconds"));
}

#[test]
fn it_stops_at_the_half_width() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let base = [
        "adapt",
        file.to_str().unwrap(),
        "--scenario",
        "arithmetic",
        "--json",
    ];
    let ones = "1\n".repeat(30);
    let wide = json(&[&base[..], &["--half-width", "0.2"]].concat(), &ones);
    let narrow = json(&[&base[..], &["--half-width", "0.05"]].concat(), &ones);
    let of = |found: &Value, key: &str| found["scenarios"][0][key].clone();
    assert_eq!(of(&wide, "ended"), "half-width");
    assert!(of(&wide, "half_width").as_f64().unwrap() <= 0.2);
    assert!(of(&wide, "n").as_u64() < of(&narrow, "n").as_u64());
    // All answered: the score is known.
    let all = json(&base, &ones);
    assert_eq!(
        (of(&all, "ended"), of(&all, "n")),
        ("items".into(), 25.into())
    );
    assert_eq!(
        (of(&all, "estimate"), of(&all, "half_width")),
        (1.0.into(), 0.0.into())
    );
}

#[test]
fn data_are_fitted_first_and_agree_with_the_anchors_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let data = dir.path().join("small.csv");
    let input = "1\n0\n1\n1\n0\n";
    let common = ["--scenario", "reading", "--n", "5", "--json"];
    let from_file = json(
        &[&["adapt", file.to_str().unwrap()], &common[..]].concat(),
        input,
    );
    let from_data = ["adapt", data.to_str().unwrap(), "--dims", "1"];
    let found = json(&[&from_data[..], &common[..]].concat(), input);
    let items = |v: &Value| v["scenarios"][0]["answers"].clone();
    assert_eq!(items(&found), items(&from_file));
    let estimate = |v: &Value| v["scenarios"][0]["estimate"].as_f64().unwrap();
    assert!((estimate(&found) - estimate(&from_file)).abs() < 0.05);
    // A file without calibration says so; another rule than the file's is refused.
    let plain = dir.path().join("plain.json");
    let args = [
        "anchors",
        data.to_str().unwrap(),
        "--n",
        "5",
        "--dims",
        "1",
        "--out",
    ];
    ended_well(run(&[&args[..], &[plain.to_str().unwrap()]].concat(), ""));
    let adapt = ["adapt", plain.to_str().unwrap(), "--rule", "d-optimal"];
    let found = json(&[&adapt[..], &common[..]].concat(), input);
    assert_eq!(
        (&found["calibrated"], &found["rule"]),
        (&false.into(), &"d-optimal".into())
    );
    assert!(
        found["warnings"][0]
            .as_str()
            .unwrap()
            .contains("--adaptive")
    );
    let other = run(
        &["adapt", file.to_str().unwrap(), "--rule", "d-optimal"],
        input,
    );
    assert_eq!(other.status.code(), Some(1));
    assert!(text(&other.stderr).contains("--adaptive=d-optimal"));
}

#[test]
fn wrong_arguments() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let file = file.to_str().unwrap();
    for args in [
        vec!["adapt", file, "--half-width", "0"],
        vec!["adapt", file, "--timeout", "3"],
        vec!["adapt", file, "--ask", "true", "--timeout", "-1"],
        vec!["adapt", file, "--rule", "best"],
    ] {
        assert_eq!(run(&args, "").status.code(), Some(2), "{args:?}");
    }
    let out = run(&["adapt", file, "--scenario", "aritmetic"], "");
    assert!(text(&out.stderr).contains("did you mean \"arithmetic\"?"));
    let before = std::fs::read(file).unwrap();
    let out = run(&["adapt", file, "--answers", file], "1\n");
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(std::fs::read(file).unwrap(), before);
}
