use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::error::Error;

/// A benchmark of one scenario from rows of scores.
fn benchmark(models: &[&str], rows: &[&[f64]]) -> Benchmark {
    let n = rows[0].len();
    let mut b = MatrixBuilder::new((0..n).map(|i| format!("q{i}")).collect());
    models.iter().zip(rows).for_each(|(m, r)| b.push(*m, r));
    Benchmark {
        name: "b".into(),
        origin: PathBuf::from("b.json"),
        simulated: false,
        source: String::new(),
        licence: String::new(),
        metric: String::new(),
        notes: String::new(),
        matrix: b.finish(),
        scenarios: vec![Scenario {
            name: "s".into(),
            aggregate: Aggregate::Micro,
            columns: (0..n).collect(),
            subscenarios: vec![SubScenario {
                name: "all".into(),
                items: 0..n,
            }],
        }],
        released: BTreeMap::new(),
        organisations: BTreeMap::new(),
        texts: ItemTexts::default(),
        warnings: Vec::new(),
    }
}

/// `count` models of `orgs` organisations in turn, none of them silent.
fn models(count: usize, orgs: usize) -> Benchmark {
    let names: Vec<String> = (0..count)
        .map(|m| format!("org{}/m{m}", m % orgs))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    benchmark(&names, &vec![&[1.0, 0.0][..]; count])
}

fn message(e: Error) -> String {
    e.to_string()
}

proptest! {
    #[test]
    fn a_random_quarter_tests_and_the_rest_trains(count in 3usize..60, seed in 0u64..100) {
        let b = models(count, 3);
        let s = split(&b, &SplitKind::Iid, seed).unwrap();
        prop_assert_eq!(s.test.len(), (count / 4).max(1));
        let mut all = [s.train.clone(), s.test.clone()].concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..count).collect::<Vec<_>>());
        prop_assert_eq!(s, split(&b, &SplitKind::Iid, seed).unwrap());
    }

    #[test]
    fn whole_organisations_test_up_to_a_quarter(orgs in 4usize..8, each in 2usize..6, seed in 0u64..50) {
        let b = models(orgs * each, orgs);
        let s = split(&b, &SplitKind::Org, seed).unwrap();
        prop_assert!(s.test.len() <= orgs * each / 4 && !s.test.is_empty());
        for &l in &s.test {
            prop_assert!(s.train.iter().all(|t| t % orgs != l % orgs));
        }
    }
}

#[test]
fn the_newest_quarter_tests_and_the_undated_train() {
    let mut b = models(8, 2);
    for (m, date) in [
        (0, "2024-05-01"),
        (3, "2024-07-01"),
        (5, "2024-07-01"),
        (6, "2023-01-01"),
    ] {
        let name = b.matrix.models()[m].clone();
        b.released.insert(name, date.parse().unwrap());
    }
    let s = split(&b, &SplitKind::Date, 0).unwrap();
    assert_eq!(s.test, [3, 5]);
    assert!(s.warnings[0].contains("4 models without a release date"));
    b.released.clear();
    let none = split(&b, &SplitKind::Date, 0).unwrap_err();
    assert!(message(none).contains("release dates of at least 2 models, 0 are known"));
}

