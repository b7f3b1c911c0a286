//! The one table: every key, where it works and what it does, in the order of help and README.

use crossterm::event::KeyCode as C;

use super::action::Key::{Char, Code, Control, Shift};
use super::action::{Action, Binding, Place};
use Place::{Data, Items, Map, Replay, Scores, Slides, Tradeoff};

macro_rules! table {
    ($($action:expr, [$($key:expr),+], $label:literal, $short:literal, [$($place:ident),*], $long:literal;)+) => {
        &[$(Binding {
            action: $action,
            keys: &[$($key),+],
            label: $label,
            short: $short,
            places: &[$($place),*],
            long: $long,
        }),+]
    };
}

/// The table.
#[rustfmt::skip]
pub(crate) const BINDINGS: &[Binding] = table! {
    Action::View(0), [Char('1')], "1", "", [], "Map: the items and their anchors in the plane";
    Action::View(1), [Char('2')], "2", "", [], "Items: difficulties, table, response curves";
    Action::View(2), [Char('3')], "3", "", [], "Scores: estimated against true scores";
    Action::View(3), [Char('4')], "4", "", [], "Trade-off: error against n and against lambda";
    Action::View(4), [Char('5')], "5", "", [], "Replay: one model's anchors answered one by one";
    Action::View(5), [Char('6')], "6", "", [], "Data: source, checks, split, validation, evidence";
    Action::MoreItems, [Char('+'), Char('=')], "+", "", [], "more items: the next n of the slider";
    Action::FewerItems, [Char('-'), Char('_')], "-", "", [], "fewer items: the previous n of the slider";
    Action::TypeItems, [Char('n')], "n", "type n", [], "type n, Enter takes it";
    Action::LambdaUp, [Char(']')], "]", "", [], "lambda up: more weight on the observed anchors";
    Action::LambdaDown, [Char('[')], "[", "", [], "lambda down: more weight on the IRT model";
    Action::TypeLambda, [Char('L')], "L", "", [], "type lambda, Enter takes it";
    Action::LambdaAuto, [Char('a')], "a", "", [], "lambda by the paper's formula again";
    Action::Selection, [Char('s')], "s", "selection", [], "next selection: random, correctness anchors, IRT anchors";
    Action::Estimator, [Char('e')], "e", "estimator", [], "next estimator: naive, p-IRT, gp-IRT; learned from training models: AIPW, gp-cv, ridge, stacked";
    Action::Theta, [Char('T')], "T", "", [], "one fit and ability a scenario, or one for all";
    Action::NextSeed, [Char('z')], "z", "", [], "next seed: another split, another draw";
    Action::PreviousSeed, [Char('Z')], "Z", "", [], "the seed before";
    Action::NextScenario, [Code(C::Tab)], "Tab", "scenario", [], "next scenario; the last one is the mean over all";
    Action::PreviousScenario, [Code(C::BackTab)], "Shift-Tab", "", [], "previous scenario";
    Action::NextPart, [Char('}')], "}", "", [], "the next sub-scenario stands out in Map and Items";
    Action::PreviousPart, [Char('{')], "{", "", [], "the sub-scenario before";
    Action::Pin, [Char('p')], "p", "pin", [], "keep this setting as a ghost in every plot, to compare with; again lets it go";
    Action::Left, [Code(C::Left), Char('h')], "← h", "", [Map, Items, Scores, Tradeoff, Replay, Data], "the anchor to the left; a smaller n in Trade-off; a step back in Replay";
    Action::Down, [Code(C::Down), Char('j')], "↓ j", "", [Map, Items, Scores, Tradeoff, Replay, Data], "the anchor, item, model or line below";
    Action::Up, [Code(C::Up), Char('k')], "↑ k", "", [Map, Items, Scores, Tradeoff, Replay, Data], "the anchor, item, model or line above";
    Action::Right, [Code(C::Right), Char('l')], "→ l", "", [Map, Items, Scores, Tradeoff, Replay, Data], "the anchor to the right; a larger n in Trade-off; a step on in Replay";
    Action::Filter, [Char('/')], "/", "search", [Map, Items, Scores, Replay], "items or models that hold a text; Enter keeps it, Esc drops it";
    Action::Cursor, [Char('g')], "g", "walk", [Map], "the cursor walks anchors, or all items";
    Action::ColourBy, [Char('c')], "c", "colour", [Map], "colour by cluster, sub-scenario, difficulty or share of models right";
    Action::Axes, [Char('v')], "v", "axes", [Map], "components of the parameters, difficulty against discrimination, components of correctness";
    Action::LayerItems, [Char('I')], "I", "", [Map], "show or hide the items";
    Action::LayerAnchors, [Char('A')], "A", "", [Map], "show or hide the anchors";
    Action::LayerLines, [Char('r')], "r", "lines", [Map], "lines from an anchor to its cluster";
    Action::ZoomIn, [Char('.')], ".", "zoom", [Map], "closer, around the selected item";
    Action::ZoomOut, [Char(',')], ",", "", [Map], "further away";
    Action::ZoomWhole, [Char('0')], "0", "", [Map], "the whole map";
    Action::PanLeft, [Shift(C::Left)], "Shift-←", "", [Map], "move what is seen to the left";
    Action::PanRight, [Shift(C::Right)], "Shift-→", "", [Map], "move what is seen to the right";
    Action::PanUp, [Shift(C::Up)], "Shift-↑", "", [Map], "move what is seen up";
    Action::PanDown, [Shift(C::Down)], "Shift-↓", "", [Map], "move what is seen down";
    Action::Exclude, [Char('E')], "E", "", [Map, Items], "exclude: never an anchor, the next best of its cluster takes its place; again lets it go";
    Action::Force, [Char('F')], "F", "", [Map, Items], "force: an anchor in any case, on top of n; again lets it go";
    Action::Swap, [Char('W')], "W", "", [Map, Items], "swap: this item instead of its cluster's anchor; on an anchor, the next best instead of it";
    Action::Undo, [Char('u')], "u", "", [], "take the last change of anchors back";
    Action::Redo, [Char('U')], "U", "", [], "make that change again";
    Action::Mark, [Char(' ')], "Space", "mark", [Items], "draw the item's response curve together with others";
    Action::ClearMarks, [Char('C')], "C", "", [Items], "forget the marked items";
    Action::Sort, [Char('S')], "S", "sort", [Items, Scores], "sort by the next column";
    Action::Ranking, [Char('r')], "r", "ranks", [Scores], "lines from true to estimated rank instead of scores";
    Action::Bars, [Char('B')], "B", "bars", [Scores, Replay, Slides], "show or hide the 90 % intervals";
    Action::LogN, [Char('G')], "G", "log n", [Tradeoff], "logarithmic axis of n";
    Action::Lower, [Char('y')], "y", "lower", [Tradeoff], "error against lambda, or rank correlation against n";
    Action::Target, [Char('%')], "%", "error", [Tradeoff], "type the error whose n is wanted, in points (2 unless told)";
    Action::Cost, [Char('$')], "$", "", [Tradeoff], "type the price or seconds an item, to see cost beside n; nothing drops it";
    Action::Play, [Char(' ')], "Space", "play", [Replay], "let the answers come by themselves, or stop";
    Action::Faster, [Char('>')], ">", "faster", [Replay], "more answers a second";
    Action::Slower, [Char('<')], "<", "slower", [Replay], "fewer answers a second";
    Action::PageDown, [Code(C::PageDown)], "PgDn", "", [Items, Scores], "a page down in the table";
    Action::PageUp, [Code(C::PageUp)], "PgUp", "", [Items, Scores], "a page up in the table";
    Action::First, [Code(C::Home)], "Home", "", [Items, Scores, Replay, Data, Slides], "the first row, answer or slide";
    Action::Last, [Code(C::End)], "End", "", [Items, Scores, Replay, Data, Slides], "the last row, answer or slide";
    Action::ScrollDown, [Char('J'), Code(C::PageDown)], "J PgDn", "", [Map, Replay, Data], "scroll the item's text, or the facts, down";
    Action::ScrollUp, [Char('K'), Code(C::PageUp)], "K PgUp", "", [Map, Replay, Data], "scroll the item's text, or the facts, up";
    Action::ScrollDown, [Char('J')], "J", "", [Items], "scroll the item's text down";
    Action::ScrollUp, [Char('K')], "K", "", [Items], "scroll the item's text up";
    Action::Answers, [Char('O')], "O", "", [], "open the answers of your own model";
    Action::ToggleList, [Char('b')], "b", "", [], "fold or unfold the list of scenarios";
    Action::ToggleInspector, [Char('i')], "i", "", [], "fold or unfold the inspector";
    Action::Present, [Char('P'), Code(C::F(5))], "P F5", "talk", [], "slides: one idea at a time, for talks";
    Action::NextSlide, [Code(C::Right), Code(C::PageDown), Char(' '), Code(C::Enter), Char('l')], "→ PgDn Space", "next", [Slides], "the next slide";
    Action::PreviousSlide, [Code(C::Left), Code(C::PageUp), Code(C::Backspace), Char('h')], "← PgUp", "previous", [Slides], "the slide before";
    Action::LeaveSlides, [Code(C::Esc)], "Esc", "leave", [Slides], "back from the slides";
    Action::Write, [Char('w')], "w", "write", [], "write the screen as SVG, its data as CSV, its table as Markdown or LaTeX, or the settings";
    Action::Marker, [Char('m')], "m", "", [], "next marker set: octant, braille, half-block, dot, ASCII";
    Action::Theme, [Char('t')], "t", "theme", [], "next theme: dark, light, colour-blind, mono";
    Action::Mouse, [Char('M')], "M", "", [], "mouse: click, wheel and drag, or leave it to the terminal";
    Action::Open, [Char('o')], "o", "open", [], "open a demo, a recent file or a path";
    Action::Cancel, [Char('x')], "x", "", [], "stop the running job";
    Action::Help, [Char('?'), Code(C::F(1))], "? F1", "help", [], "all keys; letters search";
    Action::Quit, [Char('q'), Control('c')], "q", "quit", [], "leave";
};

