//! Whole-screen tests.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::state::{State, ViewName};
use super::theme::ThemeName;
use super::{fixture, svg, view};

fn screen(state: &mut State, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    state.size = (width, height);
    let mut buffer = Buffer::empty(area);
    view::draw(state, area, &mut buffer);
    buffer
}

#[test]
fn pictures() {
    let Ok(folder) = std::env::var("PICTURES") else {
        return;
    };
    for theme in ThemeName::ALL {
        let mut state = fixture::state(theme);
        for view in ViewName::ALL {
            state.view = view;
            for (w, h) in [(120, 36), (80, 24), (200, 60)] {
                let buffer = screen(&mut state, w, h);
                let out = svg::write(&buffer, &state.theme, "tinyscope");
                std::fs::write(
                    format!("{folder}/{}-{}-{w}.svg", view.label(), theme.label()),
                    out,
                )
                .unwrap();
            }
        }
    }
}
