//! The explorer: event loop and redraw policy.
//!
//! Input thread, signal thread and worker send [`event::Event`]s to one queue. The loop sleeps until
//! one comes, takes all that are there, and then draws at most once, only when something changed.

mod act;
mod action;
mod cast;
mod choices;
mod curves;
pub(crate) mod engine;
pub(crate) mod event;
mod export;
#[cfg(test)]
mod fixture;
mod glyphs;
mod input;
pub(crate) mod job;
mod keys;
mod needs;
mod overlay;
mod plan;
mod pointer;
mod recent;
mod replay;
mod saved;
#[cfg(test)]
mod screens;
pub(crate) mod script;
mod shown;
pub(crate) mod state;
mod study;
mod sure;
mod svg;
#[cfg(test)]
mod tests;
pub(crate) mod theme;
mod typing;
pub(crate) mod update;
pub(crate) mod view;
mod walk;
mod worker;

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use terminal_colorsaurus::{QueryOptions, background_color};

use tinyscope::data::read::ReadOptions;
use tinyscope::data::write;
use tinyscope::progress::Observer;
use tinyscope::{Error, Result};

use cast::Cast;
use engine::{Configure, Engine, Read};
use event::Event;
use script::Driver;
use state::{Source, State};
use update::{Effect, update};
use worker::{Work, Worker};

pub(crate) use glyphs::Marker;
pub(crate) use overlay::What;
pub(crate) use saved::{Saved, SavedFit};
pub(crate) use script::{Step, parse as parse_keys};
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
    /// The theme; by the terminal where absent.
    pub(crate) theme: Option<ThemeName>,
    /// How plots are drawn; Braille in terminals and octants in pictures where absent.
    pub(crate) marker: Option<Marker>,
    /// The view shown first.
    pub(crate) view: ViewName,
    /// Names of the bundled demos.
    pub(crate) demos: Vec<String>,
    /// The answers of the user's own model.
    pub(crate) me: Option<PathBuf>,
    /// How many seeds the trade-off's band is over.
    pub(crate) seeds: usize,
    /// A screen to be put back.
    pub(crate) saved: Option<Saved>,
}

impl Options {
    fn state(&self, theme: ThemeName) -> State {
        let mut state = State::new(theme);
        state.view = self.view;
        state.look.marker = self.marker.unwrap_or(Marker::Braille);
        state.seeds = self.seeds;
        state.reading = self.reading.clone();
        state.theme_is_chosen = self.theme.is_some();
        state.restore = self.saved.clone().map(Box::new);
        state
    }

    fn source(&self) -> Source {
        Source(self.source.clone())
    }

    fn engine(&self) -> Engine {
        Engine::new(self.read, self.reading.clone(), Arc::clone(&self.configure))
    }
}

/// Opens the explorer and returns when the user leaves it: with 0, or with the number of the signal
/// that asked to leave.
///
/// # Errors
/// There is no terminal, or it cannot be written to.
pub(crate) fn explore(options: &Options) -> io::Result<i32> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let why = "the explorer needs a terminal; show, estimate and render do without";
        return Err(io::Error::other(why));
    }
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        let why = "the explorer needs a terminal that moves its cursor, and TERM is dumb";
        return Err(io::Error::other(why));
    }
    let (sender, events) = channel();
    // Before the terminal is asked for anything: from here on no signal leaves it in raw mode.
    event::watch_signals(sender.clone())?;
    let saved = options.saved.as_ref().and_then(Saved::theme);
    let theme = options.theme.or(saved).unwrap_or_else(theme_of_terminal);
    let mut state = options.state(theme);
    let named = |name: &str| std::env::var(name).unwrap_or_default();
    if !["truecolor", "24bit"].contains(&named("COLORTERM").as_str()) {
        state.look.indexed = true;
        state.look.theme = state.look.theme.indexed();
    }
    state.openable = options
        .demos
        .iter()
        .map(|name| Source::demo(name))
        .collect();
    state.openable.extend(recent::list());
    state.mine_wanted = options.me.clone();
    let queue = (sender, events);
    run(state, options.source(), options.engine(), queue)
}

