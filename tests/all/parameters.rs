//! Item parameters from files: what is written is read, and estimates with it are those of the fit.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{done, json, said, small, tinyscope};
use proptest::prelude::*;
use serde_json::{Value, json};
use tinyscope::data::{Benchmark, SplitKind, read, split};
use tinyscope::experiment::{Fitted, Scope, Settings, fit_benchmark};
use tinyscope::export::{ModelFile, PyIrtFile, read_parameters};
use tinyscope::irt::Convention;
use tinyscope::progress::Silent;

/// The one line of a failure.
fn fails(args: &[&str]) -> String {
    let out = tinyscope(args);
    let message = said(&out);
    assert_eq!(out.status.code(), Some(1), "{args:?}: {message}");
    assert!(
        message.starts_with("tinyscope: ") && message.lines().count() == 1 && message.len() < 1500,
        "{message}"
    );
    message
}

fn at(dir: &Path, name: &str) -> String {
    dir.join(name).to_str().expect("UTF-8").to_owned()
}

fn fitted(benchmark: &Benchmark, settings: &Settings) -> Fitted {
    let split = split(benchmark, &SplitKind::Iid, 0).expect("a split");
    fit_benchmark(benchmark, &split, settings, &Silent).expect("a fit")
}

#[test]
fn a_written_fit_predicts_the_same_in_either_convention() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = read::benchmark(&small(dir.path()), &read::ReadOptions::default()).unwrap();
    for (dims, scope) in [(1, Scope::Joint), (2, Scope::Joint), (3, Scope::Scenario)] {
        let settings = Settings {
            dims: vec![dims],
            scope,
            scenarios: if scope == Scope::Joint {
                vec![]
            } else {
                vec![1]
            },
            ..Settings::default()
        };
        let fitted = fitted(&benchmark, &settings);
        let fit = &fitted.scenarios[0].fit;
        for convention in [Convention::RepeatedIntercept, Convention::Centred] {
            let path = dir
                .path()
                .join(format!("{dims}-{}.json.gz", convention.name()));
            let file = PyIrtFile::of(&benchmark, &fitted, convention).unwrap();
            assert_eq!(file.item_ids.len(), fit.items.len());
            file.write(&path).unwrap();
            let imported = read_parameters(&path, None).unwrap();
            let items = &imported.sets[0].items;
            assert_eq!((items.dims(), items.convention()), (dims, convention));
            for l in 0..fit.abilities.len() {
                let theta = fit.abilities.mean(l);
                let pairs = fit.items.probabilities_at(theta).into_iter();
                for (p, q) in pairs.zip(items.probabilities_at(theta)) {
                    assert!((p - q).abs() < 1e-12, "{convention:?} {p} {q}");
                }
            }
            let given = Settings {
                parameters: Some(imported.into()),
                ..settings.clone()
            };
            let again = self::fitted(&benchmark, &given);
            let back = &again.scenarios[0].fit;
            for i in 0..fit.items.len() {
                assert!((fit.items.intercept(i) - back.items.intercept(i)).abs() < 1e-9);
            }
            assert!(back.evidence.is_empty() && back.converged);
        }
        // The model file keeps everything, so only the last sweep of the abilities differs.
        let path = dir.path().join("model.json");
        ModelFile::of(&benchmark, &fitted, &settings)
            .write(&path)
            .unwrap();
        let given = Settings {
            parameters: Some(read_parameters(&path, None).unwrap().into()),
            ..settings.clone()
        };
        let again = self::fitted(&benchmark, &given);
        for (one, other) in fitted.scenarios.iter().zip(&again.scenarios) {
            assert_eq!(one.items(), other.items());
            assert_eq!((one.b, one.s2), (other.b, other.s2));
            assert_eq!(one.fit.ability_prior, other.fit.ability_prior);
            for l in 0..fit.abilities.len() {
                let moved = one
                    .fit
                    .abilities
                    .mean(l)
                    .iter()
                    .zip(other.fit.abilities.mean(l));
                moved.for_each(|(a, b)| assert!((a - b).abs() < 0.05, "{a} {b}"));
            }
        }
    }
}

