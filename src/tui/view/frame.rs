//! Header, list of scenarios, footer, and the lines between panels.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::format::{fit, percent, right, seconds};
use crate::tui::action::{BINDINGS, Place};
use crate::tui::state::{Job, Overlay, Scope, State, ViewName};

/// Writes pieces one after another and returns the column after the last.
pub(crate) fn pieces(
    buffer: &mut Buffer,
    x: u16,
    y: u16,
    limit: u16,
    parts: &[(&str, Style)],
) -> u16 {
    let mut at = x;
    for (text, style) in parts {
        if at >= limit {
            break;
        }
        at = buffer
            .set_stringn(at, y, text, usize::from(limit - at), *style)
            .0;
    }
    at
}

/// Writes a text over whatever the cells held: a style alone would keep their weight and colour.
pub(crate) fn over(buffer: &mut Buffer, x: u16, y: u16, text: &str, style: Style) {
    for column in x..x
        .saturating_add(text.width() as u16)
        .min(buffer.area.right())
    {
        if let Some(cell) = buffer.cell_mut((column, y)) {
            cell.reset();
        }
    }
    buffer.set_string(x, y, text, style);
}

/// Writes those pieces that fit whole: a legend loses entries, never half a word.
pub(crate) fn whole_pieces(
    buffer: &mut Buffer,
    x: u16,
    y: u16,
    limit: u16,
    parts: &[(&str, Style)],
) -> u16 {
    let mut at = x;
    for (text, style) in parts {
        if usize::from(at) + text.trim_end().width() > usize::from(limit) {
            break;
        }
        at = pieces(buffer, at, y, limit, &[(text, *style)]);
    }
    at
}

/// A panel's top line with its title; returns the room below, one column in from the left.
/// Every panel but the leftmost also draws the line to its left.
pub(crate) fn panel(state: &State, area: Rect, title: &str, buffer: &mut Buffer) -> Rect {
    if area.is_empty() {
        return area;
    }
    let theme = &state.theme;
    buffer.set_string(
        area.x,
        area.y,
        "─".repeat(usize::from(area.width)),
        theme.border,
    );
    let room = usize::from(area.width.saturating_sub(4));
    if !title.is_empty() {
        let title = format!(" {} ", fit(title, room.saturating_sub(2)));
        over(buffer, area.x + 2, area.y, &title, theme.title);
    }
    if area.x > 0 {
        buffer.set_string(area.x, area.y, "┬", theme.border);
        for y in area.y + 1..area.bottom() {
            buffer.set_string(area.x, y, "│", theme.border);
        }
    }
    Rect {
        x: area.x + 1 + u16::from(area.x > 0),
        y: area.y + 1,
        width: area.width.saturating_sub(2 + u16::from(area.x > 0)),
        height: area.height.saturating_sub(1),
    }
}

/// Two rows: what is open; views and the running job.
pub(crate) fn header(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let mut right_end = area.right();
    let mut facts = String::new();
    let mut name = String::from("nothing open");
    if let Some(study) = &state.study {
        if study.benchmark.simulated {
            let badge = " SIMULATED ";
            right_end -= badge.width() as u16;
            buffer.set_string(right_end, area.y, badge, theme.simulated);
            right_end -= 1;
        }
        name = study.benchmark.name.clone();
        let dims = match state.setting.scope {
            Scope::One(s) => state
                .fits
                .get(s)
                .cloned()
                .flatten()
                .map(|f| f.fitted.dims().to_string()),
            Scope::Overall => None,
        };
        let dims = dims.map_or(String::new(), |d| format!(" · D {d}"));
        facts = format!(
            "{} split, seed {} · {} train, {} test{dims} ",
            study.settings.split,
            study.settings.seed,
            study.split.train.len(),
            study.split.test.len()
        );
        if area.width < 100 {
            facts = format!(
                "seed {} · {}/{} models{dims} ",
                study.settings.seed,
                study.split.train.len(),
                study.split.test.len()
            );
        }
    } else if let Some(source) = &state.source {
        name = source.label();
    }
    let facts_at = right_end.saturating_sub(facts.width() as u16);
    buffer.set_string(facts_at, area.y, &facts, theme.dim);
    let room = usize::from(facts_at.saturating_sub(area.x + 14));
    let scope = match (&state.study, state.setting.scope) {
        (Some(study), Scope::One(s)) if study.scenarios() > 1 => {
            format!(" › {}", study.scenario(s).name)
        }
        (Some(_), Scope::Overall) => " › overall".into(),
        _ => String::new(),
    };
    let name = fit(
        &super::format::clean(&name),
        room.saturating_sub(scope.width()),
    );
    pieces(
        buffer,
        area.x,
        area.y,
        facts_at,
        &[
            (" tinyscope  ", theme.accent),
            (&name, theme.title),
            (&scope, theme.text),
        ],
    );
    let mut x = area.x + 1;
    for (index, view) in ViewName::ALL.into_iter().enumerate() {
        let style = if view == state.view {
            theme.selected
        } else {
            theme.dim
        };
        let mark = if view == state.view { "▸" } else { " " };
        let label = format!("{mark}{} {}", index + 1, view.label());
        let parts = [(label.as_str(), style), ("  ", theme.dim)];
        x = pieces(buffer, x, area.y + 1, area.right(), &parts);
    }
    job(
        state,
        Rect {
            x,
            width: area.right().saturating_sub(x),
            y: area.y + 1,
            height: 1,
        },
        buffer,
    );
}