/// A terminal that answers at all does so within this; one far away has longer.
const ANSWER: Duration = Duration::from_millis(100);
const FAR_ANSWER: Duration = Duration::from_millis(600);

/// Mono where NO_COLOR is set; else by the background that the environment names or the terminal
/// tells; else dark.
fn theme_of_terminal() -> ThemeName {
    let named = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    if named("NO_COLOR").is_some() {
        return ThemeName::Mono;
    }
    match named("COLORFGBG")
        .as_deref()
        .and_then(|v| v.rsplit(';').next())
    {
        Some("7" | "15") => return ThemeName::Light,
        Some(_) => return ThemeName::Dark,
        None => {}
    }
    let mut options = QueryOptions::default();
    options.timeout = if named("SSH_CONNECTION").is_some() {
        FAR_ANSWER
    } else {
        ANSWER
    };
    match background_color(options) {
        Ok(colour) if colour.perceived_lightness() > 0.5 => ThemeName::Light,
        Ok(_) | Err(_) => ThemeName::Dark,
    }
}

/// What a scripted screen is written as.
pub(crate) enum Picture {
    /// One document of the last screen.
    Last(What),
    /// A recording of all of them.
    Recording,
}

/// The screen after a script, without a terminal: the same state, jobs and views. `pictures` says in
/// what forms.
///
/// # Errors
/// What the jobs report; a size below the smallest screen; a view without such a table.
pub(crate) fn pictures(
    options: &Options,
    (width, height): (u16, u16),
    (steps, slides): (&[Step], bool),
    pictures: &[Picture],
    observer: &dyn Observer,
) -> Result<Vec<String>> {
    let (least_width, least_height) = view::SMALLEST;
    if width < least_width || height < least_height {
        return Err(Error::setting(
            format!("a picture of {width} x {height} cells is too small"),
            format!("the screen needs {least_width} x {least_height}"),
        ));
    }
    let saved = options.saved.as_ref().and_then(Saved::theme);
    let mut state = options.state(options.theme.or(saved).unwrap_or(ThemeName::Dark));
    state.look.size = (width, height);
    // A picture draws its own glyphs: it does not depend on what fonts have.
    if options.marker.is_none() && matches!(pictures, [Picture::Last(What::Svg)]) {
        state.look.marker = Marker::Octant;
    }
    let (source, me) = (options.source(), options.me.clone());
    let mut driver = Driver::open(state, source, me, options.engine(), observer)?;
    if slides {
        view::slides::begin(&mut driver.state);
    }
    let recording = pictures.iter().any(|p| matches!(p, Picture::Recording));
    let title = export::title(&driver.state);
    let mut cast = recording
        .then(|| Cast::new((width, height), &title))
        .transpose()?;
    driver.play(steps, &mut |state, at| match &mut cast {
        Some(cast) => cast.frame(state, at),
        None => Ok(()),
    })?;
    let end = driver.now;
    let state = driver.into_state();
    let mut cast = cast.map(|cast| cast.finish(end));
    pictures
        .iter()
        .map(|picture| match picture {
            Picture::Recording => Ok(cast.take().unwrap_or_default()),
            Picture::Last(what) => {
                export::document(&state, *what).map_err(|why| Error::setting(why, ""))
            }
        })
        .collect()
}

fn run<W: Work + Send + 'static>(
    mut state: State,
    source: Source,
    work: W,
    (sender, events): (Sender<Event>, Receiver<Event>),
) -> io::Result<i32> {
    restore_on_panic();
    let mut worker = Worker::start(work, sender.clone())?;
    let screen = Screen::enter()?;
    std::thread::Builder::new()
        .name("input".into())
        .spawn(move || input::read_terminal(sender))?;
    if let Effect::Start(job, generation) = update::open(&mut state, source) {
        worker.run(job, generation);
    }
    let result = turn(&mut state, &events, &mut worker);
    worker.cancel();
    drop(screen);
    match result {
        // The terminal is gone: as if it had said so.
        Err(error) if error.raw_os_error() == Some(EIO) => Ok(SIGHUP),
        result => result,
    }
}

