//! Sliders, choices and measures: always visible.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::Parts;
use super::format::{left, percent, right, signed, unit};
use super::frame::{over, pieces};
use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{Lambda, Metrics};

use crate::tui::state::State;
use crate::tui::study::Choice;

/// Draws the panel below the view.
pub(crate) fn draw(state: &State, parts: &Parts, buffer: &mut Buffer) {
    let area = parts.setting;
    let theme = &state.theme;
    buffer.set_string(
        area.x,
        area.y,
        "─".repeat(usize::from(area.width)),
        theme.border,
    );
    let split = if area.width >= 110 {
        area.width * 3 / 8
    } else {
        36
    };
    for part in [parts.view, parts.inspector] {
        if part.width > 0 && part.x > area.x {
            buffer.set_string(part.x, area.y, "┴", theme.border);
        }
    }
    let meets = [parts.view.x, parts.inspector.x].contains(&(area.x + split));
    buffer.set_string(
        area.x + split,
        area.y,
        if meets { "┼" } else { "┬" },
        theme.border,
    );
    for y in area.y + 1..area.bottom() {
        buffer.set_string(area.x + split, y, "│", theme.border);
    }
    sliders(
        state,
        Rect {
            width: split,
            ..area
        },
        buffer,
    );
    measures(
        state,
        Rect {
            x: area.x + split + 1,
            width: area.width - split - 1,
            ..area
        },
        buffer,
    );
}

fn sliders(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let setting = &state.setting;
    let largest = state.largest_n();
    // On a logarithmic scale: ten more matter at 20, not at 2,000.
    let share = if largest > 1 {
        (setting.n as f64).ln() / (largest as f64).ln()
    } else {
        1.0
    };
    let end = right(&largest.to_string(), 6);
    slider(
        state,
        area,
        1,
        ("n", &setting.n.to_string(), &end),
        Some(share),
        buffer,
    );
    let auto = state.shown.as_ref().and_then(|s| s.paper_lambda);
    let used = match setting.estimator {
        Estimator::Naive => Some(1.0),
        Estimator::PIrt => Some(0.0),
        Estimator::GpIrt => match (setting.lambda, auto) {
            (Lambda::Auto, auto) => auto,
            (Lambda::Fixed(x), _) => Some(x),
        },
    };
    let value = used.map_or("…".into(), |l| unit(l, 2));
    let value = match (setting.estimator, setting.lambda) {
        (Estimator::GpIrt, Lambda::Auto) => format!("auto {value}"),
        _ => value,
    };
    slider(state, area, 2, ("λ", &value, "     1"), used, buffer);
    let narrow = area.width < 44;
    let selection = if narrow {
        setting.selection.short()
    } else {
        setting.selection.label()
    };
    pieces(
        buffer,
        area.x + 1,
        area.y + 3,
        area.right(),
        &[
            ("items ", theme.dim),
            (selection, theme.accent),
            ("   estimator ", theme.dim),
            (setting.estimator.label(), theme.accent),
        ],
    );
}

fn slider(
    state: &State,
    area: Rect,
    row: u16,
    (name, value, end): (&str, &str, &str),
    share: Option<f64>,
    buffer: &mut Buffer,
) {
    let theme = &state.theme;
    let y = area.y + row;
    let x = pieces(
        buffer,
        area.x + 1,
        y,
        area.right(),
        &[
            (name, theme.title),
            (" ", theme.text),
            (&right(value, 9), theme.accent),
            (" ├", theme.border),
        ],
    );
    let stop = area.right().saturating_sub(end.width() as u16 + 2);
    let length = stop.saturating_sub(x);
    let at =
        share.map(|s| (s.clamp(0.0, 1.0) * f64::from(length.saturating_sub(1))).round() as u16);
    for step in 0..length {
        let (symbol, style) = match at {
            Some(at) if step == at => ("●", theme.accent),
            Some(at) if step < at => ("━", theme.slider),
            _ => ("─", theme.border),
        };
        buffer.set_string(x + step, y, symbol, style);
    }
    pieces(
        buffer,
        stop,
        y,
        area.right(),
        &[("┤", theme.border), (end, theme.dim)],
    );
}