/// The running job: what it does, how far it is, how long it will take, and how to stop it.
fn job(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let Some(running) = &state.running else {
        let text = if state.paused { "stopped " } else { "" };
        let x = area.right().saturating_sub(text.width() as u16);
        buffer.set_string(x, area.y, text, theme.warn);
        return;
    };
    let bar = if area.width < 60 { 5 } else { 10 };
    let filled = (running.done * bar as f64).round() as usize;
    let left = if running.done > 0.02 && running.elapsed.as_millis() > 300 {
        format!(
            "{} left",
            seconds(running.elapsed.mul_f64((1.0 - running.done) / running.done))
        )
    } else {
        String::new()
    };
    let tail = format!(" {:>3.0} % {}", running.done * 100.0, right(&left, 9));
    let stop = if matches!(running.job, Job::Load(_)) {
        ""
    } else {
        " x stops "
    };
    let used = bar + tail.width() + stop.width();
    let room = usize::from(area.width).saturating_sub(used + 1);
    let what = fit(&running.what, room.min(44));
    let x = area
        .right()
        .saturating_sub((used + 1 + what.width()) as u16);
    pieces(
        buffer,
        x,
        area.y,
        area.right(),
        &[
            (&what, theme.dim),
            (" ", theme.dim),
            (&"█".repeat(filled), theme.slider),
            (&"░".repeat(bar - filled), theme.border),
            (&tail, theme.dim),
            (stop, theme.key),
        ],
    );
}

/// Scenarios with their numbers of items and the error of the current setting.
pub(crate) fn list(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(study) = state.study.as_ref().filter(|_| !area.is_empty()) else {
        return;
    };
    let theme = &state.theme;
    let inner = panel(state, area, "Scenarios", buffer);
    let width = usize::from(inner.width);
    let (items_width, mae_width) = (6, 7);
    let name_width = width.saturating_sub(2 + items_width + mae_width);
    let heading = format!(
        "{}{}",
        right("items", 2 + name_width + items_width),
        right("MAE %", mae_width)
    );
    buffer.set_stringn(inner.x, inner.y, heading, width, theme.dim);
    let mut rows: Vec<(Scope, String, usize)> = study
        .benchmark
        .scenarios
        .iter()
        .enumerate()
        .map(|(s, scenario)| (Scope::One(s), scenario.name.clone(), scenario.n_items()))
        .collect();
    if rows.len() > 1 {
        let total = rows.iter().map(|row| row.2).sum();
        rows.push((Scope::Overall, "overall".into(), total));
    }
    let wanted = study.settings.scenario_indices(&study.benchmark);
    let room = usize::from(inner.height.saturating_sub(1));
    let selected = rows
        .iter()
        .position(|row| row.0 == state.setting.scope)
        .unwrap_or(0);
    // The selected row stays in the middle of a list that is too long.
    let first = selected
        .saturating_sub(room / 2)
        .min(rows.len().saturating_sub(room));
    for (line, (scope, name, items)) in rows.iter().skip(first).take(room).enumerate() {
        let y = inner.y + 1 + line as u16;
        let setting = state.setting;
        let mae_at = |selection, n| {
            let (estimator, lambda) = (setting.estimator, setting.lambda);
            let metrics = state.metrics_of(*scope, selection, n, estimator, lambda);
            metrics.and_then(|m| m.mae)
        };
        let now = mae_at(setting.selection, setting.n);
        // As in the view, the last result stays, dimmed, until the new one is there.
        let last = state.shown.as_ref().filter(|s| !s.fresh).map(|s| s.setting);
        let mae = now.or_else(|| last.and_then(|s| mae_at(s.selection, s.n)));
        // "-" where nothing was asked for, "!" where it failed, "…" where it is still to come.
        let lacking = match scope {
            Scope::One(s) if state.failed.contains_key(&Job::Fit(*s)) => "!",
            Scope::One(s) if !wanted.contains(s) => "-",
            Scope::Overall if wanted.len() + 1 < rows.len() => "-",
            _ => "…",
        };
        let mae = mae.map_or(lacking.into(), |m| percent(m, 2));
        let here = *scope == state.setting.scope;
        let style = if here { theme.selected } else { theme.text };
        let text = format!(
            "{} {}{}",
            if here { "▸" } else { " " },
            super::format::left(&super::format::clean(name), name_width),
            right(&items.to_string(), items_width),
        );
        let number = if now.is_some() { style } else { theme.dim };
        let parts = [(text.as_str(), style), (&right(&mae, mae_width), number)];
        pieces(buffer, inner.x, y, inner.right(), &parts);
    }
}

