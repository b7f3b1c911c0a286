use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::data::read::python::mend;
use crate::experiment::Imported;
use crate::irt::{Gaussians, GivenPrior, ItemParameters, sigmoid};

fn parsed(text: &str, asked: Option<Convention>) -> Result<Imported> {
    let mut bytes = text.as_bytes().to_vec();
    mend(&mut false, &mut bytes, true);
    read(Path::new("best.json"), &bytes, asked)
}

fn failed(text: &str, asked: Option<Convention>) -> String {
    let message = parsed(text, asked).unwrap_err().to_string();
    assert!(message.starts_with("best.json"), "{message}");
    assert!(message.len() < 600, "{message}");
    message
}

const FORK: Option<Convention> = Some(Convention::RepeatedIntercept);
const UPSTREAM: Option<Convention> = Some(Convention::Centred);

/// Probability of the first item at theta, and the convention.
fn first(text: &str, asked: Option<Convention>, theta: &[f64]) -> (f64, Convention) {
    let found = parsed(text, asked).unwrap();
    let items = &found.sets[0].items;
    (items.probabilities_at(theta)[0], items.convention())
}

#[test]
fn shapes_tell_the_convention_where_they_can() {
    let fork = r#"{"ability": [[1, 2]], "diff": [[0.3]], "disc": [[0.5, -1.5]]}"#;
    let (p, c) = first(fork, None, &[0.4, 0.6]);
    assert_eq!(c, Convention::RepeatedIntercept);
    assert!((p - sigmoid(0.5 * 0.4 - 1.5 * 0.6 - 2.0 * 0.3)).abs() < 1e-15);
    let upstream = r#"{"diff": [[0.3, 0.1]], "disc": [[0.5, -1.5]]}"#;
    let (p, c) = first(upstream, None, &[0.4, 0.6]);
    assert_eq!(c, Convention::Centred);
    assert!((p - sigmoid(0.5 * (0.4 - 0.3) - 1.5 * (0.6 - 0.1))).abs() < 1e-15);
    let two = r#"{"ability": [0.5], "diff": [0.3], "disc": [2.0], "irt_model": "2pl"}"#;
    assert_eq!(
        first(two, None, &[1.0]),
        (sigmoid(2.0 * 0.7), Convention::Centred)
    );
    let one = r#"{"ability": [0.5], "diff": [0.3], "irt_model": "1pl"}"#;
    assert_eq!(
        first(one, None, &[1.0]),
        (sigmoid(0.7), Convention::Centred)
    );
    // Lists of one number may be either.
    let open = r#"{"diff": [[0.3]], "disc": [[2.0]]}"#;
    assert!(failed(open, None).contains("--convention fork or --convention upstream"));
    assert_eq!(first(open, FORK, &[1.0]).0, sigmoid(2.0 - 0.3));
    assert_eq!(first(open, UPSTREAM, &[1.0]).0, sigmoid(2.0 * 0.7));
}

#[test]
fn a_convention_that_cannot_be_is_refused() {
    let fork = r#"{"diff": [[0.3]], "disc": [[0.5, -1.5]]}"#;
    assert!(
        failed(fork, UPSTREAM).contains("convention upstream, but an item has 1 number in diff")
    );
    let upstream = r#"{"diff": [[0.3, 0.1]], "disc": [[0.5, -1.5]]}"#;
    assert!(failed(upstream, FORK).contains("convention fork, but an item has 2 numbers"));
    let named = r#"{"convention": "fork", "diff": [[0.3]], "disc": [[0.5]]}"#;
    assert!(failed(named, UPSTREAM).contains("its convention is fork, not upstream"));
    assert_eq!(first(named, None, &[1.0]).1, Convention::RepeatedIntercept);
    let odd = r#"{"convention": "sideways", "diff": [[0.3]], "disc": [[0.5]]}"#;
    assert!(failed(odd, None).contains("neither fork nor upstream"));
}

