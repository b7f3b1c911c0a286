//! Items in the plane of their parameters, anchors marked.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::format::percent;
use super::frame::waiting;
use super::legend;
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use crate::tui::glyphs::{Marker, shape};
use crate::tui::state::{Axes, ColourBy, Scope, Shown, State};
use crate::tui::study::{Cell, FitShown};

/// Axes of the whole map: they hold all anchors and all but the outermost half percent of the items
/// on each side, because a few extreme items would squeeze the rest into a corner.
fn whole(axes: Axes, fitted: &FitShown, cell: &Cell) -> (Axis, Axis) {
    let xy = fitted.xy(axes);
    let axis = |d: usize| {
        let mut values: Vec<f64> = xy.iter().map(|p| p[d]).filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let cut = values.len() / 200;
        let kept = values.get(cut..values.len() - cut).unwrap_or(&[]);
        let ends = [kept.first(), kept.last()].into_iter().flatten().copied();
        let anchors = &cell.found.selection.anchors;
        let anchors = anchors.iter().filter_map(|a| xy.get(a.item)).map(|p| p[d]);
        let (label, unit) = match (axes, d) {
            (Axes::Components | Axes::Correctness, _) => {
                let spread = match axes {
                    Axes::Components => fitted.spread[d],
                    _ => fitted.correctness_spread[d],
                };
                let direction = direction(xy, &fitted.share, d);
                let spread = percent(spread, 0);
                (
                    format!("component {}, {spread} % of variance{direction}", d + 1),
                    Unit::Bare,
                )
            }
            (Axes::Parameters, 0) => ("difficulty b, harder →".to_owned(), Unit::Number),
            (Axes::Parameters, _) => ("discrimination a, first axis ↑".to_owned(), Unit::Number),
        };
        Axis::around(ends.chain(anchors), label, unit)
    };
    (axis(0), axis(1))
}

/// The axes of what is seen.
pub(crate) fn axes(state: &State, fitted: &FitShown, cell: &Cell) -> (Axis, Axis) {
    let (mut x, mut y) = whole(state.axes, fitted, cell);
    let zoom = state.zoom;
    (x.low, x.high) = zoom.stretch(x.low, x.high, zoom.x);
    (y.low, y.high) = zoom.stretch(y.low, y.high, zoom.y);
    if zoom.factor > 1.0 {
        y.label = format!("{}  (×{:.1})", y.label, zoom.factor);
    }
    (x, y)
}

/// Where the selected item stands, as shares of the whole map.
pub(crate) fn selected_share(state: &State) -> Option<(f64, f64)> {
    let (scenario, item) = state.selected_item()?;
    let fitted = state.fit(scenario)?;
    let cell = state.shown.as_ref()?.now.cell()?;
    let (x, y) = whole(state.axes, fitted, cell);
    let xy = fitted.xy(state.axes).get(item)?;
    Some((x.share(xy[0]), y.share(xy[1])))
}

/// Moves what is seen so that the selected item is on it.
pub(crate) fn follow(state: &mut State) {
    let Some((x, y)) = selected_share(state).filter(|_| state.zoom.factor > 1.0) else {
        return;
    };
    let half = 0.5 / state.zoom.factor;
    let away = |at: f64, centre: f64| match at - centre {
        d if d > half => (d - half) * state.zoom.factor + 0.1,
        d if d < -half => (d + half) * state.zoom.factor - 0.1,
        _ => 0.0,
    };
    let (dx, dy) = (away(x, state.zoom.x), away(y, state.zoom.y));
    state.zoom = state.zoom.moved(dx, dy);
}

/// What an axis means, where it goes with the share of models that are right.
fn direction(xy: &[[f64; 2]], share: &[f64], d: usize) -> &'static str {
    let pairs = || {
        let pairs = xy.iter().map(|p| p[d]).zip(share.iter().copied());
        pairs.filter(|p| p.1.is_finite())
    };
    let n = pairs().count() as f64;
    let mean = pairs().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs() {
        let (dx, dy) = (x - mean.0, y - mean.1);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    let correlation: f64 = xy / (xx * yy).sqrt();
    match (correlation, d) {
        (c, 0) if c > 0.5 => ", easier →",
        (c, _) if c > 0.5 => ", easier ↑",
        (c, 0) if c < -0.5 => ", harder →",
        (c, _) if c < -0.5 => ", harder ↑",
        _ => "",
    }
}

/// The anchor (an index) that an item belongs to.
fn cluster_of(cell: &Cell, item: usize) -> Option<usize> {
    let clusters = cell.found.selection.clusters.as_ref()?;
    clusters.get(item).copied()
}

