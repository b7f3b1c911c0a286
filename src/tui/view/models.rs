//! The table of models: scores, intervals, errors and ranks.

use std::cmp::Ordering;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use super::format::{brief, clean, fit, fit_middle, left, percent, right, signed};
use super::frame::pieces;
use super::model;
use super::scores::{mark, own_mark};
use tinyscope::estimate::Interval;

use crate::tui::state::{Shown, Sort, State};
use crate::tui::study::{Scored, Study};

/// Rank of each value, 1 for the highest; equal values share the best rank of their group.
fn ranks(values: &[f64]) -> Vec<usize> {
    values
        .iter()
        .map(|v| 1 + values.iter().filter(|w| *w > v).count())
        .collect()
}

/// A row of the table of models.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The model with its scores.
    pub(crate) scored: Scored,
    /// Rank among the test models by true score, 1 the best.
    pub(crate) true_rank: usize,
    /// Rank by estimate.
    pub(crate) rank: usize,
}

/// Rows of the table that the filter keeps, in the order of the sort key.
pub(crate) fn order(state: &State) -> Vec<Row> {
    let (Some(shown), Some(study)) = (&state.shown, &state.study) else {
        return Vec::new();
    };
    let true_ranks = ranks(&shown.now.scores.iter().map(|s| s.truth).collect::<Vec<_>>());
    let ranks = ranks(
        &shown
            .now
            .scores
            .iter()
            .map(|s| s.estimate)
            .collect::<Vec<_>>(),
    );
    let mut rows: Vec<Row> = shown
        .now
        .scores
        .iter()
        .zip(true_ranks.into_iter().zip(ranks))
        .map(|(&scored, (true_rank, rank))| Row {
            scored,
            true_rank,
            rank,
        })
        .collect();
    if !state.model_filter.is_empty() {
        let wanted = state.model_filter.to_lowercase();
        rows.retain(|row| {
            let name = study.model(row.scored.model).to_lowercase();
            name.contains(&wanted)
        });
    }
    let size = |row: &Row| (row.scored.estimate - row.scored.truth).abs();
    rows.sort_by(|p, q| {
        let by = match state.sort {
            Sort::Truth => q.scored.truth.total_cmp(&p.scored.truth),
            Sort::Estimate => q.scored.estimate.total_cmp(&p.scored.estimate),
            Sort::Error => size(q).total_cmp(&size(p)),
            Sort::Name => Ordering::Equal,
        };
        by.then_with(|| study.model(p.scored.model).cmp(study.model(q.scored.model)))
    });
    rows
}

/// A model's name in at most `width` columns: without its organisation where it is too long.
pub(crate) fn short_name(study: &Study, model: usize, width: usize) -> String {
    let name = study.model(model);
    let whole = brief(name);
    if whole.width() <= width {
        return whole;
    }
    let organisation = study.benchmark.organisation(name);
    let own = name
        .strip_prefix(organisation.as_str())
        .map(|rest| rest.trim_start_matches(['/', '_']))
        // What is left must still be a name.
        .filter(|rest| rest.chars().count() >= 4);
    fit_middle(&brief(own.unwrap_or(name)), width)
}

