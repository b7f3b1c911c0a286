//! The cache of results as users meet it: the same output with and without, whatever state it is in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::common::{caching, program, said};

/// What the tests run: small enough to be quick, large enough that its fits are kept.
const DATA: &str = "demo:helm-lite";
const QUICK: [&str; 6] = ["--scenario", "gsm8k", "--dims", "2", "--n", "20"];

fn arguments(subcommand: &str) -> Vec<&str> {
    let mut args = vec![subcommand, DATA];
    args.extend(&QUICK);
    args
}

/// Both streams of a run that succeeds.
fn streams(mut command: std::process::Command, args: &[&str]) -> (String, String) {
    let out = command.args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", said(&out));
    (String::from_utf8(out.stdout.clone()).unwrap(), said(&out))
}

fn list(cache: &Path) -> Value {
    let (text, _) = streams(caching(cache), &["cache", "list", "--json"]);
    serde_json::from_str(&text).unwrap()
}

fn entries(cache: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(cache.join("computed"))
        .map(|files| files.map(|f| f.unwrap().path()).collect())
        .unwrap_or_default();
    files.sort();
    files
}

#[test]
fn results_are_the_same_with_the_cache_cold_warm_and_off() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let out = out.to_str().unwrap();
    let mut runs: Vec<Vec<&str>> = vec![[&arguments("estimate")[..], &["--json"]].concat()];
    runs.push([&arguments("anchors")[..], &["--out", out]].concat());
    runs.push(vec![
        "fit",
        DATA,
        "--scenario",
        "math",
        "--dims",
        "1,2",
        "--responses",
        "binary",
        "--out",
        out,
    ]);
    for args in runs {
        let cache = folder.path().join(args[0]);
        let run = |command| {
            let streams = streams(command, &args);
            let written = fs::read(out).unwrap_or_default();
            let _ = fs::remove_file(out);
            (streams, written)
        };
        let off = run(program());
        assert!(!cache.exists());
        assert_eq!(off, run(caching(&cache)), "{args:?}: cold");
        assert!(!entries(&cache).is_empty(), "{args:?}: nothing kept");
        assert_eq!(off, run(caching(&cache)), "{args:?}: warm");
        // A result is kept where it took long, which the second run may find of others.
        let kept = entries(&cache);
        let mut without = caching(&cache);
        without.arg(args[0]).arg("--no-cache").args(&args[1..]);
        assert!(without.output().unwrap().status.success());
        assert_eq!(kept, entries(&cache), "{args:?}");
    }
}

#[test]
fn damaged_entries_are_computed_anew() {
    let folder = tempfile::tempdir().unwrap();
    let args = arguments("fit");
    let args = &args[..args.len() - 2];
    let good = streams(caching(folder.path()), args);
    let files = entries(folder.path());
    let bytes: Vec<Vec<u8>> = files.iter().map(|f| fs::read(f).unwrap()).collect();
    type Damage = fn(&[u8]) -> Vec<u8>;
    let damages: [Damage; 4] = [
        |b| b[..b.len() / 2].to_vec(),
        |b| {
            let mut b = b.to_vec();
            let last = b.len() - 1;
            b[last] ^= 1;
            b
        },
        |_| b"not an entry".to_vec(),
        // An older form of the file.
        |b| {
            let mut b = b.to_vec();
            b[7] = 0;
            b
        },
    ];
    for damage in damages {
        for (file, bytes) in files.iter().zip(&bytes) {
            fs::write(file, damage(bytes)).unwrap();
        }
        assert_eq!(good, streams(caching(folder.path()), args));
        // What takes little time may not be worth keeping the next time; what is there is whole.
        let now: Vec<_> = files.iter().map(|f| fs::read(f).ok()).collect();
        assert!(now.iter().any(Option::is_some), "nothing was mended");
        for (now, good) in now.iter().zip(&bytes) {
            assert!(now.as_ref().is_none_or(|now| now == good), "not mended");
        }
    }
}

