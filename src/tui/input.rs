//! The input thread: what the terminal sends, as events.
//!
//! Two things come apart on slow connections. A sequence that is cut after its ESC would be an Esc and
//! letters, and an answer of the terminal to a question (an OSC string) would be keys: both are put
//! together again here.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use crossterm::event::{Event as Terminal, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::event::Event;

/// The rest of a sequence that was cut after its ESC comes within this; nobody types that fast.
const GRACE: Duration = Duration::from_millis(30);
/// The rest of an answer or a paste comes within this.
const REST: Duration = Duration::from_millis(150);
/// Longest answer of a terminal, and longest paste in keys.
const LONGEST: usize = 1 << 20;

/// Where events come from: crossterm, or a test.
pub(crate) trait Source {
    /// Waits for the next event; `None` when there is none within the time, or when input has ended.
    fn next(&mut self, wait: Option<Duration>) -> Option<Terminal>;
}

/// The terminal.
struct Live;

impl Source for Live {
    fn next(&mut self, wait: Option<Duration>) -> Option<Terminal> {
        if let Some(wait) = wait
            && !crossterm::event::poll(wait).ok()?
        {
            return None;
        }
        crossterm::event::read().ok()
    }
}

/// Reads the terminal until it ends; sleeps in the system while nothing happens. However this thread
/// ends, the loop hears of it.
pub(crate) fn read_terminal(events: Sender<Event>) {
    let events = LastWord(events);
    let mut gone = false;
    let mut emit = |event| gone |= events.0.send(event).is_err();
    let mut source = Live;
    while let Some(found) = source.next(None) {
        put_together(found, &mut source, &mut emit);
    }
}

struct LastWord(Sender<Event>);

impl Drop for LastWord {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Leave(0));
    }
}

/// One event of the terminal as ours, with what belongs to it.
fn put_together(found: Terminal, source: &mut impl Source, emit: &mut impl FnMut(Event)) {
    let Some(key) = pressed(&found) else {
        other(found).into_iter().for_each(emit);
        return;
    };
    match (key.code, key.modifiers) {
        (KeyCode::Char(']'), KeyModifiers::ALT) => skip_answer(source),
        (KeyCode::Esc, KeyModifiers::NONE) => after_escape(key, source, emit),
        _ => emit(Event::Key(key)),
    }
}

/// Key presses; Windows reports releases and repeats too.
fn pressed(found: &Terminal) -> Option<KeyEvent> {
    match found {
        Terminal::Key(key) if key.kind == KeyEventKind::Press => Some(*key),
        _ => None,
    }
}

fn other(found: Terminal) -> Option<Event> {
    match found {
        Terminal::Mouse(mouse) => Some(Event::Mouse(mouse)),
        Terminal::Paste(text) => Some(Event::Paste(text)),
        Terminal::Resize(..) => Some(Event::Resize),
        _ => None,
    }
}

/// Reads an OSC string up to its end, BEL or ST, which come as Control-G and Alt-backslash.
fn skip_answer(source: &mut impl Source) {
    for _ in 0..LONGEST {
        let Some(found) = source.next(Some(REST)) else {
            return;
        };
        let Some(key) = pressed(&found) else {
            continue;
        };
        let ends = match key.code {
            KeyCode::Char('g') => key.modifiers == KeyModifiers::CONTROL,
            KeyCode::Char('\\') => key.modifiers == KeyModifiers::ALT,
            _ => false,
        };
        if ends {
            return;
        }
    }
}

/// What follows an ESC at once: the rest of a sequence, or keys of their own.
fn after_escape(escape: KeyEvent, source: &mut impl Source, emit: &mut impl FnMut(Event)) {
    let Some(next) = source.next(Some(GRACE)) else {
        emit(Event::Key(escape));
        return;
    };
    match pressed(&next).map(|key| (key.code, key.modifiers)) {
        Some((KeyCode::Char('['), KeyModifiers::NONE)) => sequence(source, emit),
        Some((KeyCode::Char('O'), _)) => sequence(source, emit),
        Some((KeyCode::Char(']'), KeyModifiers::NONE)) => skip_answer(source),
        _ => {
            emit(Event::Key(escape));
            put_together(next, source, emit);
        }
    }
}

