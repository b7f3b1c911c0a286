//! Learned estimators, intervals, ranks and comparisons on the command line.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use crate::common::{small, tinyscope_in};
use serde_json::{Map, Value, json};

fn done(folder: &Path, args: &[&str]) -> String {
    let out = tinyscope_in(folder, args);
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
    let out = tinyscope_in(at, &["compare", "small.csv", best, worst]);
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
    let out = tinyscope_in(at, &["compare", "old.json", best, worst]);
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

/// 100 models of spread abilities on 90 items.
fn many(folder: &Path) -> Vec<Map<String, Value>> {
    let mut state = 99u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let ids: Vec<String> = (0..90).map(|i| format!("i{i:02}")).collect();
    let mut table = format!("model,{}\n", ids.join(","));
    let mut rows = Vec::new();
    for m in 0..100 {
        let (first, second) = (4.0 * next() - 2.0, 4.0 * next() - 2.0);
        let mut row = Map::new();
        for (i, id) in ids.iter().enumerate() {
            let ability = if i % 3 == 0 { second } else { first };
            let logit = ability - (i as f64 % 11.0 - 5.0) / 2.5;
            let right = next() < 1.0 / (1.0 + (-logit).exp());
            row.insert(id.clone(), json!(u8::from(right)));
        }
        let cells: Vec<String> = row.values().map(Value::to_string).collect();
        table += &format!("m{m:02},{}\n", cells.join(","));
        rows.push(row);
    }
    fs::write(folder.join("many.csv"), table).expect("written");
    rows
}

/// Ids of the chosen items of an anchors file's first selection.
fn chosen(file: &Path) -> Vec<String> {
    let file: Value =
        serde_json::from_str(&fs::read_to_string(file).expect("readable")).expect("JSON");
    let anchors = &file["scenarios"][0]["selections"][0]["anchors"];
    let ids = anchors.as_array().expect("anchors").iter();
    ids.map(|a| a["id"].as_str().expect("an id").to_owned())
        .collect()
}

fn ends(interval: &Value) -> [f64; 2] {
    [0, 1].map(|k| interval[k].as_f64().expect("a number"))
}

/// The answers of a model on some items, as a file.
fn give(folder: &Path, name: &str, row: &Map<String, Value>, ids: &[String]) {
    let answers: Map<String, Value> = ids.iter().map(|id| (id.clone(), row[id].clone())).collect();
    fs::write(folder.join(name), json!(answers).to_string()).expect("written");
}

fn warnings(found: &Value) -> Vec<&str> {
    let all = found["warnings"].as_array().expect("warnings").iter();
    all.map(|w| w.as_str().expect("a text")).collect()
}

/// Where some of the chosen items are answered, intervals hold as many true scores as where all are, whichever are missing,
/// and hold every estimate.
#[test]
fn intervals_cover_where_some_chosen_items_are_unanswered() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let rows = many(at);
    let args = [
        "--dims",
        "2",
        "--n",
        "20",
        "--split",
        "iid",
        "--select",
        "anchors-irt",
    ];
    let estimated = parsed(
        at,
        &[&["estimate", "many.csv", "--json"], &args[..]].concat(),
    );
    done(
        at,
        &[&["anchors", "many.csv", "--out", "a.json"], &args[..]].concat(),
    );
    let anchors = chosen(&at.join("a.json"));
    let test = estimated["scenarios"][0]["models"]
        .as_array()
        .expect("models");
    assert_eq!(test.len(), 25);
    let mut covered: HashMap<String, usize> = HashMap::new();
    let mut cases = 0;
    for model in test {
        let name = model["name"].as_str().expect("a name");
        let row = &rows[name[1..].parse::<usize>().expect("a number")];
        let truth = model["true"].as_f64().expect("a score");
        let of = |kept: &dyn Fn(usize, &str) -> bool| {
            let kept = anchors.iter().enumerate().filter(|(k, id)| kept(*k, id));
            let answers: Map<String, Value> =
                kept.map(|(_, id)| (id.clone(), row[id].clone())).collect();
            (answers.len() > 1).then(|| {
                fs::write(at.join("x.json"), json!(answers).to_string()).expect("written");
                parsed(at, &["score", "a.json", "x.json", "--json"])
            })
        };
        let whole = of(&|_, _| true).expect("all were answered");
        // Some at random; those that were right, as where wrong ones were not written down.
        let some = [
            of(&|k, _| k % 2 == 0),
            of(&|k, _| k < 4),
            of(&|_, id| row[id] == 1),
            of(&|_, id| row[id] == 0),
        ];
        for found in some.iter().flatten() {
            cases += 1;
            let s = &found["scenarios"][0];
            for (key, interval) in s["intervals"].as_object().expect("intervals") {
                let [low, high] = ends(interval);
                let estimate = s["estimates"][key].as_f64().expect("a number");
                let estimate = estimate.clamp(0.0, 1.0);
                assert!(low <= estimate && estimate <= high, "{name}: {key}");
                let [least, most] = ends(&whole["scenarios"][0]["intervals"][key]);
                assert!(
                    low <= least + 1e-9 && most <= high + 1e-9,
                    "{name}: {key}: {low} - {high} does not hold {least} - {most}"
                );
                if (low..=high).contains(&truth) {
                    *covered.entry(key.clone()).or_default() += 1;
                }
            }
        }
        let warned = some.iter().flatten().all(|found| {
            let warnings = found["warnings"].as_array().expect("warnings");
            let said = warnings.iter().filter(|w| {
                let w = w.as_str().expect("a text");
                w.contains("of the 20 chosen items") && w.contains("intervals")
            });
            said.count() == 1
        });
        assert!(warned, "{name}");
    }
    assert!(cases > 90 && covered.len() == 7);
    for (key, held) in covered {
        assert!(10 * held >= 9 * cases, "{key}: {held} of {cases}");
    }
}

