//! Test models in the order of their true scores beside the order of their estimates, with a line
//! from rank to rank.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::format::{left, right, unit};
use super::frame::{pieces, whole_pieces};
use super::raster::{Raster, Stroke};
use super::scores::{Row, order, short_name};
use crate::tui::state::{Shown, State};

/// Draws the two columns and the lines between them; more models than rows share them.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let body = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    slopes(state, body, buffer);
    legend(state, shown, area, buffer);
}

/// The columns and lines alone.
pub(crate) fn slopes(state: &State, area: Rect, buffer: &mut Buffer) {
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
    let name = (usize::from(area.width) / 3).clamp(8, 30);
    let half = name as u16 + 4;
    let middle = Rect {
        x: area.x + half,
        y: area.y + 1,
        width: area.width.saturating_sub(2 * half),
        height: area.height - 1,
    };
    buffer.set_stringn(
        area.x,
        area.y,
        right("by true score", name + 3),
        name + 3,
        theme.dim,
    );
    buffer.set_stringn(
        middle.right() + 1,
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
            pieces(buffer, middle.right(), y, area.right(), &parts);
            free.1 = line(rank) + 1;
        }
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
    let parts = [
        ("─", theme.good),
        (" same rank  ", theme.dim),
        ("─", theme.bad),
        (" three ranks off or more", theme.dim),
        (text.as_str(), theme.text),
    ];
    let y = area.bottom().saturating_sub(1);
    whole_pieces(buffer, area.x, y, area.right(), &parts);
}
