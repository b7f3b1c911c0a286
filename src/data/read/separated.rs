//! Tables of responses: `model,item,item...`, a row a model; comma, semicolon or tab.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};

use super::long::{self, Columns};
use super::names::Names;
use super::source::unreadable;
use super::{Limits, Reading, Source};
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

/// Reads a table. The first line names the items, the first column the models; the other way round with `transpose`. A
/// first line with the names `model`, `item` and `score` makes it a long table. Empty, `NA`, `N/A`, `NaN`, `null` and
/// `None` (any case) are missing; everything else must be a number in \[0, 1\] (0 to 100 with `percent`).
///
/// # Errors
/// With line and column: a row of the wrong length, a cell that is no number or out of range, an item named twice, no
/// item, no model.
pub(super) fn read(path: &Path, source: Source<'_>, reading: &Reading<'_>) -> Result<Table> {
    let delimiter = reading
        .delimiter
        .unwrap_or_else(|| delimiter(source.head()));
    let (mut reader, record) = opened(path, source, delimiter)?;
    let cells = Cells {
        path,
        scale: if reading.percent { 0.01 } else { 1.0 },
        trim: true,
        limits: &reading.limits,
    };
    if let Some(columns) = Columns::of(&record) {
        return long::read(&mut reader, &record, columns, &cells);
    }
    if reading.transpose {
        return transposed(&mut reader, &record, &cells);
    }
    wide(&mut reader, record, &cells)
}

/// Reads a table that is known to be `model,item,item...` with commas: no name is looked at, none is trimmed, scores are in
/// \[0, 1\].
///
/// # Errors
/// As [`read`].
pub(super) fn read_wide(path: &Path, source: Source<'_>, reading: &Reading<'_>) -> Result<Table> {
    let (mut reader, record) = opened(path, source, b',')?;
    let cells = Cells {
        path,
        scale: 1.0,
        trim: false,
        limits: &reading.limits,
    };
    wide(&mut reader, record, &cells)
}

/// A reader of records, and the first of them.
fn opened<'s>(
    path: &Path,
    source: Source<'s>,
    delimiter: u8,
) -> Result<(csv::Reader<impl Read + 's>, ByteRecord)> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(source.reader());
    let mut record = ByteRecord::new();
    if next(path, &mut reader, &mut record)? {
        Ok((reader, record))
    } else {
        Err(Error::input(path, "the file is empty", ""))
    }
}

/// A table whose first line names the items and whose first column names the models.
fn wide<R: Read>(
    reader: &mut csv::Reader<R>,
    mut record: ByteRecord,
    cells: &Cells<'_>,
) -> Result<Table> {
    let path = cells.path;
    let items = header(cells, &record)?;
    let mut matrix = MatrixBuilder::new(items.clone());
    let mut names = Names::default();
    let mut scores = Vec::new();
    while next(path, reader, &mut record)? {
        let line = record.position().map_or(0, csv::Position::line);
        let name = cells.name(&record[0], line, 0)?;
        let rows = matrix.n_models() + 1;
        cells.limits.check_cells(path, rows, items.len())?;
        check_length(path, line, &record, items.len(), "model", name)?;
        scores.clear();
        for (column, cell) in record.iter().enumerate().skip(1) {
            scores.push(cells.score(cell, line, column, name, &items[column - 1])?);
        }
        matrix.push(names.unique(name, &format!("line {line}")), &scores);
    }
    if matrix.n_models() == 0 {
        return Err(Error::input(
            path,
            "no models: the file has a header and no rows",
            "",
        ));
    }
    Ok(Table {
        matrix: matrix.finish(),
        warnings: names.warnings,
    })
}

