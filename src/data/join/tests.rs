use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::data::read::{Limits, benchmark};

/// The benchmark of files with these names and texts.
fn joined(files: &[(&str, &str)], options: ReadOptions) -> Result<Benchmark> {
    let dir = TempDir::new().unwrap();
    let paths: Vec<PathBuf> = files
        .iter()
        .map(|(name, text)| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path
        })
        .collect();
    let options = ReadOptions {
        also: paths[1..].to_vec(),
        ..options
    };
    benchmark(&paths[0], &options).map(|mut b| {
        let folder = format!("{}/", dir.path().display());
        for warning in &mut b.warnings {
            *warning = warning.replace(&folder, "");
        }
        b
    })
}

fn table(b: &Benchmark) -> Vec<String> {
    let rows = b.matrix.models().iter().enumerate().map(|(l, model)| {
        let row = b.matrix.row(l);
        let cells = row.iter().map(|y| match y.is_nan() {
            true => "-".into(),
            false => y.to_string(),
        });
        format!("{model} {}", cells.collect::<Vec<String>>().join(" "))
    });
    rows.collect()
}

fn plainly(files: &[(&str, &str)]) -> Benchmark {
    joined(files, ReadOptions::default()).unwrap()
}

#[test]
fn more_models_on_the_same_items_are_more_rows_of_one_scenario() {
    let b = plainly(&[
        ("old.csv", "model,q1,q2\na,1,0\nb,0,1\n"),
        ("new.csv", "model,q2,q3\nc,1,1\na,0,1\n"),
    ]);
    assert_eq!(b.matrix.items(), ["q1", "q2", "q3"]);
    assert_eq!(table(&b), ["a 1 0 1", "b 0 1 -", "c - 1 1"]);
    assert_eq!(b.scenarios.len(), 1);
    assert_eq!(
        (b.name.as_str(), b.scenarios[0].name.as_str()),
        ("old + new", "old")
    );
    assert!(b.warnings.is_empty(), "{:?}", b.warnings);
}

#[test]
fn more_items_of_the_same_models_are_more_scenarios() {
    let b = plainly(&[
        ("gsm.csv", "model,g1,g2\na,1,0\nb,0,1\n"),
        ("arc.csv", "model,a1\nb,.5\na,1\n"),
    ]);
    let names: Vec<&str> = b.scenarios.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["gsm", "arc"]);
    assert_eq!(table(&b), ["a 1 0 1", "b 0 1 0.5"]);
}

#[test]
fn equal_numbers_of_different_scenarios_are_kept_apart() {
    let b = plainly(&[
        ("gsm.csv", "model,0,1\na,1,0\nb,0,1\n"),
        ("arc.csv", "model,0,1\na,0,0\nb,1,1\n"),
    ]);
    assert_eq!(b.matrix.items(), ["gsm/0", "gsm/1", "arc/0", "arc/1"]);
    assert_eq!(table(&b), ["a 1 0 0 0", "b 0 1 1 1"]);
    assert!(
        b.warnings[0].contains("taken as two scenarios"),
        "{:?}",
        b.warnings
    );
}

#[test]
fn of_two_scores_the_later_source_counts_or_both_are_kept() {
    let files = [
        ("run1.csv", "model,s/1,s/2\na,1,0\nb,0,1\n"),
        ("run2.csv", "model,s/2,s/1\na,1,1\n"),
    ];
    let b = plainly(&files);
    assert_eq!(table(&b), ["a 1 1", "b 0 1"]);
    let said = "run2.csv: other scores than in a source before it, the later ones count: a (1 items) (--runs separate keeps both)";
    assert_eq!(b.warnings, [said]);
    let separate = ReadOptions {
        runs: Runs::Separate,
        ..ReadOptions::default()
    };
    let b = joined(&files, separate).unwrap();
    assert_eq!(table(&b)[..2], ["a 1 0", "b 0 1"]);
    assert!(table(&b)[2].starts_with("a @") && table(&b)[2].ends_with("run2.csv 1 1"));
}

