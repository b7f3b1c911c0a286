//! How sure the estimates are: intervals of scores, differences of models, and the ranks that each may hold.

use std::borrow::Borrow;
use std::cell::OnceCell;
use std::collections::HashMap;

use super::run::SelectionEstimates;
use super::settings::Lambda;
use crate::estimate::{Calibration, Estimator, HeldOut, Interval};

/// Share of models whose true score lies within their interval.
pub const LEVEL: f64 = 0.9;

/// Most pairs of models that a difference is calibrated on.
const PAIRS: usize = 20_000;

/// How large the errors of one estimator are, of scores and of differences between two models that answered the same items:
/// of a scenario, or of the mean over several.
#[derive(Debug, Clone)]
pub struct Errors {
    /// Fold, error and squared spread of each training model.
    known: Vec<(usize, f64, f64)>,
    scores: Calibration,
    differences: OnceCell<Calibration>,
}

impl Errors {
    /// From the out-of-fold errors of each scenario's training models, with the lambda of each for gp-IRT. A training model
    /// counts where every scenario knows it; its error of the mean score is the mean of its errors. Differences are those of
    /// two models of one fold: they were judged by the same fit on the same items, as two test models are.
    ///
    /// `None` where fewer than three models are known.
    pub fn of(scenarios: &[(&[HeldOut], f64)], estimator: Estimator) -> Option<Self> {
        let known = joined(scenarios, estimator)?;
        Some(Self {
            scores: scores(&known),
            known,
            differences: OnceCell::new(),
        })
    }

    fn differences(&self) -> &Calibration {
        self.differences.get_or_init(|| {
            // Where there are too many pairs, each model's with its next neighbours: every model counts alike.
            let reach = match self.known.len() {
                l if l * (l - 1) / 2 <= PAIRS => usize::MAX,
                l => (PAIRS / l).max(1),
            };
            let mut differences = Vec::new();
            for (i, a) in self.known.iter().enumerate() {
                let same = self.known[i + 1..].iter().filter(|b| b.0 == a.0);
                let pairs = same.take(reach);
                differences.extend(pairs.map(|b| (a.1 - b.1, (a.2 + b.2).sqrt())));
            }
            Calibration::of(&differences)
        })
    }

    /// The interval of a score that covers `level`.
    pub fn interval(&self, estimate: f64, spread: f64, level: f64) -> Interval {
        Interval::around(estimate, self.scores.half_width(spread, level))
    }

    /// Two models on the same items: (estimate, spread) of each.
    pub fn compare(&self, a: (f64, f64), b: (f64, f64), level: f64) -> Comparison {
        let difference = a.0 - b.0;
        let spread = a.1.hypot(b.1);
        let half = self.differences().half_width(spread, level);
        let doubt = self.differences().beyond(difference, spread) / 2.0;
        Comparison {
            difference,
            low: difference - half,
            high: difference + half,
            resolvable: half,
            better: match difference {
                d if d > 0.0 => 1.0 - doubt,
                d if d < 0.0 => doubt,
                _ => 0.5,
            },
        }
    }

    /// The ranks that each model may hold, from 1 for the best: below those that are surely better (the interval of the
    /// difference leaves out 0), above those that are surely worse. (estimate, spread) of each.
    pub fn ranks(&self, models: &[(f64, f64)], level: f64) -> Vec<(usize, usize)> {
        let sure = |a: &(f64, f64), b: &(f64, f64)| {
            let c = self.compare(*a, *b, level);
            c.low > 0.0
        };
        models
            .iter()
            .map(|m| {
                let better = models.iter().filter(|o| sure(o, m)).count();
                let worse = models.iter().filter(|o| sure(m, o)).count();
                (better + 1, models.len() - worse)
            })
            .collect()
    }
}

/// (fold, error, squared spread) of the mean score over scenarios of each training model that all of them know; `None` where
/// fewer than three are known.
fn joined(scenarios: &[(&[HeldOut], f64)], estimator: Estimator) -> Option<Vec<(usize, f64, f64)>> {
    let ((first, _), rest) = scenarios.split_first()?;
    let rest: Vec<HashMap<usize, &HeldOut>> = rest
        .iter()
        .map(|(known, _)| known.iter().map(|k| (k.model, k)).collect())
        .collect();
    let count = scenarios.len() as f64;
    let mut known: Vec<(usize, f64, f64)> = Vec::with_capacity(first.len());
    for k in *first {
        let others: Option<Vec<&HeldOut>> = rest.iter().map(|r| r.get(&k.model).copied()).collect();
        let Some(others) = others else {
            continue;
        };
        let each = std::iter::once(k).chain(others);
        let (mut error, mut square) = (0.0, 0.0);
        for (k, (_, lambda)) in each.zip(scenarios) {
            error += k.error(estimator, *lambda) / count;
            square += (k.spread / count).powi(2);
        }
        known.push((k.fold, error, square));
    }
    (known.len() >= 3).then_some(known)
}

fn scores(known: &[(usize, f64, f64)]) -> Calibration {
    let each: Vec<(f64, f64)> = known.iter().map(|(_, e, s)| (*e, s.sqrt())).collect();
    Calibration::of(&each)
}

/// One model against another on the same items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Estimate of the first minus that of the second.
    pub difference: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The smallest difference that these items resolve: half the interval.
    pub resolvable: f64,
    /// Probability that the first is the better one.
    pub better: f64,
}

/// Errors of an estimator on the mean over scenarios, all of one selection; on a single one, its own.
pub fn errors<S: Borrow<SelectionEstimates>>(
    scenarios: &[S],
    estimator: Estimator,
    lambda: Lambda,
) -> Option<Errors> {
    Errors::of(&known(scenarios, lambda)?, estimator)
}

