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

use crate::tui::state::{Setting, State, ViewName};
use crate::tui::study::{Choice, is_learned};

/// Draws the panel below the view.
pub(crate) fn draw(state: &State, parts: &Parts, buffer: &mut Buffer) {
    let area = parts.setting;
    let theme = &state.look.theme;
    buffer.set_string(
        area.x,
        area.y,
        "─".repeat(usize::from(area.width)),
        theme.border,
    );
    let split = split(area);
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

/// A slider of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slider {
    /// n, on a logarithmic scale.
    Items,
    /// lambda.
    Lambda,
}

/// Columns of a slider: its first, and how many.
fn track(area: Rect, end: usize) -> (u16, u16) {
    let from = area.x + 1 + 2 + 9 + 2;
    let stop = area.right().saturating_sub(end as u16 + 2);
    (from, stop.saturating_sub(from))
}

/// Width of the label behind a slider.
const END: usize = 6;

/// The slider at a position of the screen, and the share of its length.
pub(crate) fn slider_at(parts: &Parts, x: u16, y: u16) -> Option<(Slider, f64)> {
    let area = sliders_area(parts.setting);
    let (from, length) = track(area, END);
    if x < from || x >= from + length || length < 2 {
        return None;
    }
    let slider = match y.checked_sub(area.y)? {
        1 => Slider::Items,
        2 => Slider::Lambda,
        _ => return None,
    };
    Some((slider, f64::from(x - from) / f64::from(length - 1)))
}

fn sliders_area(area: Rect) -> Rect {
    Rect {
        width: split(area),
        ..area
    }
}

/// Columns of the sliders; the measures have the rest.
fn split(area: Rect) -> u16 {
    if area.width >= 110 {
        area.width * 3 / 8
    } else {
        36
    }
}

fn sliders(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let setting = &state.setting;
    let largest = state.largest_n();
    // On a logarithmic scale: ten more matter at 20, not at 2,000.
    let share = if largest > 1 {
        (setting.n as f64).ln() / (largest as f64).ln()
    } else {
        1.0
    };
    let end = right(&largest.to_string(), END);
    let n = setting.n.to_string();
    slider(state, area, 1, ("n", &n, &end), Some(share), buffer);
    lambda(state, area, buffer);
    let narrow = area.width < 44;
    let selection = if narrow {
        setting.selection.short()
    } else {
        setting.selection.label()
    };
    let gap = if narrow { " " } else { "  " };
    let estimator = setting.estimator.label();
    let theta = setting.theta.name();
    pieces(
        buffer,
        area.x + 1,
        area.y + 3,
        area.right(),
        &[
            (selection, theme.accent),
            (gap, theme.dim),
            (estimator, theme.accent),
            (gap, theme.dim),
            ("θ ", theme.dim),
            (theta, theme.accent),
            (
                if setting.edits.is_empty() {
                    ""
                } else {
                    "  edited"
                },
                theme.warn,
            ),
        ],
    );
    pinned(state, area, buffer);
}

/// The slider of lambda; what a learned estimator has in its place.
fn lambda(state: &State, area: Rect, buffer: &mut Buffer) {
    let setting = &state.setting;
    let shown = state.shown.as_ref();
    let auto = shown.and_then(|s| s.now.paper_lambda);
    // What is learned at another setting says nothing of this one.
    let now = shown.filter(|s| s.fresh).map(|s| &s.now);
    let used = match setting.estimator {
        Estimator::Naive => Some(1.0),
        Estimator::PIrt => Some(0.0),
        Estimator::GpIrt => match (setting.lambda, auto) {
            (Lambda::Auto, auto) => auto,
            (Lambda::Fixed(x), _) => Some(x),
        },
        Estimator::GpIrtCv => now.and_then(|now| now.lambda()),
        Estimator::Aipw | Estimator::Ridge | Estimator::Stacked => None,
    };
    let value = used.map_or("…".into(), |l| unit(l, 2));
    let value = match (setting.estimator, setting.lambda) {
        (Estimator::GpIrt, Lambda::Auto) => format!("auto {value}"),
        (Estimator::GpIrtCv, _) => format!("own {value}"),
        (Estimator::Aipw | Estimator::Ridge, _) => "none".into(),
        (Estimator::Stacked, _) => "own".into(),
        _ => value,
    };
    let end = right("1", END);
    slider(state, area, 2, ("λ", &value, &end), used, buffer);
    let theme = &state.look.theme;
    let text = match setting.estimator {
        Estimator::Aipw => "model + weighted residuals".to_owned(),
        Estimator::Ridge => "regression on the answers".to_owned(),
        Estimator::Stacked => weights(now.and_then(|now| now.weights()), area.width),
        _ => return,
    };
    let from = track(area, 0).0.saturating_sub(1);
    let room = usize::from(area.right().saturating_sub(from));
    let text = left(&text, room);
    over(buffer, from, area.y + 2, &text, theme.accent);
}

