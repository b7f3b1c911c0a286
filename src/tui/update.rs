//! What an event does to the state, and what the event loop must do about it.
//!
//! No input or output happens here, so tests need neither a terminal nor a thread.

use std::path::PathBuf;

use tinyscope::estimate::Estimator;
use tinyscope::experiment::Lambda;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::{Action, action_of};
use super::event::{Event, Outcome, Report};
use super::state::{
    Axes, ColourBy, Job, LAMBDA_STEP, N_STOPS, Overlay, Running, Scope, Sort, Source, State,
    ViewName,
};
use super::study::Choice;
use super::theme::Theme;
use super::walk::walk;

/// What the event loop must do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// Start this job under this generation number; a running one is cancelled.
    Start(Job, u64),
    /// Cancel the running job.
    Cancel,
    /// Keep this benchmark in the list of recent ones.
    Remember(Source),
    /// Leave.
    Quit,
}

/// Applies an event.
pub(crate) fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let mut effects = Vec::new();
    match event {
        Event::Key(key) => on_key(state, &key, &mut effects),
        Event::Paste(text) => {
            for c in text.chars().filter(|c| !c.is_control()) {
                type_char(state, c);
            }
        }
        Event::Resize => {}
        Event::Job { generation, report } => on_report(state, generation, report, &mut effects),
        Event::Leave => effects.push(Effect::Quit),
    }
    schedule(state, &mut effects);
    effects
}

/// Starts reading a benchmark.
pub(crate) fn open(state: &mut State, source: Source) -> Effect {
    state.source = Some(source.clone());
    let effect = start(state, Job::Load(source));
    state.first_generation = state.generation;
    effect
}

fn start(state: &mut State, job: Job) -> Effect {
    state.generation += 1;
    let generation = state.generation;
    state.running = Some(Running {
        job: job.clone(),
        generation,
        what: describe(state, &job),
        done: 0.0,
        elapsed: std::time::Duration::ZERO,
    });
    Effect::Start(job, generation)
}

fn describe(state: &State, job: &Job) -> String {
    let name = |s: usize| {
        state
            .study
            .as_ref()
            .map_or("", |t| t.scenario(s).name.as_str())
    };
    match job {
        Job::Load(source) => format!("reading {}", source.label()),
        Job::Fit(scenario) => format!("fitting {}", name(*scenario)),
        Job::Cell(key) => {
            format!(
                "{}, {}, n = {}",
                name(key.scenario),
                key.selection.label(),
                key.n
            )
        }
    }
}

/// Gives the worker its next job. A running one is only interrupted for a result that the screen
/// waits for, and never when the screen waits for it too.
fn schedule(state: &mut State, effects: &mut Vec<Effect>) {
    if effects
        .iter()
        .any(|e| matches!(e, Effect::Start(..) | Effect::Quit))
    {
        return;
    }
    let Some(wanted) = state.next_job() else {
        return;
    };
    let free = match &state.running {
        None => true,
        Some(running) => state.urgent(&wanted) && !state.urgent(&running.job),
    };
    if free {
        effects.push(start(state, wanted));
    }
}

fn on_report(state: &mut State, generation: u64, report: Report, effects: &mut Vec<Effect>) {
    if generation < state.first_generation {
        return;
    }
    let current = state
        .running
        .as_ref()
        .is_some_and(|r| r.generation == generation);
    match report {
        Report::Progress {
            what,
            done,
            elapsed,
        } => {
            if let Some(running) = state.running.as_mut().filter(|_| current) {
                running.what = what;
                running.done = done.clamp(0.0, 1.0);
                running.elapsed = elapsed;
            }
            return;
        }
        // A result is good even when its job was no longer wanted.
        Report::Done(Outcome::Fitted(fits)) => {
            for (scenario, fit) in fits {
                if let Some(slot) = state.fits.get_mut(scenario) {
                    *slot = Some(fit);
                }
            }
        }
        Report::Done(Outcome::Estimated(cells)) => state.cells.extend(cells),
        Report::Done(Outcome::Loaded(study)) => {
            state.open(study);
            effects.extend(state.source.clone().map(Effect::Remember));
        }
        Report::Cancelled => {}
        Report::Failed(job, why) => {
            if matches!(job, Job::Load(_)) {
                state.message = Some(format!("{why}  (o opens another)"));
            } else {
                state.message = Some(why.clone());
                state.failed.insert(job, why);
            }
        }
    }
    if current {
        state.running = None;
    }
    state.refresh();
}

