//! What the numbers rest on: source, licence, checks, fit, validation, evidence, split.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::format::{brief, clean, left, percent, right, unit, wrap};
use super::frame::pieces;
use super::plot::{Axis, Plot, Unit};
use super::raster::Stroke;
use super::scores::short_name;
use crate::tui::state::State;
use crate::tui::study::{Choice, FitShown, Study};

/// A line of facts: a heading, or a name with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fact {
    /// A heading.
    Heading(String),
    /// A name and what stands for it.
    Named(&'static str, String),
    /// A sentence.
    Text(String),
    /// A sentence that warns.
    Warning(String),
}

/// Everything that is known of the data, the split and the fit, in order.
pub(crate) fn facts(state: &State, study: &Study) -> Vec<Fact> {
    let benchmark = &study.benchmark;
    let mut facts = Vec::new();
    let named = |name, value: &str| Fact::Named(name, clean(value));
    facts.push(Fact::Heading("Source".into()));
    facts.push(named("benchmark", &benchmark.name));
    if benchmark.simulated {
        let text = "SIMULATED: drawn from a fitted population; no model was measured, no real response is in it.";
        facts.push(Fact::Warning(text.into()));
    }
    let given = [
        ("source", &benchmark.source),
        ("licence", &benchmark.licence),
        ("metric", &benchmark.metric),
        ("notes", &benchmark.notes),
    ];
    for (name, value) in given {
        let value = if value.trim().is_empty() {
            "not given"
        } else {
            value
        };
        facts.push(named(name, value));
    }
    let matrix = &benchmark.matrix;
    let kind = if matrix.is_binary() {
        "right or wrong"
    } else {
        "scores in [0, 1]"
    };
    facts.push(Fact::Named(
        "responses",
        format!(
            "{} models × {} items, {kind}",
            matrix.n_models(),
            matrix.n_items()
        ),
    ));
    let missing = matrix.missing_cells();
    let cells = matrix.n_models() * matrix.n_items();
    let share = missing as f64 / cells.max(1) as f64;
    facts.push(Fact::Named(
        "missing",
        format!("{missing} ({} %)", percent(share, 2)),
    ));
    facts.push(Fact::Named(
        "item texts",
        format!("{} of {}", benchmark.texts.len(), matrix.n_items()),
    ));
    facts.push(Fact::Heading("Checks".into()));
    for warning in benchmark.warnings.iter().chain(&study.split.warnings) {
        facts.push(Fact::Warning(clean(warning)));
    }
    if let Some(fit) = state.scenario().and_then(|s| state.fit(s))
        && !fit.fitted.fit.converged
    {
        let moves = &fit.fitted.fit.moves;
        facts.push(Fact::Warning(format!(
            "the fit stopped after {} sweeps while an ability still moved by {:.4}",
            moves.len(),
            moves.last().copied().unwrap_or(f64::NAN)
        )));
    }
    match &state.findings {
        None => facts.push(Fact::Text("still being looked for".into())),
        Some(found) if found.is_empty() => facts.push(Fact::Text(
            "no duplicate model or item, no constant item, no missing answer".into(),
        )),
        Some(found) => facts.extend(found.iter().map(|f| Fact::Warning(clean(f)))),
    }
    if let Some(fit) = state.scenario().and_then(|s| state.fit(s)) {
        fit_facts(study, fit, &mut facts);
    }
    settings_facts(state, study, &mut facts);
    facts
}

