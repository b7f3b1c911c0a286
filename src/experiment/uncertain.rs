//! How sure the estimates are: intervals of scores, differences of models, and the ranks that each may hold.

use std::borrow::Borrow;
use std::cell::OnceCell;
use std::collections::HashMap;

use super::lack::Lack;
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
    /// # Errors
    /// Too few models are known for intervals at [`LEVEL`], or none of them has an error.
    pub fn of(scenarios: &[(&[HeldOut], f64)], estimator: Estimator) -> Result<Self, Lack> {
        let known = joined(scenarios, estimator);
        let scores = enough(scores(&known), |known| Lack::Models { known })?;
        Ok(Self {
            scores,
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

    /// The interval of a score that covers [`LEVEL`].
    pub fn interval(&self, estimate: f64, spread: f64) -> Interval {
        Interval::around(estimate, self.scores.half_width(spread, LEVEL))
    }

    /// Two models on the same items: (estimate, spread) of each.
    ///
    /// # Errors
    /// Too few pairs of models are known, or all err alike.
    pub fn compare(&self, a: (f64, f64), b: (f64, f64)) -> Result<Comparison, Lack> {
        let known = self.differences();
        enough(known, |known| Lack::Pairs { known })?;
        let difference = a.0 - b.0;
        let spread = a.1.hypot(b.1);
        let half = known.half_width(spread, LEVEL);
        let doubt = known.beyond(difference, spread) / 2.0;
        // Scores lie in [0, 1].
        let middle = difference.clamp(-1.0, 1.0);
        Ok(Comparison {
            difference,
            low: (middle - half).max(-1.0),
            high: (middle + half).min(1.0),
            resolvable: half.min(1.0),
            better: match difference {
                d if d > 0.0 => 1.0 - doubt,
                d if d < 0.0 => doubt,
                _ => 0.5,
            },
        })
    }

    /// The ranks that each model may hold, from 1 for the best: below those that are surely better (the interval of the
    /// difference leaves out 0), above those that are surely worse. (estimate, spread) of each.
    pub fn ranks(&self, models: &[(f64, f64)]) -> Vec<(usize, usize)> {
        let sure = |a: &(f64, f64), b: &(f64, f64)| self.compare(*a, *b).is_ok_and(|c| c.low > 0.0);
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

/// A calibration that tells intervals at [`LEVEL`]; `few` says what there is too little of.
fn enough<C: Borrow<Calibration>>(found: C, few: impl Fn(usize) -> Lack) -> Result<C, Lack> {
    let of: &Calibration = found.borrow();
    match of.known() {
        known if known < Calibration::needed(LEVEL) => Err(few(known)),
        known if of.exact() => Err(Lack::Exact { known }),
        _ => Ok(found),
    }
}

/// (fold, error, squared spread) of the mean score over scenarios of each training model that all of them know.
fn joined(scenarios: &[(&[HeldOut], f64)], estimator: Estimator) -> Vec<(usize, f64, f64)> {
    let Some(((first, _), rest)) = scenarios.split_first() else {
        return Vec::new();
    };
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
    known
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
    /// The smallest difference that these items resolve: half the interval where all chosen items are answered.
    pub resolvable: f64,
    /// Probability that the first is the better one.
    pub better: f64,
}

impl Comparison {
    /// What holds for both: the longer interval around this difference, the lesser certainty.
    pub fn hull(self, other: Self) -> Self {
        let middle = self.difference.clamp(-1.0, 1.0);
        let low = self.low.min(other.low).min(middle);
        let high = self.high.max(other.high).max(middle);
        let (least, most) = (self.better.min(other.better), self.better.max(other.better));
        Self {
            difference: self.difference,
            low,
            high,
            resolvable: self.resolvable.max(high - middle).max(middle - low),
            better: 0.5f64.clamp(least, most),
        }
    }
}

/// Errors of an estimator on the mean over scenarios, all of one selection; on a single one, its own.
pub fn errors<S: Borrow<SelectionEstimates>>(
    scenarios: &[S],
    estimator: Estimator,
    lambda: Lambda,
) -> Result<Errors, Lack> {
    let known = known(scenarios, lambda).ok_or(Lack::Models { known: 0 })?;
    Errors::of(&known, estimator)
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
    let Ok(errors) = errors(scenarios, estimator, lambda) else {
        return Vec::new();
    };
    estimated(scenarios, estimator, lambda)
        .into_iter()
        .map(|e| (e.model, errors.interval(e.estimate, e.spread)))
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
        let width = errors.interval(0.5, 0.01).half_width();
        let c = errors.compare((0.6, 0.01), (0.5, 0.01)).unwrap();
        assert!((c.difference - 0.1).abs() < 1e-12);
        assert!(c.low < c.difference && c.difference < c.high);
        // Alone the shared part would make it sqrt(2) times as wide as a score's.
        assert!(c.resolvable < 1.2 * width, "{} {width}", c.resolvable);
        // 1.645 sqrt(2) .03 = .07
        assert!((0.055..0.085).contains(&c.resolvable), "{}", c.resolvable);
        assert!(c.better > 0.97 && c.low > 0.0);
        let even = errors.compare((0.5, 0.01), (0.5, 0.01)).unwrap();
        assert!((even.better - 0.5).abs() < 0.01);
        let other = errors.compare((0.5, 0.01), (0.6, 0.01)).unwrap();
        assert!((other.better + c.better - 1.0).abs() < 1e-12);
    }

    #[test]
    fn differences_stay_within_what_scores_allow() {
        let known = known(100, 6);
        let errors = Errors::of(&[(&known, 0.5)], Estimator::Ridge).unwrap();
        let far = errors.compare((1.0, 0.3), (0.01, 0.3)).unwrap();
        assert!(far.high == 1.0 && far.low > 0.0);
        let unsure = errors.compare((0.6, 40.0), (0.5, 0.01)).unwrap();
        assert_eq!(
            (unsure.low, unsure.high, unsure.resolvable),
            (-1.0, 1.0, 1.0)
        );
        let both = far.hull(errors.compare((0.4, 0.01), (0.5, 0.01)).unwrap());
        assert!(both.low < -0.1 && both.high == 1.0 && both.better == 0.5);
        assert!((both.difference - 0.99).abs() < 1e-12 && both.resolvable > 0.99);
    }

    #[test]
    fn ranks_hold_what_differences_cannot_tell_apart() {
        let known = known(200, 2);
        let errors = Errors::of(&[(&known, 0.5)], Estimator::Naive).unwrap();
        let models = [(0.9, 0.01), (0.5, 0.01), (0.51, 0.01), (0.1, 0.01)];
        assert_eq!(errors.ranks(&models), [(1, 1), (2, 3), (2, 3), (4, 4)]);
    }

    #[test]
    fn a_mean_over_scenarios_is_surer_than_each() {
        let (a, b) = (known(100, 3), known(100, 4));
        let one = Errors::of(&[(&a, 0.0)], Estimator::Naive).unwrap();
        let both = Errors::of(&[(&a, 0.0), (&b, 0.0)], Estimator::Naive).unwrap();
        let width = |e: &Errors| e.interval(0.5, 0.01).half_width();
        assert!(width(&both) < 0.9 * width(&one));
        let of = |known: &[HeldOut]| Errors::of(&[(known, 0.0)], Estimator::Naive);
        assert_eq!(of(&a[..8]).unwrap_err(), Lack::Models { known: 8 });
        // Of nine models in five folds four pairs share one.
        let nine = of(&a[..9]).unwrap();
        let pair = nine.compare((0.5, 0.01), (0.4, 0.01));
        assert_eq!(pair.unwrap_err(), Lack::Pairs { known: 4 });
        assert_eq!(nine.ranks(&[(0.9, 0.0), (0.1, 0.0)]), [(1, 2), (1, 2)]);
        let twelve = of(&a[..12]).unwrap();
        assert!(twelve.compare((0.5, 0.01), (0.4, 0.01)).is_ok());
        let exact: Vec<HeldOut> = a
            .iter()
            .map(|k| HeldOut {
                errors: [1e-12; 6],
                ..*k
            })
            .collect();
        assert_eq!(of(&exact).unwrap_err(), Lack::Exact { known: 100 });
        // A model that one scenario lacks does not count.
        let few = &b[..50];
        assert!(Errors::of(&[(&a, 0.0), (few, 0.0)], Estimator::GpIrt).is_ok());
    }
}