/// The rest of a control sequence, letter by letter: arrows and the like, or a paste. What is none of
/// these is dropped, as a whole one would be.
fn sequence(source: &mut impl Source, emit: &mut impl FnMut(Event)) {
    let mut letters = String::new();
    while letters.len() < 64 {
        let Some(found) = source.next(Some(REST)) else {
            return;
        };
        let Some(KeyCode::Char(c)) = pressed(&found).map(|key| key.code) else {
            continue;
        };
        letters.push(c);
        if matches!(c, '@'..='~') {
            break;
        }
    }
    let code = match letters.as_str() {
        "200~" => return pasted(source, emit),
        "A" => KeyCode::Up,
        "B" => KeyCode::Down,
        "C" => KeyCode::Right,
        "D" => KeyCode::Left,
        "H" | "1~" => KeyCode::Home,
        "F" | "4~" => KeyCode::End,
        "Z" => KeyCode::BackTab,
        "5~" => KeyCode::PageUp,
        "6~" => KeyCode::PageDown,
        "15~" => KeyCode::F(5),
        "P" => KeyCode::F(1),
        _ => return,
    };
    emit(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
}

/// Text pasted letter by letter, up to its end or until nothing comes any more. Each letter is passed
/// on at once: the end itself is no event, and waiting for one may last until the next key.
fn pasted(source: &mut impl Source, emit: &mut impl FnMut(Event)) {
    for _ in 0..LONGEST {
        let asked = Instant::now();
        let Some(found) = source.next(Some(REST)) else {
            return;
        };
        // The wait may be longer than asked for: the end is no event, and then this is the next key.
        if asked.elapsed() > 2 * REST {
            return put_together(found, source, emit);
        }
        let Some(key) = pressed(&found) else {
            continue;
        };
        let letter = match key.code {
            KeyCode::Char(c) => c,
            KeyCode::Enter => '\n',
            KeyCode::Tab => '\t',
            // The end itself may be cut after its ESC too.
            KeyCode::Esc => return after_escape(key, source, emit),
            _ => continue,
        };
        emit(Event::Paste(letter.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys as they come; a bar is a pause longer than any wait.
    struct Script(Vec<Option<Terminal>>);

    impl Source for Script {
        fn next(&mut self, wait: Option<Duration>) -> Option<Terminal> {
            while let Some(first) = self.0.first().cloned() {
                match (first, wait) {
                    (None, Some(_)) => return None,
                    (None, None) => {
                        self.0.remove(0);
                    }
                    (Some(found), _) => {
                        self.0.remove(0);
                        return Some(found);
                    }
                }
            }
            None
        }
    }

    fn events(script: &str) -> Vec<String> {
        let key = |code, modifiers| Some(Terminal::Key(KeyEvent::new(code, modifiers)));
        let plain = KeyModifiers::NONE;
        let keys = script.chars().map(|c| match c {
            '|' => None,
            '^' => key(KeyCode::Esc, plain),
            '\u{7}' => key(KeyCode::Char('g'), KeyModifiers::CONTROL),
            '{' => key(KeyCode::Char(']'), KeyModifiers::ALT),
            '}' => key(KeyCode::Char('\\'), KeyModifiers::ALT),
            c => key(KeyCode::Char(c), plain),
        });
        let mut source = Script(keys.collect());
        let mut out = Vec::new();
        while let Some(found) = source.next(None) {
            put_together(found, &mut source, &mut |event| {
                out.push(match event {
                    Event::Key(key) => format!("{:?}", key.code),
                    Event::Paste(text) => format!("paste {text}"),
                    other => format!("{other:?}"),
                });
            });
        }
        out
    }

    #[test]
    fn late_answers_of_the_terminal_are_no_keys() {
        assert_eq!(
            events("a{11;rgb:1e1e/1e1e/2e2e\u{7}b"),
            ["Char('a')", "Char('b')"]
        );
        assert_eq!(events("{11;rgb:qqqq/1111/eeee}q"), ["Char('q')"]);
        assert_eq!(events("^]11;rgb:0000}z"), ["Char('z')"]);
        // Without an end, only what comes at once is skipped.
        assert_eq!(events("{11;rgb|q"), ["Char('q')"]);
    }

    #[test]
    fn sequences_cut_after_escape_are_whole_again() {
        assert_eq!(events("^[A"), ["Up"]);
        assert_eq!(events("^[5~x"), ["PageUp", "Char('x')"]);
        assert_eq!(
            events("^[200~a q^[201~n"),
            ["paste a", "paste  ", "paste q", "Char('n')"]
        );
        assert_eq!(events("^[200~aq|n"), ["paste a", "paste q", "Char('n')"]);
        assert_eq!(events("^[9;9;9u"), Vec::<String>::new());
    }

    #[test]
    fn an_escape_is_an_escape() {
        assert_eq!(events("^"), ["Esc"]);
        assert_eq!(events("^|[A"), ["Esc", "Char('[')", "Char('A')"]);
        assert_eq!(events("^5"), ["Esc", "Char('5')"]);
        assert_eq!(events("^^q"), ["Esc", "Esc", "Char('q')"]);
    }
}
