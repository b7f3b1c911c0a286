//! Tables of responses: `model,item,item...`, a row a model; comma, semicolon or tab.

use std::collections::HashMap;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};

use super::{ReadOptions, Source};
use crate::data::{MatrixBuilder, ResponseMatrix};
use crate::error::{Error, Place, Result};

/// A response matrix as read, with what had to be mended.
#[derive(Debug, Clone)]
pub struct Table {
    /// Models x items.
    pub matrix: ResponseMatrix,
    /// Renamed models, skipped lines.
    pub warnings: Vec<String>,
}

/// Reads a table. The first line names the items, the first column the models. Empty, `NA`, `N/A`, `NaN`, `null` and
/// `None` (any case) are missing; everything else must be a number in \[0, 1\] (0 to 100 with `percent`).
///
/// # Errors
/// With line and column: a row of the wrong length, a cell that is no number or out of range, an item named twice, no
/// item, no model.
pub(super) fn read(path: &Path, source: Source, options: &ReadOptions) -> Result<Table> {
    let delimiter = delimiter(source.head());
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(source.reader());
    let mut record = ByteRecord::new();
    if !next(path, &mut reader, &mut record)? {
        return Err(Error::input(path, "the file is empty", ""));
    }
    let items = header(path, &record)?;
    let mut rows = Rows {
        path,
        scale: if options.percent { 0.01 } else { 1.0 },
        matrix: MatrixBuilder::new(items.clone()),
        items,
        seen: HashMap::new(),
        warnings: Vec::new(),
    };
    let mut scores = Vec::new();
    while next(path, &mut reader, &mut record)? {
        rows.add(&record, &mut scores)?;
    }
    if rows.matrix.n_models() == 0 {
        return Err(Error::input(
            path,
            "no models: the file has a header and no rows",
            "",
        ));
    }
    Ok(Table {
        matrix: rows.matrix.finish(),
        warnings: rows.warnings,
    })
}

/// Reads the next record that is not blank; false at the end.
fn next<R: std::io::Read>(
    path: &Path,
    reader: &mut csv::Reader<R>,
    record: &mut ByteRecord,
) -> Result<bool> {
    loop {
        let more = reader.read_byte_record(record).map_err(|e| {
            let line = e.position().map_or(0, csv::Position::line);
            match e.into_kind() {
                csv::ErrorKind::Io(e) if e.kind() != std::io::ErrorKind::InvalidInput => {
                    Error::input(
                        path,
                        format!("unreadable after line {}: {e}", reader.position().line()),
                        "the file may be cut off or damaged",
                    )
                }
                other => Error::at_line(path, line, format!("{other:?}"), ""),
            }
        })?;
        if !more {
            return Ok(false);
        }
        if record.len() > 1 || record.get(0).is_some_and(|c| !c.trim_ascii().is_empty()) {
            return Ok(true);
        }
    }
}

/// The delimiter that the first line has most of, outside quotes.
pub(super) fn delimiter(head: &[u8]) -> u8 {
    let mut counts = [(b',', 0usize), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for &b in head.trim_ascii_start() {
        match b {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            _ if !quoted => {
                for (d, n) in &mut counts {
                    *n += usize::from(*d == b);
                }
            }
            _ => {}
        }
    }
    // The first of equals: a comma.
    let mut best = counts[0];
    for c in counts {
        if c.1 > best.1 {
            best = c;
        }
    }
    best.0
}

fn header(path: &Path, record: &ByteRecord) -> Result<Vec<String>> {
    let line = record.position().map_or(1, csv::Position::line);
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    let mut items = Vec::with_capacity(record.len().saturating_sub(1));
    for (column, name) in record.iter().enumerate().skip(1) {
        let name = name.trim_ascii();
        let text = text(path, line, column, name)?;
        if let Some(first) = seen.insert(name, column) {
            return Err(Error::at_line(
                path,
                line,
                format!(
                    "item {text:?} stands in columns {} and {}",
                    first + 1,
                    column + 1
                ),
                "give every item its own id",
            ));
        }
        items.push(text.to_owned());
    }
    if items.is_empty() {
        return Err(Error::at_line(
            path,
            line,
            "no items: the first line has a single cell",
            "write `model,item,item...` and a row a model (comma, semicolon or tab)",
        ));
    }
    Ok(items)
}

fn text<'a>(path: &Path, line: u64, column: usize, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|_| Error::Input {
        place: Place {
            file: path.to_owned(),
            line: Some(line),
            column: Some(column as u64 + 1),
        },
        what: format!("{:?} is not UTF-8", String::from_utf8_lossy(bytes)),
        hint: "save the file as UTF-8".into(),
    })
}