/// The table of models, for the inspector.
pub(crate) fn table(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.look.theme;
    let (Some(study), Some(shown)) = (&state.study, &state.shown) else {
        return;
    };
    let rows = order(state);
    let width = usize::from(area.width);
    // Narrow panels give the ranks up for the names.
    let ranks = width >= 46;
    let ghost = shown.ghost.as_ref().filter(|_| width >= 54);
    let rank_width = if ranks { 10 } else { 0 };
    let ghost_width = if ghost.is_some() { 7 } else { 0 };
    let half_column = if state.bars { HALF } else { 0 };
    let name = width.saturating_sub(19 + half_column + rank_width + ghost_width + 2);
    let star = |sort: Sort, text: &str| {
        let mark = if state.sort == sort { "↓" } else { "" };
        format!("{text}{mark}")
    };
    let mut heading = format!(
        "  {}{}{}{}{}",
        left(&star(Sort::Name, "model"), name),
        right(&star(Sort::Truth, "true"), 6),
        right(&star(Sort::Estimate, "est."), 6),
        right("±", half_column),
        right(&star(Sort::Error, "error"), 7),
    );
    if ghost.is_some() {
        heading.push_str(&right("pinned", 7));
    }
    if ranks {
        heading.push_str(&format!("{}{}", right("rank", 5), right("est.", 5)));
    }
    buffer.set_stringn(area.x, area.y, heading, width, theme.dim);
    let mut y = area.y + 1;
    if let (Some(estimate), Some(mine)) = (shown.now.mine, &state.mine) {
        own_row(
            state,
            estimate,
            &mine.name,
            (name, half_column, ghost_width, ranks),
            area,
            buffer,
        );
        y += 1;
    }
    if rows.is_empty() && !state.model_filter.is_empty() {
        let text = format!(
            "no model holds “{}”; Esc drops the search",
            clean(&state.model_filter)
        );
        buffer.set_string(area.x, y, fit(&text, width), theme.warn);
    }
    // What is known of the selected model stands below the table where there is room for it.
    let facts = model::facts(state, shown);
    let below = if area.height >= 12 {
        facts.len() + 1
    } else {
        0
    };
    let below = if facts.is_empty() { 0 } else { below };
    let room = usize::from(area.bottom().saturating_sub(y)).saturating_sub(below);
    if below > 0 {
        let place = Rect {
            y: area.bottom().saturating_sub(below as u16 - 1),
            height: below as u16 - 1,
            ..area
        };
        model::draw(state, &facts, place, buffer);
    }
    let selected = state
        .model
        .and_then(|m| rows.iter().position(|row| row.scored.model == m));
    let first = selected
        .unwrap_or(0)
        .saturating_sub(room / 2)
        .min(rows.len().saturating_sub(room));
    for (line, row) in rows.iter().skip(first).take(room).enumerate() {
        let y = y + line as u16;
        let here = state.model == Some(row.scored.model);
        let error = row.scored.estimate - row.scored.truth;
        let (symbol, mut style) = mark(error, state.look.marker, theme);
        let mut text = theme.text;
        if here {
            (style, text) = (theme.selected, theme.selected);
        }
        let interval = shown.now.interval(row.scored.model);
        let before = format!(
            "{}{}{}",
            left(&short_name(study, row.scored.model, name), name),
            right(&percent(row.scored.truth, 1), 6),
            right(&percent(row.scored.estimate, 1), 6),
        );
        let half = right(&interval.map_or(lacking(shown), half_width), half_column);
        let pinned = ghost.map_or(String::new(), |g| {
            let found = g.scores.iter().find(|s| s.model == row.scored.model);
            right(
                &found.map_or("-".into(), |s| signed(s.estimate - s.truth, 1)),
                7,
            )
        });
        let after = if ranks {
            let (truth, estimate) = (row.true_rank.to_string(), row.rank.to_string());
            format!("{}{}", right(&truth, 5), right(&estimate, 5))
        } else {
            String::new()
        };
        let parts = [
            (if here { "▸" } else { symbol }, style),
            (" ", text),
            (before.as_str(), text),
            (half.as_str(), if here { text } else { theme.dim }),
            (&right(&signed(error, 1), 7), style),
            (pinned.as_str(), theme.ghost),
            (after.as_str(), text),
        ];
        pieces(buffer, area.x, y, area.right(), &parts);
    }
}

/// The user's own model: its estimate, and the rank it would have among all models of the benchmark.
fn own_row(
    state: &State,
    estimate: f64,
    name: &str,
    (width, half_column, ghost_width, ranks): (usize, usize, usize, bool),
    area: Rect,
    buffer: &mut Buffer,
) {
    let style = state.look.theme.own;
    let rank = match state.predicted_rank(estimate) {
        Some((rank, of)) if ranks => right(&format!("{rank} of {of}"), 10),
        _ => String::new(),
    };
    let interval = state.shown.as_ref().and_then(|s| s.now.mine_interval);
    let half = interval.map_or(String::new(), half_width);
    let text = format!(
        "{} {}{}{}{}{}{}{rank}",
        own_mark(state.look.marker),
        left(&clean(name), width),
        right("?", 6),
        right(&percent(estimate, 1), 6),
        right(&half, half_column),
        right("", 7),
        " ".repeat(ghost_width),
    );
    let room = usize::from(area.width);
    buffer.set_stringn(area.x, area.y + 1, text, room, style);
}

/// Columns of half the interval.
const HALF: usize = 6;

/// Half the length of an interval, as "±1.9"; its ends, as "31-64", where missing answers leave the estimate off its middle.
pub(crate) fn half_width(interval: Interval) -> String {
    let Interval {
        estimate,
        low,
        high,
    } = interval;
    let uncut = low > 0.0 && high < 1.0;
    if uncut && ((low + high) / 2.0 - estimate).abs() > 5e-4 {
        return format!("{}-{}", percent(low, 0), percent(high, 0));
    }
    format!("±{}", percent(interval.half_width(), 1))
}

/// In place of an interval that is not there: still to come, or never.
fn lacking(shown: &Shown) -> String {
    if shown.now.learned() { "-" } else { "…" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_share_a_rank() {
        assert_eq!(ranks(&[0.5, 0.9, 0.5, 0.1]), [2, 1, 2, 4]);
    }
}
