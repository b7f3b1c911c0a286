//! The explorer in a real pseudo-terminal, read back as a screen.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longer than any step takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Seeds of the pseudo-random keys.
fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |n| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    }
}

struct Session {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    screen: Arc<Mutex<(vt100::Parser, Vec<u8>)>>,
    modes: String,
    folder: tempfile::TempDir,
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
        exam(&folder.path().join("exam.csv"));
        let arguments = [
            "exam.csv",
            "--dims",
            "2",
            "--n",
            "20",
            "--threads",
            "2",
            "--seeds",
            "2",
        ];
        Session::with((columns, rows), environment, &arguments, folder)
    }

    /// Starts the program in a folder, with the terminal's background said to be dark.
    fn with(
        (columns, rows): (u16, u16),
        environment: &[(&str, &str)],
        arguments: &[&str],
        folder: tempfile::TempDir,
    ) -> Session {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let modes = format!("{:?}", pair.master.get_termios());
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tinyscope"));
        command.env("TINYSCOPE_NO_CACHE", "1");
        command.args(arguments);
        command.cwd(folder.path());
        command.env("TERM", "xterm-256color");
        command.env("TINYSCOPE_STATE", folder.path());
        command.env("COLORFGBG", "15;0");
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
            folder,
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

    fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap().to_string();
        let sent = std::process::Command::new("kill")
            .args([&format!("-{name}"), &id])
            .status();
        assert!(sent.unwrap().success());
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
    session.wait_for("than random");
    session.press("2");
    session.wait_for("share of the score");
    session.press("3");
    session.wait_for("Test models by true score");
    session.press("4");
    session.wait_for("In words");
    session.press("5");
    session.wait_for("The item just answered");
    session.wait_for("answer 20 of 20");
    session.press("6");
    session.wait_for("validation error");
    session.press("4n30\r");
    session.wait_for("MAE %, n = 30");
    session.press("+");
    session.wait_for("MAE %, n = 40");
    session.press("L0.35\r");
    session.wait_for("by hand");
    session.press("1]");
    session.wait_for(".40 ");
    session.press("s");
    session.wait_for(" random  gp-IRT");
    session.press("\t");
    session.wait_for("› words");
    session.press("?");
    session.wait_for("Keys and words; letters search");
    session.press("lambda up");
    session.wait_for("With “lambda up");
    session.press("\x1b");
    session.wait("help closed", |s| !s.contains("With “lambda up"));
    session.press("onowhere.csv\r");
    session.wait_for("nowhere.csv: no such file");
    // The path stays to be mended, and what was open is still there.
    session.wait_for("path: nowhere.csv");
    session.press("\x1b");
    // An Esc with a key at its heels would be that key with Alt.
    session.wait("menu closed", |s| !s.contains("path: nowhere.csv"));
    session.wait_for("› words");
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

/// Every key of the list in the README, in every view: the program lives on, and leaves as it came.
#[test]
fn every_key_of_the_table_in_every_view() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
    let readme = readme.unwrap();
    let (_, rest) = readme.split_once("<!-- keys -->\n").unwrap();
    let listed = rest.split("<!-- /keys -->").next().unwrap();
    let mut keys: Vec<String> = listed
        .lines()
        .skip(2)
        .filter_map(|line| line.split('|').nth(1))
        .flat_map(|cell| {
            cell.split_whitespace()
                .map(|k| k.trim_matches('`').to_owned())
        })
        .collect();
    keys.retain(|k| k != "q");
    assert!(keys.len() > 70, "{keys:?}");
    let bytes = |key: &str| -> String {
        let named = match key {
            "Tab" => "\t",
            "Shift-Tab" => "\x1b[Z",
            "Space" => " ",
            "Esc" => "\x1b",
            "PgUp" => "\x1b[5~",
            "PgDn" => "\x1b[6~",
            "Home" => "\x1b[H",
            "End" => "\x1b[F",
            "F1" => "\x1bOP",
            "F5" => "\x1b[15~",
            "←" => "\x1b[D",
            "→" => "\x1b[C",
            "↑" => "\x1b[A",
            "↓" => "\x1b[B",
            "Shift-←" => "\x1b[1;2D",
            "Shift-→" => "\x1b[1;2C",
            "Shift-↑" => "\x1b[1;2A",
            "Shift-↓" => "\x1b[1;2B",
            letter if letter.chars().count() == 1 => letter,
            other => panic!("how is {other} typed?"),
        };
        named.to_owned()
    };
    // The markers may be ASCII ones by then.
    let shows = |screen: &str, view: usize| {
        screen.contains(&format!("▸{view} ")) || screen.contains(&format!(">{view} "))
    };
    let mut session = Session::open(120, 36, &[]);
    session.wait_idle();
    for view in 1..=6 {
        session.press(&view.to_string());
        session.wait(&format!("view {view}"), |s| shows(s, view));
        for key in &keys {
            session.press(&bytes(key));
            // Whatever it opened is closed again, and the view is put back.
            std::thread::sleep(Duration::from_millis(8));
            session.press("\x1b");
            std::thread::sleep(Duration::from_millis(8));
            session.press(&view.to_string());
        }
        assert!(
            session.child.try_wait().unwrap().is_none(),
            "ended in view {view}"
        );
        session.wait(&format!("view {view}"), |s| shows(s, view));
    }
    session.press("\x1b");
    std::thread::sleep(Duration::from_millis(50));
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for (name, number) in [("TERM", 15), ("HUP", 1), ("INT", 2), ("QUIT", 3)] {
        let session = Session::open(100, 30, &[]);
        session.wait_for("Anchor ");
        session.signal(name);
        assert_eq!(session.ends_restored(), 128 + number, "{name}");
    }
}

