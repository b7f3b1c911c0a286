//! Learned estimators, intervals, ranks and comparisons on the command line.

#![allow(clippy::expect_used)]

mod common;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::small;
use serde_json::{Map, Value, json};

fn tinyscope(folder: &Path, args: &[&str]) -> Output {
    let program = Command::new(env!("CARGO_BIN_EXE_tinyscope"))
        .args(args)
        .current_dir(folder)
        .output();
    program.expect("the program starts")
}

fn done(folder: &Path, args: &[&str]) -> String {
    let out = tinyscope(folder, args);
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{args:?}: {errors}");
    String::from_utf8(out.stdout).expect("UTF-8")
}

fn parsed(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&done(folder, args)).expect("JSON")
}

const NAMES: [&str; 7] = [
    "naive",
    "p-irt",
    "gp-irt",
    "aipw",
    "gp-irt-cv",
    "ridge",
    "stacked",
];

#[test]
fn estimate_and_sweep_have_a_row_an_estimator_and_intervals_around_the_estimates() {
    let dir = tempfile::tempdir().expect("a folder");
    small(dir.path());
    let args = ["estimate", "small.csv", "--dims", "1", "--n", "8", "--json"];
    let found = parsed(dir.path(), &args);
    for part in [&found["scenarios"][0], &found["overall"]] {
        let rows = part["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 3 * 7);
        for (row, name) in rows.iter().zip(NAMES.iter().cycle()) {
            assert_eq!(row["estimator"], *name);
            assert!(row["mae"].as_f64().is_some_and(|e| e < 0.5), "{row}");
            assert!((0.0..=1.0).contains(&row["coverage"].as_f64().expect("a share")));
            assert!(row["half_width"].as_f64().expect("a width") > 0.0);
        }
        for model in part["models"].as_array().expect("models") {
            let of = |key: &str| model[key].as_object().expect("by estimator").clone();
            let (estimates, intervals, ranks) = (of("estimates"), of("intervals"), of("ranks"));
            assert_eq!(
                (estimates.len(), intervals.len(), ranks.len()),
                (21, 21, 21)
            );
            for (key, x) in estimates {
                let [low, high] = [0, 1].map(|k| intervals[&key][k].as_f64().expect("a number"));
                let x = x.as_f64().expect("a number").clamp(0.0, 1.0);
                assert!(0.0 <= low && low <= x && x <= high && high <= 1.0, "{key}");
                let [best, worst] = [0, 1].map(|k| ranks[&key][k].as_u64().expect("a rank"));
                assert!(1 <= best && best <= worst && worst <= 6, "{key}");
            }
        }
    }
    let args = [
        "sweep",
        "small.csv",
        "--dims",
        "1",
        "--n",
        "4,8",
        "--seeds",
        "2",
        "--json",
    ];
    let rows = parsed(dir.path(), &args)["rows"].clone();
    let names: BTreeSet<String> = rows
        .as_array()
        .expect("rows")
        .iter()
        .filter(|r| r["mae"].is_f64())
        .map(|r| r["estimator"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(names, NAMES.map(str::to_owned).into());
}

/// The answers of test models on items that were not chosen are turned around: estimates, intervals and ranks stay.
#[test]
fn nothing_leaks_from_answers_that_were_not_seen() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let table = fs::read_to_string(small(at)).expect("readable");
    let args = ["--dims", "2", "--n", "7", "--split", "iid", "--seed", "3"];
    let run = |data: &str| parsed(at, &[&["estimate", data, "--json"], &args[..]].concat());
    let before = run("small.csv");
    done(
        at,
        &[&["anchors", "small.csv", "--out", "a.json"], &args[..]].concat(),
    );
    let file: Value =
        serde_json::from_str(&fs::read_to_string(at.join("a.json")).expect("read")).expect("JSON");
    let mut chosen = BTreeSet::new();
    for scenario in file["scenarios"].as_array().expect("scenarios") {
        for selection in scenario["selections"].as_array().expect("selections") {
            let anchors = selection["anchors"].as_array().expect("anchors");
            chosen.extend(
                anchors
                    .iter()
                    .map(|a| a["id"].as_str().expect("an id").to_owned()),
            );
        }
    }
    let models = |v: &Value| -> Vec<(String, Value)> {
        let models = v["scenarios"][0]["models"]
            .as_array()
            .expect("models")
            .clone();
        let name = |m: &Value| m["name"].as_str().expect("a name").to_owned();
        models.iter().map(|m| (name(m), m.clone())).collect()
    };
    let test: BTreeSet<String> = models(&before).into_iter().map(|m| m.0).collect();
    assert_eq!(test.len(), 6);
    let mut lines = table.lines();
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let mut scrambled = heading.join(",") + "\n";
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let turned = cells.iter().zip(&heading).map(|(cell, item)| match *cell {
            "0" if test.contains(cells[0]) && !chosen.contains(*item) => "1",
            "1" if test.contains(cells[0]) && !chosen.contains(*item) => "0",
            cell => cell,
        });
        scrambled += &turned.collect::<Vec<&str>>().join(",");
        scrambled += "\n";
    }
    assert_ne!(scrambled, table);
    fs::create_dir(at.join("turned")).expect("a folder");
    fs::write(at.join("turned/small.csv"), scrambled).expect("written");
    let after = run("turned/small.csv");
    for ((name, a), (_, b)) in models(&before).iter().zip(models(&after)) {
        assert_ne!(a["true"], b["true"], "{name}");
        for key in ["estimates", "intervals", "ranks"] {
            assert_eq!(a[key], b[key], "{name}, {key}");
        }
    }
    for (a, b) in before["overall"]["models"]
        .as_array()
        .expect("models")
        .iter()
        .zip(after["overall"]["models"].as_array().expect("models"))
    {
        assert_eq!(
            (&a["estimates"], &a["intervals"]),
            (&b["estimates"], &b["intervals"])
        );
    }
}

#[test]
fn score_gives_what_estimate_gives_and_compare_tells_models_apart() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let table = fs::read_to_string(small(at)).expect("readable");
    let args = [
        "--dims",
        "2",
        "--n",
        "8",
        "--split",
        "iid",
        "--select",
        "anchors-irt",
    ];
    let estimated = parsed(
        at,
        &[&["estimate", "small.csv", "--json"], &args[..]].concat(),
    );
    done(
        at,
        &[&["anchors", "small.csv", "--out", "a.json"], &args[..]].concat(),
    );
    let rows: HashMap<&str, Map<String, Value>> = {
        let mut lines = table.lines().map(|l| l.split(',').collect::<Vec<&str>>());
        let heading = lines.next().expect("a heading");
        lines
            .map(|cells| {
                let answers = cells[1..].iter().zip(&heading[1..]);
                let answers = answers.filter_map(|(y, item)| {
                    Some(((*item).to_owned(), json!(y.parse::<f64>().ok()?)))
                });
                (cells[0], answers.collect())
            })
            .collect()
    };
    let test = estimated["overall"]["models"].as_array().expect("models");
    let mut files = Vec::new();
    for model in test {
        let name = model["name"].as_str().expect("a name");
        // Of a model of the matrix, what it lacks does not count; of a new one nobody knows what it would lack.
        if rows[name].len() < 40 {
            continue;
        }
        let file = format!("{name}.json");
        fs::write(at.join(&file), json!(rows[name]).to_string()).expect("written");
        let score = parsed(at, &["score", "a.json", &file, "--json"]);
        for key in ["estimates", "intervals"] {
            let (ours, theirs) = (&score["overall"][key], &model[key]);
            let (ours, theirs) = (ours.as_object().expect(key), theirs.as_object().expect(key));
            assert_eq!(ours.len(), 7);
            for (name, x) in ours {
                let numbers = |v: &Value| match v {
                    Value::Array(all) => all.iter().filter_map(Value::as_f64).collect(),
                    one => vec![one.as_f64().expect("a number")],
                };
                for (x, y) in numbers(x).iter().zip(numbers(&theirs[name])) {
                    assert!((x - y).abs() < 1e-9, "{file}, {key} of {name}: {x} {y}");
                }
            }
        }
        files.push((model["true"].as_f64().expect("a score"), file));
    }
    files.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (worst, best) = (&files[0].1, &files[files.len() - 1].1);
    let found = parsed(at, &["compare", "a.json", best, worst, "--json"]);
    let all = found["rows"].as_array().expect("rows");
    assert_eq!(all.len(), 3 * 7);
    for row in all {
        let of = |key: &str| row[key].as_f64().expect("a number");
        assert!((of("difference") - (of("first") - of("second"))).abs() < 1e-12);
        assert!(of("resolvable") > 0.0 && (0.0..=1.0).contains(&of("first_is_better")));
    }
    let said = done(at, &["compare", "a.json", best, worst]);
    assert!(
        said.contains("is better than") || said.contains("cannot tell them apart"),
        "{said}"
    );
    let same = parsed(at, &["compare", "a.json", best, best, "--json"]);
    for row in same["rows"].as_array().expect("rows") {
        assert_eq!(row["difference"], 0.0);
        assert_eq!(row["first_is_better"], 0.5);
    }
    let out = tinyscope(at, &["compare", "small.csv", best, worst]);
    assert_eq!(out.status.code(), Some(1));
    let mut stripped: Value =
        serde_json::from_str(&fs::read_to_string(at.join("a.json")).expect("read")).expect("JSON");
    for scenario in stripped["scenarios"].as_array_mut().expect("scenarios") {
        for selection in scenario["selections"].as_array_mut().expect("selections") {
            selection
                .as_object_mut()
                .expect("an object")
                .remove("learned");
        }
    }
    fs::write(at.join("old.json"), stripped.to_string()).expect("written");
    let out = tinyscope(at, &["compare", "old.json", best, worst]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(
        said.contains("does not hold how large errors are"),
        "{said}"
    );
    // A file from before still scores.
    let score = parsed(at, &["score", "old.json", best, "--json"]);
    assert_eq!(
        score["overall"]["estimates"]
            .as_object()
            .expect("estimates")
            .len(),
        3
    );
}
