//! One test model: its anchors are answered one by one, and the estimate converges.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use tinyscope::estimate::{Estimator, Interval};
use tinyscope::experiment::{Replay, Step};

use super::format::{brief, fit, left, percent, signed, unit, wrap};
use super::frame::pieces;
use super::inspector;
use super::models::half_width;
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use super::tradeoff::here;
use crate::tui::glyphs::Marker;
use crate::tui::job::Who;
use crate::tui::replay::SPEEDS;
use crate::tui::state::{Scope, Shown, State};
use crate::tui::study::{Choice, is_learned};

/// The estimate of a step by the estimator and lambda of the setting.
pub(crate) fn estimate(shown: &Shown, step: &Step) -> f64 {
    let lambda = match shown.now.setting.estimator {
        Estimator::Naive => 1.0,
        Estimator::PIrt => 0.0,
        // Nothing is learned from a part of the answers: gp-IRT stands for what is learned.
        _ => shown.now.setting.lambda.value(step.lambda),
    };
    lambda * step.naive + (1.0 - lambda) * step.p_irt
}

/// Whose replay it is, in words.
pub(crate) fn name(state: &State, who: Who) -> String {
    match (who, &state.study, &state.mine) {
        (Who::Model(row), Some(study), _) => brief(study.model(row)),
        (Who::Mine, _, Some(mine)) => brief(&mine.name),
        _ => String::new(),
    }
}

/// The replay on the screen, where there is one of the shown scenario.
pub(crate) fn current<'a>(state: &'a State, shown: &Shown) -> Option<(Who, &'a Replay)> {
    let Scope::One(scenario) = shown.now.setting.scope else {
        return None;
    };
    let (key, who, replay) = state.replay.result.as_ref()?;
    (key.fit.scenario == scenario).then_some((*who, replay.as_ref()))
}

/// Draws the estimates above, the ability below, and where the replay stands.
pub(crate) fn draw(state: &State, shown: &Shown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    if shown.now.setting.scope == Scope::Overall {
        super::one_scenario(state, "A replay shows", area, buffer);
        return;
    }
    let Some((who, replay)) = current(state, shown) else {
        let text = "replaying the answers …";
        let x = area.x + area.width.saturating_sub(text.len() as u16) / 2;
        buffer.set_stringn(
            x,
            area.y + area.height / 2,
            text,
            usize::from(area.width),
            theme.dim,
        );
        return;
    };
    let title = name(state, who);
    let row = Rect { height: 1, ..area };
    let x = pieces(
        buffer,
        row.x,
        row.y,
        row.right(),
        &[
            (&fit(&title, usize::from(area.width) / 2), theme.accent),
            ("  ", theme.dim),
        ],
    );
    let truth = replay.truth.map_or("true score unknown".into(), |t| {
        format!("true {} %", percent(t, 1))
    });
    pieces(buffer, x, row.y, row.right(), &[(&truth, theme.text)]);
    if replay.steps.is_empty() {
        let text = "this model answered none of the chosen items";
        buffer.set_stringn(
            area.x,
            area.y + 2,
            text,
            usize::from(area.width),
            theme.warn,
        );
        return;
    }
    let upper = (area.height.saturating_sub(3)) * 3 / 5;
    let place = |y: u16, height: u16| Rect {
        y: area.y + y,
        height,
        ..area
    };
    scores(state, shown, who, replay, place(1, upper), buffer);
    let lower = area.height.saturating_sub(upper + 3);
    ability(state, replay, place(1 + upper, lower), buffer);
    transport(state, replay, place(area.height - 2, 2), buffer);
}

/// How far the replay is: the answers so far as marks, and how fast it runs.
fn transport(state: &State, replay: &Replay, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let ascii = state.look.marker == Marker::Ascii;
    let (steps, at) = (replay.steps.len(), state.replay.step);
    let width = usize::from(area.width);
    // One mark an answer; the last ones where there are more than columns.
    let first = at.saturating_sub(width);
    for (column, step) in replay.steps[first..at.min(steps)].iter().enumerate() {
        let (symbol, style) = match step.score {
            s if s >= 0.5 => (if ascii { "#" } else { "█" }, theme.good),
            _ => (if ascii { "." } else { "▁" }, theme.bad),
        };
        buffer.set_string(area.x + column as u16, area.y, symbol, style);
    }
    let state_word = match (state.replay.playing, ascii) {
        (true, false) => "▶",
        (true, true) => ">",
        (false, false) => "‖",
        (false, true) => "=",
    };
    let speed = SPEEDS[state.replay.speed.min(SPEEDS.len() - 1)];
    let right_answers: f64 = replay.steps[..at.min(steps)].iter().map(|s| s.score).sum();
    let text = format!(" answer {at} of {steps}   {right_answers:.0} right   {speed:.0} a second");
    let parts = [(state_word, theme.key), (text.as_str(), theme.text)];
    pieces(buffer, area.x, area.y + 1, area.right(), &parts);
}

