//! What keys, settings files and scripts do to the state, on the small benchmark in memory.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;

use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{Lambda, Scope as Theta};

use super::cast::Cast;
use super::event::{Event, Outcome, Report};
use super::export::document;
use super::job::{Job, Who};
use super::overlay::{Overlay, What};
use super::saved::Saved;
use super::screens::press;
use super::script;
use super::state::{Scope, Source, State, ViewName};
use super::study::Cell;
use super::theme::ThemeName;
use super::update::{Effect, update};
use super::{export, fixture, sure};

/// Does the cells that the state asks for, from the fixture.
fn answer(state: &mut State) {
    for _ in 0..50 {
        let Some(Job::Cell(key)) = state.next_job() else {
            return;
        };
        let study = state.study.clone().unwrap();
        let fit = state.fit(key.fit.scenario).cloned().unwrap();
        let mut cell = fixture::cell(&study, &fit, &key);
        if let Some(edits) = &key.edits {
            let scenario = study.scenario(key.fit.scenario);
            let points = tinyscope::anchors::irt_points(&fit.items);
            cell.found.selection = tinyscope::anchors::edited(
                &cell.found.selection,
                edits,
                Some(&points),
                &fit.fitted.balance,
                scenario,
                key.fit.seed,
                key.fit.scenario,
            );
        }
        let report = Report::Done(Outcome::Estimated(vec![(key, Arc::new(cell))]));
        let generation = state.generation;
        update(state, Event::Job { generation, report });
    }
}

fn anchors(state: &State) -> Vec<usize> {
    let cell = state.shown.as_ref().unwrap().now.cell().unwrap();
    cell.found
        .selection
        .anchors
        .iter()
        .map(|a| a.item)
        .collect()
}

#[test]
fn anchors_are_excluded_forced_swapped_and_put_back() {
    let mut state = fixture::state(ThemeName::Dark);
    let before = anchors(&state);
    let first = state.item.unwrap();
    assert!(before.contains(&first));
    press(&mut state, "E");
    answer(&mut state);
    let excluded = anchors(&state);
    assert!(!excluded.contains(&first) && excluded.len() == before.len());
    let weights: f64 = {
        let cell = state.shown.as_ref().unwrap().now.cell().unwrap();
        cell.found.selection.anchors.iter().map(|a| a.weight).sum()
    };
    assert!((weights - 1.0).abs() < 1e-9);
    // An item that is no anchor is forced on top.
    let other = (0..360)
        .find(|i| !excluded.contains(i) && *i != first)
        .unwrap();
    super::walk::select(&mut state, other);
    press(&mut state, "F");
    answer(&mut state);
    let forced = anchors(&state);
    assert!(forced.contains(&other) && forced.len() == before.len() + 1);
    press(&mut state, "u");
    answer(&mut state);
    assert_eq!(anchors(&state), excluded);
    press(&mut state, "u");
    assert_eq!(anchors(&state), before, "no job is needed to go back");
    press(&mut state, "U");
    assert_eq!(anchors(&state), excluded);
    press(&mut state, "u u");
    assert!(
        state
            .message
            .as_deref()
            .unwrap()
            .contains("no change of anchors")
    );
    // A swap keeps n.
    super::walk::select(&mut state, other);
    let owner = state.anchor_owning(other).unwrap();
    press(&mut state, "W");
    answer(&mut state);
    let swapped = anchors(&state);
    assert!(swapped.contains(&other) && !swapped.contains(&owner));
    assert_eq!(swapped.len(), before.len());
}

#[test]
fn a_pinned_setting_keeps_its_own_and_follows_the_scenario() {
    let mut state = fixture::state(ThemeName::Dark);
    let first = state.shown.as_ref().unwrap().now.metrics;
    press(&mut state, "p n60 Enter s e");
    let shown = state.shown.as_ref().unwrap();
    let ghost = shown.ghost.as_ref().unwrap();
    assert_eq!((ghost.metrics, ghost.setting.n), (first, 40));
    assert_ne!(shown.now.metrics, first);
    press(&mut state, "Tab");
    let ghost = state.shown.as_ref().unwrap().ghost.as_ref().unwrap();
    assert_eq!(ghost.setting.scope, Scope::One(1));
    press(&mut state, "p");
    assert!(state.shown.as_ref().unwrap().ghost.is_none());
}

