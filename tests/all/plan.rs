//! `plan`, `shift` and `sources` as a user meets them: the program is run, its streams and exit code are read.

use crate::common::{json, small, text, tinyscope};
use serde_json::Value;

/// Quick runs on the small table.
fn quick<'a>(command: &'a str, data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = [command, data, "--dims", "1", "--seeds", "2"];
    [&all[..], more].concat()
}

#[test]
fn plan_has_the_documented_form_and_one_recommendation_a_scenario() {
    let dir = tempfile::tempdir().unwrap();
    let data = small(dir.path());
    let data = data.to_str().unwrap();
    let args = quick("plan", data, &["--error", "0.06", "--json"]);
    let found = json(&args);
    assert_eq!(found["measure"], "mae");
    assert_eq!(found["split"], "iid");
    assert_eq!(found["ladder"].as_array().unwrap().last().unwrap(), 25);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3 * 3 * 7);
    for r in rows {
        let items = if r["scenario"].is_null() { 40 } else { 0 };
        let all = r["all_items"].as_u64().unwrap();
        assert!(all == 25 || all == 15 || all == items);
        if r["n"].is_null() {
            assert!(r["best_error"].as_f64().unwrap() > 0.06 && r["saved"].is_null());
        } else {
            assert!(r["best_error"].as_f64().unwrap() <= 0.06);
            let items = r["items"].as_u64().unwrap();
            assert_eq!(r["saved"].as_u64().unwrap() + items, all);
        }
    }
    let recommended = found["recommended"].as_array().unwrap();
    for r in recommended {
        let least = rows
            .iter()
            .filter(|o| o["scenario"] == r["scenario"])
            .filter_map(|o| o["n_high"].as_u64())
            .min()
            .unwrap();
        assert!(r["n_high"].as_u64().unwrap() as f64 <= 1.1 * least as f64);
    }
    let said = text(&args[..args.len() - 1]);
    assert!(said.contains("mean score: a mean absolute error of 6 % "));
    // The same bytes on any number of threads.
    let on = |threads| text(&[&args[..], &["--threads", threads]].concat());
    assert_eq!(on("1"), on("2"));
}

#[test]
fn plan_says_what_is_not_reached_and_takes_other_measures() {
    let dir = tempfile::tempdir().unwrap();
    let data = small(dir.path());
    let data = data.to_str().unwrap();
    let most = ["--most", "10", "--select", "anchors-irt"];
    let args = [&most[..], &["--error", "0.0001"]].concat();
    let said = text(&quick("plan", data, &args));
    assert!(said.contains("not reached, best 0."), "{said}");
    assert!(
        said.contains("a mean absolute error of 0.01 % is not reached; the best is"),
        "{said}"
    );
    let best = |measure| {
        let args = [&most[..], &["--measure", measure, "--json"]].concat();
        let found = json(&quick("plan", data, &args));
        found["rows"][0]["best_error"].as_f64().unwrap()
    };
    assert!(best("mae") < best("p90") && best("p90") <= best("max"));
    for wrong in [["--error", "0"], ["--error", "2"], ["--measure", "rmse"]] {
        let out = tinyscope(&quick("plan", data, &wrong));
        assert_eq!(out.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn shift_compares_the_splits_there_are_and_says_which_there_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let data = small(dir.path());
    let data = data.to_str().unwrap();
    let args = quick("shift", data, &["--n", "8", "--json"]);
    let found = json(&args);
    let skipped = found["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0]["split"], "date");
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3 * 3 * 7 * 3);
    for r in rows {
        assert_eq!(r["ratio"].is_null(), r["split"] == "iid", "{r}");
        // Of the mean score too.
        let covers = r["estimator"] == "stacked";
        assert_eq!(r["coverage"].is_null(), !covers, "{r}");
    }
    // The table's models rise in strength with their number: the best quarter is the last six.
    let top = json(&["estimate", data, "--split", "top", "--dims", "1", "--json"]);
    assert_eq!(top["split"], "top");
    let models = top["overall"]["models"].as_array().unwrap();
    assert_eq!(models.len(), 6);
    let all = json(&["show", data, "--json"]);
    let all = all["models"].as_array().unwrap();
    let least = models.iter().map(|m| m["true"].as_f64().unwrap());
    let least = least.fold(1.0, f64::min);
    let above = all.iter().filter(|m| m["mean"].as_f64().unwrap() > least);
    assert!(above.count() <= 5);
    let said = text(&args[..args.len() - 1]);
    assert!(said.contains("date: not compared, a split by date needs release dates"));
    assert!(said.contains("mean score, split iid: best with "));
    assert!(said.contains("mean score, split top: best with "));
}

#[test]
fn sources_answers_in_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let data = small(dir.path());
    let data = data.to_str().unwrap();
    let args = quick(
        "sources",
        data,
        &["--models", "6,all,400", "--n", "8", "--json"],
    );
    let found = json(&args);
    assert_eq!(found["models"], serde_json::json!([6, 18]));
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3 * 3 * 7);
    assert!(rows.iter().all(|r| r["mae"].as_array().unwrap().len() == 2));
    assert!(rows.iter().all(|r| r["enough"] == 6 || r["enough"] == 18));
    let said = text(&args[..args.len() - 1]);
    assert!(said.contains("mean score: with ") && said.contains("training models"));
    let out = tinyscope(&args);
    let warned =
        String::from_utf8_lossy(&out.stderr).into_owned() + found["warnings"].to_string().as_str();
    assert!(warned.contains("400 training models: the split leaves 18"));
    let out = tinyscope(&quick("sources", data, &["--models", "some"]));
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn anchors_of_an_older_file_stay_while_items_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let data = small(dir.path());
    let table = std::fs::read_to_string(&data).unwrap();
    // The old pool lacks the last ten items; the new one the first three.
    let cut = |from: usize, to: usize| -> String {
        let line = |l: &str| {
            let cells: Vec<&str> = l.split(',').collect();
            let kept = [&cells[..1], &cells[1 + from..1 + to]].concat();
            kept.join(",") + "\n"
        };
        table.lines().map(line).collect()
    };
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("old.csv"), cut(0, 30)).unwrap();
    std::fs::write(path("new.csv"), cut(3, 40)).unwrap();
    let common = ["--dims", "1", "--n", "8"];
    let made = |data: &str, out: &str, more: &[&str]| {
        let args = [&["anchors", data, "--out", out][..], &common, more].concat();
        text(&args)
    };
    let (old, new) = (path("old.json"), path("new.json"));
    made(&path("old.csv"), &old, &[]);
    let said = made(&path("new.csv"), &new, &["--keep", &old]);
    assert!(said.contains("kept"), "{said}");
    let read = |path: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let (before, after) = (read(&old), read(&new));
    for s in 0..2 {
        for k in 0..3 {
            let ids = |v: &Value| -> Vec<String> {
                let anchors = &v["scenarios"][s]["selections"][k]["anchors"];
                let anchors = anchors.as_array().unwrap().iter();
                anchors
                    .map(|a| a["id"].as_str().unwrap().to_owned())
                    .collect()
            };
            let (old, new) = (ids(&before), ids(&after));
            assert!(new.len() <= 8 && new.len() >= 6);
            for id in old {
                let gone = s == 0 && ["00", "01", "02"].iter().any(|i| id.ends_with(i));
                assert!(gone || new.contains(&id), "{id}");
            }
        }
    }
    // The file scores as any other; what is read is not written over.
    let shown = json(&["show", &new, "--json"]);
    assert_eq!(shown["kind"], "anchors");
    let args = ["anchors", &path("new.csv"), "--keep", &old, "--out", &old];
    assert_eq!(tinyscope(&args).status.code(), Some(1));
}

