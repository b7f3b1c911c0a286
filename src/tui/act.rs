//! What each action of the key table does.

use std::sync::Arc;

use ratatui::layout::Rect;

use tinyscope::anchors::Edits;
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{Lambda, Scope as Theta};

use super::action::Action;
use super::overlay::{Overlay, Prompt};
use super::replay::SPEEDS;
use super::state::{AllEdits, LAMBDA_STEP, Scope, State, ViewName, Zoom};
use super::study::{Choice, curve};
use super::theme::Theme;
use super::update::{Effect, next_stop};
use super::view;
use super::walk::{page, walk};

/// Curves that can be told apart in one plot.
const MOST_MARKED: usize = 6;
/// How much closer one key brings the map, and how far one key moves it.
const ZOOM_STEP: f64 = 1.5;
const PAN_STEP: f64 = 0.25;

/// Does what a key asks for.
pub(crate) fn act(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    match action {
        Action::View(index) => show(state, ViewName::ALL[index.min(5)]),
        Action::Left | Action::Right | Action::Up | Action::Down => walk(state, action),
        Action::First | Action::Last if state.look.slide.is_some() => {
            let far = if action == Action::First { -99 } else { 99 };
            view::slides::step(state, far);
        }
        Action::PageUp | Action::PageDown | Action::First | Action::Last => page(state, action),
        Action::MoreItems | Action::FewerItems => {
            let more = action == Action::MoreItems;
            set_n(state, next_stop(state.setting.n, more, state.largest_n()));
        }
        Action::LambdaUp => step_lambda(state, true),
        Action::LambdaDown => step_lambda(state, false),
        Action::LambdaAuto => set_lambda(state, Lambda::Auto),
        Action::TypeItems => ask(state, Prompt::Items, String::new()),
        Action::TypeLambda => ask(state, Prompt::Lambda, String::new()),
        Action::Target => ask(state, Prompt::Target, String::new()),
        Action::Cost => ask(state, Prompt::Cost, String::new()),
        Action::Answers => ask(state, Prompt::Answers, String::new()),
        Action::Filter => {
            let text = filter(state).cloned().unwrap_or_default();
            ask(state, Prompt::Filter, text);
        }
        Action::Selection => {
            state.setting.selection = state.setting.selection.next();
            changed(state);
        }
        Action::Estimator => {
            state.setting.estimator = state.setting.estimator.next();
            state.refresh();
        }
        Action::Theta => {
            state.setting.theta = match state.setting.theta {
                Theta::Scenario => Theta::Joint,
                Theta::Joint => Theta::Scenario,
            };
            changed(state);
        }
        Action::NextSeed => {
            state.setting.seed = state.setting.seed.saturating_add(1);
            changed(state);
        }
        Action::PreviousSeed => {
            state.setting.seed = state.setting.seed.saturating_sub(1);
            changed(state);
        }
        Action::NextScenario => step_scope(state, 1),
        Action::PreviousScenario => step_scope(state, -1),
        Action::NextPart => step_part(state, 1),
        Action::PreviousPart => step_part(state, -1),
        Action::Pin => {
            state.pin = match state.pin {
                Some(_) => None,
                None => Some(state.setting.clone()),
            };
            let text = match state.pin {
                Some(_) => "pinned: change the setting and compare; p lets it go",
                None => "no setting is pinned",
            };
            state.message = Some(text.into());
            state.refresh();
        }
        Action::Exclude | Action::Force | Action::Swap => edit(state, action),
        Action::Undo => {
            if let Some(before) = state.undo.pop() {
                state.redo.push(state.setting.edits.clone());
                put_edits(state, before, "taken back");
            } else {
                state.message = Some("no change of anchors to take back".into());
            }
        }
        Action::Redo => {
            if let Some(after) = state.redo.pop() {
                state.undo.push(state.setting.edits.clone());
                put_edits(state, after, "made again");
            } else {
                state.message = Some("no change of anchors to make again".into());
            }
        }
        Action::Cancel => {
            if state.running.is_some() {
                state.paused = true;
                state.message = Some("stopped; any change of the setting goes on".into());
                effects.push(Effect::Cancel);
            }
        }
        Action::Quit => effects.push(Effect::Quit(0)),
        Action::Mouse => {
            state.look.mouse = !state.look.mouse;
            let text = if state.look.mouse {
                "on"
            } else {
                "off: the terminal has it"
            };
            state.message = Some(format!("mouse {text}"));
            effects.push(Effect::Mouse(state.look.mouse));
        }
        Action::Write => state.overlay = Overlay::Write,
        Action::Open => {
            state.overlay = Overlay::Open {
                row: 0,
                path: String::new(),
            }
        }
        Action::Help => {
            state.overlay = Overlay::Help {
                scroll: 0,
                search: String::new(),
            }
        }
        other => look(state, other),
    }
}

