use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::data::read::Names;
use crate::data::read::{Limits, Runs, benchmark};
use std::path::Path;

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
    let said = "run2.csv: other scores than in a source before it, the later ones count: a (1 item) (--runs separate keeps both)";
    assert_eq!(b.warnings, [said]);
    let separate = ReadOptions {
        runs: Runs::Separate,
        ..ReadOptions::default()
    };
    let b = joined(&files, separate).unwrap();
    assert_eq!(table(&b)[..2], ["a 1 0", "b 0 1"]);
    assert_eq!(table(&b)[2], "a @run2.csv 1 1");
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

/// Both orders of two files, read.
fn both(one: (&str, &str), two: (&str, &str)) -> [Benchmark; 2] {
    [plainly(&[one, two]), plainly(&[two, one])]
}

fn names(b: &Benchmark) -> Vec<(&str, usize)> {
    b.scenarios
        .iter()
        .map(|s| (s.name.as_str(), s.n_items()))
        .collect()
}

fn says(b: &Benchmark, text: &str) {
    assert!(
        b.warnings.iter().any(|w| w.contains(text)),
        "{text:?} is not in {:?}",
        b.warnings
    );
}

const PAIR: [(&str, &str); 2] = [
    ("n.csv", "model,x,y,z\na,1,0,1\nb,0,1,1\n"),
    (
        "n.json",
        r#"{"benchmark": "n", "matrix": "n.csv", "scenarios": {"s": {"p": [0, 1], "q": [1, 2]}, "t": {"all": [2, 3]}}, "aggregate": "micro"}"#,
    ),
];

/// The pair of `PAIR` and further files, in both orders.
fn with_pair(also: (&str, &str)) -> [Result<Benchmark>; 2] {
    let dir = TempDir::new().unwrap();
    for (name, text) in PAIR.iter().chain([&also]) {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let (one, two) = (dir.path().join("n.json"), dir.path().join(also.0));
    [(&one, &two), (&two, &one)].map(|(first, second)| {
        let options = ReadOptions {
            also: vec![second.clone()],
            ..ReadOptions::default()
        };
        benchmark(first, &options)
    })
}

#[test]
fn items_of_a_table_go_to_the_scenarios_that_have_them() {
    for b in with_pair(("bare.csv", "model,z,x,new\nc,1,0,1\n")) {
        let b = b.unwrap();
        assert_eq!(names(&b), [("s", 2), ("t", 1), ("bare", 1)]);
        let c = table(&b).into_iter().find(|row| row.starts_with('c'));
        assert_eq!(c.unwrap(), "c 0 - 1 1");
        let aggregate = b.scenarios[0].aggregate;
        assert_eq!(aggregate, crate::data::Aggregate::Micro);
        assert!(!b.warnings.iter().any(|w| w.contains("averaged")));
        says(
            &b,
            "bare.csv: 1 item that no other source has, put into the scenario \"bare\"",
        );
    }
}

#[test]
fn an_item_that_several_scenarios_have_is_refused() {
    let files = [
        ("n.csv", "model,s/1,t/1\na,1,0\n"),
        ("bare.csv", "model,s/1,2\nc,1,1\n"),
    ];
    assert_eq!(names(&plainly(&files)), [("s", 1), ("t", 1), ("bare", 1)]);
    let dir = TempDir::new().unwrap();
    for name in ["s", "t"] {
        fs::write(dir.path().join(format!("{name}.csv")), "model,0,1\na,1,0\n").unwrap();
        let text = format!(
            r#"{{"benchmark": "{name}", "matrix": "{name}.csv", "scenarios": {{"{name}": {{"all": [0, 2]}}}}}}"#
        );
        fs::write(dir.path().join(format!("{name}.json")), text).unwrap();
    }
    fs::write(dir.path().join("bare.csv"), "model,0,1\nc,1,0\n").unwrap();
    let read = |names: [&str; 3]| {
        let also = names[1..].iter().map(|n| dir.path().join(n)).collect();
        let options = ReadOptions {
            also,
            ..ReadOptions::default()
        };
        benchmark(&dir.path().join(names[0]), &options)
    };
    let e = read(["bare.csv", "s.json", "t.json"])
        .unwrap_err()
        .to_string();
    for part in [
        "bare.csv",
        "\"0\" may be of the scenarios s or t",
        "SCENARIO/ID",
    ] {
        assert!(e.contains(part), "{e}");
    }
    // A file that is called like one of them is of that one.
    fs::create_dir(dir.path().join("more")).unwrap();
    fs::write(dir.path().join("more/t.csv"), "model,0,1\nc,1,0\n").unwrap();
    let b = read(["s.json", "more/t.csv", "t.json"]).unwrap();
    assert_eq!(table(&b), ["a 1 0 1 0", "c - - 1 0"]);
    assert_eq!(b.matrix.items(), ["s/0", "s/1", "t/0", "t/1"]);
}

#[test]
fn tables_are_one_by_chains_of_ids_in_any_order() {
    let files = [
        ("p0.csv", "model,a0,a1\nx,1,0\n"),
        ("p1.csv", "model,a2,a3\ny,1,0\n"),
        ("p2.csv", "model,a1,a2\nz,1,0\n"),
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]] {
        let b = plainly(&order.map(|at| files[at]));
        assert_eq!((b.scenarios.len(), b.matrix.n_items()), (1, 4), "{order:?}");
    }
}