/// The weights of the stacked estimate's parts in as few columns as there are.
fn weights(found: Option<[f64; 4]>, width: u16) -> String {
    let Some([naive, p_irt, aipw, ridge]) = found.map(|w| w.map(|x| unit(x, 2))) else {
        return "weights …".into();
    };
    if width >= 56 {
        format!("naive {naive}  p-IRT {p_irt}  AIPW {aipw}  ridge {ridge}")
    } else if width >= 52 {
        format!("naive {naive} p-IRT {p_irt} AIPW {aipw} ridge {ridge}")
    } else {
        format!("n {naive} p {p_irt} A {aipw} r {ridge}")
    }
}

/// The pinned setting in words, below the sliders.
fn pinned(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(pin) = &state.pin else {
        return;
    };
    let mark = super::map::ghost_symbol(state.look.marker);
    let lambda = match (pin.estimator, pin.lambda) {
        (Estimator::GpIrt, Lambda::Fixed(x)) => format!(", λ {}", unit(x, 2)),
        _ => String::new(),
    };
    let seed = if pin.seed == state.setting.seed {
        String::new()
    } else {
        format!(", seed {}", pin.seed)
    };
    let edited = if pin.edits.is_empty() { "" } else { ", edited" };
    let text = format!(
        "{mark} n {}, {}, {}{lambda}{seed}{edited}",
        pin.n,
        pin.selection.short(),
        pin.estimator.label()
    );
    let room = usize::from(area.width.saturating_sub(2));
    let text = super::format::fit(&text, room);
    buffer.set_string(area.x + 1, area.y + 4, text, state.look.theme.ghost);
}