/// A worker's panic becomes a line on the live screen; the rest goes on, and the end is clean.
#[test]
fn a_panic_of_the_worker_is_a_message() {
    let mut session = Session::open(120, 36, &[("TINYSCOPE_PANIC_AT_N", "33")]);
    session.wait_for("Anchor ");
    session.press("n33\r");
    session.wait_for("this job broke off: asked to break off at n = 33");
    session.press("n25\r3");
    session.wait_for("Test models by true score");
    session.wait_for("25 of 90 items");
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

/// The terminal is gone: the program ends by itself.
#[test]
fn a_closed_terminal_ends_the_program() {
    let session = Session::open(100, 30, &[]);
    session.wait_for("Anchor ");
    let Session {
        master,
        mut child,
        keys,
        ..
    } = session;
    drop(keys);
    drop(master);
    let start = Instant::now();
    // The reader's thread holds the other end until the hang-up reaches it.
    let id = child.process_id().unwrap().to_string();
    let _ = std::process::Command::new("kill")
        .args(["-HUP", &id])
        .status();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < PATIENCE, "still there");
        std::thread::sleep(Duration::from_millis(10));
    };
    // As a signal would have it, and no panic over a standard error that is gone.
    assert_ne!(status.exit_code(), 101);
}

#[test]
fn draws_only_when_something_changed() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_idle();
    let before = session.frames();
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(session.frames(), before, "drawn while idle");
    session.press("]");
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(session.frames(), before + 1, "one lambda key is one frame");
    session.press(&"[]".repeat(500));
    session.press("3");
    session.wait_for("Test models by true score");
    let frames = session.frames() - before;
    assert!(frames < 100, "{frames} frames for a thousand keys");
    session.press("q");
    session.ends_restored();
}

/// A replay draws a frame an answer and is quiet again at its end.
#[test]
fn a_replay_runs_by_itself_and_stops() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_idle();
    session.press("5");
    session.wait_for("answer 20 of 20");
    session.press(">>>");
    session.press(" ");
    session.wait_for("answer 20 of 20");
    session.wait_idle();
    let before = session.frames();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(session.frames(), before, "drawn after the end");
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

