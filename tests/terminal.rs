//! The explorer in a real pseudo-terminal, read back as a screen.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longer than any step takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Session {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    screen: Arc<Mutex<(vt100::Parser, Vec<u8>)>>,
    modes: String,
    _folder: tempfile::TempDir,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

/// 32 models, two scenarios of 90 and 60 items, the same every time.
fn exam(path: &Path) {
    let mut state = 9u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let items: Vec<(String, f64)> = (0..150)
        .map(|i| {
            let name = match i {
                0..50 => format!("sums/plus/{i}"),
                50..90 => format!("sums/minus/{i}"),
                _ => format!("words/all/{i}"),
            };
            (name, 4.0 * next() - 2.0)
        })
        .collect();
    let mut text = String::from("model");
    items
        .iter()
        .for_each(|(name, _)| text.push_str(&format!(",{name}")));
    for model in 0..32 {
        let ability = 4.0 * next() - 2.0;
        let _ = write!(text, "\nlab{}/model-{model:02}", model % 4);
        for (_, difficulty) in &items {
            let p = 1.0 / (1.0 + (difficulty - ability).exp());
            text.push_str(if next() < p { ",1" } else { ",0" });
        }
    }
    std::fs::write(path, text + "\n").unwrap();
}

impl Session {
    fn open(columns: u16, rows: u16, environment: &[(&str, &str)]) -> Session {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("exam.csv");
        exam(&data);
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let modes = format!("{:?}", pair.master.get_termios());
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tinyscope"));
        command.arg(&data);
        command.args(["--dims", "2", "--n", "20", "--threads", "2"]);
        command.env("TERM", "xterm-256color");
        command.env("TINYSCOPE_STATE", folder.path());
        command.env_remove("NO_COLOR");
        environment
            .iter()
            .for_each(|(name, value)| command.env(name, value));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        // The reader is as large as the largest terminal and stays so: every frame says where it writes,
        // and vt100 0.16 panics when it shrinks under its cursor.
        let screen = Arc::new(Mutex::new((vt100::Parser::new(100, 300, 0), Vec::new())));
        let (mut output, shared) = (pair.master.try_clone_reader().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0u8; 8192];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                let mut guard = shared.lock().unwrap();
                guard.0.process(&bytes[..n]);
                guard.1.extend_from_slice(&bytes[..n]);
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Session {
            master: pair.master,
            child,
            keys,
            screen,
            modes,
            _folder: folder,
        }
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().0.screen().contents()
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn wait(&self, what: &str, seen: impl Fn(&str) -> bool) {
        let start = Instant::now();
        while !seen(&self.text()) {
            assert!(
                start.elapsed() < PATIENCE,
                "waited for {what}:\n{}",
                self.text()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for(&self, text: &str) {
        self.wait(text, |screen| screen.contains(text));
    }

    /// Waits until no job runs and nothing has been drawn for a while.
    fn wait_idle(&self) {
        self.wait_for("MAE %");
        let start = Instant::now();
        loop {
            let before = self.frames();
            std::thread::sleep(Duration::from_millis(400));
            if self.frames() == before && !self.text().contains("x stops") {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "never idle:\n{}", self.text());
        }
    }

    /// Frames so far: each is one synchronized update.
    fn frames(&self) -> usize {
        let guard = self.screen.lock().unwrap();
        guard.1.windows(8).filter(|w| w == b"\x1b[?2026h").count()
    }

    fn resize(&self, columns: u16, rows: u16) {
        self.master.resize(size(columns, rows)).unwrap();
    }

    /// Waits for the end; cursor, screen and modes must be as they were.
    fn ends_restored(mut self) -> u32 {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < PATIENCE, "does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        };
        std::thread::sleep(Duration::from_millis(200));
        let guard = self.screen.lock().unwrap();
        let screen = guard.0.screen();
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert!(!screen.bracketed_paste(), "bracketed paste is on");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        assert_eq!(
            format!("{:?}", self.master.get_termios()),
            self.modes,
            "modes differ"
        );
        status.exit_code()
    }
}

#[test]
fn visits_every_view_changes_n_and_lambda_and_leaves_the_terminal_as_it_was() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_for("Anchor ");
    session.wait_for("times");
    session.press("2");
    session.wait_for("Test models by true score");
    session.press("3");
    session.wait_for("Methods");
    session.press("n30\r");
    session.wait_for("MAE %, n = 30");
    session.press("+");
    session.wait_for("MAE %, n = 40");
    session.press("L0.35\r");
    session.wait_for("by hand");
    session.press("1]");
    session.wait_for(".40 ");
    session.press("s");
    session.wait_for("items random");
    session.press("\t");
    session.wait_for("words");
    session.press("?");
    session.wait_for("map of the items");
    session.press("\x1b");
    session.wait("help closed", |s| !s.contains("map of the items"));
    session.press("onowhere.csv\r");
    session.wait_for("nowhere.csv");
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for signal in ["TERM", "HUP"] {
        let session = Session::open(100, 30, &[]);
        session.wait_for("Anchor ");
        let id = session.child.process_id().unwrap().to_string();
        let sent = std::process::Command::new("kill")
            .args([&format!("-{signal}"), &id])
            .status();
        assert!(sent.unwrap().success());
        session.ends_restored();
    }
}

#[test]
fn draws_only_when_something_changed() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_idle();
    let before = session.frames();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(session.frames(), before, "drawn while idle");
    session.press("]");
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(session.frames(), before + 1, "one lambda key is one frame");
    session.press(&"[]".repeat(500));
    session.press("2");
    session.wait_for("Test models by true score");
    let frames = session.frames() - before;
    assert!(frames < 100, "{frames} frames for a thousand keys");
    session.press("q");
    session.ends_restored();
}

#[test]
fn random_keys_and_resizes_do_no_harm() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_for("tinyscope");
    let mut state = 3u64;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    // Every key but q, and Control-C: what is left never ends the program.
    let keys: Vec<String> = (' '..='~')
        .filter(|&c| c != 'q')
        .map(String::from)
        .chain(
            [
                "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\t", "\r", "\x7f", "\x1b[5~", "\x1b[6~",
            ]
            .map(String::from),
        )
        .collect();
    for step in 0..1000 {
        let key = keys[next(keys.len())].clone();
        session.press(&key);
        if step % 5 == 0 {
            session.resize(next(301) as u16, next(101) as u16);
        }
        if step % 50 == 0 {
            std::thread::sleep(Duration::from_millis(20));
            assert!(
                session.child.try_wait().unwrap().is_none(),
                "ended at step {step}"
            );
        }
    }
    session.resize(120, 36);
    std::thread::sleep(Duration::from_millis(300));
    session.press("\x1b");
    std::thread::sleep(Duration::from_millis(300));
    session.press("2");
    session.wait_for("Estimated against true score");
    session.press("\x03");
    assert_eq!(session.ends_restored(), 0);
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    let mut session = Session::open(60, 20, &[]);
    session.wait_for("tinyscope needs 80 x 24 cells, here are 60 x 20");
    session.resize(80, 24);
    session.wait_for("1 Map");
    session.press("q");
    session.ends_restored();
}

#[test]
fn no_color_means_no_colour() {
    let mut session = Session::open(120, 36, &[("NO_COLOR", "1")]);
    session.wait_idle();
    session.press("2");
    session.wait_for("Test models");
    let colours = {
        let guard = session.screen.lock().unwrap();
        let bytes = String::from_utf8_lossy(&guard.1).into_owned();
        bytes.matches("\x1b[38;").count() + bytes.matches("\x1b[48;").count()
    };
    assert_eq!(colours, 0);
    session.press("q");
    session.ends_restored();
}
