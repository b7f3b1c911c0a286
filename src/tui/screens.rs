//! Whole-screen snapshots, styles included, on the small benchmark in memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::event::Event;
use super::glyphs::Marker;
use super::job::{FitKey, Job};
use super::overlay::Overlay;
use super::script::{self, Step};
use super::state::{Axes, ColourBy, Running, Scope, Source, State, ViewName};
use super::study::Choice;
use super::theme::{Theme, ThemeName};
use super::update::update;
use super::{fixture, view};

pub(super) fn screen(state: &mut State, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    state.look.size = (width, height);
    let mut buffer = Buffer::empty(area);
    view::draw(state, area, &mut buffer);
    buffer
}

/// Presses keys as scripts write them; jobs are not done.
pub(super) fn press(state: &mut State, keys: &str) {
    for step in script::parse(keys).unwrap() {
        if let Step::Press(key, _) = step {
            update(state, Event::Key(key));
        }
    }
}

/// The characters, then the style of each as a letter, then what the letters mean.
fn dump(buffer: &Buffer) -> String {
    let (mut text, mut grid) = (String::new(), String::new());
    let mut letters: BTreeMap<String, char> = BTreeMap::new();
    for y in 0..buffer.area.height {
        let (mut line, mut styles) = (String::new(), String::new());
        let mut skip = 0usize;
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            if skip > 0 {
                skip -= 1;
            } else {
                line.push_str(cell.symbol());
                skip = unicode_width::UnicodeWidthStr::width(cell.symbol()).saturating_sub(1);
            }
            let plain = cell.fg == Color::Reset && cell.modifier == Modifier::empty();
            let letter = if plain {
                ' '
            } else {
                let next = char::from(b'a' + letters.len() as u8);
                *letters
                    .entry(format!("{} {:?}", cell.fg, cell.modifier))
                    .or_insert(next)
            };
            assert_eq!(cell.bg, Color::Reset, "no theme paints a background");
            styles.push(letter);
        }
        let _ = writeln!(text, "{}", line.trim_end());
        let _ = writeln!(grid, "{}", styles.trim_end());
    }
    let mut legend: Vec<(char, String)> = letters.into_iter().map(|(s, l)| (l, s)).collect();
    legend.sort();
    for (letter, style) in legend {
        let _ = writeln!(grid, "{letter} = {style}");
    }
    format!("{text}\n{grid}")
}

#[test]
fn views_in_every_theme() {
    for &theme in ThemeName::ALL {
        let mut state = fixture::state(theme);
        for view in ViewName::ALL {
            state.view = view;
            let file = format!("{}-{}-120x36", view.name(), theme.label());
            insta::assert_snapshot!(file, dump(&screen(&mut state, 120, 36)));
        }
    }
}

#[test]
fn views_in_other_sizes() {
    let mut state = fixture::state(ThemeName::Dark);
    for view in ViewName::ALL {
        state.view = view;
        for (width, height) in [(80, 24), (200, 60)] {
            let file = format!("{}-dark-{width}x{height}", view.name());
            insta::assert_snapshot!(file, dump(&screen(&mut state, width, height)));
        }
    }
}

#[test]
fn ascii_markers_leave_only_ascii_and_the_items_own_script() {
    let mut state = fixture::state(ThemeName::Mono);
    state.look.marker = Marker::Ascii;
    for view in ViewName::ALL {
        state.view = view;
        let buffer = screen(&mut state, 120, 36);
        for cell in &buffer.content {
            let symbol = cell.symbol();
            assert!(
                symbol.is_ascii() || ["漢", "字"].contains(&symbol),
                "{symbol:?} in {view:?}"
            );
        }
        insta::assert_snapshot!(
            format!("{}-ascii-80x24", view.name()),
            dump(&screen(&mut state, 80, 24))
        );
    }
}

