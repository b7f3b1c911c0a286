//! Estimated against true scores, and the table of models.

use std::cmp::Ordering;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::format::{brief, clean, fit, fit_middle, left, percent, right, signed};
use super::frame::{pieces, whole_pieces};
use super::map::ghost_symbol;
use super::model;
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use tinyscope::estimate::Interval;

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
    /// Rank among the test models by true score, 1 the best.
    pub(crate) true_rank: usize,
    /// Rank by estimate.
    pub(crate) rank: usize,
}

/// Rows of the table that the filter keeps, in the order of the sort key.
pub(crate) fn order(state: &State) -> Vec<Row> {
    let (Some(shown), Some(study)) = (&state.shown, &state.study) else {
        return Vec::new();
    };
    let true_ranks = ranks(&shown.now.scores.iter().map(|s| s.truth).collect::<Vec<_>>());
    let ranks = ranks(
        &shown
            .now
            .scores
            .iter()
            .map(|s| s.estimate)
            .collect::<Vec<_>>(),
    );
    let mut rows: Vec<Row> = shown
        .now
        .scores
        .iter()
        .zip(true_ranks.into_iter().zip(ranks))
        .map(|(&scored, (true_rank, rank))| Row {
            scored,
            true_rank,
            rank,
        })
        .collect();
    if !state.model_filter.is_empty() {
        let wanted = state.model_filter.to_lowercase();
        rows.retain(|row| {
            let name = study.model(row.scored.model).to_lowercase();
            name.contains(&wanted)
        });
    }
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
pub(crate) fn short_name(study: &Study, model: usize, width: usize) -> String {
    let name = study.model(model);
    let whole = brief(name);
    if whole.width() <= width {
        return whole;
    }
    let organisation = study.benchmark.organisation(name);
    let own = name
        .strip_prefix(organisation.as_str())
        .map(|rest| rest.trim_start_matches(['/', '_']))
        // What is left must still be a name.
        .filter(|rest| rest.chars().count() >= 4);
    fit_middle(&brief(own.unwrap_or(name)), width)
}

/// Mark of a model: in the band, above or below. The glyph says it without colour.
pub(crate) fn mark(error: f64, marker: Marker, theme: &Theme) -> (&'static str, Style) {
    let ascii = marker == Marker::Ascii;
    if error > BAND {
        (if ascii { "^" } else { "▲" }, theme.bad)
    } else if error < -BAND {
        (if ascii { "v" } else { "▼" }, theme.bad)
    } else {
        (if ascii { "o" } else { "●" }, theme.good)
    }
}

/// Mark of the user's own model.
pub(crate) fn own_mark(marker: Marker) -> &'static str {
    if marker == Marker::Ascii { "*" } else { "★" }
}

/// The plot, its axes drawn: one range for both, so that the diagonal is where they agree.
fn plot(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) -> Plot {
    let both = shown.now.scores.iter().flat_map(|s| [s.truth, s.estimate]);
    let ghost = shown
        .ghost
        .iter()
        .flat_map(|g| &g.scores)
        .map(|s| s.estimate);
    let bars = bars(state, shown).flat_map(|(_, i)| [i.low, i.high]);
    let own = shown.now.mine_interval.filter(|_| state.bars);
    let own = own.into_iter().flat_map(|i| [i.low, i.high]);
    let values = both
        .chain(ghost)
        .chain(shown.now.mine)
        .chain(bars)
        .chain(own);
    let x = Axis::around(values, "true %", Unit::Percent);
    let y = Axis {
        label: "estimated %".into(),
        ..x.clone()
    };
    let (theme, marker) = (&state.look.theme, state.look.marker);
    Plot::new(area, x, y, theme, marker, buffer)
}

/// The plot without drawing it: to know where a click is.
pub(crate) fn geometry(state: &State, shown: &Shown, area: Rect) -> Plot {
    let mut scratch = Buffer::empty(area);
    plot(state, shown, above_legend(area), &mut scratch)
}

/// Models with the intervals that are drawn, in the order of the scores.
fn bars<'a>(state: &State, shown: &'a Shown) -> impl Iterator<Item = (Scored, Interval)> + 'a {
    let hidden = !state.bars;
    let scores = shown.now.scores.iter().zip(&shown.now.sure.intervals);
    scores.filter_map(move |(s, i)| i.filter(|_| !hidden).map(|i| (*s, i)))
}

