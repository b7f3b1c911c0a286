//! The explorer without a terminal: keys from a script, jobs done at once, time made up.

use std::path::PathBuf;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use tinyscope::Result;
use tinyscope::error::nearest;
use tinyscope::progress::Observer;

use super::engine::Engine;
use super::event::{Event, Report};
use super::job::Job;
use super::overlay::Overlay;
use super::state::{Source, State};
use super::update::{Effect, open, start, update};
use super::worker::Work;

/// Something a script does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Press a key; it is seen for so long before the next.
    Press(KeyEvent, Duration),
    /// Wait; a replay runs meanwhile.
    Wait(Duration),
}

/// How long a key is seen, and a letter of a longer word.
const KEY: Duration = Duration::from_millis(700);
const LETTER: Duration = Duration::from_millis(120);
/// The longest wait: nobody watches a picture for longer.
const LONGEST: f64 = 600.0;

/// Reads keys separated by spaces: characters as they are, names (Tab, Enter, Esc, Space, Left, PgDn,
/// F5 ...), `S-Left` with Shift, `C-c` with Control, `2s` to wait, and longer words letter by letter.
///
/// # Errors
/// A message that names the part that is none of these.
pub(crate) fn parse(text: &str) -> std::result::Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for word in text.split_whitespace() {
        if let Some(wait) = seconds(word) {
            steps.push(Step::Wait(wait?));
        } else if let Some(key) = named(word) {
            steps.push(Step::Press(key, KEY));
        } else if let Some(rest) = word.strip_prefix("C-").filter(|r| r.chars().count() == 1) {
            let code = KeyCode::Char(rest.chars().next().unwrap_or(' '));
            steps.push(Step::Press(KeyEvent::new(code, KeyModifiers::CONTROL), KEY));
        } else if let Some(near) = misspelt(word) {
            return Err(format!("{word:?} is no key: did you mean {near}?"));
        } else {
            let letters: Vec<char> = word.chars().collect();
            for (at, &c) in letters.iter().enumerate() {
                let last = at + 1 == letters.len();
                let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
                steps.push(Step::Press(key, if last { KEY } else { LETTER }));
            }
        }
    }
    Ok(steps)
}

/// Names of keys that are more than one character.
const NAMES: [&str; 16] = [
    "Tab",
    "Enter",
    "Esc",
    "Space",
    "Backspace",
    "Left",
    "Right",
    "Up",
    "Down",
    "PgUp",
    "PgDn",
    "Home",
    "End",
    "F1",
    "F5",
    "S-Tab",
];

/// The name that was meant by a word that looks like one: a capital letter, then small ones.
fn misspelt(word: &str) -> Option<&'static str> {
    let mut letters = word.chars();
    let capital = letters.next()?.is_ascii_uppercase();
    let like_a_name = capital && word.len() > 2 && letters.all(|c| c.is_ascii_lowercase());
    nearest(word, NAMES).filter(|_| like_a_name)
}

/// `2s`, `0.5s`: a wait. A number that is too large is an error, not a word.
fn seconds(word: &str) -> Option<std::result::Result<Duration, String>> {
    let number: f64 = word.strip_suffix('s')?.parse().ok()?;
    Some(if (0.0..=LONGEST).contains(&number) {
        Ok(Duration::from_secs_f64(number))
    } else {
        Err(format!("{word}: a wait is 0s to {LONGEST:.0}s"))
    })
}

fn named(word: &str) -> Option<KeyEvent> {
    let (word, modifiers) = match word.strip_prefix("S-") {
        Some(rest) if rest.len() > 1 => (rest, KeyModifiers::SHIFT),
        _ => (word, KeyModifiers::NONE),
    };
    let code = match word {
        "Tab" if modifiers == KeyModifiers::SHIFT => KeyCode::BackTab,
        "Tab" => KeyCode::Tab,
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Space" => KeyCode::Char(' '),
        "Backspace" => KeyCode::Backspace,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "F1" => KeyCode::F(1),
        "F5" => KeyCode::F(5),
        _ => return None,
    };
    Some(KeyEvent::new(code, modifiers))
}

/// A screen driven by a script.
pub(crate) struct Driver<'a> {
    /// What is shown.
    pub(crate) state: State,
    engine: Engine,
    observer: &'a dyn Observer,
    /// The script's own clock.
    pub(crate) now: Duration,
}

