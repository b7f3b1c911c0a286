//! Writing files whole or not at all, and benchmarks in the native format.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::Benchmark;
use super::read::{Form, Manifest, hex};
use crate::error::{Error, Result};

/// Writes `bytes` to `path` by way of a file beside it: a crash leaves the old file or the new one. A name that ends in
/// `.gz` is compressed. A link is followed, an existing file keeps its permissions, and what is no file (a device, a pipe)
/// is written to directly.
///
/// # Errors
/// [`Error::Io`] with the path; a folder, or a file that is read-only.
pub fn atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |e| Error::io(path, "writing", e);
    let packed;
    let bytes = if path.extension().is_some_and(|e| e == "gz") {
        packed = gzip(bytes).map_err(failed)?;
        &packed
    } else {
        bytes
    };
    replaceable(path)?;
    let existing = fs::metadata(path).ok();
    if let Some(old) = &existing {
        // Standard output may be a file, but it is not ours to replace.
        if !old.is_file() || path.starts_with("/dev") {
            let mut device = fs::OpenOptions::new()
                .write(true)
                .open(path)
                .map_err(failed)?;
            return device.write_all(bytes).map_err(failed);
        }
    }
    let target = match &existing {
        Some(_) => fs::canonicalize(path).map_err(failed)?,
        None => followed(path),
    };
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = target.with_file_name(name);
    let written = fs::File::create(&part)
        .and_then(|mut f| {
            if let Some(old) = &existing {
                f.set_permissions(old.permissions())?;
            }
            f.write_all(bytes)?;
            f.sync_all()
        })
        .and_then(|()| fs::rename(&part, &target));
    if written.is_err() {
        // Best effort: the message about the write itself matters more.
        let _ = fs::remove_file(&part);
    }
    written.map_err(failed)
}

/// What a path leads to where it is a link, whether that exists or not; else the path.
pub fn followed(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    // As many links as systems follow: a circle ends too.
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&target) else {
            break;
        };
        // Relative to where the link is; an absolute one replaces the whole.
        target = target.parent().unwrap_or_else(|| Path::new("")).join(next);
    }
    target
}

/// Refuses what [`atomically`] does not write to.
///
/// # Errors
/// A folder, or a file that is read-only.
pub fn replaceable(path: &Path) -> Result<()> {
    let Ok(old) = fs::metadata(path) else {
        return Ok(());
    };
    if old.is_dir() {
        return Err(Error::input(
            path,
            "a folder, not a file",
            "name a file in it",
        ));
    }
    if old.permissions().readonly() {
        return Err(Error::input(path, "the file is read-only", "name another"));
    }
    Ok(())
}

/// Gzip without a time stamp, so that the same input gives the same bytes.
fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The files that [`native`] may write: manifest, matrix and item texts.
pub fn native_files(dir: &Path, stem: &str) -> [PathBuf; 3] {
    ["json", "csv.gz", "items.jsonl.gz"].map(|end| dir.join(format!("{stem}.{end}")))
}

