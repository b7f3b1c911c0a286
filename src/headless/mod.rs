//! Subcommands: results on standard output, progress and warnings on standard error.

mod anchors;
mod estimate;
mod fit;
mod progress;
mod render;
mod score;
mod show;
mod simulate;
mod sweep;
mod table;

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::CommandFactory;
use serde_json::Value;
use tinyscope::Error;
use tinyscope::data::{Benchmark, demo, read};
use tinyscope::error::nearest;

use crate::cli::{Cli, Command, Data, Explore, ThemeArg};
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
    let ended = match cli.command {
        Some(Command::Show(args)) => show::run(&args, &mut out),
        Some(Command::Fit(args)) => fit::run(&args, &mut out),
        Some(Command::Anchors(args)) => anchors::run(&args, &mut out),
        Some(Command::Estimate(args)) => estimate::run(&args, &mut out),
        Some(Command::Sweep(args)) => sweep::run(&args, &mut out),
        Some(Command::Score(args)) => score::run(&args, &mut out),
        Some(Command::Simulate(args)) => simulate::run(&args, &mut out),
        Some(Command::Render(args)) => render::run(args),
        None => explore(cli.explore),
    };
    match ended.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough.
        Err(Failure::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Output(e)) => fail(&format!("writing the results: {e}")),
        Err(Failure::Failed(e)) => fail(&e.to_string()),
    }
}

/// Opens the explorer.
fn explore(args: Explore) -> Result<(), Failure> {
    threads(args.experiment.model.threads)?;
    let Explore {
        data,
        demo,
        reading,
        experiment,
        theme,
    } = args;
    if let Some(path) = data
        .as_deref()
        .filter(|p| demo_name(p).is_none() && !p.exists())
    {
        return Err(no_such_file(path).into());
    }
    let demo = demo.unwrap_or_else(|| "helm-lite".into());
    let options = tui::Options {
        source: data.unwrap_or_else(|| format!("demo:{demo}").into()),
        read: benchmark,
        reading: reading.options(),
        configure: Arc::new(move |benchmark| experiment.settings(benchmark)),
        theme: theme.map(ThemeArg::name),
        view: tui::ViewName::Map,
        demos: demo::names().map(str::to_owned).collect(),
    };
    Ok(tui::explore(&options)?)
}

fn fail(message: &str) -> ExitCode {
    // Nothing is left to do where standard error is closed too.
    let _ = writeln!(io::stderr(), "tinyscope: {message}");
    ExitCode::FAILURE
}

/// Reads the benchmark that the arguments name.
pub(crate) fn load(data: &Data) -> tinyscope::Result<Benchmark> {
    benchmark(&data.data, &data.reading.options())
}

/// Reads a file, or a bundled demo by `demo:NAME`.
pub(crate) fn benchmark(path: &Path, options: &read::ReadOptions) -> tinyscope::Result<Benchmark> {
    if let Some(name) = demo_name(path) {
        return demo::load(name);
    }
    if !path.exists() {
        return Err(no_such_file(path));
    }
    read::benchmark(path, options)
}

/// Refuses to write over what is read.
pub(crate) fn keep_input(data: &Path, out: Option<&Path>) -> tinyscope::Result<()> {
    let Some(target) = out.and_then(|o| o.canonicalize().ok()) else {
        return Ok(());
    };
    let read = read::files(data);
    if read
        .iter()
        .any(|f| f.canonicalize().is_ok_and(|f| f == target))
    {
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

/// NAME where the path is `demo:NAME`.
pub(crate) fn demo_name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix(demo::PREFIX)
}

/// Warnings as lines on standard error.
pub(crate) fn warn(warnings: &[String]) {
    for w in warnings {
        let _ = writeln!(io::stderr(), "warning: {w}");
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
