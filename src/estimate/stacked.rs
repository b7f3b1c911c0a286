//! Estimators beyond the paper, learned from training models that the fit did not see: AIPW, gp-IRT with a cross-validated
//! lambda, ridge regression, and the stacked combination.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::components::Components;
use super::interval::{Calibration, Interval};
use super::ridge::Ridge;
use super::simplex::simplex_weights;
use super::{Estimator, Learned};

/// A training model: its true score, and its components from a fit that it was no part of.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The model: its row of the matrix.
    pub model: usize,
    /// True score.
    pub truth: f64,
    /// From the scores on the chosen items and the fit on the other folds.
    pub components: Components,
}

/// One fold with its own choice of items: what tells how large errors on models unknown to fit *and* choice are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Refitted {
    /// (scores on the fold's chosen items, NaN where missing; true score) of the models fitted on.
    pub rest: Vec<(Vec<f64>, f64)>,
    /// The models held out, by the fold's fit and chosen items.
    pub held_out: Vec<Example>,
}

/// The parts of the stacked estimate, in the order of its weights.
pub const PARTS: [&str; 4] = ["naive", "p-irt", "aipw", "ridge"];

/// Towards equal weights, by so much of the parts' mean squared error.
const SHRINK: f64 = 0.03;
/// The mean out-of-fold error of a part is taken off, shrunk as if so many more models had none.
const UNBIASED: f64 = 10.0;

/// The estimators whose errors are known, in the order of [`HeldOut::errors`]; gp-IRT's follow from the first two.
const CALIBRATED: [Estimator; 6] = [
    Estimator::Naive,
    Estimator::PIrt,
    Estimator::Aipw,
    Estimator::GpIrtCv,
    Estimator::Ridge,
    Estimator::Stacked,
];

/// The errors of one training model, out of fold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The model: its row of the matrix.
    pub model: usize,
    /// Models of one fold were judged by the same fit and the same items.
    pub fold: usize,
    /// Estimate - true score of naive, p-IRT, AIPW, gp-IRT with the learned lambda, ridge, stacked.
    pub errors: [f64; 6],
    /// As [`Components::spread`].
    pub spread: f64,
}

impl HeldOut {
    /// The error of an estimator; `lambda` is for gp-IRT.
    pub fn error(&self, estimator: Estimator, lambda: f64) -> f64 {
        match CALIBRATED.iter().position(|e| *e == estimator) {
            Some(at) => self.errors[at],
            None => lambda * self.errors[0] + (1.0 - lambda) * self.errors[1],
        }
    }
}

/// Learned from training models only; serves one scenario and one choice of items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Stacker {
    /// lambda of gp-IRT with the least out-of-fold squared error, in \[0, 1\].
    pub lambda: f64,
    /// Weights of [`PARTS`]: at least 0, their sum is 1.
    pub weights: [f64; 4],
    /// The shrunken mean out-of-fold error of each part, taken off before it is weighted.
    pub bias: [f64; 4],
    /// The regression of the true score on the chosen items' scores.
    pub ridge: Ridge,
    /// Errors of the training models, out of fold: what intervals are calibrated on.
    pub known: Vec<HeldOut>,
    /// In the order of [`CALIBRATED`].
    calibrations: [Calibration; 6],
}

/// A stacker as files hold it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    lambda: f64,
    weights: [f64; 4],
    bias: [f64; 4],
    ridge: Ridge,
    known: Vec<HeldOut>,
}

impl From<Stacker> for Stored {
    fn from(s: Stacker) -> Self {
        Self {
            lambda: s.lambda,
            weights: s.weights,
            bias: s.bias,
            ridge: s.ridge,
            known: s.known,
        }
    }
}

impl From<Stored> for Stacker {
    fn from(s: Stored) -> Self {
        let mut stacker = Self {
            lambda: s.lambda,
            weights: s.weights,
            bias: s.bias,
            ridge: s.ridge,
            known: s.known,
            calibrations: std::array::from_fn(|_| Calibration::of(&[])),
        };
        stacker.calibrate();
        stacker
    }
}

