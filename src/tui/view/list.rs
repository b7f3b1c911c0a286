//! The panel on the left: scenarios with their sub-scenarios, then the models.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::format::{brief, left, percent, right};
use super::frame::{inner, panel, pieces};
use super::{models, scores};
use crate::tui::job::Job;
use crate::tui::state::{Scope, Setting, State};
use crate::tui::study::{Measure, is_learned, part_error, scored};

/// What a line of the panel stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    /// The headings of the columns.
    Heading,
    /// A scenario, or all of them.
    Scope(Scope),
    /// A sub-scenario of the shown scenario.
    Part(usize),
    /// The heading of the models.
    Models,
    /// A test model, by its row of the matrix.
    Model(usize),
}

const ITEMS_WIDTH: usize = 7;
const MAE_WIDTH: usize = 7;

/// The lines that are seen, with their rows on the screen. The selected lines stay in the middle of
/// lists that are too long; the models keep at least a third of the panel.
pub(crate) fn rows(state: &State, area: Rect) -> Vec<(u16, Row)> {
    let Some(study) = state.study.as_ref().filter(|_| !area.is_empty()) else {
        return Vec::new();
    };
    let inner = inner(area);
    let height = usize::from(inner.height);
    let mut tree = Vec::new();
    for s in 0..study.scenarios() {
        tree.push(Row::Scope(Scope::One(s)));
        let parts = study.scenario(s).subscenarios.len();
        if state.scenario() == Some(s) && parts > 1 {
            tree.extend((0..parts).map(Row::Part));
        }
    }
    if study.scenarios() > 1 {
        tree.push(Row::Scope(Scope::Overall));
    }
    let order = models::order(state);
    let models: Vec<Row> = order
        .iter()
        .map(|row| Row::Model(row.scored.model))
        .collect();
    let for_models = match models.len() {
        0 => 0,
        count => (count + 2).min((height / 3).max(height.saturating_sub(tree.len() + 1))),
    };
    let for_tree = height.saturating_sub(1 + for_models);
    let chosen = |row: &Row| match (row, state.part) {
        (Row::Part(part), Some(selected)) => *part == selected,
        (Row::Scope(scope), None) => *scope == state.setting.scope,
        _ => false,
    };
    let mut seen = vec![Row::Heading];
    seen.extend(window(&tree, for_tree, chosen));
    if for_models > 2 {
        let room = for_models - 2;
        let here = |row: &Row| matches!(row, Row::Model(m) if state.model == Some(*m));
        // One line of air, the heading, the models.
        let from = (height - for_models).max(seen.len()) + 1;
        let mut lines: Vec<(u16, Row)> = numbered(inner.y, seen);
        let mut below = vec![Row::Models];
        below.extend(window(&models, room, here));
        lines.extend(numbered(inner.y + from as u16, below));
        return lines;
    }
    numbered(inner.y, seen)
}

fn numbered(from: u16, rows: Vec<Row>) -> Vec<(u16, Row)> {
    let lines = rows.into_iter().enumerate();
    lines.map(|(at, row)| (from + at as u16, row)).collect()
}

/// `room` of the rows, the chosen one among them.
fn window(rows: &[Row], room: usize, chosen: impl Fn(&Row) -> bool) -> Vec<Row> {
    let at = rows.iter().position(chosen).unwrap_or(0);
    let first = at
        .saturating_sub(room / 2)
        .min(rows.len().saturating_sub(room));
    rows.iter().skip(first).take(room).copied().collect()
}

/// Draws the panel.
pub(crate) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    if state.study.is_none() || area.is_empty() {
        return;
    }
    let inner = panel(state, area, "Scenarios", buffer);
    for (y, row) in rows(state, area) {
        let line = Rect {
            y,
            height: 1,
            ..inner
        };
        match row {
            Row::Heading => heading(state, ("", "items", "MAE %"), line, buffer),
            Row::Models => heading(state, ("test models", "true", "est."), line, buffer),
            Row::Scope(scope) => scope_line(state, scope, line, buffer),
            Row::Part(part) => part_line(state, part, line, buffer),
            Row::Model(model) => model_line(state, model, line, buffer),
        }
    }
}

fn heading(
    state: &State,
    (name, first, last): (&str, &str, &str),
    area: Rect,
    buffer: &mut Buffer,
) {
    let room = usize::from(area.width).saturating_sub(ITEMS_WIDTH + MAE_WIDTH);
    let text = format!(
        "{}{}{}",
        left(name, room),
        right(first, ITEMS_WIDTH),
        right(last, MAE_WIDTH)
    );
    let width = usize::from(area.width);
    buffer.set_stringn(area.x, area.y, text, width, state.look.theme.dim);
}

