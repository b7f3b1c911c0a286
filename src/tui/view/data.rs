//! What the numbers rest on: source, licence, checks, fit, validation, evidence, split.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::facts::{Fact, facts};
use super::format::{left, percent, right, wrap};
use super::frame::pieces;
use super::models::short_name;
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use crate::tui::state::State;
use crate::tui::study::{FitShown, Study};

/// A line on the screen with its style.
fn lines(state: &State, facts: &[Fact], width: usize) -> Vec<(String, Style)> {
    let theme = &state.look.theme;
    let mut lines = Vec::new();
    const NAME: usize = 13;
    for fact in facts {
        match fact {
            Fact::Heading(text) => {
                if !lines.is_empty() {
                    lines.push((String::new(), theme.text));
                }
                lines.push((text.clone(), theme.title));
            }
            Fact::Named(name, value) => {
                for (at, line) in wrap(value, width.saturating_sub(NAME)).iter().enumerate() {
                    let name = if at == 0 { name } else { "" };
                    lines.push((format!("{}{line}", left(name, NAME)), theme.text));
                }
            }
            Fact::Text(text) => {
                lines.extend(wrap(text, width).into_iter().map(|l| (l, theme.dim)));
            }
            Fact::Warning(text) => {
                lines.extend(wrap(text, width).into_iter().map(|l| (l, theme.warn)));
            }
        }
    }
    lines
}

/// Draws facts, scrolled, and the plot of the fit where there is height for it.
pub(crate) fn draw(state: &State, study: &Study, area: Rect, buffer: &mut Buffer) {
    let fit = state.scenario().and_then(|s| state.fit(s));
    let plots = if area.height >= 22 && fit.is_some() {
        10
    } else {
        0
    };
    let body = Rect {
        height: area.height - plots,
        ..area
    };
    let facts = facts(state, study);
    let mut lines = lines(state, &facts, usize::from(area.width));
    if super::parts(state, whole(state)).inspector.width == 0 {
        lines.push((String::new(), state.look.theme.text));
        lines.extend(split_lines(state, study, usize::from(area.width)));
    }
    scrolled(state, &lines, state.scroll, body, buffer);
    if let Some(fit) = fit.filter(|_| plots > 0) {
        let half = area.width / 2;
        let place = |x: u16, width: u16| Rect {
            x: area.x + x,
            y: body.bottom(),
            width,
            height: plots,
        };
        evidence(state, fit, place(0, half - 1), buffer);
        validation(state, fit, place(half, area.width - half), buffer);
    }
}

fn whole(state: &State) -> Rect {
    let (width, height) = state.look.size;
    Rect::new(0, 0, width, height)
}

/// Lines from a scroll position on, which stops at the end.
fn scrolled(
    state: &State,
    lines: &[(String, Style)],
    scroll: u16,
    area: Rect,
    buffer: &mut Buffer,
) {
    let height = usize::from(area.height);
    let most = lines.len().saturating_sub(height);
    let from = usize::from(scroll).min(most);
    for (at, (line, style)) in lines.iter().skip(from).take(height).enumerate() {
        let y = area.y + at as u16;
        buffer.set_stringn(area.x, y, line, usize::from(area.width), *style);
    }
    let mark = match (from < most, from > 0) {
        (true, _) => " ↓ more ",
        (false, true) => " ↑ back ",
        _ => return,
    };
    let x = area.right().saturating_sub(8);
    let y = area.bottom().saturating_sub(1);
    super::frame::over(buffer, x, y, mark, state.look.theme.key);
}

/// The evidence bound against the sweeps: it never falls.
fn evidence(state: &State, fit: &FitShown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let evidence = &fit.fitted.fit.evidence;
    let Some(last) = evidence.last() else {
        return;
    };
    // The distance to the end falls by powers of ten: a straight axis would show a corner.
    let gap = |e: &f64| (last - e).max(0.0) + 1.0;
    let points: Vec<(f64, f64)> = evidence
        .iter()
        .enumerate()
        .map(|(k, e)| (k as f64, gap(e)))
        .collect();
    let y = Axis::log(
        points.iter().map(|p| p.1),
        "nats below the end",
        Unit::Number,
    );
    let x = Axis::around(points.iter().map(|p| p.0), "sweeps", Unit::Number);
    let mut plot = Plot::new(area, x, y, theme, state.look.marker, buffer);
    plot.curve(&points, theme.series[2], 1, Stroke::Solid);
    plot.finish(buffer);
}