fn on_key(state: &mut State, key: &KeyEvent, effects: &mut Vec<Effect>) {
    state.message = None;
    let leave = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    if leave {
        effects.push(Effect::Quit);
        return;
    }
    match &mut state.overlay {
        Overlay::None => {
            if let Some(action) = action_of(key, state.view.place()) {
                act(state, action, effects);
            }
        }
        Overlay::Help(scroll) => match key.code {
            KeyCode::Down | KeyCode::Char('j') => *scroll = scroll.saturating_add(1),
            KeyCode::Up | KeyCode::Char('k') => *scroll = scroll.saturating_sub(1),
            _ => state.overlay = Overlay::None,
        },
        Overlay::TypeItems(text) | Overlay::TypeLambda(text) => match key.code {
            KeyCode::Esc => state.overlay = Overlay::None,
            KeyCode::Enter => take_typed(state),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(c) => type_char(state, c),
            _ => {}
        },
        Overlay::Open { row, path } => {
            let last = state.openable.len();
            match key.code {
                KeyCode::Esc => state.overlay = Overlay::None,
                KeyCode::Up => *row = row.saturating_sub(1),
                KeyCode::Down | KeyCode::Tab => *row = (*row + 1).min(last),
                KeyCode::Backspace => {
                    *row = last;
                    path.pop();
                }
                KeyCode::Char(c) => type_char(state, c),
                KeyCode::Enter => {
                    let chosen = match state.openable.get(*row) {
                        Some(source) => Some(source.clone()),
                        None if path.trim().is_empty() => None,
                        None => Some(Source(PathBuf::from(path.trim()))),
                    };
                    state.overlay = Overlay::None;
                    effects.extend(chosen.map(|source| open(state, source)));
                }
                _ => {}
            }
        }
    }
}

fn type_char(state: &mut State, c: char) {
    match &mut state.overlay {
        // Whatever is typed stands there, and Enter judges it: a dropped sign would make another number of it.
        Overlay::TypeItems(text) | Overlay::TypeLambda(text)
            if c.is_ascii_graphic() && text.len() < 24 =>
        {
            text.push(c);
        }
        Overlay::Open { row, path } if path.len() < 4096 => {
            *row = state.openable.len();
            path.push(c);
        }
        _ => {}
    }
}

/// Takes a typed n or lambda, or says what is possible and keeps the line open.
fn take_typed(state: &mut State) {
    let largest = state.largest_n();
    match &state.overlay {
        Overlay::TypeItems(text) => match text.parse::<usize>() {
            Ok(n) if (1..=largest).contains(&n) => {
                state.overlay = Overlay::None;
                set_n(state, n);
            }
            _ => state.message = Some(format!("n is a whole number from 1 to {largest}")),
        },
        Overlay::TypeLambda(text) => match text.replace(',', ".").parse::<f64>() {
            Ok(lambda) if (0.0..=1.0).contains(&lambda) => {
                state.overlay = Overlay::None;
                set_lambda(state, Lambda::Fixed(lambda));
            }
            _ => state.message = Some("lambda is a number from 0 to 1".into()),
        },
        _ => {}
    }
}

/// Asks for another n, within what the scope has.
pub(crate) fn set_n(state: &mut State, n: usize) {
    state.setting.n = n.clamp(1, state.largest_n());
    state.paused = false;
    state.refresh();
}

fn set_lambda(state: &mut State, lambda: Lambda) {
    state.setting.lambda = lambda;
    // Lambda only means something to gp-IRT; moving it is asking for that estimator.
    state.setting.estimator = Estimator::GpIrt;
    state.refresh();
}

/// The stop of the slider after or before n; the ends are 1 and the number of items.
pub(crate) fn next_stop(n: usize, up: bool, largest: usize) -> usize {
    if up {
        N_STOPS
            .into_iter()
            .find(|&stop| stop > n)
            .unwrap_or(n + 250)
            .min(largest)
    } else if n > 1250 {
        n - 250
    } else {
        N_STOPS
            .into_iter()
            .rev()
            .find(|&stop| stop < n)
            .unwrap_or(n)
            .min(largest)
    }
}