#[test]
fn what_does_not_fit_together_is_named() {
    let ids = r#""item_ids": {"0": "x/1", "1": "x/2"}"#;
    for (text, said) in [
        ("{}".to_owned(), "no \"diff\""),
        (r#"{"diff": [], "disc": []}"#.into(), "no items"),
        (r#"{"diff": [[0.1]]}"#.into(), "no \"disc\""),
        (
            r#"{"diff": [[1], [2]], "disc": [[1, 2]]}"#.into(),
            "diff has 2 items, disc has 1",
        ),
        (
            format!(r#"{{"diff": [[1], [2]], "disc": [[1, 2], [1]], {ids}}}"#),
            "disc of \"x/2\" has 1 number, the first has 2",
        ),
        (
            r#"{"diff": [[1], 2], "disc": [[1, 2], [1, 2]]}"#.into(),
            "diff of number 1 has a plain number",
        ),
        (
            format!(r#"{{"diff": [[1], [NaN]], "disc": [[1, 2], [1, 2]], {ids}}}"#),
            "diff of \"x/2\" is NaN",
        ),
        (
            r#"{"diff": [[1]], "disc": [[1, -Infinity]]}"#.into(),
            "disc of number 0 is NaN, infinite or null",
        ),
        (
            r#"{"diff": [[1e9]], "disc": [[1, 2]]}"#.into(),
            "is 1e9, beyond 1e6",
        ),
        (r#"{"diff": [[]], "disc": [[]]}"#.into(), "diff has D = 0"),
        (
            format!(
                r#"{{"diff": [[1]], "disc": [[{}]]}}"#,
                vec!["1"; 51].join(", ")
            ),
            "disc has D = 51",
        ),
        (
            r#"{"diff": [[1, 2]], "disc": [[1, 2, 3]]}"#.into(),
            "2 numbers in diff and 3 in disc",
        ),
        (
            r#"{"ability": [[1]], "diff": [[1]], "disc": [[1, 2]]}"#.into(),
            "disc has D = 2, ability has D = 1",
        ),
        (
            format!(r#"{{"diff": [[1]], "disc": [[1, 2]], {ids}}}"#),
            "diff has 1, item_ids has 2",
        ),
        (
            r#"{"diff": [1, 2], "item_ids": {"0": "a", "2": "b"}}"#.into(),
            "the index \"2\" is none of 0 to 1",
        ),
        (
            r#"{"diff": [1, 2], "item_ids": ["a", "a"]}"#.into(),
            "\"a\" stands in it twice",
        ),
        (
            r#"{"ability": [1], "diff": [1], "subject_ids": ["a", "b"]}"#.into(),
            "ability has 1, subject_ids has 2",
        ),
        (
            r#"{"diff": [1], "disc": [1], "lambdas": [0.5], "irt_model": "4pl"}"#.into(),
            "4pl",
        ),
        (r#"{"diff": "none"}"#.into(), "line 1"),
        (r#"{"diff": [["x"]]}"#.into(), "\"x\" is no number"),
        (r#"{"diff": [[[1]]]}"#.into(), "lists within lists"),
        ("{\n\"diff\": [[1]\n".into(), "line 3"),
        (
            format!(r#"{{"diff": {}"#, "[".repeat(100_000)),
            "recursion limit",
        ),
        (
            format!(r#"{{"diff": [["{}"]]}}"#, "x".repeat(100_000)),
            "...",
        ),
        (
            format!(
                r#"{{"convention": "{}", "diff": [1]}}"#,
                "é".repeat(100_000)
            ),
            "...",
        ),
    ] {
        let message = failed(&text, None);
        assert!(message.contains(said), "{said}: {message}");
    }
}

#[test]
fn ids_that_count_are_positions() {
    let of = |ids: &str| {
        let text = format!(r#"{{"diff": [1, 2], "item_ids": {ids}, "extra": [[[]]]}}"#);
        parsed(&text, None).unwrap().sets[0].positional
    };
    assert!(of(r#"{"1": "q1", "0": "q0"}"#));
    assert!(of("[0, 1]"));
    assert!(!of(r#"["q1", "q0"]"#));
    assert!(!of(r#"["a", "b"]"#));
}

#[test]
fn the_prior_starts_at_the_abilities() {
    let text = r#"{"ability": [[1, 0], [3, 0]], "diff": [[0.3]], "disc": [[0.5, 1]]}"#;
    let found = parsed(text, None).unwrap();
    let GivenPrior::Start(prior) = &found.sets[0].prior else {
        panic!("fitted");
    };
    assert_eq!(prior.mean, [2.0, 0.0]);
    assert_eq!(prior.precision[0], 1.0);
}

fn items() -> impl Strategy<Value = (usize, Vec<f64>, Vec<f64>)> {
    (1usize..6).prop_flat_map(|d| {
        let z = prop::collection::vec(-4.0..4.0f64, (d + 1) * 7);
        (Just(d), z, prop::collection::vec(-3.0..3.0f64, d))
    })
}

proptest! {
    #[test]
    fn every_convention_keeps_the_probabilities((d, z, theta) in items()) {
        let items = ItemParameters::new(Gaussians::points(d + 1, z));
        let wanted = items.probabilities_at(&theta);
        let a: Vec<f64> = (0..items.len()).flat_map(|i| items.discrimination(i).to_vec()).collect();
        for convention in [Convention::Logit, Convention::RepeatedIntercept, Convention::Centred] {
            let b = items.difficulties(convention);
            // A discrimination of nearly 0 has a difficulty far away, and with it the rounding.
            prop_assume!(b.concat().iter().all(|b| b.abs() < 1e3));
            let back = ItemParameters::published(convention, d, &a, &b.concat());
            for (p, q) in wanted.iter().zip(back.probabilities_at(&theta)) {
                prop_assert!((p - q).abs() < 1e-12, "{convention:?}: {p} {q}");
            }
        }
    }

    #[test]
    fn whatever_is_read_ends_well(cut in 0usize..400, with in "[\\[\\]{}\",:0-9aeN.-]{0,3}", keep in any::<bool>()) {
        let whole = r#"{"irt_model": "multidim_2pl", "ability": [[0.1, NaN], [1, 2]], "diff": [[0.3], [-1e2]], "disc": [[0.5, -1.5], [1, 0]], "item_ids": {"0": "a", "1": "b"}, "subject_ids": {"0": "m", "1": "n"}, "convention": "fork"}"#;
        let cut = cut.min(whole.len());
        let rest = if keep { &whole[(cut + with.len()).min(whole.len())..] } else { "" };
        if let Err(e) = parsed(&format!("{}{with}{rest}", &whole[..cut]), None) {
            let message = e.to_string();
            prop_assert!(message.starts_with("best.json") && message.len() < 600, "{}", message);
        }
    }
}