fn answers_axis(replay: &Replay) -> Axis {
    Axis {
        low: 0.0,
        high: replay.steps.len() as f64 + 0.5,
        label: "answers".into(),
        unit: Unit::Number,
        log: false,
    }
}

/// Estimate and true score against the number of answers.
pub(crate) fn scores(
    state: &State,
    shown: &Shown,
    who: Who,
    replay: &Replay,
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = &state.look.theme;
    let at = state.replay.step.min(replay.steps.len());
    let estimates: Vec<f64> = replay.steps.iter().map(|s| estimate(shown, s)).collect();
    let values = estimates.iter().copied().chain(replay.truth);
    let ghost = ghost_estimate(shown, who);
    let parts = shown.now.setting.estimator == Estimator::GpIrt && state.look.slide.is_none();
    let label = if parts && area.width > 60 {
        "estimated %: · · naive, ── p-IRT"
    } else {
        "estimated %"
    };
    let last = last(state, shown, who).filter(|_| at == replay.steps.len());
    let ends = last.iter().flat_map(|i| [i.low, i.high, i.estimate]);
    let y = Axis::around(values.chain(ghost).chain(ends), label, Unit::Percent);
    let x = answers_axis(replay);
    let mut plot = Plot::new(area, x, y, theme, state.look.marker, buffer);
    plot.thick = u8::from(state.look.slide.is_some());
    let end = replay.steps.len() as f64;
    if let Some(truth) = replay.truth {
        for shift in [0.02, -0.02] {
            let line = [(0.0, truth + shift), (end, truth + shift)];
            plot.curve(&line, theme.band, 1, Stroke::Dotted);
        }
        plot.curve(
            &[(0.0, truth), (end, truth)],
            theme.diagonal,
            2,
            Stroke::Solid,
        );
    }
    if let Some(ghost) = ghost {
        plot.curve(
            &[(0.0, ghost), (end, ghost)],
            theme.ghost,
            2,
            Stroke::Dashed,
        );
    }
    let numbered = |from: usize, to: usize, value: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        (from..to).map(|k| ((k + 1) as f64, value(k))).collect()
    };
    let naive = |k: usize| replay.steps[k].naive;
    let p_irt = |k: usize| replay.steps[k].p_irt;
    if parts {
        plot.curve(
            &numbered(0, at, &naive),
            theme.fade(theme.series[0]),
            3,
            Stroke::Dotted,
        );
        plot.curve(
            &numbered(0, at, &p_irt),
            theme.fade(theme.series[1]),
            3,
            Stroke::Dashed,
        );
    }
    plot.curve(
        &numbered(0, at, &|k| estimates[k]),
        theme.accent,
        4,
        Stroke::Solid,
    );
    if let Some(i) = last {
        plot.column(end, (i.low, i.high), "│", theme.accent);
    }
    if at > 0 {
        let value = last.map_or(estimates[at - 1], |i| i.estimate);
        if state.look.slide.is_some() {
            plot.disc(at as f64, value, 0.5, theme.accent, 5);
        } else {
            plot.glyph(at as f64, value, here(state.look.marker), theme.accent);
        }
    }
    let inner = plot.inner;
    plot.finish(buffer);
    if at > 0 && state.look.slide.is_none() {
        let value = last.map_or(estimates[at - 1], |i| i.estimate);
        let half = last.map_or(String::new(), |i| format!(" {}", half_width(i)));
        let error = replay
            .truth
            .map_or(String::new(), |t| format!(" ({})", signed(value - t, 1)));
        let learned = is_learned(shown.now.setting.estimator);
        let estimator = match shown.now.setting.estimator {
            // Before the last answer it is gp-IRT that is drawn.
            _ if learned && last.is_none() => Estimator::GpIrt,
            estimator => estimator,
        };
        let text = format!("{} {}{half} %{error}", estimator.label(), percent(value, 1));
        let x = inner.right().saturating_sub(text.chars().count() as u16);
        buffer.set_string(x, area.y, text, theme.accent);
    }
}