#[test]
fn seeds_and_the_scope_of_theta_ask_for_their_own_fits() {
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "z");
    let Some(Job::Fit(key)) = state.next_job() else {
        panic!("{:?}", state.next_job());
    };
    assert_eq!((key.seed, key.theta), (1, Theta::Scenario));
    press(&mut state, "Z T");
    let Some(Job::Fit(key)) = state.next_job() else {
        panic!("{:?}", state.next_job());
    };
    assert_eq!((key.seed, key.theta), (0, Theta::Joint));
    press(&mut state, "T");
    assert!(
        state.shown.as_ref().unwrap().fresh,
        "the first fit is still there"
    );
}

#[test]
fn a_search_goes_to_its_match_and_escape_drops_it() {
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "/fractions/3 Enter");
    let (scenario, item) = state.selected_item().unwrap();
    let study = state.study.clone().unwrap();
    assert!(study.item_id(scenario, item).contains("fractions/3"));
    press(&mut state, "2");
    let order = super::view::items::order(&state);
    assert!(order.len() > 1 && order.len() < 20, "{}", order.len());
    press(&mut state, "Esc");
    assert_eq!(super::view::items::order(&state).len(), 360);
    press(&mut state, "3 /model-03 Enter");
    assert_eq!(study.model(state.model.unwrap()), "org-03/model-03");
    assert_eq!(super::view::models::order(&state).len(), 1);
}

#[test]
fn a_replay_plays_to_its_end_and_begins_again() {
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "5");
    assert_eq!(state.replay.step, 40);
    press(&mut state, "Space");
    assert_eq!((state.replay.step, state.replay.playing), (1, true));
    for _ in 0..100 {
        update(&mut state, Event::Tick);
    }
    assert_eq!((state.replay.step, state.replay.playing), (40, false));
    press(&mut state, "Left Left Home");
    assert_eq!(state.replay.step, 1);
    press(&mut state, "Down");
    assert_eq!(state.replay.who, Some(Who::Model(state.model.unwrap())));
    assert!(matches!(state.next_job(), Some(Job::Replay(..))));
}

#[test]
fn slides_go_forth_and_back_and_leave_the_setting() {
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "P");
    assert_eq!(state.look.slide, Some(0));
    press(&mut state, "Right Right +");
    assert_eq!((state.look.slide, state.view), (Some(2), ViewName::Scores));
    assert_eq!(state.setting.n, 50);
    press(&mut state, "Left Left Left Left");
    assert_eq!(state.look.slide, Some(0));
    press(&mut state, "4");
    assert_eq!((state.look.slide, state.view), (None, ViewName::Tradeoff));
}

/// Does the learning that the state asks for: the cells that the fixture has learned already.
fn learn(state: &mut State, learned: &State) -> usize {
    let mut done = 0;
    while let Some(Job::Learn(key)) = state.next_job() {
        let cell = Arc::clone(&learned.cells[&key]);
        let report = Report::Done(Outcome::Estimated(vec![(key, cell)]));
        let generation = state.generation;
        update(state, Event::Job { generation, report });
        done += 1;
    }
    done
}

/// The paper's estimates are there at once, intervals a moment later; what is learned for one n is
/// never shown with another.
#[test]
fn intervals_come_after_the_estimates_and_only_their_own() {
    let made = fixture::state(ThemeName::Dark);
    let mut state = fixture::state(ThemeName::Dark);
    state.ahead = false;
    press(&mut state, "3");
    fixture::unlearn(&mut state);
    let now = |state: &State| state.shown.clone().unwrap();
    assert!(now(&state).fresh && now(&state).now.sure.half_width.is_none());
    let Some(job @ Job::Learn(_)) = state.next_job() else {
        panic!("{:?}", state.next_job());
    };
    assert!(
        !state.urgent(&job),
        "the estimates on the screen need none of it"
    );
    assert_eq!(learn(&mut state, &made), 1);
    let sure = now(&state).now.sure;
    assert_eq!((sure.held.1, sure.intervals.len()), (10, 10));
    press(&mut state, "+");
    assert!(now(&state).fresh && now(&state).now.sure.half_width.is_none());
    // A late report of the same cell without what was learned takes nothing away.
    learn(&mut state, &made);
    let before = now(&state).now.sure;
    let key = state.key(0, &state.setting);
    let mut bare = (*made.cells[&key]).clone();
    bare.learned = false;
    let report = Report::Done(Outcome::Estimated(vec![(key, Arc::new(bare))]));
    let generation = state.generation;
    update(&mut state, Event::Job { generation, report });
    assert_eq!(now(&state).now.sure, before);
}

