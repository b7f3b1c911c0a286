//! What lies over the view: the list of keys, the list of benchmarks.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::format::{clean, fit, left, wrap};
use super::frame::pieces;
use crate::tui::action::Binding;
use crate::tui::keys::{BINDINGS, WORDS};
use crate::tui::overlay::{Overlay, What};
use crate::tui::state::State;

/// Draws the overlay, if one is open.
pub(crate) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    match &state.overlay {
        Overlay::Help { scroll, search } => help(state, *scroll, search, area, buffer),
        Overlay::Open { row, path } => open(state, *row, path, area, buffer),
        Overlay::Write => write(state, area, buffer),
        Overlay::None | Overlay::Type(..) => {}
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
    let theme = &state.look.theme;
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

/// The keys whose description, name or place holds the text; those that work here come first.
fn found<'a>(state: &State, search: &str) -> Vec<&'a Binding> {
    let wanted = search.to_lowercase();
    let mut found: Vec<&Binding> = BINDINGS
        .iter()
        .filter(|b| {
            let text = format!("{}{}", b.prefix(), b.long).to_lowercase();
            text.contains(&wanted) || b.label.split(' ').any(|key| key == search)
        })
        .collect();
    found.sort_by_key(|b| match (b.places.is_empty(), b.works(state.place())) {
        (false, true) => 0,
        (true, _) => 1,
        (false, false) => 2,
    });
    found
}

/// A line of the help: key or word in front, and its text wrapped below one another.
fn help_lines(state: &State, search: &str, width: usize) -> Vec<(String, String, Style)> {
    let theme = &state.look.theme;
    let mut lines = Vec::new();
    let mut add = |label: &str, text: &str, style: Style| {
        for (at, line) in wrap(text, width.saturating_sub(LABEL))
            .into_iter()
            .enumerate()
        {
            let label = if at == 0 {
                label.to_owned()
            } else {
                String::new()
            };
            lines.push((label, line, style));
        }
    };
    for binding in found(state, search) {
        let here = binding.works(state.place());
        let text = format!("{}{}", binding.prefix(), binding.long);
        add(
            binding.label,
            &text,
            if here { theme.text } else { theme.dim },
        );
    }
    let wanted = search.to_lowercase();
    for (word, text) in WORDS {
        if word.to_lowercase().contains(&wanted) || text.to_lowercase().contains(&wanted) {
            add(word, text, theme.text);
        }
    }
    lines
}

/// Columns of the keys and words.
const LABEL: usize = 14;

fn help(state: &State, scroll: u16, search: &str, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let width = area.width.saturating_sub(4).min(116);
    let lines = help_lines(state, search, usize::from(width.saturating_sub(4)));
    let rows = lines.len().clamp(1, 999) as u16;
    let title = match search {
        "" => "Keys and words; letters search".to_owned(),
        text => format!("With “{text}▏”"),
    };
    let inner = boxed(state, &title, width, rows + 2, area, buffer);
    if lines.is_empty() {
        let text = "no key does that; Backspace widens the search";
        let room = usize::from(inner.width);
        buffer.set_stringn(inner.x, inner.y, text, room, theme.dim);
        return;
    }
    let most = rows.saturating_sub(inner.height);
    let from = usize::from(scroll.min(most));
    let height = usize::from(inner.height);
    for (at, (label, text, style)) in lines.iter().skip(from).take(height).enumerate() {
        let y = inner.y + at as u16;
        let parts = [(&*left(label, LABEL), theme.key), (text.as_str(), *style)];
        pieces(buffer, inner.x, y, inner.right(), &parts);
    }
    if from < usize::from(most) {
        let x = inner.right().saturating_sub(14);
        buffer.set_string(x, inner.bottom(), " ↓ PgDn more ", theme.key);
    }
}

fn write(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let rows = What::MENU.len() as u16;
    let inner = boxed(
        state,
        "Write to a new file here",
        56,
        rows + 2,
        area,
        buffer,
    );
    for (line, (key, _, text)) in What::MENU.into_iter().enumerate() {
        let key = format!("{key}  ");
        let y = inner.y + line as u16;
        let parts = [(key.as_str(), theme.key), (text, theme.text)];
        pieces(buffer, inner.x, y, inner.right(), &parts);
    }
}

fn open(state: &State, selected: usize, path: &str, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
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
