//! The one event enum, and the threads that feed it.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crossterm::event::{KeyEvent, MouseEvent};

use tinyscope::data::Split;
use tinyscope::experiment::Replay;

use super::job::{CellKey, FitKey, Job, Who};
use super::study::{Cell, FitShown, Mine, Study};

/// Everything that can happen to the screen.
#[derive(Debug)]
pub(crate) enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse did something.
    Mouse(MouseEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has another size, or wants to be drawn again.
    Resize,
    /// Time for the next step of a replay.
    Tick,
    /// The worker reports on the job of this generation.
    Job {
        /// Which start of which job.
        generation: u64,
        /// What it says.
        report: Report,
    },
    /// A file was written, or could not be.
    Written(Result<String, String>),
    /// Input has ended (0) or this signal asks to leave.
    Leave(i32),
}

/// What the worker says of a job.
#[derive(Debug)]
pub(crate) enum Report {
    /// It has got this far.
    Progress {
        /// What it is doing.
        what: String,
        /// Share done.
        done: f64,
        /// Time since its start.
        elapsed: Duration,
    },
    /// It is done.
    Done(Outcome),
    /// It stopped because it was asked to.
    Cancelled,
    /// It could not be done, or it panicked.
    Failed(Job, String),
}

/// The result of a job.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A benchmark was read and split.
    Loaded(Arc<Study>),
    /// Scenarios were fitted: one, or all that share a fit; on the training models of this split.
    Fitted(Vec<(FitKey, Arc<FitShown>)>, Arc<Split>),
    /// Items were chosen and scores estimated, for each scenario that shares the ability.
    Estimated(Vec<(CellKey, Arc<Cell>)>),
    /// The answers of the user's own model, and how many of them are to items of the benchmark.
    Answered(Arc<Mine>, usize),
    /// A model's answers one by one.
    Replayed(CellKey, Who, Arc<Replay>),
    /// What was found in the data.
    Diagnosed(Vec<String>),
}

/// Turns SIGTERM, SIGHUP, SIGINT and SIGQUIT into [`Event::Leave`], so that the terminal is restored.
#[cfg(unix)]
pub(crate) fn watch_signals(events: Sender<Event>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT])?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                if events.send(Event::Leave(signal)).is_err() {
                    return;
                }
            }
        })?;
    Ok(())
}

/// There are no such signals here.
#[cfg(not(unix))]
pub(crate) fn watch_signals(_: Sender<Event>) -> std::io::Result<()> {
    Ok(())
}
