//! The items of a scenario: how difficult they are, which of them are anchors, and a table of all.

use std::cmp::Ordering;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::format::{brief, fit_end, left, percent, right, unit};
use super::frame::{pieces, waiting, whole_pieces};
use super::plot::{Axis, Plot, Unit};
use crate::tui::glyphs::Marker;
use crate::tui::state::{ItemSort, Scope, Shown, State};
use crate::tui::study::{Cell, Choice, FitShown};

/// Which items of the shown scenario the filter keeps; all where there is none.
pub(crate) fn matching(state: &State) -> Option<&[bool]> {
    let found = state.matches.as_ref()?;
    (Some(found.scenario) == state.scenario()).then_some(&*found.items)
}

/// Positions of the items of the table, in its order.
pub(crate) fn order(state: &State) -> Vec<usize> {
    let Some((scenario, shown)) = state.scenario().zip(state.shown.as_ref()) else {
        return Vec::new();
    };
    let (Some(fit), Some(cell), Some(study)) =
        (state.fit(scenario), shown.now.cell(), &state.study)
    else {
        return Vec::new();
    };
    let matches = matching(state);
    let kept = |item: &usize| {
        let part = state
            .part
            .is_none_or(|part| fit.sub.get(*item) == Some(&part));
        part && matches.is_none_or(|m| m.get(*item) == Some(&true))
    };
    let mut items: Vec<usize> = (0..fit.items.len()).filter(kept).collect();
    let weights = weights(cell, fit.items.len());
    let edits = state.edits(scenario);
    let edited =
        |item: usize| edits.is_some_and(|e| e.excluded.contains(&item) || e.forced.contains(&item));
    let value = |item: usize| -> f64 {
        match state.item_sort {
            // What was changed by hand stands before everything.
            ItemSort::Weight if edited(item) => f64::NEG_INFINITY,
            ItemSort::Weight => -weights[item],
            ItemSort::Difficulty => fit.parameters[item][0],
            ItemSort::Discrimination => -fit.shape(item).map_or(0.0, |shape| shape.discrimination),
            ItemSort::Share => -fit.share[item],
            ItemSort::Name => 0.0,
        }
    };
    if state.item_sort == ItemSort::Name {
        items.sort_by(|&p, &q| study.item_id(scenario, p).cmp(study.item_id(scenario, q)));
    } else {
        let mut keyed: Vec<(f64, usize)> = items.into_iter().map(|i| (value(i), i)).collect();
        keyed.sort_by(|p, q| match p.0.total_cmp(&q.0) {
            Ordering::Equal => p.1.cmp(&q.1),
            other => other,
        });
        items = keyed.into_iter().map(|k| k.1).collect();
    }
    items
}

/// Weight of every item; 0 where it is no anchor.
pub(crate) fn weights(cell: &Cell, items: usize) -> Vec<f64> {
    let mut weights = vec![0.0; items];
    for anchor in &cell.found.selection.anchors {
        if let Some(weight) = weights.get_mut(anchor.item) {
            *weight = anchor.weight;
        }
    }
    weights
}

/// Rows of the histogram.
fn upper(area: Rect) -> u16 {
    (area.height * 2 / 5).clamp(7, 18)
}

/// The first row of the table that is seen, of an order.
fn first_row(state: &State, order: &[usize], room: usize) -> usize {
    let at = state
        .item
        .and_then(|item| order.iter().position(|&o| o == item));
    at.unwrap_or(0)
        .saturating_sub(room / 2)
        .min(order.len().saturating_sub(room))
}

/// The item of the table at a row of the screen.
pub(crate) fn row_at(state: &State, area: Rect, y: u16) -> Option<usize> {
    let table = area.y + upper(area);
    let line = usize::from(y.checked_sub(table + 1)?);
    let room = usize::from(area.bottom().saturating_sub(table + 2));
    let order = order(state);
    let first = first_row(state, &order, room);
    order.get(first + line).copied().filter(|_| line < room)
}

/// Draws the histogram above the table.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let Scope::One(scenario) = shown.now.setting.scope else {
        super::one_scenario(state, "The items are those of", area, buffer);
        return;
    };
    let (Some(fit), Some(cell)) = (state.fit(scenario), shown.now.cell()) else {
        waiting(state, area, buffer);
        return;
    };
    let upper = upper(area);
    histogram(
        state,
        fit,
        cell,
        shown,
        Rect {
            height: upper,
            ..area
        },
        buffer,
    );
    let lower = Rect {
        y: area.y + upper,
        height: area.height.saturating_sub(upper),
        ..area
    };
    table(state, scenario, fit, cell, lower, buffer);
}

/// Shares of the items, of the anchors' weight and of the ghost's, in equal steps of difficulty.
struct Bins {
    low: f64,
    step: f64,
    items: Vec<f64>,
    anchors: Vec<f64>,
    ghost: Option<Vec<f64>>,
}