/// Columns of the table of measures: heading, and the value of a row.
type Column = (&'static str, fn(&Metrics) -> Option<String>);

const COLUMNS: [Column; 6] = [
    ("MAE %", |m| m.mae.map(|v| percent(v, 2))),
    ("largest %", |m| m.max_error.map(|v| percent(v, 1))),
    ("Spearman", |m| m.spearman.map(|v| unit(v, 3))),
    ("Kendall", |m| m.kendall.map(|v| unit(v, 3))),
    ("RMSE %", |m| m.rmse.map(|v| percent(v, 2))),
    ("bias %", |m| m.bias.map(|v| signed(v, 2))),
];

fn measures(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let Some(shown) = &state.shown else {
        return;
    };
    let wide = area.width >= 66;
    let name_width = if wide { 20 } else { 8 };
    let mut x = area.x + 1 + name_width as u16;
    let setting = &shown.setting;
    let name = match setting.selection {
        SelectionKind::AnchorsIrt => setting.selection.label(),
        other => other.short(),
    };
    let current = if wide {
        format!("{}, {}", name, setting.estimator.label())
    } else {
        setting.estimator.label().to_string()
    };
    let baseline = if wide { "random, naive" } else { "random" };
    let strong = if shown.fresh { theme.accent } else { theme.dim };
    buffer.set_string(area.x + 1, area.y + 1, left(&current, name_width), strong);
    buffer.set_string(
        area.x + 1,
        area.y + 2,
        left(baseline, name_width),
        theme.dim,
    );
    // The headings stand in the line above, free of it.
    let headings = usize::from(area.right().saturating_sub(x));
    over(buffer, x, area.y, &" ".repeat(headings), theme.dim);
    for (heading, value) in COLUMNS {
        let width = heading.width() + if wide { 2 } else { 1 };
        if x + width as u16 > area.right() {
            break;
        }
        buffer.set_string(x, area.y, right(heading, width), theme.dim);
        let text = value(&shown.metrics).unwrap_or_else(|| "undef.".into());
        buffer.set_string(x, area.y + 1, right(&text, width), strong);
        let other = match &shown.baseline {
            Some(metrics) => value(metrics).unwrap_or_else(|| "undef.".into()),
            None => "…".into(),
        };
        buffer.set_string(x, area.y + 2, right(&other, width), theme.dim);
        x += width as u16;
    }
    let sentence = sentence(state);
    let room = usize::from(area.width.saturating_sub(2));
    buffer.set_stringn(area.x + 1, area.y + 3, sentence, room, theme.text);
}

/// The comparison in words.
fn sentence(state: &State) -> String {
    let Some(shown) = &state.shown else {
        return String::new();
    };
    if !shown.fresh {
        return "the numbers are of the last setting; new ones are coming".into();
    }
    let models = shown.metrics.models;
    let Some((mine, other)) = shown
        .metrics
        .mae
        .zip(shown.baseline.as_ref().and_then(|b| b.mae))
    else {
        return format!("over {models} test models");
    };
    let narrow = state.size.0 < 110;
    if mine <= 0.0 || other <= 0.0 {
        return format!("over {models} test models");
    }
    let ratio = other / mine;
    let models = if narrow {
        String::new()
    } else {
        format!(" over {models} test models")
    };
    if (ratio - 1.0).abs() < 0.05 {
        format!(
            "about as exact as random sampling at n = {}{models}",
            shown.setting.n
        )
    } else if ratio > 1.0 {
        format!("error {ratio:.1} times smaller than random{models}")
    } else {
        format!("error {:.1} times larger than random{models}", 1.0 / ratio)
    }
}