const CHOICE: [&str; 6] = ["--dims", "2", "--n", "20", "--select", "anchors-irt"];

/// `anchors many.csv` with the first `models` of its lines.
fn anchors_of(folder: &Path, models: usize, out: &str) {
    let table = fs::read_to_string(folder.join("many.csv")).expect("readable");
    let lines: Vec<&str> = table.lines().take(models + 1).collect();
    fs::write(folder.join("few.csv"), lines.join("\n") + "\n").expect("written");
    done(
        folder,
        &[&["anchors", "few.csv", "--out", out], &CHOICE[..]].concat(),
    );
}

#[test]
fn a_difference_covers_what_either_model_may_have_answered() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let rows = many(at);
    anchors_of(at, 70, "a.json");
    let ids = chosen(&at.join("a.json"));
    let scale = |row: &Map<String, Value>| -> f64 {
        let sum: f64 = row.values().filter_map(Value::as_f64).sum();
        sum / row.len() as f64
    };
    let (mut pairs, mut held) = (0, 0);
    for (k, pair) in rows[70..].chunks(2).enumerate() {
        let [a, b] = pair else { continue };
        let truth = scale(a) - scale(b);
        give(at, "whole-a.json", a, &ids);
        give(at, "whole-b.json", b, &ids);
        // One model's answers end early, the other's begin late.
        give(at, "a-part.json", a, &ids[..8 + k % 12]);
        give(at, "b-part.json", b, &ids[k % 9..]);
        let compare =
            |x: &str, y: &str| parsed(at, &["compare", "a.json", x, y, "--json"])["rows"].clone();
        let whole = compare("whole-a.json", "whole-b.json");
        let part = compare("a-part.json", "b-part.json");
        let both = whole
            .as_array()
            .expect("rows")
            .iter()
            .zip(part.as_array().expect("rows"));
        for (whole, part) in both {
            let [low, high] = ends(&part["interval"]);
            let [least, most] = ends(&whole["interval"]);
            let d = part["difference"].as_f64().expect("a number");
            assert!(low <= d && d <= high, "{part}");
            assert!(
                low <= least + 1e-9 && most <= high + 1e-9,
                "{part}\n{whole}"
            );
            assert!(-1.0 <= low && high <= 1.0);
            // What is not told apart is not nearly sure either.
            let sure = (part["first_is_better"].as_f64().expect("a share") - 0.5).abs();
            let before = (whole["first_is_better"].as_f64().expect("a share") - 0.5).abs();
            assert!(sure <= before + 1e-9, "{part}\n{whole}");
            pairs += 1;
            held += usize::from((low..=high).contains(&truth));
        }
    }
    assert!(10 * held >= 9 * pairs, "{held} of {pairs}");
}

