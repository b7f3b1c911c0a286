//! Error against the number of items and against lambda.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::format::{left, percent, right, unit};
use super::frame::pieces;
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;
use tinyscope::experiment::Lambda;

use crate::tui::glyphs::Marker;
use crate::tui::state::{Shown, State};
use crate::tui::study::{Choice, metrics, scored};
use crate::tui::theme::Theme;

fn series(theme: &Theme, selection: SelectionKind) -> Style {
    match selection {
        SelectionKind::Random => theme.series[0],
        SelectionKind::AnchorsCorrectness => theme.series[1],
        SelectionKind::AnchorsIrt => theme.series[2],
    }
}

fn glyph(marker: Marker, selection: SelectionKind) -> &'static str {
    match (selection, marker) {
        (SelectionKind::Random, Marker::Ascii) => "o",
        (SelectionKind::AnchorsCorrectness, Marker::Ascii) => "x",
        (SelectionKind::AnchorsIrt, Marker::Ascii) => "@",
        (SelectionKind::Random, _) => "○",
        (SelectionKind::AnchorsCorrectness, _) => "■",
        (SelectionKind::AnchorsIrt, _) => "●",
    }
}

/// The mark of the current setting.
fn here(marker: Marker) -> &'static str {
    if marker == Marker::Ascii { "#" } else { "◆" }
}

fn stroke(estimator: Estimator) -> Stroke {
    match estimator {
        Estimator::Naive => Stroke::Dotted,
        Estimator::PIrt => Stroke::Dashed,
        Estimator::GpIrt => Stroke::Solid,
    }
}

/// (n, MAE) where it is known: the grid and the current n.
fn curve(
    state: &State,
    shown: &Shown,
    selection: SelectionKind,
    estimator: Estimator,
) -> Vec<(f64, f64)> {
    let mut ns = state.grid();
    ns.push(shown.setting.n);
    ns.sort_unstable();
    ns.dedup();
    let lambda = shown.setting.lambda;
    ns.into_iter()
        .filter_map(|n| {
            let m = state.metrics_of(shown.setting.scope, selection, n, estimator, lambda)?;
            Some((n as f64, m.mae?))
        })
        .collect()
}

/// Draws both plots, one above the other.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let upper = area.height * 11 / 20;
    against_n(
        state,
        shown,
        Rect {
            height: upper,
            ..area
        },
        buffer,
    );
    let lower = Rect {
        y: area.y + upper,
        height: area.height - upper,
        ..area
    };
    against_lambda(state, shown, lower, buffer);
}

fn against_n(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let n = shown.setting.n as f64;
    let mut curves = Vec::new();
    for selection in SelectionKind::ALL {
        for estimator in Estimator::ALL {
            curves.push((
                selection,
                estimator,
                curve(state, shown, selection, estimator),
            ));
        }
    }
    let values = curves.iter().flat_map(|c| c.2.iter().map(|p| p.1));
    let mut y = Axis::around(values.chain([0.0]), "MAE %", Unit::Percent);
    y.low = 0.0;
    let ends = state.grid().into_iter().map(|n| n as f64).chain([n, 0.0]);
    let mut x = Axis::around(ends, "n", Unit::Number);
    x.low = 0.0;
    let mut plot = Plot::new(area, x, y, theme, state.marker, buffer);
    plot.rule(n, theme.dim, buffer);
    // The chosen selection and estimator last, on the highest layer.
    let rank = |s: SelectionKind, e: Estimator| {
        u8::from(e == shown.setting.estimator) + 2 * u8::from(s == shown.setting.selection)
    };
    curves.sort_by_key(|c| rank(c.0, c.1));
    for (selection, estimator, points) in &curves {
        let layer = 1 + rank(*selection, *estimator);
        let mut style = series(theme, *selection);
        let mine = *estimator == shown.setting.estimator;
        if !mine {
            style = theme.fade(style);
        }
        let chosen = mine && *selection == shown.setting.selection;
        if chosen {
            style = style.add_modifier(Modifier::BOLD);
        }
        plot.curve(points, style, layer, stroke(*estimator));
        if mine {
            for (x, y) in points {
                plot.glyph(*x, *y, glyph(state.marker, *selection), style);
            }
        }
    }
    if let Some(mae) = shown.metrics.mae {
        plot.glyph(n, mae, here(state.marker), theme.accent);
    }
    plot.finish(buffer);
}

/// Values of lambda at which the curves are drawn.
const STEPS: u32 = 40;

