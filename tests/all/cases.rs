//! The small files of `../shared/CASES.md` that this version reads, and what must happen with each.

use crate::common::tinyscope;
use serde_json::Value;

/// Models, items, missing cells, and texts that the warnings must hold.
type Loads = (
    &'static str,
    &'static [&'static str],
    usize,
    usize,
    usize,
    &'static [&'static str],
);

const LOADS: &[Loads] = &[
    ("csv/semicolon.csv", &[], 6, 8, 0, &[]),
    (
        "csv/semicolon.csv",
        &["--delimiter", ";", "--transpose"],
        8,
        6,
        0,
        &[],
    ),
    ("csv/bom-crlf.csv", &[], 6, 8, 0, &[]),
    ("csv/missing.csv", &[], 4, 4, 4, &[]),
    (
        "csv/duplicate-models.csv",
        &[],
        3,
        3,
        0,
        &["\"alpha\"", "\"alpha #2\""],
    ),
    ("csv/percent.csv", &["--percent"], 2, 3, 0, &[]),
    (
        "csv/constant.csv",
        &[],
        4,
        6,
        0,
        &[
            "constant item on which every model has the same score: q1",
            "right on every item that is not constant: all-right",
            "wrong on every item that is not constant: all-wrong",
        ],
    ),
    ("csv/few-models.csv", &[], 4, 200, 0, &["only 4 models"]),
    ("csv/one-model.csv", &[], 1, 10, 0, &["only 1 model"]),
    ("csv/one-item.csv", &[], 5, 1, 0, &[]),
    (
        "csv/empty-row.csv",
        &[],
        3,
        2,
        2,
        &["without any answer, left out of fits and metrics: b"],
    ),
    ("pyirt/plain.jsonlines", &[], 4, 6, 0, &[]),
    ("pyirt/sparse.jsonlines", &[], 3, 3, 4, &[]),
    (
        "pyirt/truncated.jsonlines",
        &[],
        2,
        2,
        0,
        &["line 3: the record is cut off"],
    ),
    ("pyirt/nan.jsonlines", &[], 2, 2, 1, &[]),
    ("pyirt/line-separator.jsonlines", &[], 2, 1, 0, &[]),
    (
        "lm-eval",
        &[],
        2,
        22,
        0,
        &[
            "gsm8k: the filter \"strict-match\" counts, left out: \"flexible-extract\" (--filter chooses)",
            "arc_challenge: the metric \"acc_norm\" counts, left out: \"acc\" (--metric chooses)",
            "model \"org/model-a\" has several runs of a task: the newest counts, left out: \
             samples_arc_challenge_2025-01-05T10-00-00.000001.jsonl (--runs separate keeps them)",
        ],
    ),
    (
        "lm-eval",
        &["--filter", "flexible-extract", "--metric", "acc"],
        2,
        22,
        0,
        &[
            "gsm8k: the filter \"flexible-extract\" counts, left out: \"strict-match\"",
            "gsm8k has no metric \"acc\": \"exact_match\" counts",
            "arc_challenge has no filter \"flexible-extract\": \"none\" counts",
            "arc_challenge: the metric \"acc\" counts, left out: \"acc_norm\"",
        ],
    ),
    // The newer run of model-a has no gsm8k: 12 missing.
    ("lm-eval", &["--runs", "separate"], 3, 22, 12, &[]),
    (
        "lm-eval/org__model-b/samples_gsm8k_2025-01-05T10-00-00.000001.jsonl",
        &[],
        1,
        12,
        0,
        &["\"strict-match\" counts"],
    ),
    (
        "lm-eval-old",
        &[],
        1,
        6,
        0,
        &["hellaswag: the metric \"acc_norm\" counts, left out: \"acc\""],
    ),
    (
        "lm-eval-old/model-c/samples_hellaswag.json",
        &["--metric", "acc"],
        1,
        6,
        0,
        &["\"acc\" counts, left out: \"acc_norm\""],
    ),
];

#[test]
fn files_that_load() {
    let Some(shared) = crate::common::shared() else {
        return;
    };
    for (file, options, models, items, missing, warnings) in LOADS {
        let path = shared.join("cases").join(file);
        let out = tinyscope(&[&["show", path.to_str().unwrap(), "--json"], *options].concat());
        assert!(
            out.status.success(),
            "{file}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        let found: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(found["models"].as_array().unwrap().len(), *models, "{file}");
        let columns: u64 = found["scenarios"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["items"].as_u64().unwrap())
            .sum();
        assert_eq!(columns as usize, *items, "{file}");
        assert_eq!(
            found["missing_cells"].as_u64().unwrap() as usize,
            *missing,
            "{file}"
        );
        let said = found["warnings"].to_string().replace("\\\"", "\"");
        for w in *warnings {
            assert!(said.contains(w), "{file}: {said} lacks {w}");
        }
    }
}

/// Command, file, and texts that the single message on standard error must hold.
type Fails = (
    &'static [&'static str],
    &'static str,
    &'static [&'static str],
);

