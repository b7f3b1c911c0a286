//! The screen: where everything stands, and what lies over it. Views take the state and change
//! nothing.

pub(crate) mod format;
mod frame;
mod inspector;
pub(crate) mod map;
mod overlay;
mod plot;
mod raster;
pub(crate) mod scores;
mod setting;
mod tradeoff;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::glyphs::{Marker, to_ascii};
use super::state::{State, ViewName};

/// The smallest screen that everything fits on.
pub(crate) const SMALLEST: (u16, u16) = (80, 24);

/// The parts of the screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    /// Two rows: what is open; views and the running job.
    pub(crate) header: Rect,
    /// Scenarios; empty when folded.
    pub(crate) list: Rect,
    /// The view.
    pub(crate) view: Rect,
    /// The inspector; empty when folded.
    pub(crate) inspector: Rect,
    /// Sliders and measures.
    pub(crate) setting: Rect,
    /// Keys that work now.
    pub(crate) footer: Rect,
}

/// Lays the screen out.
pub(crate) fn parts(state: &State, area: Rect) -> Parts {
    let wide = area.width >= 110;
    let row = |y: u16, height: u16| Rect {
        y: area.y + y,
        height,
        ..area
    };
    let body = row(2, area.height.saturating_sub(7));
    let several = state.fits.len() > 1;
    let list = if state.list_open.unwrap_or(wide && several) {
        if area.width >= 160 { 32 } else { 28 }
    } else {
        0
    };
    let inspector = if state.inspector_open.unwrap_or(true) {
        let rest = u32::from(area.width.saturating_sub(list));
        let (share, least, most) = match state.view {
            ViewName::Map => (35, 32, 56),
            ViewName::Scores => (55, 42, 72),
            ViewName::Tradeoff => (38, 40, 50),
        };
        ((rest * share / 100) as u16).clamp(least, most)
    } else {
        0
    };
    let column = |x: u16, width: u16| Rect {
        x: area.x + x,
        width,
        ..body
    };
    Parts {
        header: row(0, 2),
        list: column(0, list),
        view: column(list, area.width.saturating_sub(list + inspector)),
        inspector: column(area.width.saturating_sub(inspector), inspector),
        setting: row(area.height.saturating_sub(5), 4),
        footer: row(area.height.saturating_sub(1), 1),
    }
}

/// Draws the whole screen.
pub(crate) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let text = format!(
            "tinyscope needs {} x {} cells, here are {} x {}",
            SMALLEST.0, SMALLEST.1, area.width, area.height
        );
        buffer.set_stringn(
            area.x,
            area.y,
            text,
            usize::from(area.width),
            state.theme.warn,
        );
        return;
    }
    let parts = parts(state, area);
    frame::header(state, parts.header, buffer);
    frame::list(state, parts.list, buffer);
    view(state, parts.view, buffer);
    inspector::draw(state, parts.inspector, buffer);
    setting::draw(state, &parts, buffer);
    frame::footer(state, parts.footer, buffer);
    overlay::draw(state, area, buffer);
    if state.marker == Marker::Ascii {
        to_ascii(buffer);
    }
}

fn view(state: &State, area: Rect, buffer: &mut Buffer) {
    let inner = frame::panel(state, area, &title(state), buffer);
    match (&state.study, &state.shown) {
        (Some(_), Some(shown)) => {
            match state.view {
                ViewName::Map => map::draw(state, shown, inner, buffer),
                ViewName::Scores => scores::draw(state, shown, inner, buffer),
                ViewName::Tradeoff => tradeoff::draw(state, shown, inner, buffer),
            }
            if !shown.fresh {
                dim(inner, buffer);
            }
        }
        _ => frame::waiting(state, inner, buffer),
    }
}

/// Dims what is drawn: it is older than the setting.
fn dim(area: Rect, buffer: &mut Buffer) {
    buffer.set_style(area, Style::new().add_modifier(Modifier::DIM));
}

fn title(state: &State) -> String {
    match state.view {
        ViewName::Map => "Items and anchors".into(),
        ViewName::Scores => "Estimated against true score".into(),
        ViewName::Tradeoff => "Error against n and against λ".into(),
    }
}