fn against_lambda(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let scope = shown.setting.scope;
    let mut curves = Vec::new();
    for selection in SelectionKind::ALL {
        let cells = if selection == shown.setting.selection {
            Some(shown.cells.clone())
        } else {
            state.cells_of(scope, selection, shown.setting.n)
        };
        let Some(cells) = cells else {
            continue;
        };
        let points: Vec<(f64, f64)> = (0..=STEPS)
            .filter_map(|step| {
                let lambda = f64::from(step) / f64::from(STEPS);
                let scores = scored(&cells, Estimator::GpIrt, Lambda::Fixed(lambda));
                Some((lambda, metrics(&scores).mae?))
            })
            .collect();
        curves.push((selection, points));
    }
    let values = curves.iter().flat_map(|c| c.1.iter().map(|p| p.1));
    let mut y = Axis::around(values, "MAE %", Unit::Percent);
    y.low = y.low.max(0.0);
    let x = Axis {
        low: -0.02,
        high: 1.02,
        label: "λ".into(),
        unit: Unit::Number,
    };
    let mut plot = Plot::new(area, x, y, theme, state.marker, buffer);
    let auto = shown.paper_lambda;
    if let Some(auto) = auto {
        plot.rule(auto, theme.dim, buffer);
    }
    for (selection, points) in &curves {
        let chosen = *selection == shown.setting.selection;
        let style = series(theme, *selection);
        let style = if chosen {
            style.add_modifier(Modifier::BOLD)
        } else {
            style
        };
        plot.curve(points, style, 1 + u8::from(chosen), Stroke::Solid);
        // Without colour the marks tell the curves apart.
        for (x, y) in points.iter().step_by(STEPS as usize / 4) {
            plot.glyph(*x, *y, glyph(state.marker, *selection), style);
        }
    }
    let used = match shown.setting.estimator {
        Estimator::Naive => Some(1.0),
        Estimator::PIrt => Some(0.0),
        Estimator::GpIrt => match shown.setting.lambda {
            Lambda::Auto => auto,
            Lambda::Fixed(x) => Some(x),
        },
    };
    if let (Some(lambda), Some(mae)) = (used, shown.metrics.mae) {
        plot.glyph(lambda, mae, here(state.marker), theme.accent);
    }
    let paper = auto.and_then(|a| plot.top(a));
    let inner = plot.inner;
    plot.finish(buffer);
    // On the label row above the plot, so that no curve runs through the words.
    if let (Some((column, _)), Some(auto)) = (paper, auto) {
        let text = format!("paper's λ {}", unit(auto, 2));
        let width = text.chars().count() as u16;
        let start = column
            .saturating_sub(width / 2)
            .min(inner.right().saturating_sub(width));
        buffer.set_string(start.max(inner.x + 8), area.y, text, theme.dim);
    }
    let room = usize::from(inner.width);
    if room > 40 {
        let y = area.y;
        let note = "0 p-IRT … 1 naive";
        let at = inner.right().saturating_sub(note.chars().count() as u16);
        let free = paper.is_none_or(|(column, _)| column + 10 < at);
        if free {
            buffer.set_string(at, y, note, theme.dim);
        }
    }
}