/// Group of an item for colour and glyph.
fn group(state: &State, fitted: &FitShown, cell: &Cell, item: usize) -> usize {
    match state.colour_by {
        ColourBy::Cluster => cluster_of(cell, item).unwrap_or(0),
        ColourBy::SubScenario => fitted.sub.get(item).copied().unwrap_or(0),
        // The ramp goes from hard to easy in both.
        ColourBy::Difficulty => 4 - fitted.fifth.get(item).copied().unwrap_or(0).min(4),
        ColourBy::Share => (fitted.share.get(item).copied().unwrap_or(0.0) * 5.0)
            .floor()
            .clamp(0.0, 4.0) as usize,
    }
}

fn ramped(colour_by: ColourBy) -> bool {
    matches!(colour_by, ColourBy::Difficulty | ColourBy::Share)
}

/// The plot of a map, with its axes drawn.
fn plot(state: &State, fitted: &FitShown, cell: &Cell, area: Rect, buffer: &mut Buffer) -> Plot {
    let (x_axis, y_axis) = axes(state, fitted, cell);
    let (theme, marker) = (&state.look.theme, state.look.marker);
    Plot::new(area, x_axis, y_axis, theme, marker, buffer)
}

/// The map's plot without drawing it: to know where a click is.
pub(crate) fn geometry(state: &State, area: Rect) -> Option<(Plot, &FitShown)> {
    let scenario = state.scenario()?;
    let fitted = state.fit(scenario)?;
    let cell = state.shown.as_ref()?.now.cell()?;
    let mut scratch = Buffer::empty(area);
    Some((
        plot(state, fitted, cell, above_legend(area), &mut scratch),
        fitted,
    ))
}

/// The shares of the whole map that a cell of the screen stands for.
pub(crate) fn share_at(state: &State, area: Rect, x: u16, y: u16) -> Option<(f64, f64)> {
    let (plot, fitted) = geometry(state, area)?;
    let (x, y) = plot.data(x, y)?;
    let cell = state.shown.as_ref()?.now.cell()?;
    let (x_axis, y_axis) = whole(state.axes, fitted, cell);
    Some((x_axis.share(x), y_axis.share(y)))
}

/// The area without the row of the legend.
fn above_legend(area: Rect) -> Rect {
    Rect {
        height: area.height.saturating_sub(1),
        ..area
    }
}

/// Draws the map of one scenario.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let Scope::One(scenario) = shown.now.setting.scope else {
        super::one_scenario(state, "The map shows", area, buffer);
        return;
    };
    let (Some(fitted), Some(cell)) = (state.fit(scenario), shown.now.cell()) else {
        waiting(state, area, buffer);
        return;
    };
    picture(state, fitted, cell, shown, above_legend(area), buffer);
    legend::draw(state, scenario, shown, cell, area, buffer);
}

/// Items, anchors, lines and ghost, without a legend.
pub(crate) fn picture(
    state: &State,
    fitted: &FitShown,
    cell: &Cell,
    shown: &Shown,
    area: Rect,
    buffer: &mut Buffer,
) {
    let mut plot = plot(state, fitted, cell, area, buffer);
    let large = state.look.slide.is_some();
    plot.thick = u8::from(large);
    if state.layers.items {
        items(state, fitted, cell, &mut plot);
    }
    if state.layers.lines {
        lines(state, fitted, cell, &mut plot);
    }
    if let Some(ghost) = shown.ghost.as_ref().and_then(|g| g.cell()) {
        let symbol = ghost_symbol(state.look.marker);
        for anchor in &ghost.found.selection.anchors {
            if let Some(xy) = fitted.xy(state.axes).get(anchor.item) {
                plot.glyph(xy[0], xy[1], symbol, state.look.theme.ghost);
            }
        }
    }
    if state.layers.anchors {
        anchors(state, fitted, cell, &mut plot, large);
    }
    cursor(state, fitted, cell, &mut plot);
    plot.finish(buffer);
}

/// The mark of pinned anchors and models.
pub(crate) fn ghost_symbol(marker: Marker) -> &'static str {
    if marker == Marker::Ascii { "%" } else { "◇" }
}

/// Items that the filter or the sub-scenario leaves out stand back.
fn stands_out(state: &State, fitted: &FitShown, matches: Option<&[bool]>, item: usize) -> bool {
    let part = state
        .part
        .is_none_or(|part| fitted.sub.get(item) == Some(&part));
    part && matches.is_none_or(|m| m.get(item).copied().unwrap_or(false))
}

