//! Data sets of many files: laid out as the readers take them, complete or said not to be.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::server::{Answer, Server};
use super::{command, fetch, files, said};

const LEADERBOARD: &str = "/tatsu-lab/alpaca_eval/main/src/alpaca_eval/leaderboards/data_AlpacaEval_2/weighted_alpaca_eval_gpt4_turbo_leaderboard.csv";
const RELEASE: &str =
    "/crfm-helm-public/lite/benchmark_output/releases/v1.13.0/runs_to_run_suites.json";
const RUNS: &str = "/crfm-helm-public/lite/benchmark_output/runs";

/// A source of paths and their content; every other path is missing.
fn source(files: BTreeMap<String, String>) -> Server {
    Server::start(move |asked, _| match files.get(&asked.path) {
        Some(text) => Answer::ok(text.as_bytes()),
        None => Answer::missing(),
    })
}

fn annotations_of(model: &str) -> (String, String) {
    let rows: Vec<String> = (0..6)
        .map(|i| {
            format!(
                "{{\"instruction\": \"Question {i}?\", \"generator_2\": \"{model}\", \"preference\": 1.{i}}}"
            )
        })
        .collect();
    let path = format!(
        "/tatsu-lab/alpaca_eval/main/results/{model}/weighted_alpaca_eval_gpt4_turbo/annotations.json"
    );
    (path, format!("[{}]", rows.join(", ")))
}

fn alpaca(models: &[&str], with: &[&str]) -> BTreeMap<String, String> {
    let mut text = String::from(",win_rate,standard_error\n");
    for model in models {
        text += &format!("{model},50.0,1.0\n");
    }
    let mut files: BTreeMap<String, String> = with.iter().map(|m| annotations_of(m)).collect();
    files.insert(LEADERBOARD.into(), text);
    files
}