/// In place of a view that has nothing to show yet.
pub(crate) fn waiting(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let text = match (&state.running, &state.study) {
        (Some(running), _) => running.what.clone(),
        (None, None) => "o opens a benchmark".into(),
        (None, Some(_)) => {
            let why = state.failed.values().min().cloned();
            why.unwrap_or_else(|| "nothing computed yet".into())
        }
    };
    let y = area.y + area.height / 2;
    let text = fit(
        &super::format::clean(&text).replace('\n', " "),
        usize::from(area.width),
    );
    let x = area.x + (area.width.saturating_sub(text.width() as u16)) / 2;
    buffer.set_string(x, y, text, theme.dim);
}

/// The keys that work now, or what is being typed, or a message.
pub(crate) fn footer(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    if let Some(message) = &state.message
        && matches!(state.overlay, Overlay::None)
    {
        let text = format!(" {}", super::format::clean(message).replace('\n', " "));
        buffer.set_string(
            area.x,
            area.y,
            fit(&text, usize::from(area.width)),
            theme.warn,
        );
        return;
    }
    let note = state.message.clone().unwrap_or_default();
    match &state.overlay {
        Overlay::TypeItems(text) => {
            let hint = format!("1 to {}; Enter takes it, Esc leaves it", state.largest_n());
            let hint = if note.is_empty() { &hint } else { &note };
            let typed = format!("{text}▏ ");
            pieces(
                buffer,
                area.x,
                area.y,
                area.right(),
                &[
                    (" n = ", theme.title),
                    (&typed, theme.accent),
                    (hint, theme.dim),
                ],
            );
        }
        Overlay::TypeLambda(text) => {
            let hint = if note.is_empty() {
                "0 to 1; Enter takes it, Esc leaves it"
            } else {
                &note
            };
            let typed = format!("{text}▏ ");
            pieces(
                buffer,
                area.x,
                area.y,
                area.right(),
                &[
                    (" λ = ", theme.title),
                    (&typed, theme.accent),
                    (hint, theme.dim),
                ],
            );
        }
        Overlay::Help(_) => keys(
            &[("↑↓", "scroll"), ("any other key", "closes")],
            state,
            area,
            buffer,
        ),
        Overlay::Open { .. } => keys(
            &[
                ("↑↓", "choose"),
                ("letters", "type a path"),
                ("Enter", "open"),
                ("Esc", "close"),
            ],
            state,
            area,
            buffer,
        ),
        Overlay::None => {
            let move_word = match state.view {
                ViewName::Map => "anchors",
                ViewName::Scores => "models",
                ViewName::Tradeoff => "n",
            };
            let mut list: Vec<(&str, &str)> = vec![("←↓↑→", move_word), ("+ -", "n"), ("[ ]", "λ")];
            let place = state.view.place();
            list.extend(
                BINDINGS
                    .iter()
                    .filter(|b| !b.short.is_empty())
                    .filter(|b| b.place == Place::Anywhere || b.place == place)
                    .filter(|b| b.short != "scenario" || state.fits.len() > 1)
                    .map(|b| (b.label, b.short)),
            );
            keys(&list, state, area, buffer);
        }
    }
}

/// Keys with their words; help and quit always stay, the rest as far as there is room.
fn keys(list: &[(&str, &str)], state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let width = |(key, word): &(&str, &str)| key.width() + word.width() + 3;
    let (last, first): (Vec<_>, Vec<_>) = list
        .iter()
        .partition(|(_, word)| *word == "help" || *word == "quit");
    let mut room =
        usize::from(area.width).saturating_sub(1 + last.iter().map(width).sum::<usize>());
    let mut shown = Vec::new();
    for entry in first {
        if width(&entry) <= room {
            room -= width(&entry);
            shown.push(entry);
        }
    }
    shown.extend(last);
    let mut x = area.x + 1;
    for (key, word) in shown {
        x = pieces(
            buffer,
            x,
            area.y,
            area.right(),
            &[
                (key, theme.key),
                (" ", theme.dim),
                (word, theme.dim),
                ("  ", theme.dim),
            ],
        );
    }
}