#[test]
fn near_misses_are_named_and_joined_where_asked() {
    let files = [
        ("x.csv", "model,S/q 1,S/q1.1\nOpenAI/gpt-4,1,0\nb,0,1\n"),
        ("y.csv", "model,s/Q_1,s/q11\nopenai__gpt-4,1,1\n"),
    ];
    let b = plainly(&files);
    assert_eq!((b.matrix.n_models(), b.matrix.n_items()), (3, 4));
    for said in [
        "y.csv shares neither a model nor an item",
        "models that differ in case, spaces or signs only are kept apart: \"OpenAI/gpt-4\" and \"openai__gpt-4\"",
        "scenarios that differ in case, spaces or signs only are kept apart: \"S\" and \"s\"",
    ] {
        assert!(
            b.warnings.iter().any(|w| w.contains(said)),
            "{:?}",
            b.warnings
        );
    }
    let loose = ReadOptions {
        names: Names::Loose,
        ..ReadOptions::default()
    };
    let b = joined(&files, loose).unwrap();
    assert_eq!(table(&b), ["OpenAI/gpt-4 1 0 1", "b 0 1 -"]);
    assert_eq!(b.matrix.items(), ["S/q 1", "S/q1.1", "s/q11"]);
    assert!(b.warnings.is_empty(), "{:?}", b.warnings);
}

#[test]
fn different_formats_and_demos_join_and_limits_hold() {
    let b = plainly(&[
        ("x.csv", "model,q1,q2\na,1,0\na,0,1\n"),
        (
            "y.jsonl",
            "{\"subject_id\": \"c\", \"responses\": {\"q1\": 1, \"q3\": 0}}\n",
        ),
    ]);
    assert_eq!(table(&b), ["a 1 0 -", "a #2 0 1 -", "c 1 - 0"]);
    assert!(
        b.warnings[0].starts_with("x.csv: model \"a\" stands again"),
        "{:?}",
        b.warnings
    );
    let few = ReadOptions {
        limits: Limits {
            cells: 5,
            ..Limits::default()
        },
        ..ReadOptions::default()
    };
    let e = joined(
        &[
            ("x.csv", "model,q1\na,1\nb,1\n"),
            ("y.csv", "model,q2\nc,1\n"),
        ],
        few,
    );
    let e = e.unwrap_err().to_string();
    assert!(
        e.contains("3 models x 2 items are more than 5 cells; --max-cells"),
        "{e}"
    );
    let demo = ReadOptions {
        also: vec!["demo:alpacaeval".into()],
        ..ReadOptions::default()
    };
    let b = benchmark(Path::new("demo:helm-lite"), &demo).unwrap();
    assert!(
        b.simulated && b.scenarios.len() == 7,
        "{}",
        b.scenarios.len()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A benchmark cut into pieces, by models and items, is itself again, whatever the order of the pieces.
    #[test]
    fn pieces_are_the_whole_again(
        cells in prop::collection::vec(prop_oneof![Just("0"), Just("1"), Just(".25"), Just("")], 12),
        first in prop::collection::vec(any::<bool>(), 12),
        swapped in any::<bool>(),
    ) {
        let text = |keep: &dyn Fn(usize) -> bool| {
            let mut text = "model,s/a/0,s/a/1,s/b/0,t/0\n".to_owned();
            for l in 0..3 {
                text += &format!("m{l}");
                for i in 0..4 {
                    let at = 4 * l + i;
                    text += ",";
                    text += if keep(at) { cells[at] } else { "" };
                }
                text += "\n";
            }
            text
        };
        let whole = plainly(&[("whole.csv", &text(&|_| true))]);
        let (one, two) = (text(&|at| first[at]), text(&|at| !first[at]));
        let (one, two) = if swapped { (two, one) } else { (one, two) };
        let again = plainly(&[("one.csv", &one), ("two.csv", &two)]);
        prop_assert_eq!(table(&again), table(&whole));
        prop_assert_eq!(again.matrix.items(), whole.matrix.items());
        prop_assert_eq!(again.scenarios, whole.scenarios);
    }
}
