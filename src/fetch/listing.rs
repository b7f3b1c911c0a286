//! What a listing names: the files of a data set, where they lie and where they go.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::catalogue::Layout;
use super::sniff::Kind;
use crate::error::{Error, Result};

/// The judge whose annotations AlpacaEval 2 counts.
const JUDGE: &str = "weighted_alpaca_eval_gpt4_turbo";
/// HELM Lite's bucket, and the release that is fetched.
const HELM: &str = "crfm-helm-public/lite/benchmark_output";

/// The file that names all others.
pub(super) struct Listing {
    /// Where it lies below the base.
    pub(super) path: &'static str,
    /// Its name in the data set's folder.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// What a listing names: a model or a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) files: Vec<Item>,
}

/// One file of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Where it lies below the base.
    pub(super) path: String,
    /// Where it goes below the data set's folder.
    pub(super) at: PathBuf,
    /// The entry is nothing without it.
    pub(super) needed: bool,
}

impl Layout {
    pub(super) fn listing(self) -> Listing {
        match self {
            Self::AlpacaEval => Listing {
                path: "tatsu-lab/alpaca_eval/main/src/alpaca_eval/leaderboards/data_AlpacaEval_2/weighted_alpaca_eval_gpt4_turbo_leaderboard.csv",
                name: "leaderboard.csv",
                kind: Kind::Csv,
            },
            Self::HelmLite => Listing {
                path: "crfm-helm-public/lite/benchmark_output/releases/v1.13.0/runs_to_run_suites.json",
                name: "runs_to_run_suites.json",
                kind: Kind::Json,
            },
        }
    }

    /// The entries of a listing whose names hold one of `only` (all where that is empty), in the order of their names.
    ///
    /// # Errors
    /// A listing of another form; a name that is none for a file; no entry.
    pub(super) fn entries(self, file: &Path, text: &[u8], only: &[String]) -> Result<Vec<Entry>> {
        let named = match self {
            Self::AlpacaEval => leaderboard(file, text)?,
            Self::HelmLite => suites(file, text)?,
        };
        for (name, suite) in &named {
            for part in [name, suite] {
                if !is_file_name(part) {
                    let what = format!("names {part:?}, which is no name for a folder");
                    let hint =
                        "nothing of it was fetched: the listing is damaged or not to be trusted";
                    return Err(Error::input(file, what, hint));
                }
            }
        }
        if named.is_empty() {
            return Err(Error::input(file, "names nothing to fetch", ""));
        }
        let chosen = |name: &str| only.is_empty() || only.iter().any(|o| name.contains(o.as_str()));
        let mut texts = HashSet::new();
        let entries: Vec<Entry> = named
            .iter()
            .filter(|(name, _)| chosen(name))
            .map(|(name, suite)| match self {
                Self::AlpacaEval => model(name),
                Self::HelmLite => run(name, suite, texts.insert(without_model(name))),
            })
            .collect();
        if entries.is_empty() {
            let some: Vec<&str> = named.keys().take(3).map(String::as_str).collect();
            return Err(Error::setting(
                format!("none of {} names holds {}", named.len(), only.join(" or ")),
                format!(
                    "they are as {}; {} holds them all",
                    some.join(", "),
                    file.display()
                ),
            ));
        }
        Ok(entries)
    }
}

/// Models of the leaderboard: the first column.
fn leaderboard(file: &Path, text: &[u8]) -> Result<BTreeMap<String, String>> {
    let wrong = |what: String| Error::input(file, what, "it is not AlpacaEval's leaderboard");
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text);
    let headers = reader.headers().map_err(|e| wrong(e.to_string()))?;
    if !headers.iter().any(|h| h == "win_rate") {
        return Err(wrong("no column win_rate".into()));
    }
    let mut models = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(|e| wrong(e.to_string()))?;
        models.insert(row.get(0).unwrap_or_default().to_owned(), JUDGE.to_owned());
    }
    Ok(models)
}

/// Runs of a release, and the suite that holds each.
fn suites(file: &Path, text: &[u8]) -> Result<BTreeMap<String, String>> {
    serde_json::from_slice(text).map_err(|e| {
        let what = format!("not HELM's runs and their suites: {e}");
        Error::at_line(file, e.line() as u64, what, "")
    })
}

