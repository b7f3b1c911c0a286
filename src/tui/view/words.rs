//! The trade-off in words and numbers: errors at this n, the n that an error needs, lambda.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;

use super::format::{brief, left, percent, right, unit, wrap};
use super::frame::pieces;
use super::planner;
use super::raster::Stroke;
use super::tradeoff::{glyph, lambdas, series, stroke};
use crate::tui::needs::{Need, Needed};
use crate::tui::state::{Setting, Shown, State};
use crate::tui::study::{Choice, Measure, is_learned, scored};

/// The answer in sentences: how many items the target needs and how sure that is, how many random ones would, and what
/// needs the fewest where that is another method.
pub(crate) fn answer(state: &State, shown: &Shown) -> String {
    let setting = &shown.now.setting;
    let (needs, seeds) = state.needs();
    let mut all = needs.iter();
    let mine = all.find(|n| n.selection == setting.selection && n.estimator == setting.estimator);
    let (Some(mine), Some(random)) = (mine, needs.iter().find(|n| n.is_baseline())) else {
        return String::new();
    };
    if mine.n == Needed::Unknown || random.n == Needed::Unknown {
        return "The curves are still being computed.".into();
    }
    let each = if shown.now.cells.len() > 1 {
        " a scenario"
    } else {
        ""
    };
    let method = |need: &Need| format!("{}, {}", need.selection.label(), need.estimator.label());
    let so_far = if seeds < state.seeds && state.running.is_some() {
        format!(" (so far {seeds} of {} seeds)", state.seeds)
    } else {
        String::new()
    };
    let mut text = format!(
        "{} error: {}{each} with {}{so_far}.",
        state.target_text(),
        mine.n.items(),
        method(mine)
    );
    if !mine.is_baseline() {
        let compared = match mine.times {
            Some((true, x)) if (x - 1.0).abs() < 0.05 => ", about as many".into(),
            Some((true, x)) => format!(", {x:.1} times as many"),
            Some((false, x)) if x > 1.0 => format!(", at least {x:.1} times as many"),
            _ => String::new(),
        };
        text.push_str(&format!(
            " Stratified random, naive: {}{compared}.",
            random.n.items()
        ));
    }
    let enough = needs
        .iter()
        .filter_map(|need| Some((need.n.enough()?, need)));
    let fewest = enough.min_by_key(|found| found.0);
    let upper = mine.n.enough().unwrap_or(usize::MAX);
    if let Some((n, need)) = fewest.filter(|found| found.0 < upper && !found.1.is_baseline()) {
        let so_far = if needs.iter().any(|n| n.n == Needed::Unknown) {
            " so far"
        } else {
            ""
        };
        text.push_str(&format!(" Fewest{so_far}: {n} with {}.", method(need)));
    }
    text
}

/// The same for a narrow screen.
pub(crate) fn short_answer(state: &State, shown: &Shown) -> String {
    let setting = &shown.now.setting;
    let (needs, _) = state.needs();
    let mut all = needs.iter();
    let mine = all.find(|n| n.selection == setting.selection && n.estimator == setting.estimator);
    let random = needs.iter().find(|n| n.is_baseline());
    let (Some(mine), Some(random)) = (mine, random) else {
        return String::new();
    };
    let range = match mine.n {
        Needed::Unknown => String::new(),
        _ => format!(" ({})", state.range(mine.at).text()),
    };
    format!(
        "n for {}: {}{range}; random {}",
        state.target_text(),
        mine.n.text(),
        random.n.text()
    )
}

/// Draws the panel.
pub(crate) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(shown) = &state.shown else {
        return;
    };
    let mut page = Page {
        y: area.y,
        area,
        buffer,
    };
    let theme = &state.look.theme;
    for line in wrap(&answer(state, shown), usize::from(area.width)) {
        page.line(&[(&line, theme.accent)]);
    }
    for line in wrap(&intervals(shown), usize::from(area.width)) {
        page.line(&[(&line, theme.text)]);
    }
    page.gap();
    errors(state, shown, &mut page);
    page.gap();
    // Lines below the planner, each group with its gap.
    let after = 4 + 4 * u16::from(state.cost.is_some()) + 4 * u16::from(shown.now.mine.is_some());
    planner::draw(state, shown, &mut page, after);
    if state.cost.is_some() {
        page.gap();
        costs(state, shown, &mut page);
    }
    if shown.now.mine.is_some() {
        page.gap();
        own(state, shown, &mut page);
    }
    page.gap();
    lambda_table(state, shown, &mut page);
}

/// Lines one below the other, until the panel is full.
pub(super) struct Page<'a> {
    pub(super) y: u16,
    pub(super) area: Rect,
    buffer: &'a mut Buffer,
}

impl Page<'_> {
    pub(super) fn line(&mut self, parts: &[(&str, Style)]) {
        if self.y < self.area.bottom() {
            let (x, limit) = (self.area.x, self.area.right());
            pieces(self.buffer, x, self.y, limit, parts);
            self.y += 1;
        }
    }

    fn parts(&mut self, parts: &[(String, Style)]) {
        let parts: Vec<(&str, Style)> = parts.iter().map(|(t, s)| (t.as_str(), *s)).collect();
        self.line(&parts);
    }

    fn gap(&mut self) {
        self.y += 1;
    }

    pub(super) fn width(&self) -> usize {
        usize::from(self.area.width)
    }
}

fn at(setting: &Setting, selection: SelectionKind, estimator: Estimator) -> Setting {
    Setting {
        selection,
        estimator,
        ..setting.clone()
    }
}

