//! Error and rank correlation against the number of items, error against lambda.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::format::unit;
use super::frame::pieces;
use super::map::ghost_symbol;
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;
use tinyscope::experiment::Lambda;

use crate::tui::curves::{Curve, Point};
use crate::tui::glyphs::Marker;
use crate::tui::state::{Lower, Setting, Shown, State};
use crate::tui::study::{Choice, Measure, is_learned, scored};
use crate::tui::theme::Theme;

pub(crate) fn series(theme: &Theme, selection: SelectionKind) -> Style {
    match selection {
        SelectionKind::Random => theme.series[0],
        SelectionKind::AnchorsCorrectness => theme.series[1],
        SelectionKind::AnchorsIrt => theme.series[2],
    }
}

pub(crate) fn glyph(marker: Marker, selection: SelectionKind) -> &'static str {
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
pub(crate) fn here(marker: Marker) -> &'static str {
    if marker == Marker::Ascii { "#" } else { "◆" }
}

pub(crate) fn stroke(estimator: Estimator) -> Stroke {
    match estimator {
        Estimator::Naive => Stroke::Dotted,
        Estimator::PIrt => Stroke::Dashed,
        _ => Stroke::Solid,
    }
}

/// Wide enough for two plots side by side.
const TWO: u16 = 84;

/// Draws the error against n, and below it what there is room for.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let upper = area.height * 11 / 20;
    let top = Rect {
        height: upper,
        ..area
    };
    against_n(state, shown, Measure::Error, top, buffer);
    let lower = Rect {
        y: area.y + upper,
        height: area.height - upper,
        ..area
    };
    if area.width >= TWO {
        let half = area.width / 2;
        let left = Rect {
            width: half - 1,
            ..lower
        };
        let right = Rect {
            x: lower.x + half,
            width: lower.width - half,
            ..lower
        };
        against_lambda(state, shown, left, buffer);
        against_n(state, shown, Measure::Ranks, right, buffer);
    } else if state.lower == Lower::Lambda {
        against_lambda(state, shown, lower, buffer);
    } else {
        against_n(state, shown, Measure::Ranks, lower, buffer);
    }
}

fn means(points: &[Point]) -> Vec<(f64, f64)> {
    points.iter().map(|p| (p.n as f64, p.mean)).collect()
}

/// The axis of n over the grid and the setting.
fn n_axis(state: &State, n: usize) -> Axis {
    let ends = state.grid().into_iter().chain([n]).map(|n| n as f64);
    if state.log_n {
        Axis::log(ends, "n", Unit::Number)
    } else {
        let mut x = Axis::around(ends.chain([0.0]), "n", Unit::Number);
        x.low = 0.0;
        x
    }
}

