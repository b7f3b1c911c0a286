//! The file of answers: one test at a time, refused before anything is asked, written through links, taken back across scenarios.

use std::path::Path;

use serde_json::Value;

use super::{anchors, ended_well, run, text};

fn answers(path: &Path) -> Vec<(String, Option<f64>)> {
    let read = std::fs::read_to_string(path).expect("written");
    let value: Value = serde_json::from_str(&read).expect("JSON");
    let each = value.as_object().expect("an object").iter();
    each.map(|(id, y)| (id.clone(), y.as_f64())).collect()
}

#[cfg(unix)]
#[test]
fn two_tests_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let kept = dir.path().join("mine.json");
    let (begun, go) = (dir.path().join("begun"), dir.path().join("go"));
    let base = ["adapt", file.to_str().unwrap(), "--n", "3", "--answers"];
    let base = [&base[..], &[kept.to_str().unwrap()]].concat();
    // Left behind by a program that was killed.
    let beside = dir.path().join(".mine.json.lock");
    std::fs::write(&beside, "").unwrap();
    let slow = format!(
        "touch '{}'; while ! test -e '{}'; do sleep 0.05; done; echo 1",
        begun.display(),
        go.display()
    );
    let arithmetic = ["--scenario", "arithmetic", "--ask", &slow];
    let first = super::started(&[&base[..], &arithmetic].concat());
    super::until("the first test asks", || begun.exists());
    // By another name of the same file too.
    let link = dir.path().join("link.json");
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    for name in [&kept, &link] {
        let mut second = base.clone();
        second[5] = name.to_str().unwrap();
        let out = run(
            &[&second[..], &["--scenario", "reading", "--ask", "echo 0"]].concat(),
            "",
        );
        assert_eq!(out.status.code(), Some(1));
        let why = text(&out.stderr);
        assert!(why.contains(name.to_str().unwrap()), "{why}");
        assert!(why.contains("another `tinyscope adapt`"), "{why}");
        assert_eq!(text(&out.stdout), "");
    }
    std::fs::write(&go, "").unwrap();
    ended_well(first.wait_with_output().unwrap());
    assert!(!beside.exists());
    // Then it is free again, and nothing is lost.
    ended_well(run(
        &[&base[..], &["--scenario", "reading", "--ask", "echo 0"]].concat(),
        "",
    ));
    let scores: Vec<Option<f64>> = answers(&kept).into_iter().map(|(_, y)| y).collect();
    assert_eq!(scores, [[Some(1.0); 3], [Some(0.0); 3]].concat());
    assert!(!beside.exists());
}

#[cfg(unix)]
#[test]
fn what_cannot_be_written_is_found_first() {
    let dir = tempfile::tempdir().unwrap();
    let read_only = dir.path().join("read-only.json");
    std::fs::write(&read_only, "{}").unwrap();
    let mut permissions = std::fs::metadata(&read_only).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&read_only, permissions).unwrap();
    let dangling = dir.path().join("dangling.json");
    std::os::unix::fs::symlink("nowhere/mine.json", &dangling).unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (answers, why) in [
        (path("missing/mine.json"), "there is no folder"),
        (path("dangling.json"), "there is no folder"),
        (path("."), "a folder"),
        (path("new.json/"), "a folder"),
        (path("read-only.json"), "read-only"),
        ("/dev/full".into(), "not a regular file"),
    ] {
        // Not even the data were looked at.
        let out = run(&["adapt", &path("no data"), "--answers", &answers], "1\n");
        assert_eq!(out.status.code(), Some(1), "{answers}");
        let said = text(&out.stderr);
        assert!(said.contains(why) && said.contains(&answers), "{said}");
        assert_eq!(text(&out.stdout), "");
    }
}

#[test]
fn the_last_answer_of_a_scenario_is_taken_back_from_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let (kept, straight) = (
        dir.path().join("mine.json"),
        dir.path().join("straight.json"),
    );
    let with = |answers: &Path, input: &str| {
        let answers = answers.to_str().unwrap();
        let args = [
            "adapt",
            file.to_str().unwrap(),
            "--n",
            "2",
            "--answers",
            answers,
        ];
        text(&ended_well(run(&args, input)).stdout)
    };
    let said = with(&kept, "u\n1\n0\nu\n1\n1\nu\nu\nu\nu\n0\n1\n0\n1\n");
    // Before the first answer of all, at once and once all were taken back.
    assert_eq!(said.matches("nothing to take back").count(), 2, "{said}");
    assert_eq!(said.matches("taken back: reading/").count(), 1, "{said}");
    assert_eq!(said.matches("taken back: arithmetic/").count(), 3, "{said}");
    with(&straight, "0\n1\n0\n1\n");
    assert_eq!(answers(&kept), answers(&straight));
    // Answers of an interrupted run too, even where the scenario would end without another.
    let few = r#"{"arithmetic/01": 1, "arithmetic/02": 1, "arithmetic/03": 0}"#;
    std::fs::write(&kept, few).unwrap();
    let said = with(&kept, "u\n1\nq\n");
    assert!(said.contains("taken back: arithmetic/03"), "{said}");
    assert_eq!(answers(&kept).len(), 3);
}

#[test]
fn files_of_answers_are_read_as_other_files_are() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let kept = dir.path().join("mine.json");
    let with = |answers: &Path| {
        let answers = answers.to_str().unwrap();
        let base = ["adapt", file.to_str().unwrap(), "--scenario", "arithmetic"];
        run(
            &[&base[..], &["--n", "2", "--answers", answers]].concat(),
            "1\n",
        )
    };
    let twice = "{\"arithmetic/01\": 1,\n \"arithmetic/02\": 1,\n \"arithmetic/01\": 0}\n";
    std::fs::write(&kept, twice).unwrap();
    let out = with(&kept);
    assert_eq!(out.status.code(), Some(1));
    let why = text(&out.stderr);
    assert!(
        why.contains("mine.json, line 3: item \"arithmetic/01\" stands twice"),
        "{why}"
    );
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), twice);
    std::fs::write(&kept, "\u{feff}{\"arithmetic/01\": 1}").unwrap();
    ended_well(with(&kept));
    assert_eq!(answers(&kept).len(), 2);
    // Its own packed files too.
    let packed = dir.path().join("mine.json.gz");
    ended_well(with(&packed));
    let again = text(&ended_well(with(&packed)).stdout);
    assert!(again.contains("   2 answered"), "{again}");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_that_is_not_there_stays_one() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    std::fs::create_dir(dir.path().join("elsewhere")).unwrap();
    let link = dir.path().join("mine.json");
    let second = dir.path().join("elsewhere/second.json");
    std::os::unix::fs::symlink("elsewhere/second.json", &link).unwrap();
    std::os::unix::fs::symlink("real.json", &second).unwrap();
    let args = ["adapt", file.to_str().unwrap(), "--n", "1", "--answers"];
    ended_well(run(
        &[&args[..], &[link.to_str().unwrap()]].concat(),
        "1\n0\n",
    ));
    assert!(link.is_symlink() && second.is_symlink());
    let real = dir.path().join("elsewhere/real.json");
    assert!(!real.is_symlink());
    assert_eq!(answers(&real).len(), 2);
}