/// Every item a pixel. A character cell has one colour: that of most of its items.
fn items(state: &State, fitted: &FitShown, cell: &Cell, plot: &mut Plot) {
    let theme = &state.look.theme;
    let xy = fitted.xy(state.axes);
    let clustered = cell.found.selection.clusters.is_some();
    let matches = super::items::matching(state);
    let out = |item: usize| stands_out(state, fitted, matches, item);
    let mut votes: HashMap<(u16, u16), HashMap<usize, usize>> = HashMap::new();
    for (item, p) in xy.iter().enumerate().filter(|(item, _)| out(*item)) {
        if let Some(place) = plot.cell(p[0], p[1]) {
            let group = group(state, fitted, cell, item);
            *votes.entry(place).or_default().entry(group).or_default() += 1;
        }
    }
    let plain = state.colour_by == ColourBy::Cluster && !clustered;
    let winners: HashMap<(u16, u16), Style> = votes
        .into_iter()
        .filter_map(|(place, groups)| {
            // The smaller group at a tie, whatever the order of the map.
            let group = groups
                .into_iter()
                .max_by_key(|&(g, n)| (n, std::cmp::Reverse(g)))?
                .0;
            let style = match state.colour_by {
                _ if plain => theme.item,
                by if ramped(by) => theme.ramp[group.min(4)],
                _ => theme.faded(group),
            };
            Some((place, style))
        })
        .collect();
    let selected = state.item.and_then(|item| cluster_of(cell, item));
    let narrowed = state.part.is_some() || matches.is_some();
    for (item, p) in xy.iter().enumerate() {
        let Some(place) = plot.cell(p[0], p[1]) else {
            continue;
        };
        if !out(item) {
            plot.point(p[0], p[1], theme.back, 1);
            continue;
        }
        let style = winners.get(&place).copied().unwrap_or(theme.item);
        plot.point(p[0], p[1], style, if narrowed { 2 } else { 1 });
        let member = selected.is_some() && cluster_of(cell, item) == selected;
        if member && !narrowed && state.look.slide.is_none() {
            plot.point(p[0], p[1], theme.accent, 3);
        }
    }
}

/// Lines from the anchors to the items of their clusters: of the selected item's cluster, or of all
/// where the map shows few items.
fn lines(state: &State, fitted: &FitShown, cell: &Cell, plot: &mut Plot) {
    let theme = &state.look.theme;
    let xy = fitted.xy(state.axes);
    let selected = state.item.and_then(|item| cluster_of(cell, item));
    for (item, p) in xy.iter().enumerate() {
        let Some(cluster) = cluster_of(cell, item) else {
            continue;
        };
        let Some(anchor) = cell.found.selection.anchors.get(cluster) else {
            continue;
        };
        let Some(q) = xy.get(anchor.item).filter(|_| anchor.item != item) else {
            continue;
        };
        let here = selected == Some(cluster);
        let (style, layer) = if here {
            (theme.accent, 3)
        } else {
            (theme.faded(cluster), 1)
        };
        plot.curve(&[(q[0], q[1]), (p[0], p[1])], style, layer, Stroke::Solid);
    }
}

/// Anchors above the items, heavier ones last.
fn anchors(state: &State, fitted: &FitShown, cell: &Cell, plot: &mut Plot, large: bool) {
    let theme = &state.look.theme;
    let anchors = &cell.found.selection.anchors;
    let mut order: Vec<usize> = (0..anchors.len()).collect();
    order.sort_by(|&p, &q| anchors[p].weight.total_cmp(&anchors[q].weight));
    let mean = 1.0 / anchors.len().max(1) as f64;
    let matches = super::items::matching(state);
    for index in order {
        let anchor = anchors[index];
        let Some(xy) = fitted.xy(state.axes).get(anchor.item) else {
            continue;
        };
        let group = match state.colour_by {
            ColourBy::Cluster => index,
            _ => group(state, fitted, cell, anchor.item),
        };
        let tier = match anchor.weight / mean {
            w if w < 0.7 => 0,
            w if w < 1.8 => 1,
            _ => 2,
        };
        let style = if !stands_out(state, fitted, matches, anchor.item) {
            theme.back
        } else if ramped(state.colour_by) {
            theme.ramp[group.min(4)]
        } else {
            theme.group(group)
        };
        if large {
            let radius = 0.4 + 0.22 * tier as f64;
            plot.disc(xy[0], xy[1], radius, style, 2 + tier as u8);
        } else {
            plot.glyph(xy[0], xy[1], shape(state.look.marker, group, tier), style);
        }
    }
}

/// The selected item on top of everything; on a slide there is none.
fn cursor(state: &State, fitted: &FitShown, cell: &Cell, plot: &mut Plot) {
    let Some(item) = state.item.filter(|_| state.look.slide.is_none()) else {
        return;
    };
    let Some(xy) = fitted.xy(state.axes).get(item) else {
        return;
    };
    let anchors = &cell.found.selection.anchors;
    let anchor = anchors.iter().position(|a| a.item == item);
    // Reversed, only a filled shape can be told.
    let symbol = match anchor {
        Some(index) => {
            let group = match state.colour_by {
                ColourBy::Cluster => index,
                _ => group(state, fitted, cell, item),
            };
            shape(state.look.marker, group, 1)
        }
        None => "+",
    };
    plot.glyph(xy[0], xy[1], symbol, state.look.theme.anchor);
}