#[test]
fn show_tells_who_is_unexpectedly_right() {
    let dir = tempfile::tempdir().unwrap();
    let data = small(dir.path());
    let data = data.to_str().unwrap();
    let found = json(&["show", data, "--unexpected", "--json"]);
    assert!(found["unexpected"].as_array().unwrap().is_empty());
    // Its items are too few for any test: no all-clear.
    assert_eq!(found["unexpected_tests"], 0);
    assert!(text(&["show", data, "--unexpected"]).contains("nothing could be tested"));
    assert!(json(&["show", data, "--json"])["unexpected"].is_null());
}

#[test]
fn what_unexpected_tests_is_a_benchmark() {
    let dir = tempfile::tempdir().unwrap();
    let data = small(dir.path());
    let data = data.to_str().unwrap();
    let anchors = dir.path().join("anchors.json").to_str().unwrap().to_owned();
    text(&[
        "anchors", data, "--n", "2", "--dims", "1", "--out", &anchors,
    ]);
    let refused = tinyscope(&["show", &anchors, "--unexpected"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no benchmark"));
}

/// An older file of other selections keeps nothing of these, and one with more items more than was asked for: both are said.
#[test]
fn keep_says_what_it_could_not_do() {
    let dir = tempfile::tempdir().unwrap();
    let data = small(dir.path());
    let data = data.to_str().unwrap();
    let old = dir.path().join("old.json").to_str().unwrap().to_owned();
    let with = |more: &[&str]| {
        let all = [&["anchors", data, "--dims", "1"][..], more].concat();
        let out = tinyscope(&all);
        assert!(out.status.success());
        String::from_utf8(out.stderr).unwrap()
    };
    with(&["--n", "8", "--select", "anchors-irt", "--out", &old]);
    let said = with(&["--n", "8", "--select", "random", "--keep", &old]);
    assert!(
        said.contains("the older file holds no random items"),
        "{said}"
    );
    let said = with(&["--n", "5", "--select", "anchors-irt", "--keep", &old]);
    assert!(said.contains("more than --n 5"), "{said}");
    let out = tinyscope(&["anchors", data, "--adaptive"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("--out FILE.json"));
}