#[test]
fn estimates_with_the_models_own_file_are_those_of_the_fit() {
    let dir = tempfile::tempdir().unwrap();
    let data = at(dir.path(), "small.csv");
    small(dir.path());
    for extra in [
        &[][..],
        &["--theta", "joint"],
        &["--responses", "binary"],
        &["--ability", "ml"],
    ] {
        let file = at(dir.path(), "model.json");
        let mut fit = vec!["fit", &data, "--split", "iid", "--out", &file];
        fit.extend(extra);
        done(&fit);
        let mut plain = vec!["estimate", &data, "--json", "--n", "8"];
        plain.extend(extra);
        let mut given = plain.clone();
        given.extend(["--parameters", &file]);
        let (plain, given) = (json(&plain), json(&given));
        assert_eq!(plain["overall"], given["overall"], "{extra:?}");
        let warnings = given["warnings"].to_string();
        assert!(warnings.contains("instead of a fit"), "{warnings}");
        assert!(!warnings.contains("optimistic"), "{warnings}");
    }
}

#[test]
fn every_subcommand_takes_parameters() {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let data = at(dir.path(), "small.csv");
    let (py, native, again) = (
        at(dir.path(), "best.json"),
        at(dir.path(), "model.json"),
        at(dir.path(), "again.json"),
    );
    let joint = ["--theta", "joint"];
    let mut args = vec!["fit", &data, "--format", "py-irt", "--out", &py];
    args.extend(joint);
    done(&args);
    let file: Value = serde_json::from_slice(&fs::read(&py).unwrap()).unwrap();
    assert_eq!(file["convention"], "fork");
    assert_eq!(file["irt_model"], "multidim_2pl");
    assert_eq!(file["item_ids"]["39"], "reading/39");
    assert_eq!(file["subject_ids"]["0"], "org0_model-00");
    let lengths = ["ability", "diff", "disc"].map(|key| file[key].as_array().unwrap().len());
    assert_eq!(lengths, [24, 40, 40]);
    assert_eq!(file["diff"][0].as_array().unwrap().len(), 1);

    // It was fitted on all models, so it has seen the test models.
    let out = done(&["estimate", &data, "--parameters", &py, "--n", "8"]);
    let warnings = said(&out);
    assert!(
        warnings.contains("convention fork (named in the file)"),
        "{warnings}"
    );
    assert!(
        warnings.contains("fitted on 6 of the 6 test models: org"),
        "{warnings}"
    );
    assert!(
        warnings.contains("b is measured on training models"),
        "{warnings}"
    );
    done(&[
        "sweep",
        &data,
        "--parameters",
        &py,
        "--n",
        "5",
        "--seeds",
        "2",
    ]);
    done(&[
        "anchors",
        &data,
        "--parameters",
        &py,
        "--n",
        "5",
        "--out",
        &again,
    ]);
    // An anchors file has parameters too.
    done(&["estimate", &data, "--parameters", &again, "--n", "5"]);
    done(&["fit", &data, "--parameters", &py, "--out", &native]);
    let upstream = at(dir.path(), "up.json");
    let mut args = vec!["fit", &data, "--parameters", &py, "--out", &upstream];
    args.extend(["--format", "py-irt", "--convention", "upstream"]);
    args.extend(joint);
    done(&args);
    let one = json(&[
        "estimate",
        &data,
        "--parameters",
        &py,
        "--n",
        "40",
        "--json",
    ]);
    for other in [&native, &upstream] {
        let other = json(&[
            "estimate",
            &data,
            "--parameters",
            other,
            "--n",
            "40",
            "--json",
        ]);
        let score = |v: &Value| {
            let row = &v["scenarios"][0]["rows"][1];
            assert_eq!(row["estimator"], "p-irt");
            row["mae"].as_f64().unwrap()
        };
        assert!((score(&one) - score(&other)).abs() < 1e-3);
    }
    let screen = at(dir.path(), "data.txt");
    let mut args = vec![
        "render",
        "data",
        &data,
        "--parameters",
        &py,
        "--out",
        &screen,
    ];
    args.extend(["--width", "300", "--height", "200", "--theta", "joint"]);
    done(&args);
    let screen = fs::read_to_string(&screen).unwrap();
    assert!(screen.contains("that of the given parameters"), "{screen}");
    assert!(screen.contains("fitted on 6 of the 6"), "{screen}");
}