/// A learned estimator waits for its job, urgently; gp-IRT stands in for it, dimmed and said.
#[test]
fn a_learned_estimator_is_waited_for() {
    let made = fixture::state(ThemeName::Dark);
    let mut state = fixture::state(ThemeName::Dark);
    state.ahead = false;
    fixture::unlearn(&mut state);
    press(&mut state, "3 e");
    assert_eq!(state.setting.estimator, Estimator::Aipw);
    let shown = state.shown.clone().unwrap();
    assert_eq!(shown.now.setting.estimator, Estimator::GpIrt);
    assert!(!shown.fresh);
    assert!(super::view::sentence(&state).contains("AIPW is being learned; gp-IRT until then"));
    let job = state.next_job().unwrap();
    assert!(
        matches!(job, Job::Learn(_)) && state.urgent(&job),
        "{job:?}"
    );
    learn(&mut state, &made);
    let shown = state.shown.clone().unwrap();
    assert!(shown.fresh && shown.now.setting.estimator == Estimator::Aipw);
    assert_eq!(shown.now.scores.len(), 10);
    // Back to naive without a job, whatever was learned.
    press(&mut state, "e e e e");
    assert_eq!(state.setting.estimator, Estimator::Naive);
    assert!(state.shown.as_ref().unwrap().fresh);
}

/// One point of a curve says nothing of the n that an error needs.
#[test]
fn a_curve_that_is_not_computed_promises_nothing() {
    let made = fixture::state(ThemeName::Dark);
    let mut state = fixture::state(ThemeName::Dark);
    fixture::unlearn(&mut state);
    let key = state.key(0, &state.setting);
    let cell = Arc::clone(&made.cells[&key]);
    state.cells.insert(key, cell);
    state.refresh();
    let (needs, seeds) = state.needs();
    assert_eq!(seeds, 5);
    for need in needs {
        let learned = super::study::is_learned(need.estimator);
        assert_eq!(need.n == super::needs::Needed::Unknown, learned);
    }
}

/// Every estimator is in the tables, in settings files and in the curves.
#[test]
fn learned_estimators_are_written_and_restored() {
    let mut state = fixture::state(ThemeName::Dark);
    state.source = Some(Source::demo("helm-lite"));
    press(&mut state, "e e e e 3 B");
    assert_eq!(state.setting.estimator, Estimator::Stacked);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("talk.json");
    std::fs::write(&file, document(&state, What::Settings).unwrap()).unwrap();
    let mut again = fixture::state(ThemeName::Dark);
    Saved::read(&file).unwrap().restore(&mut again);
    assert_eq!(again.setting, state.setting);
    assert!(!again.bars);
    let scores = document(&state, What::Csv).unwrap();
    assert!(scores.starts_with("model,true,estimated,low,high,error,true_rank,rank,ranks"));
    assert!(!scores.contains(",,"), "{scores}");
    state.view = ViewName::Tradeoff;
    let curves = document(&state, What::Csv).unwrap();
    for estimator in Estimator::ALL {
        assert!(
            curves.contains(&format!(",{},", estimator.name())),
            "{curves}"
        );
    }
}

/// A settings file puts the screen back, edits and pin included, whatever the order of the items.
#[test]
fn settings_are_written_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = fixture::state(ThemeName::Light);
    state.source = Some(Source::demo("helm-lite"));
    press(&mut state, "p Tab n60 Enter s e E } 4 G m $ 3s Enter");
    let text = document(&state, What::Settings).unwrap();
    let file = folder.path().join("talk.json");
    std::fs::write(&file, &text).unwrap();
    let saved = Saved::read(&file).unwrap();
    assert_eq!(saved.theme(), Some(ThemeName::Light));
    let mut again = fixture::state(ThemeName::Dark);
    again.source = Some(Source::demo("helm-lite"));
    saved.restore(&mut again);
    again.refresh();
    assert_eq!(again.setting, state.setting);
    assert_eq!(again.pin, state.pin);
    assert_eq!(document(&again, What::Settings).unwrap(), text);
    assert!(again.message.is_none());
}