#[test]
fn intervals_take_nine_training_models_and_differences_twelve() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let rows = many(at);
    for models in [2, 6, 8, 9, 12] {
        anchors_of(at, models, "a.json");
        let ids = chosen(&at.join("a.json"));
        give(at, "x.json", &rows[50], &ids);
        give(at, "y.json", &rows[51], &ids);
        let found = parsed(at, &["score", "a.json", "x.json", "--json"]);
        let intervals = found["scenarios"][0]["intervals"].as_object();
        let of = |text: &str, found: &Value| {
            let said = warnings(found).iter().filter(|w| w.contains(text)).count();
            assert!(said <= 1, "{found}");
            said == 1
        };
        let few = format!("fewer than 9 training models tell how large errors are: few ({models})");
        assert_eq!(intervals.expect("by key").is_empty(), models < 9, "{found}");
        assert_eq!(of(&few, &found), models < 9, "{models}: {found}");
        let found = parsed(at, &["compare", "a.json", "x.json", "y.json", "--json"]);
        assert_eq!(of(&few, &found), models < 9, "{models}: {found}");
        assert_eq!(of("it takes 12 models", &found), models == 9, "{found}");
        for row in found["rows"].as_array().expect("rows") {
            assert!(row["difference"].is_f64());
            for key in ["interval", "resolvable", "first_is_better"] {
                assert_eq!(row[key].is_null(), models < 12, "{row}");
            }
        }
        assert_eq!(found["verdict"].is_null(), models < 12);
        done(at, &["compare", "a.json", "x.json", "y.json"]);
        let said = done(at, &["score", "a.json", "x.json"]);
        assert_eq!(said.contains("stacked"), models > 2, "{said}");
    }
    // Of 8 models 6 train, of 12 nine.
    for (models, few) in [(8, true), (12, false)] {
        anchors_of(at, models, "a.json");
        let args = [&["estimate", "few.csv", "--json"], &CHOICE[..]].concat();
        let found = parsed(at, &args);
        let said = warnings(&found);
        let said = said.iter().filter(|w| w.contains("fewer than 9 training"));
        assert_eq!(said.count(), usize::from(few), "{found}");
        for row in found["scenarios"][0]["rows"].as_array().expect("rows") {
            assert_eq!(row["half_width"].is_null(), few, "{row}");
        }
    }
}

#[test]
fn training_models_without_an_error_tell_no_interval() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let mut table = String::from("model,a,b,c,d,e,f\n");
    for m in 0..20 {
        table += &format!("m{m},1,0,1,0,1,0\n");
    }
    fs::write(at.join("same.csv"), table).expect("written");
    done(
        at,
        &[
            "anchors", "same.csv", "--n", "6", "--dims", "1", "--out", "a.json",
        ],
    );
    fs::write(
        at.join("x.json"),
        r#"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":0}"#,
    )
    .expect("written");
    let found = parsed(at, &["score", "a.json", "x.json", "--json"]);
    let intervals = found["scenarios"][0]["intervals"]
        .as_object()
        .expect("by key");
    for (key, interval) in intervals {
        let [low, high] = ends(interval);
        assert!(high > low, "{key}: {low} - {high}");
    }
    assert!(!intervals.contains_key("random/naive"));
    let said = warnings(&found);
    let said = said.iter().filter(|w| w.contains("have no error at all"));
    assert_eq!(said.count(), 1, "{found}");
}