#[test]
fn two_programs_at_once_on_an_empty_cache_agree() {
    let folder = tempfile::tempdir().unwrap();
    let args = arguments("estimate");
    let start = || {
        caching(folder.path())
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let running = [start(), start()];
    let [first, second] = running.map(|child| child.wait_with_output().unwrap());
    let both = |out: &Output| (out.stdout.clone(), said(out));
    assert!(first.status.success() && second.status.success());
    assert_eq!(both(&first), both(&second));
    let files = entries(folder.path());
    assert!(files.iter().all(|f| f.extension().is_none()), "{files:?}");
    let (off, _) = streams(program(), &args);
    assert_eq!(off.as_bytes(), first.stdout);
    let (warm, _) = streams(caching(folder.path()), &args);
    assert_eq!(off, warm);
}

#[cfg(unix)]
#[test]
fn a_cache_folder_that_cannot_be_used_changes_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let args = arguments("fit");
    let args = &args[..args.len() - 2];
    let off = streams(program(), args);
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(off, streams(caching(&closed), args));
    let taken = folder.path().join("taken");
    fs::write(&taken, "a file").unwrap();
    assert_eq!(off, streams(caching(&taken), args));
    // Entries in a folder that became read-only still serve.
    let read = folder.path().join("read");
    assert_eq!(off, streams(caching(&read), args));
    let inner = read.join("computed");
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(off, streams(caching(&read), args));
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_cache_is_listed_and_cleared_and_fetched_data_stay() {
    let folder = tempfile::tempdir().unwrap();
    let fetched = folder.path().join("lb.pickle");
    fs::write(&fetched, "fetched").unwrap();
    let (text, _) = streams(caching(folder.path()), &["cache", "list"]);
    assert!(text.contains("computed: 0 results, 0 bytes"), "{text}");
    streams(caching(folder.path()), &arguments("estimate"));
    let listed = list(folder.path());
    let all = listed["entries"].as_array().unwrap();
    assert_eq!(all.len(), entries(folder.path()).len());
    let sum: u64 = all.iter().map(|e| e["bytes"].as_u64().unwrap()).sum();
    assert_eq!(listed["bytes"].as_u64(), Some(sum));
    assert!(all.iter().any(|e| e["what"] == "fit, D = 2"));
    let named = |e: &Value| e["benchmark"].as_str().is_some_and(|n| n.contains("HELM"));
    assert!(all.iter().all(named), "{listed}");
    let (text, _) = streams(caching(folder.path()), &["cache", "list"]);
    assert!(
        text.contains("fit, D = 2") && text.contains("ago"),
        "{text}"
    );
    let (text, _) = streams(caching(folder.path()), &["cache", "clear"]);
    assert!(
        text.contains(&format!("{} results removed", all.len())),
        "{text}"
    );
    assert!(entries(folder.path()).is_empty() && fetched.exists());
}

/// A table that takes long enough to read that it is kept, with one score of the first model as told.
fn table(path: &Path, first: &str) {
    let mut text = String::from("model");
    (0..3_000).for_each(|i| text.push_str(&format!(",q{i:04}")));
    for model in 0..300 {
        text.push_str(&format!("\nm{model}"));
        for item in 0..3_000 {
            let right = (model * 7 + item * 13) % 31 < 17;
            text.push_str(match (model, item) {
                (0, 0) => first,
                _ if right => ",1",
                _ => ",0",
            });
        }
    }
    // A model that is there twice is warned of.
    fs::write(path, text + "\nm299" + &",1".repeat(3_000) + "\n").unwrap();
}

#[test]
fn a_file_read_before_is_read_again_once_it_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, data) = (folder.path().join("cache"), folder.path().join("t.csv"));
    let args = ["show", data.to_str().unwrap(), "--json"];
    let run = |mut command: std::process::Command| {
        let out = command.args(args).output().unwrap();
        (out.status.code(), out.stdout.clone(), said(&out))
    };
    table(&data, ",1");
    let off = run(program());
    assert_eq!(off, run(caching(&cache)));
    assert_eq!(off, run(caching(&cache)));
    table(&data, ",0");
    let changed = run(caching(&cache));
    assert_eq!(run(program()), changed);
    // The same bytes under the old name are the old entry's.
    table(&data, ",1");
    assert_eq!(off, run(caching(&cache)));
}
