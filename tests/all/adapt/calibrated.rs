//! What intervals claim: for as many answers as were learned from, from models enough that differ, at the level they name.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{anchors, ended_well, json, run, text};

fn warnings(found: &Value) -> String {
    found["warnings"].to_string()
}

/// Models that answer eight items as `cell` says.
fn table(dir: &Path, models: usize, cell: impl Fn(usize, usize) -> bool) -> PathBuf {
    let mut text = String::from("model,a,b,c,d,e,f,g,h");
    for m in 0..models {
        text += &format!("\nm{m}");
        for i in 0..8 {
            text += if cell(m, i) { ",1" } else { ",0" };
        }
    }
    let path = dir.join("table.csv");
    std::fs::write(&path, text + "\n").expect("written");
    path
}

#[test]
fn beyond_what_was_learned_from_a_warning_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let base = [
        "adapt",
        file.to_str().unwrap(),
        "--scenario",
        "arithmetic",
        "--json",
    ];
    let of = |n: &str| json(&[&base[..], &["--n", n]].concat(), &"1\n".repeat(25));
    let within = of("20");
    assert_eq!(within["calibrated"], true);
    assert_eq!(within["scenarios"][0]["calibrated"], true);
    // A model that is right on everything is better than all that train: that is the only warning.
    let said = warnings(&within);
    assert!(
        said.contains("above the best training model's true score"),
        "{said}"
    );
    assert_eq!(within["warnings"].as_array().unwrap().len(), 1);
    let beyond = of("23");
    assert_eq!(beyond["calibrated"], false);
    assert_eq!(beyond["scenarios"][0]["calibrated"], false);
    let said = warnings(&beyond);
    assert!(
        said.contains("arithmetic: intervals are calibrated for up to 20 answers"),
        "{said}"
    );
    assert_eq!(beyond["warnings"].as_array().unwrap().len(), 2);
}

#[test]
fn too_few_models_or_all_alike_are_no_calibration() {
    let dir = tempfile::tempdir().unwrap();
    let few = |m: usize, i: usize| !(m + i).is_multiple_of(3) && m > i % 2;
    for (models, alike) in [(6, true), (12, true), (6, false)] {
        let data = table(dir.path(), models, |m, i| {
            if alike { i % 2 > 0 } else { few(m, i) }
        });
        let data = data.to_str().unwrap();
        let args = [
            "adapt",
            data,
            "--dims",
            "1",
            "--half-width",
            "0.02",
            "--json",
        ];
        let found = json(&args, "1\n0\n1\n1\n0\n1\n1\n0\n");
        let one = &found["scenarios"][0];
        assert_eq!(found["calibrated"], false, "{models} {alike}");
        assert!(one["n"].as_u64() > Some(0), "{one}");
        let said = warnings(&found);
        assert!(
            said.contains("too few training models, or all alike"),
            "{said}"
        );
        assert!(!said.contains("`tinyscope adapt DATA`"), "{said}");
        // From a file the same.
        let file = dir.path().join("few.json");
        let file = file.to_str().unwrap();
        let args = [
            "anchors",
            data,
            "--dims",
            "1",
            "--n",
            "4",
            "--adaptive",
            "--out",
        ];
        ended_well(run(&[&args[..], &[file]].concat(), ""));
        let found = json(&["adapt", file, "--n", "2", "--json"], "1\n1\n");
        assert!(warnings(&found).contains("too few training models, or all alike"));
    }
}

#[test]
fn every_half_width_needs_an_answer() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let args = [
        "adapt",
        file.to_str().unwrap(),
        "--half-width",
        "0.99",
        "--json",
    ];
    let found = json(&args, "1\n1\n");
    for one in found["scenarios"].as_array().unwrap() {
        assert_eq!(
            (&one["ended"], &one["n"]),
            (&"half-width".into(), &1.into())
        );
    }
}

#[test]
fn files_that_no_training_gives_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let good: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let changes: [(&str, Value, &str); 6] = [
        ("/level", 0.8.into(), "its level is 0.8"),
        ("/stages/2/scale", 0.into(), "stage 3 (n = 2) has scale 0"),
        (
            "/stages/2/scale",
            (-1).into(),
            "stage 3 (n = 2) has scale -1",
        ),
        ("/stages/2/n", 1.into(), "stage 3 has n = 1"),
        (
            "/stages/11/n",
            1000.into(),
            "stage 12 has n = 1000, but there are 15 items",
        ),
        ("/stages/2/slope", 11.into(), "stage 3 (n = 2) has slope 11"),
    ];
    for (place, value, why) in changes {
        let mut bad = good.clone();
        let place = format!("/scenarios/1/adaptive{place}");
        *bad.pointer_mut(&place).unwrap() = value;
        let path = dir.path().join("bad.json");
        std::fs::write(&path, bad.to_string()).unwrap();
        let out = run(&["adapt", path.to_str().unwrap()], "1\n");
        assert_eq!(out.status.code(), Some(1), "{place}");
        let said = text(&out.stderr);
        assert!(
            said.contains("bad.json: scenario \"reading\": adaptive: "),
            "{said}"
        );
        assert!(said.contains(why), "{said}");
    }
}