/// What each scenario's training models tell of errors; `None` where one scenario learned nothing.
fn known<S: Borrow<SelectionEstimates>>(
    scenarios: &[S],
    lambda: Lambda,
) -> Option<Vec<(&[HeldOut], f64)>> {
    let each = scenarios.iter().map(Borrow::borrow);
    each.map(|s| {
        let known = s.stacker.as_ref()?.known.as_slice();
        Some((known, lambda.value(s.paper_lambda)))
    })
    .collect()
}

/// What is known of one test model's mean score over scenarios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimated {
    /// Row of the matrix.
    pub model: usize,
    /// True score.
    pub truth: f64,
    /// Estimate.
    pub estimate: f64,
    /// Deviation of the predicted score: what intervals scale with.
    pub spread: f64,
}

/// The mean score over scenarios, all of one selection, of the models that have an estimate and a spread on each.
pub fn estimated<S: Borrow<SelectionEstimates>>(
    scenarios: &[S],
    estimator: Estimator,
    lambda: Lambda,
) -> Vec<Estimated> {
    let Some(first) = scenarios.first().map(Borrow::borrow) else {
        return Vec::new();
    };
    let count = scenarios.len() as f64;
    let of = |model: usize| -> Option<Estimated> {
        let (mut truth, mut estimate, mut square) = (0.0, 0.0, 0.0);
        for s in scenarios.iter().map(Borrow::borrow) {
            let at = s.models.binary_search_by_key(&model, |m| m.model).ok()?;
            let found = &s.models[at];
            let lambda = lambda.value(s.paper_lambda);
            truth += found.truth / count;
            estimate += found.estimates.get(estimator, lambda)? / count;
            square += (found.estimates.learned?.spread / count).powi(2);
        }
        Some(Estimated {
            model,
            truth,
            estimate,
            spread: square.sqrt(),
        })
    };
    first.models.iter().filter_map(|m| of(m.model)).collect()
}

/// Intervals at [`LEVEL`] of the mean score over scenarios, by row of the matrix; none where nothing was learned.
pub fn intervals<S: Borrow<SelectionEstimates>>(
    scenarios: &[S],
    estimator: Estimator,
    lambda: Lambda,
) -> Vec<(usize, Interval)> {
    let known = known(scenarios, lambda).and_then(|known| joined(&known, estimator));
    let Some(errors) = known.map(|known| scores(&known)) else {
        return Vec::new();
    };
    estimated(scenarios, estimator, lambda)
        .into_iter()
        .map(|e| {
            let half = errors.half_width(e.spread, LEVEL);
            (e.model, Interval::around(e.estimate, half))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::random::{Stream, rng};

    /// Training models with normal-ish errors of deviation .03, of which .02 are shared by all models of a fold.
    fn known(count: usize, seed: u64) -> Vec<HeldOut> {
        let mut random = rng(seed, Stream::Simulate(0));
        let mut noise = |size: f64| -> f64 {
            let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum();
            size * (sum - 6.0)
        };
        let shared: Vec<f64> = (0..5).map(|_| noise(0.05)).collect();
        (0..count)
            .map(|model| HeldOut {
                model,
                fold: model % 5,
                errors: [shared[model % 5] + noise(0.03); 6],
                spread: 0.01,
            })
            .collect()
    }

    #[test]
    fn differences_are_surer_than_scores_where_errors_are_shared() {
        let known = known(200, 1);
        let errors = Errors::of(&[(&known, 0.5)], Estimator::Stacked).unwrap();
        let width = errors.interval(0.5, 0.01, 0.9).half_width();
        let c = errors.compare((0.6, 0.01), (0.5, 0.01), 0.9);
        assert!((c.difference - 0.1).abs() < 1e-12);
        assert!(c.low < c.difference && c.difference < c.high);
        // Alone the shared part would make it sqrt(2) times as wide as a score's.
        assert!(c.resolvable < 1.2 * width, "{} {width}", c.resolvable);
        // 1.645 sqrt(2) .03 = .07
        assert!((0.055..0.085).contains(&c.resolvable), "{}", c.resolvable);
        assert!(c.better > 0.97 && c.low > 0.0);
        let even = errors.compare((0.5, 0.01), (0.5, 0.01), 0.9);
        assert!((even.better - 0.5).abs() < 0.01);
        let other = errors.compare((0.5, 0.01), (0.6, 0.01), 0.9);
        assert!((other.better + c.better - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ranks_hold_what_differences_cannot_tell_apart() {
        let known = known(200, 2);
        let errors = Errors::of(&[(&known, 0.5)], Estimator::Naive).unwrap();
        let models = [(0.9, 0.01), (0.5, 0.01), (0.51, 0.01), (0.1, 0.01)];
        assert_eq!(errors.ranks(&models, 0.9), [(1, 1), (2, 3), (2, 3), (4, 4)]);
    }

    #[test]
    fn a_mean_over_scenarios_is_surer_than_each() {
        let (a, b) = (known(100, 3), known(100, 4));
        let one = Errors::of(&[(&a, 0.0)], Estimator::Naive).unwrap();
        let both = Errors::of(&[(&a, 0.0), (&b, 0.0)], Estimator::Naive).unwrap();
        let width = |e: &Errors| e.interval(0.5, 0.01, 0.9).half_width();
        assert!(width(&both) < 0.9 * width(&one));
        assert!(Errors::of(&[(&a[..2], 0.0)], Estimator::Naive).is_none());
        // A model that one scenario lacks does not count.
        let few = &b[..50];
        assert!(Errors::of(&[(&a, 0.0), (few, 0.0)], Estimator::GpIrt).is_some());
    }
}