impl<'a> Driver<'a> {
    /// Opens a benchmark, and the answers of the user's own model where they are given, and does every
    /// job that the screen waits for.
    ///
    /// # Errors
    /// What the jobs report.
    pub(crate) fn open(
        mut state: State,
        source: Source,
        me: Option<PathBuf>,
        engine: Engine,
        observer: &'a dyn Observer,
    ) -> Result<Driver<'a>> {
        // What the picture does not show is not computed.
        state.ahead = false;
        let effect = open(&mut state, source);
        let mut driver = Driver {
            state,
            engine,
            observer,
            now: Duration::ZERO,
        };
        driver.settle(vec![effect])?;
        if let Some(me) = me {
            let effect = start(&mut driver.state, Job::Answers(me));
            driver.settle(vec![effect])?;
            driver.state.message = None;
        }
        Ok(driver)
    }

    /// Presses a key and does the jobs that it asks for; true when it leaves the explorer.
    ///
    /// # Errors
    /// What the jobs report.
    pub(crate) fn press(&mut self, key: KeyEvent) -> Result<bool> {
        let effects = update(&mut self.state, Event::Key(key));
        self.settle(effects)
    }

    /// Does jobs until the screen waits for none; true when the script has left the explorer.
    fn settle(&mut self, mut effects: Vec<Effect>) -> Result<bool> {
        while let Some(effect) = effects.pop() {
            match effect {
                Effect::Start(job, generation) => {
                    let report = Report::Done(self.engine.run(&job, self.observer)?);
                    let event = Event::Job { generation, report };
                    effects.extend(update(&mut self.state, event));
                }
                Effect::Write(_) => {
                    let text = "a script writes nothing by keys: give --out its name";
                    self.state.message = Some(text.into());
                }
                Effect::Quit(_) => return Ok(true),
                Effect::Cancel | Effect::Remember(_) | Effect::Mouse(_) => {}
            }
        }
        Ok(false)
    }

    /// Does a script; `frame` sees the screen after every change, with the script's clock.
    ///
    /// # Errors
    /// What the jobs and `frame` report.
    pub(crate) fn play(
        &mut self,
        steps: &[Step],
        frame: &mut dyn FnMut(&State, Duration) -> Result<()>,
    ) -> Result<()> {
        frame(&self.state, self.now)?;
        for step in steps {
            match step {
                Step::Press(key, seen) => {
                    if self.press(*key)? {
                        return Ok(());
                    }
                    frame(&self.state, self.now)?;
                    self.now += *seen;
                }
                Step::Wait(wait) => self.wait(*wait, frame)?,
            }
        }
        Ok(())
    }

    fn wait(
        &mut self,
        wait: Duration,
        frame: &mut dyn FnMut(&State, Duration) -> Result<()>,
    ) -> Result<()> {
        let end = self.now + wait;
        while self.state.replay.playing && self.now + self.state.replay.interval() <= end {
            self.now += self.state.replay.interval();
            let effects = update(&mut self.state, Event::Tick);
            self.settle(effects)?;
            frame(&self.state, self.now)?;
        }
        self.now = end;
        Ok(())
    }

    /// The screen at the end, without a menu over it.
    pub(crate) fn into_state(self) -> State {
        let mut state = self.state;
        if state.overlay == Overlay::Write {
            state.overlay = Overlay::None;
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_hold_characters_names_waits_and_words() {
        let steps = parse("3 + S-Left Space n60 Enter 1.5s C-c").unwrap();
        let codes: Vec<KeyCode> = steps
            .iter()
            .filter_map(|s| match s {
                Step::Press(key, _) => Some(key.code),
                Step::Wait(_) => None,
            })
            .collect();
        let c = KeyCode::Char;
        assert_eq!(
            codes,
            [
                c('3'),
                c('+'),
                KeyCode::Left,
                c(' '),
                c('n'),
                c('6'),
                c('0'),
                KeyCode::Enter,
                c('c')
            ]
        );
        assert!(steps.contains(&Step::Wait(Duration::from_millis(1500))));
        assert!(parse("9999s").is_err_and(|e| e.contains("600s")));
        assert!(parse("n60 Entr").is_err_and(|e| e.contains("Enter")));
        assert_eq!(parse("").unwrap(), []);
    }
}
