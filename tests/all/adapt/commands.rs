//! Commands that answer: what they leave running, signals, ids that no command can be given or no terminal should see.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{anchors, json, run, started, text, until};

/// The anchors file with another id for the item `reading/25`, as JSON writes it.
fn renamed(dir: &Path, id: &str) -> PathBuf {
    let file = anchors(dir);
    let read = std::fs::read_to_string(&file).expect("written");
    assert!(read.contains("\"reading/25\""));
    std::fs::write(&file, read.replace("\"reading/25\"", id)).expect("written");
    file
}

/// Whether a signal could be sent; 0 only asks.
fn send(signal: &str, to: &str) -> bool {
    let mut kill = Command::new("sh");
    kill.args(["-c", &format!("kill -s {signal} -- {to}")]);
    let sent = kill.stderr(Stdio::null()).status();
    sent.expect("a shell").success()
}

#[test]
fn a_command_that_takes_too_long_ends_with_all_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let group = dir.path().join("group");
    let script = format!("echo $$ > '{}'; sleep 60 & sleep 60", group.display());
    let args = [
        "adapt",
        file.to_str().unwrap(),
        "--timeout",
        "1",
        "--ask",
        &script,
    ];
    let out = run(&args, "");
    assert!(text(&out.stderr).contains("more than 1 seconds"));
    let leader = std::fs::read_to_string(&group).unwrap();
    until("its command is gone", || {
        !send("0", &format!("-{}", leader.trim()))
    });
}

#[test]
fn what_a_command_leaves_running_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let base = [
        "adapt",
        file.to_str().unwrap(),
        "--n",
        "1",
        "--json",
        "--ask",
    ];
    let base = [&base[..], &["sleep 30 2>/dev/null & echo 1"]].concat();
    for limit in [&[][..], &["--timeout", "20"]] {
        let start = Instant::now();
        let found = json(&[&base[..], limit].concat(), "");
        assert!(start.elapsed() < Duration::from_secs(20));
        assert_eq!(found["scenarios"][0]["answers"][0]["score"], 1.0);
    }
}

/// Whether this process, and so the program that it starts, ignores a signal.
fn ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
    mask.is_some_and(|m| m >> (signal - 1) & 1 == 1)
}

#[test]
fn a_signal_ends_the_command_and_says_how_to_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let file = anchors(dir.path());
    let kept = dir.path().join("mine.json");
    let group = dir.path().join("group");
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        // What runs behind a script is started with SIGINT ignored, and so is all that it starts.
        if ignored(number) {
            continue;
        }
        let _ = std::fs::remove_file(&group);
        let _ = std::fs::remove_file(&kept);
        // The first answer comes at once; the second command does not mind the signal, nor does its child.
        let script = format!(
            "test -e '{0}' || exec echo 1; trap '' {signal}; echo $$ > '{1}'; sleep 60; sleep 60",
            kept.display(),
            group.display()
        );
        let args = [
            "adapt",
            file.to_str().unwrap(),
            "--timeout",
            "90",
            "--ask",
            &script,
        ];
        let child = started(&[&args[..], &["--answers", kept.to_str().unwrap()]].concat());
        let written = || std::fs::read_to_string(&group).is_ok_and(|t| t.ends_with('\n'));
        until("the second command runs", written);
        assert!(send(signal, &child.id().to_string()));
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.signal(), Some(number));
        let said = text(&out.stderr);
        assert!(said.contains("1 answer is kept in"), "{said}");
        assert!(
            said.contains("mine.json; the same command goes on"),
            "{said}"
        );
        let leader = std::fs::read_to_string(&group).unwrap();
        until("its command is gone", || {
            !send("0", &format!("-{}", leader.trim()))
        });
        assert!(!dir.path().join(".mine.json.lock").exists());
    }
}

#[test]
fn an_id_with_a_nul_is_not_asked_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let file = renamed(dir.path(), r#""reading\u0000""#);
    let base = [
        "adapt",
        file.to_str().unwrap(),
        "--scenario",
        "reading",
        "--json",
    ];
    let found = json(&[&base[..], &["--ask", "echo 1"]].concat(), "");
    let one = &found["scenarios"][0];
    assert_eq!((&one["ended"], &one["n"]), (&"items".into(), &14.into()));
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("reading: 1 item not asked"), "{warnings}");
    // A user can answer it.
    let asked = json(&base, &"1\n".repeat(15));
    assert_eq!(asked["scenarios"][0]["n"], 15);
}

#[test]
fn no_id_steers_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let file = renamed(dir.path(), r#""reading\u001b[2J\u0007""#);
    let args = [
        "adapt",
        file.to_str().unwrap(),
        "--scenario",
        "reading",
        "--ask",
    ];
    let out = run(
        &[&args[..], &["case \"$1\" in *2J*) exit 3;; esac; echo 1"]].concat(),
        "",
    );
    assert_eq!(out.status.code(), Some(1));
    let why = text(&out.stderr);
    assert!(
        why.contains("item reading[2J: the command failed"),
        "{why:?}"
    );
    assert!(!why.contains('\u{1b}') && !why.contains('\u{7}'), "{why:?}");
}