/// Error or rank correlation against n: every selection and estimator, the chosen one with its band.
pub(crate) fn against_n(
    state: &State,
    shown: &Shown,
    measure: Measure,
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = &state.look.theme;
    let setting = &shown.now.setting;
    let n = setting.n as f64;
    // Seven estimators would be too many lines: the paper's, and the chosen one.
    let curves: Vec<&Curve> = state
        .all_curves(measure)
        .into_iter()
        .filter(|c| !is_learned(c.estimator) || c.estimator == setting.estimator)
        .collect();
    let ghost = shown.ghost.as_ref().map(|g| {
        let (selection, estimator) = (g.setting.selection, g.setting.estimator);
        (g, state.curve_of(selection, estimator, measure, &g.setting))
    });
    let rank = |c: &Curve| {
        u8::from(c.estimator == setting.estimator) + 2 * u8::from(c.selection == setting.selection)
    };
    let mut order = curves.clone();
    // The chosen selection and estimator last, on the highest layer.
    order.sort_by_key(|c| rank(c));
    let values = curves.iter().flat_map(|c| &c.points).map(|p| p.mean);
    let chosen = curves.iter().find(|c| rank(c) == 3);
    let band = chosen
        .iter()
        .flat_map(|c| &c.points)
        .flat_map(|p| [p.low, p.high]);
    // A curve that begins far above the others is cut off: it would press them to the ground.
    let most = match measure {
        Measure::Ranks => f64::INFINITY,
        Measure::Error => {
            let near = curves.iter().filter(|c| c.estimator == setting.estimator);
            let near = near.flat_map(|c| &c.points).map(|p| p.mean);
            let random = curves
                .iter()
                .find(|c| c.selection == SelectionKind::Random && c.estimator == Estimator::Naive);
            let random = random.and_then(|c| c.points.get(1)).map(|p| p.mean);
            let of_ghost = ghost.iter().flat_map(|g| &g.1.points).map(|p| p.mean);
            near.chain(random)
                .chain(of_ghost)
                .chain(band.clone())
                .fold(0.0, f64::max)
        }
    };
    let values: Vec<f64> = values.chain(band).filter(|v| *v <= most).collect();
    let seeds = chosen.map_or(0, |c| c.seeds);
    let over = match seeds {
        0 | 1 => format!("seed {}", setting.seed),
        seeds => {
            let mark = here(state.look.marker);
            format!(
                "mean and range of {seeds} seeds; {mark} seed {}",
                setting.seed
            )
        }
    };
    let y = match measure {
        Measure::Error => {
            let label = format!("MAE %, {over}");
            let mut y = Axis::around(values.into_iter().chain([0.0]), label, Unit::Percent);
            y.low = 0.0;
            y
        }
        Measure::Ranks => {
            let label = format!("Spearman, {over}");
            let mut y = Axis::around(values.into_iter().chain([1.0]), label, Unit::Number);
            y.high = 1.0;
            y
        }
    };
    let cost_row = state
        .cost
        .as_ref()
        .filter(|_| measure == Measure::Error && area.height >= 7);
    // Without the words beside it, the plot says itself which curve is which.
    let alone = state.look.size.0 < 100;
    let title = u16::from(state.look.slide.is_some());
    let plot_area = Rect {
        y: area.y + title,
        height: area
            .height
            .saturating_sub(u16::from(cost_row.is_some()) + title),
        ..area
    };
    let x = n_axis(state, setting.n);
    let x_ends = (x.low, x.high);
    let mut plot = Plot::new(plot_area, x, y, theme, state.look.marker, buffer).joined();
    plot.thick = u8::from(state.look.slide.is_some());
    plot.rule(n, theme.dim, buffer);
    if measure == Measure::Error {
        // The error whose n is told beside the plot.
        let across = [x_ends.0, x_ends.1].map(|x| (x, state.target));
        plot.curve(&across, theme.band, 0, Stroke::Dotted);
    }
    if let Some(chosen) = chosen.filter(|c| c.seeds > 1) {
        let band: Vec<(f64, f64, f64)> = chosen
            .points
            .iter()
            .map(|p| (p.n as f64, p.low, p.high))
            .collect();
        plot.band(&band, theme.fade(series(theme, chosen.selection)), 1);
    }
    for curve in order {
        let points = means(&curve.points);
        let mut style = series(theme, curve.selection);
        let mine = curve.estimator == setting.estimator;
        let random =
            curve.selection == SelectionKind::Random && curve.estimator == Estimator::Naive;
        if !mine && !random {
            // On a slide, one idea: the chosen estimator and the baseline.
            if state.look.slide.is_some() {
                continue;
            }
            style = theme.fade(style);
        }
        if rank(curve) == 3 {
            style = style.add_modifier(Modifier::BOLD);
        }
        plot.curve(&points, style, 2 + rank(curve), stroke(curve.estimator));
        if mine {
            for (x, y) in points {
                plot.glyph(x, y, glyph(state.look.marker, curve.selection), style);
            }
        }
    }
    if let Some((ghost, curve)) = &ghost {
        plot.curve(&means(&curve.points), theme.ghost, 7, Stroke::Dashed);
        if let Some(value) = measure.of(&ghost.scores) {
            let symbol = ghost_symbol(state.look.marker);
            plot.glyph(ghost.setting.n as f64, value, symbol, theme.ghost);
        }
    }
    if let Some(value) = measure.of(&shown.now.scores) {
        plot.glyph(n, value, here(state.look.marker), theme.accent);
    }
    if state.look.slide.is_some() || alone {
        legend(state, setting, measure == Measure::Error, area, buffer);
    }
    if let Some(cost) = cost_row {
        let y = plot_area.bottom();
        buffer.set_string(area.x, y, "cost", theme.dim);
        let mut free = plot.inner.x.max(area.x + 5);
        for n in state.grid() {
            let Some((x, _)) = plot.cell(n as f64, plot.bottom()) else {
                continue;
            };
            let text = cost.of(n as f64);
            let width = text.chars().count() as u16;
            let start = x.saturating_sub(width / 2).max(area.x);
            if start >= free && start + width <= area.right() {
                buffer.set_string(start, y, &text, theme.dim);
                free = start + width + 1;
            }
        }
    }
    plot.finish(buffer);
}

