//! The trade-off in words and numbers: errors at this n, the n that an error needs, lambda.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;

use super::format::{brief, left, percent, right, unit, wrap};
use super::frame::pieces;
use super::raster::Stroke;
use super::tradeoff::{glyph, lambdas, series, stroke};
use crate::tui::curves::{Curve, Needed, needed, times};
use crate::tui::state::{Setting, Shown, State};
use crate::tui::study::{Choice, Measure, is_learned, scored};

/// Errors that a benchmark is asked to stay below.
pub(crate) const TARGETS: [f64; 3] = [0.05, 0.02, 0.01];
/// The target that the sentence is about.
const TARGET: usize = 1;

/// What one method needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    /// How the items are chosen.
    pub(crate) selection: SelectionKind,
    /// How scores are estimated.
    pub(crate) estimator: Estimator,
    /// n for each of the targets.
    pub(crate) n: [Needed; 3],
    /// How many times more stratified random items with the naive estimate are needed for 2 %, and
    /// whether that is exact or a bound from below.
    pub(crate) times: Option<(bool, f64)>,
}

/// What every selection and estimator needs, and over how many seeds.
pub(crate) fn needs(state: &State) -> (Vec<Need>, usize) {
    let curves = state.all_curves(Measure::Error);
    // A learned curve that is not computed has a point at this n at most: that says nothing of others.
    let grid = state.grid();
    let whole = |c: &Curve| grid.iter().all(|n| c.points.iter().any(|p| p.n == *n));
    let there = curves.iter().filter(|c| whole(c));
    let seeds = there.map(|c| c.seeds).min().unwrap_or(0);
    let n = |curve: &Curve| match whole(curve) {
        true => TARGETS.map(|target| needed(&curve.points, target)),
        false => [Needed::Unknown; 3],
    };
    let random = curves
        .iter()
        .find(|c| c.selection == SelectionKind::Random && c.estimator == Estimator::Naive)
        .map_or([Needed::Unknown; 3], n);
    let needs = curves.iter().map(|c| {
        let n = n(c);
        Need {
            selection: c.selection,
            estimator: c.estimator,
            n,
            times: times(n[TARGET], random[TARGET]),
        }
    });
    (needs.collect(), seeds)
}

/// The answer in sentences: how many items 2 % need, how many random ones would, and what needs the
/// fewest where that is another method.
pub(crate) fn answer(state: &State, shown: &Shown) -> String {
    let setting = &shown.now.setting;
    let (needs, seeds) = needs(state);
    let find = |selection, estimator| {
        let mut all = needs.iter();
        all.find(|n| n.selection == selection && n.estimator == estimator)
            .copied()
    };
    let (Some(mine), Some(random)) = (
        find(setting.selection, setting.estimator),
        find(SelectionKind::Random, Estimator::Naive),
    ) else {
        return String::new();
    };
    if mine.n[TARGET] == Needed::Unknown || random.n[TARGET] == Needed::Unknown {
        return "The curves are still being computed.".into();
    }
    let items = |n: Needed| match n {
        Needed::AtMost(n) => format!("at most {n} items"),
        Needed::At(n) => format!("{n} items"),
        Needed::More(n) => format!("more than {n} items"),
        Needed::Unknown => "?".into(),
    };
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
        "2 % error: {}{each} with {}{so_far}.",
        items(mine.n[TARGET]),
        method(&mine)
    );
    let is_random =
        |n: &Need| n.selection == SelectionKind::Random && n.estimator == Estimator::Naive;
    if !is_random(&mine) {
        let compared = match mine.times {
            Some((true, x)) if (x - 1.0).abs() < 0.05 => ", about as many".into(),
            Some((true, x)) if x < 1.0 => format!(", {x:.1} times as many"),
            Some((true, x)) => format!(", {x:.1} times more"),
            Some((false, x)) if x > 1.0 => format!(", at least {x:.1} times more"),
            _ => String::new(),
        };
        text.push_str(&format!(
            " Stratified random, naive: {}{compared}.",
            items(random.n[TARGET])
        ));
    }
    let fewest = needs
        .iter()
        .filter_map(|need| match need.n[TARGET] {
            Needed::At(n) | Needed::AtMost(n) => Some((n, need)),
            Needed::More(_) | Needed::Unknown => None,
        })
        .min_by_key(|found| found.0);
    let upper = match mine.n[TARGET] {
        Needed::At(n) | Needed::AtMost(n) => n,
        _ => usize::MAX,
    };
    if let Some((n, need)) = fewest.filter(|found| found.0 < upper && !is_random(found.1)) {
        text.push_str(&format!(" Fewest: {n} with {}.", method(need)));
    }
    text
}

/// The same for a narrow screen.
pub(crate) fn short_answer(state: &State, shown: &Shown) -> String {
    let setting = &shown.now.setting;
    let (needs, _) = needs(state);
    let n = |selection, estimator| {
        let mut all = needs.iter();
        let need = all.find(|n| n.selection == selection && n.estimator == estimator);
        need.map_or(Needed::Unknown, |n| n.n[TARGET]).text()
    };
    let mine = n(setting.selection, setting.estimator);
    let random = n(SelectionKind::Random, Estimator::Naive);
    format!("2 % error needs n {mine}; random {random}")
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
    required(state, shown, &mut page);
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
struct Page<'a> {
    y: u16,
    area: Rect,
    buffer: &'a mut Buffer,
}

impl Page<'_> {
    fn line(&mut self, parts: &[(&str, Style)]) {
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

    fn width(&self) -> usize {
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

/// The n that each method needs for each error, and how many times more random items are needed.
fn required(state: &State, shown: &Shown, page: &mut Page<'_>) {
    let theme = &state.look.theme;
    let setting = &shown.now.setting;
    let (needs, seeds) = needs(state);
    // Where there is little room, the chosen estimator and the baseline.
    let room = usize::from(page.area.height) >= 34;
    let listed = |need: &&Need| {
        let random = need.selection == SelectionKind::Random && need.estimator == Estimator::Naive;
        let paper = !is_learned(need.estimator);
        need.estimator == setting.estimator || random || (room && paper)
    };
    let name = page.width().saturating_sub(25).clamp(8, 30);
    let over = if seeds == 1 {
        "1 seed".into()
    } else {
        format!("mean of {seeds} seeds")
    };
    page.line(&[(&format!("n for MAE below, {over}"), theme.dim)]);
    let heading = left("", name);
    let columns = "   5 %   2 %   1 % random";
    page.line(&[(&heading, theme.dim), (columns, theme.dim)]);
    for need in needs.iter().filter(listed) {
        // The marks of the table above tell the selections where there is no room for names.
        let label = match name {
            29.. => format!("{}, {}", need.selection.label(), need.estimator.label()),
            21.. => format!("{}, {}", need.selection.short(), need.estimator.label()),
            _ => need.estimator.label().to_owned(),
        };
        let chosen = need.selection == setting.selection && need.estimator == setting.estimator;
        let style = if chosen { theme.accent } else { theme.text };
        let n: String = need.n.iter().map(|n| right(&n.text(), 6)).collect();
        let times = match need.times {
            Some((true, x)) => format!("{x:.1}×"),
            Some((false, x)) if x > 1.0 => format!(">{x:.1}×"),
            _ => "-".into(),
        };
        let label = left(&format!(" {label}"), name - 1);
        let times = right(&times, 7);
        page.line(&[
            (
                glyph(state.look.marker, need.selection),
                series(theme, need.selection),
            ),
            (&label, style),
            (&n, style),
            (&times, style),
        ]);
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