/// The estimate of all answers with its interval, where the replay is of the shown setting.
fn last(state: &State, shown: &Shown, who: Who) -> Option<Interval> {
    let (key, ..) = state.replay.result.as_ref()?;
    if !state.bars || *key != state.key(key.fit.scenario, &shown.now.setting) {
        return None;
    }
    match who {
        Who::Mine => shown.now.mine_interval,
        Who::Model(row) => shown.now.interval(row),
    }
}

/// The final estimate of the pinned setting for the same model.
fn ghost_estimate(shown: &Shown, who: Who) -> Option<f64> {
    let ghost = shown.ghost.as_ref()?;
    match who {
        Who::Mine => ghost.mine,
        Who::Model(row) => ghost
            .scores
            .iter()
            .find(|s| s.model == row)
            .map(|s| s.estimate),
    }
}

/// The general ability with one standard deviation, against the number of answers.
fn ability(state: &State, replay: &Replay, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    if area.height < 5 {
        return;
    }
    let at = state.replay.step.min(replay.steps.len());
    let ends = replay
        .steps
        .iter()
        .flat_map(|s| [s.theta - s.theta_sd, s.theta + s.theta_sd]);
    let y = Axis::around(ends, "ability θ, first axis, ± 1 sd", Unit::Number);
    let x = answers_axis(replay);
    let mut plot = Plot::new(area, x, y, theme, state.look.marker, buffer);
    let steps = replay.steps[..at].iter().enumerate();
    let band: Vec<(f64, f64, f64)> = steps
        .clone()
        .map(|(k, s)| ((k + 1) as f64, s.theta - s.theta_sd, s.theta + s.theta_sd))
        .collect();
    plot.band(&band, theme.fade(theme.series[2]), 1);
    let line: Vec<(f64, f64)> = steps.map(|(k, s)| ((k + 1) as f64, s.theta)).collect();
    plot.curve(&line, theme.series[2], 2, Stroke::Solid);
    let inner = plot.inner;
    plot.finish(buffer);
    if let Some(step) = at.checked_sub(1).and_then(|k| replay.steps.get(k)) {
        let text = format!("{:+.2} ± {:.2}", step.theta, step.theta_sd);
        let x = inner.right().saturating_sub(text.chars().count() as u16);
        if x > area.x + 32 {
            buffer.set_string(x, area.y, text, theme.series[2]);
        }
    }
}

/// The item just answered, for the inspector: what came out, what was expected, its text.
pub(crate) fn answer(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let (Some(shown), Some(study)) = (&state.shown, &state.study) else {
        return;
    };
    let Some((_, replay)) = current(state, shown) else {
        return;
    };
    let at = state.replay.step.min(replay.steps.len());
    let Some(step) = at.checked_sub(1).and_then(|k| replay.steps.get(k)) else {
        return;
    };
    let width = usize::from(area.width);
    let mut y = area.y;
    let id = brief(study.item_id(replay.scenario, step.item));
    for line in wrap(&id, width).iter().take(2) {
        buffer.set_string(area.x, y, fit(line, width), theme.accent);
        y += 1;
    }
    let (outcome, style) = match step.score {
        1.0 => ("right".to_owned(), theme.good),
        0.0 => ("wrong".to_owned(), theme.bad),
        s => (format!("{} %", percent(s, 0)), theme.text),
    };
    let before = at.checked_sub(2).and_then(|k| replay.steps.get(k));
    let change = before.map(|b| estimate(shown, step) - estimate(shown, b));
    let weight = state.anchor_of(step.item).map_or(f64::NAN, |a| a.1.weight);
    let fitted = state.fit(replay.scenario);
    let share = fitted
        .and_then(|f| f.share.get(step.item))
        .copied()
        .unwrap_or(f64::NAN);
    let rows = [
        ("answer", outcome, style),
        (
            "others",
            format!("{} % are right", percent(share, 0)),
            theme.text,
        ),
        ("weight", unit(weight, 4), theme.text),
        (
            "estimate",
            change.map_or("-".into(), |c| format!("{} points", signed(c, 2))),
            theme.text,
        ),
        ("λ now", unit(step.lambda, 2), theme.text),
    ];
    for (name, value, style) in rows {
        let parts = [
            (&*left(name, 10), theme.dim),
            (&*fit(&value, width.saturating_sub(10)), style),
        ];
        pieces(buffer, area.x, y, area.right(), &parts);
        y += 1;
    }
    y += 1;
    let place = Rect {
        y,
        height: area.bottom().saturating_sub(y),
        ..area
    };
    inspector::text(state, replay.scenario, step.item, place, buffer);
}