/// Writes `DIR/STEM.json`, `DIR/STEM.csv.gz` and, where there are item texts, `DIR/STEM.items.jsonl.gz`; the same benchmark
/// gives the same bytes. Items in no scenario are left out.
///
/// # Errors
/// [`Error::Io`], a file that cannot be replaced: then nothing was. The manifest is written last and has the sum of its
/// matrix, so that what was stopped in between is refused when it is read.
pub fn native(benchmark: &Benchmark, dir: &Path, stem: &str) -> Result<PathBuf> {
    let files = native_files(dir, stem);
    for file in &files {
        replaceable(file)?;
    }
    fs::create_dir_all(dir).map_err(|e| Error::io(dir, "making the folder", e))?;
    let path = files[0].clone();
    // A manifest without a sum would describe whatever matrix stands beside it.
    if fs::read_to_string(&path).is_ok_and(|text| !text.contains("\"matrix_sha256\"")) {
        fs::remove_file(&path).map_err(|e| Error::io(&path, "replacing", e))?;
    }
    let mut scenarios = Map::new();
    let mut columns = Vec::new();
    for s in &benchmark.scenarios {
        let mut subs = Map::new();
        for sub in s.subscenarios.iter().filter(|sub| !sub.items.is_empty()) {
            let at = columns.len();
            columns.extend_from_slice(&s.columns[sub.items.clone()]);
            subs.insert(sub.name.clone(), json!([at, columns.len()]));
        }
        scenarios.insert(s.name.clone(), Value::Object(subs));
    }
    let matrix = format!("{stem}.csv.gz");
    // Packing them takes about as long as reading gigabytes of logs.
    let (written, item_text) = rayon::join(
        || -> Result<String> {
            let text = table(benchmark, &columns)?;
            atomically(&dir.join(&matrix), &text)?;
            Ok(hex(&Sha256::digest(&text)))
        },
        || item_texts(benchmark, &columns, dir, stem),
    );
    let sum = written?;
    let item_text = item_text?;
    let manifest = Manifest {
        benchmark: benchmark.name.clone(),
        matrix,
        form: Some(Form::Wide),
        matrix_sha256: Some(sum),
        models: Some(benchmark.matrix.n_models()),
        items: Some(columns.len()),
        simulated: benchmark.simulated,
        metric: benchmark.metric.clone(),
        aggregate: super::read::Aggregates::of_scenarios(&benchmark.scenarios),
        source: benchmark.source.clone(),
        licence: benchmark.licence.clone(),
        notes: benchmark.notes.clone(),
        scenarios,
        released: benchmark
            .released
            .iter()
            .map(|(m, d)| (m.clone(), d.to_string()))
            .collect(),
        organisations: benchmark.organisations.clone(),
        item_text,
    };
    let mut text = serde_json::to_string_pretty(&manifest)
        .map_err(|e| Error::io(&path, "writing", e.into()))?;
    text.push('\n');
    atomically(&path, text.as_bytes())?;
    Ok(path)
}

fn table(benchmark: &Benchmark, columns: &[usize]) -> Result<Vec<u8>> {
    let m = &benchmark.matrix;
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let failed = |e: csv::Error| Error::io(&benchmark.origin, "writing the matrix", e.into());
    let header = columns.iter().map(|&c| m.items()[c].as_str());
    writer
        .write_record(std::iter::once("model").chain(header))
        .map_err(failed)?;
    let mut scores = vec![0.0; columns.len()];
    let mut cell = String::new();
    for (l, name) in m.models().iter().enumerate() {
        m.gather(l, columns, &mut scores);
        writer.write_field(name).map_err(failed)?;
        for &y in &scores {
            use std::fmt::Write as _;
            cell.clear();
            // The shortest decimal that reads back as the same number; nothing where missing.
            if !y.is_nan() && write!(cell, "{y}").is_err() {
                cell.clear();
            }
            writer.write_field(&cell).map_err(failed)?;
        }
        writer.write_record(None::<&[u8]>).map_err(failed)?;
    }
    writer
        .into_inner()
        .map_err(|e| Error::io(&benchmark.origin, "writing the matrix", e.into_error()))
}

fn item_texts(
    benchmark: &Benchmark,
    columns: &[usize],
    dir: &Path,
    stem: &str,
) -> Result<Option<String>> {
    if benchmark.texts.is_empty() {
        return Ok(None);
    }
    let name = format!("{stem}.items.jsonl.gz");
    let path = dir.join(&name);
    let mut lines = Vec::new();
    for &c in columns {
        let id = &benchmark.matrix.items()[c];
        if let Some(text) = benchmark.texts.get(id) {
            let mut line = Map::new();
            line.insert("id".into(), json!(id));
            if let Ok(Value::Object(fields)) = serde_json::to_value(text) {
                line.extend(fields);
            }
            lines.extend_from_slice(Value::Object(line).to_string().as_bytes());
            lines.push(b'\n');
        }
    }
    atomically(&path, &lines)?;
    Ok(Some(name))
}