/// Actions that change what is seen, but no setting.
fn look(state: &mut State, action: Action) {
    match action {
        Action::ColourBy => {
            state.colour_by = state.colour_by.next();
            state.message = Some(format!("colour: {}", state.colour_by.label()));
        }
        Action::Axes => {
            state.axes = state.axes.next();
            state.zoom = Zoom::WHOLE;
            state.message = Some(format!("axes: {}", state.axes.label()));
        }
        Action::Cursor => {
            state.cursor = state.cursor.next();
            state.message = Some(format!("the cursor walks {}", state.cursor.label()));
            state.refresh();
        }
        Action::LayerItems => state.layers.items ^= true,
        Action::LayerAnchors => state.layers.anchors ^= true,
        Action::LayerLines => state.layers.lines ^= true,
        Action::ZoomIn => zoom(state, ZOOM_STEP, None),
        Action::ZoomOut => zoom(state, 1.0 / ZOOM_STEP, None),
        Action::ZoomWhole => state.zoom = Zoom::WHOLE,
        Action::PanLeft => state.zoom = state.zoom.moved(-PAN_STEP, 0.0),
        Action::PanRight => state.zoom = state.zoom.moved(PAN_STEP, 0.0),
        Action::PanUp => state.zoom = state.zoom.moved(0.0, PAN_STEP),
        Action::PanDown => state.zoom = state.zoom.moved(0.0, -PAN_STEP),
        Action::Mark => mark(state),
        Action::ClearMarks => state.marked.clear(),
        Action::Sort if state.view == ViewName::Items => {
            state.item_sort = state.item_sort.next();
        }
        Action::Sort => state.sort = state.sort.next(),
        Action::Ranking => state.ranking ^= true,
        Action::Bars => {
            state.bars ^= true;
            let text = if state.bars { "shown" } else { "hidden" };
            state.message = Some(format!("90 % intervals {text}"));
        }
        Action::LogN => state.log_n ^= true,
        Action::Lower => state.lower = state.lower.next(),
        Action::Play => play(state),
        Action::Faster => state.replay.speed = (state.replay.speed + 1).min(SPEEDS.len() - 1),
        Action::Slower => state.replay.speed = state.replay.speed.saturating_sub(1),
        Action::ScrollDown => state.scroll = state.scroll.saturating_add(4),
        Action::ScrollUp => state.scroll = state.scroll.saturating_sub(4),
        Action::ToggleList | Action::ToggleInspector => toggle_panel(state, action),
        Action::Marker => {
            state.look.marker = state.look.marker.next();
            state.message = Some(format!("markers: {}", state.look.marker.label()));
        }
        Action::Theme => {
            let theme = Theme::new(state.look.theme.name.next());
            state.message = Some(format!("theme: {}", theme.name.label()));
            state.look.theme = if state.look.indexed {
                theme.indexed()
            } else {
                theme
            };
        }
        Action::Present => view::slides::begin(state),
        Action::NextSlide => view::slides::step(state, 1),
        Action::PreviousSlide => view::slides::step(state, -1),
        Action::LeaveSlides => {
            state.look.slide = None;
            if let Some(view) = state.look.before_slides.take() {
                show(state, view);
            }
        }
        _ => {}
    }
}

/// Shows a view; its text begins at the top.
pub(crate) fn show(state: &mut State, view: ViewName) {
    state.look.slide = None;
    if state.view != view {
        state.view = view;
        state.scroll = 0;
        state.replay.pause();
    }
}

fn ask(state: &mut State, prompt: Prompt, text: String) {
    state.overlay = Overlay::Type(prompt, text);
}

/// The filter of the view, where it has one.
pub(crate) fn filter(state: &mut State) -> Option<&mut String> {
    match state.view {
        ViewName::Map | ViewName::Items => Some(&mut state.item_filter),
        ViewName::Scores | ViewName::Replay => Some(&mut state.model_filter),
        ViewName::Tradeoff | ViewName::Data => None,
    }
}

/// After a change of the setting: work goes on, and the last result stays until the new one is there.
pub(crate) fn changed(state: &mut State) {
    state.paused = false;
    state.refresh();
}

/// Asks for another n, within what the scope has.
pub(crate) fn set_n(state: &mut State, n: usize) {
    state.setting.n = n.clamp(1, state.largest_n());
    changed(state);
}

/// Asks for another lambda. It only means something to gp-IRT; moving it is asking for that estimator.
pub(crate) fn set_lambda(state: &mut State, lambda: Lambda) {
    state.setting.lambda = lambda;
    state.setting.estimator = Estimator::GpIrt;
    state.refresh();
}

fn step_lambda(state: &mut State, up: bool) {
    let shown = state.shown.as_ref();
    let auto = shown.and_then(|s| s.now.paper_lambda).unwrap_or(0.5);
    // Whole steps, so that .35 is reached from above and below alike.
    let steps = state.setting.lambda.value(auto) / LAMBDA_STEP;
    let step = if up {
        (steps + 1e-6).floor() + 1.0
    } else {
        (steps - 1e-6).ceil() - 1.0
    };
    set_lambda(state, Lambda::Fixed((step * LAMBDA_STEP).clamp(0.0, 1.0)));
}

