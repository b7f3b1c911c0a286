//! Estimated against true scores, and the table of models.

use std::cmp::Ordering;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::format::{clean, fit, left, percent, right, signed};
use super::frame::{pieces, whole_pieces};
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use crate::tui::glyphs::Marker;
use crate::tui::state::{Shown, Sort, State};
use crate::tui::study::{Scored, Study};
use crate::tui::theme::Theme;

/// Half the width of the band around the diagonal.
pub(crate) const BAND: f64 = 0.02;

/// Rank of each value, 1 for the highest; equal values share the best rank of their group.
fn ranks(values: &[f64]) -> Vec<usize> {
    values
        .iter()
        .map(|v| 1 + values.iter().filter(|w| *w > v).count())
        .collect()
}

/// A row of the table of models.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The model with its scores.
    pub(crate) scored: Scored,
    true_rank: usize,
    rank: usize,
}

/// Rows of the table in the order of the sort key.
pub(crate) fn order(state: &State) -> Vec<Row> {
    let (Some(shown), Some(study)) = (&state.shown, &state.study) else {
        return Vec::new();
    };
    let true_ranks = ranks(&shown.scores.iter().map(|s| s.truth).collect::<Vec<_>>());
    let ranks = ranks(&shown.scores.iter().map(|s| s.estimate).collect::<Vec<_>>());
    let mut rows: Vec<Row> = shown
        .scores
        .iter()
        .zip(true_ranks.into_iter().zip(ranks))
        .map(|(&scored, (true_rank, rank))| Row {
            scored,
            true_rank,
            rank,
        })
        .collect();
    let size = |row: &Row| (row.scored.estimate - row.scored.truth).abs();
    rows.sort_by(|p, q| {
        let by = match state.sort {
            Sort::Truth => q.scored.truth.total_cmp(&p.scored.truth),
            Sort::Estimate => q.scored.estimate.total_cmp(&p.scored.estimate),
            Sort::Error => size(q).total_cmp(&size(p)),
            Sort::Name => Ordering::Equal,
        };
        by.then_with(|| study.model(p.scored.model).cmp(study.model(q.scored.model)))
    });
    rows
}

/// A model's name in at most `width` columns: without its organisation where it is too long.
fn short_name(study: &Study, model: usize, width: usize) -> String {
    let name = study.model(model);
    let whole = clean(name);
    if whole.width() <= width {
        return whole;
    }
    let organisation = study.benchmark.organisation(name);
    let own = name
        .strip_prefix(organisation.as_str())
        .map(|rest| rest.trim_start_matches(['/', '_']))
        .filter(|rest| !rest.is_empty());
    fit(&clean(own.unwrap_or(name)), width)
}

/// Mark of a model: in the band, above or below. The glyph says it without colour.
fn mark(error: f64, marker: Marker, theme: &Theme) -> (&'static str, Style) {
    let ascii = marker == Marker::Ascii;
    if error > BAND {
        (if ascii { "^" } else { "▲" }, theme.bad)
    } else if error < -BAND {
        (if ascii { "v" } else { "▼" }, theme.bad)
    } else {
        (if ascii { "o" } else { "●" }, theme.good)
    }
}

/// Draws the scatter plot.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let scores = &shown.scores;
    // One range for both axes, so that the diagonal is where they agree.
    let both = scores.iter().flat_map(|s| [s.truth, s.estimate]);
    let x = Axis::around(both, "true %", Unit::Percent);
    let y = Axis {
        label: "estimated %".into(),
        ..x.clone()
    };
    let (low, high) = (x.low, x.high);
    let plot_area = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    let mut plot = Plot::new(plot_area, x, y, theme, state.marker, buffer);
    // One layer: where the band is narrower than a cell, its pixels join the diagonal's.
    plot.curve(
        &[(low, low + BAND), (high, high + BAND)],
        theme.band,
        1,
        Stroke::Dotted,
    );
    plot.curve(
        &[(low, low - BAND), (high, high - BAND)],
        theme.band,
        1,
        Stroke::Dotted,
    );
    plot.curve(
        &[(low, low), (high, high)],
        theme.diagonal,
        1,
        Stroke::Solid,
    );
    for s in scores {
        let (symbol, style) = mark(s.estimate - s.truth, state.marker, theme);
        plot.glyph(s.truth, s.estimate, symbol, style);
    }
    let chosen = scores.iter().find(|s| state.model == Some(s.model));
    if let Some(s) = chosen {
        let (symbol, _) = mark(s.estimate - s.truth, state.marker, theme);
        plot.glyph(s.truth, s.estimate, symbol, theme.anchor);
    }
    let spot = chosen.and_then(|s| plot.cell(s.truth, s.estimate).map(|at| (s, at)));
    let inner = plot.inner;
    plot.finish(buffer);
    if let (Some((s, at)), Some(study)) = (spot, &state.study) {
        let error = signed(s.estimate - s.truth, 1);
        let name = short_name(study, s.model, 24);
        label(
            &format!(" {name} {error} "),
            at,
            inner,
            theme.accent,
            buffer,
        );
    }
    let within = scores
        .iter()
        .filter(|s| (s.estimate - s.truth).abs() <= BAND)
        .count();
    legend(state, within, scores.len(), area, buffer);
}