fn fit_facts(study: &Study, fit: &FitShown, facts: &mut Vec<Fact>) {
    let fitted = &fit.fitted;
    let scenario = study.scenario(fitted.index);
    facts.push(Fact::Heading(format!("Fit of {}", brief(&scenario.name))));
    let joint = fitted.fit_items.len() < fitted.fit.items.len();
    let with = if joint {
        ", one fit with the other scenarios"
    } else {
        ""
    };
    facts.push(Fact::Named(
        "items",
        format!(
            "{} in {}, {} average{with}",
            scenario.n_items(),
            match scenario.subscenarios.len() {
                1 => "1 sub-scenario".to_owned(),
                n => format!("{n} sub-scenarios"),
            },
            scenario.aggregate.name()
        ),
    ));
    facts.push(Fact::Named(
        "models",
        format!("{} train, {} test", fitted.train.len(), fitted.test.len()),
    ));
    let given = study.settings.parameters.as_ref();
    facts.push(Fact::Named(
        "D",
        match given {
            None => format!("{}: the smallest within .25 % of the best", fitted.dims()),
            Some(_) => format!("{}: that of the given parameters", fitted.dims()),
        },
    ));
    for row in &fitted.choice.table {
        let chosen = if row.dims == fitted.dims() {
            "  ← chosen"
        } else {
            ""
        };
        let error = format!(
            "D {:>2}: error {} %{chosen}",
            row.dims,
            percent(row.error, 3)
        );
        facts.push(Fact::Named("", error));
    }
    facts.push(Fact::Named(
        "error b",
        format!("{} % at the chosen D; in gp-IRT's λ", percent(fitted.b, 2)),
    ));
    facts.push(Fact::Named("variance s²", format!("{:.4}", fitted.s2)));
    let threshold = match fitted.threshold {
        Some(c) => format!("binarised: right above {c:.4}"),
        None => "scores as they are, not binarised".into(),
    };
    facts.push(Fact::Named("threshold", threshold));
    let sweeps = fitted.fit.moves.len();
    let stop = if fitted.fit.converged {
        "converged"
    } else {
        "not converged: the largest number of sweeps"
    };
    facts.push(Fact::Named("sweeps", format!("{sweeps}, {stop}")));
    if let (Some(first), Some(last)) = (fitted.fit.evidence.first(), fitted.fit.evidence.last()) {
        facts.push(Fact::Named(
            "evidence",
            format!("{first:.0} → {last:.0} nats"),
        ));
    }
    let prior = |name: &'static str, prior: &tinyscope::irt::Prior| {
        let mean: Vec<String> = prior
            .mean
            .iter()
            .take(4)
            .map(|m| format!("{m:+.2}"))
            .collect();
        let more = if prior.mean.len() > 4 { " …" } else { "" };
        Fact::Named(
            name,
            format!("mean {}{more}, by empirical Bayes", mean.join(" ")),
        )
    };
    facts.push(prior("prior (a, b)", &fitted.fit.item_prior));
    facts.push(prior("prior θ", &fitted.fit.ability_prior));
    let constant = fit.constant.iter().filter(|c| **c).count();
    let reversed = (0..fit.items.len()).filter(|&i| fit.reversed(i)).count();
    facts.push(Fact::Named(
        "odd items",
        format!("{constant} the same for all, {reversed} easier for weaker models"),
    ));
}

fn settings_facts(state: &State, study: &Study, facts: &mut Vec<Fact>) {
    let settings = &study.settings;
    facts.push(Fact::Heading("Settings".into()));
    let dims: Vec<String> = settings.dims.iter().map(usize::to_string).collect();
    let rows = [
        (
            "split",
            format!("{}, seed {}", settings.split, state.setting.seed),
        ),
        ("selection", state.setting.selection.label().to_owned()),
        ("estimator", state.setting.estimator.label().to_owned()),
        ("candidates", format!("D of {}", dims.join(", "))),
        ("theta", state.setting.theta.name().to_owned()),
        ("ability", settings.ability.name().to_owned()),
        ("seen part", format!("{} weights", settings.seen.name())),
        ("responses", settings.responses.name().to_owned()),
    ];
    facts.extend(rows.map(|(name, value)| Fact::Named(name, value)));
    learned_facts(state, facts);
    if let Some(given) = &settings.parameters {
        facts.push(Fact::Named(
            "parameters",
            clean(&given.path.to_string_lossy()),
        ));
        let seen = given.seen(&study.benchmark, &study.split);
        let said = given.notes.iter().chain(&seen);
        facts.extend(said.map(|text| Fact::Warning(clean(text))));
    }
    facts.push(Fact::Text(
        "method: tinyBenchmarks, arXiv 2402.14992".into(),
    ));
}