/// A line with a name and two numbers; `here` marks the selected one.
fn line(
    state: &State,
    (mark, name, here): (&str, &str, bool),
    (first, last, last_style): (&str, &str, Option<Style>),
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = &state.look.theme;
    let style = if here { theme.selected } else { theme.text };
    let used = 2 + ITEMS_WIDTH + MAE_WIDTH;
    let room = usize::from(area.width).saturating_sub(used);
    let text = format!(
        "{mark} {}{}",
        left(&brief(name), room),
        right(first, ITEMS_WIDTH)
    );
    let last_style = if here {
        style
    } else {
        last_style.unwrap_or(style)
    };
    let parts = [
        (text.as_str(), style),
        (&right(last, MAE_WIDTH), last_style),
    ];
    pieces(buffer, area.x, area.y, area.right(), &parts);
}

fn scope_line(state: &State, scope: Scope, area: Rect, buffer: &mut Buffer) {
    let Some(study) = &state.study else {
        return;
    };
    let (name, items) = match scope {
        Scope::One(s) => {
            let scenario = study.scenario(s);
            (scenario.name.as_str(), scenario.n_items())
        }
        Scope::Overall => {
            let scenarios = &study.benchmark.scenarios;
            ("overall", scenarios.iter().map(|s| s.n_items()).sum())
        }
    };
    let at = |setting: Setting| {
        let cells = state.cells_of(&Setting {
            scope,
            ..setting.clone()
        })?;
        Measure::Error.of(&scored(&cells, setting.estimator, setting.lambda))
    };
    let now = at(state.setting.clone());
    // As in the view, the last result stays, dimmed, until the new one is there.
    let stale = state.shown.as_ref().filter(|s| !s.fresh);
    let mae = now.or_else(|| stale.and_then(|s| at(s.now.setting.clone())));
    let wanted = study.settings.scenario_indices(&study.benchmark);
    let failed = |s: usize| {
        let fit = state.fit_key(s, &state.setting);
        state.failed.contains_key(&Job::Fit(fit))
    };
    // "-" where nothing was asked for, "!" where it failed, "…" where it is still to come.
    let lacking = match scope {
        Scope::One(s) if failed(s) => "!",
        Scope::One(s) if !wanted.contains(&s) => "-",
        Scope::Overall if wanted.len() < study.scenarios() => "-",
        _ => "…",
    };
    let text = mae.map_or(lacking.into(), |m| percent(m, 2));
    let here = scope == state.setting.scope;
    let style = if now.is_some() {
        None
    } else {
        Some(state.look.theme.dim)
    };
    let mark = if here { "▸" } else { " " };
    let numbers = (items.to_string(), text);
    let numbers = (numbers.0.as_str(), numbers.1.as_str(), style);
    let here = here && state.part.is_none();
    line(state, (mark, name, here), numbers, area, buffer);
}

fn part_line(state: &State, part: usize, area: Rect, buffer: &mut Buffer) {
    let (Some(study), Some(s)) = (&state.study, state.scenario()) else {
        return;
    };
    let theme = &state.look.theme;
    let Some(sub) = study.scenario(s).subscenarios.get(part) else {
        return;
    };
    let shown = state.shown.as_ref();
    let setting = shown.map(|s| &s.now.setting);
    let error = shown.zip(setting).and_then(|(shown, setting)| {
        part_error(shown.now.cell()?, part, setting.estimator, setting.lambda)
    });
    // Nothing is learned of parts.
    let none = setting.is_some_and(|s| is_learned(s.estimator));
    let here = state.part == Some(part);
    let none = if none { "-" } else { "…" };
    let text = error.map_or(none.into(), |e| percent(e, 1));
    let name = format!(" {}", sub.name);
    let items = sub.items.len().to_string();
    let mark = if here { "▸" } else { " " };
    let numbers = (items.as_str(), text.as_str(), Some(theme.dim));
    line(state, (mark, &name, here), numbers, area, buffer);
}

fn model_line(state: &State, model: usize, area: Rect, buffer: &mut Buffer) {
    let (Some(study), Some(shown)) = (&state.study, &state.shown) else {
        return;
    };
    let Some(found) = shown.now.scores.iter().find(|s| s.model == model) else {
        return;
    };
    let here = state.model == Some(model);
    let room = usize::from(area.width).saturating_sub(2 + ITEMS_WIDTH + MAE_WIDTH);
    let name = models::short_name(study, model, room);
    let (truth, estimate) = (percent(found.truth, 1), percent(found.estimate, 1));
    let (mark, style) = scores::mark(
        found.estimate - found.truth,
        state.look.marker,
        &state.look.theme,
    );
    let mark = if here { "▸" } else { mark };
    line(
        state,
        (mark, &name, here),
        (&truth, &estimate, Some(style)),
        area,
        buffer,
    );
}