#[test]
fn the_best_quarter_tests_and_models_without_an_overall_score_train() {
    let nan = f64::NAN;
    let names: Vec<String> = (0..9).map(|m| format!("m{m}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rows: Vec<Vec<f64>> = (0..8).map(|m| vec![f64::from(m % 5) / 4.0; 2]).collect();
    rows.push(vec![1.0, nan]);
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let mut b = benchmark(&names, &rows);
    // The second item a scenario of its own, which the last model lacks.
    let mut other = b.scenarios[0].clone();
    other.name = "other".into();
    for (s, column) in [(&mut b.scenarios[0], 0), (&mut other, 1)] {
        s.columns = vec![column];
        s.subscenarios.truncate(1);
        s.subscenarios[0].items = 0..1;
    }
    b.scenarios.push(other);
    let s = split(&b, &SplitKind::Top, 3).unwrap();
    // 4 is the best; of 3 and none of its equals the first.
    assert_eq!(s.test, [3, 4]);
    assert!(s.train.contains(&8));
    assert!(s.warnings[0].contains("1 model without an overall score"));
}

#[test]
fn organisations_of_one_model_each_are_no_split() {
    let none = split(&models(8, 8), &SplitKind::Org, 0).unwrap_err();
    assert!(message(none).contains("8 models have 8 organisations"));
    assert_eq!(models(4, 2).organisation("a/b_c"), "a");
    assert_eq!(models(4, 2).organisation("a_b"), "a");
}

#[test]
fn silent_models_neither_train_nor_test() {
    let b = benchmark(
        &["a", "b", "c", "d"],
        &[&[1.0, 0.0], &[f64::NAN, f64::NAN], &[0.0, 1.0], &[1.0, 1.0]],
    );
    let s = split(&b, &SplitKind::Iid, 1).unwrap();
    assert!(!s.train.contains(&1) && !s.test.contains(&1));
    assert_eq!(Split::all_train(&b).train, [0, 2, 3]);
}

#[test]
fn diagnostics_find_what_is_there() {
    let nan = f64::NAN;
    let b = benchmark(
        &["right", "wrong", "twin", "twin too", "silent", "partial"],
        &[
            &[1.0, 1.0, 1.0, 1.0, nan],
            &[1.0, 0.0, 0.0, 0.0, nan],
            &[1.0, 1.0, 0.0, 1.0, nan],
            &[1.0, 1.0, 0.0, 1.0, nan],
            &[nan; 5],
            &[1.0, 0.0, nan, 0.0, nan],
        ],
    );
    let d = Diagnostics::of(&b);
    assert_eq!(d.missing_cells, 5 + 4 + 2);
    assert_eq!(d.models_without_answers, [4]);
    assert_eq!(d.items_without_answers, [4]);
    assert_eq!(d.constant_items, [0]);
    assert_eq!(d.all_right, [0]);
    assert_eq!(d.all_wrong, [1, 5]);
    assert_eq!(d.duplicate_models, [vec![2, 3]]);
    assert_eq!(d.duplicate_items, [vec![1, 3]]);
    let said = d.warnings(&b).join("\n");
    for text in ["silent", "q0", "twin, twin too", "only 5 models"] {
        assert!(said.contains(text), "{said} lacks {text}");
    }
}

#[test]
fn what_is_written_reads_back_the_same_and_twice_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut b = benchmark(
        &["m,1", "m \"2\""],
        &[&[0.1, f64::NAN, 1.0], &[0.0, 1.0 / 3.0, 1e-9]],
    );
    b.simulated = true;
    b.released
        .insert("m,1".into(), "2024-02-29".parse().unwrap());
    let text = ItemText {
        text: "What is U+2028 \u{2028} here?".into(),
        options: vec!["a".into(), "b".into()],
        answer: Some("b".into()),
        category: None,
    };
    b.texts.insert("q1".into(), text);
    let path = write::native(&b, dir.path(), "b").unwrap();
    let again = read::benchmark(&path, &read::ReadOptions::default()).unwrap();
    for l in 0..2 {
        for i in 0..3 {
            assert_eq!(again.matrix.get(l, i), b.matrix.get(l, i));
        }
    }
    assert_eq!(again.matrix.models(), b.matrix.models());
    assert_eq!(again.scenarios, b.scenarios);
    assert_eq!((again.simulated, &again.released), (true, &b.released));
    assert_eq!(again.texts.get("q1"), b.texts.get("q1"));
    let bytes = |stem: &str| std::fs::read(dir.path().join(stem)).unwrap();
    let first = (bytes("b.json"), bytes("b.csv.gz"));
    write::native(&again, dir.path(), "b").unwrap();
    assert_eq!(first, (bytes("b.json"), bytes("b.csv.gz")));
    // The table finds the manifest beside it.
    let table =
        read::benchmark(&dir.path().join("b.csv.gz"), &read::ReadOptions::default()).unwrap();
    assert_eq!(table.scenarios, b.scenarios);
}

#[test]
fn prefixes_of_item_ids_are_scenarios_and_subscenarios() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "model,b/x/1,a/1,b/y/1,b/x/2\nm,1,0,0,1\n").unwrap();
    let b = read::benchmark(&path, &read::ReadOptions::default()).unwrap();
    assert_eq!(b.scenarios.len(), 2);
    assert_eq!(b.scenarios[0].name, "b");
    assert_eq!(b.scenarios[0].columns, [0, 3, 2]);
    assert_eq!(b.scenarios[0].subscenarios.len(), 2);
    // Sub-scenarios x (1, 1) and y (0) count equally.
    assert_eq!(b.true_score(0, &b.scenarios[0]), Some(0.5));
}