/// Which curve is which: on a slide in a row of its own, else at the right end of the label's row
/// where there is room and no words beside the plot.
fn legend(state: &State, setting: &Setting, naive: bool, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let slide = state.look.slide.is_some();
    let mut parts = Vec::new();
    for selection in SelectionKind::ALL {
        let mark = glyph(state.look.marker, selection);
        let label = if slide {
            selection.label()
        } else {
            selection.short()
        };
        parts.push((format!("{mark} {label}  "), series(theme, selection)));
    }
    if slide {
        let method = format!("({})   ", setting.estimator.label());
        parts.push((method, theme.dim));
        if naive && setting.estimator != Estimator::Naive {
            let style = series(theme, SelectionKind::Random);
            parts.push(("· · random, naive".to_owned(), style));
        }
    }
    let width: usize = parts.iter().map(|p| p.0.chars().count()).sum();
    let x = area.right().saturating_sub(width as u16);
    let parts: Vec<(&str, Style)> = parts.iter().map(|p| (p.0.as_str(), p.1)).collect();
    if slide || x > area.x + LABEL {
        let x = if slide { area.x } else { x };
        pieces(buffer, x, area.y, area.right(), &parts);
    }
}

/// Columns that the labels of these plots take.
const LABEL: u16 = 48;

/// Values of lambda at which the curves are drawn.
pub(crate) const STEPS: u32 = 40;

