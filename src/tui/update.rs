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
    ColourBy, Job, LAMBDA_STEP, N_STOPS, Overlay, Running, Scope, Sort, Source, State, ViewName,
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
        Report::Cancelled(_) => {}
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
                        None => Some(Source::File(PathBuf::from(path.trim()))),
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
        Overlay::TypeItems(text) if c.is_ascii_digit() && text.len() < 7 => text.push(c),
        Overlay::TypeLambda(text)
            if (c.is_ascii_digit() || c == '.' || c == ',') && text.len() < 8 =>
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
        Action::Sort => {
            state.sort = match state.sort {
                Sort::Truth => Sort::Estimate,
                Sort::Estimate => Sort::Error,
                Sort::Error => Sort::Name,
                Sort::Name => Sort::Truth,
            }
        }
        Action::ScrollDown => state.scroll = state.scroll.saturating_add(4),
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
