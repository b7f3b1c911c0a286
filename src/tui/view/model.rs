//! How sure the estimate of the selected test model is: interval, ranks, the next model.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::format::{fit, left, percent};
use super::frame::pieces;
use super::models::{order, short_name};
use crate::tui::state::{Shown, State};

/// Facts in one line each, name and value; none without a selected model or what is learned.
pub(crate) fn facts(state: &State, shown: &Shown) -> Vec<(&'static str, String)> {
    let (Some(model), Some(study)) = (state.model, &state.study) else {
        return Vec::new();
    };
    let Some(interval) = shown.now.interval(model).filter(|_| state.bars) else {
        return Vec::new();
    };
    let held = shown.now.scores.iter().find(|s| s.model == model);
    let held = held.map_or(String::new(), |s| {
        let verb = if interval.covers(s.truth) {
            "holds"
        } else {
            "misses"
        };
        format!(", {verb} {}", percent(s.truth, 1))
    });
    let (low, high) = (percent(interval.low, 1), percent(interval.high, 1));
    let mut facts = vec![("90 %", format!("{low} to {high} %{held}"))];
    let Some(standing) = shown.now.standing() else {
        return facts;
    };
    let rows = order(state);
    if let Some((best, worst)) = standing.ranks(model) {
        let of = shown.now.scores.len();
        let text = if best == worst {
            format!("{best} of {of}, surely")
        } else {
            format!("{best} to {worst} of {of}")
        };
        facts.push(("rank", text));
    }
    let at = rows.iter().position(|row| row.scored.model == model);
    let next = at.and_then(|at| rows.get(at + 1)).map(|r| r.scored.model);
    if let Some((next, better)) = next.and_then(|n| Some((n, standing.better(model, n)?))) {
        let name = short_name(study, next, 22);
        facts.push(("better", format!("than {name}: {} %", percent(better, 0))));
    }
    facts
}

/// Draws them.
pub(crate) fn draw(state: &State, facts: &[(&str, String)], area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    for (at, (name, value)) in facts.iter().enumerate() {
        let name = left(name, 8);
        let room = usize::from(area.width).saturating_sub(8);
        let value = fit(value, room);
        let parts = [(name.as_str(), theme.dim), (value.as_str(), theme.text)];
        pieces(buffer, area.x, area.y + at as u16, area.right(), &parts);
    }
}