/// How files are read is part of the settings: the same file opens the same way.
#[test]
fn settings_keep_how_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = fixture::state(ThemeName::Dark);
    state.source = Some(Source::demo("helm-lite"));
    state.reading.transpose = true;
    state.reading.metric = Some("acc".into());
    let file = folder.path().join("talk.json");
    std::fs::write(&file, document(&state, What::Settings).unwrap()).unwrap();
    assert_eq!(Saved::read(&file).unwrap().fit.reading, state.reading);
}

/// Parameters that stand for a fit are part of the settings, with the convention that had to be said.
#[test]
fn settings_keep_given_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("best.json");
    std::fs::write(&path, r#"{"diff": [[0.3]], "disc": [[2.0]]}"#).unwrap();
    let convention = Some(tinyscope::irt::Convention::Centred);
    let given = tinyscope::export::read_parameters(&path, convention).unwrap();
    let mut state = fixture::state(ThemeName::Dark);
    state.source = Some(Source::demo("helm-lite"));
    let study = state.study.as_mut().and_then(std::sync::Arc::get_mut);
    study.unwrap().settings.parameters = Some(given.clone().into());
    let file = folder.path().join("talk.json");
    std::fs::write(&file, document(&state, What::Settings).unwrap()).unwrap();
    let saved = Saved::read(&file).unwrap();
    assert_eq!(saved.fit.convention.as_deref(), Some("upstream"));
    let again = crate::cli::saved_settings(&saved.fit).unwrap().parameters;
    assert_eq!(again.unwrap().sets, given.sets);
    // Named relative to the settings file, as a hand would write it.
    let text = std::fs::read_to_string(&file).unwrap();
    let whole = path.canonicalize().unwrap();
    let text = text.replace(whole.to_str().unwrap(), "best.json");
    assert!(text.contains("\"parameters\": \"best.json\""), "{text}");
    std::fs::write(&file, text).unwrap();
    let saved = Saved::read(&file).unwrap();
    assert!(crate::cli::saved_settings(&saved.fit).is_ok());
    std::fs::remove_file(&path).unwrap();
    let gone = crate::cli::saved_settings(&saved.fit).unwrap_err();
    assert!(gone.contains("best.json"), "{gone}");
}

/// Where chosen items are unanswered, the interval of one's own model holds those with all of them wrong and all right.
#[test]
fn the_interval_of_ones_own_model_holds_what_it_did_not_answer() {
    let mut state = fixture::state(ThemeName::Dark);
    fixture::own_model(&mut state);
    let shown = state.shown.as_ref().unwrap();
    let mut cells = shown.now.cells.clone();
    let of = |cells: &[Arc<Cell>], estimator| sure::mine(cells, estimator, Lambda::Auto).unwrap();
    for estimator in Estimator::ALL {
        let alone = of(&cells, estimator);
        for by in [-0.2, 0.25] {
            for cell in &mut cells {
                let mine = Arc::make_mut(cell).mine.as_mut().unwrap();
                let mut end = mine.estimates.unwrap();
                end.naive += by;
                end.p_irt += by;
                let learned = end.learned.as_mut().unwrap();
                learned.scores = learned.scores.map(|x| x + by);
                let bounds = mine.bounds.get_or_insert([end; 2]);
                bounds[usize::from(by > 0.0)] = end;
            }
        }
        let whole = of(&cells, estimator);
        assert_eq!(whole.estimate, alone.estimate);
        assert!((alone.low - whole.low - 0.2).abs() < 1e-9, "{whole:?}");
        assert!((whole.high - alone.high - 0.25).abs() < 1e-9, "{whole:?}");
        for cell in &mut cells {
            Arc::make_mut(cell).mine.as_mut().unwrap().bounds = None;
        }
    }
}