#[test]
fn random_keys_and_resizes_do_no_harm() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_for("tinyscope");
    let mut next = numbers(3);
    // Every key but q, and Control-C: what is left never ends the program.
    let keys: Vec<String> = (' '..='~')
        .filter(|&c| c != 'q')
        .map(String::from)
        .chain(
            [
                "\x1b[A",
                "\x1b[B",
                "\x1b[C",
                "\x1b[D",
                "\t",
                "\r",
                "\x7f",
                "\x1b[5~",
                "\x1b[6~",
                "\x1b[15~",
                "\x1b[1;2D",
                "\x1b[<0;40;12M",
                "\x1b[<64;50;10M",
                "\x1b[<32;20;33M",
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
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(300));
        session.press("\x1b");
    }
    std::thread::sleep(Duration::from_millis(300));
    session.press("6");
    session.wait_for("What the numbers rest on");
    session.press("\x03");
    assert_eq!(session.ends_restored(), 0);
}

/// What keys write is in the current folder, never over another file, and the settings open again.
#[test]
fn writes_files_and_opens_its_settings() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_for("Anchor ");
    session.press("n25\r");
    session.wait_for("25 of 90 items");
    session.press("E");
    session.wait_for("is kept out");
    session.press("3");
    session.wait_for("│ 90 %: ");
    session.press("ws");
    session.wait_for("written: exam-sums-scores.svg");
    session.press("ws");
    session.wait_for("written: exam-sums-scores-2.svg");
    for (key, name) in [("c", "csv"), ("m", "md"), ("l", "tex"), ("t", "txt")] {
        session.press(&format!("w{key}"));
        session.wait_for(&format!("written: exam-sums-scores.{name}"));
    }
    session.press("wf");
    session.wait_for("written: exam-sums-settings.json");
    session.press("q");
    let folder = {
        let folder = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(session.folder.path()).unwrap() {
            let file = file.unwrap().path();
            if file.is_file() {
                std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
            }
        }
        folder
    };
    let csv = std::fs::read_to_string(folder.path().join("exam-sums-scores.csv")).unwrap();
    assert!(
        csv.starts_with("model,true,estimated,low,high,error,true_rank,rank,ranks,simulated"),
        "{csv}"
    );
    assert!(
        !csv.contains(",,"),
        "edited anchors have intervals too: {csv}"
    );
    assert_eq!(csv.lines().count(), 9, "{csv}");
    let kept = session.folder.path().join("exam.csv");
    assert!(kept.exists());
    let arguments = [
        "--open",
        "exam-sums-settings.json",
        "--threads",
        "2",
        "--seeds",
        "2",
    ];
    let mut again = Session::with((120, 36), &[], &arguments, folder);
    again.wait_for("Test models by true score");
    again.wait_for("25 of 90 items");
    again.wait_for("edited");
    again.press("q");
    assert_eq!(again.ends_restored(), 0);
    assert_eq!(session.ends_restored(), 0);
}

