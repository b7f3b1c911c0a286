//! Moving through anchors, items, models and steps.

use super::act::set_n;
use super::action::Action;
use super::job::Who;
use super::state::{Cursor, State, ViewName};
use super::update::next_stop;
use super::view;

/// Moves the selection, n or the step in the direction of an arrow.
pub(crate) fn walk(state: &mut State, action: Action) {
    match state.view {
        ViewName::Map => walk_map(state, action),
        ViewName::Items => match action {
            Action::Down => step_items(state, 1),
            Action::Up => step_items(state, -1),
            _ => {}
        },
        ViewName::Scores => match action {
            Action::Down => step_models(state, 1),
            Action::Up => step_models(state, -1),
            _ => {}
        },
        ViewName::Tradeoff => {
            let up = match action {
                Action::Left => false,
                Action::Right => true,
                _ => return,
            };
            set_n(state, next_stop(state.setting.n, up, state.largest_n()));
        }
        ViewName::Replay => {
            let step = state.replay.step;
            match action {
                Action::Right => step_replay(state, step + 1),
                Action::Left => step_replay(state, step.saturating_sub(1)),
                Action::Down => step_who(state, 1),
                _ => step_who(state, -1),
            }
        }
        ViewName::Data => match action {
            Action::Down => state.scroll = state.scroll.saturating_add(1),
            Action::Up => state.scroll = state.scroll.saturating_sub(1),
            _ => {}
        },
    }
}

/// Moves by a page, or to an end.
pub(crate) fn page(state: &mut State, action: Action) {
    let rows = isize::from(state.look.size.1.max(24) as i16) / 2;
    let by = match action {
        Action::PageDown => rows,
        Action::PageUp => -rows,
        Action::First => -(isize::MAX / 2),
        _ => isize::MAX / 2,
    };
    match state.view {
        ViewName::Items => step_items(state, by),
        ViewName::Scores => step_models(state, by),
        ViewName::Replay => {
            let end = if by < 0 { 1 } else { state.replay.steps() };
            step_replay(state, end);
        }
        ViewName::Data => state.scroll = if by < 0 { 0 } else { u16::MAX },
        ViewName::Map | ViewName::Tradeoff => {}
    }
}

fn step_replay(state: &mut State, step: usize) {
    state.replay.pause();
    state.replay.go(step);
    state.scroll = 0;
}

/// The place in a list of `len` that is `by` away from `at`; its ends hold.
fn stepped(at: Option<usize>, by: isize, len: usize) -> usize {
    match at {
        Some(at) => (at as isize)
            .saturating_add(by)
            .clamp(0, len as isize - 1)
            .unsigned_abs(),
        None if by > len as isize => len - 1,
        None => 0,
    }
}

fn step_models(state: &mut State, by: isize) {
    let order = view::models::order(state);
    if order.is_empty() {
        return;
    }
    let at = state
        .model
        .and_then(|m| order.iter().position(|row| row.scored.model == m));
    state.model = Some(order[stepped(at, by, order.len())].scored.model);
}

fn step_who(state: &mut State, by: isize) {
    let all = state.replayable();
    if all.is_empty() {
        return;
    }
    let now = state.replayed();
    let at = now.and_then(|who| all.iter().position(|w| *w == who));
    let who = all[stepped(at, by, all.len())];
    state.replay.pause();
    state.replay.who = Some(who);
    if let Who::Model(row) = who {
        state.model = Some(row);
    }
}

fn step_items(state: &mut State, by: isize) {
    let order = view::items::order(state);
    if order.is_empty() {
        return;
    }
    let at = state
        .item
        .and_then(|item| order.iter().position(|&other| other == item));
    select(state, order[stepped(at, by, order.len())]);
}

/// Puts the cursor on an item.
pub(crate) fn select(state: &mut State, item: usize) {
    state.item = Some(item);
    state.scroll = 0;
    // On an item that is no anchor, the cursor stays there.
    if state.anchor_of(item).is_none() {
        state.cursor = Cursor::Items;
    }
    state.refresh_curve();
}

/// After a change of the filter: to its first match, unless the cursor is on one.
pub(crate) fn jump_to_match(state: &mut State) {
    state.refresh_matches();
    match state.view {
        ViewName::Map | ViewName::Items if !state.item_filter.is_empty() => {
            let order = view::items::order(state);
            if let Some(&first) = order.first()
                && !state.item.is_some_and(|item| order.contains(&item))
            {
                select(state, first);
            }
        }
        ViewName::Scores | ViewName::Replay if !state.model_filter.is_empty() => {
            let order = view::models::order(state);
            let here = |m: usize| order.iter().any(|row| row.scored.model == m);
            if let Some(first) = order.first()
                && !state.model.is_some_and(here)
            {
                state.model = Some(first.scored.model);
                state.replay.who = None;
            }
        }
        _ => {}
    }
}

fn opposite(arrow: Action) -> Action {
    match arrow {
        Action::Left => Action::Right,
        Action::Right => Action::Left,
        Action::Up => Action::Down,
        _ => Action::Up,
    }
}

/// The nearest anchor or item in the direction of the arrow, distance across counting double.
fn walk_map(state: &mut State, action: Action) {
    let Some((scenario, from)) = state.selected_item() else {
        return;
    };
    let (Some(fit), Some(shown)) = (state.fit(scenario).cloned(), &state.shown) else {
        return;
    };
    let Some(cell) = shown.now.cell().cloned() else {
        return;
    };
    let xy = fit.xy(state.axes);
    let (x_axis, y_axis) = view::map::axes(state, &fit, &cell);
    let (width, height) = (x_axis.high - x_axis.low, y_axis.high - y_axis.low);
    let place = |item: usize| xy.get(item).map(|[x, y]| (x / width, y / height));
    let Some(origin) = place(from) else {
        return;
    };
    let cost = |item: usize| {
        let (x, y) = place(item)?;
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
    let anchors = &cell.found.selection.anchors;
    let candidates: Box<dyn Iterator<Item = usize>> = match state.cursor {
        Cursor::Anchors => Box::new(anchors.iter().map(|a| a.item)),
        Cursor::Items => Box::new(0..xy.len()),
    };
    let nearest = candidates
        .filter_map(|item| cost(item).map(|c| (item, c)))
        .min_by(|p, q| p.1.total_cmp(&q.1))
        .map(|found| found.0);
    let back = match state.trail {
        Some((before, to, arrow)) if to == from && action == opposite(arrow) => Some(before),
        _ => None,
    };
    if let Some(item) = back.or(nearest) {
        state.trail = Some((from, item, action));
        state.item = Some(item);
        state.scroll = 0;
        view::map::follow(state);
        state.refresh_curve();
    }
}