fn bins(fit: &FitShown, cell: &Cell, shown: &Shown, count: usize) -> Bins {
    let mut values: Vec<f64> = fit.parameters.iter().map(|p| p[0]).collect();
    values.sort_by(f64::total_cmp);
    // A few extreme items would squeeze the rest: they stand in the outermost bins.
    let cut = values.len() / 200;
    let low = values.get(cut).copied().unwrap_or(-1.0);
    let high = values.iter().rev().nth(cut).copied().unwrap_or(1.0);
    let (low, high) = if high > low {
        (low, high)
    } else {
        (low - 0.5, low + 0.5)
    };
    let step = (high - low) / count as f64;
    let bin = |item: usize| {
        let at = ((fit.parameters[item][0] - low) / step).floor();
        at.clamp(0.0, count as f64 - 1.0) as usize
    };
    let mut all = vec![0.0; count];
    for item in 0..fit.parameters.len() {
        all[bin(item)] += fit.fitted.balance.get(item).copied().unwrap_or(1.0);
    }
    let total: f64 = all.iter().sum();
    all.iter_mut().for_each(|b| *b /= total.max(1e-12));
    let weighted = |cell: &Cell| {
        let mut shares = vec![0.0; count];
        for anchor in &cell.found.selection.anchors {
            if anchor.item < fit.parameters.len() {
                shares[bin(anchor.item)] += anchor.weight;
            }
        }
        shares
    };
    Bins {
        low,
        step,
        items: all,
        anchors: weighted(cell),
        ghost: shown
            .ghost
            .as_ref()
            .and_then(|g| g.cell())
            .map(|c| weighted(c)),
    }
}

/// The histogram of difficulty: items as columns, the anchors' weight as a line.
pub(crate) fn histogram(
    state: &State,
    fit: &FitShown,
    cell: &Cell,
    shown: &Shown,
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = &state.look.theme;
    let width = (usize::from(area.width) / 22).clamp(4, 8);
    // A bin is a whole number of cells; how many cells there are, the plot itself knows.
    let cells = {
        let guess = Axis::around([0.0, 0.2], "share", Unit::Percent);
        let mut scratch = Buffer::empty(area);
        let marker = state.look.marker;
        let plot = Plot::new(area, guess.clone(), guess, theme, marker, &mut scratch);
        usize::from(plot.inner.width)
    };
    let count = (cells / width).max(4);
    let bins = bins(fit, cell, shown, count);
    let highest = bins.items.iter().chain(&bins.anchors).copied();
    let mut y = Axis::around(highest.chain([0.0]), "share of the score %", Unit::Percent);
    y.low = 0.0;
    let x = Axis {
        low: bins.low,
        high: bins.low + bins.step * cells.max(1) as f64 / width as f64,
        label: "difficulty b, harder →".into(),
        unit: Unit::Number,
        log: false,
    };
    let mut plot = Plot::new(area, x, y, theme, state.look.marker, buffer);
    plot.thick = u8::from(state.look.slide.is_some());
    // Bars side by side in whole cells: a cell has one colour.
    let cell_width = bins.step / width as f64;
    let bars = |plot: &mut Plot, shares: &[f64], from: usize, cells: usize, style: Style| {
        for (k, &share) in shares.iter().enumerate() {
            let left = bins.low + (k * width + from) as f64 * cell_width;
            let right = left + (cells as f64 - 0.3) * cell_width;
            plot.block((left + 0.1 * cell_width, right), (0.0, share), style, 1);
        }
    };
    let anchors = if bins.ghost.is_some() { 1 } else { 2 };
    bars(&mut plot, &bins.items, 0, width - 3, theme.item);
    bars(&mut plot, &bins.anchors, width - 3, anchors, theme.accent);
    if let Some(ghost) = &bins.ghost {
        bars(&mut plot, ghost, width - 2, 1, theme.ghost);
    }
    let inner = plot.inner;
    plot.finish(buffer);
    let ghost = if bins.ghost.is_some() {
        "  █ pinned"
    } else {
        ""
    };
    let parts = [
        ("█", theme.item),
        (" items  ", theme.dim),
        ("█", theme.accent),
        (" anchors by weight", theme.dim),
        (ghost, theme.ghost),
    ];
    let width: usize = parts.iter().map(|p| p.0.chars().count()).sum();
    let x = inner.right().saturating_sub(width as u16);
    if x > area.x + 22 {
        whole_pieces(buffer, x, area.y, area.right(), &parts);
    }
}

