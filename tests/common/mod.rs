//! What several test files share.

#![allow(dead_code, clippy::expect_used)]

use std::io::Write;
use std::path::PathBuf;

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

/// A benchmark of `../shared/data`.
pub(crate) fn real(name: &str) -> Option<Benchmark> {
    let path = shared()?.join("data").join(format!("{name}.json"));
    Some(read::benchmark(&path, &read::ReadOptions::default()).expect(name))
}
