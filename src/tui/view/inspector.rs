//! The panel on the right: the selected item, the models, the methods in words, or further facts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Text;
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::format::{brief, clean, fit, left, percent, unit, wrap};
use super::frame::{panel, pieces};
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use super::{data, dim, items, models, replay, words};
use crate::tui::glyphs::{Marker, shape as glyph};
use crate::tui::state::{State, ViewName};
use crate::tui::study::{Choice, Curve, FitShown};

/// Draws the inspector of the current view.
pub(crate) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let inner = panel(state, area, &title(state), buffer);
    match state.view {
        ViewName::Map => item(state, inner, buffer),
        ViewName::Items if !state.marked.is_empty() => marked(state, inner, buffer),
        ViewName::Items => item(state, inner, buffer),
        ViewName::Scores => models::table(state, inner, buffer),
        ViewName::Tradeoff => words::draw(state, inner, buffer),
        ViewName::Replay => replay::answer(state, inner, buffer),
        ViewName::Data => data::models(state, inner, buffer),
    }
    if state.shown.as_ref().is_some_and(|s| !s.fresh) && state.view != ViewName::Data {
        dim(inner, buffer);
    }
}

fn title(state: &State) -> String {
    match state.view {
        ViewName::Items if !state.marked.is_empty() => "Response curves of the marked items".into(),
        ViewName::Map | ViewName::Items => {
            let anchor = state.item.and_then(|item| state.anchor_of(item));
            let count = state.shown.as_ref().map_or(0, |s| s.now.items());
            match (anchor, state.item) {
                (Some((index, anchor)), _) => {
                    format!(
                        "Anchor {} of {count}{}",
                        index + 1,
                        place(state, anchor.weight)
                    )
                }
                (None, Some(_)) => "Item, not an anchor".into(),
                (None, None) => "Item".into(),
            }
        }
        ViewName::Scores => format!("Test models by {}", state.sort.label()),
        ViewName::Tradeoff => "In words".into(),
        ViewName::Replay => "The item just answered".into(),
        ViewName::Data => "Models of the split".into(),
    }
}

/// ", heaviest" or ", 3 heavier".
fn place(state: &State, weight: f64) -> String {
    let Some(cell) = state.shown.as_ref().and_then(|s| s.now.cell()) else {
        return String::new();
    };
    let anchors = &cell.found.selection.anchors;
    let heavier = anchors.iter().filter(|a| a.weight > weight).count();
    let alike = anchors.iter().filter(|a| a.weight == weight).count();
    match heavier {
        _ if alike == anchors.len() => String::new(),
        0 => ", heaviest".into(),
        n => format!(", {} heavier", n),
    }
}

/// Facts of an item in one line each: name and value.
pub(crate) fn facts(state: &State, scenario: usize, item: usize) -> Vec<(&'static str, String)> {
    let (Some(fitted), Some(study), Some(shown)) =
        (state.fit(scenario), &state.study, &state.shown)
    else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    let subs = &study.scenario(scenario).subscenarios;
    if subs.len() > 1 {
        let sub = fitted.sub.get(item).and_then(|&s| subs.get(s));
        rows.push(("part", sub.map_or(String::new(), |s| brief(&s.name))));
    }
    let selection = shown.now.cell().map(|c| &c.found.selection);
    let anchor = state.anchor_of(item);
    let count = selection.map_or(1, |s| s.n()).max(1) as f64;
    if let Some((index, anchor)) = anchor {
        let relative = anchor.weight * count;
        rows.push((
            "weight",
            format!("{} ({relative:.1} × mean)", unit(anchor.weight, 4)),
        ));
        if let Some(selection) = selection.filter(|s| s.clusters.is_some()) {
            let members = selection.cluster_size(index);
            let plural = if members == 1 { "" } else { "s" };
            rows.push(("cluster", format!("{members} item{plural}")));
        }
    } else if let Some(owner) = state.anchor_owning(item) {
        rows.push(("anchor", brief(study.item_id(scenario, owner))));
    }
    let role = items::role(state, scenario, item, 0.0);
    if !role.is_empty() {
        rows.push(("by hand", role.to_owned()));
    }
    if let Some((counts, seeds)) = super::legend::agreement(state, scenario) {
        let times = counts.get(item).copied().unwrap_or(0);
        rows.push(("chosen", format!("at {times} of {seeds} seeds")));
    }
    let Some(shape) = fitted.shape(item) else {
        return rows;
    };
    rows.push(("difficulty", format!("b {:+.2}", shape.intercept)));
    let reversed = if fitted.reversed(item) {
        ", reversed"
    } else {
        ""
    };
    rows.push((
        "discrim.",
        format!("|a| {:.2}{reversed}", shape.discrimination),
    ));
    if let Some(information) = information(state, fitted, item) {
        rows.push(("inform.", format!("{}, test models", unit(information, 3))));
    }
    let share = fitted.share.get(item).copied().unwrap_or(f64::NAN);
    let constant = fitted.constant.get(item).copied().unwrap_or(false);
    let same = if constant { ", all the same" } else { "" };
    rows.push(("right", format!("{} % of models{same}", percent(share, 0))));
    rows
}