/// Answers that are read right after the benchmark are the running job: no other one replaces them.
#[test]
fn answers_are_read_before_anything_else() {
    let mut state = fixture::state(ThemeName::Dark);
    state.mine_wanted = Some("mine.csv".into());
    let Effect::Start(_, generation) = super::update::open(&mut state, Source::demo("x")) else {
        panic!("no job");
    };
    let study = state.study.clone().unwrap();
    let report = Report::Done(Outcome::Loaded(study));
    let effects = update(&mut state, Event::Job { generation, report });
    let wanted = Job::Answers("mine.csv".into());
    assert!(effects.contains(&Effect::Start(wanted.clone(), generation + 1)));
    assert_eq!(state.running.as_ref().map(|r| &r.job), Some(&wanted));
    assert_eq!(update(&mut state, Event::Resize), [], "they go on");
}

#[test]
fn broken_settings_say_where_and_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("talk.json");
    for bad in [
        "",
        "{",
        "[]",
        "{\"tinyscope\": 1}",
        "{\"tinyscope\": 1, \"nonsense\": 2}",
    ] {
        std::fs::write(&file, bad).unwrap();
        let why = Saved::read(&file).unwrap_err();
        assert!(
            why.contains("talk.json") && why.contains("settings file"),
            "{why}"
        );
    }
    let mut state = fixture::state(ThemeName::Dark);
    state.source = Some(Source::demo("helm-lite"));
    let text = document(&state, What::Settings).unwrap();
    let changed = text.replace("\"arithmetic\"", "\"algebra\"");
    std::fs::write(&file, changed).unwrap();
    let before = state.setting.clone();
    Saved::read(&file).unwrap().restore(&mut state);
    assert_eq!(state.setting, before, "what cannot be restored stays");
    assert!(state.message.unwrap().contains("scenario algebra"));
    let changed = text.replace("\"tinyscope\": 1", "\"tinyscope\": 9");
    std::fs::write(&file, changed).unwrap();
    assert!(Saved::read(&file).unwrap_err().contains("format 9"));
    // Numbers beyond what they can be are put inside, not believed.
    let changed = text
        .replace("\"n\": 40", "\"n\": 4000000")
        .replace("\"factor\": 1.0", "\"factor\": 1e99");
    std::fs::write(&file, changed).unwrap();
    let mut state = fixture::state(ThemeName::Dark);
    Saved::read(&file).unwrap().restore(&mut state);
    assert_eq!(state.setting.n, 360);
    assert!(state.zoom.factor <= 64.0);
}

/// Every view can be written in every form, and says that the data are simulated.
#[test]
fn every_view_is_written_in_every_form() {
    let mut state = fixture::state(ThemeName::Dark);
    state.source = Some(Source::demo("helm-lite"));
    for view in ViewName::ALL {
        state.view = view;
        for (_, what, _) in What::MENU {
            let text = document(&state, what).unwrap();
            assert!(!text.is_empty());
            match what {
                What::Csv => {
                    let mut reader = csv::Reader::from_reader(text.as_bytes());
                    let columns = reader.headers().unwrap().len();
                    assert_eq!(&reader.headers().unwrap()[columns - 1], "simulated");
                    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
                    assert!(!rows.is_empty(), "{view:?}");
                    assert!(rows.iter().all(|r| &r[columns - 1] == "true"));
                }
                What::Settings => assert!(text.starts_with('{')),
                _ => assert!(
                    text.to_uppercase().contains("SIMULATED"),
                    "{view:?} {what:?}"
                ),
            }
        }
    }
    state.view = ViewName::Map;
    press(&mut state, "Shift-Tab");
    state.setting.scope = Scope::Overall;
    state.refresh();
    let why = document(&state, What::Csv).unwrap_err();
    assert!(why.contains("Tab"), "{why}");
    let empty = State::new(ThemeName::Dark);
    assert!(
        document(&empty, What::Csv)
            .unwrap_err()
            .contains("nothing is shown yet")
    );
}

#[test]
fn tables_hold_their_special_signs() {
    let mut state = fixture::state(ThemeName::Dark);
    state.view = ViewName::Tradeoff;
    let latex = document(&state, What::Latex).unwrap();
    assert!(
        latex.contains("5 \\%") && latex.contains("\\toprule"),
        "{latex}"
    );
    let markdown = document(&state, What::Markdown).unwrap();
    assert_eq!(
        markdown.lines().filter(|l| l.starts_with('|')).count(),
        2 + 21
    );
    assert_eq!(
        export::file_stem(&state, What::Csv),
        "small-exam-arithmetic-tradeoff"
    );
}

