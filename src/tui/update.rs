//! What an event does to the state, and what the event loop must do about it.
//!
//! No input or output happens here, so tests need neither a terminal nor a thread.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::act::act;
use super::action::{Place, action_of};
use super::event::{Event, Outcome, Report};
use super::job::Job;
use super::overlay::{Overlay, What};
use super::pointer;
use super::state::{N_STOPS, Running, Source, State};
use super::study::Choice;
use super::typing;

/// What the event loop must do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// Start this job under this generation number; a running one is cancelled.
    Start(Job, u64),
    /// Cancel the running job.
    Cancel,
    /// Keep this benchmark in the list of recent ones.
    Remember(Source),
    /// Write what is on the screen to a new file.
    Write(What),
    /// Listen to the mouse, or stop listening.
    Mouse(bool),
    /// Leave; above 0 because of this signal.
    Quit(i32),
}

impl State {
    /// Which rows of the key table apply.
    pub(crate) fn place(&self) -> Place {
        match self.look.slide {
            Some(_) => Place::Slides,
            None => self.view.place(),
        }
    }
}

/// Applies an event.
pub(crate) fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let mut effects = Vec::new();
    match event {
        Event::Key(key) => on_key(state, &key, &mut effects),
        Event::Mouse(mouse) => pointer::on_mouse(state, mouse),
        Event::Paste(text) => {
            for c in text.chars().filter(|c| !c.is_control()) {
                typing::letter(state, c);
            }
        }
        Event::Resize => {}
        Event::Tick => {
            if state.replay.playing {
                state.replay.tick();
            }
        }
        Event::Job { generation, report } => on_report(state, generation, report, &mut effects),
        Event::Written(Ok(name)) => state.message = Some(format!("written: {name}")),
        Event::Written(Err(why)) => state.message = Some(why),
        Event::Leave(signal) => effects.push(Effect::Quit(signal)),
    }
    schedule(state, &mut effects);
    effects
}

/// Starts reading a benchmark.
pub(crate) fn open(state: &mut State, source: Source) -> Effect {
    // What was named beside the first source does not belong to another.
    if state
        .source
        .replace(source.clone())
        .is_some_and(|s| s != source)
    {
        state.reading.also.clear();
    }
    let effect = start(state, Job::Load(source));
    state.first_generation = state.generation;
    effect
}

/// Gives a job its generation number.
pub(crate) fn start(state: &mut State, job: Job) -> Effect {
    state.generation += 1;
    let generation = state.generation;
    state.running = Some(Running {
        job: job.clone(),
        generation,
        what: describe(state, &job),
        waited_for: state.urgent(&job),
        done: 0.0,
        elapsed: std::time::Duration::ZERO,
    });
    Effect::Start(job, generation)
}

fn describe(state: &State, job: &Job) -> String {
    let study = state.study.as_ref();
    let name = |s: usize| study.map_or("", |t| t.scenario(s).name.as_str());
    match job {
        Job::Load(source) => format!("reading {}", source.label()),
        Job::Fit(key) => format!("fitting {}", name(key.scenario)),
        Job::Cell(key) => {
            let seed = match key.fit.seed {
                seed if seed == state.setting.seed => String::new(),
                seed => format!(", seed {seed}"),
            };
            let (scenario, items) = (name(key.fit.scenario), key.selection.label());
            format!("{scenario}, {items}, n = {}{seed}", key.n)
        }
        Job::Learn(key) => {
            let (scenario, items) = (name(key.fit.scenario), key.selection.label());
            format!("intervals of {scenario}, {items}, n = {}", key.n)
        }
        Job::Answers(file) => format!("reading {}", file.display()),
        Job::Replay(..) => "replaying the answers".into(),
        Job::Diagnose => "checking the data".into(),
    }
}