impl Stacker {
    /// Learns from `examples`, the training models with the chosen items and out-of-fold fits, and calibrates intervals on
    /// `refitted`, where the items too were chosen without the models held out (empty: on the examples themselves, which
    /// is the same for random items and too narrow for anchors on correctness, where the choice has seen the answers).
    ///
    ///   lambda  = sum (p-IRT - truth)(p-IRT - naive) / sum (p-IRT - naive)^2, cut to \[0, 1\]
    ///   bias    = L / (L + 10) * mean of (part - truth)
    ///   weights = argmin over the simplex of mean (weights . (part - truth - bias))^2, shrunk to equal weights by .03
    ///   stacked = weights . (part - bias)
    ///
    /// The ridge part of a training model is its leave-one-out prediction. `None` for fewer than three examples.
    pub fn train(examples: &[Example], refitted: &[Refitted]) -> Option<Self> {
        if examples.len() < 3 {
            return None;
        }
        let truth: Vec<f64> = examples.iter().map(|e| e.truth).collect();
        let rows: Vec<&[f64]> = examples
            .iter()
            .map(|e| e.components.scores.as_slice())
            .collect();
        let ridge = Ridge::fit(&rows, &truth, None)?;
        let errors: Vec<[f64; 4]> = examples
            .iter()
            .zip(&ridge.left_out)
            .map(|(e, &left_out)| parts(&e.components, left_out).map(|x| x - e.truth))
            .collect();
        let lambda = cross_validated_lambda(&errors);
        let bias: [f64; 4] = std::array::from_fn(|k| {
            errors.iter().map(|e| e[k]).sum::<f64>() / (errors.len() as f64 + UNBIASED)
        });
        let centred: Vec<[f64; 4]> = errors
            .iter()
            .map(|e| std::array::from_fn(|k| e[k] - bias[k]))
            .collect();
        let mut stacker = Self {
            lambda,
            weights: simplex_weights(&centred, SHRINK),
            bias,
            ridge,
            known: Vec::new(),
            calibrations: std::array::from_fn(|_| Calibration::of(&[])),
        };
        let mut known: Vec<HeldOut> = Vec::new();
        for (k, fold) in refitted.iter().enumerate() {
            let rows: Vec<&[f64]> = fold.rest.iter().map(|(row, _)| row.as_slice()).collect();
            let truth: Vec<f64> = fold.rest.iter().map(|(_, truth)| *truth).collect();
            let Some(ridge) = Ridge::fit(&rows, &truth, Some(stacker.ridge.penalty)) else {
                continue;
            };
            known.extend(fold.held_out.iter().map(|e| {
                let ridge = ridge.predict(&e.components.scores);
                stacker.errors(e, k, ridge)
            }));
        }
        if known.is_empty() {
            let each = examples.iter().zip(&stacker.ridge.left_out);
            known.extend(each.map(|(e, &out)| stacker.errors(e, 0, out)));
        }
        stacker.known = known;
        stacker.calibrate();
        Some(stacker)
    }