/// My own model: its row stands in the scores, its estimate and rank in words, and it can be replayed.
#[test]
fn my_own_model_appears() {
    let folder = tempfile::tempdir().unwrap();
    exam(&folder.path().join("exam.csv"));
    let answers: Vec<String> = (0..90)
        .map(|i| {
            let part = if i < 50 { "plus" } else { "minus" };
            format!("sums/{part}/{i},{}", u8::from(i % 3 != 0))
        })
        .collect();
    std::fs::write(folder.path().join("mine.csv"), answers.join("\n")).unwrap();
    let arguments = [
        "exam.csv", "--dims", "2", "--n", "20", "--seeds", "2", "--me", "mine.csv",
    ];
    let mut session = Session::with((120, 36), &[], &arguments, folder);
    session.wait_for("90 answers to items of this benchmark");
    session.press("3");
    session.wait_for("★ mine");
    session.press("4");
    session.wait_for("mine: ");
    session.press("5");
    session.wait_for("mine  true");
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

/// Learned estimators come a moment after their key, intervals a moment after the estimates.
#[test]
fn learned_estimators_and_intervals_appear() {
    let mut session = Session::open(120, 36, &[]);
    session.press("3");
    session.wait_for("│ 90 %: ");
    session.press("eeee");
    session.wait_for("anchors  stacked");
    session.wait_for("/8 within 2 %");
    session.wait("weights", |s| s.contains("n .") && s.contains(" A ."));
    session.press("n30\r");
    session.wait_for("30 of 90 items, seed 0: ");
    session.press("4");
    session.wait_for("90 % interval: ±");
    session.wait_idle();
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

/// Mouse reports reach the program only after its key, and it gives the mouse back at its end.
#[test]
fn the_mouse_is_listened_to_on_demand() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_idle();
    let modes = |s: &Session| s.screen.lock().unwrap().0.screen().mouse_protocol_mode();
    assert_eq!(modes(&session), vt100::MouseProtocolMode::None);
    session.press("M");
    session.wait_for("mouse on");
    assert_ne!(modes(&session), vt100::MouseProtocolMode::None);
    // The third tab, then the list's second scenario.
    session.press("\x1b[<0;24;2M\x1b[<0;24;2m");
    session.wait_for("Test models by true score");
    session.press("\x1b[<0;6;8M\x1b[<0;6;8m");
    session.wait_for("› words");
    session.press("q");
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

/// The terminal is asked for its background where nothing else tells it.
#[test]
fn a_light_terminal_gets_the_light_theme() {
    let mut session = Session::open(
        120,
        36,
        &[("COLORFGBG", ""), ("SSH_CONNECTION", "far away")],
    );
    let asked = |s: &Session| {
        let guard = s.screen.lock().unwrap();
        guard.1.windows(5).any(|w| w == b"\x1b]11;")
    };
    let start = Instant::now();
    while !asked(&session) {
        assert!(start.elapsed() < PATIENCE, "never asked");
        std::thread::sleep(Duration::from_millis(2));
    }
    session.press("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;c");
    session.wait_idle();
    session.press("t");
    session.wait_for("theme: colour-blind");
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

/// Answers that come too late, and sequences that are cut after their ESC, are not taken for keys.
#[test]
fn what_the_terminal_says_late_is_no_key() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_idle();
    session.press("\x1b]11;rgb:qqqq/1111/eeee\x07\x1b[?62;4c");
    std::thread::sleep(Duration::from_millis(300));
    session.press("o");
    session.wait_for("path:");
    for part in ["\x1b", "[200~abc q", " q", "\x1b[201~"] {
        session.press(part);
        std::thread::sleep(Duration::from_millis(5));
    }
    session.wait_for("path: abc q q");
    std::thread::sleep(Duration::from_millis(400));
    session.press("\x1b");
    std::thread::sleep(Duration::from_millis(100));
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

/// A terminal of absurd size neither takes all memory nor stops the program.
#[test]
fn an_absurd_size_is_survived() {
    let mut session = Session::open(120, 36, &[]);
    session.wait_idle();
    session.resize(65_535, 65_535);
    std::thread::sleep(Duration::from_millis(500));
    session.resize(120, 36);
    std::thread::sleep(Duration::from_millis(300));
    session.press("3");
    session.wait_for("Test models by true score");
    session.press("q");
    assert_eq!(session.ends_restored(), 0);
}

/// A signal while the terminal is still asked for its background: restored all the same.
#[test]
fn a_signal_at_the_very_start_restores_the_terminal() {
    for name in ["TERM", "INT"] {
        let session = Session::open(
            100,
            30,
            &[("COLORFGBG", ""), ("SSH_CONNECTION", "far away")],
        );
        let start = Instant::now();
        let asked = |s: &Session| {
            let guard = s.screen.lock().unwrap();
            guard.1.windows(5).any(|w| w == b"\x1b]11;")
        };
        while !asked(&session) {
            assert!(start.elapsed() < PATIENCE, "never asked");
            std::thread::sleep(Duration::from_millis(2));
        }
        session.signal(name);
        assert!(session.ends_restored() > 128);
    }
}

#[test]
fn no_color_means_no_colour() {
    let mut session = Session::open(120, 36, &[("NO_COLOR", "1")]);
    session.wait_idle();
    session.press("3");
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