#[test]
fn overlays_and_typed_values() {
    let mut state = fixture::state(ThemeName::Dark);
    state.openable = vec![Source::demo("helm-lite"), Source("/data/exam.json".into())];
    press(&mut state, "?");
    insta::assert_snapshot!("help-120x36", dump(&screen(&mut state, 120, 36)));
    insta::assert_snapshot!("help-80x24", dump(&screen(&mut state, 80, 24)));
    press(&mut state, "Esc o Down");
    insta::assert_snapshot!("open-80x24", dump(&screen(&mut state, 80, 24)));
    press(&mut state, "Esc n 9 9 9 Enter");
    let text = dump(&screen(&mut state, 80, 24));
    assert!(text.contains("n is a whole number from 1 to 360"), "{text}");
    press(&mut state, "Esc n 6 0 Enter");
    assert_eq!((state.setting.n, &state.overlay), (60, &Overlay::None));
}

#[test]
fn an_older_result_is_dimmed_and_the_job_is_shown() {
    let mut state = fixture::state(ThemeName::Dark);
    state.setting.n = 77;
    state.refresh();
    state.running = Some(Running {
        job: Job::Fit(FitKey {
            scenario: 0,
            theta: tinyscope::experiment::Scope::Scenario,
            seed: 0,
        }),
        generation: 1,
        what: "choosing 77 items of arithmetic".into(),
        waited_for: true,
        done: 0.4,
        elapsed: std::time::Duration::from_secs(2),
    });
    insta::assert_snapshot!("stale-120x36", dump(&screen(&mut state, 120, 36)));
}

#[test]
fn colours_of_the_map() {
    let mut state = fixture::state(ThemeName::Dark);
    state.colour_by = ColourBy::SubScenario;
    insta::assert_snapshot!(
        "map-sub-scenarios-120x36",
        dump(&screen(&mut state, 120, 36))
    );
    state.colour_by = ColourBy::Share;
    insta::assert_snapshot!("map-share-120x36", dump(&screen(&mut state, 120, 36)));
}

#[test]
fn difficulty_against_discrimination() {
    let mut state = fixture::state(ThemeName::Dark);
    state.axes = Axes::Parameters;
    insta::assert_snapshot!("map-parameters-120x36", dump(&screen(&mut state, 120, 36)));
}

#[test]
fn overall_has_scores_and_curves_and_the_map_says_why_it_has_none() {
    let mut state = fixture::state(ThemeName::Dark);
    state.setting.scope = Scope::Overall;
    state.refresh();
    for view in ViewName::ALL {
        state.view = view;
        insta::assert_snapshot!(
            format!("{}-overall-120x36", view.name()),
            dump(&screen(&mut state, 120, 36))
        );
    }
}

#[test]
fn nothing_open_says_what_to_do() {
    let mut state = State::new(ThemeName::Dark);
    state.message =
        Some("exam.csv, line 3: 3 cells, 4 expected; complete the row  (o opens another)".into());
    insta::assert_snapshot!("nothing-open-80x24", dump(&screen(&mut state, 80, 24)));
}

/// Every size draws, and below the smallest one line says what is needed.
#[test]
fn every_size_draws() {
    let mut state = fixture::state(ThemeName::Dark);
    for overlay in [
        Overlay::None,
        Overlay::Help {
            scroll: 99,
            search: String::new(),
        },
        Overlay::Open {
            row: 9,
            path: "x".repeat(300),
        },
    ] {
        state.overlay = overlay;
        for view in ViewName::ALL {
            state.view = view;
            for (width, height) in [
                (0, 0),
                (1, 1),
                (40, 3),
                (79, 24),
                (80, 23),
                (80, 24),
                (81, 25),
                (109, 30),
                (110, 36),
                (159, 50),
                (300, 100),
            ] {
                for open in [None, Some(true), Some(false)] {
                    (state.look.list_open, state.look.inspector_open) = (open, open);
                    let text = dump(&screen(&mut state, width, height));
                    if width >= 60 && height >= 1 && (width < 80 || height < 24) {
                        assert!(text.contains("tinyscope needs 80 x 24 cells"), "{text}");
                    }
                }
            }
        }
    }
}

