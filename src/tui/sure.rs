//! How sure the estimates on the screen are: intervals, what they hold, ranks, and the next model.

use std::sync::Arc;

use tinyscope::estimate::{Estimates, Estimator, Interval, Stacker};
use tinyscope::experiment::{
    AnswersEstimate, Errors, Lambda, SelectionEstimates, errors, estimated, intervals,
};

use super::study::{Cell, Scored};

/// Intervals of the scores on the screen; empty until they are learned.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sure {
    /// One a score, in their order; `None` where a model has none.
    pub(crate) intervals: Vec<Option<Interval>>,
    /// Test models whose true score lies within, and how many have an interval.
    pub(crate) held: (usize, usize),
    /// Mean half width.
    pub(crate) half_width: Option<f64>,
}

impl Sure {
    /// Of these scores.
    pub(crate) fn of(
        cells: &[Arc<Cell>],
        scores: &[Scored],
        estimator: Estimator,
        lambda: Lambda,
    ) -> Sure {
        let known = intervals(&found(cells), estimator, lambda);
        let of = |model: usize| {
            let at = known.binary_search_by_key(&model, |k| k.0).ok()?;
            Some(known[at].1)
        };
        let each: Vec<Option<Interval>> = scores.iter().map(|s| of(s.model)).collect();
        let (mut held, mut count, mut width) = (0, 0, 0.0);
        for (score, interval) in scores.iter().zip(&each) {
            let Some(interval) = interval else { continue };
            held += usize::from(interval.covers(score.truth));
            count += 1;
            width += interval.half_width();
        }
        Sure {
            intervals: each,
            held: (held, count),
            half_width: (count > 0).then(|| width / count as f64),
        }
    }
}

/// What takes longer than intervals and few views show: ranks, and comparisons of two models.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    errors: Errors,
    /// By row of the matrix.
    models: Vec<Stand>,
}

/// Where one test model stands.
#[derive(Debug, Clone, Copy)]
struct Stand {
    /// Row of the matrix.
    model: usize,
    /// Estimate and spread.
    score: (f64, f64),
    /// The ranks that it may hold.
    ranks: (usize, usize),
}

impl Standing {
    /// `None` where nothing is learned.
    pub(crate) fn of(
        cells: &[Arc<Cell>],
        estimator: Estimator,
        lambda: Lambda,
    ) -> Option<Standing> {
        let found = found(cells);
        let errors = errors(&found, estimator, lambda).ok()?;
        let models = estimated(&found, estimator, lambda);
        let each: Vec<(f64, f64)> = models.iter().map(|m| (m.estimate, m.spread)).collect();
        let ranks = errors.ranks(&each);
        let models = models.iter().zip(each).zip(ranks);
        Some(Standing {
            models: models
                .map(|((m, score), ranks)| Stand {
                    model: m.model,
                    score,
                    ranks,
                })
                .collect(),
            errors,
        })
    }

    fn model(&self, model: usize) -> Option<&Stand> {
        let at = self.models.binary_search_by_key(&model, |m| m.model).ok()?;
        self.models.get(at)
    }

    /// The best and the worst rank that a test model may hold among them.
    pub(crate) fn ranks(&self, model: usize) -> Option<(usize, usize)> {
        self.model(model).map(|m| m.ranks)
    }

    /// Probability that the first model is better than the second.
    pub(crate) fn better(&self, first: usize, second: usize) -> Option<f64> {
        let (a, b) = (self.model(first)?, self.model(second)?);
        let found = self.errors.compare(a.score, b.score);
        found.ok().map(|c| c.better)
    }
}

fn found(cells: &[Arc<Cell>]) -> Vec<&SelectionEstimates> {
    cells.iter().map(|cell| &cell.found).collect()
}

/// The interval of the user's own model, where every cell knows it and errors are known. It holds whatever the answers to
/// chosen items are that are missing.
pub(crate) fn mine(cells: &[Arc<Cell>], estimator: Estimator, lambda: Lambda) -> Option<Interval> {
    let errors = errors(&found(cells), estimator, lambda).ok()?;
    let count = cells.len() as f64;
    let of = |estimates: &dyn Fn(&AnswersEstimate) -> Option<Estimates>| {
        let (mut estimate, mut square) = (0.0, 0.0);
        for cell in cells {
            let found = estimates(cell.mine.as_ref()?)?;
            let lambda = lambda.value(cell.found.paper_lambda);
            estimate += found.get(estimator, lambda)? / count;
            square += (found.learned?.spread / count).powi(2);
        }
        Some(errors.interval(estimate, square.sqrt()))
    };
    let whole = of(&|mine| mine.estimates)?;
    if cells
        .iter()
        .all(|c| c.mine.as_ref().is_some_and(|m| m.bounds.is_none()))
    {
        return Some(whole);
    }
    let ends = [0, 1].map(|k| of(&|mine| mine.bounds.map_or(mine.estimates, |b| Some(b[k]))));
    let [Some(low), Some(high)] = ends else {
        return None;
    };
    let estimate = whole.estimate;
    Some(Interval { estimate, ..low }.hull(high))
}

/// Mean over cells of what their stackers learned; `None` until all are there.
pub(crate) fn learned(cells: &[Arc<Cell>], of: impl Fn(&Stacker) -> f64) -> Option<f64> {
    let each: Option<Vec<f64>> = cells
        .iter()
        .map(|cell| cell.found.stacker.as_deref().map(&of))
        .collect();
    each.filter(|e| !e.is_empty())
        .map(|e| e.iter().sum::<f64>() / e.len() as f64)
}
