//! Progress on standard error, where that is a terminal.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tinyscope::progress::{Observer, Progress};

/// A line that shows what is done, how far it is and how long it will take.
pub(crate) struct Bar(ProgressBar);

const STEPS: f64 = 10_000.0;

impl Bar {
    /// Drawn only on a terminal; removed when dropped.
    pub(crate) fn new() -> Self {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:24} {percent:>3} %  {eta:>4}  {wide_msg}")
        {
            bar.set_style(style);
        }
        Self(bar)
    }
}

impl Observer for Bar {
    fn progress(&self, progress: &Progress) {
        self.0.set_position((progress.done * STEPS) as u64);
        self.0.set_message(progress.what.clone());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
