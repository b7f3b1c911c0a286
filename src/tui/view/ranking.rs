//! Test models in the order of their true scores beside the order of their estimates, with a line
//! from rank to rank.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::format::{left, right, unit};
use super::frame::{over, pieces, whole_pieces};
use super::models::{Row, order, short_name};
use super::raster::{Raster, Stroke};
use crate::tui::glyphs::Marker;
use crate::tui::state::{Shown, State};

/// Draws the two columns and the lines between them; more models than rows share them.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let body = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    slopes(state, shown, body, buffer);
    legend(state, shown, area, buffer);
}

/// The columns and lines alone.
pub(crate) fn slopes(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let Some(study) = &state.study else {
        return;
    };
    let mut rows: Vec<Row> = order(state);
    rows.sort_by(|p, q| q.scored.truth.total_cmp(&p.scored.truth));
    let mut by_estimate = rows.clone();
    by_estimate.sort_by(|p, q| q.scored.estimate.total_cmp(&p.scored.estimate));
    let height = usize::from(area.height.saturating_sub(1));
    if rows.is_empty() || height == 0 {
        return;
    }
    // A filter leaves gaps in the ranks: then there is no room for those between.
    let standing = shown.now.standing();
    let standing = standing.filter(|_| state.bars && state.model_filter.is_empty());
    let share = if standing.is_some() { 5 } else { 3 };
    let name = (usize::from(area.width) / share).clamp(8, 30);
    let half = name as u16 + 4;
    let between = Rect {
        x: area.x + half,
        y: area.y + 1,
        width: area.width.saturating_sub(2 * half),
        height: area.height - 1,
    };
    let columns = match standing {
        Some(_) => (rows.len() as u16).clamp(6, 48).min(between.width * 3 / 5),
        None => 0,
    };
    let ladder = Rect {
        x: between.right() - columns,
        width: columns,
        ..between
    };
    let middle = Rect {
        width: between.width - columns - u16::from(columns > 0),
        ..between
    };
    buffer.set_stringn(
        area.x,
        area.y,
        right(
            if name < 10 {
                "by truth"
            } else {
                "by true score"
            },
            name + 3,
        ),
        name + 3,
        theme.dim,
    );
    buffer.set_stringn(
        between.right() + 1,
        area.y,
        "by estimate",
        name + 3,
        theme.dim,
    );
    let mut raster = Raster::new(middle, state.look.marker);
    let (width, high) = raster.size();
    // Where there are more models than rows, several stand on a row and only some have a name.
    // At most two rows a model: lines over a whole high screen would be hard to follow.
    let used = height.min(2 * rows.len()) as f64 / height as f64;
    let at = |rank: usize| used * (rank as f64 + 0.5) / rows.len() as f64;
    for (rank, row) in rows.iter().enumerate() {
        let model = row.scored.model;
        let Some(other) = by_estimate.iter().position(|r| r.scored.model == model) else {
            continue;
        };
        let here = state.model == Some(model);
        let moved = row.true_rank.abs_diff(row.rank);
        let (style, layer) = match moved {
            _ if here => (theme.accent, 3),
            0 => (theme.good, 1),
            1..=2 => (theme.diagonal, 1),
            _ => (theme.bad, 2),
        };
        let from = (0.0, at(rank) * high as f64);
        let to = (width as f64 - 1.0, at(other) * high as f64);
        let thick = i32::from(state.look.slide.is_some());
        for shift in -thick..=thick {
            let moved = |p: (f64, f64)| (p.0, p.1 + f64::from(shift));
            raster.line(moved(from), moved(to), style, layer, Stroke::Solid, &mut 0);
        }
    }
    raster.write(buffer);
    if let Some(standing) = standing.filter(|_| ladder.width > 0) {
        let spans: Vec<Option<(usize, usize)>> = by_estimate
            .iter()
            .map(|row| standing.ranks(row.scored.model))
            .collect();
        let chosen = by_estimate
            .iter()
            .position(|row| state.model == Some(row.scored.model));
        rungs(state, &spans, chosen, &at, ladder, buffer);
    }
    let line = |rank: usize| (at(rank) * height as f64) as u16;
    let mut free = (0, 0);
    for (rank, (truth, estimate)) in rows.iter().zip(&by_estimate).enumerate() {
        let y = area.y + 1 + line(rank);
        let style = |row: &Row| {
            if state.model == Some(row.scored.model) {
                theme.selected
            } else {
                theme.text
            }
        };
        let label = |row: &Row| short_name(study, row.scored.model, name);
        if line(rank) >= free.0 {
            let text = right(&label(truth), name);
            let number = right(&truth.true_rank.to_string(), 4);
            let parts = [(text.as_str(), style(truth)), (&number, theme.dim)];
            pieces(buffer, area.x, y, middle.x, &parts);
            free.0 = line(rank) + 1;
        }
        if line(rank) >= free.1 {
            let number = left(&estimate.rank.to_string(), 4);
            let parts = [
                (number.as_str(), theme.dim),
                (&label(estimate), style(estimate)),
            ];
            pieces(buffer, between.right(), y, area.right(), &parts);
            free.1 = line(rank) + 1;
        }
    }
}

