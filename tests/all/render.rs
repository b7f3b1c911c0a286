//! `tinyscope render`: pictures, tables and recordings without a terminal.

use std::path::Path;
use std::process::Output;

fn render(folder: &Path, arguments: &[&str]) -> Output {
    crate::common::program()
        .arg("render")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// 30 models and 60 items in two scenarios; the third sign of an item's id is its sub-scenario.
fn exam(folder: &Path) {
    let mut text = String::from("model");
    for i in 0..60 {
        let name = match i {
            0..20 => format!("sums/plus/{i}"),
            20..40 => format!("sums/minus/{i}"),
            _ => format!("words/all/{i}"),
        };
        text += &format!(",{name}");
    }
    let mut state = 77u64;
    for model in 0..30 {
        text += &format!("\nlab{}/model-{model:02}", model % 4);
        for i in 0..60 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let u = (state >> 33) as f64 / (1u64 << 31) as f64;
            let logit = (f64::from(model) - 15.0) / 6.0 - (f64::from(i % 11) - 5.0) / 3.0;
            text += if u < 1.0 / (1.0 + (-logit).exp()) {
                ",1"
            } else {
                ",0"
            };
        }
    }
    std::fs::write(folder.join("exam.csv"), text + "\n").unwrap();
}

const COMMON: [&str; 7] = ["exam.csv", "--dims", "1", "--n", "15", "--seeds", "2"];

fn with_common<'a>(view: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![view];
    arguments.extend(COMMON);
    arguments.extend(more);
    arguments
}

#[test]
fn every_view_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    exam(folder.path());
    for view in ["map", "items", "scores", "tradeoff", "replay", "data"] {
        for ending in ["svg", "csv", "md", "tex", "txt"] {
            let name = format!("{view}.{ending}");
            let done = render(folder.path(), &with_common(view, &["--out", &name]));
            assert!(done.status.success(), "{name}: {}", said(&done));
            assert!(said(&done).contains(&format!("written: {name}")));
            let text = std::fs::read_to_string(folder.path().join(&name)).unwrap();
            let begins = match ending {
                "svg" => text.starts_with("<svg") && text.trim_end().ends_with("</svg>"),
                "csv" => text.lines().next().unwrap().ends_with(",simulated"),
                "md" => text.contains("\n|---|"),
                "tex" => text.contains("\\begin{tabular}"),
                _ => text.contains("tinyscope"),
            };
            assert!(begins, "{name}: {text}");
        }
    }
}

/// Keys change the screen before the picture; the same script gives the same bytes.
#[test]
fn keys_are_pressed_and_recordings_repeat() {
    let folder = tempfile::tempdir().unwrap();
    exam(folder.path());
    let script = [
        "--keys",
        "n10 Enter s 4 2s 5 Space 3s q",
        "--cast",
        "a.cast",
        "--out",
        "a.txt",
    ];
    let done = render(folder.path(), &with_common("scores", &script));
    assert!(done.status.success(), "{}", said(&done));
    let first = std::fs::read(folder.path().join("a.cast")).unwrap();
    let screen = std::fs::read_to_string(folder.path().join("a.txt")).unwrap();
    assert!(
        screen.contains("▸5 Replay") && screen.contains("10 of 40 items"),
        "{screen}"
    );
    let header = first.split(|&b| b == b'\n').next().unwrap();
    assert!(header.starts_with(b"{\"version\":2,\"width\":120,\"height\":36"));
    let again = render(folder.path(), &with_common("scores", &script));
    assert!(again.status.success());
    assert_eq!(std::fs::read(folder.path().join("a.cast")).unwrap(), first);
    // Another number of threads changes nothing either.
    let mut single = with_common("scores", &script);
    single.extend(["--threads", "1"]);
    assert!(render(folder.path(), &single).status.success());
    assert_eq!(std::fs::read(folder.path().join("a.cast")).unwrap(), first);
}

#[test]
fn slides_sizes_themes_and_markers() {
    let folder = tempfile::tempdir().unwrap();
    exam(folder.path());
    for more in [
        vec!["--slide", "--theme", "light"],
        vec![
            "--theme", "mono", "--marker", "ascii", "--width", "80", "--height", "24",
        ],
        vec![
            "--theme",
            "colour-blind",
            "--width",
            "200",
            "--height",
            "60",
        ],
    ] {
        let mut arguments = with_common("scores", &["--out", "a.svg"]);
        arguments.extend(more);
        let done = render(folder.path(), &arguments);
        assert!(done.status.success(), "{}", said(&done));
    }
}

/// Wrong arguments end with 2 and say what is possible, before any work is done.
#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    exam(folder.path());
    for (more, code, words) in [
        (vec!["--out", "a.png"], 2, "svg, csv, md, tex or txt"),
        (vec!["--out", "a"], 2, "svg, csv, md, tex or txt"),
        (vec![], 2, "--out"),
        (vec!["--out", "a.svg", "--keys", "99999s"], 2, "0s to 600s"),
        (vec!["--out", "a.svg", "--width", "70"], 1, "80 x 24"),
        (
            vec!["--out", "a.svg", "--me", "nobody.csv"],
            1,
            "nobody.csv",
        ),
        (vec!["--out", "nowhere/a.svg"], 1, "nowhere"),
    ] {
        let done = render(folder.path(), &with_common("map", &more));
        assert_eq!(done.status.code(), Some(code), "{more:?}: {}", said(&done));
        assert!(said(&done).contains(words), "{more:?}: {}", said(&done));
    }
    assert!(!folder.path().join("a.svg").exists());
    let done = render(
        folder.path(),
        &["map", "--open", "none.json", "--out", "a.svg"],
    );
    assert_eq!(done.status.code(), Some(1));
    assert!(said(&done).contains("none.json"), "{}", said(&done));
    // What is read is not written over.
    std::fs::write(
        folder.path().join("mine.csv"),
        "sums/plus/0,1\nsums/plus/1,0\n",
    )
    .unwrap();
    let over = ["--me", "mine.csv", "--out", "mine.csv"];
    let done = render(folder.path(), &with_common("scores", &over));
    assert_eq!(done.status.code(), Some(1));
    assert!(
        said(&done).contains("would replace what is read"),
        "{}",
        said(&done)
    );
}

/// My own model stands in the table with its predicted rank.
#[test]
fn my_own_model_is_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    exam(folder.path());
    let answers: Vec<String> = (0..40)
        .map(|i| {
            let part = if i < 20 { "plus" } else { "minus" };
            format!("sums/{part}/{i},{}", u8::from(i % 4 != 0))
        })
        .collect();
    std::fs::write(folder.path().join("mine.csv"), answers.join("\n")).unwrap();
    let arguments = ["--me", "mine.csv", "--out", "a.md"];
    let done = render(folder.path(), &with_common("scores", &arguments));
    assert!(done.status.success(), "{}", said(&done));
    let table = std::fs::read_to_string(folder.path().join("a.md")).unwrap();
    let row = table
        .lines()
        .find(|l| l.starts_with("| mine |"))
        .expect(&table);
    assert!(row.contains(" of 30 |"), "{row}");
    // None of these items: said, with what to do.
    std::fs::write(folder.path().join("other.csv"), "x,1\ny,0\n").unwrap();
    let arguments = ["--me", "other.csv", "--out", "a.md"];
    let done = render(folder.path(), &with_common("scores", &arguments));
    assert_eq!(done.status.code(), Some(1));
    assert!(
        said(&done).contains("none of its 2 items is one of"),
        "{}",
        said(&done)
    );
}