#[test]
fn compare_takes_two_models_of_one_file_and_says_what_it_rests_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let rows = many(at);
    anchors_of(at, 60, "a.json");
    let ids = chosen(&at.join("a.json"));
    // The best and the worst of those left, by name m60 to m99.
    let sum = |k: usize| -> u64 { rows[k].values().filter_map(Value::as_u64).sum() };
    let best = (60..100).max_by_key(|&k| sum(k)).expect("a model");
    let worst = (60..100).min_by_key(|&k| sum(k)).expect("a model");
    let (best, worst) = (format!("m{best}"), format!("m{worst}"));
    let found = parsed(
        at,
        &[
            "compare", "a.json", "many.csv", "--model", &best, "--model", &worst, "--json",
        ],
    );
    assert_eq!(found["models"], json!([best, worst]));
    let verdict = &found["verdict"];
    assert_eq!(verdict["better"], "first");
    assert_eq!(verdict["selection"], "anchors-irt");
    assert_eq!(verdict["estimator"], "stacked");
    let text = verdict["text"].as_str().expect("a text");
    let says = format!(
        "By the stacked estimate of few from anchors-irt: {best} is better than {worst} by"
    );
    assert!(text.starts_with(&says), "{text}");
    let said = done(
        at,
        &[
            "compare", "a.json", "many.csv", "--model", &best, "--model", &worst,
        ],
    );
    assert!(
        said.contains(&format!("P({best} better)")) && !said.contains(" better\n"),
        "{said}"
    );
    assert!(
        said.contains("resolves: the smallest difference") && said.contains(text),
        "{said}"
    );
    assert!(
        !said.contains("mean score") && !said.contains("100 %"),
        "{said}"
    );
    // Warnings of both, each with the model it is of.
    let said = warnings(&found);
    for name in [&best, &worst] {
        let of = said.iter().filter(|w| w.starts_with(&format!("{name}: ")));
        let of: Vec<_> = of.filter(|w| w.contains("not chosen, ignored")).collect();
        assert_eq!(of.len(), 1, "{found}");
    }
    // A name goes to the file that has several models; files of one name are told apart.
    fs::create_dir(at.join("other")).expect("a folder");
    give(at, "r.json", &rows[70], &ids[1..]);
    give(&at.join("other"), "r.json", &rows[71], &ids);
    let found = parsed(
        at,
        &["compare", "a.json", "r.json", "other/r.json", "--json"],
    );
    assert_eq!(found["models"], json!(["r.json", "other/r.json"]));
    assert!(
        warnings(&found)[0].starts_with("r.json: 19 of the 20 chosen items"),
        "{found}"
    );
    for [first, second] in [["r.json", "many.csv"], ["many.csv", "r.json"]] {
        let args = [
            "compare", "a.json", first, second, "--model", "m80", "--json",
        ];
        let names = parsed(at, &args)["models"].clone();
        assert!(names == json!(["m80", "r"]) || names == json!(["r", "m80"]));
    }
    for (args, code, says) in [
        (&["many.csv"][..], 2, "required"),
        (&["many.csv", "--model", "m01"], 1, "--model twice"),
        (
            &["many.csv", "--model", "m01", "--model", "m01"],
            1,
            "twice",
        ),
        (
            &["many.csv", "--model", "m01", "--model", "m01x"],
            1,
            "did you mean",
        ),
        (&["many.csv", "r.json"], 1, "--model names one"),
        (
            &["many.csv", "many.csv", "--model", "m01"],
            1,
            "--model names one",
        ),
        (
            &["r.json", "other/r.json", "--model", "m01"],
            1,
            "leave out --model",
        ),
        (
            &["r.json", "--model", "m1", "--model", "m2"],
            1,
            "without a name",
        ),
        (
            &[
                "many.csv", "r.json", "--model", "a", "--model", "b", "--model", "c",
            ],
            1,
            "two are compared",
        ),
    ] {
        let out = tinyscope_in(at, &[&["compare", "a.json"], args].concat());
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
    }
}

#[test]
fn a_model_beyond_the_training_models_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let rows = many(at);
    anchors_of(at, 60, "a.json");
    let file: Value =
        serde_json::from_str(&fs::read_to_string(at.join("a.json")).expect("read")).expect("JSON");
    let [low, high] = ends(&file["scenarios"][0]["training_scores"]);
    let truth = rows[..60].iter().map(|row| {
        let sum: f64 = row.values().filter_map(Value::as_f64).sum();
        sum / 90.0
    });
    let truth: Vec<f64> = truth.collect();
    let end = |f: fn(f64, f64) -> f64| truth.iter().copied().reduce(f).expect("a score");
    assert!((low - end(f64::min)).abs() < 1e-12 && (high - end(f64::max)).abs() < 1e-12);
    let ids = chosen(&at.join("a.json"));
    let all =
        |y: u8| -> Map<String, Value> { ids.iter().map(|id| (id.clone(), json!(y))).collect() };
    give(at, "right.json", &all(1), &ids);
    give(at, "wrong.json", &all(0), &ids);
    let middle = (60..100).min_by_key(|&k| {
        let sum: u64 = rows[k].values().filter_map(Value::as_u64).sum();
        sum.abs_diff(45)
    });
    give(at, "middle.json", &rows[middle.expect("a model")], &ids);
    let beyond = |file: &str| {
        let found = parsed(at, &["score", "a.json", file, "--json"]);
        let said = warnings(&found);
        let said = said
            .iter()
            .filter(|w| w.contains("training model's true score"));
        said.map(|w| (*w).to_owned()).collect::<Vec<String>>()
    };
    assert!(beyond("right.json")[0].contains("naive of anchors-irt is 1.0000, above the best"));
    assert!(beyond("wrong.json")[0].contains("naive of anchors-irt is 0.0000, below the worst"));
    assert!(beyond("middle.json").is_empty());
    let args = ["compare", "a.json", "right.json", "middle.json", "--json"];
    let found = parsed(at, &args);
    assert!(
        warnings(&found)[0].starts_with("right: few: naive of"),
        "{found}"
    );
    // A file from before still scores.
    let mut old = file.clone();
    let scenario = old["scenarios"][0].as_object_mut().expect("an object");
    scenario.remove("training_scores");
    fs::write(at.join("a.json"), old.to_string()).expect("written");
    assert!(beyond("right.json").is_empty());
}