/// (lambda, MAE) of gp-IRT on the cells of a setting.
pub(crate) fn lambda_curve(state: &State, setting: &Setting) -> Vec<(f64, f64)> {
    let Some(cells) = state.cells_of(setting) else {
        return Vec::new();
    };
    let steps = (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let error = |lambda| {
        let scores = scored(&cells, Estimator::GpIrt, Lambda::Fixed(lambda));
        Some((lambda, Measure::Error.of(&scores)?))
    };
    steps.filter_map(error).collect()
}

/// Error of gp-IRT against lambda, with the paper's lambda.
pub(crate) fn against_lambda(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let setting = &shown.now.setting;
    let curves: Vec<(SelectionKind, Vec<(f64, f64)>)> = SelectionKind::ALL
        .into_iter()
        .map(|selection| {
            let setting = Setting {
                selection,
                ..setting.clone()
            };
            (selection, lambda_curve(state, &setting))
        })
        .collect();
    let ghost = shown
        .ghost
        .as_ref()
        .map(|g| (g, lambda_curve(state, &g.setting)));
    let values = curves.iter().flat_map(|c| &c.1).map(|p| p.1);
    let of_ghost = ghost.iter().flat_map(|g| &g.1).map(|p| p.1);
    let label = format!("MAE %, gp-IRT, n = {}", setting.n);
    let label_width = label.chars().count() as u16;
    let mut y = Axis::around(values.chain(of_ghost), label, Unit::Percent);
    y.low = y.low.max(0.0);
    let x = Axis {
        low: -0.02,
        high: 1.02,
        label: "λ".into(),
        unit: Unit::Number,
        log: false,
    };
    let title = u16::from(state.look.slide.is_some());
    let plot_area = Rect {
        y: area.y + title,
        height: area.height.saturating_sub(title),
        ..area
    };
    if title > 0 {
        legend(state, setting, false, area, buffer);
    }
    let mut plot = Plot::new(plot_area, x, y, theme, state.look.marker, buffer).joined();
    plot.thick = u8::from(state.look.slide.is_some());
    let auto = shown.now.paper_lambda;
    if let Some(auto) = auto {
        plot.rule(auto, theme.dim, buffer);
    }
    if let Some((ghost, points)) = &ghost {
        plot.curve(points, theme.ghost, 1, Stroke::Dashed);
        if let (Some(lambda), Some(mae)) = (ghost.lambda(), ghost.metrics.mae) {
            plot.glyph(lambda, mae, ghost_symbol(state.look.marker), theme.ghost);
        }
    }
    for (selection, points) in &curves {
        let chosen = *selection == setting.selection;
        let style = series(theme, *selection);
        let style = if chosen {
            style.add_modifier(Modifier::BOLD)
        } else {
            style
        };
        plot.curve(points, style, 2 + u8::from(chosen), Stroke::Solid);
        // Without colour the marks tell the curves apart.
        for (x, y) in points.iter().step_by(STEPS as usize / 4) {
            plot.glyph(*x, *y, glyph(state.look.marker, *selection), style);
        }
    }
    if let (Some(lambda), Some(mae)) = (shown.now.lambda(), shown.now.metrics.mae) {
        plot.glyph(lambda, mae, here(state.look.marker), theme.accent);
    }
    let paper = auto.and_then(|a| plot.top(a));
    let inner = plot.inner;
    plot.finish(buffer);
    // On the row of the axis, so that no curve runs through the words.
    let row = inner.bottom();
    let ends = ["p-IRT", "naive"];
    if inner.width > 40 {
        let style = theme.dim;
        buffer.set_string(inner.x + 2, row, format!(" {} ", ends[0]), style);
        let at = inner.right().saturating_sub(9);
        buffer.set_string(at, row, format!(" {} ", ends[1]), style);
    }
    if let (Some((column, _)), Some(auto)) = (paper, auto) {
        let text = format!("paper's λ {}", unit(auto, 2));
        let width = text.chars().count() as u16;
        let most = inner.right().saturating_sub(width);
        let least = (area.x + label_width + 2).min(most);
        let start = column.saturating_sub(width / 2).clamp(least, most);
        if area.width > width + label_width + 2 {
            buffer.set_string(start, plot_area.y, text, theme.dim);
        }
    }
}

/// The paper's lambda, the one in use, and the one that would have been best for these test models.
pub(crate) fn lambdas(shown: &Shown) -> Vec<(&'static str, f64, f64)> {
    let error =
        |lambda: Lambda| Measure::Error.of(&scored(&shown.now.cells, Estimator::GpIrt, lambda));
    let mut rows = Vec::new();
    if let (Some(lambda), Some(mae)) = (shown.now.paper_lambda, error(Lambda::Auto)) {
        rows.push(("paper's", lambda, mae));
    }
    if let Lambda::Fixed(lambda) = shown.now.setting.lambda
        && let Some(mae) = error(shown.now.setting.lambda)
    {
        rows.push(("by hand", lambda, mae));
    }
    let best = (0..=STEPS)
        .filter_map(|step| {
            let lambda = f64::from(step) / f64::from(STEPS);
            Some((lambda, error(Lambda::Fixed(lambda))?))
        })
        .min_by(|p, q| p.1.total_cmp(&q.1));
    rows.extend(best.map(|(lambda, mae)| ("best in hindsight", lambda, mae)));
    rows
}
