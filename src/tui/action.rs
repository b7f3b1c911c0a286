//! The one table of actions: what a key does, where, and what it is called.
//!
//! Keys, footer, help overlay and the README's list all read this table.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Everything a key can ask for while no text is being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Show the map.
    Map,
    /// Show estimated against true scores.
    Scores,
    /// Show the error against n and lambda.
    Tradeoff,
    /// Move left, right, up or down: anchors, models or n, by view.
    Left,
    /// See [`Action::Left`].
    Right,
    /// See [`Action::Left`].
    Up,
    /// See [`Action::Left`].
    Down,
    /// More items.
    MoreItems,
    /// Fewer items.
    FewerItems,
    /// Type n.
    TypeItems,
    /// More weight on the observed anchors.
    LambdaUp,
    /// More weight on the model.
    LambdaDown,
    /// Type lambda.
    TypeLambda,
    /// Lambda by the paper's formula again.
    LambdaAuto,
    /// Next way to choose the items.
    Selection,
    /// Next estimator.
    Estimator,
    /// Next scenario.
    NextScenario,
    /// Previous scenario.
    PreviousScenario,
    /// What colours of the map mean.
    ColourBy,
    /// What the axes of the map are.
    Axes,
    /// Next column to sort the models by.
    Sort,
    /// Scroll the inspector's text down.
    ScrollDown,
    /// Scroll the inspector's text up.
    ScrollUp,
    /// Fold or unfold the list of scenarios.
    ToggleList,
    /// Fold or unfold the inspector.
    ToggleInspector,
    /// Next marker set.
    Marker,
    /// Next theme.
    Theme,
    /// List of benchmarks to open.
    Open,
    /// Stop the running job.
    Cancel,
    /// The help overlay.
    Help,
    /// Leave.
    Quit,
}

/// Where a row of the table applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Everywhere.
    Anywhere,
    /// In the map only.
    Map,
    /// In the scores view only.
    Scores,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Binding {
    /// What it does.
    pub(crate) action: Action,
    /// The keys, as crossterm names them.
    pub(crate) keys: &'static [Key],
    /// The keys as people read them.
    pub(crate) label: &'static str,
    /// One or two words for the footer; empty where the footer leaves it out.
    pub(crate) short: &'static str,
    /// A sentence for help and README.
    pub(crate) long: &'static str,
    /// Where it works.
    pub(crate) place: Place,
}

/// A key without its modifiers, except that letters carry their case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// A printed character.
    Char(char),
    /// A named key.
    Code(KeyCode),
    /// Control and a character.
    Control(char),
}

use Key::{Char, Code, Control};

/// The table, in the order of help and README.
pub(crate) const BINDINGS: &[Binding] = &[
    row(
        Action::Map,
        &[Char('1')],
        "1",
        "",
        "map of the items and their anchors",
    ),
    row(
        Action::Scores,
        &[Char('2')],
        "2",
        "",
        "estimated against true scores",
    ),
    row(
        Action::Tradeoff,
        &[Char('3')],
        "3",
        "",
        "error against n and against lambda",
    ),
    row(
        Action::MoreItems,
        &[Char('+'), Char('=')],
        "+",
        "",
        "more items: the next n of the slider",
    ),
    row(
        Action::FewerItems,
        &[Char('-'), Char('_')],
        "-",
        "",
        "fewer items: the previous n of the slider",
    ),
    row(
        Action::TypeItems,
        &[Char('n')],
        "n",
        "type n",
        "type n, Enter takes it",
    ),
    row(
        Action::LambdaUp,
        &[Char(']')],
        "]",
        "",
        "lambda up: more weight on the observed anchors",
    ),
    row(
        Action::LambdaDown,
        &[Char('[')],
        "[",
        "",
        "lambda down: more weight on the IRT model",
    ),
    row(
        Action::TypeLambda,
        &[Char('L')],
        "L",
        "",
        "type lambda, Enter takes it",
    ),
    row(
        Action::LambdaAuto,
        &[Char('a')],
        "a",
        "auto λ",
        "lambda by the paper's formula again",
    ),
    row(
        Action::Selection,
        &[Char('s')],
        "s",
        "selection",
        "next selection: random, correctness anchors, IRT anchors",
    ),
    row(
        Action::Estimator,
        &[Char('e')],
        "e",
        "estimator",
        "next estimator: naive, p-IRT, gp-IRT",
    ),
    row(
        Action::NextScenario,
        &[Code(KeyCode::Tab)],
        "Tab",
        "scenario",
        "next scenario; the last one is the mean over all",
    ),
    row(
        Action::PreviousScenario,
        &[Code(KeyCode::BackTab)],
        "Shift-Tab",
        "",
        "previous scenario",
    ),
    row(
        Action::Left,
        &[Code(KeyCode::Left), Char('h')],
        "← h",
        "",
        "the anchor to the left; in the trade-off, a smaller n",
    ),
    row(
        Action::Down,
        &[Code(KeyCode::Down), Char('j')],
        "↓ j",
        "",
        "the anchor below; in the scores, the next model",
    ),
    row(
        Action::Up,
        &[Code(KeyCode::Up), Char('k')],
        "↑ k",
        "",
        "the anchor above; in the scores, the previous model",
    ),
    row(
        Action::Right,
        &[Code(KeyCode::Right), Char('l')],
        "→ l",
        "",
        "the anchor to the right; in the trade-off, a larger n",
    ),
    Binding {
        place: Place::Map,
        ..row(
            Action::ColourBy,
            &[Char('c')],
            "c",
            "colour",
            "colour the map by cluster, sub-scenario or share of models correct",
        )
    },
    Binding {
        place: Place::Map,
        ..row(
            Action::Axes,
            &[Char('v')],
            "v",
            "axes",
            "principal components, or difficulty against discrimination",
        )
    },
    Binding {
        place: Place::Map,
        ..row(
            Action::ScrollDown,
            &[Code(KeyCode::PageDown), Char('J')],
            "PgDn J",
            "",
            "scroll the item's text down",
        )
    },
    Binding {
        place: Place::Map,
        ..row(
            Action::ScrollUp,
            &[Code(KeyCode::PageUp), Char('K')],
            "PgUp K",
            "",
            "scroll the item's text up",
        )
    },
    Binding {
        place: Place::Scores,
        ..row(
            Action::Sort,
            &[Char('S')],
            "S",
            "sort",
            "sort the models by true score, estimate, error or name",
        )
    },
    row(
        Action::ToggleList,
        &[Char('b')],
        "b",
        "",
        "fold or unfold the list of scenarios",
    ),
    row(
        Action::ToggleInspector,
        &[Char('i')],
        "i",
        "inspector",
        "fold or unfold the inspector",
    ),
    row(
        Action::Marker,
        &[Char('m')],
        "m",
        "",
        "next marker set: octant, braille, half-block, dot, ASCII",
    ),
    row(
        Action::Theme,
        &[Char('t')],
        "t",
        "theme",
        "next theme: dark, light, colour-blind, mono",
    ),
    row(
        Action::Open,
        &[Char('o')],
        "o",
        "open",
        "open a demo, a recent file or a path",
    ),
    row(
        Action::Cancel,
        &[Char('x')],
        "x",
        "",
        "stop the running job",
    ),
    row(Action::Help, &[Char('?')], "?", "help", "all keys"),
    row(
        Action::Quit,
        &[Char('q'), Control('c')],
        "q",
        "quit",
        "leave",
    ),
];