/// The panels' numbers stand in columns: a model's estimate ends where its heading ends.
#[test]
fn numbers_stand_under_their_headings() {
    let mut state = fixture::state(ThemeName::Dark);
    state.view = ViewName::Scores;
    let text = dump(&screen(&mut state, 120, 36));
    let end = |line: &str, word: &str| {
        line.find(word)
            .map(|at| line[..at + word.len()].chars().count())
    };
    let lines: Vec<&str> = text.lines().collect();
    let heading = lines.iter().find(|l| l.contains("error")).unwrap();
    let row = lines.iter().find(|l| l.contains("model-03")).unwrap();
    let column = end(heading, "est.").unwrap();
    let ends: Vec<usize> = row
        .chars()
        .collect::<Vec<char>>()
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0].is_ascii_digit() && pair[1] == ' ')
        .map(|(at, _)| at + 1)
        .collect();
    assert!(ends.contains(&column), "{heading}\n{row}");
}

#[test]
fn indexed_themes_draw_the_same_characters() {
    let mut state = fixture::state(ThemeName::Light);
    let first = screen(&mut state, 120, 36);
    state.look.theme = Theme::new(ThemeName::Light).indexed();
    let second = screen(&mut state, 120, 36);
    assert!(
        first
            .content
            .iter()
            .zip(&second.content)
            .all(|(p, q)| p.symbol() == q.symbol())
    );
    assert!(
        second
            .content
            .iter()
            .all(|c| !matches!(c.fg, Color::Rgb(..)))
    );
}

/// A view after some keys, as a snapshot of that name.
fn after(state: &mut State, keys: &str, name: &str) {
    press(state, keys);
    state.message = None;
    insta::assert_snapshot!(name, dump(&screen(state, 120, 36)));
}

#[test]
fn a_pinned_setting_stands_behind_in_every_view() {
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "p n60 Enter s");
    fixture::replay(&mut state);
    for (at, view) in ViewName::ALL.into_iter().enumerate() {
        let name = format!("pinned-{}-120x36", view.name());
        after(&mut state, &(at + 1).to_string(), &name);
    }
    let mut state = fixture::state(ThemeName::Mono);
    press(&mut state, "p n60 Enter s 3");
    insta::assert_snapshot!("pinned-scores-80x24", dump(&screen(&mut state, 80, 24)));
}

#[test]
fn slides_hold_one_idea_each() {
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "P");
    for slide in 1..=8 {
        state.replay.go(usize::MAX);
        let name = format!("slide-{slide}-120x36");
        insta::assert_snapshot!(name, dump(&screen(&mut state, 120, 36)));
        press(&mut state, "Right");
    }
    let mut state = fixture::state(ThemeName::Light);
    press(&mut state, "3 P");
    insta::assert_snapshot!("slide-3-light-80x24", dump(&screen(&mut state, 80, 24)));
}

#[test]
fn variants_of_the_views() {
    let mut state = fixture::state(ThemeName::Dark);
    after(&mut state, "g r . .", "map-zoomed-lines-120x36");
    after(&mut state, ", , , r v v", "map-correctness-120x36");
    after(
        &mut state,
        "v c c /division Enter",
        "map-filtered-difficulty-120x36",
    );
    after(&mut state, "Esc } I", "map-part-120x36");
    let mut state = fixture::state(ThemeName::ColourBlind);
    after(
        &mut state,
        "2 S Space Down Down Space End Space",
        "items-marked-120x36",
    );
    after(&mut state, "C { /21 Enter", "items-filtered-120x36");
    let mut state = fixture::state(ThemeName::Dark);
    after(&mut state, "3 r Down Down", "scores-ranking-120x36");
    after(&mut state, "r S S /org-03 Enter", "scores-filtered-120x36");
    let mut state = fixture::state(ThemeName::Dark);
    after(
        &mut state,
        "4 G y $ 0.002$ Enter",
        "tradeoff-log-cost-120x36",
    );
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "5");
    state.replay.go(12);
    after(&mut state, ">", "replay-running-120x36");
}