fn act(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    let setting = state.setting;
    match action {
        Action::Map => state.view = ViewName::Map,
        Action::Scores => state.view = ViewName::Scores,
        Action::Tradeoff => state.view = ViewName::Tradeoff,
        Action::Left | Action::Right | Action::Up | Action::Down => walk(state, action),
        Action::MoreItems => set_n(state, next_stop(setting.n, true, state.largest_n())),
        Action::FewerItems => set_n(state, next_stop(setting.n, false, state.largest_n())),
        Action::TypeItems => state.overlay = Overlay::TypeItems(String::new()),
        Action::TypeLambda => state.overlay = Overlay::TypeLambda(String::new()),
        Action::LambdaUp | Action::LambdaDown => {
            let auto = state
                .shown
                .as_ref()
                .and_then(|s| s.paper_lambda)
                .unwrap_or(0.5);
            let now = setting.lambda.value(auto);
            // Whole steps, so that .35 is reached from above and below alike.
            let steps = now / LAMBDA_STEP;
            let step = if action == Action::LambdaUp {
                (steps + 1e-6).floor() + 1.0
            } else {
                (steps - 1e-6).ceil() - 1.0
            };
            set_lambda(state, Lambda::Fixed((step * LAMBDA_STEP).clamp(0.0, 1.0)));
        }
        Action::LambdaAuto => set_lambda(state, Lambda::Auto),
        Action::Selection => {
            state.setting.selection = setting.selection.next();
            state.paused = false;
            state.refresh();
        }
        Action::Estimator => {
            state.setting.estimator = setting.estimator.next();
            state.refresh();
        }
        Action::NextScenario => step_scope(state, 1),
        Action::PreviousScenario => step_scope(state, -1),
        Action::ColourBy => {
            state.colour_by = match state.colour_by {
                ColourBy::Cluster => ColourBy::SubScenario,
                ColourBy::SubScenario => ColourBy::Share,
                ColourBy::Share => ColourBy::Cluster,
            }
        }
        Action::Axes => {
            state.axes = match state.axes {
                Axes::Components => Axes::Parameters,
                Axes::Parameters => Axes::Components,
            }
        }
        Action::Sort => {
            state.sort = match state.sort {
                Sort::Truth => Sort::Estimate,
                Sort::Estimate => Sort::Error,
                Sort::Error => Sort::Name,
                Sort::Name => Sort::Truth,
            }
        }
        Action::ScrollDown => state.scroll = (state.scroll + 4).min(396),
        Action::ScrollUp => state.scroll = state.scroll.saturating_sub(4),
        Action::ToggleList => {
            let (width, height) = state.size;
            let area = ratatui::layout::Rect::new(0, 0, width, height);
            let open = super::view::parts(state, area).list.width > 0;
            state.list_open = Some(!open);
        }
        Action::ToggleInspector => {
            state.inspector_open = Some(!state.inspector_open.unwrap_or(true));
        }
        Action::Marker => {
            state.marker = state.marker.next();
            state.message = Some(format!("markers: {}", state.marker.label()));
        }
        Action::Theme => {
            let theme = Theme::new(state.theme.name.next());
            state.message = Some(format!("theme: {}", theme.name.label()));
            state.theme = if state.indexed {
                theme.indexed()
            } else {
                theme
            };
        }
        Action::Open => {
            state.overlay = Overlay::Open {
                row: 0,
                path: String::new(),
            }
        }
        Action::Cancel => {
            if state.running.is_some() {
                state.paused = true;
                state.message = Some("stopped; any change of the setting goes on".into());
                effects.push(Effect::Cancel);
            }
        }
        Action::Help => state.overlay = Overlay::Help(0),
        Action::Quit => effects.push(Effect::Quit),
    }
}

