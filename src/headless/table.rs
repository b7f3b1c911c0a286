//! Aligned tables of plain text.

use std::borrow::Cow;

use comfy_table::{Cell, CellAlignment, Table as Grid, presets};
use tinyscope::experiment::Row;

/// Columns of text; those behind the first `left` are aligned to the right.
pub(crate) struct Table {
    grid: Grid,
    left: usize,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(left: usize, headings: &[&str]) -> Self {
        let mut grid = Grid::new();
        grid.load_preset(presets::NOTHING);
        let mut table = Self { grid, left };
        let cells = table.cells(headings.iter().map(|h| (*h).to_owned()));
        table.grid.set_header(cells);
        table
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = self.cells(cells);
        self.grid.add_row(cells);
    }

    fn cells(&self, texts: impl IntoIterator<Item = String>) -> Vec<Cell> {
        texts
            .into_iter()
            .enumerate()
            .map(|(k, text)| {
                Cell::new(printable(&text)).set_alignment(if k < self.left {
                    CellAlignment::Left
                } else {
                    CellAlignment::Right
                })
            })
            .collect()
    }

    /// The table without white space at the ends of lines.
    pub(crate) fn text(&self) -> String {
        self.grid
            .lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }
}

/// A text that may come from a file, for a terminal: control characters escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().map(|c| match c {
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    });
    Cow::Owned(escaped.collect())
}

/// A share or score with four decimals; a dash where undefined.
pub(crate) fn number(x: Option<f64>) -> String {
    x.map_or("-".into(), |x| format!("{x:.4}"))
}

/// A share in whole hundredths; a dash where undefined.
pub(crate) fn share(x: Option<f64>) -> String {
    x.map_or("-".into(), |x| format!("{:.0} %", 100.0 * x))
}

/// Headings of the table that [`result_row`] fills.
pub(crate) const RESULTS: [&str; 12] = [
    "selection",
    "estimator",
    "lambda",
    "n",
    "MAE",
    "RMSE",
    "bias",
    "largest",
    "Spearman",
    "Kendall",
    "±90",
    "covered",
];

/// What the last two of them say.
pub(crate) const INTERVALS: &str = "±90: mean half width of the 90 % intervals; covered: test models whose true score lies in theirs";

/// Cells of one line of results.
pub(crate) fn result_row(row: &Row) -> Vec<String> {
    let m = &row.metrics;
    let mut cells = vec![
        row.selection.name().to_owned(),
        row.estimator.name().to_owned(),
        row.lambda.map_or(String::new(), |x| format!("{x:.3}")),
        row.n.to_string(),
    ];
    cells.extend([m.mae, m.rmse, m.bias, m.max_error, m.spearman, m.kendall].map(number));
    cells.push(number(row.half_width));
    cells.push(share(row.coverage));
    cells
}
