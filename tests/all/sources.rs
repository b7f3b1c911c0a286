//! Several sources at once, and the limits of what is read, on the command line.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::common::{said, tinyscope_in};
use serde_json::Value;

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path
}

/// Twelve models, of which each file has some, on twenty items.
fn pieces(folder: &Path) {
    let table = |models: std::ops::Range<usize>| {
        let mut text = "model".to_owned();
        for i in 0..20 {
            text += &format!(",q{i}");
        }
        for m in models {
            text += &format!("\norg{}/model-{m}", m % 3);
            for i in 0..20 {
                text += if (m * 7 + i * 5) % 12 < m { ",1" } else { ",0" };
            }
        }
        text + "\n"
    };
    write(folder, "whole.csv", table(0..12));
    write(folder, "one.csv", table(0..7));
    write(folder, "two.csv", table(7..12));
}

#[test]
fn every_subcommand_takes_several_sources() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    pieces(at);
    let whole: Value = {
        let out = tinyscope_in(at, &["estimate", "whole.csv", "--n", "5", "--json"]);
        serde_json::from_slice(&out.stdout).expect("JSON")
    };
    let both: Value = {
        let out = tinyscope_in(
            at,
            &["estimate", "one.csv", "two.csv", "--n", "5", "--json"],
        );
        assert!(out.status.success(), "{}", said(&out));
        serde_json::from_slice(&out.stdout).expect("JSON")
    };
    assert_eq!(both["overall"], whole["overall"]);
    assert_eq!(both["benchmark"], "one + two");
    for args in [
        &["show", "one.csv", "two.csv", "--json"][..],
        &["fit", "one.csv", "two.csv", "--dims", "1"],
        &[
            "anchors", "one.csv", "two.csv", "--n", "4", "--out", "a.json",
        ],
        &["sweep", "one.csv", "two.csv", "--n", "4", "--seeds", "1"],
        &["import", "one.csv", "two.csv", "--out", "joined.json"],
        &["render", "data", "one.csv", "two.csv", "--out", "data.txt"],
    ] {
        let out = tinyscope_in(at, args);
        assert!(out.status.success(), "{args:?}: {}", said(&out));
    }
    let out = tinyscope_in(at, &["import", "one.csv", "two.csv", "--out", "two.json"]);
    assert!(out.status.success(), "{}", said(&out));
    let out = tinyscope_in(at, &["fit", "one.csv", "two.csv", "--out", "two.csv"]);
    assert!(
        said(&out).contains("would replace what is read"),
        "{}",
        said(&out)
    );
    let out = tinyscope_in(at, &["show", "one.csv", "tow.csv"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        said(&out).contains("tow.csv: no such file"),
        "{}",
        said(&out)
    );
}

#[test]
fn an_import_that_cannot_end_does_not_begin() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    write(at, "one.csv", "model,q1\na,1\n");
    std::fs::create_dir(at.join("isdir.json")).expect("a folder");
    let out = tinyscope_in(at, &["import", "one.csv", "--out", "isdir.json"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        said(&out).contains("isdir.json: a folder, not a file"),
        "{}",
        said(&out)
    );
    assert!(!at.join("isdir.csv.gz").exists());
    for name in ["q", ".json", "q.csv"] {
        let out = tinyscope_in(at, &["import", "one.csv", "--out", name]);
        assert_eq!(out.status.code(), Some(2), "{name}");
        assert!(said(&out).contains("ends in .json"), "{}", said(&out));
    }
    let out = tinyscope_in(at, &["import", "one.csv", "--out", "two.json"]);
    let printed = String::from_utf8_lossy(&out.stdout);
    assert_eq!(printed, "two.json: 1 model, 1 item in 1 scenario\n");
}

#[test]
fn limits_end_with_the_option_that_raises_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let long = "x".repeat(5_000);
    write(at, "name.csv", format!("model,{long},q2\na,1,0\nb,0,1\n"));
    write(
        at,
        "name.jsonl",
        format!("{{\"subject_id\": \"{long}\", \"responses\": {{\"q1\": 1}}}}\n"),
    );
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    write(
        at,
        "deep.jsonl",
        format!(
            "{{\"doc_id\": 0, \"doc\": {{\"question\": \"?\", \"choices\": {deep}}}, \"acc\": 1.0}}\n"
        ),
    );
    write(at, "cells.csv", "model,q1,q2\na,1,0\nb,0,1\n");
    let packed = std::fs::File::create(at.join("zeros.csv.gz")).expect("a file");
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::best());
    packed.write_all(b"model,q1\n").expect("written");
    for _ in 0..100 {
        packed.write_all(&vec![b' '; 1 << 20]).expect("written");
    }
    packed.write_all(b"\na,1\n").expect("written");
    packed.finish().expect("written");
    for (file, place, what, raised) in [
        (
            "name.csv",
            "line 1, column 2",
            "5000 bytes",
            "--max-name=6000",
        ),
        ("name.jsonl", "line 1", "5000 bytes", "--max-name=6000"),
        ("deep.jsonl", "line 1", "deeper than 128", "--max-depth=400"),
        (
            "cells.csv",
            "",
            "2 models x 2 items are more than 3 cells",
            "--max-cells=4",
        ),
        (
            "zeros.csv.gz",
            "",
            "more than 300 times",
            "--max-ratio=2000",
        ),
    ] {
        let (option, _) = raised.split_once('=').expect("option");
        let low = if file == "cells.csv" {
            &["--max-cells=3"][..]
        } else {
            &[]
        };
        let out = tinyscope_in(at, &[&["show", file], low].concat());
        let e = said(&out);
        assert_eq!(out.status.code(), Some(1), "{file}: {e}");
        for part in [file, place, what, option, "raises the limit"] {
            assert!(e.contains(part), "{file}: {part:?} is not in {e}");
        }
        let out = tinyscope_in(at, &["show", file, raised]);
        assert!(out.status.success(), "{file}: {}", said(&out));
    }
}