/// Mean Fisher information of an item, along its own direction, at the test models' abilities.
fn information(state: &State, fitted: &FitShown, item: usize) -> Option<f64> {
    let models = &state.shown.as_ref()?.now.cell()?.found.models;
    let shape = fitted.shape(item)?;
    let each = models.iter().map(|m| {
        let along = fitted.items.along(item, m.ability.theta.mean(0));
        shape.information(along)
    });
    let (sum, count) = each.fold((0.0, 0), |(sum, count), i| (sum + i, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Id, facts, response curve and text of the selected item.
fn item(state: &State, area: Rect, buffer: &mut Buffer) {
    let (Some((scenario, item)), Some(study)) = (state.selected_item(), &state.study) else {
        return;
    };
    let theme = &state.look.theme;
    let id = brief(study.item_id(scenario, item));
    let mut y = area.y;
    for line in wrap(&id, usize::from(area.width)).iter().take(2) {
        buffer.set_string(area.x, y, fit(line, usize::from(area.width)), theme.accent);
        y += 1;
    }
    let below = Rect {
        y,
        height: area.bottom().saturating_sub(y),
        ..area
    };
    y = write_facts(state, &facts(state, scenario, item), below, buffer);
    let rest = area.bottom().saturating_sub(y);
    let curve_height = if rest >= 22 { 11 } else { rest.min(9) };
    if let Some((s, i, curve)) = &state.curve
        && (*s, *i) == (scenario, item)
        && curve_height >= 6
    {
        let place = Rect {
            y,
            height: curve_height,
            ..area
        };
        response_curve(state, curve, place, buffer);
        y += curve_height;
    }
    let place = Rect {
        y,
        height: area.bottom().saturating_sub(y),
        ..area
    };
    text(state, scenario, item, place, buffer);
}

/// Facts in rows; short ones go two to a row where the panel is low. Returns the row after the last.
fn write_facts(state: &State, facts: &[(&str, String)], area: Rect, buffer: &mut Buffer) -> u16 {
    let theme = &state.look.theme;
    let two = area.height < 24 && area.width >= 30;
    let half = usize::from(area.width / 2);
    let mut y = area.y;
    let mut column = 0;
    for (at, (name, value)) in facts.iter().enumerate() {
        let fits = |text: &str| text.chars().count() + 11 <= half;
        let next_fits = facts.get(at + 1).is_some_and(|f| fits(&f.1));
        let begins = two && column == 0 && fits(value) && next_fits;
        let x = area.x + (column * half) as u16;
        let label = left(name, 11);
        let limit = if begins {
            half
        } else {
            usize::from(area.right() - x)
        };
        let parts = [
            (label.as_str(), theme.dim),
            (&fit(value, limit.saturating_sub(11)), theme.text),
        ];
        pieces(buffer, x, y, area.right(), &parts);
        column = usize::from(begins);
        y += u16::from(!begins);
        if y >= area.bottom() {
            break;
        }
    }
    y
}

/// Probability of a right answer against ability along the item's own direction; marks are groups
/// of training models, with their intervals.
fn response_curve(state: &State, curve: &Curve, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let mut plot = response_plot(state, std::slice::from_ref(curve), area, buffer);
    plot.curve(&curve.line, theme.series[2], 2, Stroke::Solid);
    let ascii = state.look.marker == Marker::Ascii;
    for bin in &curve.observed {
        let (low, high) = bin.interval;
        plot.curve(
            &[(bin.ability, low), (bin.ability, high)],
            theme.band,
            1,
            Stroke::Solid,
        );
    }
    for bin in &curve.observed {
        let symbol = if ascii { "o" } else { "•" };
        plot.glyph(bin.ability, bin.proportion, symbol, theme.accent);
    }
    plot.finish(buffer);
    let parts = [("•", theme.accent), (" observed, 90 %", theme.dim)];
    let at = area.right().saturating_sub(17);
    pieces(buffer, at, area.y, area.right(), &parts);
}

fn response_plot(state: &State, curves: &[Curve], area: Rect, buffer: &mut Buffer) -> Plot {
    let ends = curves
        .iter()
        .flat_map(|c| [c.line.first(), c.line.last()])
        .flatten()
        .map(|p| p.0);
    let x = Axis::around(ends, "ability", Unit::Number);
    let y = Axis {
        low: -0.03,
        high: 1.03,
        label: "P(right) %".into(),
        unit: Unit::Percent,
        log: false,
    };
    Plot::new(area, x, y, &state.look.theme, state.look.marker, buffer)
}

/// Strokes that tell the marked curves apart without colour.
const STROKES: [Stroke; 3] = [Stroke::Solid, Stroke::Dashed, Stroke::Dotted];

/// Response curves of the marked items in one plot, and whose they are.
fn marked(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let Some(study) = &state.study else {
        return;
    };
    let height = area
        .height
        .saturating_sub(2 * state.marked.len() as u16 + 1)
        .clamp(7, 18);
    let place = Rect {
        height: height.min(area.height),
        ..area
    };
    let curves: Vec<Curve> = state.marked.iter().map(|m| m.2.clone()).collect();
    let mut plot = response_plot(state, &curves, place, buffer);
    let style = |k: usize| -> Style { theme.group(k) };
    for (k, (.., curve)) in state.marked.iter().enumerate() {
        plot.curve(
            &curve.line,
            style(k),
            1 + k as u8,
            STROKES[k % STROKES.len()],
        );
        // A glyph half way tells which is which where there is no colour.
        if let Some((x, y)) = curve.line.get(10 + 8 * k) {
            plot.glyph(*x, *y, glyph(state.look.marker, k, 1), style(k));
        }
    }
    plot.finish(buffer);
    let mut y = place.bottom() + 1;
    for (k, (scenario, item, _)) in state.marked.iter().enumerate() {
        if y + 1 >= area.bottom() {
            break;
        }
        let id = brief(study.item_id(*scenario, *item));
        let room = usize::from(area.width).saturating_sub(2);
        let parts = [
            (glyph(state.look.marker, k, 1), style(k)),
            (" ", theme.text),
            (&fit(&id, room), theme.text),
        ];
        pieces(buffer, area.x, y, area.right(), &parts);
        let shape = state.fit(*scenario).and_then(|f| f.shape(*item));
        if let Some(shape) = shape {
            let facts = format!(
                "  b {:+.2}, |a| {:.2}",
                shape.intercept, shape.discrimination
            );
            buffer.set_stringn(area.x, y + 1, facts, usize::from(area.width), theme.dim);
        }
        y += 2;
    }
}

/// An item's text with options and answer as one string; `None` where nothing is known of it.
fn whole_text(state: &State, scenario: usize, item: usize) -> Option<String> {
    let study = state.study.as_ref()?;
    let item = study.benchmark.texts.get(study.item_id(scenario, item))?;
    let mut whole = clean(&item.text);
    for (index, option) in item.options.iter().enumerate() {
        let letter = char::from(b'A' + (index % 26) as u8);
        whole.push_str(&format!("\n{letter}  {}", clean(option)));
    }
    if let Some(answer) = &item.answer {
        whole.push_str(&format!("\nAnswer: {}", clean(answer)));
    }
    Some(whole)
}

/// The item's text, options and answer, wrapped and scrolled.
pub(crate) fn text(state: &State, scenario: usize, item: usize, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    if area.is_empty() {
        return;
    }
    let Some(whole) = whole_text(state, scenario, item) else {
        let room = usize::from(area.width);
        let none = "no text of this item: give item_text in the manifest";
        for (line, text) in wrap(none, room)
            .iter()
            .enumerate()
            .take(usize::from(area.height))
        {
            buffer.set_stringn(area.x, area.y + line as u16, text, room, theme.dim);
        }
        return;
    };
    let paragraph = Paragraph::new(Text::styled(whole, theme.text)).wrap(Wrap { trim: false });
    // One line more than is shown says whether there is more.
    let rows = state.scroll.saturating_add(area.height + 1).min(MOST_LINES);
    let lines = lines_of(&paragraph, area.width, rows);
    let hidden = lines.saturating_sub(area.height);
    let from = state.scroll.min(hidden);
    paragraph.scroll((from, 0)).render(area, buffer);
    if hidden > 0 {
        let mark = if from < hidden {
            " J more "
        } else {
            " K back "
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
