//! Slides for talks: the frame gone, a large title, one plot, a sentence that says what it shows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use tui_big_text::{BigText, PixelSize};
use unicode_width::UnicodeWidthStr;

use super::format::{brief, percent, unit, wrap};
use super::frame::{footer, waiting};
use super::{data, dim, items, map, ranking, replay, scores, tradeoff, words};
use crate::tui::glyphs::Marker;
use crate::tui::overlay::Overlay;
use crate::tui::state::{Scope, Shown, State, ViewName};
use crate::tui::study::{Choice, Measure};

/// What a slide shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slide {
    Map,
    Difficulty,
    Scores,
    Ranks,
    Error,
    Lambda,
    Replay,
    Origin,
}

const SLIDES: [Slide; 8] = [
    Slide::Map,
    Slide::Difficulty,
    Slide::Scores,
    Slide::Ranks,
    Slide::Error,
    Slide::Lambda,
    Slide::Replay,
    Slide::Origin,
];

impl Slide {
    fn view(self) -> ViewName {
        match self {
            Slide::Map => ViewName::Map,
            Slide::Difficulty => ViewName::Items,
            Slide::Scores | Slide::Ranks => ViewName::Scores,
            Slide::Error | Slide::Lambda => ViewName::Tradeoff,
            Slide::Replay => ViewName::Replay,
            Slide::Origin => ViewName::Data,
        }
    }
}

/// Shows the slide of the current view.
pub(crate) fn begin(state: &mut State) {
    let wanted = |slide: &Slide| {
        slide.view() == state.view
            && (state.view != ViewName::Scores || state.ranking == (*slide == Slide::Ranks))
    };
    let first = SLIDES.iter().position(wanted).unwrap_or(0);
    state.look.before_slides = Some(state.view);
    go(state, first);
}

/// The next slide, or the one before; the ends hold. On the replay, the answers come first.
pub(crate) fn step(state: &mut State, by: isize) {
    let Some(at) = state.look.slide else {
        return;
    };
    if SLIDES.get(at) == Some(&Slide::Replay)
        && by == 1
        && state.replay.step <= 1
        && !state.replay.playing
    {
        state.replay.playing = state.replay.steps() > 1;
        return;
    }
    let next = (at as isize + by).clamp(0, SLIDES.len() as isize - 1);
    go(state, next.unsigned_abs());
}

fn go(state: &mut State, at: usize) {
    state.look.slide = Some(at);
    state.replay.pause();
    let view = SLIDES[at].view();
    if view == ViewName::Replay && state.view != view {
        // The answers come one by one: the first step on plays them.
        state.replay.step = 1;
    }
    state.view = view;
}

/// Draws a slide over the whole screen.
pub(crate) fn draw(state: &State, slide: usize, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let slide = SLIDES[slide.min(SLIDES.len() - 1)];
    let Some(shown) = &state.shown else {
        waiting(state, area, buffer);
        return;
    };
    let margin = area.width / 16;
    let inner = Rect {
        x: area.x + margin,
        width: area.width - 2 * margin,
        ..area
    };
    let (title, caption) = words_of(state, shown, slide);
    let below = large(state, &title, inner, buffer);
    let lines = wrap(&caption, usize::from(inner.width));
    let caption_at = area.bottom().saturating_sub(2 + lines.len() as u16);
    for (at, line) in lines.iter().enumerate() {
        let x = inner.x + (inner.width.saturating_sub(line.width() as u16)) / 2;
        buffer.set_string(x, caption_at + at as u16, line, theme.title);
    }
    let plot = Rect {
        y: below + 1,
        height: caption_at.saturating_sub(below + 2),
        ..inner
    };
    picture(state, shown, slide, plot, buffer);
    if !shown.fresh {
        dim(plot, buffer);
    }
    // Whose data it is stays on every slide.
    if let Some(study) = &state.study {
        let mut text = brief(&study.benchmark.name);
        if let Scope::One(s) = shown.now.setting.scope
            && study.scenarios() > 1
        {
            text.push_str(&format!(" › {}", brief(&study.scenario(s).name)));
        }
        let y = area.bottom() - 1;
        let style = if study.benchmark.simulated {
            theme.simulated
        } else {
            theme.dim
        };
        let badge = if study.benchmark.simulated {
            " SIMULATED "
        } else {
            ""
        };
        buffer.set_string(area.x + 1, y, badge, style);
        let x = area.x + 2 + badge.len() as u16;
        let room = usize::from(area.right().saturating_sub(x + 40));
        buffer.set_stringn(x, y, text, room, theme.dim);
        let at = state.look.slide.unwrap_or(0) + 1;
        let number = format!("→ next  ← back  Esc leaves   {at} / {}", SLIDES.len());
        let x = area.right().saturating_sub(number.width() as u16 + 1);
        buffer.set_string(x, y, number, theme.dim);
    }
    if state.message.is_some() || state.overlay != Overlay::None {
        let row = Rect {
            y: area.bottom() - 1,
            height: 1,
            ..area
        };
        footer(state, row, buffer);
    }
}

