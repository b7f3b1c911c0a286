//! How sure the estimates on the screen are: intervals, what they hold, ranks, and the next model.

use std::sync::Arc;

use tinyscope::estimate::{Estimator, Interval, Stacker};
use tinyscope::experiment::{
    Errors, LEVEL, Lambda, SelectionEstimates, errors, estimated, intervals,
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
        let errors = errors(&found, estimator, lambda)?;
        let models = estimated(&found, estimator, lambda);
        let each: Vec<(f64, f64)> = models.iter().map(|m| (m.estimate, m.spread)).collect();
        let ranks = errors.ranks(&each, LEVEL);
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
        Some(self.errors.compare(a.score, b.score, LEVEL).better)
    }
}

fn found(cells: &[Arc<Cell>]) -> Vec<&SelectionEstimates> {
    cells.iter().map(|cell| &cell.found).collect()
}

/// The interval of the user's own model, where every cell knows it and errors are known.
pub(crate) fn mine(
    cells: &[Arc<Cell>],
    estimate: f64,
    estimator: Estimator,
    lambda: Lambda,
) -> Option<Interval> {
    let count = cells.len() as f64;
    let mut square = 0.0;
    for cell in cells {
        let learned = cell.mine.as_ref()?.estimates?.learned?;
        square += (learned.spread / count).powi(2);
    }
    let errors = errors(&found(cells), estimator, lambda)?;
    Some(errors.interval(estimate, square.sqrt(), LEVEL))
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
