//! The panel on the right: the selected anchor, the models, or the legend of the curves.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Text;
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::format::{clean, fit, left};
use super::frame::{panel, pieces};
use super::map::facts;
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use super::{dim, scores, tradeoff};
use crate::tui::state::{Sort, State, ViewName};
use crate::tui::study::Curve;

/// Draws the inspector of the current view.
pub(crate) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let inner = panel(state, area, &title(state), buffer);
    match state.view {
        ViewName::Map => item(state, inner, buffer),
        ViewName::Scores => scores::table(state, inner, buffer),
        ViewName::Tradeoff => tradeoff::legend(state, inner, buffer),
    }
    if state.shown.as_ref().is_some_and(|s| !s.fresh) {
        dim(inner, buffer);
    }
}

fn title(state: &State) -> String {
    match state.view {
        ViewName::Map => match (&state.shown, state.selected_item()) {
            (Some(shown), Some(_)) => {
                let anchors = shown.cells.first().map_or(0, |c| c.selection.n());
                format!("Anchor {} of {anchors}", state.anchor + 1)
            }
            _ => "Anchor".into(),
        },
        ViewName::Scores => {
            let by = match state.sort {
                Sort::Truth => "true score",
                Sort::Estimate => "estimate",
                Sort::Error => "error",
                Sort::Name => "name",
            };
            format!("Test models by {by}")
        }
        ViewName::Tradeoff => "Methods".into(),
    }
}

/// Id, facts, response curve and text of the selected anchor.
fn item(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let (Some((scenario, anchor)), Some(study), Some(facts)) =
        (state.selected_item(), &state.study, facts(state))
    else {
        return;
    };
    let id = clean(study.item_id(scenario, anchor.item));
    buffer.set_string(
        area.x,
        area.y,
        fit(&id, usize::from(area.width)),
        theme.accent,
    );
    let mut y = area.y + 1;
    // Short facts go two to a row where the panel is low.
    let two = area.height < 22;
    let half = area.width / 2;
    let mut column = 0;
    for (name, value) in facts {
        let long = name == "part" || name == "weight";
        if two && !long && column == 0 && area.width >= 30 {
            let width = usize::from(half);
            let text = fit(&value, width.saturating_sub(9));
            pieces(
                buffer,
                area.x,
                y,
                area.x + half,
                &[(&left(&short(&name), 8), theme.dim), (&text, theme.text)],
            );
            column = 1;
            continue;
        }
        let x = if column == 1 { area.x + half } else { area.x };
        let label = if column == 1 {
            left(&short(&name), 8)
        } else {
            left(&name, 11)
        };
        let room = usize::from(area.right().saturating_sub(x)).saturating_sub(label.len());
        pieces(
            buffer,
            x,
            y,
            area.right(),
            &[(&label, theme.dim), (&fit(&value, room), theme.text)],
        );
        column = 0;
        y += 1;
    }
    y += u16::from(column == 1);
    let rest = area.bottom().saturating_sub(y);
    let curve_height = if rest >= 22 { 11 } else { rest.min(9) };
    if let Some((s, i, curve)) = &state.curve
        && (*s, *i) == (scenario, anchor.item)
        && curve_height >= 6
    {
        response_curve(
            state,
            curve,
            Rect {
                y,
                height: curve_height,
                ..area
            },
            buffer,
        );
        y += curve_height;
    }
    text(
        state,
        &id,
        Rect {
            y,
            height: area.bottom().saturating_sub(y),
            ..area
        },
        buffer,
    );
}

fn short(name: &str) -> String {
    match name {
        "difficulty" => "diff.".into(),
        other => other.into(),
    }
}

/// Probability of a right answer against ability along the item's own direction; dots are groups of
/// training models.
fn response_curve(state: &State, curve: &Curve, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let ends = [curve.line.first(), curve.line.last()]
        .into_iter()
        .flatten()
        .map(|p| p.0);
    let x = Axis::around(ends, "ability", Unit::Number);
    let y = Axis {
        low: -0.03,
        high: 1.03,
        label: "P(right) %".into(),
        unit: Unit::Percent,
    };
    let mut plot = Plot::new(area, x, y, theme, state.marker, buffer);
    plot.curve(&curve.line, theme.series[2], 1, Stroke::Solid);
    let symbol = if state.marker == crate::tui::glyphs::Marker::Ascii {
        "o"
    } else {
        "•"
    };
    for bin in &curve.observed {
        plot.glyph(bin.ability, bin.proportion, symbol, theme.accent);
    }
    plot.finish(buffer);
    let note = "• observed";
    let at = area.right().saturating_sub(note.chars().count() as u16 + 1);
    pieces(
        buffer,
        at,
        area.y,
        area.right(),
        &[("•", theme.accent), (" observed", theme.dim)],
    );
}

/// The item's text, options and answer, wrapped and scrolled.
fn text(state: &State, id: &str, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let Some(study) = state.study.as_ref().filter(|_| area.height > 0) else {
        return;
    };
    let Some(item) = study.benchmark.texts.get(id) else {
        let room = usize::from(area.width);
        buffer.set_stringn(area.x, area.y, "no text of this item", room, theme.dim);
        return;
    };
    let mut whole = clean(&item.text);
    for (index, option) in item.options.iter().enumerate() {
        let letter = char::from(b'A' + (index % 26) as u8);
        whole.push_str(&format!("\n{letter}  {}", clean(option)));
    }
    if let Some(answer) = &item.answer {
        whole.push_str(&format!("\nAnswer: {}", clean(answer)));
    }
    let paragraph = Paragraph::new(Text::styled(whole, theme.text))
        .wrap(Wrap { trim: false })
        .scroll((0, 0));
    // One line more than is shown says whether there is more.
    let rows = state.scroll.saturating_add(area.height + 1).min(MOST_LINES);
    let lines = lines_of(&paragraph, area.width, rows);
    let hidden = lines.saturating_sub(area.height);
    let from = state.scroll.min(hidden);
    paragraph.scroll((from, 0)).render(area, buffer);
    if hidden > 0 {
        let mark = if from < hidden {
            " PgDn more "
        } else {
            " PgUp back "
        };
        let x = area.right().saturating_sub(mark.len() as u16);
        buffer.set_string(x, area.bottom() - 1, mark, theme.key);
    }
}

/// Lines of an item's text that can be scrolled to: nobody reads further in a panel.
const MOST_LINES: u16 = 400;

/// Rows that a paragraph takes at this width, of at most `rows`.
fn lines_of(paragraph: &Paragraph<'_>, width: u16, rows: u16) -> u16 {
    let room = Rect {
        x: 0,
        y: 0,
        width,
        height: rows,
    };
    let mut scratch = Buffer::empty(room);
    paragraph.render(room, &mut scratch);
    let used = |y: &u16| (0..width).any(|x| scratch[(x, *y)].symbol() != " ");
    (0..rows).rev().find(used).map_or(0, |y| y + 1)
}