/// The title in letters of several rows, as large as they fit; returns the row after it.
fn large(state: &State, title: &str, area: Rect, buffer: &mut Buffer) -> u16 {
    let theme = &state.look.theme;
    let letters = title.chars().count() as u16;
    let ascii = state.look.marker == Marker::Ascii;
    let sizes = [(PixelSize::HalfHeight, 8, 4), (PixelSize::Quadrant, 4, 4)];
    // Letters of the large font are ASCII only.
    let fits = sizes.into_iter().find(|(_, width, height)| {
        letters * width <= area.width && area.height >= 8 * height && title.is_ascii() && !ascii
    });
    match fits {
        Some((size, width, height)) => {
            let text = BigText::builder()
                .pixel_size(size)
                .style(theme.title)
                .lines(vec![Line::from(title.to_owned())])
                .build();
            let used = letters * width;
            let place = Rect {
                x: area.x + (area.width - used) / 2,
                y: area.y + 1,
                width: used,
                height,
            };
            text.render(place, buffer);
            place.bottom()
        }
        None => {
            let x = area.x + area.width.saturating_sub(title.width() as u16) / 2;
            buffer.set_stringn(x, area.y + 1, title, usize::from(area.width), theme.accent);
            area.y + 2
        }
    }
}

fn picture(state: &State, shown: &Shown, slide: Slide, area: Rect, buffer: &mut Buffer) {
    let scenario = match shown.now.setting.scope {
        Scope::One(s) => state.fit(s).zip(shown.now.cell()),
        Scope::Overall => None,
    };
    match (slide, scenario) {
        (Slide::Map, Some((fit, cell))) => map::picture(state, fit, cell, shown, area, buffer),
        (Slide::Difficulty, Some((fit, cell))) => {
            items::histogram(state, fit, cell, shown, area, buffer);
        }
        (Slide::Scores, _) => scores::scatter(state, shown, area, buffer),
        (Slide::Ranks, _) => ranking::slopes(state, shown, area, buffer),
        (Slide::Error, _) => tradeoff::against_n(state, shown, Measure::Error, area, buffer),
        (Slide::Lambda, _) => tradeoff::against_lambda(state, shown, area, buffer),
        (Slide::Replay, Some(_)) => match replay::current(state, shown) {
            Some((who, found)) => replay::scores(state, shown, who, found, area, buffer),
            None => waiting(state, area, buffer),
        },
        (Slide::Origin, _) => data::origin(state, area, buffer),
        (Slide::Map | Slide::Difficulty | Slide::Replay, None) => {
            super::one_scenario(state, "This slide shows", area, buffer);
        }
    }
}

/// Title and caption of a slide.
fn words_of(state: &State, shown: &Shown, slide: Slide) -> (String, String) {
    let setting = &shown.now.setting;
    let method = format!(
        "{} with {}",
        setting.selection.label(),
        setting.estimator.label()
    );
    let all = super::chosen_of(state, shown);
    let error = |m: Option<f64>| m.map_or("?".into(), |v| format!("{} %", percent(v, 1)));
    let mine = error(shown.now.metrics.mae);
    let random = error(shown.baseline.as_ref().and_then(|b| b.mae));
    let number = |v: Option<f64>| v.map_or("undefined".into(), |v| unit(v, 2));
    match slide {
        Slide::Map => (
            all.clone(),
            format!(
                "Every dot is an item; alike items lie together. {all} stand for all, the larger the more."
            ),
        ),
        Slide::Difficulty => (
            "Easy to hard".into(),
            "The chosen items, by weight, follow the difficulty of all items.".into(),
        ),
        Slide::Scores => (
            format!("{mine} error"),
            format!(
                "{} models that were held out, from {all}: {mine} off on average; random items: {random}.{}",
                shown.now.metrics.models,
                match (shown.now.sure.half_width, shown.now.sure.held) {
                    (Some(_), (held, of)) if state.bars => {
                        format!(" Bars: 90 % intervals; they hold {held} of {of}.")
                    }
                    _ => String::new(),
                }
            ),
        ),
        Slide::Ranks => {
            let pairs = shown.now.metrics.pairs_in_order;
            let share = pairs.map_or("?".into(), |p| format!("{:.0} %", p * 100.0));
            (
                format!("{share} in order"),
                format!(
                    "{share} of all pairs of models keep their order (Spearman {}).{}",
                    number(shown.now.metrics.spearman),
                    match shown.now.sure.half_width {
                        Some(_) if state.bars => " Bars: ranks that each may hold, 90 %.",
                        _ => "",
                    }
                ),
            )
        }
        Slide::Error => ("How many items?".into(), words::answer(state, shown)),
        Slide::Lambda => (
            "Data or model?".into(),
            format!(
                "Lambda 1 trusts the {} answers, lambda 0 the IRT model; the paper's formula says {}.",
                setting.n,
                number(shown.now.paper_lambda)
            ),
        ),
        Slide::Replay => {
            let found = replay::current(state, shown);
            let name = found.map_or(String::new(), |(who, _)| replay::name(state, who));
            let steps = state.replay.step;
            let line = found.and_then(|(_, r)| {
                let value = replay::estimate(shown, r.steps.get(steps.checked_sub(1)?)?);
                let truth = r.truth.map_or(String::new(), |t| {
                    format!("; the true score is {} %", percent(t, 1))
                });
                let answers = match steps {
                    1 => "1 answer".to_owned(),
                    steps => format!("{steps} answers"),
                };
                Some(format!("after {answers} {} %{truth}", percent(value, 1)))
            });
            (
                "Answer by answer".into(),
                format!(
                    "{name}: {}.",
                    line.unwrap_or_else(|| "no answer yet".into())
                ),
            )
        }
        Slide::Origin => (
            "Where it is from".into(),
            format!("tinyscope; {method}, seed {}.", setting.seed),
        ),
    }
}