    /// Whether the parts fit together and `n` chosen items: what a file holds may be anything.
    pub(crate) fn check(&self, n: usize) -> Result<(), String> {
        let ridge = &self.ridge;
        if ridge.centre.len() != n || ridge.coefficients.len() != n {
            return Err(format!("the ridge regression is not of {n} scores"));
        }
        let sum: f64 = self.weights.iter().sum();
        let share = |w: &f64| (-1e-9..=1.0 + 1e-9).contains(w);
        if !(self.weights.iter().all(share) && (sum - 1.0).abs() < 1e-6 && share(&self.lambda)) {
            return Err("lambda and the weights of the stacked estimate are no shares".into());
        }
        let within = |x: f64, most: f64| x.abs() <= most + 1e-9;
        // Of parts before they are cut to [0, 1]: p-IRT and AIPW lie in [-1, 2], a regression may lead further.
        let parts = self.bias.iter().zip([1.0, 2.0, 2.0, 10.0]);
        let means = ridge.centre.iter().chain([&ridge.level]);
        if !(parts.into_iter().all(|(x, most)| within(*x, most))
            && means.into_iter().all(|x| (-1e-9..=1.0 + 1e-9).contains(x))
            && ridge.coefficients.iter().all(|x| within(*x, 1e12)))
        {
            return Err("what was learned holds numbers beyond any that training gives".into());
        }
        for (at, k) in self.known.iter().enumerate() {
            // Only p-IRT with anchor weights may leave [0, 1], up to 2.
            let most = |e: usize| if e == 1 { 2.0 } else { 1.0 };
            let beyond = (0..k.errors.len()).find(|&e| !within(k.errors[e], most(e)));
            if let Some(e) = beyond {
                return Err(format!(
                    "learned.known[{at}]: the error of {} is {}, and scores lie in [0, 1]",
                    CALIBRATED[e].name(),
                    k.errors[e]
                ));
            }
            if !(0.0..=1e6).contains(&k.spread) {
                return Err(format!("learned.known[{at}]: the spread is {}", k.spread));
            }
        }
        Ok(())
    }

    fn errors(&self, e: &Example, fold: usize, ridge: f64) -> HeldOut {
        let c = &e.components;
        let [aipw, gp, ridge, stacked] = self.combine(c, ridge);
        HeldOut {
            model: e.model,
            fold,
            errors: [c.naive, c.p_irt, aipw, gp, ridge, stacked].map(|x| x - e.truth),
            spread: c.spread,
        }
    }

    fn calibrate(&mut self) {
        self.calibrations =
            CALIBRATED.map(|estimator| Calibration::of(&self.known_errors(estimator, 0.0)));
    }

    fn known_errors(&self, estimator: Estimator, lambda: f64) -> Vec<(f64, f64)> {
        let of = |k: &HeldOut| (k.error(estimator, lambda), k.spread);
        self.known.iter().map(of).collect()
    }

    /// How large the errors of an estimator are; `lambda` is for gp-IRT.
    pub fn calibration(&self, estimator: Estimator, lambda: f64) -> Cow<'_, Calibration> {
        match CALIBRATED.iter().position(|e| *e == estimator) {
            Some(at) => Cow::Borrowed(&self.calibrations[at]),
            None => Cow::Owned(Calibration::of(&self.known_errors(estimator, lambda))),
        }
    }

    /// What is learned of a model from its scores on the chosen items.
    pub fn learned(&self, components: &Components) -> Learned {
        Learned {
            scores: self.combine(components, self.ridge.predict(&components.scores)),
            spread: components.spread,
        }
    }

    /// The estimates of a model from its scores on the chosen items, each with the interval that covers `level` of models
    /// like those trained on; in the order of [`Estimator::LEARNED`].
    pub fn estimate(&self, components: &Components, level: f64) -> [Interval; 4] {
        let Learned { scores, spread } = self.learned(components);
        std::array::from_fn(|k| {
            // The last four.
            let half = self.calibrations[k + 2].half_width(spread, level);
            Interval::around(scores[k], half)
        })
    }

    /// In the order of [`Estimator::LEARNED`], cut to \[0, 1\].
    fn combine(&self, components: &Components, ridge: f64) -> [f64; 4] {
        let parts = parts(components, ridge);
        let terms = parts.iter().zip(&self.bias).zip(&self.weights);
        let stacked = terms.map(|((x, bias), w)| w * (x - bias)).sum::<f64>();
        let gp = self.lambda * components.naive + (1.0 - self.lambda) * components.p_irt;
        [components.aipw, gp, ridge, stacked].map(|x| x.clamp(0.0, 1.0))
    }
}

/// In the order of [`PARTS`].
fn parts(components: &Components, ridge: f64) -> [f64; 4] {
    [components.naive, components.p_irt, components.aipw, ridge]
}

