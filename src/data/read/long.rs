//! Long tables: a line an answer, with columns `model`, `item` and `score` among others.

use std::collections::HashMap;

use csv::ByteRecord;

use super::names::Names;
use super::separated::{Cells, Table, next};
use crate::data::MatrixBuilder;
use crate::error::{Error, Result};

/// Where the three columns stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    model: usize,
    item: usize,
    score: usize,
}

impl Columns {
    /// The columns of a heading that has exactly these three names, in any order; other columns do not matter.
    pub(super) fn of(heading: &ByteRecord) -> Option<Self> {
        let at = |name: &[u8]| {
            let mut found = heading.iter().enumerate();
            let found = found.find(|(_, c)| c.trim_ascii().eq_ignore_ascii_case(name));
            found.map(|(at, _)| at)
        };
        Some(Self {
            model: at(b"model")?,
            item: at(b"item")?,
            score: at(b"score")?,
        })
    }
}

/// Reads the lines after the heading. Items and models stand in the order of their first line; pairs without a line are
/// missing.
///
/// # Errors
/// With line and column: a line of the wrong length, a score that is none, a pair given twice; no line.
pub(super) fn read<R: std::io::Read>(
    reader: &mut csv::Reader<R>,
    heading: &ByteRecord,
    columns: Columns,
    cells: &Cells<'_>,
) -> Result<Table> {
    let path = cells.path;
    let (mut items, mut models) = (Order::default(), Order::default());
    let mut rows: Vec<HashMap<usize, (f64, u64)>> = Vec::new();
    let mut record = ByteRecord::new();
    while next(path, reader, &mut record)? {
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != heading.len() {
            return Err(Error::at_line(
                path,
                line,
                format!("{} cells, {} expected", record.len(), heading.len()),
                "give every line a cell for each column of the first line",
            ));
        }
        let name = |column: usize| cells.name(&record[column], line, column);
        let (model, item) = (name(columns.model)?, name(columns.item)?);
        if item.is_empty() {
            return Err(Error::at_line(path, line, "no item id", ""));
        }
        let cell = &record[columns.score];
        let score = cells.score(cell, line, columns.score, model, item)?;
        let (row, column) = (models.place(model), items.place(item));
        if row == rows.len() {
            rows.push(HashMap::new());
        }
        if let Some((_, first)) = rows[row].insert(column, (score, line)) {
            return Err(Error::at_line(
                path,
                line,
                format!("model {model:?} and item {item:?} stand at line {first} already"),
                "give every pair of model and item one line",
            ));
        }
    }
    if rows.is_empty() {
        let what = "no models: the file has a header and no rows";
        return Err(Error::input(path, what, ""));
    }
    cells
        .limits
        .check_cells(path, rows.len(), items.names.len())?;
    let mut names = Names::default();
    let mut matrix = MatrixBuilder::new(items.names);
    let mut scores = Vec::new();
    for (model, row) in models.names.iter().zip(rows) {
        scores.clear();
        scores.resize(items.places.len(), f64::NAN);
        let first = row.values().map(|(_, line)| *line).min().unwrap_or(0);
        for (column, (score, _)) in row {
            scores[column] = score;
        }
        matrix.push(names.unique(model, &format!("line {first}")), &scores);
    }
    Ok(Table {
        matrix: matrix.finish(),
        warnings: names.warnings,
    })
}

/// Names in the order of their first appearance.
#[derive(Default)]
pub(super) struct Order {
    pub(super) names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Order {
    /// The place of a name, a new one at the end.
    pub(super) fn place(&mut self, name: &str) -> usize {
        if let Some(&at) = self.places.get(name) {
            return at;
        }
        self.places.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }
}