/// Marks of an item before its id: what a sceptic should know.
fn flag(state: &State, fit: &FitShown, item: usize) -> (&'static str, Style) {
    let theme = &state.look.theme;
    let ascii = state.look.marker == Marker::Ascii;
    if fit.constant.get(item).copied().unwrap_or(false) {
        ("=", theme.warn)
    } else if fit.reversed(item) {
        (if ascii { "v" } else { "▼" }, theme.bad)
    } else {
        (" ", theme.text)
    }
}

/// How an item takes part: as an anchor, kept out or always in by hand.
pub(crate) fn role(state: &State, scenario: usize, item: usize, weight: f64) -> &'static str {
    let edits = state.edits(scenario);
    if edits.is_some_and(|e| e.forced.contains(&item)) {
        "forced"
    } else if edits.is_some_and(|e| e.excluded.contains(&item)) {
        "excluded"
    } else if weight > 0.0 {
        "anchor"
    } else {
        ""
    }
}

fn table(
    state: &State,
    scenario: usize,
    fit: &FitShown,
    cell: &Cell,
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = &state.look.theme;
    let Some(study) = &state.study else {
        return;
    };
    let order = order(state);
    let weights = weights(cell, fit.items.len());
    let width = usize::from(area.width);
    let parts = study.scenario(scenario).subscenarios.len() > 1 && width >= 70;
    let part_width = if parts { 18 } else { 0 };
    let numbers = 7 + 7 + 7 + 9;
    let id_width = width.saturating_sub(numbers + part_width + 4).min(48);
    let star = |sort: ItemSort, text: &str| {
        let mark = if state.item_sort == sort { "↓" } else { "" };
        format!("{text}{mark}")
    };
    let heading = format!(
        "    {}{}{}{}{}{}",
        left(&star(ItemSort::Name, "item"), id_width),
        left(if parts { "part" } else { "" }, part_width),
        right(&star(ItemSort::Difficulty, "diff."), 7),
        right(&star(ItemSort::Discrimination, "discr."), 7),
        right(&star(ItemSort::Share, "right%"), 7),
        right(&star(ItemSort::Weight, "weight"), 9),
    );
    buffer.set_stringn(area.x, area.y, heading, width, theme.dim);
    let room = usize::from(area.height.saturating_sub(2));
    let first = first_row(state, &order, room);
    for (line, &item) in order.iter().skip(first).take(room).enumerate() {
        let y = area.y + 1 + line as u16;
        let here = state.item == Some(item);
        let (flag, flag_style) = flag(state, fit, item);
        let marked = state.marked.iter().position(|m| m.1 == item);
        let mark = match (here, marked) {
            (true, _) => "▸",
            (false, Some(_)) => "*",
            _ => " ",
        };
        let role = role(state, scenario, item, weights[item]);
        let text = match role {
            _ if here => theme.selected,
            "excluded" => theme.back,
            "" => theme.text,
            _ => theme.accent,
        };
        let shape = fit.shape(item);
        let part = fit
            .sub
            .get(item)
            .and_then(|&s| study.scenario(scenario).subscenarios.get(s));
        let part = part.map_or("", |p| p.name.as_str());
        let weight = match role {
            "excluded" => "out".to_owned(),
            "forced" if weights[item] > 0.0 => format!("!{}", unit(weights[item], 4)),
            _ if weights[item] > 0.0 => unit(weights[item], 4),
            _ => "·".to_owned(),
        };
        let row = format!(
            "{}{}{}{}{}{}",
            left(
                &fit_end(
                    &brief(study.item_id(scenario, item)),
                    id_width.saturating_sub(1)
                ),
                id_width
            ),
            left(&brief(part), part_width),
            right(&format!("{:.2}", fit.parameters[item][0]), 7),
            right(
                &shape.map_or("-".into(), |s| format!("{:.2}", s.discrimination)),
                7
            ),
            right(&percent(fit.share[item], 0), 7),
            right(&weight, 9),
        );
        pieces(
            buffer,
            area.x,
            y,
            area.right(),
            &[
                (mark, text),
                (" ", text),
                (flag, flag_style),
                (" ", text),
                (&row, text),
            ],
        );
    }
    let constant = order.iter().filter(|&&i| fit.constant[i]).count();
    let reversed = order
        .iter()
        .copied()
        .filter(|&i| fit.reversed(i) && !fit.constant[i])
        .count();
    let arrow = if state.look.marker == Marker::Ascii {
        "v"
    } else {
        "▼"
    };
    let shown = format!("{} of {} items", order.len(), fit.items.len());
    let constants = format!("= {constant} constant  ");
    let backwards = format!("{arrow} {reversed} reversed  ");
    let sorted = format!("  by {}  ", state.item_sort.label());
    whole_pieces(
        buffer,
        area.x,
        area.bottom().saturating_sub(1),
        area.right(),
        &[
            (&shown, theme.text),
            ("   ", theme.text),
            (&backwards, theme.bad),
            (&constants, theme.warn),
            (&sorted, theme.dim),
        ],
    );
}
