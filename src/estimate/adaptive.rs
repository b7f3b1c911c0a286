//! What training models tell of adaptive tests: how far estimates are off after so many answers, and which way.

use serde::{Deserialize, Serialize};

use super::interval::{Calibration, Interval};
use crate::anchors::{Outcome, Rule};

/// A model whose true score is known, after some answers of an adaptive test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// True score.
    pub truth: f64,
    /// What the test tells.
    pub outcome: Outcome,
}

/// What was learned from training models for adaptive tests of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveCalibration {
    /// The rule that the tests learned from went by.
    pub rule: Rule,
    /// The share of models that intervals cover.
    pub level: f64,
    /// How an item's scores scatter around their predictions, over P (1 - P); above 0, one an item.
    pub dispersion: Vec<f64>,
    /// By the number of answers, rising.
    pub stages: Vec<Stage>,
}

/// Correction and calibration after so many answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Number of answers.
    pub n: usize,
    /// The correction of an estimate x is (share of the score unseen) (intercept + slope x).
    pub intercept: f64,
    /// The same.
    pub slope: f64,
    /// The interval is scale sqrt(deviation^2 + mean_square) to either side.
    pub scale: f64,
    /// Mean squared error of the training models.
    pub mean_square: f64,
}

/// As many models without an error are imagined beside the known ones where a correction is fitted.
const SHRINK: f64 = 5.0;
/// The error without a correction has to fall to this share of it: the models that a correction is judged on are few.
const WORTH: f64 = 0.8;
/// Corrections are judged from so many answers on.
const JUDGED_FROM: usize = 5;

/// The level of intervals in files and where nothing was learned.
const LEVEL: f64 = 0.9;

/// Whether these models can tell what an interval of this level is: L exchangeable ones do where (L + 1) level <= L, 9 of them
/// at 90 %, and only where their scores differ.
fn enough(models: &[Known], level: f64) -> bool {
    let count = models.len() as f64;
    let truths = || models.iter().map(|k| k.truth);
    let (low, high) = (
        truths().fold(f64::INFINITY, f64::min),
        truths().fold(f64::NEG_INFINITY, f64::max),
    );
    (count + 1.0) * level <= count + 1e-9 && high - low > 1e-9
}

/// Which correction: none, a constant, a line.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    None,
    Constant,
    Line,
}