fn slider(
    state: &State,
    area: Rect,
    row: u16,
    (name, value, end): (&str, &str, &str),
    share: Option<f64>,
    buffer: &mut Buffer,
) {
    let theme = &state.look.theme;
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
    let (_, length) = track(area, end.width());
    let stop = x + length;
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

/// Columns of the table of measures: heading, width, and the value of a row; the first ones stay
/// where there is little room.
type Column = (&'static str, usize, fn(&Metrics) -> Option<String>);

const COLUMNS: [Column; 8] = [
    ("MAE %", 7, |m| m.mae.map(|v| percent(v, 2))),
    ("max %", 7, |m| m.max_error.map(|v| percent(v, 1))),
    ("Spearman", 9, |m| m.spearman.map(|v| unit(v, 3))),
    ("Kendall", 8, |m| m.kendall.map(|v| unit(v, 3))),
    ("RMSE", 6, |m| m.rmse.map(|v| percent(v, 2))),
    ("bias", 7, |m| m.bias.map(|v| signed(v, 2))),
    ("pairs", 6, |m| {
        m.pairs_in_order.map(|v| format!("{:.0}%", v * 100.0))
    }),
    ("top 5", 6, |m| {
        m.top5_recall.map(|v| format!("{:.0}%", v * 100.0))
    }),
];

fn measures(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let Some(shown) = &state.shown else {
        return;
    };
    let wide = area.width >= 60;
    let name_width = match area.width {
        90.. => 28,
        60.. => 16,
        _ => 7,
    };
    let method = |setting: &Setting| {
        let selection = match (area.width, setting.selection) {
            (90.., selection) => selection.label(),
            (_, SelectionKind::AnchorsCorrectness) => "corr.",
            (_, selection) => selection.short(),
        };
        format!("{selection}, {}", setting.estimator.label())
    };
    let strong = if shown.fresh { theme.accent } else { theme.dim };
    let now = if wide {
        method(&shown.now.setting)
    } else {
        "now".into()
    };
    let random = if wide { "random, naive" } else { "random" };
    let mut rows = vec![
        (now, Some(&shown.now.metrics), strong),
        (random.to_owned(), shown.baseline.as_ref(), theme.dim),
    ];
    if state.pin.is_some() {
        let ghost = shown.ghost.as_ref();
        let name = match (ghost, wide) {
            (Some(ghost), true) => {
                let mark = super::map::ghost_symbol(state.look.marker);
                format!(
                    "{mark}{} {}",
                    ghost.setting.n,
                    method(&ghost.setting).replace(", ", ",")
                )
            }
            _ => format!("{} pin", super::map::ghost_symbol(state.look.marker)),
        };
        rows.push((name, ghost.map(|g| &g.metrics), theme.ghost));
    }
    // The headings stand in the line above, free of it.
    let first = area.x + 1 + name_width as u16;
    let headings = usize::from(area.right().saturating_sub(first));
    over(buffer, first, area.y, &" ".repeat(headings), theme.dim);
    for (line, (name, metrics, style)) in rows.iter().enumerate() {
        let y = area.y + 1 + line as u16;
        buffer.set_string(area.x + 1, y, left(name, name_width), *style);
        let mut x = first;
        for (heading, width, value) in COLUMNS {
            if x + width as u16 > area.right() {
                break;
            }
            if line == 0 {
                buffer.set_string(x, area.y, right(heading, width), theme.dim);
            }
            let text = match metrics {
                Some(metrics) => value(metrics).unwrap_or_else(|| "undef.".into()),
                None => "…".into(),
            };
            buffer.set_string(x, y, right(&text, width), *style);
            x += width as u16;
        }
    }
    let sentence = sentence(state);
    let room = usize::from(area.width.saturating_sub(2));
    let y = area.y + 1 + rows.len() as u16;
    buffer.set_string(
        area.x + 1,
        y,
        super::format::fit(&sentence, room),
        theme.text,
    );
}

/// The comparison in words.
pub(crate) fn sentence(state: &State) -> String {
    let Some(shown) = &state.shown else {
        return String::new();
    };
    let stands_in = shown.now.setting.estimator != state.setting.estimator;
    if !shown.fresh && stands_in {
        let (now, wanted) = (shown.now.setting.estimator, state.setting.estimator);
        return format!(
            "{} is being learned; {} until then",
            wanted.label(),
            now.label()
        );
    }
    if !shown.fresh {
        return "the numbers are of the last setting; new ones are coming".into();
    }
    let narrow = state.look.size.0 < 100;
    // On a screen without the words of the trade-off, its answer stands here.
    if state.view == ViewName::Tradeoff && narrow {
        return super::words::short_answer(state, shown);
    }
    let models = match shown.now.metrics.models {
        1 => "1 test model".to_owned(),
        models => format!("{models} test models"),
    };
    let chosen = super::chosen_of(state, shown);
    let base = shown.baseline.as_ref().and_then(|b| b.mae);
    let errors = shown.now.metrics.mae.zip(base);
    if shown.now.scores.is_empty() && is_learned(shown.now.setting.estimator) {
        return "too few training models with answers: nothing could be learned".into();
    }
    // Errors that are printed as 0 have no ratio: what is left of them is rounding.
    let told = |error: f64| error >= 5e-5;
    let Some((mine, other)) = errors.filter(|(mine, other)| told(*mine) && told(*other)) else {
        return format!("{chosen}, over {models}");
    };
    let ratio = other / mine;
    if narrow {
        let chosen = chosen.replace(" of ", "/");
        return if ratio >= 1.05 {
            format!("{ratio:.1}× less error than random: {chosen}")
        } else if ratio <= 0.95 {
            format!("{:.1}× more error than random: {chosen}", 1.0 / ratio)
        } else {
            format!("as exact as random: {chosen}")
        };
    }
    let chosen = format!("{chosen}, seed {}", shown.now.setting.seed);
    let compared = if (ratio - 1.0).abs() < 0.05 {
        "as exact as random sampling".to_owned()
    } else if ratio > 1.0 {
        format!("error {ratio:.1} times smaller than random")
    } else {
        format!("error {:.1} times larger than random", 1.0 / ratio)
    };
    if state.look.size.0 < 130 {
        format!("{chosen}: {compared}")
    } else {
        format!("{chosen}: {compared}, over {models}")
    }
}