#[test]
fn a_rerun_is_one_scenario_and_another_test_is_not() {
    let old = ("old.csv", "model,0,1,2\nA,1,0,1\nB,0,0,1\n");
    let new = ("new.csv", "model,0,1,2\nA,1,1,1\nC,0,1,1\n");
    let [b, turned] = both(old, new);
    assert_eq!(names(&b), [("old", 3)]);
    assert_eq!(table(&b), ["A 1 1 1", "B 0 0 1", "C 0 1 1"]);
    says(
        &b,
        "new.csv: other scores than in a source before it, the later ones count: A (1 item)",
    );
    assert_eq!(table(&turned)[0], "A 1 0 1");
    let separate = ReadOptions {
        runs: Runs::Separate,
        ..ReadOptions::default()
    };
    let b = joined(&[old, new], separate).unwrap();
    assert_eq!(
        table(&b),
        ["A 1 0 1", "B 0 0 1", "C 0 1 1", "A @new.csv 1 1 1"]
    );
    // Names of items that do not merely count are the items' own, however much the scores differ.
    let [b, _] = both(
        ("x.csv", "model,arc-a,arc-b\nA,1,0\nB,0,1\n"),
        ("y.csv", "model,arc-a,arc-b\nA,0,1\nB,1,0\n"),
    );
    assert_eq!(b.scenarios.len(), 1);
    // What fits two different tests is refused: nothing tells of which it is.
    let e = joined(
        &[
            ("gsm.csv", "model,0,1\na,1,0\nb,0,1\n"),
            ("more.csv", "model,0,1\nc,1,0\n"),
            ("arc.csv", "model,0,1\na,0,0\nb,1,1\n"),
        ],
        ReadOptions::default(),
    );
    let e = e.unwrap_err().to_string();
    assert!(
        e.contains("more.csv: it shares item ids") && e.contains("SCENARIO/ID"),
        "{e}"
    );
}

#[test]
fn ids_that_coincide_stay_unique() {
    let b = plainly(&[
        ("n.csv", "model,a/x,b/x\nm,1,0\n"),
        (
            "more.json",
            "{\"subject_id\": \"k\", \"responses\": {\"a/x\": 1, \"b/x\": 0}}",
        ),
    ]);
    assert_eq!(b.matrix.items(), ["a/x", "b/x"]);
    let dir = TempDir::new().unwrap();
    for (name, id) in [("a", "x"), ("b", "x"), ("c", "a/x")] {
        fs::write(
            dir.path().join(format!("{name}.csv")),
            format!("model,{id}\nm,1\n"),
        )
        .unwrap();
        let text = format!(
            r#"{{"benchmark": "{name}", "matrix": "{name}.csv", "scenarios": {{"{name}": {{"all": [0, 1]}}}}}}"#
        );
        fs::write(dir.path().join(format!("{name}.json")), text).unwrap();
    }
    let options = ReadOptions {
        also: vec![dir.path().join("c.json"), dir.path().join("b.json")],
        ..ReadOptions::default()
    };
    let b = benchmark(&dir.path().join("a.json"), &options).unwrap();
    assert_eq!(b.matrix.items(), ["a/x #2", "a/x", "b/x"]);
}