/// MAE at this n of every estimator and selection; the table is the legend too.
fn errors(state: &State, shown: &Shown, page: &mut Page<'_>) {
    let theme = &state.look.theme;
    let setting = &shown.now.setting;
    let drawn = page.width() >= NAME + 3 * COLUMN + DRAWN;
    let heading = format!("MAE %, n = {}, seed {}", setting.n, setting.seed);
    page.line(&[(&heading, theme.dim)]);
    let mut parts: Vec<(String, Style)> = vec![(" ".repeat(NAME), theme.dim)];
    for selection in SelectionKind::ALL {
        let chosen = selection == setting.selection;
        let label = match selection {
            SelectionKind::AnchorsCorrectness => "corr.",
            selection => selection.short(),
        };
        let mark = glyph(state.look.marker, selection);
        parts.push((
            " ".repeat(COLUMN.saturating_sub(label.len() + 2)),
            theme.dim,
        ));
        parts.push((mark.to_owned(), series(theme, selection)));
        let style = if chosen { theme.text } else { theme.dim };
        parts.push((format!(" {label}"), style));
    }
    if drawn {
        parts.push(("  drawn as".to_owned(), theme.dim));
    }
    page.parts(&parts);
    for estimator in Estimator::ALL {
        let mine = estimator == setting.estimator;
        let style = if mine { theme.text } else { theme.dim };
        let mut parts = vec![(left(estimator.label(), NAME), style)];
        for selection in SelectionKind::ALL {
            let at = at(setting, selection, estimator);
            let cells = state.cells_of(&at);
            let error =
                cells.and_then(|cells| Measure::Error.of(&scored(&cells, estimator, at.lambda)));
            // What is learned is computed for the chosen estimator and selection first.
            let text = error.map_or("…".into(), |v| percent(v, 2));
            let here = mine && selection == setting.selection;
            let style = if here { theme.accent } else { theme.text };
            parts.push((right(&text, COLUMN), style));
        }
        if drawn && (mine || !is_learned(estimator)) {
            let pattern = match stroke(estimator) {
                Stroke::Solid => "──────",
                Stroke::Dashed => "── ── ",
                Stroke::Dotted => "·  ·  ",
            };
            parts.push((format!("  {pattern}"), theme.dim));
        }
        page.parts(&parts);
    }
}

/// Columns of the table of errors: an estimator's name, a number, how its curve is drawn.
const NAME: usize = 8;
const COLUMN: usize = 9;
const DRAWN: usize = 10;

/// What intervals are worth at this n.
pub(crate) fn intervals(shown: &Shown) -> String {
    let sure = &shown.now.sure;
    match sure.half_width {
        Some(half) => {
            let (held, of) = sure.held;
            let each = if of == 1 { "model" } else { "models" };
            let points = percent(half, 1);
            format!("90 % interval: ±{points} points at this n; holds {held} of {of} test {each}.")
        }
        None if shown.now.learned() => {
            "No intervals: too few training models to learn from.".to_owned()
        }
        None => "90 % intervals …".to_owned(),
    }
}

/// What an evaluation costs with all items, with n, and with random items of the same error.
fn costs(state: &State, shown: &Shown, page: &mut Page<'_>) {
    let (Some(cost), Some(study)) = (&state.cost, &state.study) else {
        return;
    };
    let theme = &state.look.theme;
    let scenarios = state.scenarios_of(shown.now.setting.scope);
    let all: usize = scenarios.iter().map(|&s| study.scenario(s).n_items()).sum();
    let chosen = shown.now.items();
    let room = page.width().saturating_sub(12);
    let rows = [
        (
            format!("{chosen} chosen items"),
            cost.of(chosen as f64),
            theme.accent,
        ),
        (format!("all {all} items"), cost.of(all as f64), theme.text),
    ];
    page.line(&[("cost of one model", theme.dim)]);
    for (label, value, style) in rows {
        page.line(&[(&left(&label, room), style), (&right(&value, 12), style)]);
    }
}

/// The user's own model under every estimator.
fn own(state: &State, shown: &Shown, page: &mut Page<'_>) {
    let (Some(mine), Some(estimate)) = (&state.mine, shown.now.mine) else {
        return;
    };
    let theme = &state.look.theme;
    let (answered, chosen) = shown.now.answered();
    let name = brief(&mine.name);
    let rank = state.predicted_rank(estimate);
    let rank = rank.map_or(String::new(), |(rank, of)| format!(", rank {rank} of {of}"));
    let interval = shown.now.mine_interval.map_or(String::new(), |i| {
        format!(" (90 %: {} to {})", percent(i.low, 1), percent(i.high, 1))
    });
    let text = format!(
        "{name}: {} %{interval}{rank}; {answered} of {chosen} chosen items answered.",
        percent(estimate, 1)
    );
    for line in wrap(&text, page.width()) {
        page.line(&[(&line, theme.own)]);
    }
}

fn lambda_table(state: &State, shown: &Shown, page: &mut Page<'_>) {
    let theme = &state.look.theme;
    let name = page.width().saturating_sub(14).min(30);
    let heading = left("gp-IRT with λ", name);
    page.line(&[(&heading, theme.dim), ("      λ  MAE %", theme.dim)]);
    for (label, lambda, mae) in lambdas(shown) {
        let label = left(label, name);
        let numbers = format!(
            "{}{}",
            right(&unit(lambda, 2), 7),
            right(&percent(mae, 2), 7)
        );
        page.line(&[(&label, theme.text), (&numbers, theme.text)]);
    }
}