/// Shows another scenario, or the mean over all.
pub(crate) fn set_scope(state: &mut State, scope: Scope) {
    if state.setting.scope == scope {
        return;
    }
    state.setting.scope = scope;
    state.setting.n = state.setting.n.min(state.largest_n());
    state.leave_scenario();
    changed(state);
}

/// Moves through the scenarios and, where there are several, "overall" after the last.
fn step_scope(state: &mut State, by: isize) {
    let count = state.scenarios() as isize;
    if count < 2 {
        return;
    }
    let at = match state.setting.scope {
        Scope::One(index) => index as isize,
        Scope::Overall => count,
    };
    let next = (at + by).rem_euclid(count + 1);
    let scope = if next == count {
        Scope::Overall
    } else {
        Scope::One(next.unsigned_abs())
    };
    set_scope(state, scope);
}

/// Moves through the sub-scenarios; none stands out before the first and after the last.
fn step_part(state: &mut State, by: isize) {
    let (Some(study), Some(scenario)) = (&state.study, state.scenario()) else {
        return;
    };
    let count = study.scenario(scenario).subscenarios.len() as isize;
    if count < 2 {
        return;
    }
    let at = state.part.map_or(count, |part| part as isize);
    let next = (at + by).rem_euclid(count + 1);
    state.part = (next < count).then_some(next.unsigned_abs());
}

/// Larger or smaller around a point of the map, or around the selected item.
pub(crate) fn zoom(state: &mut State, factor: f64, around: Option<(f64, f64)>) {
    let at = around
        .or_else(|| view::map::selected_share(state))
        .unwrap_or((state.zoom.x, state.zoom.y));
    state.zoom = state.zoom.by(factor, at);
}

fn toggle_panel(state: &mut State, action: Action) {
    let (width, height) = state.look.size;
    let parts = view::parts(state, Rect::new(0, 0, width, height));
    // On a narrow screen there is room for one panel beside the view.
    let narrow = width < view::WIDE;
    let look = &mut state.look;
    if action == Action::ToggleList {
        look.list_open = Some(parts.list.width == 0);
        if narrow && look.list_open == Some(true) {
            look.inspector_open = Some(false);
        }
    } else {
        look.inspector_open = Some(parts.inspector.width == 0);
        if narrow && look.inspector_open == Some(true) {
            look.list_open = Some(false);
        }
    }
}

fn play(state: &mut State) {
    if !state.replay.playing && state.replay.step >= state.replay.steps() {
        state.replay.go(1);
    }
    state.replay.playing = !state.replay.playing && state.replay.steps() > 0;
}

fn mark(state: &mut State) {
    let Some((scenario, item)) = state.selected_item() else {
        return;
    };
    if let Some(at) = state.marked.iter().position(|m| m.1 == item) {
        state.marked.remove(at);
        return;
    }
    let (Some(study), Some(fit)) = (state.study.clone(), state.fit(scenario).cloned()) else {
        return;
    };
    if state.marked.len() >= MOST_MARKED {
        state.message = Some(format!("{MOST_MARKED} curves at most; C forgets them"));
        return;
    }
    state
        .marked
        .push((scenario, item, curve(&study, &fit, item)));
}

/// Changes the anchors of the shown scenario by hand.
fn edit(state: &mut State, action: Action) {
    let (Some((scenario, item)), Some(study)) = (state.selected_item(), state.study.clone()) else {
        state.message = Some("choose an item of one scenario first".into());
        return;
    };
    let before = state.setting.edits.clone();
    let mut edits: Edits = state
        .edits(scenario)
        .map_or_else(Edits::default, |e| (**e).clone());
    let id = study.item_id(scenario, item);
    let anchor = state.anchor_of(item).is_some();
    let text = match action {
        Action::Exclude if edits.excluded.contains(&item) => {
            edits.release(item);
            format!("{id} may be an anchor again")
        }
        Action::Exclude => {
            edits.exclude(item);
            format!("{id} is kept out")
        }
        Action::Force if edits.forced.contains(&item) => {
            edits.release(item);
            format!("{id} is an anchor only where it is chosen")
        }
        Action::Force => {
            edits.force(item);
            format!("{id} is an anchor in any case")
        }
        _ if anchor => {
            edits.exclude(item);
            format!("{id} gives way to the next best of its cluster")
        }
        _ => {
            let Some(old) = state.anchor_owning(item) else {
                state.message = Some("a random sample has no clusters to swap in".into());
                return;
            };
            edits.swap(old, item);
            let old = study.item_id(scenario, old);
            format!("{id} instead of {old}")
        }
    };
    let mut all = (*before).clone();
    if edits.is_empty() {
        all.remove(&scenario);
    } else {
        all.insert(scenario, Arc::new(edits));
    }
    state.undo.push(before);
    state.redo.clear();
    put_edits(state, Arc::new(all), &text);
}

fn put_edits(state: &mut State, edits: AllEdits, text: &str) {
    state.setting.edits = edits;
    state.message = Some(format!("{text}  (u takes it back)"));
    changed(state);
}
