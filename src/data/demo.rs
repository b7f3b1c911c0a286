//! The bundled demos: simulated benchmarks in the shapes of the paper's (see `data/README.md` for how they were drawn).

use std::path::PathBuf;

use super::{Benchmark, read};
use crate::error::{Error, Result, nearest};
use crate::simulate::placeholder;

struct Demo {
    name: &'static str,
    manifest: &'static [u8],
    matrix: &'static [u8],
}

macro_rules! demo {
    ($name:literal) => {
        Demo {
            name: $name,
            manifest: include_bytes!(concat!("../../data/", $name, ".json")),
            matrix: include_bytes!(concat!("../../data/", $name, ".csv.gz")),
        }
    };
}

static DEMOS: [Demo; 4] = [
    demo!("helm-lite"),
    demo!("open-llm-leaderboard"),
    demo!("mmlu"),
    demo!("alpacaeval"),
];

/// What stands before a demo's name where a file could stand too.
pub const PREFIX: &str = "demo:";

/// Names of the demos; the first is the one to open without a choice.
pub fn names() -> impl Iterator<Item = &'static str> {
    DEMOS.iter().map(|d| d.name)
}

/// A demo by its name, with or without `demo:` before it. Its item texts are placeholders.
///
/// # Errors
/// [`Error::Setting`] for a name that no demo has.
pub fn load(name: &str) -> Result<Benchmark> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let Some(demo) = DEMOS.iter().find(|d| d.name == name) else {
        let all: Vec<&str> = names().collect();
        let hint = match nearest(name, names()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("there are: {}", all.join(", ")),
        };
        return Err(Error::setting(format!("no demo is named {name:?}"), hint));
    };
    let origin = PathBuf::from(format!("{PREFIX}{name}"));
    let mut benchmark = read::bundled(&origin, demo.manifest, demo.matrix)?;
    for id in benchmark.matrix.items() {
        benchmark.texts.insert(id.clone(), placeholder(id));
    }
    Ok(benchmark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demos_have_the_sizes_of_the_papers_benchmarks_and_say_what_they_are() {
        let sizes: Vec<(usize, usize, usize)> = names()
            .map(|name| {
                let demo = load(name).unwrap();
                assert!(
                    demo.simulated && demo.notes.starts_with("SIMULATED"),
                    "{name}"
                );
                assert!(demo.matrix.models().iter().all(|m| m.starts_with("org-")));
                assert_eq!(demo.released.len(), demo.matrix.n_models());
                assert_eq!(demo.texts.len(), demo.matrix.n_items());
                assert_eq!(demo.matrix.missing_cells(), 0);
                (
                    demo.matrix.n_models(),
                    demo.matrix.n_items(),
                    demo.scenarios.len(),
                )
            })
            .collect();
        assert_eq!(
            sizes,
            [
                (83, 5551, 6),
                (395, 28659, 6),
                (395, 14042, 1),
                (100, 805, 1)
            ]
        );
        let bytes: usize = DEMOS
            .iter()
            .map(|d| d.manifest.len() + d.matrix.len())
            .sum();
        assert!(bytes < 4_000_000, "{bytes}");
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        let e = load("demo:helm_lite").unwrap_err().to_string();
        assert!(e.contains("helm-lite"), "{e}");
        assert!(load("nothing").unwrap_err().to_string().contains("mmlu"));
    }
}