/// Columns that a bar needs beside the next one.
const APART: usize = 3;
/// Neighbours of the selected model that keep their bars where there are too many.
const NEIGHBOURS: usize = 3;

/// Thin lines from end to end of the intervals, behind the points; those that do not hold the true
/// score in the colour of errors. Where models stand too close, only those around the selected one,
/// or without one every so-manieth.
fn draw_bars(state: &State, shown: &Shown, plot: &mut Plot) {
    let theme = &state.look.theme;
    let mut bars: Vec<(Scored, Interval)> = bars(state, shown).collect();
    bars.sort_by(|p, q| p.0.truth.total_cmp(&q.0.truth));
    let most = (usize::from(plot.inner.width) / APART).max(1);
    if bars.len() > most {
        let chosen = bars.iter().position(|b| state.model == Some(b.0.model));
        let kept = |at: usize| match chosen {
            Some(chosen) => at.abs_diff(chosen) <= NEIGHBOURS,
            None => at.is_multiple_of(bars.len().div_ceil(most)),
        };
        bars = (bars.iter().enumerate())
            .filter(|(at, _)| kept(*at))
            .map(|(_, bar)| *bar)
            .collect();
    }
    let fine = matches!(state.look.marker, Marker::Octant | Marker::Braille);
    for (s, i) in bars {
        let here = state.model == Some(s.model);
        let style = match i.covers(s.truth) {
            _ if here => theme.accent,
            true => theme.bar(),
            false => theme.fade(theme.bad),
        };
        if fine {
            plot.curve(
                &[(s.truth, i.low), (s.truth, i.high)],
                style,
                3,
                Stroke::Solid,
            );
        } else {
            // Where a pixel is a cell, the frame's own line is thinner than a row of marks.
            plot.column(s.truth, (i.low, i.high), "│", style);
        }
    }
}

fn above_legend(area: Rect) -> Rect {
    Rect {
        height: area.height.saturating_sub(1),
        ..area
    }
}

/// Draws the scatter plot.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    scatter(state, shown, above_legend(area), buffer);
    legend(state, shown, area, buffer);
}