/// Moves through the scenarios and, where there are several, "overall" after the last.
fn step_scope(state: &mut State, by: isize) {
    let count = state.fits.len() as isize;
    if count < 2 {
        return;
    }
    let at = match state.setting.scope {
        Scope::One(index) => index as isize,
        Scope::Overall => count,
    };
    let next = (at + by).rem_euclid(count + 1);
    state.setting.scope = if next == count {
        Scope::Overall
    } else {
        Scope::One(next.unsigned_abs())
    };
    state.setting.n = state.setting.n.min(state.largest_n());
    state.paused = false;
    state.refresh();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tinyscope::anchors::SelectionKind;

    use super::*;
    use crate::tui::fixture;
    use crate::tui::screens::press;
    use crate::tui::theme::ThemeName;

    fn key(state: &mut State, c: char) -> Vec<Effect> {
        update(
            state,
            Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)),
        )
    }

    #[test]
    fn lambda_is_answered_without_a_job() {
        let mut state = fixture::state(ThemeName::Dark);
        state.ahead = false;
        let before = state.shown.as_ref().unwrap().metrics;
        assert_eq!(key(&mut state, ']'), []);
        let shown = state.shown.as_ref().unwrap();
        assert!(shown.fresh && shown.metrics != before);
        // The paper's lambda is 1 / (1 + 40/30) = .43; the next whole step above is .45.
        assert_eq!(state.setting.lambda, Lambda::Fixed(0.45));
        for _ in 0..20 {
            key(&mut state, ']');
        }
        assert_eq!(state.setting.lambda, Lambda::Fixed(1.0));
        key(&mut state, 'a');
        assert_eq!(state.shown.as_ref().unwrap().metrics, before);
    }

    #[test]
    fn a_new_n_keeps_the_old_result_until_the_new_one_comes() {
        let mut state = fixture::state(ThemeName::Dark);
        state.setting.n = 30;
        state.cells.retain(|key, _| key.n != 25);
        state.refresh();
        let effects = key(&mut state, '-');
        assert_eq!(state.setting.n, 25);
        let shown = state.shown.as_ref().unwrap();
        assert!(!shown.fresh);
        assert_eq!(shown.setting.n, 30);
        let [Effect::Start(Job::Cell(wanted), generation)] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        assert_eq!(
            (wanted.n, wanted.selection),
            (25, SelectionKind::AnchorsIrt)
        );
        let cell = Arc::clone(&state.cells[&state.key(0, SelectionKind::AnchorsIrt, 30)]);
        let report = Report::Done(Outcome::Estimated(vec![(*wanted, cell)]));
        update(
            &mut state,
            Event::Job {
                generation: *generation,
                report,
            },
        );
        assert!(state.shown.as_ref().unwrap().fresh);
    }

    #[test]
    fn only_an_urgent_job_interrupts_another() {
        let mut state = fixture::state(ThemeName::Dark);
        // The curves of another n are being computed when the user asks for correctness anchors there.
        state.cells.retain(|key, _| key.n != 200 && key.n != 50);
        let effects = update(&mut state, Event::Resize);
        let [Effect::Start(Job::Cell(background), _)] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        assert_eq!(background.n, 200);
        assert_eq!(update(&mut state, Event::Resize), []);
        let effects = key(&mut state, '+');
        assert!(matches!(effects.as_slice(), [Effect::Start(Job::Cell(k), 2)] if k.n == 50));
        assert_eq!(key(&mut state, 't'), [], "the urgent job goes on");
    }

    #[test]
    fn a_failed_job_is_said_and_not_repeated() {
        let mut state = fixture::state(ThemeName::Dark);
        state.cells.retain(|key, _| key.n != 200);
        state.ahead = true;
        let mut effects = update(&mut state, Event::Resize);
        let mut tried = 0;
        while let Some(Effect::Start(job, generation)) = effects.pop() {
            tried += 1;
            let report = Report::Failed(job, "no luck".into());
            effects = update(&mut state, Event::Job { generation, report });
        }
        assert_eq!(tried, 3);
        assert_eq!(state.message.as_deref(), Some("no luck"));
        let again = update(&mut state, Event::Resize);
        assert!(again.is_empty(), "{again:?}");
    }

    #[test]
    fn reports_of_a_closed_benchmark_are_dropped() {
        let mut state = fixture::state(ThemeName::Dark);
        let Effect::Start(_, generation) = open(&mut state, Source::demo("other")) else {
            panic!("no job");
        };
        let report = Report::Failed(Job::Fit(0), "of the old one".into());
        update(
            &mut state,
            Event::Job {
                generation: generation - 1,
                report,
            },
        );
        assert_eq!(state.message, None);
        assert!(state.running.is_some());
    }

    #[test]
    fn arrows_walk_anchors_and_come_back() {
        let mut state = fixture::state(ThemeName::Dark);
        let mut visited = std::collections::BTreeSet::from([state.anchor]);
        for arrows in ["Left", "Up", "Right", "Down", "Left Down", "Right Up"] {
            for _ in 0..30 {
                press(&mut state, arrows);
                visited.insert(state.anchor);
                let (_, item, _) = state.curve.as_ref().unwrap();
                assert_eq!(*item, state.selected_item().unwrap().1.item);
            }
        }
        assert!(visited.len() > 15, "{visited:?}");
    }

    #[test]
    fn every_key_in_every_view_draws() {
        let mut state = fixture::state(ThemeName::Dark);
        let mut number = 1u64;
        let keys: Vec<KeyCode> = (' '..='~')
            .map(KeyCode::Char)
            .chain([
                KeyCode::Enter,
                KeyCode::Esc,
                KeyCode::Tab,
                KeyCode::BackTab,
                KeyCode::Backspace,
            ])
            .chain([
                KeyCode::Up,
                KeyCode::Down,
                KeyCode::Left,
                KeyCode::Right,
                KeyCode::PageDown,
            ])
            .collect();
        for step in 0..4000 {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let code = keys[(number >> 33) as usize % keys.len()];
            update(
                &mut state,
                Event::Key(KeyEvent::new(code, KeyModifiers::NONE)),
            );
            if step % 20 == 0 {
                crate::tui::screens::screen(&mut state, 80 + (step % 100) as u16, 24);
            }
        }
    }
}
