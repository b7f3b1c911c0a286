//! `tinyscope import`: whatever is read, as the native pair.

use std::io::Write;

use tinyscope::Error;
use tinyscope::data::write;

use super::{Failure, keep_input, load, warn};
use crate::cli::Import;

pub(crate) fn run(args: &Import, out: &mut dyn Write) -> Result<(), Failure> {
    let name = args.out.file_name().and_then(|n| n.to_str());
    let stem = name
        .and_then(|n| n.strip_suffix(".json"))
        .filter(|s| !s.is_empty());
    let Some(stem) = stem else {
        let what = format!(
            "--out {}: not a name that ends in .json",
            args.out.display()
        );
        return Err(Error::setting(what, "name the manifest: NAME.json").into());
    };
    let dir = args.out.parent().filter(|d| !d.as_os_str().is_empty());
    let dir = dir.unwrap_or(std::path::Path::new("."));
    let files = ["json", "csv.gz", "items.jsonl.gz"].map(|end| dir.join(format!("{stem}.{end}")));
    let mut benchmark = load(&args.data)?;
    for file in &files {
        keep_input(&args.data.sources(), Some(file))?;
    }
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
    let path = write::native(&benchmark, dir, stem)?;
    let (models, items) = (benchmark.matrix.n_models(), benchmark.matrix.n_items());
    Ok(writeln!(
        out,
        "{}: {models} models, {items} items in {} scenarios",
        path.display(),
        benchmark.scenarios.len()
    )?)
}