/// Words of the screen that not everyone knows, for help and README.
#[rustfmt::skip]
pub(crate) const WORDS: &[(&str, &str)] = &[
    ("anchor", "an item that stands for the items of its cluster; its weight is their share of the score"),
    ("n", "how many items of a scenario a new model has to answer"),
    ("naive", "estimate: the weighted mean of the answers on the chosen items"),
    ("p-IRT", "estimate: the answers seen, and the IRT model's prediction for every other item"),
    ("gp-IRT", "estimate: λ times naive plus 1 - λ times p-IRT"),
    ("AIPW", "estimate: the IRT model's mean prediction, plus the weighted mean of what the answers seen differ from it"),
    ("gp-cv", "estimate: as gp-IRT, with the λ that has the least error on held-out training models"),
    ("ridge", "estimate: a linear regression of the training models' scores on their answers to the chosen items"),
    ("stacked", "estimate: naive, p-IRT, AIPW and ridge, weighted so that held-out training models come out best"),
    ("90 %", "interval: holds the true score of 90 % of models like the training models, by their held-out errors"),
    ("ranks", "the ranks that a model may hold among the test models: below those surely better, above those surely worse"),
    ("λ auto", "the paper's λ: more to the answers the larger the model's validation error and the more answers there are"),
    ("θ scenario", "one fit and one ability a scenario; θ joint: one for all scenarios together"),
    ("D", "dimensions of the ability, chosen by validation on held-out training models"),
    ("MAE", "mean absolute error over the held-out test models, in points of the score; max: the largest, RMSE, bias: over or under on average"),
    ("pairs", "share of pairs of models that the estimates put in the right order; top 5: share of the best five found"),
    ("random", "stratified random items with the naive estimate: what anchors have to beat"),
    ("b, |a|", "difficulty: at the mean ability sigmoid(-b) answer right; discrimination: how sharply the item tells models apart"),
    ("reversed", "weaker models answer the item right more often than stronger ones; constant: all models alike"),
    ("inform.", "Fisher information about the ability, mean over the test models: how much the item tells of them"),
    ("observed", "mean score of groups of training models of like ability, with a 90 % interval"),
    ("seed", "decides the split into training and test models, random items and k-means"),
    ("evidence", "lower bound of the fit's evidence: it rises with every sweep until the fit has settled"),
];
