//! Moving through anchors and models with the arrows.

use std::sync::Arc;

use super::action::Action;
use super::state::{State, ViewName};
use super::update::{next_stop, set_n};

/// Moves the selection, or n, in the direction of an arrow.
pub(crate) fn walk(state: &mut State, action: Action) {
    match state.view {
        ViewName::Map => walk_anchors(state, action),
        ViewName::Scores => walk_models(state, action),
        ViewName::Tradeoff => {
            let up = match action {
                Action::Left => false,
                Action::Right => true,
                _ => return,
            };
            set_n(state, next_stop(state.setting.n, up, state.largest_n()));
        }
    }
}

fn walk_models(state: &mut State, action: Action) {
    let order = super::view::scores::order(state);
    if order.is_empty() {
        return;
    }
    let at = state
        .model
        .and_then(|m| order.iter().position(|row| row.scored.model == m));
    let next = match (at, action) {
        (None, _) => 0,
        (Some(at), Action::Down) => (at + 1).min(order.len() - 1),
        (Some(at), Action::Up) => at.saturating_sub(1),
        (Some(at), _) => at,
    };
    state.model = Some(order[next].scored.model);
}

/// The anchor nearest in the direction of the arrow, distance across counting double.
fn walk_anchors(state: &mut State, action: Action) {
    let Some((scenario, from)) = state.selected_item() else {
        return;
    };
    let (Some(Some(fit)), Some(shown)) = (state.fits.get(scenario).cloned(), &state.shown) else {
        return;
    };
    let Some(cell) = shown.cells.first().map(Arc::clone) else {
        return;
    };
    let (x_axis, y_axis) = super::view::map::axes(state.axes, &fit, &cell);
    let place = |item: usize| {
        let [x, y] = fit.xy(state.axes).get(item).copied().unwrap_or_default();
        (
            x / (x_axis.high - x_axis.low),
            y / (y_axis.high - y_axis.low),
        )
    };
    let origin = place(from.item);
    let cost = |item: usize| {
        let (x, y) = place(item);
        let (dx, dy) = (x - origin.0, y - origin.1);
        let (ahead, aside) = match action {
            Action::Right => (dx, dy),
            Action::Left => (-dx, dy),
            Action::Up => (dy, dx),
            _ => (-dy, dx),
        };
        // Within 60 degrees of the direction: every anchor can be left again the way it was reached.
        let inside = ahead > 1e-9 && aside.abs() <= 1.75 * ahead;
        inside.then(|| ahead + 2.0 * aside.abs())
    };
    let nearest = cell
        .selection
        .anchors
        .iter()
        .enumerate()
        .filter_map(|(index, anchor)| cost(anchor.item).map(|c| (index, c)))
        .min_by(|p, q| p.1.total_cmp(&q.1));
    if let Some((index, _)) = nearest {
        state.anchor = index;
        state.scroll = 0;
        state.refresh_curve();
    }
}
