//! The explorer: event loop and redraw policy.
//!
//! Input thread, signal thread and worker send [`event::Event`]s to one queue. The loop sleeps until
//! one comes, takes all that are there, and then draws at most once, only when something changed.

mod action;
mod choices;
mod engine;
mod event;
#[cfg(test)]
mod fixture;
mod glyphs;
mod plan;
mod recent;
#[cfg(test)]
mod screens;
mod state;
mod study;
mod svg;
mod theme;
mod update;
mod view;
mod walk;
mod worker;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use tinyscope::data::read::ReadOptions;
use tinyscope::progress::Observer;
use tinyscope::{Error, Result};

use engine::{Configure, Engine, Read};
use event::{Event, Report};
use state::{Source, State};
use update::{Effect, update};
use worker::{Work, Worker};

pub(crate) use state::ViewName;
pub(crate) use theme::ThemeName;

/// What the explorer and its pictures are asked for.
pub(crate) struct Options {
    /// What to open: a file, or `demo:NAME`.
    pub(crate) source: PathBuf,
    /// Reads it, and whatever the user opens later.
    pub(crate) read: Read,
    /// How files are read.
    pub(crate) reading: ReadOptions,
    /// Scenarios, n, selection, lambda, split and everything else that decides the numbers, for the
    /// benchmark that was read.
    pub(crate) configure: Arc<Configure>,
    /// The theme; by environment where absent.
    pub(crate) theme: Option<ThemeName>,
    /// The view shown first.
    pub(crate) view: ViewName,
    /// Names of the bundled demos.
    pub(crate) demos: Vec<String>,
}

impl Options {
    fn state(&self, theme: ThemeName) -> State {
        let mut state = State::new(theme);
        state.view = self.view;
        state
    }

    fn source(&self) -> Source {
        Source(self.source.clone())
    }

    fn engine(&self) -> Engine {
        Engine::new(self.read, self.reading, Arc::clone(&self.configure))
    }
}

/// Opens the explorer and returns when the user leaves it.
///
/// # Errors
/// There is no terminal, or it cannot be written to.
pub(crate) fn explore(options: &Options) -> io::Result<()> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let why = "the explorer needs a terminal; show, estimate and render do without";
        return Err(io::Error::other(why));
    }
    let mut state = options.state(options.theme.unwrap_or_else(theme_of_environment));
    let named = |name: &str| std::env::var(name).unwrap_or_default();
    if !["truecolor", "24bit"].contains(&named("COLORTERM").as_str()) {
        state.indexed = true;
        state.theme = state.theme.indexed();
    }
    state.openable = options
        .demos
        .iter()
        .map(|name| Source::demo(name))
        .collect();
    state.openable.extend(recent::list());
    run(state, options.source(), options.engine())
}

/// Mono where NO_COLOR is set, light where the terminal says that its background is, else dark.
fn theme_of_environment() -> ThemeName {
    let named = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    if named("NO_COLOR").is_some() {
        return ThemeName::Mono;
    }
    match named("COLORFGBG")
        .as_deref()
        .and_then(|v| v.rsplit(';').next())
    {
        Some("7" | "15") => ThemeName::Light,
        _ => ThemeName::Dark,
    }
}

/// The screen as an SVG picture, without a terminal: the same state, jobs and views.
///
/// # Errors
/// What the jobs report; a size below the smallest screen.
pub(crate) fn picture(
    options: &Options,
    (width, height): (u16, u16),
    observer: &dyn Observer,
) -> Result<String> {
    let (least_width, least_height) = view::SMALLEST;
    if width < least_width || height < least_height {
        return Err(Error::setting(
            format!("a picture of {width} x {height} cells is too small"),
            format!("the screen needs {least_width} x {least_height}"),
        ));
    }
    let mut state = options.state(options.theme.unwrap_or(ThemeName::Dark));
    state.size = (width, height);
    // Curves that the picture does not show are not computed.
    state.ahead = false;
    let mut engine = options.engine();
    let mut effects = vec![update::open(&mut state, options.source())];
    while let Some(effect) = effects.pop() {
        let Effect::Start(job, generation) = effect else {
            continue;
        };
        let report = Report::Done(engine.run(&job, observer)?);
        effects = update(&mut state, Event::Job { generation, report });
    }
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    view::draw(&state, area, &mut buffer);
    let name = state
        .study
        .as_ref()
        .map_or("", |s| s.benchmark.name.as_str());
    let title = format!("tinyscope: {name}, {}", state.view.label());
    Ok(svg::write(&buffer, &state.theme, &title))
}

fn run<W: Work + Send + 'static>(mut state: State, source: Source, work: W) -> io::Result<()> {
    restore_on_panic();
    let (sender, events) = channel();
    event::watch_signals(sender.clone())?;
    let mut worker = Worker::start(work, sender.clone())?;
    let screen = Screen::enter()?;
    std::thread::Builder::new()
        .name("input".into())
        .spawn(move || event::read_terminal(sender))?;
    if let Effect::Start(job, generation) = update::open(&mut state, source) {
        worker.run(job, generation);
    }
    let result = turn(&mut state, &events, &mut worker);
    worker.cancel();
    drop(screen);
    result
}

/// The loop itself.
fn turn(state: &mut State, events: &Receiver<Event>, worker: &mut Worker) -> io::Result<()> {
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    draw(state, &mut terminal)?;
    while let Ok(first) = events.recv() {
        let mut next = Some(first);
        while let Some(event) = next {
            for effect in update(state, event) {
                match effect {
                    Effect::Start(job, generation) => worker.run(job, generation),
                    Effect::Cancel => worker.cancel(),
                    Effect::Remember(source) => recent::remember(&source),
                    Effect::Quit => return Ok(()),
                }
            }
            next = events.try_recv().ok();
        }
        draw(state, &mut terminal)?;
    }
    Ok(())
}

/// One frame inside a synchronized update, so that no terminal shows half of it.
fn draw(
    state: &mut State,
    terminal: &mut Terminal<CrosstermBackend<io::Stdout>>,
) -> io::Result<()> {
    let size = terminal.size()?;
    state.size = (size.width, size.height);
    if size.width == 0 || size.height == 0 {
        return Ok(());
    }
    queue!(io::stdout(), BeginSynchronizedUpdate)?;
    terminal.draw(|frame| view::draw(state, frame.area(), frame.buffer_mut()))?;
    execute!(io::stdout(), EndSynchronizedUpdate)
}

/// The terminal while the explorer has it; dropping gives it back as it was.
struct Screen;

impl Screen {
    fn enter() -> io::Result<Screen> {
        enable_raw_mode()?;
        // From here on a failure leaves through the drop.
        let screen = Screen;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            cursor::Hide
        )?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back. A terminal that is gone cannot be restored, so errors do not matter.
fn restore() {
    let mut out = io::stdout();
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// A panic hook is process-wide: only a panic of the loop's own thread gives the terminal back. One
/// of the worker becomes a message on the live screen and must not print over it; one of the input
/// thread ends the loop.
fn restore_on_panic() {
    let screen = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == screen {
            restore();
            before(info);
        }
    }));
}
