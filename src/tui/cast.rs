//! A scripted run as an asciinema recording (asciicast v2): a header line, then one line a frame with
//! its time and what a terminal gets to see.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use serde_json::json;

use tinyscope::{Error, Result};

use super::state::State;
use super::view;

/// The last frame is seen for so long.
const END: Duration = Duration::from_secs(2);

/// Bytes that both the terminal and the recording hold.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A recording being made.
pub(crate) struct Cast {
    lines: String,
    written: Shared,
    terminal: Terminal<CrosstermBackend<Shared>>,
    area: Rect,
}

impl Cast {
    /// An empty recording of a screen of this size. The same script gives the same bytes: it holds no
    /// date.
    ///
    /// # Errors
    /// None in practice: nothing is written outside memory.
    pub(crate) fn new((width, height): (u16, u16), title: &str) -> Result<Cast> {
        // The theme decides about colours, not the environment of whoever records.
        crossterm::style::force_color_output(true);
        let area = Rect::new(0, 0, width, height);
        let written = Shared::default();
        let options = TerminalOptions {
            viewport: Viewport::Fixed(area),
        };
        let backend = CrosstermBackend::new(written.clone());
        let terminal = Terminal::with_options(backend, options).map_err(failed)?;
        let header = json!({
            "version": 2, "width": width, "height": height, "title": title,
            "env": {"TERM": "xterm-256color"},
        });
        Ok(Cast {
            lines: format!("{header}\n"),
            written,
            terminal,
            area,
        })
    }

    /// Adds a frame: only what changed since the last one.
    ///
    /// # Errors
    /// None in practice.
    pub(crate) fn frame(&mut self, state: &State, at: Duration) -> Result<()> {
        let area = self.area;
        self.terminal
            .draw(|frame| view::draw(state, area, frame.buffer_mut()))
            .map_err(failed)?;
        let bytes = std::mem::take(&mut *self.written.0.borrow_mut());
        let text = String::from_utf8_lossy(&bytes);
        self.line(at, &text);
        Ok(())
    }

    fn line(&mut self, at: Duration, text: &str) {
        let at = (at.as_secs_f64() * 1e3).round() / 1e3;
        self.lines
            .push_str(&format!("{}\n", json!([at, "o", text])));
    }

    /// The recording.
    pub(crate) fn finish(mut self, at: Duration) -> String {
        // The cursor comes back, and the last frame stays to be read.
        self.line(at + END, "\u{1b}[?25h");
        self.lines
    }
}

fn failed(error: io::Error) -> Error {
    Error::setting(format!("recording: {error}"), "")
}
