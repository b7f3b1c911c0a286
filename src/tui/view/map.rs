//! Items in the plane of their parameters, anchors marked.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use tinyscope::anchors::SelectionKind;

use super::format::{clean, fit, percent, unit};
use super::frame::{pieces, waiting, whole_pieces};
use super::plot::{Axis, Plot, Unit};
use crate::tui::glyphs::shape;
use crate::tui::state::{Axes, ColourBy, Scope, Shown, State};
use crate::tui::study::{Cell, FitShown};
use crate::tui::theme::Theme;

/// Axes that hold all anchors and all but the outermost half percent of the items on each side: a
/// few extreme items would squeeze the rest into a corner.
pub(crate) fn axes(axes: Axes, fitted: &FitShown, cell: &Cell) -> (Axis, Axis) {
    let xy = fitted.xy(axes);
    let axis = |d: usize| {
        let mut values: Vec<f64> = xy.iter().map(|p| p[d]).filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let cut = values.len() / 200;
        let kept = values.get(cut..values.len() - cut).unwrap_or(&[]);
        let ends = [kept.first(), kept.last()].into_iter().flatten().copied();
        let anchors = cell
            .selection
            .anchors
            .iter()
            .filter_map(|a| xy.get(a.item))
            .map(|p| p[d]);
        let label = match (axes, d) {
            (Axes::Components, _) => {
                let direction = direction(xy, &fitted.share, d);
                let spread = percent(fitted.spread[d], 0);
                format!("axis {}, {spread} % of variance{direction}", d + 1)
            }
            (Axes::Parameters, 0) => "difficulty b →".to_owned(),
            (Axes::Parameters, _) => "discrimination, first ability axis".to_owned(),
        };
        Axis::around(ends.chain(anchors), label, Unit::Bare)
    };
    (axis(0), axis(1))
}

/// What an axis means, where it goes with the share of models that are right.
fn direction(xy: &[[f64; 2]], share: &[f64], d: usize) -> &'static str {
    let pairs = || xy.iter().map(|p| p[d]).zip(share.iter().copied());
    let n = xy.len().min(share.len()) as f64;
    let mean = pairs().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs() {
        let (dx, dy) = (x - mean.0, y - mean.1);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    let correlation: f64 = xy / (xx * yy).sqrt();
    if correlation > 0.5 {
        if d == 0 {
            ", easier →"
        } else {
            ", easier ↑"
        }
    } else if correlation < -0.5 {
        if d == 0 {
            ", harder →"
        } else {
            ", harder ↑"
        }
    } else {
        ""
    }
}

/// The step of the ramp for a share of right models.
fn ramp(theme: &Theme, share: f64) -> Style {
    theme.ramp[((share * 5.0).floor().clamp(0.0, 4.0)) as usize]
}

/// The anchor (an index) that an item belongs to.
fn cluster_of(cell: &Cell, item: usize) -> Option<usize> {
    cell.selection.clusters.as_ref()?.get(item).copied()
}

/// Group of an item for colour and glyph.
fn group(state: &State, fitted: &FitShown, cell: &Cell, item: usize) -> usize {
    match state.colour_by {
        ColourBy::Cluster => cluster_of(cell, item).unwrap_or(0),
        ColourBy::SubScenario => fitted.sub.get(item).copied().unwrap_or(0),
        ColourBy::Share => (fitted.share.get(item).copied().unwrap_or(0.0) * 5.0)
            .floor()
            .clamp(0.0, 4.0) as usize,
    }
}

/// Draws the map of one scenario.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let Scope::One(scenario) = shown.setting.scope else {
        let text = "The map shows one scenario at a time: Tab chooses one.";
        let x = area.x + area.width.saturating_sub(text.len() as u16) / 2;
        let y = area.y + area.height / 2;
        buffer.set_stringn(x, y, text, usize::from(area.width), theme.dim);
        return;
    };
    let (Some(Some(fitted)), Some(cell)) = (state.fits.get(scenario), shown.cells.first()) else {
        waiting(state, area, buffer);
        return;
    };
    let (x_axis, y_axis) = axes(state.axes, fitted, cell);
    let plot_area = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    let mut plot = Plot::new(plot_area, x_axis, y_axis, theme, state.marker, buffer);
    items(state, fitted, cell, &mut plot);
    anchors(state, fitted, cell, &mut plot);
    plot.finish(buffer);
    legend(state, scenario, shown, area, buffer);
}

/// Every item a pixel. A character cell has one colour: that of most of its items.
fn items(state: &State, fitted: &FitShown, cell: &Cell, plot: &mut Plot) {
    let theme = &state.theme;
    let selected = cell.selection.anchors.get(state.anchor);
    let clustered = cell.selection.clusters.is_some();
    let mut votes: HashMap<(u16, u16), HashMap<usize, usize>> = HashMap::new();
    for (item, xy) in fitted.xy(state.axes).iter().enumerate() {
        if let Some(place) = plot.cell(xy[0], xy[1]) {
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
                ColourBy::Share => theme.ramp[group.min(4)],
                _ => theme.faded(group),
            };
            Some((place, style))
        })
        .collect();
    for (item, xy) in fitted.xy(state.axes).iter().enumerate() {
        let Some(style) = plot
            .cell(xy[0], xy[1])
            .and_then(|place| winners.get(&place))
        else {
            continue;
        };
        plot.point(xy[0], xy[1], *style, 1);
        let member =
            clustered && selected.is_some() && cluster_of(cell, item) == Some(state.anchor);
        if member {
            plot.point(xy[0], xy[1], theme.accent, 2);
        }
    }
}

