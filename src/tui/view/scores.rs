//! Estimated against true scores.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::format::{brief, fit, percent, signed};
use super::frame::whole_pieces;
use super::map::ghost_symbol;
use super::models::{half_width, order, short_name};
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use tinyscope::estimate::Interval;

use crate::tui::glyphs::Marker;
use crate::tui::state::{Shown, State};
use crate::tui::study::Scored;
use crate::tui::theme::Theme;

/// Half the width of the band around the diagonal.
pub(crate) const BAND: f64 = 0.02;

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
    // Where both would not fit, in fewer letters: how many intervals hold may not be missing.
    let short = area.width < 52;
    let of = |part: usize, all: usize| match short {
        true => format!("{part}/{all}"),
        false => format!("{part} of {all}"),
    };
    let inside_text = format!(" {} within 2 %  ", of(within, scores.len()));
    let sure = &shown.now.sure;
    let bar = match (state.bars, sure.half_width) {
        (true, Some(_)) => {
            let hold = if short { "" } else { "hold " };
            format!("│ 90 %: {hold}{}  ", of(sure.held.0, sure.held.1))
        }
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