/// A name beside a mark, on the side where there is room.
fn label(text: &str, (x, y): (u16, u16), inner: Rect, style: Style, buffer: &mut Buffer) {
    let width = text.width() as u16;
    let start = if x + 1 + width <= inner.right() {
        x + 1
    } else {
        x.saturating_sub(width)
    };
    if start >= inner.x {
        buffer.set_stringn(start, y, text, usize::from(inner.right() - start), style);
    }
}

fn legend(state: &State, within: usize, models: usize, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let y = area.bottom().saturating_sub(1);
    let (above, style) = mark(1.0, state.marker, theme);
    let (below, _) = mark(-1.0, state.marker, theme);
    let (inside, good) = mark(0.0, state.marker, theme);
    let inside_text = format!(" {within}/{models} within 2 %  ");
    let (over, under) = (format!("{above} over "), format!("{below} under"));
    whole_pieces(
        buffer,
        area.x,
        y,
        area.right(),
        &[
            (inside, good),
            (&inside_text, theme.dim),
            (&over, style),
            (&under, style),
        ],
    );
}

/// The table of models, for the inspector.
pub(crate) fn table(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let Some(study) = &state.study else {
        return;
    };
    let rows = order(state);
    let width = usize::from(area.width);
    let numbers = 6 + 6 + 6 + 5 + 5;
    let name = width.saturating_sub(numbers + 2);
    let star = |sort: Sort, text: &str| {
        if state.sort == sort {
            format!("{text}↓")
        } else {
            text.to_string()
        }
    };
    let heading = format!(
        "  {}{}{}{}{}{}",
        left(&star(Sort::Name, "model"), name),
        right(&star(Sort::Truth, "true"), 6),
        right(&star(Sort::Estimate, "est."), 6),
        right(&star(Sort::Error, "error"), 6),
        right("rank", 5),
        right("est.", 5)
    );
    buffer.set_stringn(area.x, area.y, heading, width, theme.dim);
    let room = usize::from(area.height.saturating_sub(1));
    let selected = state
        .model
        .and_then(|m| rows.iter().position(|row| row.scored.model == m));
    let first = selected
        .unwrap_or(0)
        .saturating_sub(room / 2)
        .min(rows.len().saturating_sub(room));
    for (line, row) in rows.iter().skip(first).take(room).enumerate() {
        let y = area.y + 1 + line as u16;
        let here = state.model == Some(row.scored.model);
        let error = row.scored.estimate - row.scored.truth;
        let (symbol, mut style) = mark(error, state.marker, theme);
        let mut text = theme.text;
        if here {
            (style, text) = (theme.selected, theme.selected);
        }
        let before = format!(
            "{}{}{}",
            left(&short_name(study, row.scored.model, name), name),
            right(&percent(row.scored.truth, 1), 6),
            right(&percent(row.scored.estimate, 1), 6)
        );
        let after = format!(
            "{}{}",
            right(&row.true_rank.to_string(), 5),
            right(&row.rank.to_string(), 5)
        );
        pieces(
            buffer,
            area.x,
            y,
            area.right(),
            &[
                (if here { "▸" } else { symbol }, style),
                (" ", text),
                (&before, text),
                (&right(&signed(error, 1), 6), style),
                (&after, text),
            ],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_share_a_rank() {
        assert_eq!(ranks(&[0.5, 0.9, 0.5, 0.1]), [2, 1, 2, 4]);
    }
}