impl AdaptiveCalibration {
    /// From models that were no part of the fits and dispersions their tests used: (number of answers, the models that
    /// got so far), rising. Of a constant and a line in the estimate, the correction with the least leave-one-out error over
    /// all numbers of answers is taken, where that is a fifth less than without. What too few models tell, or models that are
    /// all alike, is no stage.
    pub fn learn(
        rule: Rule,
        level: f64,
        dispersion: Vec<f64>,
        known: &[(usize, Vec<Known>)],
    ) -> Self {
        let loss = |form| {
            let stages = known
                .iter()
                .filter(|(n, models)| *n >= JUDGED_FROM && models.len() > 2);
            let logs: Vec<f64> = stages
                .map(|(_, models)| {
                    let errors = left_out(models, form);
                    let mean =
                        errors.iter().map(|e| e.abs()).sum::<f64>() / errors.len().max(1) as f64;
                    mean.max(1e-9).ln()
                })
                .collect();
            (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
        };
        let (constant, line) = (loss(Form::Constant), loss(Form::Line));
        let form = match () {
            () if constant.min(line) >= WORTH * loss(Form::None) => Form::None,
            () if constant <= line => Form::Constant,
            () => Form::Line,
        };
        let stages = known
            .iter()
            .filter(|(_, models)| enough(models, level))
            .map(|(n, models)| {
                let (intercept, slope) = correction(models.iter(), form);
                let errors: Vec<(f64, f64)> = left_out(models, form)
                    .into_iter()
                    .zip(models)
                    .map(|(e, k)| (e, k.outcome.deviation))
                    .collect();
                let mean_square =
                    errors.iter().map(|(e, _)| e * e).sum::<f64>() / errors.len() as f64;
                let half = Calibration::of(&errors).half_width(0.0, level);
                Stage {
                    n: *n,
                    intercept,
                    slope,
                    scale: if mean_square > 0.0 {
                        half / mean_square.sqrt()
                    } else {
                        0.0
                    },
                    mean_square,
                }
            })
            // Without an error nothing is known of errors.
            .filter(|stage| stage.scale > 0.0)
            .collect();
        Self {
            rule,
            level,
            dispersion,
            stages,
        }
    }

    /// For a scenario of which nothing was learned: no correction, and the model's own deviation.
    pub fn unlearned(rule: Rule) -> Self {
        Self {
            rule,
            level: LEVEL,
            dispersion: Vec::new(),
            stages: Vec::new(),
        }
    }

    /// The most answers that intervals are calibrated for; `None` where none are.
    pub fn reach(&self) -> Option<usize> {
        self.stages.last().map(|s| s.n)
    }

    /// Whether the interval of an outcome is calibrated: something was learned, of so many answers too, or all was answered.
    pub fn reaches(&self, outcome: &Outcome) -> bool {
        let far = |n: usize| outcome.answered <= n || outcome.unseen <= 0.0;
        self.reach().is_some_and(far)
    }

    /// The corrected estimate and half the length of its interval, which is not cut to \[0, 1\]; linear between stages. Where
    /// all was answered the score is known.
    pub fn estimate(&self, outcome: &Outcome) -> (f64, f64) {
        if outcome.unseen <= 0.0 {
            return (outcome.estimate, 0.0);
        }
        let at = self.stages.partition_point(|s| s.n <= outcome.answered);
        let (below, above) = (self.stages[..at].last(), self.stages.get(at));
        match (below, above) {
            (Some(a), Some(b)) => {
                let share = (outcome.answered - a.n) as f64 / (b.n - a.n) as f64;
                let (a, b) = (a.estimate(outcome), b.estimate(outcome));
                let mix = |a: f64, b: f64| (1.0 - share) * a + share * b;
                (mix(a.0, b.0), mix(a.1, b.1))
            }
            (Some(one), None) | (None, Some(one)) => one.estimate(outcome),
            (None, None) => (outcome.estimate, NORMAL * outcome.deviation),
        }
    }

    /// The same as an interval in \[0, 1\].
    pub fn interval(&self, outcome: &Outcome) -> Interval {
        let (estimate, half) = self.estimate(outcome);
        Interval::around(estimate, half)
    }

    /// Whether it is one of `n` items; `Err` says what is wrong.
    pub(crate) fn check(&self, n: usize) -> Result<(), String> {
        let dispersions =
            self.dispersion.len() == n && self.dispersion.iter().all(|r| (1e-6..=1e6).contains(r));
        if !dispersions {
            return Err(format!("adaptive: not {n} dispersions above 0"));
        }
        if (self.level - LEVEL).abs() > 1e-9 {
            return Err(format!(
                "adaptive: its level is {}, but intervals are of {LEVEL}",
                self.level
            ));
        }
        let mut before = None;
        for (k, s) in self.stages.iter().enumerate() {
            let wrong = |what: String| Err(format!("adaptive: stage {} {what}", k + 1));
            if before.is_some_and(|n| s.n <= n) {
                return wrong(format!("has n = {}, no more than the one before", s.n));
            }
            before = Some(s.n);
            // Once all are answered the score is known.
            if s.n >= n {
                return wrong(format!("has n = {}, but there are {n} items", s.n));
            }
            for (name, value, sound) in [
                ("intercept", s.intercept, s.intercept.abs() <= 10.0),
                ("slope", s.slope, s.slope.abs() <= 10.0),
                ("scale", s.scale, s.scale > 0.0 && s.scale <= 1e3),
                (
                    "mean_square",
                    s.mean_square,
                    (0.0..=1.0).contains(&s.mean_square),
                ),
            ] {
                if !sound {
                    return wrong(format!(
                        "(n = {}) has {name} {value}, which no training gives",
                        s.n
                    ));
                }
            }
        }
        Ok(())
    }
}

/// 90 % of a normal distribution lie so many deviations around its mean.
const NORMAL: f64 = 1.645;

impl Stage {
    fn estimate(&self, outcome: &Outcome) -> (f64, f64) {
        let correction = outcome.unseen * (self.intercept + self.slope * outcome.estimate);
        let sigma = (outcome.deviation.powi(2) + self.mean_square).sqrt();
        (
            (outcome.estimate + correction).clamp(0.0, 1.0),
            self.scale * sigma,
        )
    }
}

/// (intercept, slope) of the regression of what is missing on the share unseen and its product with the estimate, both
/// shrunk to 0.
fn correction<'a>(known: impl Iterator<Item = &'a Known>, form: Form) -> (f64, f64) {
    if form == Form::None {
        return (0.0, 0.0);
    }
    // Weighted by the square of the share unseen, so that a scenario of which little is left tells little.
    let (mut n, mut weight, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for k in known {
        let w = k.outcome.unseen * k.outcome.unseen;
        let missing = k.outcome.unseen * (k.truth - k.outcome.estimate);
        n += 1.0;
        weight += w;
        x += w * k.outcome.estimate;
        xx += w * k.outcome.estimate.powi(2);
        y += missing;
        xy += missing * k.outcome.estimate;
    }
    if weight <= 0.0 {
        return (0.0, 0.0);
    }
    let shrink = n / (n + SHRINK);
    let (mean_x, mean_y) = (x / weight, y / weight);
    let spread = xx - mean_x * x;
    let slope = match form {
        Form::Line if spread > 1e-12 => (shrink * (xy - mean_x * y) / spread).clamp(-1.0, 1.0),
        _ => 0.0,
    };
    (shrink * mean_y - slope * mean_x, slope)
}

/// The error of each model by the correction that the others give.
fn left_out(known: &[Known], form: Form) -> Vec<f64> {
    (0..known.len())
        .map(|l| {
            let others = known.iter().enumerate().filter(|(k, _)| *k != l);
            let (intercept, slope) = correction(others.map(|(_, k)| k), form);
            let o = &known[l].outcome;
            let corrected = o.estimate + o.unseen * (intercept + slope * o.estimate);
            corrected.clamp(0.0, 1.0) - known[l].truth
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Models whose estimates miss by `error` of the share unseen.
    fn known(error: impl Fn(f64) -> f64, answered: usize) -> Vec<Known> {
        (0..40)
            .map(|l| {
                let estimate = 0.1 + 0.02 * f64::from(l);
                let noise = 0.01 * f64::from(l % 3 - 1);
                let outcome = Outcome {
                    estimate,
                    deviation: 0.02,
                    unseen: 0.5,
                    answered,
                };
                Known {
                    truth: estimate + 0.5 * error(estimate) + noise,
                    outcome,
                }
            })
            .collect()
    }

    fn learnt(error: impl Fn(f64) -> f64 + Copy) -> AdaptiveCalibration {
        let stages = [(5, known(error, 5)), (15, known(error, 15))];
        AdaptiveCalibration::learn(Rule::Score, 0.9, vec![1.0; 20], &stages)
    }

    #[test]
    fn a_bias_is_taken_off_and_no_more() {
        let none = learnt(|_| 0.0);
        assert!(
            none.stages
                .iter()
                .all(|s| (s.intercept, s.slope) == (0.0, 0.0))
        );
        let constant = learnt(|_| 0.2);
        for s in &constant.stages {
            assert!((s.intercept + 0.5 * s.slope - 0.2).abs() < 0.03 && s.slope.abs() < 0.05);
        }
        let line = learnt(|x| 0.4 - 0.6 * x);
        assert!(
            line.stages
                .iter()
                .all(|s| s.slope < -0.4 && s.intercept > 0.2)
        );
        for (calibration, error) in [(&none, 0.0), (&constant, 0.2)] {
            let o = known(|_| error, 10)[20].outcome;
            let i = calibration.interval(&o);
            assert!((i.estimate - o.estimate - 0.5 * error).abs() < 0.02);
            assert!(i.half_width() > 0.005 && i.half_width() < 0.05, "{i:?}");
        }
    }

    #[test]
    fn between_stages_it_is_linear_and_at_the_end_exact() {
        let mut c = learnt(|_| 0.0);
        c.stages[1].scale *= 2.0;
        let at = |answered, unseen| {
            let o = Outcome {
                answered,
                unseen,
                ..known(|_| 0.0, 5)[7].outcome
            };
            c.estimate(&o)
        };
        let (a, b) = (at(5, 0.5).1, at(15, 0.5).1);
        assert!((at(10, 0.5).1 - (a + b) / 2.0).abs() < 1e-12);
        assert_eq!((at(0, 0.5).1, at(99, 0.5).1), (a, b));
        assert_eq!(at(7, 0.0).1, 0.0);
        let plain = AdaptiveCalibration::unlearned(Rule::DOptimal);
        let o = known(|_| 0.0, 5)[0].outcome;
        assert_eq!(plain.estimate(&o), (o.estimate, 1.645 * o.deviation));
    }

    #[test]
    fn too_few_models_or_all_alike_calibrate_nothing() {
        let of = |models: Vec<Known>| {
            AdaptiveCalibration::learn(Rule::Score, 0.9, vec![1.0; 3], &[(5, models)])
        };
        let models = known(|_| 0.0, 5);
        assert!(of(models[..8].to_vec()).stages.is_empty());
        let nine = of(models[..9].to_vec());
        assert_eq!((nine.stages.len(), nine.reach()), (1, Some(5)));
        let outcome = |answered, unseen| Outcome {
            answered,
            unseen,
            ..models[0].outcome
        };
        assert!(nine.reaches(&outcome(5, 0.5)) && nine.reaches(&outcome(6, 0.0)));
        assert!(!nine.reaches(&outcome(6, 0.5)));
        let alike = of(vec![models[4]; 12]);
        assert!(alike.stages.is_empty() && !alike.reaches(&outcome(0, 1.0)));
        let without_error = models.iter().map(|k| Known {
            truth: k.outcome.estimate,
            ..*k
        });
        assert!(of(without_error.collect()).stages.is_empty());
    }

    #[test]
    fn what_no_training_gives_is_refused() {
        let good = learnt(|_| 0.1);
        assert!(good.check(20).is_ok() && good.check(21).is_err());
        let broken: [fn(&mut AdaptiveCalibration); 8] = [
            |c| c.dispersion[0] = 0.0,
            |c| c.dispersion[0] = f64::NAN,
            |c| c.stages[0].n = 15,
            |c| c.stages[1].n = 20,
            |c| c.stages[0].scale = -1.0,
            |c| c.level = 0.8,
            |c| c.stages[1].scale = 0.0,
            |c| c.stages[1].scale = f64::INFINITY,
        ];
        for change in broken {
            let mut c = good.clone();
            change(&mut c);
            assert!(c.check(20).is_err());
        }
        let text = serde_json::to_string(&good).unwrap();
        assert_eq!(
            serde_json::from_str::<AdaptiveCalibration>(&text).unwrap(),
            good
        );
        assert!(text.contains("\"rule\":\"score\""));
    }
}
