//! Subcommands: results on standard output, progress and warnings on standard error.

mod adapt;
mod anchors;
mod cache;
mod compare;
mod estimate;
mod fetch;
mod fit;
mod import;
mod plan;
mod progress;
mod published;
mod render;
mod score;
mod shell;
mod shift;
mod show;
mod simulate;
mod sources;
mod sweep;
mod table;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::CommandFactory;
use serde_json::Value;
use tinyscope::Error;
use tinyscope::data::read::demo_name;
use tinyscope::data::{Benchmark, demo, kept, read};
use tinyscope::error::nearest;
use tinyscope::fetch::unfinished;
use tinyscope::progress::Observer;

use crate::cli::{Cli, Command, Data, Experiment, Explore, Model, Screen, saved_settings};
use crate::tui;
pub(crate) use progress::Bar;

/// Why a subcommand ended early.
pub(crate) enum Failure {
    /// The library's error.
    Failed(Error),
    /// Standard output could not be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self::Failed(e)
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        Self::Output(e)
    }
}

/// Runs the subcommand and says how it ended.
pub(crate) fn main(cli: Cli) -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    cache::open(cli.no_cache);
    let ended = match cli.command {
        Some(Command::Show(args)) => show::run(&args, &mut out),
        Some(Command::Fit(args)) => fit::run(&args, &mut out),
        Some(Command::Anchors(args)) => anchors::run(&args, &mut out),
        Some(Command::Estimate(args)) => estimate::run(&args, &mut out),
        Some(Command::Sweep(args)) => sweep::run(&args, &mut out),
        Some(Command::Plan(args)) => plan::run(&args, &mut out),
        Some(Command::Shift(args)) => shift::run(&args, &mut out),
        Some(Command::Sources(args)) => sources::run(&args, &mut out),
        Some(Command::Score(args)) => score::run(&args, &mut out),
        Some(Command::Compare(args)) => compare::run(&args, &mut out),
        Some(Command::Adapt(args)) => adapt::run(&args, &mut out),
        Some(Command::Simulate(args)) => simulate::run(&args, &mut out),
        Some(Command::Fetch(args)) => fetch::run(&args, &mut out),
        Some(Command::Cache(args)) => cache::run(&args, &mut out),
        Some(Command::Import(args)) => import::run(&args, &mut out),
        Some(Command::Completions(args)) => shell::completions(&args, &mut out),
        Some(Command::Man) => shell::man(&mut out),
        Some(Command::Render(args)) => render::run(*args),
        None => match explore(cli.explore) {
            Ok(0) => Ok(()),
            Ok(code) => return ExitCode::from(code.clamp(1, 255) as u8),
            Err(failure) => Err(failure),
        },
    };
    match ended.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough.
        Err(Failure::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Output(e)) => fail(&format!("writing the results: {e}")),
        Err(Failure::Failed(e)) => fail(&e.to_string()),
    }
}

/// Opens the explorer; true endings are 0, wrong arguments 2, a signal's 128 and its number, as shells have it.
fn explore(args: Explore) -> Result<i32, Failure> {
    threads(args.experiment.model.threads)?;
    let Explore {
        data,
        more,
        demo,
        reading,
        experiment,
        screen,
        open,
    } = args;
    // A word before a file is a subcommand that there is not.
    if let Some(word) = data.as_deref().filter(|p| !p.exists() && is_word(p))
        && !more.more.is_empty()
    {
        fail(&no_such_file(word).to_string());
        return Ok(WRONG_ARGUMENTS);
    }
    for path in data.iter().chain(&more.more) {
        if demo_name(path).is_none() && !path.exists() {
            return Err(no_such_file(path).into());
        }
    }
    let demo = demo.unwrap_or_else(|| "helm-lite".into());
    let data = data.unwrap_or_else(|| format!("demo:{demo}").into());
    let reading = reading.options(&more);
    let options = screen_options((data, open), reading, experiment, screen, None)?;
    // What cannot be written here is the screen, not results.
    let signal = tui::explore(&options).map_err(|e| Error::setting(e.to_string(), ""))?;
    Ok(if signal == 0 { 0 } else { 128 + signal })
}

/// What the explorer and its pictures are asked for; a settings file has the word where there is one.
pub(crate) fn screen_options(
    (data, open): (PathBuf, Option<PathBuf>),
    reading: read::ReadOptions,
    experiment: Experiment,
    screen: Screen,
    view: Option<tui::ViewName>,
) -> Result<tui::Options, Failure> {
    let demos = demo::names().map(str::to_owned).collect();
    let theme = screen.theme;
    let plain = tui::Options {
        source: data,
        read: benchmark,
        reading,
        configure: Arc::new(move |benchmark| experiment.settings(benchmark)),
        theme,
        marker: screen.marker,
        view: view.unwrap_or(tui::ViewName::Map),
        demos,
        me: screen.me,
        seeds: screen.seeds,
        saved: None,
    };
    let Some(file) = open else {
        return Ok(plain);
    };
    let mistaken = |why: String| Error::setting(why, "");
    let saved = tui::Saved::read(&file).map_err(mistaken)?;
    let named = |why| format!("{}: {why}", file.display());
    let settings = saved_settings(&saved.fit).map_err(|why| mistaken(named(why)))?;
    Ok(tui::Options {
        source: saved.data.clone(),
        reading: saved.fit.reading.clone(),
        configure: Arc::new(move |_| Ok(settings.clone())),
        me: plain.me.or_else(|| saved.me.clone()),
        saved: Some(match view {
            Some(view) => saved.with_view(view),
            None => saved,
        }),
        ..plain
    })
}

