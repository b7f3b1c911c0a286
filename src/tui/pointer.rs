//! The mouse: click, wheel and drag, where it is listened to.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use tinyscope::experiment::Lambda;

use super::act::{set_lambda, set_n, set_scope, show, zoom};
use super::action::Action;
use super::overlay::Overlay;
use super::state::{State, ViewName};
use super::view::{self, ListRow, Slider};
use super::walk::{select, walk};

/// How much closer one turn of the wheel brings the map.
const WHEEL: f64 = 1.25;

/// Does what the mouse asks for; nothing while something lies over the view.
pub(crate) fn on_mouse(state: &mut State, mouse: MouseEvent) {
    let (width, height) = state.look.size;
    let small = width < view::SMALLEST.0 || height < view::SMALLEST.1;
    if state.overlay != Overlay::None || small {
        return;
    }
    state.message = None;
    let (x, y) = (mouse.column, mouse.row);
    if state.look.slide.is_some() {
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => view::slides::step(state, 1),
            MouseEventKind::Down(MouseButton::Right) => view::slides::step(state, -1),
            _ => {}
        }
        return;
    }
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => press(state, x, y),
        MouseEventKind::Drag(MouseButton::Left) => drag(state, x, y),
        MouseEventKind::ScrollUp => turn(state, x, y, true),
        MouseEventKind::ScrollDown => turn(state, x, y, false),
        _ => {}
    }
}

fn parts(state: &State) -> view::Parts {
    let (width, height) = state.look.size;
    view::parts(state, Rect::new(0, 0, width, height))
}

fn press(state: &mut State, x: u16, y: u16) {
    let parts = parts(state);
    let at = (x, y).into();
    if parts.header.contains(at) {
        if y == parts.header.y + 1
            && let Some(view) = view::tab_at(parts.header, x)
        {
            show(state, view);
        }
    } else if parts.list.contains(at) {
        let rows = view::list_rows(state, parts.list);
        match rows.into_iter().find(|row| row.0 == y).map(|row| row.1) {
            Some(ListRow::Scope(scope)) => {
                state.part = None;
                set_scope(state, scope);
            }
            Some(ListRow::Part(part)) => {
                state.part = (state.part != Some(part)).then_some(part);
            }
            Some(ListRow::Model(model)) => state.model = Some(model),
            Some(ListRow::Heading | ListRow::Models) | None => {}
        }
    } else if parts.view.contains(at) {
        press_view(state, parts.view, x, y);
    } else {
        drag(state, x, y);
    }
}

/// Moves a slider to where the mouse is.
fn drag(state: &mut State, x: u16, y: u16) {
    match view::slider_at(&parts(state), x, y) {
        Some((Slider::Items, share)) => {
            let largest = state.largest_n() as f64;
            let n = largest.powf(share).round() as usize;
            if n != state.setting.n {
                set_n(state, n);
            }
        }
        Some((Slider::Lambda, share)) => {
            set_lambda(state, Lambda::Fixed((share * 100.0).round() / 100.0));
        }
        None => {}
    }
}

/// Selects what is nearest to a click.
fn press_view(state: &mut State, area: Rect, x: u16, y: u16) {
    let inner = view::inner(area);
    let Some(shown) = state.shown.clone() else {
        return;
    };
    let distance = |place: Option<(u16, u16)>| {
        let (px, py) = place?;
        // A cell is about twice as high as wide.
        let (dx, dy) = (
            f64::from(px) - f64::from(x),
            2.0 * (f64::from(py) - f64::from(y)),
        );
        Some(dx.hypot(dy))
    };
    match state.view {
        ViewName::Map => {
            let found = view::map::geometry(state, inner).and_then(|(plot, fit)| {
                let xy = fit.xy(state.axes);
                let anchors = shown.now.cell().map(|c| &c.found.selection.anchors);
                let is_anchor =
                    |item: usize| anchors.is_some_and(|a| a.iter().any(|a| a.item == item));
                let items = xy.iter().enumerate().filter_map(|(item, p)| {
                    // An anchor is meant where one is as near.
                    let bonus = if is_anchor(item) { 0.9 } else { 0.0 };
                    Some((distance(plot.cell(p[0], p[1]))? - bonus, item))
                });
                items.min_by(|p, q| p.0.total_cmp(&q.0))
            });
            if let Some((_, item)) = found {
                select(state, item);
            }
        }
        ViewName::Items => {
            if let Some(item) = view::items::row_at(state, inner, y) {
                select(state, item);
            }
        }
        ViewName::Scores if !state.ranking => {
            let plot = view::scores::geometry(state, &shown, inner);
            let models = shown
                .now
                .scores
                .iter()
                .filter_map(|s| Some((distance(plot.cell(s.truth, s.estimate))?, s.model)));
            if let Some((_, model)) = models.min_by(|p, q| p.0.total_cmp(&q.0)) {
                state.model = Some(model);
            }
        }
        _ => {}
    }
}

/// The wheel: closer on the map, rows elsewhere.
fn turn(state: &mut State, x: u16, y: u16, up: bool) {
    let parts = parts(state);
    let at = (x, y).into();
    if state.view == ViewName::Map && parts.view.contains(at) {
        let inner = view::inner(parts.view);
        let around = view::map::share_at(state, inner, x, y);
        zoom(state, if up { WHEEL } else { 1.0 / WHEEL }, around);
    } else if parts.inspector.contains(at) && matches!(state.view, ViewName::Map | ViewName::Items)
    {
        state.scroll = if up {
            state.scroll.saturating_sub(1)
        } else {
            state.scroll.saturating_add(1)
        };
    } else if state.view != ViewName::Tradeoff {
        walk(state, if up { Action::Up } else { Action::Down });
    }
}
