//! What several test files share.

#![allow(dead_code, clippy::expect_used)]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use tinyscope::data::{Benchmark, read};

/// `../shared` beside the package, where there is one. Tests that need it say so and pass without; the line is written past
/// the test runner's capture, so that it is always seen.
pub(crate) fn shared() -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    if path.is_dir() {
        return Some(path);
    }
    let test = std::thread::current().name().unwrap_or("test").to_owned();
    let _ = writeln!(
        std::io::stderr(),
        "skipped {test}: needs ../shared, which is not here"
    );
    None
}

/// The program, to be given arguments; it keeps nothing in the cache of the user who runs the tests.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyscope"));
    command.env("TINYSCOPE_NO_CACHE", "1");
    command
}

/// The program with a cache of the test's own.
pub(crate) fn caching(cache: &Path) -> Command {
    let mut command = program();
    command.env_remove("TINYSCOPE_NO_CACHE");
    command.env("TINYSCOPE_CACHE", cache);
    command
}

/// The program run in a folder; whatever it ends with.
pub(crate) fn tinyscope_in<S: AsRef<OsStr>>(folder: &Path, args: &[S]) -> Output {
    program()
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

/// The program run where the tests run.
pub(crate) fn tinyscope<S: AsRef<OsStr>>(args: &[S]) -> Output {
    tinyscope_in(Path::new("."), args)
}

/// What it wrote on standard error.
pub(crate) fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// The program run where the tests run, with success.
pub(crate) fn done(args: &[&str]) -> Output {
    let out = tinyscope(args);
    assert!(out.status.success(), "{args:?}: {}", said(&out));
    out
}

/// The text it prints.
pub(crate) fn text(args: &[&str]) -> String {
    String::from_utf8(done(args).stdout).expect("text on standard output")
}

/// The JSON it prints.
pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&text(args)).expect("JSON on standard output")
}

/// A benchmark of `../shared/data`.
pub(crate) fn real(name: &str) -> Option<Benchmark> {
    let path = shared()?.join("data").join(format!("{name}.json"));
    Some(read::benchmark(&path, &read::ReadOptions::default()).expect(name))
}

/// A table of 24 models and 40 items in two scenarios, with families, a missing entry and a spread of abilities.
pub(crate) fn small(dir: &Path) -> PathBuf {
    let mut text = String::from("model");
    for i in 0..40 {
        text += &format!(",{}/{i:02}", if i < 25 { "arithmetic" } else { "reading" });
    }
    let mut state = 12345u64;
    for m in 0..24 {
        text += &format!("\norg{}_model-{m:02}", m % 5);
        for i in 0..40 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let u = (state >> 33) as f64 / (1u64 << 31) as f64;
            let logit = (m as f64 - 12.0) / 5.0 - (i as f64 % 13.0 - 6.0) / 3.0;
            let right = u < 1.0 / (1.0 + (-logit).exp());
            text += if (m, i) == (3, 7) {
                ","
            } else if right {
                ",1"
            } else {
                ",0"
            };
        }
    }
    let path = dir.join("small.csv");
    std::fs::write(&path, text + "\n").expect("written");
    path
}
