//! What lies over the view: the list of keys, the list of benchmarks.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::format::{clean, fit, left};
use super::frame::pieces;
use crate::tui::action::{BINDINGS, Place};
use crate::tui::state::{Overlay, State};

/// Draws the overlay, if one is open.
pub(crate) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    match &state.overlay {
        Overlay::Help(scroll) => help(state, *scroll, area, buffer),
        Overlay::Open { row, path } => open(state, *row, path, area, buffer),
        Overlay::None | Overlay::TypeItems(_) | Overlay::TypeLambda(_) => {}
    }
}

/// An empty box in the middle; returns the room inside.
fn boxed(
    state: &State,
    title: &str,
    width: u16,
    height: u16,
    area: Rect,
    buffer: &mut Buffer,
) -> Rect {
    let theme = &state.theme;
    let width = width.min(area.width.saturating_sub(4));
    let height = height.min(area.height.saturating_sub(4));
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / 2;
    let across = "─".repeat(usize::from(width.saturating_sub(2)));
    for row in 0..height {
        // One column more on each side, so that no cut word touches the box.
        for column in x.saturating_sub(1)..x + width + 1 {
            if let Some(cell) = buffer.cell_mut((column, y + row)) {
                cell.reset();
            }
        }
        let line = match row {
            0 => format!("╭{across}╮"),
            r if r + 1 == height => format!("╰{across}╯"),
            _ => {
                buffer.set_string(x, y + row, "│", theme.border);
                buffer.set_string(x + width - 1, y + row, "│", theme.border);
                continue;
            }
        };
        buffer.set_string(x, y + row, line, theme.border);
    }
    buffer.set_string(x + 2, y, format!(" {title} "), theme.title);
    Rect {
        x: x + 2,
        y: y + 1,
        width: width.saturating_sub(4),
        height: height.saturating_sub(2),
    }
}

fn help(state: &State, scroll: u16, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let rows = BINDINGS.len() as u16;
    let inner = boxed(state, "Keys", 90, rows + 2, area, buffer);
    let most = rows.saturating_sub(inner.height);
    let from = scroll.min(most);
    for (line, binding) in BINDINGS
        .iter()
        .skip(usize::from(from))
        .take(usize::from(inner.height))
        .enumerate()
    {
        let y = inner.y + line as u16;
        let place = match binding.place {
            Place::Anywhere => "",
            Place::Map => "map: ",
            Place::Scores => "scores: ",
        };
        let text = format!("{place}{}", binding.long);
        let room = usize::from(inner.width.saturating_sub(11));
        pieces(
            buffer,
            inner.x,
            y,
            inner.right(),
            &[
                (&left(binding.label, 11), theme.key),
                (&fit(&text, room), theme.text),
            ],
        );
    }
    if from < most {
        let mark = " ↓ more ";
        buffer.set_string(
            inner.right().saturating_sub(8),
            inner.bottom(),
            mark,
            theme.key,
        );
    }
}

fn open(state: &State, selected: usize, path: &str, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let rows = state.openable.len() as u16 + 3;
    let inner = boxed(state, "Open", 76, rows + 2, area, buffer);
    let width = usize::from(inner.width);
    let room = usize::from(inner.height.saturating_sub(2));
    let first = selected.saturating_sub(room.saturating_sub(1));
    let line = |y: u16, here: bool, text: &str, note: &str, buffer: &mut Buffer| {
        let style: Style = if here { theme.selected } else { theme.text };
        pieces(
            buffer,
            inner.x,
            y,
            inner.right(),
            &[
                (if here { "▸ " } else { "  " }, style),
                (&fit(text, width.saturating_sub(2 + note.len())), style),
                (note, theme.dim),
            ],
        );
    };
    for (at, source) in state.openable.iter().enumerate().skip(first).take(room) {
        let note = if source.demo_name().is_some() {
            "  bundled, simulated"
        } else {
            "  recent"
        };
        line(
            inner.y + (at - first) as u16,
            at == selected,
            &source.label(),
            note,
            buffer,
        );
    }
    let y = inner.bottom().saturating_sub(1);
    let here = selected >= state.openable.len();
    // The end of a long path is what is being typed.
    let shown: String = {
        let letters: Vec<char> = clean(path).chars().collect();
        let room = width.saturating_sub(9);
        letters[letters.len().saturating_sub(room)..]
            .iter()
            .collect()
    };
    let text = format!("path: {shown}{}", if here { "▏" } else { "" });
    line(y, here, &text, "", buffer);
}