/// Writing to a terminal that is gone.
const EIO: i32 = 5;
/// The signal of a terminal that is gone.
const SIGHUP: i32 = 1;
/// Columns and rows beyond which nothing is drawn: no screen is larger, and every cell takes memory.
const LARGEST: (u16, u16) = (1000, 400);

/// The loop itself.
fn turn(state: &mut State, events: &Receiver<Event>, worker: &mut Worker) -> io::Result<i32> {
    let options = TerminalOptions {
        viewport: Viewport::Fixed(Rect::ZERO),
    };
    let backend = CrosstermBackend::new(io::stdout());
    // Its drop would print to a terminal that may be gone; the screen's drop restores everything.
    let mut terminal = ManuallyDrop::new(Terminal::with_options(backend, options)?);
    draw(state, &mut terminal)?;
    let mut due = None;
    loop {
        // Only a replay that runs by itself has a clock; else the loop sleeps until something comes.
        due = match (state.replay.playing, due) {
            (false, _) => None,
            (true, Some(due)) => Some(due),
            (true, None) => Some(Instant::now() + state.replay.interval()),
        };
        let first = match due {
            None => match events.recv() {
                Ok(event) => event,
                Err(_) => return Ok(0),
            },
            Some(at) => match events.recv_timeout(at.saturating_duration_since(Instant::now())) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => {
                    due = None;
                    Event::Tick
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            },
        };
        let mut pending = VecDeque::from([first]);
        while let Some(event) = pending.pop_front() {
            for effect in update(state, event) {
                match effect {
                    Effect::Start(job, generation) => worker.run(job, generation),
                    Effect::Cancel => worker.cancel(),
                    Effect::Remember(source) => recent::remember(&source),
                    Effect::Mouse(true) => execute!(io::stdout(), EnableMouseCapture)?,
                    Effect::Mouse(false) => execute!(io::stdout(), DisableMouseCapture)?,
                    Effect::Write(what) => {
                        pending.push_back(Event::Written(write_here(state, what)));
                    }
                    Effect::Quit(signal) => return Ok(signal),
                }
            }
            if pending.is_empty() {
                pending.extend(events.try_recv());
            }
        }
        draw(state, &mut terminal)?;
    }
}

/// Writes what is on the screen to a new file in the current folder, and says its name.
fn write_here(state: &State, what: What) -> std::result::Result<String, String> {
    let text = export::document(state, what)?;
    let stem = export::file_stem(state, what);
    let extension = what.extension();
    let names = (1..10_000).map(|k| match k {
        1 => format!("{stem}.{extension}"),
        k => format!("{stem}-{k}.{extension}"),
    });
    for name in names {
        let path = PathBuf::from(&name);
        if path.symlink_metadata().is_ok() {
            continue;
        }
        return match write::atomically(&path, text.as_bytes()) {
            Ok(()) => Ok(name),
            Err(why) => Err(why.to_string()),
        };
    }
    Err(format!(
        "{stem}.{extension}: too many files of that name here"
    ))
}

/// One frame inside a synchronized update, so that no terminal shows half of it.
fn draw(
    state: &mut State,
    terminal: &mut Terminal<CrosstermBackend<io::Stdout>>,
) -> io::Result<()> {
    let size = terminal.size()?;
    let size = (size.width.min(LARGEST.0), size.height.min(LARGEST.1));
    if size != state.look.size {
        state.look.size = size;
        terminal.resize(Rect::new(0, 0, size.0, size.1))?;
    }
    if size.0 == 0 || size.1 == 0 {
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
        DisableMouseCapture,
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
