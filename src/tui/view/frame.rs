//! Header, footer, and the lines between panels.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::format::{fit, right, seconds};
use crate::tui::job::Job;
use crate::tui::keys::BINDINGS;
use crate::tui::overlay::{Overlay, Prompt};
use crate::tui::state::{Scope, State, ViewName};

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
    let theme = &state.look.theme;
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
    inner(area)
}

/// The room of a panel below its top line, one column in from the left.
pub(crate) fn inner(area: Rect) -> Rect {
    Rect {
        x: area.x + 1 + u16::from(area.x > 0),
        y: area.y + 1,
        width: area.width.saturating_sub(2 + u16::from(area.x > 0)),
        height: area.height.saturating_sub(1),
    }
}

/// Two rows: what is open; views and the running job.
pub(crate) fn header(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
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
        let dims = state.scenario().and_then(|s| state.fit(s));
        let dims = dims.map_or(String::new(), |f| format!(" · D {}", f.fitted.dims()));
        let (kind, seed) = (&study.settings.split, state.setting.seed);
        let split = state.split().unwrap_or(&study.split);
        let (train, test) = (split.train.len(), split.test.len());
        facts = if area.width < 100 {
            format!("seed {seed} · {train}/{test} models{dims} ")
        } else {
            format!("{kind} split, seed {seed} · {train} train, {test} test{dims} ")
        };
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
    for (at, label, view) in tabs(area) {
        let here = view == state.view;
        let style = if here { theme.selected } else { theme.dim };
        let label = format!("{}{label}", if here { "▸" } else { " " });
        let end = pieces(buffer, at, area.y + 1, area.right(), &[(&label, style)]);
        x = end + 2;
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

/// Columns and labels of the views' tabs.
fn tabs(area: Rect) -> Vec<(u16, String, ViewName)> {
    let gap = if area.width < 100 { 1 } else { 2 };
    let mut x = area.x + 1;
    let mut tabs = Vec::new();
    for (index, view) in ViewName::ALL.into_iter().enumerate() {
        let label = format!("{} {}", index + 1, view.label());
        let width = label.width() as u16 + 1;
        tabs.push((x, label, view));
        x += width + gap;
    }
    tabs
}

/// The view whose tab is at a column of the header.
pub(crate) fn tab_at(area: Rect, x: u16) -> Option<ViewName> {
    tabs(area)
        .into_iter()
        .find(|(at, label, _)| (*at..=*at + label.width() as u16).contains(&x))
        .map(|tab| tab.2)
}

/// The running job: what it does, how far it is, how long it will take, and how to stop it.
fn job(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let Some(running) = &state.running else {
        let text = if state.paused { "stopped " } else { "" };
        let x = area.right().saturating_sub(text.width() as u16);
        buffer.set_string(x, area.y, text, theme.warn);
        return;
    };
    let narrow = area.width < 48;
    let bar = if narrow { 4 } else { 10 };
    let filled = (running.done * bar as f64).round() as usize;
    let left = if running.done > 0.02 && running.elapsed.as_millis() > 300 {
        let rest = running.elapsed.mul_f64((1.0 - running.done) / running.done);
        format!("{} left", seconds(rest))
    } else {
        String::new()
    };
    let tail = match (narrow, left.is_empty()) {
        (true, true) => format!(" {:.0} %", running.done * 100.0),
        (true, false) => format!(" {left}"),
        (false, _) => format!(" {:>3.0} % {}", running.done * 100.0, right(&left, 9)),
    };
    let stop = if matches!(running.job, Job::Load(_)) {
        ""
    } else {
        " x stops "
    };
    let used = bar + tail.width() + stop.width();
    let room = usize::from(area.width).saturating_sub(used + 2);
    let what = if room < 8 {
        String::new()
    } else {
        fit(&super::format::clean(&running.what), room.min(44))
    };
    let x = area
        .right()
        .saturating_sub((used + 1 + what.width()) as u16);
    pieces(
        buffer,
        x.max(area.x),
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

/// In place of a view that has nothing to show yet.
pub(crate) fn waiting(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
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
    let theme = &state.look.theme;
    let closed = matches!(state.overlay, Overlay::None | Overlay::Open { .. });
    if let Some(message) = state.message.as_ref().filter(|_| closed) {
        // What does not fit here stands whole above: an error without its advice helps nobody.
        let text = super::format::clean(message).replace('\n', " ");
        let width = usize::from(area.width).saturating_sub(2);
        let lines = super::format::wrap(&text, width);
        let last = lines.len().saturating_sub(1);
        for (at, line) in lines.iter().enumerate() {
            let Some(y) = area.y.checked_sub((last - at) as u16) else {
                continue;
            };
            let line = format!(" {}", super::format::left(line, width + 1));
            over(buffer, area.x, y, &line, theme.warn);
        }
        return;
    }
    let keys_of = |list: &[(&str, &str)], buffer: &mut Buffer| keys(list, state, area, buffer);
    match &state.overlay {
        Overlay::Type(prompt, text) => typed(state, *prompt, text, area, buffer),
        Overlay::Help { search, .. } => {
            let word = if search.is_empty() {
                "search".to_owned()
            } else {
                format!("with “{search}”")
            };
            let list = [
                ("letters", word.as_str()),
                ("↑↓", "scroll"),
                ("Esc", "closes"),
            ];
            keys_of(&list, buffer);
        }
        Overlay::Open { .. } => {
            let list = [
                ("↑↓", "choose"),
                ("letters", "type a path"),
                ("Enter", "open"),
                ("Esc", "close"),
            ];
            keys_of(&list, buffer);
        }
        Overlay::Write => keys_of(&[("letter", "writes"), ("Esc", "close")], buffer),
        Overlay::None => {
            let arrows = match state.view {
                ViewName::Map => ("←↓↑→", state.cursor_word()),
                ViewName::Items => ("↓↑", "items"),
                ViewName::Scores => ("↓↑", "models"),
                ViewName::Tradeoff => ("←→", "n"),
                ViewName::Replay => ("←→", "answers"),
                ViewName::Data => ("↓↑", "scroll"),
            };
            let mut list = vec![arrows, ("+ -", "n"), ("[ ]", "λ")];
            if state.view == ViewName::Replay {
                list.insert(1, ("↓↑", "model"));
            }
            let place = state.place();
            // What only this view has comes first.
            let (own, common): (Vec<_>, Vec<_>) = BINDINGS
                .iter()
                .filter(|b| !b.short.is_empty() && b.works(place))
                .partition(|b| !b.places.is_empty());
            let label = |key: &'static str| key.split(' ').next().unwrap_or(key);
            if state.scenarios() > 1 {
                list.insert(1, ("Tab", "scenario"));
            }
            let rest = own.iter().chain(&common).filter(|b| b.short != "scenario");
            list.extend(rest.map(|b| (label(b.label), b.short)));
            keys_of(&list, buffer);
        }
    }
}

impl State {
    fn cursor_word(&self) -> &'static str {
        use crate::tui::study::Choice;
        self.cursor.label()
    }
}

/// What is being typed, and what it may be.
fn typed(state: &State, prompt: Prompt, text: &str, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let largest = state.largest_n();
    let (name, hint) = match prompt {
        Prompt::Items => (
            " n = ",
            format!("1 to {largest}; Enter takes it, Esc leaves it"),
        ),
        Prompt::Lambda => (
            " λ = ",
            "0 to 1, or auto; Enter takes it, Esc leaves it".into(),
        ),
        Prompt::Target => (
            " n for an error of ",
            "points, as in 2 or 0.5; Enter takes it, Esc leaves it".into(),
        ),
        Prompt::Cost => (
            " an item costs ",
            "0.002 $, 3 s ...; Enter takes it, nothing drops it".into(),
        ),
        Prompt::Filter => (" with ", "Enter keeps it, Esc drops it".into()),
        Prompt::Answers => (
            " answers of my model: ",
            "a file {item: score} or item,score; Enter".into(),
        ),
    };
    let note = state.message.clone();
    let (hint, style) = match note {
        Some(note) => (note, theme.warn),
        None => (hint, theme.dim),
    };
    // The end of a long text is what is being typed.
    let room = usize::from(area.width).saturating_sub(name.width() + 4);
    let letters: Vec<char> = super::format::clean(text).chars().collect();
    let typed: String = letters[letters.len().saturating_sub(room)..]
        .iter()
        .collect();
    let typed = format!("{typed}▏ ");
    pieces(
        buffer,
        area.x,
        area.y,
        area.right(),
        &[(name, theme.title), (&typed, theme.accent), (&hint, style)],
    );
}

/// Keys with their words; help and quit always stay, the rest as far as there is room.
fn keys(list: &[(&str, &str)], state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
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
