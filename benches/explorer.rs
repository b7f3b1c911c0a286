//! How fast the explorer is: frames, keys and the start, as a user waits for them.
//!
//! On MMLU-Pro (12,032 items) where `../shared` is beside the checkout, else on the bundled MMLU demo.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::hint::black_box;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use portable_pty::{CommandBuilder, PtyPair, PtySize, native_pty_system};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use tinyscope::data::read;
use tinyscope::experiment::Settings;
use tinyscope::progress::Silent;

// The screen is part of the program, not of the library: it is compiled once more here.
#[path = "../src/tui/mod.rs"]
#[allow(dead_code, unused_imports, unreachable_pub)]
mod tui;

use tui::engine::Engine;
use tui::script::Driver;
use tui::state::{Source, State, ViewName};
use tui::theme::ThemeName;

const SIZE: (u16, u16) = (200, 60);

fn key(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
}

/// MMLU-Pro where it is there, else the bundled MMLU demo.
fn largest() -> PathBuf {
    let real = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/mmlu-pro.json");
    if Path::new(real).exists() {
        PathBuf::from(real)
    } else {
        "demo:mmlu".into()
    }
}

/// The explorer with its first result on the screen.
fn opened(source: PathBuf, dims: usize, seeds: usize) -> Driver<'static> {
    let configure = move |_: &_| {
        Ok(Settings {
            dims: vec![dims],
            ..Settings::default()
        })
    };
    let load: tui::engine::Read = read::watched;
    let engine = Engine::new(load, read::ReadOptions::default(), Arc::new(configure));
    let mut state = State::new(ThemeName::Dark);
    state.look.size = SIZE;
    state.seeds = seeds;
    Driver::open(state, Source(source), None, engine, &Silent).unwrap()
}

fn frame(state: &State) -> Buffer {
    let area = Rect::new(0, 0, SIZE.0, SIZE.1);
    let mut buffer = Buffer::empty(area);
    tui::view::draw(state, area, &mut buffer);
    buffer
}

fn explorer(c: &mut Criterion) {
    let mut driver = opened(largest(), 5, 1);
    for (at, view) in ViewName::ALL.into_iter().enumerate() {
        driver.press(key(char::from(b'1' + at as u8))).unwrap();
        c.bench_function(&format!("frame of {} at 200 x 60", view.label()), |b| {
            b.iter(|| black_box(frame(&driver.state)));
        });
        let mut up = false;
        c.bench_function(&format!("lambda key to frame in {}", view.label()), |b| {
            b.iter(|| {
                up = !up;
                driver.press(key(if up { ']' } else { '[' })).unwrap();
                black_box(frame(&driver.state))
            });
        });
    }
    driver.press(key('1')).unwrap();
    // What the explorer computes ahead while nobody does anything: the stops beside n.
    driver.press(key('+')).unwrap();
    driver.press(key('-')).unwrap();
    let mut more = false;
    c.bench_function("n key to result, computed ahead", |b| {
        b.iter(|| {
            more = !more;
            driver.press(key(if more { '+' } else { '-' })).unwrap();
            black_box(frame(&driver.state))
        });
    });
    let mut n = 100;
    c.bench_function("n key to all three selections of a new n", |b| {
        b.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                n += 1;
                for letter in format!("n{n}").chars() {
                    driver.press(key(letter)).unwrap();
                }
                let start = Instant::now();
                let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
                driver.press(enter).unwrap();
                black_box(frame(&driver.state));
                spent += start.elapsed();
            }
            spent
        });
    });
}

/// The view with the most to compute: every curve over five seeds, the mean over six scenarios.
fn tradeoff(c: &mut Criterion) {
    let mut driver = opened("demo:helm-lite".into(), 2, 5);
    let back = KeyEvent::new(KeyCode::BackTab, KeyModifiers::NONE);
    driver.press(back).unwrap();
    driver.press(key('4')).unwrap();
    c.bench_function("frame of Trade-off, mean of helm-lite, 5 seeds", |b| {
        b.iter(|| black_box(frame(&driver.state)));
    });
    let mut up = false;
    c.bench_function("lambda key to frame in the same", |b| {
        b.iter(|| {
            up = !up;
            driver.press(key(if up { ']' } else { '[' })).unwrap();
            black_box(frame(&driver.state))
        });
    });
}