/// The same script gives the same recording; times rise, and every line is JSON.
#[test]
fn recordings_are_deterministic_asciicasts() {
    let record = || {
        let mut state = fixture::state(ThemeName::Dark);
        state.look.size = (100, 30);
        let mut cast = Cast::new((100, 30), "a talk").unwrap();
        let mut now = Duration::ZERO;
        cast.frame(&state, now).unwrap();
        for step in script::parse("3 + s 5 Space").unwrap() {
            if let script::Step::Press(key, seen) = step {
                now += seen;
                update(&mut state, Event::Key(key));
                cast.frame(&state, now).unwrap();
            }
        }
        cast.finish(now)
    };
    let text = record();
    assert_eq!(text, record());
    let mut lines = text.lines();
    let header: serde_json::Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(
        (&header["version"], &header["width"]),
        (&2.into(), &100.into())
    );
    let mut last = 0.0;
    let mut screen = vt100::Parser::new(30, 100, 0);
    for line in lines {
        let event: (f64, String, String) = serde_json::from_str(line).unwrap();
        assert!(event.0 >= last && event.1 == "o");
        last = event.0;
        screen.process(event.2.as_bytes());
    }
    assert!(
        screen.screen().contents().contains("Replay"),
        "the last frame is the replay"
    );
    assert!(last > 2.0);
}

#[test]
fn the_mouse_selects_what_is_under_it() {
    let mut state = fixture::state(ThemeName::Dark);
    let click = |state: &mut State, x: u16, y: u16, kind: MouseEventKind| {
        let mouse = MouseEvent {
            kind,
            column: x,
            row: y,
            modifiers: KeyModifiers::NONE,
        };
        update(state, Event::Mouse(mouse))
    };
    let down = MouseEventKind::Down(MouseButton::Left);
    // Anywhere on the map: the nearest item is selected.
    let before = state.item;
    click(&mut state, 60, 12, down);
    assert_ne!(state.item, before);
    click(&mut state, 60, 12, MouseEventKind::ScrollUp);
    assert!(state.zoom.factor > 1.0);
    // The sliders, by click and drag; their ends are the ends of the values.
    click(&mut state, 14, 32, down);
    assert_eq!(state.setting.n, 1);
    for x in 14..60 {
        click(&mut state, x, 33, MouseEventKind::Drag(MouseButton::Left));
    }
    assert_eq!(
        state.setting.lambda,
        tinyscope::experiment::Lambda::Fixed(1.0)
    );
    // Tabs.
    click(&mut state, 22, 1, down);
    assert_eq!(state.view, ViewName::Scores);
    click(&mut state, 60, 20, down);
    assert!(state.model.is_some());
}

#[test]
fn writing_is_an_effect_and_typing_reaches_no_action() {
    let mut state = fixture::state(ThemeName::Dark);
    press(&mut state, "w");
    let key =
        crossterm::event::KeyEvent::new(crossterm::event::KeyCode::Char('m'), KeyModifiers::NONE);
    let effects = update(&mut state, Event::Key(key));
    assert!(effects.contains(&Effect::Write(What::Markdown)));
    assert_eq!(state.overlay, Overlay::None);
    press(&mut state, "/qqq");
    assert_eq!(state.item_filter, "qqq");
    press(&mut state, "Esc");
    assert!(state.item_filter.is_empty());
}

proptest! {
    /// Whatever is pressed, the state stays in its bounds and every job it asks for is one that exists.
    #[test]
    fn keys_leave_the_state_in_its_bounds(keys in "[ -~]{0,60}") {
        let mut state = fixture::small(ThemeName::Dark);
        for c in keys.chars() {
            let key = crossterm::event::KeyEvent::new(crossterm::event::KeyCode::Char(c), KeyModifiers::NONE);
            update(&mut state, Event::Key(key));
        }
        prop_assert!((1..=state.largest_n()).contains(&state.setting.n));
        prop_assert!(state.zoom.factor >= 1.0);
        prop_assert!(SelectionKind::ALL.contains(&state.setting.selection));
        if let Some(Job::Cell(key)) = state.next_job() {
            prop_assert!(key.n >= 1 && key.fit.scenario < state.scenarios());
        }
    }
}