#[test]
fn manifests_that_do_not_fit_say_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("m.csv"), "model,q0,q1\na,1,0\nb,0,1\n").unwrap();
    let path = dir.path().join("m.json");
    let with = |scenarios: &str, more: &str| {
        let text = format!(r#"{{"benchmark":"b","matrix":"m.csv","scenarios":{scenarios}{more}}}"#);
        std::fs::write(&path, text).unwrap();
        read::benchmark(&path, &read::ReadOptions::default())
    };
    for (scenarios, more, text) in [
        (
            r#"{"s":{"all":[0,3]}}"#,
            "",
            "not a [first, end) range of the 2 columns",
        ),
        (
            r#"{"s":{"all":[0,2]},"t":{"all":[1,2]}}"#,
            "",
            "column 1 is in scenario \"s\" and again",
        ),
        (r#"{"s":[0,2]}"#, "", "not an object of sub-scenarios"),
        ("{}", "", "no scenarios"),
        (
            r#"{"s":{"all":[0,2]}}"#,
            r#","models":3"#,
            "`models` says 3, but m.csv has 2",
        ),
        (
            r#"{"s":{"all":[0,2]}}"#,
            r#","released":{"a":"soon"}"#,
            "`released` of \"a\" is \"soon\"",
        ),
        (r#"{"s":{"all":[0,2]}"#, "", "not a manifest"),
    ] {
        let said = message(with(scenarios, more).unwrap_err());
        assert!(said.contains(text), "{said} lacks {text}");
    }
    let warned = with(
        r#"{"s":{"all":[0,1]}}"#,
        r#","released":{"A":"2024-01-01"}"#,
    )
    .unwrap();
    let said = warned.warnings.join("\n");
    assert!(said.contains("1 of 2 items are in no scenario"), "{said}");
    assert!(said.contains("did you mean \"a\"?"), "{said}");
    assert!(read::benchmark(Path::new("/nowhere.csv"), &read::ReadOptions::default()).is_err());
}

#[test]
fn items_with_the_same_text_are_found_over_scenarios_too() {
    let mut b = benchmark(&["a", "b"], &[&[1.0, 0.0, 1.0, 0.0], &[0.0, 1.0, 1.0, 0.0]]);
    let mut other = b.scenarios[0].clone();
    other.name = "other".into();
    for (s, columns) in [(&mut b.scenarios[0], 0..3), (&mut other, 3..4)] {
        s.subscenarios[0].items = 0..columns.len();
        s.columns = columns.collect();
    }
    b.scenarios.push(other);
    for (id, text) in [
        ("q0", "Is it?"),
        ("q1", "is  it"),
        ("q2", "?"),
        ("q3", "Is it"),
    ] {
        let text = ItemText {
            text: text.into(),
            options: Vec::new(),
            answer: None,
            category: None,
        };
        b.texts.insert(id.into(), text);
    }
    let d = Diagnostics::of(&b);
    assert_eq!(
        (d.duplicate_texts.clone(), d.texts_across),
        (vec![vec![0, 1, 3]], 1)
    );
    let said = d.warnings(&b).join("; ");
    assert!(said.contains(
        "3 items share their text with another item, in 1 group, 1 of them over several scenarios or sub-scenarios"
    ));
    // Of one scenario only what is within.
    let d = Diagnostics::within(&b, &[0]);
    assert_eq!((d.duplicate_texts, d.texts_across), (vec![vec![0, 1]], 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever models and items are called, the written pair reads back, by either file and whatever is said of tables.
    #[test]
    fn pairs_with_odd_names_read_back(
        odd in prop::collection::btree_set("( |\t|;|,|\"|\n|\r|/|a|model|item|score|NA|\u{feff}|\u{e4}){0,4}", 3..7),
        cells in prop::collection::vec(prop_oneof![Just(f64::NAN), Just(0.0), Just(1.0), 0.0..1.0f64], 12),
        percent in any::<bool>(),
    ) {
        let odd: Vec<&str> = odd.iter().map(String::as_str).collect();
        let models: Vec<&str> = odd.iter().copied().filter(|m| !m.is_empty()).take(2).collect();
        let rows: Vec<&[f64]> = cells.chunks(odd.len()).take(models.len()).collect();
        prop_assume!(rows.len() == 2 && rows[1].len() == odd.len());
        let mut b = benchmark(&models, &rows);
        let mut matrix = MatrixBuilder::new(odd.iter().map(|i| i.to_string()).collect());
        models.iter().zip(&rows).for_each(|(m, r)| matrix.push(*m, r));
        b.matrix = matrix.finish();
        let dir = tempfile::tempdir().unwrap();
        let path = write::native(&b, dir.path(), "b").unwrap();
        let options = read::ReadOptions {
            percent,
            transpose: percent,
            delimiter: percent.then_some(b';'),
            ..read::ReadOptions::default()
        };
        for path in [path, dir.path().join("b.csv.gz")] {
            let again = read::benchmark(&path, &options).unwrap();
            prop_assert_eq!(again.matrix.items(), b.matrix.items());
            prop_assert_eq!(again.matrix.models(), b.matrix.models());
            for l in 0..2 {
                for i in 0..odd.len() {
                    prop_assert_eq!(again.matrix.get(l, i), b.matrix.get(l, i));
                }
            }
            prop_assert_eq!(&again.warnings, &Vec::<String>::new());
        }
    }
}

#[test]
fn a_pair_of_two_writings_is_refused() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = benchmark(&["a", "b"], &[&[1.0, 0.0], &[0.0, 1.0]]);
    let second = benchmark(&["a", "b"], &[&[1.0, 0.0], &[0.0, 0.0]]);
    let path = write::native(&first, one.path(), "b").unwrap();
    write::native(&second, two.path(), "b").unwrap();
    std::fs::copy(two.path().join("b.csv.gz"), one.path().join("b.csv.gz")).unwrap();
    let e = read::benchmark(&path, &read::ReadOptions::default());
    let e = e.unwrap_err().to_string();
    assert!(
        e.contains("b.csv.gz is not the matrix that this describes"),
        "{e}"
    );
    // Without a sum, whatever stands beside it is taken.
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().filter(|l| !l.contains("sha256")).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    assert!(read::benchmark(&path, &read::ReadOptions::default()).is_ok());
    // One that cannot be replaced is found before the matrix is.
    let before = std::fs::read(one.path().join("b.csv.gz")).unwrap();
    let mut mode = std::fs::metadata(&path).unwrap().permissions();
    mode.set_readonly(true);
    std::fs::set_permissions(&path, mode).unwrap();
    let e = write::native(&first, one.path(), "b")
        .unwrap_err()
        .to_string();
    assert!(e.contains("b.json: the file is read-only"), "{e}");
    assert_eq!(std::fs::read(one.path().join("b.csv.gz")).unwrap(), before);
}