/// Anchors above the items, heavier ones last, the selected one on top.
fn anchors(state: &State, fitted: &FitShown, cell: &Cell, plot: &mut Plot) {
    let theme = &state.theme;
    let mut order: Vec<usize> = (0..cell.selection.anchors.len()).collect();
    order.sort_by(|&p, &q| {
        cell.selection.anchors[p]
            .weight
            .total_cmp(&cell.selection.anchors[q].weight)
    });
    let mean = 1.0 / cell.selection.anchors.len().max(1) as f64;
    for index in order
        .into_iter()
        .filter(|&i| i != state.anchor)
        .chain([state.anchor])
    {
        let Some(anchor) = cell.selection.anchors.get(index) else {
            continue;
        };
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
        // Reversed, only a filled shape can be told.
        let tier = if index == state.anchor { 1 } else { tier };
        let symbol = shape(state.marker, group, tier);
        let style = match state.colour_by {
            _ if index == state.anchor => theme.anchor,
            ColourBy::Share => ramp(theme, fitted.share.get(anchor.item).copied().unwrap_or(0.0)),
            _ => theme.group(group),
        };
        plot.glyph(xy[0], xy[1], symbol, style);
    }
}

/// One row: what glyphs and colours mean.
fn legend(state: &State, scenario: usize, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let y = area.bottom().saturating_sub(1);
    let sizes = format!(
        "{} {} {} weight  ",
        shape(state.marker, 0, 0),
        shape(state.marker, 0, 1),
        shape(state.marker, 0, 2)
    );
    let mut x = whole_pieces(buffer, area.x, y, area.right(), &[(&sizes, theme.text)]);
    match state.colour_by {
        ColourBy::Cluster if shown.setting.selection == SelectionKind::Random => {
            whole_pieces(
                buffer,
                x,
                y,
                area.right(),
                &[("a random sample has no clusters", theme.dim)],
            );
        }
        ColourBy::Cluster => {
            whole_pieces(
                buffer,
                x,
                y,
                area.right(),
                &[
                    ("colour: cluster  ", theme.dim),
                    (".: selected", theme.accent),
                ],
            );
        }
        ColourBy::Share => {
            x = whole_pieces(buffer, x, y, area.right(), &[("models right: ", theme.dim)]);
            for (step, label) in ["0", "20", "40", "60", "80-100 %"].into_iter().enumerate() {
                let mark = format!("{} ", shape(state.marker, step, 1));
                x = whole_pieces(
                    buffer,
                    x,
                    y,
                    area.right(),
                    &[
                        (&mark, theme.ramp[step]),
                        (label, theme.dim),
                        (" ", theme.dim),
                    ],
                );
            }
        }
        ColourBy::SubScenario => {
            let Some(study) = &state.study else {
                return;
            };
            let subs = &study.scenario(scenario).subscenarios;
            for (index, sub) in subs.iter().enumerate() {
                let name = fit(&clean(&sub.name), 18);
                let more = format!("+{}", subs.len() - index);
                let needed = 3 + unicode_width::UnicodeWidthStr::width(name.as_str()) + 2;
                let last = index + 1 == subs.len();
                let keep = if last { 0 } else { more.len() };
                if usize::from(x) + needed + keep > usize::from(area.right()) {
                    pieces(buffer, x, y, area.right(), &[(&more, theme.dim)]);
                    return;
                }
                let mark = format!("{} ", shape(state.marker, index, 1));
                x = pieces(
                    buffer,
                    x,
                    y,
                    area.right(),
                    &[
                        (&mark, theme.group(index)),
                        (&name, theme.dim),
                        ("  ", theme.dim),
                    ],
                );
            }
        }
    }
}

/// Facts of the selected anchor in one line each, for the inspector.
pub(crate) fn facts(state: &State) -> Option<Vec<(String, String)>> {
    let (scenario, anchor) = state.selected_item()?;
    let fitted = state.fits.get(scenario)?.as_ref()?;
    let study = state.study.as_ref()?;
    let shown = state.shown.as_ref()?;
    let sub = fitted.sub.get(anchor.item).copied().unwrap_or(0);
    let subs = &study.scenario(scenario).subscenarios;
    let n = shown.cells.first().map_or(1, |c| c.selection.n()).max(1) as f64;
    let mut rows = Vec::new();
    if subs.len() > 1 {
        rows.push((
            "part".into(),
            subs.get(sub).map_or(String::new(), |s| clean(&s.name)),
        ));
    }
    let relative = format!(
        "{} ({:.1} x mean)",
        unit(anchor.weight, 4),
        anchor.weight * n
    );
    rows.push(("weight".into(), relative));
    let cluster = match shown.setting.selection {
        SelectionKind::Random => "none (random sample)".into(),
        _ => match shown
            .cells
            .first()
            .map_or(1, |c| c.selection.cluster_size(state.anchor))
        {
            1 => "1 item".into(),
            members => format!("{members} items"),
        },
    };
    let shape = fitted.shape(anchor.item)?;
    rows.push(("cluster".into(), cluster));
    let difficulty = if shape.difficulty.is_finite() {
        format!("{:+.2}", shape.difficulty)
    } else {
        "undefined".into()
    };
    rows.push(("difficulty".into(), difficulty));
    let sign = if shape.general < 0.0 {
        ", reversed"
    } else {
        ""
    };
    rows.push((
        "discrim.".into(),
        format!("{:.2}{sign}", shape.discrimination),
    ));
    let share = fitted.share.get(anchor.item).copied().unwrap_or(f64::NAN);
    rows.push(("right".into(), format!("{} % of models", percent(share, 0))));
    Some(rows)
}
