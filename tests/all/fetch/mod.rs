//! `tinyscope fetch` against a server on loopback: what it says, and what is on the disk afterwards.

mod file;
mod folder;
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The program with a cache folder of the test's own and no proxy.
fn command(cache: &Path, args: &[&str]) -> Command {
    let mut command = crate::common::program();
    for proxy in ["http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(proxy).env_remove(proxy.to_uppercase());
    }
    command.env("TINYSCOPE_CACHE", cache).args(args);
    command
}

/// Fetches `name` from `base` with short pauses.
fn fetching(cache: &Path, base: &str, name: &str, more: &[&str]) -> Command {
    let mut args = vec!["fetch", name, "--base-url", base, "--pause", "0.01"];
    args.extend(more);
    command(cache, &args)
}

fn fetch(cache: &Path, base: &str, name: &str, more: &[&str]) -> (bool, String) {
    said(
        fetching(cache, base, name, more)
            .output()
            .expect("the program starts"),
    )
}

/// How it ended, and all it said.
fn said(out: Output) -> (bool, String) {
    let text = [out.stdout, out.stderr].concat();
    (out.status.success(), String::from_utf8(text).expect("text"))
}

/// All files below a folder with their sizes, locks aside.
fn files(folder: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_none_or(|e| e != "lock") {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                found.insert(name.to_owned(), entry.metadata().unwrap().len());
            }
        }
    }
    found
}

#[test]
fn the_list_says_what_there_is_and_where_it_goes() {
    let cache = tempfile::tempdir().unwrap();
    for args in [&["fetch"][..], &["fetch", "--list"]] {
        let (done, list) = said(command(cache.path(), args).output().unwrap());
        assert!(done, "{list}");
        for part in [
            "lb-pickle",
            "tinybenchmarks",
            "alpacaeval",
            "helm-lite",
            "https://raw.githubusercontent.com/felipemaiapolo/tinyBenchmarks/main/",
            "licence",
            "(not there)",
            cache.path().join("lb.pickle").to_str().unwrap(),
        ] {
            assert!(list.contains(part), "{part}: {list}");
        }
    }
    assert!(files(cache.path()).is_empty());
    let out = command(cache.path(), &["fetch", "helmlite"])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(2));
    let (done, message) = said(out);
    assert!(
        !done && message.contains("did you mean helm-lite?"),
        "{message}"
    );
    let out = command(cache.path(), &["fetch", "lb-pickle", "--max-size", "much"]).output();
    assert_eq!(out.unwrap().status.code(), Some(2));
}

#[test]
fn a_fetched_pickle_is_shown() {
    let Some(shared) = crate::common::shared() else {
        return;
    };
    for (name, case, path) in [
        ("lb-pickle", "lb-small.pickle", "tutorials/data/lb.pickle"),
        (
            "tinybenchmarks",
            "tinyBenchmarks-small.pkl",
            "tinyBenchmarks/tinyBenchmarks.pkl",
        ),
    ] {
        let cache = tempfile::tempdir().unwrap();
        let body = fs::read(shared.join("cases/pickle").join(case)).unwrap();
        let path = format!("/felipemaiapolo/tinyBenchmarks/main/{path}");
        let server = server::Server::start(move |asked, _| {
            assert_eq!(asked.path, path);
            server::Answer::ok(body.clone())
        });
        let (done, text) = fetch(cache.path(), &server.base, name, &["--no-checksum"]);
        assert!(done, "{text}");
        let (_, next) = text
            .split_once("next: tinyscope ")
            .expect("the next command");
        let next: Vec<&str> = next.split_whitespace().collect();
        let (done, text) = said(command(cache.path(), &next).output().unwrap());
        assert!(done, "{text}");
    }
}
