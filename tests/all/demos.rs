//! The bundled demos: their shapes, their size, and that they say what they are.

use serde_json::Value;
use tinyscope::data::demo;

fn tinyscope(args: &[&str]) -> (String, String) {
    let out = crate::common::program()
        .args(args)
        .output()
        .expect("the program starts");
    let text = |b: Vec<u8>| String::from_utf8(b).expect("UTF-8");
    (text(out.stdout), text(out.stderr))
}

#[test]
fn demos_have_the_shapes_of_the_papers_benchmarks() {
    for (name, models, items, scenarios, subscenarios) in [
        ("helm-lite", 83, 5_551, 6, 20),
        ("open-llm-leaderboard", 395, 28_659, 6, 62),
        ("mmlu", 395, 14_042, 1, 57),
        ("alpacaeval", 100, 805, 1, 5),
    ] {
        let b = demo::load(name).expect(name);
        assert!(
            b.simulated && b.name.len() > 2 && !b.released.is_empty(),
            "{name}"
        );
        assert_eq!(
            (b.matrix.n_models(), b.matrix.n_items()),
            (models, items),
            "{name}"
        );
        assert_eq!(b.scenarios.len(), scenarios, "{name}");
        let subs: usize = b.scenarios.iter().map(|s| s.subscenarios.len()).sum();
        assert_eq!(subs, subscenarios, "{name}");
        assert!(
            b.matrix
                .models()
                .iter()
                .all(|m| m.starts_with("org-") && m.contains("/sim-"))
        );
        let id = &b.matrix.items()[0];
        assert!(
            b.texts.get(id).is_some_and(|t| !t.text.is_empty()),
            "{name}: no text"
        );
    }
    assert_eq!(demo::names().next(), Some("helm-lite"));
}

#[test]
fn demos_stay_under_four_megabytes() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
    let bytes: u64 = std::fs::read_dir(dir)
        .expect("data")
        .map(|f| f.expect("an entry").metadata().expect("metadata").len())
        .sum();
    assert!(bytes < 4_000_000, "{bytes}");
}

#[test]
fn simulated_stands_in_every_output() {
    let (out, _) = tinyscope(&["show", "demo:helm-lite"]);
    assert!(
        out.lines().next().is_some_and(|l| l.contains("SIMULATED")),
        "{out}"
    );
    let args = ["--scenario", "math", "--n", "10", "--dims", "2"];
    let (out, _) = tinyscope(&[&["estimate", "demo:helm-lite"][..], &args].concat());
    assert!(
        out.lines().next().is_some_and(|l| l.contains("SIMULATED")),
        "{out}"
    );
    let (out, _) = tinyscope(&[&["estimate", "demo:helm-lite", "--json"][..], &args].concat());
    let found: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(found["simulated"], true);
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.json");
    let path = path.to_str().expect("a path");
    tinyscope(&[&["anchors", "demo:helm-lite", "--out", path][..], &args].concat());
    let file: Value = serde_json::from_slice(&std::fs::read(path).expect("written")).expect("JSON");
    assert_eq!(file["simulated"], true);
    let svg = dir.path().join("m.svg");
    let svg = svg.to_str().expect("a path");
    tinyscope(&[
        "render",
        "map",
        "demo:helm-lite",
        "--scenario",
        "math",
        "--dims",
        "2",
        "--out",
        svg,
    ]);
    assert!(
        std::fs::read_to_string(svg)
            .expect("written")
            .contains("SIMULATED")
    );
}

#[test]
fn a_demo_named_like_a_file_is_suggested() {
    let (_, said) = tinyscope(&["show", "mmlu"]);
    assert!(said.contains("demo:mmlu"), "{said}");
    let (_, said) = tinyscope(&["show", "demo:mmlux"]);
    assert!(said.contains("did you mean \"mmlu\"?"), "{said}");
}