/// The exit code of wrong arguments, as clap has it.
const WRONG_ARGUMENTS: i32 = 2;

fn is_word(path: &Path) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '-';
    path.to_str().is_some_and(|p| p.chars().all(letter))
}

fn fail(message: &str) -> ExitCode {
    // Nothing is left to do where standard error is closed too.
    let _ = writeln!(io::stderr(), "tinyscope: {message}");
    ExitCode::FAILURE
}

/// Reads the benchmark that the arguments name.
pub(crate) fn load(data: &Data) -> tinyscope::Result<Benchmark> {
    benchmark(&data.data, &data.options(), &Bar::new())
}

/// Reads a file or folder, or a bundled demo by `demo:NAME`, with what is joined to it.
pub(crate) fn benchmark(
    path: &Path,
    options: &read::ReadOptions,
    observer: &dyn Observer,
) -> tinyscope::Result<Benchmark> {
    for source in std::iter::once(path).chain(options.also.iter().map(PathBuf::as_path)) {
        if demo_name(source).is_none() && !source.exists() {
            return Err(no_such_file(source));
        }
    }
    let mut benchmark = match cache::opened() {
        Some(cache) => kept::watched(path, options, observer, cache)?,
        None => read::watched(path, options, observer)?,
    };
    for source in std::iter::once(path).chain(options.also.iter().map(PathBuf::as_path)) {
        benchmark.warnings.extend(unfinished(source));
    }
    if let Some(cache) = cache::opened() {
        benchmark.matrix.keep_in(cache.named(&benchmark.name));
    }
    Ok(benchmark)
}

/// Refuses to write over what is read.
pub(crate) fn keep_input(data: &[PathBuf], out: Option<&Path>) -> tinyscope::Result<()> {
    let read = data.iter().flat_map(|source| read::files(source));
    keep(read, out)
}

/// Refuses to write over the parameters.
pub(crate) fn keep_parameters(model: &Model, out: Option<&Path>) -> tinyscope::Result<()> {
    keep(model.parameters.iter().cloned(), out)
}

/// Refuses to write our JSON under the name of a table.
pub(crate) fn native_name(out: Option<&Path>, other: &str) -> tinyscope::Result<()> {
    let ends = |out: &&Path| {
        let name = out.to_string_lossy().to_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        [".csv", ".tsv"].iter().any(|end| name.ends_with(end))
    };
    match out.filter(ends) {
        Some(out) => Err(Error::setting(
            format!("--out {}: --format native is JSON, no table", out.display()),
            format!("name a .json, or say --format {other}"),
        )),
        None => Ok(()),
    }
}

fn keep(mut read: impl Iterator<Item = PathBuf>, out: Option<&Path>) -> tinyscope::Result<()> {
    let Some(target) = out.and_then(|o| o.canonicalize().ok()) else {
        return Ok(());
    };
    if read.any(|f| f.canonicalize().is_ok_and(|f| f == target)) {
        return Err(Error::setting(
            format!("--out {} would replace what is read", target.display()),
            "name another file",
        ));
    }
    Ok(())
}

/// Names the demo or subcommand that was perhaps meant.
fn no_such_file(path: &Path) -> Error {
    let name = path.to_string_lossy();
    let commands = Cli::command();
    let commands = commands.get_subcommands().map(clap::Command::get_name);
    let hint = if demo::names().any(|n| n == name) {
        format!("the bundled demo is {}{name}", demo::PREFIX)
    } else if let Some(near) = nearest(&name, commands) {
        format!("did you mean the subcommand {near:?}?")
    } else {
        "give a manifest, a table of responses, or demo:NAME".into()
    };
    Error::setting(format!("{name}: no such file"), hint)
}

/// Warnings as lines on standard error.
pub(crate) fn warn(warnings: &[String]) {
    for w in warnings {
        let _ = writeln!(io::stderr(), "warning: {}", table::printable(w));
    }
}

/// Uses so many threads from here on; all cores where none are named.
pub(crate) fn threads(count: Option<usize>) -> tinyscope::Result<()> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(count.unwrap_or(0))
        .build_global()
        .map_err(|e| Error::setting(format!("threads: {e}"), "choose another --threads"))
}

/// Pretty JSON and a line feed.
pub(crate) fn json(out: &mut dyn Write, value: &Value) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

/// The first line of every table.
pub(crate) fn heading(out: &mut dyn Write, benchmark: &str, simulated: bool) -> io::Result<()> {
    if simulated {
        writeln!(out, "{benchmark}: SIMULATED, no model was measured")
    } else {
        writeln!(out, "{benchmark}")
    }
}
