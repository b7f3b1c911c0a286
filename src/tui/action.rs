//! What keys can ask for, and which key asks for what in which view.
//!
//! Keys, footer, help overlay and the README's list all read the one table in [`super::keys`].

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::keys::BINDINGS;

/// Everything a key can ask for while no text is being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Show a view, by its index.
    View(usize),
    /// Move left: anchors, n or steps, by view.
    Left,
    /// Move right.
    Right,
    /// Move up: anchors, items, models, by view.
    Up,
    /// Move down.
    Down,
    /// A page up in a table.
    PageUp,
    /// A page down in a table.
    PageDown,
    /// To the first row or step.
    First,
    /// To the last row or step.
    Last,
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
    /// One ability a scenario, or one for all.
    Theta,
    /// The next seed.
    NextSeed,
    /// The seed before.
    PreviousSeed,
    /// Next scenario.
    NextScenario,
    /// Previous scenario.
    PreviousScenario,
    /// The next sub-scenario stands out.
    NextPart,
    /// The one before.
    PreviousPart,
    /// Keep the setting as a ghost, or let it go.
    Pin,
    /// Filter, or search.
    Filter,
    /// What colours of the map mean.
    ColourBy,
    /// What the axes of the map are.
    Axes,
    /// Whether the cursor walks anchors or all items.
    Cursor,
    /// The map's layer of items.
    LayerItems,
    /// The map's layer of anchors.
    LayerAnchors,
    /// The map's lines from anchors to their clusters.
    LayerLines,
    /// Closer.
    ZoomIn,
    /// Further away.
    ZoomOut,
    /// The whole map.
    ZoomWhole,
    /// Move what is seen left.
    PanLeft,
    /// Move what is seen right.
    PanRight,
    /// Move what is seen up.
    PanUp,
    /// Move what is seen down.
    PanDown,
    /// Never an anchor.
    Exclude,
    /// Always an anchor.
    Force,
    /// This item instead of its cluster's anchor.
    Swap,
    /// Take the last change of anchors back.
    Undo,
    /// Make it again.
    Redo,
    /// Draw the item's curve together with others.
    Mark,
    /// Forget the marked items.
    ClearMarks,
    /// Next column to sort by.
    Sort,
    /// Ranks instead of scores.
    Ranking,
    /// Intervals, or none.
    Bars,
    /// n on a logarithmic axis.
    LogN,
    /// What the lower plot shows.
    Lower,
    /// Type the error that n is wanted for.
    Target,
    /// Type what an answer costs.
    Cost,
    /// Let the replay run, or stop it.
    Play,
    /// Run faster.
    Faster,
    /// Run slower.
    Slower,
    /// Scroll the text down.
    ScrollDown,
    /// Scroll the text up.
    ScrollUp,
    /// Open the answers of one's own model.
    Answers,
    /// Fold or unfold the list of scenarios.
    ToggleList,
    /// Fold or unfold the inspector.
    ToggleInspector,
    /// Next marker set.
    Marker,
    /// Next theme.
    Theme,
    /// Listen to the mouse, or not.
    Mouse,
    /// Show one idea at a time, for talks.
    Present,
    /// The next slide.
    NextSlide,
    /// The slide before.
    PreviousSlide,
    /// Back from the slides.
    LeaveSlides,
    /// Write what is on the screen to a file.
    Write,
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
    /// In the map.
    Map,
    /// In the items.
    Items,
    /// In the scores.
    Scores,
    /// In the trade-off.
    Tradeoff,
    /// In the replay.
    Replay,
    /// In the data.
    Data,
    /// On a slide.
    Slides,
}

impl Place {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Place; 7] = [
        Place::Map,
        Place::Items,
        Place::Scores,
        Place::Tradeoff,
        Place::Replay,
        Place::Data,
        Place::Slides,
    ];

    /// Its name in help and README.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Place::Map => "map",
            Place::Items => "items",
            Place::Scores => "scores",
            Place::Tradeoff => "trade-off",
            Place::Replay => "replay",
            Place::Data => "data",
            Place::Slides => "slides",
        }
    }
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
    /// Where it works; everywhere when empty.
    pub(crate) places: &'static [Place],
    /// A sentence for help and README.
    pub(crate) long: &'static str,
}

impl Binding {
    /// Whether it works there.
    pub(crate) fn works(&self, place: Place) -> bool {
        self.places.is_empty() || self.places.contains(&place)
    }

    /// "map, items: " before the sentence; nothing for what works everywhere.
    pub(crate) fn prefix(&self) -> String {
        if self.places.is_empty() {
            return String::new();
        }
        let names: Vec<&str> = self.places.iter().map(|p| p.label()).collect();
        format!("{}: ", names.join(", "))
    }
}

/// A key without its modifiers, except that letters carry their case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// A printed character.
    Char(char),
    /// A named key.
    Code(KeyCode),
    /// A named key with Shift.
    Shift(KeyCode),
    /// Control and a character.
    Control(char),
}

/// What a key press asks for in a place, if anything.
pub(crate) fn action_of(key: &KeyEvent, place: Place) -> Option<Action> {
    let pressed = match key.code {
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Control(c),
        KeyCode::Char(_) if key.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(c) => Key::Char(c),
        code if key.modifiers.contains(KeyModifiers::SHIFT) && code != KeyCode::BackTab => {
            Key::Shift(code)
        }
        code => Key::Code(code),
    };
    BINDINGS
        .iter()
        .filter(|b| b.works(place))
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
        table.push_str(&format!(
            "| {} | {}{} |\n",
            keys.join(" "),
            binding.prefix(),
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
        for place in Place::ALL {
            let here = || BINDINGS.iter().filter(|b| b.works(place));
            let keys: Vec<Key> = here().flat_map(|b| b.keys.iter().copied()).collect();
            for (at, key) in keys.iter().enumerate() {
                assert!(!keys[at + 1..].contains(key), "{key:?} twice in {place:?}");
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

    #[test]
    fn shift_and_an_arrow_is_another_key() {
        let shifted = KeyEvent::new(KeyCode::Left, KeyModifiers::SHIFT);
        assert_eq!(action_of(&shifted, Place::Map), Some(Action::PanLeft));
        let plain = KeyEvent::new(KeyCode::Left, KeyModifiers::NONE);
        assert_eq!(action_of(&plain, Place::Map), Some(Action::Left));
        assert_eq!(
            action_of(&plain, Place::Slides),
            Some(Action::PreviousSlide)
        );
    }

    fn readme_holds(name: &str, list: &str) {
        let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"))
            .expect("README.md");
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let (_, rest) = readme
            .split_once(&begin)
            .expect("the marker before the list");
        let listed = rest.split(&end).next().unwrap_or_default();
        assert_eq!(
            listed.trim(),
            list.trim(),
            "write this into README.md:\n{list}"
        );
    }

    /// The README's lists between their markers are exactly the tables.
    #[test]
    fn readme_lists_these_keys_and_words() {
        readme_holds("keys", &markdown());
        let words = crate::tui::keys::WORDS.iter();
        let words: Vec<String> = words
            .map(|(w, text)| format!("- **{w}**: {text}"))
            .collect();
        readme_holds("words", &words.join("\n"));
    }
}