#[test]
fn show_says_what_a_file_of_parameters_holds() {
    let dir = tempfile::tempdir().expect("a folder");
    let (data, file) = (small(dir.path()), at(dir.path(), "best_parameters.json"));
    let data = data.to_str().expect("UTF-8");
    done(&[
        "fit",
        data,
        "--scenario",
        "reading",
        "--dims",
        "2",
        "--format",
        "py-irt",
        "--out",
        &file,
    ]);
    let shown = String::from_utf8(done(&["show", &file]).stdout).expect("UTF-8");
    assert!(
        shown.contains("fork") && shown.contains("15 items, D 2, 24 models"),
        "{shown}"
    );
    let found = json(&["show", &file, "--json"]);
    assert_eq!(found["kind"], "parameters");
    assert_eq!(found["sets"][0]["items"], 15);
}

#[test]
fn wrong_use_is_said() {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let data = at(dir.path(), "small.csv");
    let out = at(dir.path(), "out.json");
    let message = fails(&["fit", &data, "--format", "py-irt", "--out", &out]);
    assert!(
        message.contains("--scenario") && message.contains("--theta joint"),
        "{message}"
    );
    assert!(!Path::new(&out).exists());
    done(&["fit", &data, "--out", &out]);
    let message = fails(&["estimate", &data, "--parameters", &out, "--theta", "joint"]);
    assert!(message.contains("fitted apart"), "{message}");
    let message = fails(&["fit", &data, "--parameters", &out, "--out", &out]);
    assert!(message.contains("would replace"), "{message}");
    let message = fails(&[
        "estimate",
        &data,
        "--parameters",
        &out,
        "--convention",
        "fork",
    ]);
    assert!(message.contains("leave --convention out"), "{message}");
    let message = fails(&["estimate", &data, "--convention", "fork"]);
    assert!(message.contains("--parameters"), "{message}");
    for args in [
        vec!["estimate", &data, "--parameters", &out, "--dims", "2"],
        vec![
            "estimate",
            &data,
            "--parameters",
            &out,
            "--convention",
            "sideways",
        ],
        vec!["fit", &data, "--format", "py-irt"],
    ] {
        assert_eq!(tinyscope(&args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn items_are_joined_by_id_or_counted() {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let data = at(dir.path(), "small.csv");
    let path = at(dir.path(), "best.json");
    let mut args = vec!["fit", &data, "--theta", "joint", "--split", "iid"];
    args.extend(["--dims", "2", "--format", "py-irt", "--out", &path]);
    done(&args);
    let file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let estimate = |file: &Value, extra: &[&str]| {
        fs::write(&path, file.to_string()).unwrap();
        let mut args = vec![
            "estimate",
            &data,
            "--parameters",
            &path,
            "--n",
            "8",
            "--json",
        ];
        args.extend(extra);
        tinyscope(&args)
    };
    let value = |out: &Output| -> Value { serde_json::from_slice(&out.stdout).expect("JSON") };
    let by_id = value(&estimate(&file, &[]));
    assert!(!by_id["warnings"].to_string().contains("optimistic"));
    let with_ids = |id: &dyn Fn(usize) -> String| {
        let mut file = file.clone();
        file["item_ids"] = (0..40)
            .map(|i| (i.to_string(), json!(id(i))))
            .collect::<serde_json::Map<_, _>>()
            .into();
        file
    };
    // The tutorials' q0, q1, ... and no ids at all count the items.
    let mut none = file.clone();
    none.as_object_mut().unwrap().remove("item_ids");
    for positions in [with_ids(&|i| format!("q{i}")), none] {
        let found = value(&estimate(&positions, &[]));
        assert_eq!(found["overall"], by_id["overall"]);
        assert!(found["warnings"].to_string().contains("joined by position"));
    }
    let mut short = with_ids(&|i| format!("q{i}"));
    short["diff"].as_array_mut().unwrap().pop();
    short["disc"].as_array_mut().unwrap().pop();
    short["item_ids"].as_object_mut().unwrap().remove("39");
    let message = said(&estimate(&short, &[]));
    assert!(
        message.contains(
            "39 items without ids of the data; scenario \"arithmetic\" has 25, the data have 40"
        ),
        "{message}"
    );

    let near = with_ids(&|i| format!("{}__{i:02}", if i < 25 { "arithmetic" } else { "reading" }));
    let message = said(&estimate(&near, &[]));
    assert!(
        message.contains("no parameters for 25 of the 25 items")
            && message.contains("did you mean its \"arithmetic__00\""),
        "{message}"
    );
    let far = with_ids(&|i| format!("geography, question {i}"));
    assert!(said(&estimate(&far, &[])).contains("named like \"geography, question 0\""));
    // Some lacking: an error where they are needed; what the data lack is counted.
    let some = with_ids(&|i| match i {
        30 => "reading/thirty".into(),
        _ => format!("{}/{i:02}", if i < 25 { "arithmetic" } else { "reading" }),
    });
    assert!(
        said(&estimate(&some, &[]))
            .contains("no parameters for 1 of the 15 items of scenario \"reading\": reading/30")
    );
    let found = value(&estimate(&some, &["--scenario", "arithmetic"]));
    assert!(
        found["warnings"]
            .to_string()
            .contains("parameters of 1 item that the data lack are left out: reading/thirty")
    );

    let mut unnamed = file.clone();
    unnamed.as_object_mut().unwrap().remove("subject_ids");
    let found = value(&estimate(&unnamed, &[]));
    assert!(
        found["warnings"]
            .to_string()
            .contains("does not name the models")
    );
}

#[test]
fn bad_files_are_placed() {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let data = at(dir.path(), "small.csv");
    let path = at(dir.path(), "bad.json");
    for (text, words) in [
        ("", "no item parameters"),
        ("{}", "no \"diff\""),
        ("[]", "no item parameters"),
        ("model,a\nx,1\n", "no item parameters"),
        (
            "{\"diff\": [[1]],\n \"disc\": [[1, x]]}",
            "line 2, column 15",
        ),
        (
            "{\"benchmark\": \"x\", \"matrix\": \"x.csv\", \"scenarios\": {}}",
            "a manifest",
        ),
        ("{\"tinyscope\": \"model\"}", "not a model file"),
        (
            "{\"tinyscope\": \"anchors\", \"version\": 1}",
            "not an anchors file",
        ),
        ("{\"tinyscope\": \"novel\"}", "of the kind \"novel\""),
        (
            "{\"diff\": [[NaN]], \"disc\": [[1, 2]]}",
            "diff of number 0 is NaN",
        ),
        (
            "{\"diff\": [[1], [2]], \"disc\": [[1, 2], [3]]}",
            "disc of number 1",
        ),
        ("{\"diff\": [[]], \"disc\": [[]]}", "D = 0"),
        ("{\"diff\": [[1]], \"disc\": [[1]]}", "--convention"),
    ] {
        fs::write(&path, text).unwrap();
        let message = fails(&["estimate", &data, "--parameters", &path]);
        assert!(
            message.contains(words) && message.contains("bad.json"),
            "{words}: {message}"
        );
    }
    fs::write(&path, format!("{{\"x\": {}", "[".repeat(1_000_000))).unwrap();
    assert!(fails(&["estimate", &data, "--parameters", &path]).contains("line 1, column"));
    let deep = [
        b"{\"diff\": ".to_vec(),
        vec![b'['; 1_000_000],
        vec![b']'; 1_000_000],
        b"}".to_vec(),
    ];
    fs::write(&path, deep.concat()).unwrap();
    assert!(fails(&["estimate", &data, "--parameters", &path]).contains("recursion"));
    let message = fails(&["estimate", &data, "--parameters", "none.json"]);
    assert!(message.contains("none.json"), "{message}");
}

#[test]
fn published_pickles_are_joined_by_scenario_and_number() {
    let Some(shared) = crate::common::shared() else {
        return;
    };
    let pickle = shared.join("cases/pickle/tinyBenchmarks-small.pkl");
    let pickle = pickle.to_str().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let data = at(dir.path(), "table.csv");
    // 40 items of mmlu, as many as the pickle has.
    let mut text = String::from("model");
    (0..40).for_each(|i| text += &format!(",question {i}"));
    for m in 0..12 {
        text += &format!("\nm{m}");
        (0..40).for_each(|i| text += if (i * 7 + m * 5) % 11 < m { ",1" } else { ",0" });
    }
    fs::write(&data, text + "\n").unwrap();
    let manifest = at(dir.path(), "table.json");
    let scenarios =
        json!({"benchmark": "t", "matrix": "table.csv", "scenarios": {"mmlu": {"all": [0, 40]}}});
    fs::write(&manifest, scenarios.to_string()).unwrap();
    let found = json(&[
        "estimate",
        &manifest,
        "--parameters",
        pickle,
        "--n",
        "10",
        "--json",
    ]);
    let warnings = found["warnings"].to_string();
    assert!(
        warnings.contains("convention fork") && warnings.contains("joined by position"),
        "{warnings}"
    );
    assert_eq!(found["scenarios"][0]["dims"], 3);
    let scenarios =
        json!({"benchmark": "t", "matrix": "table.csv", "scenarios": {"mmlu": {"all": [0, 39]}}});
    fs::write(&manifest, scenarios.to_string()).unwrap();
    let message = fails(&["estimate", &manifest, "--parameters", pickle]);
    assert!(message.contains("mmlu (40 items)"), "{message}");
}

/// On real data: the model file of the same split gives the same errors as the fit.
#[test]
fn real_estimates_stay_what_they_were() {
    let Some(shared) = crate::common::shared() else {
        return;
    };
    let data = shared.join("data/helm-lite.json");
    let data = data.to_str().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = at(dir.path(), "model.json");
    let of = ["--scenario", "mmlu", "--split", "iid"];
    let mut args = vec!["fit", data, "--dims", "2", "--out", &file];
    args.extend(of);
    done(&args);
    let mut plain = vec!["estimate", data, "--json"];
    plain.extend(of);
    let mut given = plain.clone();
    plain.extend(["--dims", "2"]);
    given.extend(["--parameters", &file]);
    assert_eq!(json(&plain)["overall"], json(&given)["overall"]);
}

/// The text with a stretch of `len` bytes at a share of its length replaced.
fn mutated(text: &[u8], share: f64, len: usize, with: &[u8]) -> Vec<u8> {
    let from = (share * text.len() as f64) as usize;
    let to = (from + len).min(text.len());
    [&text[..from], with, &text[to..]].concat()
}

#[test]
fn mutated_files_end_well() {
    let dir = tempfile::tempdir().unwrap();
    let benchmark = read::benchmark(&small(dir.path()), &read::ReadOptions::default()).unwrap();
    let settings = Settings {
        dims: vec![2],
        scope: Scope::Joint,
        ..Settings::default()
    };
    let fitted = fitted(&benchmark, &settings);
    let path = dir.path().join("file.json");
    let mut texts = Vec::new();
    ModelFile::of(&benchmark, &fitted, &settings)
        .write(&path)
        .unwrap();
    texts.push(fs::read(&path).unwrap());
    PyIrtFile::of(&benchmark, &fitted, Convention::RepeatedIntercept)
        .unwrap()
        .write(&path)
        .unwrap();
    texts.push(fs::read(&path).unwrap());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    let with = prop::collection::vec(
        prop::sample::select(&b"[]{}\",:0123456789.eNa-\x80"[..]),
        0..4,
    );
    runner
        .run(
            &(0usize..2, 0.0..1.0f64, 0usize..40, with),
            |(which, share, len, with)| {
                fs::write(&path, mutated(&texts[which], share, len, &with)).unwrap();
                match read_parameters(&path, None) {
                    Ok(found) => {
                        let given = Settings {
                            parameters: Some(found.into()),
                            ..settings.clone()
                        };
                        let split = split(&benchmark, &SplitKind::Iid, 0).unwrap();
                        if let Ok(fitted) = fit_benchmark(&benchmark, &split, &given, &Silent) {
                            let fit = &fitted.scenarios[0].fit;
                            prop_assert!(fit.abilities.mean(0).iter().all(|t| t.is_finite()));
                        }
                    }
                    Err(e) => {
                        let message = e.to_string();
                        prop_assert!(
                            message.contains("file.json") && message.len() < 1500,
                            "{}",
                            message
                        );
                    }
                }
                Ok(())
            },
        )
        .unwrap();
}