/// One vertical bar a model, best estimate first: the ranks that it may hold. `at` is the share of the
/// height at which a rank, counted from 0, stands.
fn rungs(
    state: &State,
    spans: &[Option<(usize, usize)>],
    chosen: Option<usize>,
    at: &dyn Fn(usize) -> f64,
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = &state.look.theme;
    let fine = matches!(state.look.marker, Marker::Octant | Marker::Braille);
    let mut raster = Raster::new(area, state.look.marker);
    let (width, height) = raster.size();
    for (k, span) in spans.iter().enumerate() {
        let Some((best, worst)) = span else { continue };
        let x = (k as f64 + 0.5) / spans.len() as f64;
        let here = chosen == Some(k);
        let style = if here { theme.accent } else { theme.bar() };
        let (top, bottom) = (at(best - 1), at(worst.saturating_sub(1)));
        if fine {
            let x = (x * width as f64).floor();
            let (from, to) = (top * height as f64, bottom * height as f64);
            let layer = 1 + u8::from(here);
            raster.line((x, from), (x, to), style, layer, Stroke::Solid, &mut 0);
        } else {
            let cell = |share: f64| area.y + (share * f64::from(area.height)) as u16;
            let x = area.x + (x * f64::from(area.width)) as u16;
            for y in cell(top)..=cell(bottom).min(area.bottom().saturating_sub(1)) {
                buffer.set_string(x, y, "│", style);
            }
        }
    }
    raster.write(buffer);
    let marker = state.look.marker;
    for (k, span) in spans.iter().enumerate() {
        // Where bars share columns, their marks would hide them.
        if span.is_none() || spans.len() > usize::from(area.width) {
            continue;
        }
        let x = area.x + ((k as f64 + 0.5) / spans.len() as f64 * f64::from(area.width)) as u16;
        let y = area.y + (at(k) * f64::from(area.height)) as u16;
        let style = if chosen == Some(k) {
            theme.accent
        } else {
            theme.text
        };
        let mark = if marker == Marker::Ascii { "o" } else { "●" };
        over(buffer, x, y, mark, style);
    }
}

fn legend(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let m = &shown.now.metrics;
    let number = |v: Option<f64>| v.map_or("undef.".into(), |v| unit(v, 2));
    let pairs = m
        .pairs_in_order
        .map_or("undef.".into(), |v| format!("{:.0} %", v * 100.0));
    let text = format!(
        "  Spearman {}  Kendall {}  pairs in order {pairs}",
        number(m.spearman),
        number(m.kendall)
    );
    let sure = match shown.now.sure.half_width {
        Some(_) if state.bars => "  │ ranks it may hold, 90 %",
        _ => "",
    };
    let parts = [
        ("─", theme.good),
        (" same  ", theme.dim),
        ("─", theme.bad),
        (" 3 or more off", theme.dim),
        (sure, theme.bar()),
        (text.as_str(), theme.text),
    ];
    let y = area.bottom().saturating_sub(1);
    whole_pieces(buffer, area.x, y, area.right(), &parts);
}
