//! `tinyscope import`: whatever is read, as the native pair.

use std::io::Write;

use tinyscope::data::{count, write};
use tinyscope::progress::{Observer, Progress};

use super::{Bar, Failure, keep_input, load, warn};
use crate::cli::Import;

pub(crate) fn run(args: &Import, out: &mut dyn Write) -> Result<(), Failure> {
    // The command line takes names that end in .json only.
    let stem = args.out.file_stem().unwrap_or_default().to_string_lossy();
    let stem = &*stem;
    let dir = args.out.parent().filter(|d| !d.as_os_str().is_empty());
    let dir = dir.unwrap_or(std::path::Path::new("."));
    // Before gigabytes of logs are read.
    for file in &write::native_files(dir, stem) {
        keep_input(&args.data.sources(), Some(file))?;
        write::replaceable(file)?;
    }
    let mut benchmark = load(&args.data)?;
    warn(&benchmark.warnings);
    // What reading left out or chose belongs to the data from here on.
    let remarks = std::mem::take(&mut benchmark.warnings);
    if !remarks.is_empty() {
        let read = format!("Imported: {}.", remarks.join("; "));
        benchmark.notes = [benchmark.notes.as_str(), &read]
            .join(" ")
            .trim()
            .to_owned();
    }
    // Packing takes about as long as reading.
    let bar = Bar::new();
    bar.progress(&Progress {
        what: format!("writing {}", args.out.display()),
        done: 0.0,
    });
    write::native(&benchmark, dir, stem)?;
    drop(bar);
    Ok(writeln!(
        out,
        "{}: {}, {} in {}",
        args.out.display(),
        count(benchmark.matrix.n_models(), "model"),
        count(benchmark.matrix.n_items(), "item"),
        count(benchmark.scenarios.len(), "scenario")
    )?)
}
