//! Keys while something lies over the view: values being typed, lists to choose from.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent};

use tinyscope::experiment::Lambda;

use super::act::{filter, set_lambda, set_n};
use super::job::Job;
use super::overlay::{Overlay, Prompt, What};
use super::state::{Cost, Source, State};
use super::update::{Effect, open, start};
use super::walk::jump_to_match;

/// Longest text of a prompt, in bytes; paths may be long.
const LONGEST: usize = 4096;

/// A key while an overlay is open.
pub(crate) fn on_key(state: &mut State, key: &KeyEvent, effects: &mut Vec<Effect>) {
    let page = state.look.size.1.saturating_sub(8).max(1);
    match &mut state.overlay {
        Overlay::None => {}
        Overlay::Help { scroll, search } => match key.code {
            KeyCode::Down => *scroll = scroll.saturating_add(1),
            KeyCode::Up => *scroll = scroll.saturating_sub(1),
            KeyCode::PageDown => *scroll = scroll.saturating_add(page),
            KeyCode::PageUp => *scroll = scroll.saturating_sub(page),
            KeyCode::Backspace => {
                search.pop();
                *scroll = 0;
            }
            KeyCode::Char('?') if search.is_empty() => state.overlay = Overlay::None,
            KeyCode::Char(c) => letter(state, c),
            _ => state.overlay = Overlay::None,
        },
        Overlay::Type(prompt, text) => {
            let prompt = *prompt;
            match key.code {
                KeyCode::Esc => {
                    state.overlay = Overlay::None;
                    if prompt == Prompt::Filter {
                        narrow(state, String::new());
                    }
                }
                KeyCode::Enter => take(state, effects),
                KeyCode::Backspace => {
                    text.pop();
                    let text = text.clone();
                    if prompt == Prompt::Filter {
                        narrow(state, text);
                    }
                }
                KeyCode::Char(c) => letter(state, c),
                _ => {}
            }
        }
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
                KeyCode::Char(c) => letter(state, c),
                KeyCode::Enter => {
                    let chosen = match state.openable.get(*row) {
                        Some(source) => Some(source.clone()),
                        None if path.trim().is_empty() => None,
                        None => Some(Source(at_home(path.trim()))),
                    };
                    state.overlay = Overlay::None;
                    effects.extend(chosen.map(|source| open(state, source)));
                }
                _ => {}
            }
        }
        Overlay::Write => {
            state.overlay = Overlay::None;
            if let KeyCode::Char(c) = key.code {
                let what = What::MENU.into_iter().find(|(key, ..)| *key == c);
                effects.extend(what.map(|(_, what, _)| Effect::Write(what)));
            }
        }
    }
}

/// A letter typed into whatever is open. Whatever is typed stands there, and Enter judges it: a
/// dropped sign would make another number of it.
pub(crate) fn letter(state: &mut State, c: char) {
    match &mut state.overlay {
        Overlay::Help { scroll, search } if search.len() < 40 => {
            search.push(c);
            *scroll = 0;
        }
        Overlay::Type(prompt, text) => {
            let most = match prompt {
                Prompt::Items | Prompt::Lambda | Prompt::Target | Prompt::Cost => 24,
                Prompt::Filter => 80,
                Prompt::Answers => LONGEST,
            };
            if text.len() < most {
                text.push(c);
            }
            if *prompt == Prompt::Filter {
                let text = text.clone();
                narrow(state, text);
            }
        }
        Overlay::Open { row, path } if path.len() < LONGEST => {
            *row = state.openable.len();
            path.push(c);
        }
        _ => {}
    }
}

/// Filters the view as it is typed, and goes to the first match.
fn narrow(state: &mut State, text: String) {
    if let Some(filter) = filter(state) {
        *filter = text;
    }
    jump_to_match(state);
}

/// Takes what was typed, or says what is possible and keeps the line open.
fn take(state: &mut State, effects: &mut Vec<Effect>) {
    let Overlay::Type(prompt, text) = std::mem::take(&mut state.overlay) else {
        return;
    };
    let typed = text.trim().to_owned();
    let largest = state.largest_n();
    let wrong = match prompt {
        Prompt::Items => match typed.parse::<usize>() {
            Ok(n) if (1..=largest).contains(&n) => {
                set_n(state, n);
                None
            }
            _ => Some(format!("n is a whole number from 1 to {largest}")),
        },
        Prompt::Lambda => match typed.replace(',', ".").parse::<f64>() {
            _ if typed == "auto" => {
                set_lambda(state, Lambda::Auto);
                None
            }
            Ok(lambda) if (0.0..=1.0).contains(&lambda) => {
                set_lambda(state, Lambda::Fixed(lambda));
                None
            }
            _ => Some("lambda is a number from 0 to 1, or auto".into()),
        },
        Prompt::Target => {
            let points = typed.trim_end_matches('%').trim_end().replace(',', ".");
            match points.parse::<f64>() {
                Ok(points) if points > 0.0 && points < 100.0 => {
                    state.target = points / 100.0;
                    state.refresh();
                    None
                }
                _ => Some(
                    "an error is a number of points above 0 and below 100, as in 2 or 0.5".into(),
                ),
            }
        }
        Prompt::Cost if typed.is_empty() => {
            state.cost = None;
            None
        }
        Prompt::Cost => match Cost::parse(&typed) {
            Some(cost) => {
                state.cost = Some(cost);
                None
            }
            None => Some("a cost is a number above 0 and a unit, as in 0.002 $ or 3 s".into()),
        },
        Prompt::Filter => None,
        Prompt::Answers => {
            if !typed.is_empty() {
                if state.study.is_some() {
                    effects.push(start(state, Job::Answers(at_home(&typed))));
                } else {
                    state.message = Some("open a benchmark first".into());
                }
            }
            None
        }
    };
    if wrong.is_some() {
        state.message = wrong;
        state.overlay = Overlay::Type(prompt, text);
    }
}

/// A path with `~` as the user's home.
fn at_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