/// A pseudo-terminal of rows and columns that tells its background, and the program to start in it.
fn terminal((rows, cols): (u16, u16), state: &Path) -> (PtyPair, CommandBuilder) {
    let size = PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tinyscope"));
    command.env("TERM", "xterm-256color");
    command.env("TINYSCOPE_STATE", state);
    command.env("COLORFGBG", "15;0");
    (pair, command)
}

/// From starting the program to its first whole frame, on the bundled demo, in a pseudo-terminal.
fn start(c: &mut Criterion) {
    let folder = std::env::temp_dir();
    c.bench_function("start to first frame, bundled demo", |b| {
        b.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                let (pair, mut command) = terminal((36, 120), &folder);
                command.env("TINYSCOPE_NO_CACHE", "1");
                let begin = Instant::now();
                let mut child = pair.slave.spawn_command(command).unwrap();
                drop(pair.slave);
                let mut output = pair.master.try_clone_reader().unwrap();
                let (mut seen, mut bytes) = (Vec::new(), [0u8; 4096]);
                while !seen.windows(8).any(|w| w == b"\x1b[?2026l") {
                    let n = output.read(&mut bytes).unwrap();
                    assert!(n > 0, "ended without a frame");
                    seen.extend_from_slice(&bytes[..n]);
                }
                spent += begin.elapsed();
                child.kill().unwrap();
                child.wait().unwrap();
            }
            spent
        });
    });
}

/// From starting the program to the frame with the map of a fit that an earlier start has kept.
fn second_start(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let (pair, mut command) = terminal((36, 120), folder.path());
        command.arg(largest());
        command.env("TINYSCOPE_CACHE", folder.path());
        command.env_remove("TINYSCOPE_NO_CACHE");
        let begin = Instant::now();
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut output = pair.master.try_clone_reader().unwrap();
        let mut screen = vt100::Parser::new(36, 120, 0);
        let mut bytes = [0u8; 1 << 16];
        // Items are dots of Braille; nothing else on the screen is.
        let is_dot = |c: char| ('\u{2801}'..='\u{28ff}').contains(&c);
        loop {
            let n = output.read(&mut bytes).unwrap();
            assert!(n > 0, "ended without a map");
            screen.process(&bytes[..n]);
            let text = screen.screen().contents();
            if text.chars().filter(|c| is_dot(*c)).count() > 100 {
                break;
            }
        }
        let spent = begin.elapsed();
        child.kill().unwrap();
        child.wait().unwrap();
        spent
    };
    start();
    c.bench_function("second start to the fitted map", |b| {
        b.iter_custom(|rounds| (0..rounds).map(|_| start()).sum());
    });
}

/// The most memory of the explorer, in the map and then in the trade-off, each until it has nothing more to compute.
fn memory(_: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let (pair, mut command) = terminal((60, 200), folder.path());
    command.arg(largest());
    command.env("TINYSCOPE_CACHE", folder.path());
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut output = pair.master.try_clone_reader().unwrap();
    let mut keys = pair.master.take_writer().unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = [0u8; 1 << 16];
        while output.read(&mut bytes).is_ok_and(|n| n > 0) {}
    });
    let process = PathBuf::from(format!("/proc/{}", child.process_id().unwrap()));
    // User and system time in ticks, the 14th and 15th numbers.
    let ticks = || -> u64 {
        let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        let numbers = stat.rsplit(')').next().unwrap_or_default();
        let spent = numbers.split_whitespace().skip(11).take(2);
        spent.filter_map(|n| n.parse::<u64>().ok()).sum()
    };
    for view in [ViewName::Map, ViewName::Tradeoff] {
        let position = ViewName::ALL.iter().position(|v| *v == view).unwrap();
        keys.write_all(&[b'1' + position as u8]).unwrap();
        let mut last = u64::MAX;
        loop {
            std::thread::sleep(Duration::from_secs(3));
            let now = ticks();
            // A blinking cursor is not work: less than a hundredth of the time.
            if now.abs_diff(last) < 3 {
                break;
            }
            last = now;
        }
        let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
        let line = status.lines().find(|l| l.starts_with("VmHWM"));
        let kilobytes = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<f64>().ok());
        match kilobytes {
            Some(kilobytes) => eprintln!(
                "memory of the explorer at most, {} and all that is computed ahead: {:.0} MB",
                view.label(),
                kilobytes / 1024.0
            ),
            None => eprintln!("memory: left out, the system does not tell"),
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(keys);
    drop(pair.master);
    reader.join().unwrap();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(3));
    targets = explorer, tradeoff, start, second_start, memory
}
criterion_main!(benches);