/// The legend with the errors at the current n, and the n that each target needs.
pub(crate) fn legend(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(shown) = &state.shown else {
        return;
    };
    let theme = &state.theme;
    let setting = &shown.setting;
    let width = usize::from(area.width);
    let name = width.saturating_sub(21).clamp(8, 22);
    let wide = name >= 20;
    let mut y = area.y;
    let line = |y: &mut u16, parts: &[(&str, Style)], buffer: &mut Buffer| {
        if *y < area.bottom() {
            pieces(buffer, area.x, *y, area.right(), parts);
            *y += 1;
        }
    };
    let heading = left(&format!("MAE %, n = {}", setting.n), name);
    let columns: String = Estimator::ALL.iter().map(|e| right(e.label(), 7)).collect();
    line(
        &mut y,
        &[(&heading, theme.dim), (&columns, theme.dim)],
        buffer,
    );
    for selection in SelectionKind::ALL {
        let label = if wide {
            selection.label()
        } else {
            selection.short()
        };
        let label = left(&format!(" {label}"), name - 1);
        let style = series(theme, selection);
        let mut parts: Vec<(String, Style)> = vec![
            (glyph(state.marker, selection).to_string(), style),
            (
                label,
                if selection == setting.selection {
                    theme.text
                } else {
                    theme.dim
                },
            ),
        ];
        for estimator in Estimator::ALL {
            let m = state.metrics_of(
                setting.scope,
                selection,
                setting.n,
                estimator,
                setting.lambda,
            );
            let text = m.and_then(|m| m.mae).map_or("…".into(), |v| percent(v, 2));
            let chosen = selection == setting.selection && estimator == setting.estimator;
            let style = if chosen { theme.accent } else { theme.text };
            parts.push((right(&text, 7), style));
        }
        let parts: Vec<(&str, Style)> = parts.iter().map(|(t, s)| (t.as_str(), *s)).collect();
        line(&mut y, &parts, buffer);
    }
    let pattern = |e: Estimator| match (stroke(e), state.marker) {
        (Stroke::Solid, _) => "──────",
        (Stroke::Dashed, _) => "── ── ",
        (Stroke::Dotted, _) => "·  ·  ",
    };
    let patterns: String = Estimator::ALL
        .iter()
        .map(|e| format!(" {}", pattern(*e)))
        .collect();
    line(
        &mut y,
        &[(&left("line", name), theme.dim), (&patterns, theme.dim)],
        buffer,
    );
    y += 1;
    let current = format!(
        "{}, {}",
        setting.selection.label(),
        setting.estimator.label()
    );
    let ahead = left("n for MAE of", name);
    line(
        &mut y,
        &[(&ahead, theme.dim), ("    5 %    2 %    1 %", theme.dim)],
        buffer,
    );
    let rows = [
        (
            current.as_str(),
            setting.selection,
            setting.estimator,
            theme.accent,
        ),
        (
            "random, naive",
            SelectionKind::Random,
            Estimator::Naive,
            theme.text,
        ),
    ];
    for (label, selection, estimator, style) in rows {
        let points = curve(state, shown, selection, estimator);
        let label = if wide || selection == SelectionKind::Random {
            label.to_string()
        } else {
            estimator.label().to_string()
        };
        let needs: String = [0.05, 0.02, 0.01]
            .iter()
            .map(|&t| right(&needed(&points, t), 7))
            .collect();
        line(
            &mut y,
            &[(&left(&label, name), style), (&needs, style)],
            buffer,
        );
    }
    y += 1;
    let heading = left("gp-IRT, λ", (name + 21).saturating_sub(14));
    line(
        &mut y,
        &[(&heading, theme.dim), ("      λ  MAE %", theme.dim)],
        buffer,
    );
    for (label, lambda, mae) in lambdas(shown) {
        let label = left(label, (name + 21).saturating_sub(14));
        let numbers = format!(
            "{}{}",
            right(&unit(lambda, 2), 7),
            right(&percent(mae, 2), 7)
        );
        line(
            &mut y,
            &[(&label, theme.text), (&numbers, theme.text)],
            buffer,
        );
    }
}

/// The paper's lambda, the one in use, and the one that would have been best for these test models.
fn lambdas(shown: &Shown) -> Vec<(&'static str, f64, f64)> {
    let mae = |lambda: Lambda| metrics(&scored(&shown.cells, Estimator::GpIrt, lambda)).mae;
    let mut rows = Vec::new();
    if let (Some(lambda), Some(mae)) = (shown.paper_lambda, mae(Lambda::Auto)) {
        rows.push(("paper's", lambda, mae));
    }
    if let Lambda::Fixed(lambda) = shown.setting.lambda
        && let Some(mae) = mae(shown.setting.lambda)
    {
        rows.push(("by hand", lambda, mae));
    }
    let best = (0..=STEPS)
        .filter_map(|step| {
            let lambda = f64::from(step) / f64::from(STEPS);
            Some((lambda, mae(Lambda::Fixed(lambda))?))
        })
        .min_by(|p, q| p.1.total_cmp(&q.1));
    rows.extend(best.map(|(lambda, mae)| ("best in hindsight", lambda, mae)));
    rows
}

/// The n from which on a curve stays at the target or below, interpolated; `>200` where its end is above.
fn needed(points: &[(f64, f64)], target: f64) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return "…".into();
    };
    let Some(above) = points.iter().rposition(|p| p.1 > target) else {
        return format!("≤{:.0}", first.0);
    };
    let Some(&(n1, e1)) = points.get(above + 1) else {
        return format!(">{:.0}", last.0);
    };
    let (n0, e0) = points[above];
    let share = (e0 - target) / (e0 - e1);
    format!("{:.0}", (n0 + share * (n1 - n0)).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_items_are_interpolated_and_bounded() {
        let points = [(10.0, 0.06), (20.0, 0.04), (100.0, 0.015)];
        assert_eq!(needed(&points, 0.05), "15");
        assert_eq!(needed(&points, 0.01), ">100");
        assert_eq!(needed(&points, 0.07), "≤10");
        assert_eq!(needed(&[], 0.05), "…");
        // A curve that rises again has not met the target where it first did.
        let bumpy = [(10.0, 0.03), (20.0, 0.01), (30.0, 0.03), (40.0, 0.01)];
        assert_eq!(needed(&bumpy, 0.02), "35");
    }
}