#[test]
fn loose_names_never_merge_two_of_one_source() {
    let loose = || ReadOptions {
        names: Names::Loose,
        ..ReadOptions::default()
    };
    let models = |files: &[(&str, &str)]| joined(files, loose()).unwrap().matrix.models().to_vec();
    assert_eq!(
        models(&[
            ("x.csv", "model,q\ngpt-4,1\nGPT4,0\n"),
            ("y.csv", "model,q\nGPT4,0\nGpt 4,1\n")
        ]),
        ["gpt-4", "GPT4", "Gpt 4"]
    );
    assert_eq!(
        models(&[
            ("x.csv", "model,q\n\u{1f600},1\n--,0\n"),
            ("y.csv", "model,q\n\u{1f680},0\n++,1\n")
        ]),
        ["\u{1f600}", "--", "\u{1f680}", "++"]
    );
    let b = joined(
        &[
            ("x.csv", "model,C/1,C++/1,C#/1\na,1,0,1\n"),
            ("y.csv", "model,c#/1,c/1\na,1,1\n"),
        ],
        loose(),
    )
    .unwrap();
    assert_eq!(names(&b), [("C", 1), ("C++", 1), ("C#", 1)]);
    let [b, _] = both(
        ("x.csv", "model,Q 1,Q 2\na,1,0\n"),
        ("y.csv", "model,q_1,q_2\nb,1,0\n"),
    );
    says(
        &b,
        "items that differ in case, spaces or signs only are kept apart: \"Q 1\" and \"q_1\"",
    );
    let b = joined(
        &[
            ("x.csv", "model,Q 1,Q 2\na,1,0\n"),
            ("y.csv", "model,q_1,q_2\nb,1,0\n"),
        ],
        loose(),
    )
    .unwrap();
    assert_eq!(table(&b), ["a 1 0", "b 1 0"]);
}

#[test]
fn what_only_a_name_joins_and_parts_that_differ_are_said() {
    let [b, _] = both(
        ("x.csv", "model,arc/1,arc/2\na,1,0\n"),
        ("y.csv", "model,arc/7,arc/8\nb,1,0\n"),
    );
    assert_eq!(names(&b), [("arc", 4)]);
    says(
        &b,
        "arc is pooled from x.csv and y.csv, which share no item and no model",
    );
    let [b, _] = with_pair(("o.jsonl", r#"{"subject_id": "c", "responses": {"s/x": 1}}"#));
    says(&b.unwrap(), "s is pooled from");
    let dir = TempDir::new().unwrap();
    let pair = |name: &str, sub: &str, aggregate: &str| {
        fs::write(dir.path().join(format!("{name}.csv")), "model,x,y\na,1,0\n").unwrap();
        let text = format!(
            r#"{{"benchmark": "{name}", "matrix": "{name}.csv", "scenarios": {{"s": {{"{sub}": [0, 2]}}}}, "aggregate": "{aggregate}"}}"#
        );
        let path = dir.path().join(format!("{name}.json"));
        fs::write(&path, text).unwrap();
        path
    };
    let (one, two) = (pair("one", "p", "macro"), pair("two", "q", "micro"));
    let options = ReadOptions {
        also: vec![two],
        ..ReadOptions::default()
    };
    let b = benchmark(&one, &options).unwrap();
    says(
        &b,
        "two.json: 2 items in another sub-scenario than in a source before it",
    );
    says(
        &b,
        "\"s\" is averaged by macro in one source and by micro in",
    );
    says(&b, "two.json: macro counts");
}

#[test]
fn a_source_named_twice_is_read_once_and_percentages_are_doubted() {
    let dir = TempDir::new().unwrap();
    for (name, text) in PAIR {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let options = ReadOptions {
        also: vec![dir.path().join("n.csv"), dir.path().join("./n.json")],
        percent: true,
        runs: Runs::Separate,
        ..ReadOptions::default()
    };
    let b = benchmark(&dir.path().join("n.json"), &options).unwrap();
    assert_eq!((b.matrix.n_models(), b.matrix.n_items()), (2, 3));
    says(&b, "n.csv is named twice: read once");
    says(
        &b,
        "every score is 0 or 1, and --percent makes 1 a hundredth",
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
