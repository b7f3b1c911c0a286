//! What several test files share.

#![allow(dead_code, clippy::expect_used)]

use std::io::Write;
use std::path::{Path, PathBuf};

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