fn model(name: &str) -> Entry {
    Entry {
        name: name.to_owned(),
        files: vec![Item {
            path: format!("tatsu-lab/alpaca_eval/main/results/{name}/{JUDGE}/annotations.json"),
            at: Path::new(name).join(JUDGE).join("annotations.json"),
            needed: true,
        }],
    }
}

/// The files of a run. Every model's run of a scenario has the same items: their texts are taken once.
fn run(name: &str, suite: &str, texts: bool) -> Entry {
    let item = |file: &str, needed| Item {
        path: format!("{HELM}/runs/{suite}/{name}/{file}"),
        at: Path::new(name).join(file),
        needed,
    };
    let mut files = vec![item("per_instance_stats.json", true)];
    if texts {
        files.push(item("instances.json", false));
    }
    Entry {
        name: name.to_owned(),
        files,
    }
}

/// A run's scenario and what else it was given.
fn without_model(run: &str) -> BTreeSet<&str> {
    run.split([':', ','])
        .filter(|a| !a.starts_with("model="))
        .collect()
}

/// Whether a name is one of a single file or folder, on this system, and stays where it is put.
fn is_file_name(name: &str) -> bool {
    let windows = cfg!(windows) && name.contains([':', '*', '?', '"', '<', '>', '|']);
    !name.is_empty()
        && name.len() <= 240
        && !name.starts_with('.')
        && !name.ends_with(['.', ' '])
        && !name.contains(['/', '\\'])
        && !name.chars().any(char::is_control)
        && !windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(layout: Layout, text: &str, only: &[&str]) -> Result<Vec<Entry>> {
        let only: Vec<String> = only.iter().map(|s| (*s).to_owned()).collect();
        layout.entries(Path::new("listing"), text.as_bytes(), &only)
    }

    #[test]
    fn runs_of_a_scenario_share_their_texts() {
        let text = r#"{"gsm:model=b_y": "v1.2.0", "gsm:model=a_x": "v1.0.0", "mmlu:subject=s,method=m,model=a_x": "v1.0.0"}"#;
        let found = entries(Layout::HelmLite, text, &[]).unwrap();
        let files: Vec<usize> = found.iter().map(|e| e.files.len()).collect();
        assert_eq!(files, [2, 1, 2]);
        assert_eq!(
            found[1].files[0].path,
            "crfm-helm-public/lite/benchmark_output/runs/v1.2.0/gsm:model=b_y/per_instance_stats.json"
        );
        let only = entries(Layout::HelmLite, text, &["model=b_y"]).unwrap();
        assert_eq!((only.len(), only[0].files.len()), (1, 2));
        let none = entries(Layout::HelmLite, text, &["math"]).unwrap_err();
        assert!(none.to_string().contains("gsm:model=a_x"), "{none}");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "..", ".", "", "../x", "a/b", "/etc", "a\\\\b", ".hidden", "a\\u0000", "x.", "a\\n",
        ] {
            let run = format!("{{\"{name}\": \"v1.0.0\"}}");
            let suite = format!("{{\"gsm:model=a\": \"{name}\"}}");
            for text in [run, suite] {
                let refused = entries(Layout::HelmLite, &text, &[]).unwrap_err();
                assert!(
                    refused.to_string().contains("no name for a folder"),
                    "{refused}"
                );
            }
        }
        let refused = entries(Layout::AlpacaEval, ",win_rate\n../../x,1\n", &[]).unwrap_err();
        assert!(
            refused.to_string().contains("no name for a folder"),
            "{refused}"
        );
    }

    #[test]
    fn other_files_are_no_listings() {
        assert!(entries(Layout::AlpacaEval, "a,b\n1,2\n", &[]).is_err());
        assert!(entries(Layout::AlpacaEval, ",win_rate\n", &[]).is_err());
        assert!(entries(Layout::HelmLite, "[1]", &[]).is_err());
        assert!(entries(Layout::HelmLite, "{}", &[]).is_err());
    }
}