const fn row(
    action: Action,
    keys: &'static [Key],
    label: &'static str,
    short: &'static str,
    long: &'static str,
) -> Binding {
    Binding {
        action,
        keys,
        label,
        short,
        long,
        place: Place::Anywhere,
    }
}

/// What a key press asks for in a view that `place` names, if anything.
pub(crate) fn action_of(key: &KeyEvent, place: Place) -> Option<Action> {
    let pressed = match key.code {
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::CONTROL) => Control(c),
        KeyCode::Char(_) if key.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(c) => Char(c),
        code => Code(code),
    };
    BINDINGS
        .iter()
        .filter(|b| b.place == Place::Anywhere || b.place == place)
        .find(|b| b.keys.contains(&pressed))
        .map(|b| b.action)
}

/// The README's list of keys as a Markdown table; a test compares it and prints it where they differ.
#[cfg(test)]
pub(crate) fn markdown() -> String {
    let mut table = String::from("| Key | What it does |\n|---|---|\n");
    for binding in BINDINGS {
        let keys: Vec<String> = binding
            .label
            .split(' ')
            .map(|key| format!("`{key}`"))
            .collect();
        let place = match binding.place {
            Place::Anywhere => "",
            Place::Map => "map: ",
            Place::Scores => "scores: ",
        };
        table.push_str(&format!(
            "| {} | {place}{} |\n",
            keys.join(" "),
            binding.long
        ));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for place in [Place::Map, Place::Scores] {
            let here = || {
                BINDINGS
                    .iter()
                    .filter(|b| b.place == Place::Anywhere || b.place == place)
            };
            let keys: Vec<Key> = here().flat_map(|b| b.keys.iter().copied()).collect();
            for (at, key) in keys.iter().enumerate() {
                assert!(!keys[at + 1..].contains(key), "{key:?} twice");
            }
        }
    }

    #[test]
    fn control_c_quits_and_plain_c_does_not() {
        let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(action_of(&control, Place::Map), Some(Action::Quit));
        let plain = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::NONE);
        assert_eq!(action_of(&plain, Place::Map), Some(Action::ColourBy));
        assert_eq!(action_of(&plain, Place::Scores), None);
    }

    /// The README's list between its two markers is exactly the table.
    #[test]
    fn readme_lists_these_keys() {
        let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"))
            .expect("README.md");
        let (_, rest) = readme
            .split_once("<!-- keys -->\n")
            .expect("the marker before the list");
        let listed = rest.split("<!-- /keys -->").next().unwrap_or_default();
        assert_eq!(
            listed.trim(),
            markdown().trim(),
            "write this into README.md:\n{}",
            markdown()
        );
    }
}
