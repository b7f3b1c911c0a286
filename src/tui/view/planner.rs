//! The planner of the trade-off: the n that each method needs for an error.

use super::format::{left, right};
use super::tradeoff::{glyph, series};
use super::words::Page;
use crate::tui::needs::{Need, Needed};
use crate::tui::state::{Shown, State};
use crate::tui::study::Choice;

/// The planner: the n that each method needs for the target, the fewest first, its range and what it saves.
pub(super) fn draw(state: &State, shown: &Shown, page: &mut Page<'_>, after: u16) {
    let theme = &state.look.theme;
    let setting = &shown.now.setting;
    let (needs, seeds) = state.needs();
    let chosen = |n: &Need| n.selection == setting.selection && n.estimator == setting.estimator;
    let order = |need: &Need| match need.n {
        Needed::AtMost(n) | Needed::At(n) => (0, n),
        Needed::More(_) => (1, 0),
        Needed::Unknown => (2, 0),
    };
    let computed = |n: &&Need| n.n != Needed::Unknown || chosen(n);
    let mut listed: Vec<&Need> = needs.iter().filter(computed).collect();
    let missing = needs.len() - listed.len();
    listed.sort_by_key(|need| order(need));
    // Where there is no room for all: the chosen method, the baseline, and those that need the fewest.
    let after = after + 2 + u16::from(missing > 0);
    let room = page.area.bottom().saturating_sub(page.y + after).max(3);
    let always = |n: &Need| chosen(n) || n.is_baseline();
    let mut free = usize::from(room).saturating_sub(listed.iter().filter(|n| always(n)).count());
    listed.retain(|n| {
        let kept = always(n) || free > 0;
        free -= usize::from(kept && !always(n));
        kept
    });
    let name = page.width().saturating_sub(6 + RANGE + 7).clamp(8, 30);
    let over = if seeds == 1 {
        "1 seed".into()
    } else {
        format!("{seeds} seeds")
    };
    let heading = format!("n for {} MAE, {over}", state.target_text());
    let room = page.width().saturating_sub(heading.chars().count());
    let key = right("% sets it", room);
    page.line(&[(&heading, theme.text), (&key, theme.dim)]);
    let last = match state.cost {
        Some(_) => "cost",
        None => "saved",
    };
    let columns = format!(
        "{}     n{}{}",
        left("", name),
        right("90 % range", RANGE),
        right(last, 7)
    );
    page.line(&[(&columns, theme.dim)]);
    for need in listed {
        // The marks of the table above tell the selections where there is no room for names.
        let label = match name {
            29.. => format!("{}, {}", need.selection.label(), need.estimator.label()),
            21.. => format!("{}, {}", need.selection.short(), need.estimator.label()),
            _ => need.estimator.label().to_owned(),
        };
        let style = if chosen(need) {
            theme.accent
        } else {
            theme.text
        };
        let range = match need.n {
            Needed::Unknown => String::new(),
            _ => state.range(need.at).text(),
        };
        let enough = need.n.enough();
        let last = match &state.cost {
            Some(cost) => enough.map(|n| cost.of(state.items(n).0 as f64)),
            None => enough
                .and_then(|n| state.saved(n))
                .map(|s| format!("{:.0} %", 100.0 * s)),
        };
        let last = last.unwrap_or("-".into());
        let label = left(&format!(" {label}"), name - 1);
        let numbers = format!(
            "{}{}{}",
            right(&need.n.text(), 6),
            right(&range, RANGE),
            right(&last, 7)
        );
        page.line(&[
            (
                glyph(state.look.marker, need.selection),
                series(theme, need.selection),
            ),
            (&label, style),
            (&numbers, style),
        ]);
    }
    if missing > 0 {
        let text = match state.running {
            Some(_) => format!("{missing} more with learned estimators are to come"),
            None => format!("{missing} more with learned estimators: e chooses one"),
        };
        page.line(&[(&text, theme.dim)]);
    }
}

/// Columns of a range of n.
const RANGE: usize = 12;