/// Gives the worker its next job. A running one is only interrupted for a result that the screen
/// waits for, and never when the screen waits for it too.
fn schedule(state: &mut State, effects: &mut Vec<Effect>) {
    if effects
        .iter()
        .any(|e| matches!(e, Effect::Start(..) | Effect::Quit(_)))
    {
        return;
    }
    // What was waited for and is no longer: another setting was chosen meanwhile.
    let stale = state
        .running
        .as_ref()
        .is_some_and(|r| r.waited_for && !state.urgent(&r.job));
    let Some(wanted) = state.next_job() else {
        if stale {
            state.running = None;
            effects.push(Effect::Cancel);
        }
        return;
    };
    let free = match &state.running {
        None => true,
        Some(_) if stale => true,
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
    if let Report::Progress {
        what,
        done,
        elapsed,
    } = report
    {
        if let Some(running) = state.running.as_mut().filter(|_| current) {
            running.what = what;
            running.done = done.clamp(0.0, 1.0);
            running.elapsed = elapsed;
        }
        return;
    }
    if current {
        // Before the outcome is taken: it may start the next job.
        state.running = None;
    }
    match report {
        // A result is good even when its job was no longer wanted.
        Report::Done(outcome) => on_outcome(state, outcome, effects),
        Report::Failed(job, why) => on_failure(state, job, why),
        Report::Cancelled | Report::Progress { .. } => {}
    }
    state.refresh();
}

fn on_outcome(state: &mut State, outcome: Outcome, effects: &mut Vec<Effect>) {
    match outcome {
        Outcome::Loaded(study) => {
            state.open(study);
            effects.extend(state.source.clone().map(Effect::Remember));
            let mut me = state.mine_wanted.take();
            if let Some(saved) = state.restore.take() {
                me = me.or_else(|| saved.me.clone());
                saved.restore(state);
            }
            // Answers stay open: they may be to items of this benchmark too.
            let before = state.mine.take().map(|mine| mine.file.clone());
            if let Some(file) = me.or(before) {
                effects.push(start(state, Job::Answers(file)));
            }
        }
        Outcome::Fitted(fits, split) => {
            for (key, fit) in fits {
                state.splits.insert(key.seed, Arc::clone(&split));
                state.fits.insert(key, fit);
            }
        }
        Outcome::Estimated(cells) => {
            for (key, cell) in cells {
                // In joint scope a job tells of other scenarios too: what is learned of them stays.
                let known = state.cells.get(&key).is_some_and(|c| c.learned);
                if cell.learned || !known {
                    state.cells.insert(key, cell);
                }
            }
        }
        Outcome::Answered(mine, known) => {
            let other = mine.answers.len() - known;
            let mut text = format!("{}: {known} answers to items of this benchmark", mine.name);
            if other > 0 {
                text.push_str(&format!(", {other} to others ignored"));
            }
            state.message = Some(text);
            state.mine = Some(mine);
            // Every cell must be estimated again: chosen items are kept, so it is quick.
            state.cells.clear();
            state.replay.result = None;
        }
        Outcome::Replayed(key, who, replay) => {
            let fresh = !matches!(&state.replay.result, Some((_, w, _)) if *w == who);
            state.replay.result = Some((key, who, replay));
            // The whole run at first; play begins at its first answer.
            let step = match (fresh, state.look.slide) {
                (true, None) => usize::MAX,
                (true, Some(_)) => 1,
                (false, _) => state.replay.step,
            };
            state.replay.go(step);
        }
        Outcome::Diagnosed(findings) => state.findings = Some(findings),
    }
}

/// A failed job is said and not tried again; nothing that is on the screen is lost.
fn on_failure(state: &mut State, job: Job, why: String) {
    match job {
        Job::Load(source) => {
            // The path stays to be mended.
            if state.study.is_some() && source.demo_name().is_none() {
                let path = source.label();
                state.overlay = Overlay::Open {
                    row: state.openable.len(),
                    path,
                };
            }
            state.message = Some(if state.study.is_some() {
                why
            } else {
                format!("{why}  (o opens another)")
            });
        }
        Job::Answers(_) => state.message = Some(why),
        job => {
            state.message = Some(why.clone());
            state.failed.insert(job, why);
        }
    }
}

fn on_key(state: &mut State, key: &KeyEvent, effects: &mut Vec<Effect>) {
    state.message = None;
    let leave = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    if leave {
        effects.push(Effect::Quit(0));
    } else if state.overlay != Overlay::None {
        typing::on_key(state, key, effects);
    } else if let Some(action) = action_of(key, state.place()) {
        act(state, action, effects);
    } else if key.code == KeyCode::Esc {
        // Out of whatever narrows the view.
        state.item_filter.clear();
        state.model_filter.clear();
        state.part = None;
        state.refresh_matches();
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tinyscope::anchors::SelectionKind;

    use tinyscope::experiment::Lambda;

    use super::*;
    use crate::tui::fixture;
    use crate::tui::job::FitKey;
    use crate::tui::screens::press;
    use crate::tui::state::Setting;
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
        let before = state.shown.as_ref().unwrap().now.metrics;
        assert_eq!(key(&mut state, ']'), []);
        let shown = state.shown.as_ref().unwrap();
        assert!(shown.fresh && shown.now.metrics != before);
        // The paper's lambda is 1 / (1 + 40/30) = .43; the next whole step above is .45.
        assert_eq!(state.setting.lambda, Lambda::Fixed(0.45));
        for _ in 0..20 {
            key(&mut state, ']');
        }
        assert_eq!(state.setting.lambda, Lambda::Fixed(1.0));
        key(&mut state, 'a');
        assert_eq!(state.shown.as_ref().unwrap().now.metrics, before);
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
        assert_eq!(shown.now.setting.n, 30);
        let [Effect::Start(Job::Cell(wanted), generation)] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        assert_eq!(
            (wanted.n, wanted.selection),
            (25, SelectionKind::AnchorsIrt)
        );
        let before = Setting {
            n: 30,
            ..state.setting.clone()
        };
        let cell = Arc::clone(&state.cells[&state.key(0, &before)]);
        let report = Report::Done(Outcome::Estimated(vec![(wanted.clone(), cell)]));
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
        state.cells.retain(|key, _| key.n != 200 && key.n != 120);
        let effects = update(&mut state, Event::Resize);
        let [Effect::Start(Job::Cell(background), _)] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        assert_eq!(background.n, 200);
        assert_eq!(update(&mut state, Event::Resize), []);
        press(&mut state, "n120");
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        let effects = update(&mut state, Event::Key(enter));
        assert!(matches!(effects.as_slice(), [Effect::Start(Job::Cell(k), 2)] if k.n == 120));
        assert_eq!(key(&mut state, 't'), [], "the urgent job goes on");
    }

    /// Whoever holds + or - down meets results: four stops on each side are computed ahead, the nearest first.
    #[test]
    fn the_stops_around_n_are_computed_ahead() {
        let mut state = fixture::state(ThemeName::Dark);
        state.ahead = true;
        state.setting.n = 60;
        state.cells.retain(|key, _| key.n == 60);
        let mut effects = update(&mut state, Event::Resize);
        let mut stops = Vec::new();
        while let Some(Effect::Start(job, generation)) = effects.pop() {
            if let Job::Cell(key) = &job
                && key.selection == SelectionKind::AnchorsIrt
                && !stops.contains(&key.n)
            {
                stops.push(key.n);
            }
            let report = Report::Failed(job, "not today".into());
            effects = update(&mut state, Event::Job { generation, report });
        }
        assert_eq!(stops[..8], [80, 50, 100, 40, 120, 30, 150, 25]);
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
        // Three selections at each of the band's five seeds.
        assert_eq!(tried, 15);
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
        let report = Report::Failed(
            Job::Fit(FitKey {
                scenario: 0,
                theta: tinyscope::experiment::Scope::Scenario,
                seed: 0,
            }),
            "of the old one".into(),
        );
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
        let mut visited = std::collections::BTreeSet::from([state.item]);
        for arrows in ["Left", "Up", "Right", "Down", "Left Down", "Right Up"] {
            for _ in 0..30 {
                press(&mut state, arrows);
                visited.insert(state.item);
                let (_, item, _) = state.curve.as_ref().unwrap();
                assert_eq!(*item, state.selected_item().unwrap().1);
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