/// A table whose first line names the models and whose first column names the items.
fn transposed<R: Read>(
    reader: &mut csv::Reader<R>,
    heading: &ByteRecord,
    cells: &Cells<'_>,
) -> Result<Table> {
    let path = cells.path;
    let mut names = Names::default();
    let mut models = Vec::new();
    for (column, name) in heading.iter().enumerate().skip(1) {
        let name = cells.name(name, 1, column)?;
        models.push(names.unique(name, &format!("column {}", column + 1)));
    }
    let mut items: Vec<String> = Vec::new();
    let mut seen: HashMap<String, u64> = HashMap::new();
    let mut scores = Vec::new();
    let mut record = ByteRecord::new();
    while next(path, reader, &mut record)? {
        let line = record.position().map_or(0, csv::Position::line);
        let item = cells.name(&record[0], line, 0)?;
        check_length(path, line, &record, models.len(), "item", item)?;
        if let Some(first) = seen.insert(item.to_owned(), line) {
            return Err(Error::at_line(
                path,
                line,
                format!("item {item:?} stands at line {first} already"),
                "give every item its own id",
            ));
        }
        for (column, cell) in record.iter().enumerate().skip(1) {
            scores.push(cells.score(cell, line, column, &models[column - 1], item)?);
        }
        items.push(item.to_owned());
        let limits = cells.limits;
        limits.check_cells(path, models.len(), items.len())?;
    }
    if models.is_empty() || items.is_empty() {
        let (what, hint) = if models.is_empty() {
            (
                "no models: the first line has a single cell",
                "with --transpose, write `item,model,model...` and a row an item",
            )
        } else {
            ("no items: the file has a header and no rows", "")
        };
        return Err(Error::input(path, what, hint));
    }
    let mut matrix = MatrixBuilder::new(items);
    for (l, model) in models.iter().enumerate() {
        let row: Vec<f64> = scores[l..].iter().step_by(models.len()).copied().collect();
        matrix.push(model, &row);
    }
    Ok(Table {
        matrix: matrix.finish(),
        warnings: names.warnings,
    })
}

fn check_length(
    path: &Path,
    line: u64,
    record: &ByteRecord,
    columns: usize,
    what: &str,
    name: &str,
) -> Result<()> {
    if record.len() == columns + 1 {
        return Ok(());
    }
    Err(Error::at_line(
        path,
        line,
        format!(
            "{} cells, {} expected ({what} {name:?})",
            record.len(),
            columns + 1
        ),
        "give every row a cell for each column of the first line; an empty cell is missing",
    ))
}

/// Reads the next record that is not blank; false at the end.
pub(super) fn next<R: Read>(
    path: &Path,
    reader: &mut csv::Reader<R>,
    record: &mut ByteRecord,
) -> Result<bool> {
    loop {
        let more = reader.read_byte_record(record).map_err(|e| {
            let line = e.position().map_or(0, csv::Position::line);
            match e.into_kind() {
                csv::ErrorKind::Io(e) => {
                    unreadable(path, &format!("after line {}", reader.position().line()), e)
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

fn header(cells: &Cells<'_>, record: &ByteRecord) -> Result<Vec<String>> {
    let path = cells.path;
    let line = record.position().map_or(1, csv::Position::line);
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut items = Vec::with_capacity(record.len().saturating_sub(1));
    for (column, name) in record.iter().enumerate().skip(1) {
        let text = cells.name(name, line, column)?;
        if let Some(first) = seen.insert(text, column) {
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

/// Cells that hold names or scores.
pub(super) struct Cells<'a> {
    pub(super) path: &'a Path,
    /// What scores are multiplied by: 0.01 for percentages.
    scale: f64,
    /// Spaces around names are none of them.
    trim: bool,
    pub(super) limits: &'a Limits,
}

impl Cells<'_> {
    /// The name in a cell.
    pub(super) fn name<'c>(&self, cell: &'c [u8], line: u64, column: usize) -> Result<&'c str> {
        let cell = if self.trim { cell.trim_ascii() } else { cell };
        let wrong = |what: String, hint: &str| Error::Input {
            place: Place {
                file: self.path.to_owned(),
                line: Some(line),
                column: Some(column as u64 + 1),
            },
            what,
            hint: hint.into(),
        };
        let name = std::str::from_utf8(cell).map_err(|_| {
            let start = &cell[..cell.len().min(80)];
            let what = format!("{:?} is not UTF-8", String::from_utf8_lossy(start));
            wrong(what, "save the file as UTF-8")
        })?;
        match self.limits.too_long(name) {
            Some((what, hint)) => Err(wrong(what, hint)),
            None => Ok(name),
        }
    }

    /// The score in a cell; NaN where missing.
    pub(super) fn score(
        &self,
        cell: &[u8],
        line: u64,
        column: usize,
        model: &str,
        item: &str,
    ) -> Result<f64> {
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
            Some(x) if x > 1.0 && x <= 100.0 && self.scale == 1.0 && self.trim => (
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
                "{:?} {what} (model {model:?}, item {item:?})",
                String::from_utf8_lossy(cell)
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
