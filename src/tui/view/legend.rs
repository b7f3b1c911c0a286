//! What the map's glyphs and colours mean, and how much its anchors overlap between seeds.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use tinyscope::anchors::{SelectionKind, stability};

use super::format::{brief, fit, percent};
use super::frame::{pieces, whole_pieces};
use super::map::ghost_symbol;
use crate::tui::glyphs::shape;
use crate::tui::state::{ColourBy, Shown, State};
use crate::tui::study::Cell;
use crate::tui::theme::Theme;

/// How many of the band's seeds choose each item at this setting, and over how many that is known.
pub(crate) fn agreement(state: &State, scenario: usize) -> Option<(Vec<usize>, usize)> {
    let items = state.study.as_ref()?.scenario(scenario).n_items();
    let mut settings = state.other_seeds();
    settings.push(state.setting.clone());
    let cells: Vec<_> = settings
        .iter()
        .filter_map(|setting| state.cells.get(&state.key(scenario, setting)))
        .collect();
    let selections: Vec<_> = cells.iter().map(|cell| &cell.found.selection).collect();
    (selections.len() > 1).then(|| (stability(&selections, items), selections.len()))
}

/// "another seed shares 43 %": how many of the anchors another seed chooses too, on average.
pub(crate) fn overlap_words(state: &State, scenario: usize, cell: &Cell) -> Option<String> {
    let (counts, seeds) = agreement(state, scenario)?;
    let anchors = &cell.found.selection.anchors;
    let of = |a: &tinyscope::anchors::Anchor| counts.get(a.item).copied().unwrap_or(0);
    let others: usize = anchors.iter().map(|a| of(a).saturating_sub(1)).sum();
    let share = others as f64 / (anchors.len().max(1) * (seeds - 1)) as f64;
    Some(format!("another seed shares {} %", percent(share, 0)))
}

/// One row: what glyphs and colours mean.
pub(crate) fn draw(
    state: &State,
    scenario: usize,
    shown: &Shown,
    cell: &Cell,
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = &state.look.theme;
    let marker = state.look.marker;
    let y = area.bottom().saturating_sub(1);
    let sizes = format!(
        "{} {} {} weight  ",
        shape(marker, 0, 0),
        shape(marker, 0, 1),
        shape(marker, 0, 2)
    );
    let mut x = whole_pieces(buffer, area.x, y, area.right(), &[(&sizes, theme.text)]);
    if shown.ghost.is_some() {
        let text = format!("{} pinned  ", ghost_symbol(marker));
        x = whole_pieces(buffer, x, y, area.right(), &[(&text, theme.ghost)]);
    }
    // How stable the anchors are comes first: there is no other place for it.
    if let Some(text) = overlap_words(state, scenario, cell) {
        let text = format!("{text}  ");
        x = whole_pieces(buffer, x, y, area.right(), &[(&text, theme.text)]);
    }
    match state.colour_by {
        ColourBy::Cluster => {
            let text = if shown.now.setting.selection == SelectionKind::Random {
                "a random sample has no clusters  "
            } else {
                "lit: the selected cluster  "
            };
            whole_pieces(buffer, x, y, area.right(), &[(text, theme.dim)]);
        }
        ColourBy::Share | ColourBy::Difficulty => {
            let (name, ends): (&str, [&str; 5]) = match state.colour_by {
                ColourBy::Share => ("models right ", ["0", "20", "40", "60", "80-100 % "]),
                _ => ("hardest fifth ", ["", "", "", "", "easiest  "]),
            };
            x = whole_pieces(buffer, x, y, area.right(), &[(name, theme.dim)]);
            for (step, label) in ends.into_iter().enumerate() {
                let mark = format!("{} ", shape(marker, step, 1));
                let parts = [
                    (mark.as_str(), theme.ramp[step]),
                    (label, theme.dim),
                    (" ", theme.dim),
                ];
                x = whole_pieces(buffer, x, y, area.right(), &parts);
            }
        }
        ColourBy::SubScenario => {
            parts_legend(state, scenario, x, y, area, buffer);
        }
    }
}

fn parts_legend(
    state: &State,
    scenario: usize,
    mut x: u16,
    y: u16,
    area: Rect,
    buffer: &mut Buffer,
) -> u16 {
    let theme: &Theme = &state.look.theme;
    let Some(study) = &state.study else {
        return x;
    };
    let subs = &study.scenario(scenario).subscenarios;
    for (index, sub) in subs.iter().enumerate() {
        let name = fit(&brief(&sub.name), 18);
        let more = format!("+{} more", subs.len() - index);
        let needed = 2 + name.width() + 2;
        let last = index + 1 == subs.len();
        let keep = if last { 0 } else { more.len() };
        if usize::from(x) + needed + keep > usize::from(area.right()) {
            return pieces(buffer, x, y, area.right(), &[(&more, theme.dim)]);
        }
        let mark = format!("{} ", shape(state.look.marker, index, 1));
        let parts = [
            (mark.as_str(), theme.group(index)),
            (name.as_str(), theme.dim),
            ("  ", theme.dim),
        ];
        x = pieces(buffer, x, y, area.right(), &parts);
    }
    x
}
