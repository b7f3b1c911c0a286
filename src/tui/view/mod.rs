//! The screen: where everything stands, and what lies over it. Views take the state and change
//! nothing.

mod axis;
mod data;
mod facts;
pub(crate) mod format;
mod frame;
mod inspector;
pub(crate) mod items;
mod legend;
mod list;
pub(crate) mod map;
mod model;
pub(crate) mod models;
mod overlay;
mod planner;
mod plot;
mod ranking;
mod raster;
pub(crate) mod replay;
pub(crate) mod scores;
mod setting;
pub(crate) mod slides;
pub(crate) mod tradeoff;
mod words;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::glyphs::{Marker, to_ascii};
use super::state::{Scope, Shown, State, ViewName};

pub(crate) use facts::{Fact, facts as data_facts};
pub(crate) use frame::{inner, tab_at};
pub(crate) use list::{Row as ListRow, rows as list_rows};
pub(crate) use setting::{Slider, sentence, slider_at};

/// The smallest screen that everything fits on.
pub(crate) const SMALLEST: (u16, u16) = (80, 24);
/// From this width on the list of scenarios is open by itself.
pub(crate) const WIDE: u16 = 110;
/// From this width on the inspector is open by itself in every view.
const ROOMY: u16 = 100;

/// The parts of the screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    /// Two rows: what is open; views and the running job.
    pub(crate) header: Rect,
    /// Scenarios and models; empty when folded.
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
    let row = |y: u16, height: u16| Rect {
        y: area.y + y,
        height,
        ..area
    };
    let setting = 4 + u16::from(state.pin.is_some());
    let body = row(2, area.height.saturating_sub(3 + setting));
    let list = if state.look.list_open.unwrap_or(area.width >= WIDE) {
        if area.width >= 160 { 34 } else { 28 }
    } else {
        0
    };
    // On a narrow screen the inspector stays where the view says little without it.
    let needed = matches!(state.view, ViewName::Map | ViewName::Scores);
    let open = area.width >= ROOMY || needed;
    let inspector = if state.look.inspector_open.unwrap_or(open) {
        let rest = u32::from(area.width.saturating_sub(list));
        let (share, least, most) = match state.view {
            ViewName::Map => (36, 32, 58),
            ViewName::Items => (38, 32, 60),
            ViewName::Scores => (50, 40, 74),
            ViewName::Tradeoff => (40, 38, 58),
            ViewName::Replay => (36, 32, 56),
            ViewName::Data => (40, 32, 72),
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
        setting: row(area.height.saturating_sub(setting + 1), setting),
        footer: row(area.height.saturating_sub(1), 1),
    }
}

/// Draws the whole screen.
pub(crate) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let needed = format!("tinyscope needs {} x {} cells,", SMALLEST.0, SMALLEST.1);
        let here = format!("here are {} x {}", area.width, area.height);
        let (room, warn) = (usize::from(area.width), state.look.theme.warn);
        if needed.len() + 1 + here.len() <= room || area.height == 1 {
            let text = format!("{needed} {here}");
            buffer.set_stringn(area.x, area.y, text, room, warn);
        } else {
            buffer.set_stringn(area.x, area.y, needed, room, warn);
            buffer.set_stringn(area.x, area.y + 1, here, room, warn);
        }
        return;
    }
    if let Some(slide) = state.look.slide {
        slides::draw(state, slide, area, buffer);
    } else {
        let parts = parts(state, area);
        frame::header(state, parts.header, buffer);
        list::draw(state, parts.list, buffer);
        view(state, parts.view, buffer);
        inspector::draw(state, parts.inspector, buffer);
        setting::draw(state, &parts, buffer);
        frame::footer(state, parts.footer, buffer);
    }
    overlay::draw(state, area, buffer);
    if state.look.marker == Marker::Ascii {
        to_ascii(buffer);
    }
}

fn view(state: &State, area: Rect, buffer: &mut Buffer) {
    let inner = frame::panel(state, area, &title(state), buffer);
    match (&state.study, &state.shown) {
        (Some(study), _) if state.view == ViewName::Data => {
            data::draw(state, study, inner, buffer);
        }
        (Some(_), Some(shown)) => {
            match state.view {
                ViewName::Map => map::draw(state, shown, inner, buffer),
                ViewName::Items => items::draw(state, shown, inner, buffer),
                ViewName::Scores if state.ranking => ranking::draw(state, shown, inner, buffer),
                ViewName::Scores => scores::draw(state, shown, inner, buffer),
                ViewName::Tradeoff => tradeoff::draw(state, shown, inner, buffer),
                ViewName::Replay => replay::draw(state, shown, inner, buffer),
                ViewName::Data => {}
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
    let filtered = |filter: &str| match filter {
        "" => String::new(),
        text => format!(", with “{}”", format::clean(text)),
    };
    match state.view {
        ViewName::Map => {
            let walks = match state.cursor {
                super::state::Cursor::Anchors => "",
                super::state::Cursor::Items => ", walking all items",
            };
            format!("Items and anchors{walks}{}", filtered(&state.item_filter))
        }
        ViewName::Items => format!("Items{}", filtered(&state.item_filter)),
        ViewName::Scores if state.ranking => "True and estimated rank".into(),
        ViewName::Scores => {
            format!(
                "Estimated against true score{}",
                filtered(&state.model_filter)
            )
        }
        ViewName::Tradeoff => "What n costs in error".into(),
        ViewName::Replay => "One model, one answer after another".into(),
        ViewName::Data => "What the numbers rest on".into(),
    }
}

/// Says in place of a view that it shows one scenario at a time.
fn one_scenario(state: &State, what: &str, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let y = area.y + area.height / 2;
    for (line, text) in [
        format!("{what} one scenario at a time."),
        "Tab chooses one.".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let width = unicode_width::UnicodeWidthStr::width(text.as_str()) as u16;
        let x = area.x + area.width.saturating_sub(width) / 2;
        let room = usize::from(area.right().saturating_sub(x));
        buffer.set_stringn(x, y + line as u16, text, room, theme.dim);
    }
}

/// "100 of 567 items": what was chosen, of how many.
fn chosen_of(state: &State, shown: &Shown) -> String {
    let all: usize = match (&state.study, shown.now.setting.scope) {
        (Some(study), Scope::One(s)) => study.scenario(s).n_items(),
        (Some(study), Scope::Overall) => {
            study.benchmark.scenarios.iter().map(|s| s.n_items()).sum()
        }
        _ => 0,
    };
    let edited = if shown.now.setting.edits.is_empty() {
        ""
    } else {
        ", edited by hand"
    };
    format!("{} of {all} items{edited}", shown.now.items())
}