/// The share of naive with the least squared error, from the errors of [`PARTS`]; 0 where naive and p-IRT are the same.
fn cross_validated_lambda(errors: &[[f64; 4]]) -> f64 {
    let (mut along, mut square) = (0.0, 0.0);
    for e in errors {
        let apart = e[1] - e[0];
        along += e[1] * apart;
        square += apart * apart;
    }
    if square > 0.0 {
        (along / square).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::random::{Stream, rng};

    /// Models of random ability on 20 items of equal weight; naive, p-IRT and AIPW err independently, p-IRT by .05 too much.
    fn population(count: usize, seed: u64) -> Vec<Example> {
        let mut random = rng(seed, Stream::Simulate(0));
        let mut noise = |size: f64| size * (random.random::<f64>() - 0.5);
        (0..count)
            .map(|model| {
                let truth = 0.5 + noise(0.8);
                let scores: Vec<f64> = (0..20)
                    .map(|_| f64::from(noise(1.0) + 0.5 < truth))
                    .collect();
                let components = Components {
                    naive: truth + noise(0.3),
                    p_irt: truth + 0.05 + noise(0.1),
                    aipw: truth + noise(0.2),
                    spread: 0.02,
                    scores,
                };
                Example {
                    model,
                    truth,
                    components,
                }
            })
            .collect()
    }

    #[test]
    fn stacked_beats_its_parts_and_its_intervals_cover() {
        let (train, test) = (population(150, 1), population(2000, 2));
        let stacker = Stacker::train(&train, &[]).unwrap();
        assert!(stacker.weights.iter().all(|&w| w >= 0.0));
        assert!((stacker.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((0.0..=1.0).contains(&stacker.lambda));
        let found: Vec<[Interval; 4]> = test
            .iter()
            .map(|e| stacker.estimate(&e.components, 0.9))
            .collect();
        let mae = |k: usize| -> f64 {
            found
                .iter()
                .zip(&test)
                .map(|(f, e)| (f[k].estimate - e.truth).abs())
                .sum::<f64>()
                / 2000.0
        };
        for k in 0..3 {
            assert!(mae(3) < mae(k), "{}", Estimator::LEARNED[k].name());
        }
        for k in 0..4 {
            let covered = found
                .iter()
                .zip(&test)
                .filter(|(f, e)| f[k].covers(e.truth))
                .count();
            assert!(
                (1700..1900).contains(&covered),
                "{}: {covered}",
                Estimator::LEARNED[k].name()
            );
        }
    }

    #[test]
    fn a_part_that_is_never_wrong_is_believed() {
        let exact: Vec<Example> = population(40, 3)
            .into_iter()
            .map(|mut e| {
                e.components.p_irt = e.truth;
                e
            })
            .collect();
        let stacker = Stacker::train(&exact, &[]).unwrap();
        assert!(stacker.weights[1] > 0.9 && stacker.lambda < 1e-9);
        assert_eq!(Stacker::train(&exact[..2], &[]), None);
    }

    #[test]
    fn intervals_are_as_wide_as_errors_on_models_that_the_choice_did_not_know() {
        let train = population(60, 4);
        let spoilt: Vec<Example> = population(60, 5)
            .into_iter()
            .map(|mut e| {
                e.components.aipw += if e.truth > 0.5 { 0.3 } else { -0.3 };
                e
            })
            .collect();
        let rest = train
            .iter()
            .map(|e| (e.components.scores.clone(), e.truth))
            .collect();
        let refitted = [Refitted {
            rest,
            held_out: spoilt,
        }];
        let of = |refitted: &[Refitted]| {
            let stacker = Stacker::train(&train, refitted).unwrap();
            stacker.estimate(&train[0].components, 0.9)
        };
        let (own, other) = (of(&[]), of(&refitted));
        assert_eq!(own.map(|i| i.estimate), other.map(|i| i.estimate));
        assert!(other[0].half_width() > 1.5 * own[0].half_width());
    }
}