/// The chosen estimator is a learned one: its own lambda or weights stand in the setting, its curve
/// beside the paper's.
#[test]
fn learned_estimators_say_what_they_learned() {
    let mut state = fixture::state(ThemeName::Dark);
    after(&mut state, "e e 4", "learned-gp-cv-tradeoff-120x36");
    press(&mut state, "e e 3 Down Down Down");
    state.message = None;
    let large = dump(&screen(&mut state, 200, 60));
    insta::assert_snapshot!("learned-stacked-scores-200x60", large);
    after(&mut state, "5", "learned-stacked-replay-120x36");
    let small = dump(&screen(&mut state, 80, 24));
    assert!(small.contains("n .08 p .27 A .24 r .41"), "{small}");
}

/// Until intervals are learned the screen says so; their key hides them.
#[test]
fn intervals_are_announced_and_can_be_hidden() {
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "3 B");
    state.message = None;
    let text = dump(&screen(&mut state, 120, 36));
    assert!(!text.contains("90 %") && !text.contains('±'), "{text}");
    fixture::unlearn(&mut state);
    after(&mut state, "B", "scores-unlearned-120x36");
    press(&mut state, "e");
    let text = dump(&screen(&mut state, 120, 36));
    assert!(text.contains("AIPW is being learned"), "{text}");
}

/// A bar is no dot in any marker set, and none hides a point.
#[test]
fn bars_are_told_from_points_in_every_marker_set() {
    let mut state = fixture::state(ThemeName::Mono);
    state.view = ViewName::Scores;
    for &marker in Marker::ALL {
        state.look.marker = marker;
        state.bars = false;
        let without = dump(&screen(&mut state, 120, 36));
        state.bars = true;
        let with = dump(&screen(&mut state, 120, 36));
        let points = |text: &str| {
            let rows = text.lines().skip(3).take(24);
            let rows = rows.map(|l| l.chars().skip(32).take(40).collect::<String>());
            let marks = ["●", "▲", "▼", "o", "^", "v"];
            rows.map(|r| marks.iter().map(|m| r.matches(m).count()).sum::<usize>())
                .sum::<usize>()
        };
        // Another range of the axes may put two models into one cell.
        assert!(points(&with) + 2 >= points(&without), "{marker:?}\n{with}");
        assert_ne!(with, without);
    }
    state.ranking = true;
    state.look.marker = Marker::HalfBlock;
    insta::assert_snapshot!(
        "scores-ranking-mono-half-block-200x60",
        dump(&screen(&mut state, 200, 60))
    );
}

#[test]
fn my_own_model_stands_out() {
    let mut state = fixture::state(ThemeName::Dark);
    fixture::own_model(&mut state);
    after(&mut state, "3", "mine-scores-120x36");
    after(&mut state, "4", "mine-tradeoff-120x36");
}

#[test]
fn menus_say_what_they_do() {
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "w");
    insta::assert_snapshot!("write-80x24", dump(&screen(&mut state, 80, 24)));
    press(&mut state, "Esc ? anchors");
    insta::assert_snapshot!("help-search-80x24", dump(&screen(&mut state, 80, 24)));
    press(&mut state, "nonsense");
    let text = dump(&screen(&mut state, 80, 24));
    assert!(text.contains("no key does that"), "{text}");
}

/// A long error stands whole: what to do is at its end.
#[test]
fn long_messages_are_wrapped() {
    let mut state = fixture::state(ThemeName::Dark);
    let advice = "write numbers in [0, 1], or say --percent";
    state.message = Some(format!(
        "a/very/long/path/{}/exam.csv, line 3: {advice}",
        "x".repeat(90)
    ));
    let text = dump(&screen(&mut state, 80, 24));
    assert!(text.replace("\n ", " ").contains(advice), "{text}");
}