/// What `show --json` finds: models, items and warnings.
fn show(path: &Path) -> (usize, usize, String) {
    let out = command(path, &["show", path.to_str().unwrap(), "--json"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{text}");
    let found: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let models = found["models"].as_array().unwrap().len();
    let items = found["scenarios"].as_array().unwrap().iter();
    let items = items.map(|s| s["items"].as_u64().unwrap() as usize).sum();
    (models, items, text + &found["warnings"].to_string())
}

#[test]
fn alpacaeval_comes_as_its_reader_takes_it() {
    let cache = tempfile::tempdir().unwrap();
    let server = source(alpaca(
        &["a-1", "b-2", "c-3", "gone"],
        &["a-1", "b-2", "c-3"],
    ));
    let (done, text) = fetch(cache.path(), &server.base, "alpacaeval", &[]);
    assert!(done, "{text}");
    assert!(
        text.contains("1 of the listing are not at the source: gone"),
        "{text}"
    );
    let folder = cache.path().join("alpacaeval");
    assert!(
        text.contains(&format!("next: tinyscope show {}", folder.display())),
        "{text}"
    );
    let names: Vec<String> = files(&folder).into_keys().collect();
    let file = |m: &str| format!("{m}/weighted_alpaca_eval_gpt4_turbo/annotations.json");
    let mut wanted = vec![file("a-1"), file("b-2"), file("c-3")];
    wanted.extend(["fetched.json".into(), "leaderboard.csv".into()]);
    assert_eq!(names, wanted);
    let (models, items, warnings) = show(&folder);
    assert_eq!((models, items), (3, 6));
    assert!(
        !warnings.contains("not all of it was fetched"),
        "{warnings}"
    );

    let asked = server.asked().len();
    let (done, text) = fetch(cache.path(), &server.base, "alpacaeval", &[]);
    assert!(done && text.contains("already there"), "{text}");
    assert_eq!(server.asked().len(), asked);
    // A file that is lost since is noticed.
    fs::remove_file(folder.join(file("b-2"))).unwrap();
    let (done, text) = fetch(cache.path(), &server.base, "alpacaeval", &[]);
    assert!(done && text.contains(", fetched"), "{text}");
    assert_eq!(show(&folder).0, 3);
}

/// Without a length, a file that was cut off after a `}` looks whole by its end.
#[test]
fn json_that_is_cut_off_at_a_bracket_is_fetched_again() {
    let cache = tempfile::tempdir().unwrap();
    let files_there = alpaca(&["a"], &["a"]);
    let server = Server::start(move |asked, _| {
        let Some(text) = files_there.get(&asked.path) else {
            return Answer::missing();
        };
        let at = text.rfind(", {").unwrap_or(text.len());
        Answer::ok(&text.as_bytes()[..at]).chunked()
    });
    let (done, text) = fetch(
        cache.path(),
        &server.base,
        "alpacaeval",
        &["--retries", "1"],
    );
    assert!(!done && text.contains("the JSON does not end"), "{text}");
    let folder = cache.path().join("alpacaeval");
    assert!(
        !files(&folder)
            .keys()
            .any(|name| name.ends_with("annotations.json"))
    );
}

#[test]
fn a_set_that_broke_off_says_so_and_goes_on() {
    let cache = tempfile::tempdir().unwrap();
    let models = ["a", "b", "c", "d", "e", "f"];
    let all = alpaca(&models, &models);
    let broken = Arc::new(AtomicBool::new(true));
    let flag = Arc::clone(&broken);
    let server = Server::start(move |asked, _| {
        if asked.path.contains("/f/") && flag.load(Ordering::Relaxed) {
            return Answer::status(500, "oh");
        }
        Answer::ok(all[&asked.path].as_bytes())
    });
    let (done, text) = fetch(
        cache.path(),
        &server.base,
        "alpacaeval",
        &["--retries", "2"],
    );
    assert!(
        !done && text.contains("status 500") && text.contains("/f/"),
        "{text}"
    );
    let folder = cache.path().join("alpacaeval");
    let left = files(&folder);
    assert!(left.keys().all(|name| !name.contains(".part")), "{left:?}");
    let record = fs::read_to_string(folder.join("fetched.json")).unwrap();
    assert!(record.contains("\"complete\": false"), "{record}");
    let (models, _, warnings) = show(&folder);
    assert!(models < 6);
    assert!(
        warnings.contains("not all of it was fetched: tinyscope fetch alpacaeval goes on"),
        "{warnings}"
    );
    let (_, _, warnings) = show(&folder.join("a"));
    assert!(warnings.contains("fetch alpacaeval goes on"), "{warnings}");
    assert_eq!(tinyscope::fetch::unfinished(cache.path()).len(), 1);
    let (_, list) = said(command(cache.path(), &["fetch"]).output().unwrap());
    assert!(list.contains("some of its files are there"), "{list}");

    broken.store(false, Ordering::Relaxed);
    let before = server.asked().len();
    let (done, text) = fetch(cache.path(), &server.base, "alpacaeval", &[]);
    assert!(done, "{text}");
    for again in &server.asked()[before..] {
        let model = again.path.split('/').nth(5).unwrap_or_default();
        let whole = left
            .keys()
            .any(|name| name.starts_with(&format!("{model}/")));
        assert!(again.path == LEADERBOARD || !whole, "{again:?}");
    }
    assert_eq!(show(&folder).0, 6);
    assert!(!show(&folder).2.contains("not all of it"));
}

#[test]
fn some_of_a_set_come_and_more_are_added() {
    let cache = tempfile::tempdir().unwrap();
    let models = ["gpt-a", "gpt-b", "yi-c"];
    let server = source(alpaca(&models, &models));
    let folder = cache.path().join("alpacaeval");
    let get = |more: &[&str]| fetch(cache.path(), &server.base, "alpacaeval", more);
    assert!(get(&["--only", "gpt"]).0);
    assert_eq!(show(&folder).0, 2);
    let (_, text) = get(&["--only", "gpt"]);
    assert!(text.contains("already there"), "{text}");
    assert!(get(&["--only", "yi"]).0);
    assert_eq!(show(&folder).0, 3);
    let (_, text) = get(&["--only", "yi", "--only", "gpt"]);
    assert!(text.contains("already there"), "{text}");
    // All is more than what was asked for so far.
    let (_, text) = get(&[]);
    assert!(
        text.contains("already there") && text.contains("3 files"),
        "{text}"
    );
    let record = fs::read_to_string(folder.join("fetched.json")).unwrap();
    assert!(record.contains("\"only\": []"), "{record}");
    let (done, text) = get(&["--only", "claude"]);
    assert!(done, "all is there: {text}");
    let (done, text) = get(&["--only", "claude", "--again"]);
    assert!(
        !done && text.contains("none of 3 names holds claude"),
        "{text}"
    );
}

fn helm_run(model: &str, question: usize) -> String {
    let rows: Vec<String> = (0..question)
        .map(|i| {
            format!(
                "{{\"instance_id\": \"id{i}\", \"train_trial_index\": 0, \"stats\": [{{\"name\": {{\"name\": \"exact_match\"}}, \"mean\": {}}}]}}",
                (i + model.len()) % 2
            )
        })
        .collect();
    format!("[{}]", rows.join(","))
}

#[test]
fn helm_comes_as_its_reader_takes_it() {
    let cache = tempfile::tempdir().unwrap();
    let mut all = BTreeMap::new();
    let mut suites = BTreeMap::new();
    for (model, suite) in [
        ("org_x", "v1.0.0"),
        ("org_yy", "v1.2.0"),
        ("org_zzz", "v1.2.0"),
    ] {
        for subject in ["econometrics", "us_foreign_policy"] {
            let run = format!("mmlu:subject={subject},method=multiple_choice_joint,model={model}");
            let base = format!("{RUNS}/{suite}/{run}");
            all.insert(
                format!("{base}/per_instance_stats.json"),
                helm_run(model, 4),
            );
            let texts = r#"[{"id": "id0", "input": {"text": "What?"}, "references": []}]"#;
            all.insert(format!("{base}/instances.json"), texts.into());
            suites.insert(run, suite);
        }
    }
    all.insert(RELEASE.into(), serde_json::to_string(&suites).unwrap());
    let server = source(all);
    let (done, text) = fetch(cache.path(), &server.base, "helm-lite", &[]);
    assert!(done, "{text}");
    let folder = cache.path().join("helm-lite");
    assert_eq!(show(&folder).0, 3);
    assert_eq!(show(&folder).1, 8);
    let texts = files(&folder);
    let texts = texts.keys().filter(|name| name.ends_with("instances.json"));
    assert_eq!(texts.count(), 2);
    // 1 listing, 6 runs, 2 texts.
    assert_eq!(server.asked().len(), 9);
}

#[test]
fn names_of_a_listing_stay_in_the_folder() {
    for name in ["../../outside", "..", "a/../../b", "/outside"] {
        let cache = tempfile::tempdir().unwrap();
        let inner = cache.path().join("deep/er");
        let listing = alpaca(&["fine", name], &["fine"])
            .remove(LEADERBOARD)
            .unwrap();
        let server = Server::start(move |asked, _| match asked.path.as_str() {
            LEADERBOARD => Answer::ok(listing.as_bytes()),
            _ => Answer::ok("[1]"),
        });
        let (done, text) = fetch(&inner, &server.base, "alpacaeval", &[]);
        assert!(!done && text.contains("no name for a folder"), "{text}");
        assert!(text.contains(&format!("{name:?}")), "{text}");
        let left: Vec<String> = files(cache.path()).into_keys().collect();
        assert_eq!(left, ["deep/er/alpacaeval/leaderboard.csv"]);
        assert_eq!(server.asked().len(), 1);
    }
}

#[test]
fn pages_and_limits_hold_for_sets_too() {
    let models = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let all = alpaca(&models, &models);
    let size: usize = all.values().map(String::len).sum();
    let cache = tempfile::tempdir().unwrap();
    let server = source(all.clone());
    let limit = (size / 2).to_string();
    let (done, text) = fetch(
        cache.path(),
        &server.base,
        "alpacaeval",
        &["--max-size", &limit],
    );
    assert!(!done && text.contains("--max-size"), "{text}");
    let there: u64 = files(&cache.path().join("alpacaeval"))
        .iter()
        .filter(|(name, _)| *name != "fetched.json" && !name.ends_with(".part.json"))
        .map(|(_, size)| size)
        .sum();
    assert!(there as usize <= size / 2, "{there}");

    // A portal's page in the place of one file, and of the listing.
    for at in [LEADERBOARD.to_owned(), annotations_of("c").0] {
        let mut pages = all.clone();
        pages.insert(at.clone(), "<html>log in</html>".into());
        let cache = tempfile::tempdir().unwrap();
        let server = source(pages);
        let (done, text) = fetch(cache.path(), &server.base, "alpacaeval", &[]);
        assert!(
            !done && text.contains("a web page instead of data"),
            "{text}"
        );
        assert!(text.contains(&at), "{text}");
    }
    // The listing is there and nothing that it names.
    let cache = tempfile::tempdir().unwrap();
    let server = source(alpaca(&models, &[]));
    let (done, text) = fetch(cache.path(), &server.base, "alpacaeval", &[]);
    assert!(
        !done && text.contains("nor any other file that the listing names"),
        "{text}"
    );
    let server = source(BTreeMap::new());
    let (done, text) = fetch(cache.path(), &server.base, "alpacaeval", &[]);
    assert!(
        !done && text.contains("not found") && text.contains(LEADERBOARD),
        "{text}"
    );
}