/// Validation error against D, the chosen one marked.
fn validation(state: &State, fit: &FitShown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let table = &fit.fitted.choice.table;
    let points: Vec<(f64, f64)> = table
        .iter()
        .filter(|row| row.error.is_finite())
        .map(|row| (row.dims as f64, row.error))
        .collect();
    if points.is_empty() {
        return;
    }
    let y = Axis::around(
        points.iter().map(|p| p.1),
        "validation error %",
        Unit::Percent,
    );
    let x = Axis::around(points.iter().map(|p| p.0), "D", Unit::Number);
    let mut plot = Plot::new(area, x, y, theme, state.look.marker, buffer);
    plot.curve(&points, theme.dim, 1, Stroke::Solid);
    for (dims, error) in points {
        let chosen = dims as usize == fit.fitted.dims();
        let symbol = super::tradeoff::here(state.look.marker);
        let (symbol, style) = if chosen {
            (symbol, theme.accent)
        } else {
            ("o", theme.text)
        };
        plot.glyph(dims, error, symbol, style);
    }
    plot.finish(buffer);
}

/// Test models, then training models, with true score and date.
fn split_lines(state: &State, study: &Study, width: usize) -> Vec<(String, Style)> {
    let theme = &state.look.theme;
    let split = state.split().unwrap_or(&study.split);
    let truths = state.true_scores();
    let dated = width >= 40;
    let name = width.saturating_sub(if dated { 18 } else { 7 });
    let mut lines = Vec::new();
    for (title, models) in [
        ("Test models", &split.test),
        ("Training models", &split.train),
    ] {
        if !lines.is_empty() {
            lines.push((String::new(), theme.text));
        }
        let date = if dated {
            right("released", 11)
        } else {
            String::new()
        };
        let heading = format!("{} ({})", title, models.len());
        lines.push((
            format!("{}{}{date}", left(&heading, name), right("true", 7)),
            theme.title,
        ));
        let mut rows: Vec<(usize, Option<f64>)> = models
            .iter()
            .map(|&m| (m, truths.as_ref().and_then(|t| t[m])))
            .collect();
        rows.sort_by(|p, q| {
            let (p_score, q_score) = (p.1.unwrap_or(-1.0), q.1.unwrap_or(-1.0));
            q_score.total_cmp(&p_score).then(p.0.cmp(&q.0))
        });
        for (model, truth) in rows {
            let released = study.benchmark.released.get(study.model(model));
            let released = released.map_or(String::new(), |d| d.to_string());
            let date = if dated {
                right(&released, 11)
            } else {
                String::new()
            };
            let score = right(&truth.map_or("-".into(), |t| percent(t, 1)), 7);
            let label = left(&short_name(study, model, name), name);
            lines.push((format!("{label}{score}{date}"), theme.text));
        }
    }
    lines
}

/// The models of the split, for the inspector.
pub(crate) fn models(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(study) = &state.study else {
        return;
    };
    let lines = split_lines(state, study, usize::from(area.width));
    scrolled(state, &lines, state.scroll, area, buffer);
}

/// For a slide: what is given of the source, and what the fit rests on, as far as there is room.
pub(crate) fn origin(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(study) = &state.study else {
        return;
    };
    let width = usize::from(area.width).min(100);
    let mut facts = facts(state, study);
    facts.retain(|fact| !matches!(fact, Fact::Named(_, value) if value == "not given"));
    let mut lines = lines(state, &facts, width);
    let height = usize::from(area.height);
    if lines.len() > height {
        lines.truncate(height.saturating_sub(1));
        lines.push(("… the rest: 6".to_owned(), state.look.theme.dim));
    }
    let x = area.x + (area.width - width as u16) / 2;
    for (at, (line, style)) in lines.iter().enumerate() {
        let y = area.y + at as u16;
        pieces(buffer, x, y, area.right(), &[(line, *style)]);
    }
}