/// What was learned from the training models at the shown setting.
fn learned_facts(state: &State, facts: &mut Vec<Fact>) {
    let Some(now) = state.shown.as_ref().filter(|s| s.fresh).map(|s| &s.now) else {
        return;
    };
    if let Some(lambda) = crate::tui::sure::learned(&now.cells, |s| s.lambda) {
        let text = format!("{}: λ with the least held-out error", unit(lambda, 2));
        facts.push(Fact::Named("gp-cv", text));
    }
    if let Some([naive, p_irt, aipw, ridge]) = now.weights().map(|w| w.map(|x| unit(x, 2))) {
        let text = format!("naive {naive}, p-IRT {p_irt}, AIPW {aipw}, ridge {ridge}");
        facts.push(Fact::Named("stacked", text));
    }
    if let Some(half) = now.sure.half_width {
        let ((held, of), half) = (now.sure.held, percent(half, 1));
        let text = format!("±{half} points on average; hold {held} of {of} test models");
        facts.push(Fact::Named("90 %", text));
    }
}

/// A line on the screen with its style.
fn lines(state: &State, facts: &[Fact], width: usize) -> Vec<(String, Style)> {
    let theme = &state.look.theme;
    let mut lines = Vec::new();
    const NAME: usize = 13;
    for fact in facts {
        match fact {
            Fact::Heading(text) => {
                if !lines.is_empty() {
                    lines.push((String::new(), theme.text));
                }
                lines.push((text.clone(), theme.title));
            }
            Fact::Named(name, value) => {
                for (at, line) in wrap(value, width.saturating_sub(NAME)).iter().enumerate() {
                    let name = if at == 0 { name } else { "" };
                    lines.push((format!("{}{line}", left(name, NAME)), theme.text));
                }
            }
            Fact::Text(text) => {
                lines.extend(wrap(text, width).into_iter().map(|l| (l, theme.dim)));
            }
            Fact::Warning(text) => {
                lines.extend(wrap(text, width).into_iter().map(|l| (l, theme.warn)));
            }
        }
    }
    lines
}

/// Draws facts, scrolled, and the plot of the fit where there is height for it.
pub(crate) fn draw(state: &State, study: &Study, area: Rect, buffer: &mut Buffer) {
    let fit = state.scenario().and_then(|s| state.fit(s));
    let plots = if area.height >= 22 && fit.is_some() {
        10
    } else {
        0
    };
    let body = Rect {
        height: area.height - plots,
        ..area
    };
    let facts = facts(state, study);
    let mut lines = lines(state, &facts, usize::from(area.width));
    if super::parts(state, whole(state)).inspector.width == 0 {
        lines.push((String::new(), state.look.theme.text));
        lines.extend(split_lines(state, study, usize::from(area.width)));
    }
    scrolled(state, &lines, state.scroll, body, buffer);
    if let Some(fit) = fit.filter(|_| plots > 0) {
        let half = area.width / 2;
        let place = |x: u16, width: u16| Rect {
            x: area.x + x,
            y: body.bottom(),
            width,
            height: plots,
        };
        evidence(state, fit, place(0, half - 1), buffer);
        validation(state, fit, place(half, area.width - half), buffer);
    }
}

fn whole(state: &State) -> Rect {
    let (width, height) = state.look.size;
    Rect::new(0, 0, width, height)
}

/// Lines from a scroll position on, which stops at the end.
fn scrolled(
    state: &State,
    lines: &[(String, Style)],
    scroll: u16,
    area: Rect,
    buffer: &mut Buffer,
) {
    let height = usize::from(area.height);
    let most = lines.len().saturating_sub(height);
    let from = usize::from(scroll).min(most);
    for (at, (line, style)) in lines.iter().skip(from).take(height).enumerate() {
        let y = area.y + at as u16;
        buffer.set_stringn(area.x, y, line, usize::from(area.width), *style);
    }
    let mark = match (from < most, from > 0) {
        (true, _) => " ↓ more ",
        (false, true) => " ↑ back ",
        _ => return,
    };
    let x = area.right().saturating_sub(8);
    let y = area.bottom().saturating_sub(1);
    super::frame::over(buffer, x, y, mark, state.look.theme.key);
}

/// The evidence bound against the sweeps: it never falls.
fn evidence(state: &State, fit: &FitShown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let evidence = &fit.fitted.fit.evidence;
    let Some(last) = evidence.last() else {
        return;
    };
    // The distance to the end falls by powers of ten: a straight axis would show a corner.
    let gap = |e: &f64| (last - e).max(0.0) + 1.0;
    let points: Vec<(f64, f64)> = evidence
        .iter()
        .enumerate()
        .map(|(k, e)| (k as f64, gap(e)))
        .collect();
    let y = Axis::log(
        points.iter().map(|p| p.1),
        "nats below the end",
        Unit::Number,
    );
    let x = Axis::around(points.iter().map(|p| p.0), "sweeps", Unit::Number);
    let mut plot = Plot::new(area, x, y, theme, state.look.marker, buffer);
    plot.curve(&points, theme.series[2], 1, Stroke::Solid);
    plot.finish(buffer);
}