struct Rows<'a> {
    path: &'a Path,
    scale: f64,
    items: Vec<String>,
    matrix: MatrixBuilder,
    seen: HashMap<String, usize>,
    warnings: Vec<String>,
}

impl Rows<'_> {
    fn add(&mut self, record: &ByteRecord, scores: &mut Vec<f64>) -> Result<()> {
        let line = record.position().map_or(0, csv::Position::line);
        let name = text(self.path, line, 0, record[0].trim_ascii())?;
        if record.len() != self.items.len() + 1 {
            return Err(Error::at_line(
                self.path,
                line,
                format!(
                    "{} cells, {} expected (model {name:?})",
                    record.len(),
                    self.items.len() + 1
                ),
                "give every row a cell for each column of the first line; an empty cell is missing",
            ));
        }
        scores.clear();
        for (column, cell) in record.iter().enumerate().skip(1) {
            scores.push(self.score(cell, line, column, name)?);
        }
        let name = self.unique(name, line);
        self.matrix.push(name, scores);
        Ok(())
    }

    fn unique(&mut self, name: &str, line: u64) -> String {
        let name = if name.is_empty() {
            self.warnings.push(format!("line {line} has no model name"));
            "unnamed".to_owned()
        } else {
            name.to_owned()
        };
        let count = self.seen.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 {
            return name;
        }
        let mut number = *count;
        let mut kept = format!("{name} #{number}");
        while self.seen.contains_key(&kept) {
            number += 1;
            kept = format!("{name} #{number}");
        }
        self.warnings.push(format!(
            "model {name:?} stands again at line {line}: kept apart as {kept:?}"
        ));
        self.seen.insert(kept.clone(), 1);
        kept
    }

    fn score(&self, cell: &[u8], line: u64, column: usize, model: &str) -> Result<f64> {
        let cell = match cell {
            b"0" => return Ok(0.0),
            b"1" => return Ok(self.scale),
            _ => cell.trim_ascii(),
        };
        if is_missing(cell) {
            return Ok(f64::NAN);
        }
        let number = std::str::from_utf8(cell)
            .ok()
            .and_then(|t| t.parse::<f64>().ok())
            .map(|x| x * self.scale);
        let (what, hint) = match number {
            Some(x) if (0.0..=1.0).contains(&x) => return Ok(x),
            Some(x) if x > 1.0 && x <= 100.0 && self.scale == 1.0 => (
                "is above 1",
                "scores are in [0, 1]; if these are percentages, say --percent",
            ),
            Some(_) if self.scale == 1.0 => ("is outside [0, 1]", "scores are in [0, 1]"),
            Some(_) => ("is outside [0, 100]", "percentages are in [0, 100]"),
            None => (
                "is not a score",
                "write a number in [0, 1], or leave the cell empty where it is missing",
            ),
        };
        Err(Error::Input {
            place: Place {
                file: self.path.to_owned(),
                line: Some(line),
                column: Some(column as u64 + 1),
            },
            what: format!(
                "{:?} {what} (model {model:?}, item {:?})",
                String::from_utf8_lossy(cell),
                self.items[column - 1]
            ),
            hint: hint.into(),
        })
    }
}

pub(super) fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty()
        || [&b"na"[..], b"nan", b"n/a", b"null", b"none"]
            .iter()
            .any(|m| cell.eq_ignore_ascii_case(m))
}