const FAILS: &[Fails] = &[
    (
        &["show"],
        "csv/duplicate-items.csv",
        &["\"q1\"", "columns 2 and 4"],
    ),
    (
        &["show"],
        "csv/percent.csv",
        &["line 2", "column 2", "\"alpha\"", "--percent"],
    ),
    (
        &["show"],
        "csv/out-of-range.csv",
        &["\"beta\"", "\"q1\"", "-0.2"],
    ),
    (
        &["show"],
        "csv/ragged.csv",
        &["line 3", "3 cells, 4 expected"],
    ),
    (
        &["show"],
        "csv/text-cell.csv",
        &["\"alpha\"", "\"q2\"", "\"yes\""],
    ),
    (&["show"], "csv/header-only.csv", &["no models"]),
    (
        &["show", "--filter", "strict"],
        "lm-eval",
        &[
            "no log has the filter \"strict\"",
            "flexible-extract, none, strict-match",
        ],
    ),
    (
        &["show", "--metric", "acc-norm"],
        "lm-eval",
        &[
            "no log has the metric \"acc-norm\"",
            "did you mean \"acc_norm\"?",
        ],
    ),
    (&["show"], "csv", &["a folder without logs that this reads"]),
    (&["show"], "csv/empty.csv", &["empty"]),
    (
        &["show"],
        "junk.bin",
        &["not a format this reads", "CSV", "NAME.json"],
    ),
    (
        &["estimate"],
        "csv/one-model.csv",
        &["at least 2 training models and 1 test model"],
    ),
    (&["estimate"], "csv/one-item.csv", &["needs at least 2"]),
];

#[test]
fn files_that_fail_say_where_and_what_to_do() {
    let Some(shared) = crate::common::shared() else {
        return;
    };
    for (command, file, texts) in FAILS {
        let path = shared.join("cases").join(file);
        let out = tinyscope(&[*command, &[path.to_str().unwrap()]].concat());
        assert_eq!(out.status.code(), Some(1), "{file}");
        assert!(out.stdout.is_empty(), "{file}: a partial result");
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{file}: {said}");
        for text in *texts {
            assert!(said.contains(text), "{file}: {said} lacks {text}");
        }
        if command[0] == "show" {
            assert!(said.contains(file), "{file}: {said} does not name the file");
        }
    }
}

#[test]
fn missing_is_not_wrong() {
    let Some(shared) = crate::common::shared() else {
        return;
    };
    let path = shared.join("cases/csv/missing.csv");
    let out = tinyscope(&["show", path.to_str().unwrap(), "--json"]);
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    let score = found["models"][0]["mean"].as_f64().unwrap();
    assert!((score - 2.0 / 3.0).abs() < 1e-12, "{score}");
}

#[test]
fn few_models_are_capped_at_distinct_items_with_positive_weights() {
    let Some(shared) = crate::common::shared() else {
        return;
    };
    let path = shared.join("cases/csv/few-models.csv");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a.json");
    let made = tinyscope(&[
        "anchors",
        path.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert!(made.status.success());
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(
        said.contains("unreliable") && said.contains("is capped at"),
        "{said}"
    );
    let file: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    for selection in file["scenarios"][0]["selections"].as_array().unwrap() {
        let anchors = selection["anchors"].as_array().unwrap();
        let ids: std::collections::HashSet<&str> =
            anchors.iter().map(|a| a["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), anchors.len(), "an item twice");
        assert!(anchors.iter().all(|a| a["weight"].as_f64().unwrap() > 0.0));
        let sum: f64 = anchors.iter().map(|a| a["weight"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_fit_to_constant_items_is_finite() {
    let Some(shared) = crate::common::shared() else {
        return;
    };
    let path = shared.join("cases/csv/constant.csv");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("m.json");
    let made = tinyscope(&[
        "fit",
        path.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert!(made.status.success());
    let text = std::fs::read_to_string(&out).unwrap();
    // JSON writes numbers that are not finite as null.
    assert!(!text.contains("null"), "{text}");
}

#[test]
fn models_of_logs_are_named_by_their_results_or_folder_and_joined_by_document() {
    let Some(shared) = crate::common::shared() else {
        return;
    };
    let path = shared.join("cases/lm-eval");
    let read = |options: &[&str]| -> Value {
        let out = tinyscope(&[&["show", path.to_str().unwrap(), "--json"], options].concat());
        serde_json::from_slice(&out.stdout).unwrap()
    };
    let names = |found: &Value| -> Vec<String> {
        let models = found["models"].as_array().unwrap().iter();
        models
            .map(|m| m["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut found = names(&read(&[]));
    found.sort();
    assert_eq!(found, ["org/model-a", "org/model-b"]);
    let mut found = names(&read(&["--runs", "separate"]));
    found.sort();
    assert_eq!(
        found,
        [
            "org/model-a @2025-01-05T10-00-00.000001",
            "org/model-a @2025-02-07T09-30-00.500000",
            "org/model-b"
        ]
    );
}