/// Diagonal, band, models, and the pinned setting's estimates behind them.
pub(crate) fn scatter(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let marker = state.look.marker;
    let large = state.look.slide.is_some();
    let scores = &shown.now.scores;
    let mut plot = plot(state, shown, area, buffer).joined();
    let (low, high) = plot.range();
    draw_bars(state, shown, &mut plot);
    // One layer: where the band is narrower than a cell, its pixels join the diagonal's.
    for shift in [BAND, -BAND] {
        let line = [(low, low + shift), (high, high + shift)];
        plot.curve(&line, theme.band, 1, Stroke::Dotted);
    }
    let diagonal = [(low, low), (high, high)];
    plot.curve(&diagonal, theme.diagonal, 1, Stroke::Solid);
    if let Some(ghost) = &shown.ghost {
        for s in &ghost.scores {
            let now = scores.iter().find(|n| n.model == s.model);
            if let Some(now) = now {
                let line = [(s.truth, s.estimate), (now.truth, now.estimate)];
                plot.curve(&line, theme.ghost, 2, Stroke::Solid);
            }
            plot.glyph(s.truth, s.estimate, ghost_symbol(marker), theme.ghost);
        }
    }
    if let Some(mine) = shown.now.mine {
        // Its true score is not known: a line at the estimate.
        plot.curve(&[(low, mine), (high, mine)], theme.own, 3, Stroke::Dashed);
        if let Some(i) = shown.now.mine_interval.filter(|_| state.bars) {
            plot.column(mine, (i.low, i.high), "│", theme.own);
        }
        plot.glyph(mine, mine, own_mark(marker), theme.own);
    }
    let matching = order(state);
    let kept = |model: usize| matching.iter().any(|row| row.scored.model == model);
    for s in scores {
        let (symbol, mut style) = mark(s.estimate - s.truth, marker, theme);
        if !state.model_filter.is_empty() && !kept(s.model) {
            style = theme.back;
        }
        if large {
            let radius = if scores.len() > 40 { 0.42 } else { 0.65 };
            plot.disc(s.truth, s.estimate, radius, style, 4);
        } else {
            plot.glyph(s.truth, s.estimate, symbol, style);
        }
    }
    let chosen = scores.iter().find(|s| state.model == Some(s.model));
    if let Some(s) = chosen.filter(|_| !large) {
        let (symbol, _) = mark(s.estimate - s.truth, marker, theme);
        plot.glyph(s.truth, s.estimate, symbol, theme.anchor);
    }
    let spot = chosen.and_then(|s| plot.cell(s.truth, s.estimate).map(|at| (s, at)));
    let own = shown
        .now
        .mine
        .and_then(|m| plot.cell(m, m).map(|at| (m, at)));
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
    if let (Some((estimate, at)), Some(mine)) = (own, &state.mine) {
        let name = fit(&brief(&mine.name), 20);
        let rank = state.predicted_rank(estimate);
        let rank = rank.map_or(String::new(), |(rank, of)| format!(", rank {rank} of {of}"));
        let (answered, chosen) = shown.now.answered();
        let part = if answered < chosen {
            format!(", {answered} of {chosen} answered")
        } else {
            String::new()
        };
        let interval = shown.now.mine_interval.filter(|_| state.bars);
        let half = interval.map_or(String::new(), |i| format!(" {}", half_width(i)));
        let text = format!(" {name} {}{half}{rank}{part} ", percent(estimate, 1));
        label(&text, at, inner, theme.own, buffer);
    }
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

fn legend(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let marker = state.look.marker;
    let scores = &shown.now.scores;
    let inside = |s: &&Scored| (s.estimate - s.truth).abs() <= BAND;
    let within = scores.iter().filter(inside).count();
    let (above, style) = mark(1.0, marker, theme);
    let (below, _) = mark(-1.0, marker, theme);
    let (good_mark, good) = mark(0.0, marker, theme);
    let inside_text = format!(" {within} of {} within 2 %  ", scores.len());
    let sure = &shown.now.sure;
    let bar = match (state.bars, sure.half_width) {
        (true, Some(_)) => format!("│ 90 %: hold {} of {}  ", sure.held.0, sure.held.1),
        (true, None) if !shown.now.learned() => "90 % intervals …  ".to_owned(),
        _ => String::new(),
    };
    let (over, under) = (format!("{above} over "), format!("{below} under  "));
    let ghost = match &shown.ghost {
        Some(_) => format!("{} pinned", ghost_symbol(marker)),
        None => String::new(),
    };
    let y = area.bottom().saturating_sub(1);
    let parts = [
        (good_mark, good),
        (inside_text.as_str(), theme.dim),
        (bar.as_str(), theme.bar()),
        (over.as_str(), style),
        (under.as_str(), style),
        (ghost.as_str(), theme.ghost),
    ];
    whole_pieces(buffer, area.x, y, area.right(), &parts);
}

/// The table of models, for the inspector.
pub(crate) fn table(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let (Some(study), Some(shown)) = (&state.study, &state.shown) else {
        return;
    };
    let rows = order(state);
    let width = usize::from(area.width);
    // Narrow panels give the ranks up for the names.
    let ranks = width >= 46;
    let ghost = shown.ghost.as_ref().filter(|_| width >= 54);
    let rank_width = if ranks { 10 } else { 0 };
    let ghost_width = if ghost.is_some() { 7 } else { 0 };
    let half_column = if state.bars { HALF } else { 0 };
    let name = width.saturating_sub(19 + half_column + rank_width + ghost_width + 2);
    let star = |sort: Sort, text: &str| {
        let mark = if state.sort == sort { "↓" } else { "" };
        format!("{text}{mark}")
    };
    let mut heading = format!(
        "  {}{}{}{}{}",
        left(&star(Sort::Name, "model"), name),
        right(&star(Sort::Truth, "true"), 6),
        right(&star(Sort::Estimate, "est."), 6),
        right("±", half_column),
        right(&star(Sort::Error, "error"), 7),
    );
    if ghost.is_some() {
        heading.push_str(&right("pinned", 7));
    }
    if ranks {
        heading.push_str(&format!("{}{}", right("rank", 5), right("est.", 5)));
    }
    buffer.set_stringn(area.x, area.y, heading, width, theme.dim);
    let mut y = area.y + 1;
    if let (Some(estimate), Some(mine)) = (shown.now.mine, &state.mine) {
        own_row(
            state,
            estimate,
            &mine.name,
            (name, half_column, ghost_width, ranks),
            area,
            buffer,
        );
        y += 1;
    }
    if rows.is_empty() && !state.model_filter.is_empty() {
        let text = format!(
            "no model holds “{}”; Esc drops the search",
            clean(&state.model_filter)
        );
        buffer.set_string(area.x, y, fit(&text, width), theme.warn);
    }
    // What is known of the selected model stands below the table where there is room for it.
    let facts = model::facts(state, shown);
    let below = if area.height >= 12 {
        facts.len() + 1
    } else {
        0
    };
    let below = if facts.is_empty() { 0 } else { below };
    let room = usize::from(area.bottom().saturating_sub(y)).saturating_sub(below);
    if below > 0 {
        let place = Rect {
            y: area.bottom().saturating_sub(below as u16 - 1),
            height: below as u16 - 1,
            ..area
        };
        model::draw(state, &facts, place, buffer);
    }
    let selected = state
        .model
        .and_then(|m| rows.iter().position(|row| row.scored.model == m));
    let first = selected
        .unwrap_or(0)
        .saturating_sub(room / 2)
        .min(rows.len().saturating_sub(room));
    for (line, row) in rows.iter().skip(first).take(room).enumerate() {
        let y = y + line as u16;
        let here = state.model == Some(row.scored.model);
        let error = row.scored.estimate - row.scored.truth;
        let (symbol, mut style) = mark(error, state.look.marker, theme);
        let mut text = theme.text;
        if here {
            (style, text) = (theme.selected, theme.selected);
        }
        let interval = shown.now.interval(row.scored.model);
        let before = format!(
            "{}{}{}",
            left(&short_name(study, row.scored.model, name), name),
            right(&percent(row.scored.truth, 1), 6),
            right(&percent(row.scored.estimate, 1), 6),
        );
        let half = right(&interval.map_or(lacking(shown), half_width), half_column);
        let pinned = ghost.map_or(String::new(), |g| {
            let found = g.scores.iter().find(|s| s.model == row.scored.model);
            right(
                &found.map_or("-".into(), |s| signed(s.estimate - s.truth, 1)),
                7,
            )
        });
        let after = if ranks {
            let (truth, estimate) = (row.true_rank.to_string(), row.rank.to_string());
            format!("{}{}", right(&truth, 5), right(&estimate, 5))
        } else {
            String::new()
        };
        let parts = [
            (if here { "▸" } else { symbol }, style),
            (" ", text),
            (before.as_str(), text),
            (half.as_str(), if here { text } else { theme.dim }),
            (&right(&signed(error, 1), 7), style),
            (pinned.as_str(), theme.ghost),
            (after.as_str(), text),
        ];
        pieces(buffer, area.x, y, area.right(), &parts);
    }
}

/// The user's own model: its estimate, and the rank it would have among all models of the benchmark.
fn own_row(
    state: &State,
    estimate: f64,
    name: &str,
    (width, half_column, ghost_width, ranks): (usize, usize, usize, bool),
    area: Rect,
    buffer: &mut Buffer,
) {
    let style = state.look.theme.own;
    let rank = match state.predicted_rank(estimate) {
        Some((rank, of)) if ranks => right(&format!("{rank} of {of}"), 10),
        _ => String::new(),
    };
    let interval = state.shown.as_ref().and_then(|s| s.now.mine_interval);
    let half = interval.map_or(String::new(), half_width);
    let text = format!(
        "{} {}{}{}{}{}{}{rank}",
        own_mark(state.look.marker),
        left(&clean(name), width),
        right("?", 6),
        right(&percent(estimate, 1), 6),
        right(&half, half_column),
        right("", 7),
        " ".repeat(ghost_width),
    );
    let room = usize::from(area.width);
    buffer.set_stringn(area.x, area.y + 1, text, room, style);
}

/// Columns of half the interval.
const HALF: usize = 6;

/// Half the length of an interval, as "±1.9"; its ends, as "31-64", where missing answers leave the estimate off its middle.
pub(crate) fn half_width(interval: Interval) -> String {
    let Interval {
        estimate,
        low,
        high,
    } = interval;
    let uncut = low > 0.0 && high < 1.0;
    if uncut && ((low + high) / 2.0 - estimate).abs() > 5e-4 {
        return format!("{}-{}", percent(low, 0), percent(high, 0));
    }
    format!("±{}", percent(interval.half_width(), 1))
}

/// In place of an interval that is not there: still to come, or never.
fn lacking(shown: &Shown) -> String {
    if shown.now.learned() { "-" } else { "…" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_share_a_rank() {
        assert_eq!(ranks(&[0.5, 0.9, 0.5, 0.1]), [2, 1, 2, 4]);
    }
}
