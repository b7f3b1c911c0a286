//! How long work tells what it has done, and how it is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// One step of a longer piece of work.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What is being done ("fitting gsm8k, D = 5").
    pub what: String,
    /// Share of the whole work that is done, in [0, 1].
    pub done: f64,
}

/// Watches work; called from the thread that does it.
pub trait Observer: Sync {
    /// The work has got this far.
    fn progress(&self, progress: &Progress);

    /// True once the work should stop; it then ends with [`Error::Cancelled`] at the next step.
    fn cancelled(&self) -> bool {
        false
    }

    /// `Err(Cancelled)` once the work should stop.
    fn check(&self) -> Result<()> {
        if self.cancelled() {
            Err(Error::Cancelled)
        } else {
            Ok(())
        }
    }
}

/// Watches nothing and never cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&self, _: &Progress) {}
}

/// A shared flag that asks work to stop; clones share it.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Maps a part's progress 0..1 into `from..to` of the whole, under one more label.
pub struct Part<'a> {
    whole: &'a dyn Observer,
    label: String,
    from: f64,
    to: f64,
}

impl<'a> Part<'a> {
    /// The stretch `from..to` of `whole`; its messages begin with `label`.
    pub fn new(whole: &'a dyn Observer, label: impl Into<String>, from: f64, to: f64) -> Self {
        Self {
            whole,
            label: label.into(),
            from,
            to,
        }
    }
}

impl Observer for Part<'_> {
    fn progress(&self, p: &Progress) {
        let what = match (self.label.is_empty(), p.what.is_empty()) {
            (true, _) => p.what.clone(),
            (_, true) => self.label.clone(),
            _ => format!("{}: {}", self.label, p.what),
        };
        let done = self.from + (self.to - self.from) * p.done.clamp(0.0, 1.0);
        self.whole.progress(&Progress { what, done });
    }

    fn cancelled(&self) -> bool {
        self.whole.cancelled()
    }
}