/// Validation error against D, the chosen one marked.
fn validation(state: &State, fit: &FitShown, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let table = &fit.fitted.choice.table;
    let points: Vec<(f64, f64)> = table
        .iter()
        .filter(|row| row.error.is_finite())
        .map(|row| (row.dims as f64, row.error))
        .collect();
    if points.is_empty() {
        return;
    }
    let y = Axis::around(
        points.iter().map(|p| p.1),
        "validation error %",
        Unit::Percent,
    );
    let x = Axis::around(points.iter().map(|p| p.0), "D", Unit::Number);
    let mut plot = Plot::new(area, x, y, theme, state.look.marker, buffer);
    plot.curve(&points, theme.dim, 1, Stroke::Solid);
    for (dims, error) in points {
        let chosen = dims as usize == fit.fitted.dims();
        let symbol = super::tradeoff::here(state.look.marker);
        let (symbol, style) = if chosen {
            (symbol, theme.accent)
        } else {
            ("o", theme.text)
        };
        plot.glyph(dims, error, symbol, style);
    }
    plot.finish(buffer);
}

/// Test models, then training models, with true score and date.
fn split_lines(state: &State, study: &Study, width: usize) -> Vec<(String, Style)> {
    let theme = &state.look.theme;
    let split = state.split().unwrap_or(&study.split);
    let truths = state.true_scores();
    let dated = width >= 40;
    let name = width.saturating_sub(if dated { 18 } else { 7 });
    let mut lines = Vec::new();
    for (title, models) in [
        ("Test models", &split.test),
        ("Training models", &split.train),
    ] {
        if !lines.is_empty() {
            lines.push((String::new(), theme.text));
        }
        let date = if dated {
            right("released", 11)
        } else {
            String::new()
        };
        let heading = format!("{} ({})", title, models.len());
        lines.push((
            format!("{}{}{date}", left(&heading, name), right("true", 7)),
            theme.title,
        ));
        let mut rows: Vec<(usize, Option<f64>)> = models
            .iter()
            .map(|&m| (m, truths.as_ref().and_then(|t| t[m])))
            .collect();
        rows.sort_by(|p, q| {
            let (p_score, q_score) = (p.1.unwrap_or(-1.0), q.1.unwrap_or(-1.0));
            q_score.total_cmp(&p_score).then(p.0.cmp(&q.0))
        });
        for (model, truth) in rows {
            let released = study.benchmark.released.get(study.model(model));
            let released = released.map_or(String::new(), |d| d.to_string());
            let date = if dated {
                right(&released, 11)
            } else {
                String::new()
            };
            let score = right(&truth.map_or("-".into(), |t| percent(t, 1)), 7);
            let label = left(&short_name(study, model, name), name);
            lines.push((format!("{label}{score}{date}"), theme.text));
        }
    }
    lines
}

/// The models of the split, for the inspector.
pub(crate) fn models(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(study) = &state.study else {
        return;
    };
    let lines = split_lines(state, study, usize::from(area.width));
    scrolled(state, &lines, state.scroll, area, buffer);
}

/// For a slide: what is given of the source, and what the fit rests on, as far as there is room.
pub(crate) fn origin(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(study) = &state.study else {
        return;
    };
    let width = usize::from(area.width).min(100);
    let mut facts = facts(state, study);
    facts.retain(|fact| !matches!(fact, Fact::Named(_, value) if value == "not given"));
    let mut lines = lines(state, &facts, width);
    let height = usize::from(area.height);
    if lines.len() > height {
        lines.truncate(height.saturating_sub(1));
        lines.push(("… the rest: 6".to_owned(), state.look.theme.dim));
    }
    let x = area.x + (area.width - width as u16) / 2;
    for (at, (line, style)) in lines.iter().enumerate() {
        let y = area.y + at as u16;
        pieces(buffer, x, y, area.right(), &[(line, *style)]);
    }
}
