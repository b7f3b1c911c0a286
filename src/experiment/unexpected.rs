//! Models that are right on items that they should get wrong: what contamination looks like, among other things.

use std::ops::Range;

use rayon::prelude::*;

use super::fitted::{FittedScenario, fit_benchmark};
use super::folds::Folds;
use super::settings::{Scope, Settings};
use crate::data::{Benchmark, Split};
use crate::error::Result;
use crate::irt::{ItemParameters, ability};
use crate::progress::{Observer, Part as Stretch};

/// A model that is right on hard items of a set more often than models of like ability are.
///
/// That is no proof of a leak: a speciality, another prompt or tools do the same. The name says what was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Unexpected {
    /// Row of the matrix.
    pub model: usize,
    /// Index of the scenario.
    pub scenario: usize,
    /// The sub-scenario (an index in the scenario) that the set is; `None`: the whole scenario.
    pub part: Option<usize>,
    /// Items of the set that the model should rather get wrong: predicted probability below 1/2.
    pub hard: usize,
    /// Sum of its scores on them.
    pub right: f64,
    /// Sum of the predicted probabilities, moved by what models of like ability are above or below theirs.
    pub expected: f64,
    /// How many standard deviations lie between.
    pub deviations: f64,
    /// Holm's adjusted p value over everything tested.
    pub p: f64,
    /// Matrix columns of the least expected right items: score at least 1/2, smallest predicted probability first.
    pub items: Vec<usize>,
}

/// Below so many right answers expected on hard items of a set a model is not tested: normal tails would be wrong.
const EXPECTED: f64 = 5.0;
/// Models of like ability that one is compared with.
const ALIKE: usize = 20;
/// Error rate over everything tested: of benchmarks without any such model about one in twenty names one.
const LEVEL: f64 = 0.05;
/// How many items are named.
const NAMED: usize = 5;

/// What is seen of one model on one set.
#[derive(Clone)]
struct Seen {
    model: usize,
    /// Predicted mean score on the scenario: the ability that models are alike in.
    ability: f64,
    hard: usize,
    right: f64,
    expected: f64,
    variance: f64,
}

/// Tests every model on every scenario and sub-scenario; with how many tests of a model on a set there were.
///
/// Each answer is predicted from what it had no part in: the item parameters of a fit without the model's fold (all models
/// are divided into [`super::FOLDS`]), and the ability from other items of the model: for a sub-scenario those outside it,
/// for the whole scenario the other half (even, odd). With y the scores and P the predictions on the items of a set with
/// P < 1/2,
///
///   z = sum (y - P) / sqrt(sum P (1 - P)),
///
/// and because no model of responses is exact, z is measured against other models: the median z of the 20 models of the
/// nearest predicted score is taken off, and what is left is divided by its robust scale over all models (1.4826 median
/// absolute deviation) where that is above 1. One-sided normal tails, Holm's correction over all models and sets at .05.
/// Scores between 0 and 1 vary less than answers, which only makes the test careful.
///
/// A set is tested on models that are expected at least 5 right hard items, and where 21 such models are. Items that most
/// models know by heart look easy and are not found; and a model right on everything has no hard items. Found is who stands
/// out. Sorted by p.
///
/// # Errors
/// As [`fit_benchmark`] on all models; the scope is that of a scenario.
pub fn unexpectedly_right(
    benchmark: &Benchmark,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<(Vec<Unexpected>, usize)> {
    let settings = Settings {
        scope: Scope::Scenario,
        ..settings.clone()
    };
    let all = Split::all_train(benchmark);
    let whole = Stretch::new(observer, "", 0.0, 0.4);
    let fitted = fit_benchmark(benchmark, &all, &settings, &whole)?;
    let folds = Folds::fit(benchmark, &fitted, &Stretch::new(observer, "", 0.4, 1.0))?;
    let mut found = Vec::new();
    let mut tested = 0;
    for s in 0..fitted.scenarios.len() {
        let index = fitted.scenarios[s].index;
        let scenario = &benchmark.scenarios[index];
        let folds: Vec<(&FittedScenario, ItemParameters)> = folds
            .folds
            .iter()
            .map(|f| (&f.scenarios[s], f.scenarios[s].items()))
            .collect();
        let whole = predictions(benchmark, &folds, &settings, None);
        let mut sets: Vec<Option<usize>> = vec![None];
        if scenario.subscenarios.len() > 1 {
            sets.extend((0..scenario.subscenarios.len()).map(Some));
        }
        for part in sets {
            observer.check()?;
            let items = part.map_or(0..scenario.n_items(), |k| {
                scenario.subscenarios[k].items.clone()
            });
            let again = part.map(|_| predictions(benchmark, &folds, &settings, Some(&items)));
            let mut predicted = again.unwrap_or_else(|| whole.clone());
            for (one, of) in predicted.iter_mut().zip(&whole) {
                one.ability = of.ability;
            }
            let seen: Vec<Seen> = predicted
                .iter()
                .map(|p| p.on(items.clone()))
                .filter(|s| s.expected >= EXPECTED && s.variance > 0.0)
                .collect();
            let judged = against_alike(&seen);
            tested += judged.len();
            for (s, (middle, deviations)) in seen.iter().zip(judged) {
                let p = upper_tail(deviations);
                if p > LEVEL {
                    continue;
                }
                let of = predicted.iter().find(|p| p.model == s.model);
                found.push(Unexpected {
                    model: s.model,
                    scenario: index,
                    part,
                    hard: s.hard,
                    right: s.right,
                    expected: s.expected + middle * s.variance.sqrt(),
                    deviations,
                    p,
                    items: of.map_or(Vec::new(), |p| {
                        let named = p.surprises(items.clone());
                        named.into_iter().map(|i| scenario.columns[i]).collect()
                    }),
                });
            }
        }
    }
    found.sort_by(|a, b| a.p.total_cmp(&b.p));
    let mut least: f64 = 0.0;
    for (rank, f) in found.iter_mut().enumerate() {
        least = least.max((f.p * (tested - rank) as f64).min(1.0));
        f.p = least;
    }
    found.retain(|f| f.p <= LEVEL);
    Ok((found, tested))
}

/// Most answers that an ability is taken from: evenly spaced ones of more, for the time it takes.
const KNOWN: usize = 1000;

/// A model's scores on a scenario and what they were predicted to be, by position; NaN where not answered or
/// not of the set.
#[derive(Clone)]
struct Predicted {
    model: usize,
    y: Vec<f64>,
    p: Vec<f64>,
    ability: f64,
}

/// Every model's, in the order of folds.
fn predictions(
    benchmark: &Benchmark,
    folds: &[(&FittedScenario, ItemParameters)],
    settings: &Settings,
    set: Option<&Range<usize>>,
) -> Vec<Predicted> {
    let of_fold = |(fold, items): &(&FittedScenario, ItemParameters)| -> Vec<Predicted> {
        let one = |&model: &usize| predict(benchmark, fold, items, model, settings, set);
        fold.test.par_iter().map(one).collect()
    };
    folds.iter().flat_map(of_fold).collect()
}

/// Of a set its items from the answers on those outside; without one each half from the other.
fn predict(
    benchmark: &Benchmark,
    fold: &FittedScenario,
    items: &ItemParameters,
    model: usize,
    settings: &Settings,
    set: Option<&Range<usize>>,
) -> Predicted {
    let y: Vec<f64> = benchmark
        .scores(model, &benchmark.scenarios[fold.index].columns)
        .into_iter()
        .map(|y| match fold.threshold {
            Some(c) if !y.is_nan() => f64::from(y > c),
            _ => y,
        })
        .collect();
    let mut p = vec![f64::NAN; y.len()];
    let mut from = |known: &dyn Fn(usize) -> bool, wanted: &dyn Fn(usize) -> bool| {
        let rest: Vec<usize> = (0..y.len()).filter(|&i| known(i)).collect();
        let every = rest.len().div_ceil(KNOWN).max(1);
        let rest: Vec<usize> = rest.into_iter().step_by(every).collect();
        let answers: Vec<f64> = rest.iter().map(|&i| y[i]).collect();
        let prior = &fold.fit.ability_prior;
        let theta = ability(&items.select(&rest), &answers, prior, settings.ability);
        let wanted: Vec<usize> = (0..y.len())
            .filter(|&i| wanted(i) && !y[i].is_nan())
            .collect();
        let found = theta.probabilities(&items.select(&wanted));
        wanted.into_iter().zip(found).for_each(|(i, x)| p[i] = x);
    };
    match set {
        Some(set) => from(&|i| !set.contains(&i), &|i| set.contains(&i)),
        None => (0..2).for_each(|half| from(&|i| i % 2 == half, &|i| i % 2 != half)),
    }
    let answered: Vec<f64> = p.iter().copied().filter(|p| !p.is_nan()).collect();
    Predicted {
        model,
        ability: answered.iter().sum::<f64>() / answered.len().max(1) as f64,
        y,
        p,
    }
}

impl Predicted {
    fn on(&self, items: Range<usize>) -> Seen {
        let mut seen = Seen {
            model: self.model,
            ability: self.ability,
            hard: 0,
            right: 0.0,
            expected: 0.0,
            variance: 0.0,
        };
        for i in items.filter(|&i| self.p[i] < 0.5) {
            seen.hard += 1;
            seen.right += self.y[i];
            seen.expected += self.p[i];
            seen.variance += self.p[i] * (1.0 - self.p[i]);
        }
        seen
    }

    /// Positions of the least expected right items.
    fn surprises(&self, items: Range<usize>) -> Vec<usize> {
        let mut right: Vec<usize> = items
            .filter(|&i| self.p[i] < 0.5 && self.y[i] >= 0.5)
            .collect();
        right.sort_by(|&i, &j| self.p[i].total_cmp(&self.p[j]));
        right.truncate(NAMED);
        right
    }
}

/// For each model the median z of those of like ability, and by how many robust deviations its own z lies above that; empty
/// where there are too few models.
fn against_alike(seen: &[Seen]) -> Vec<(f64, f64)> {
    if seen.len() <= ALIKE {
        return Vec::new();
    }
    let z = |s: &Seen| (s.right - s.expected) / s.variance.sqrt();
    let middles: Vec<f64> = seen
        .iter()
        .map(|one| {
            let mut others: Vec<&Seen> = seen.iter().filter(|s| s.model != one.model).collect();
            let far = |s: &Seen| (s.ability - one.ability).abs();
            others.sort_by(|a, b| far(a).total_cmp(&far(b)));
            median(others.iter().take(ALIKE).map(|s| z(s)).collect())
        })
        .collect();
    let above = |(s, middle): (&Seen, &f64)| z(s) - middle;
    let off: Vec<f64> = seen.iter().zip(&middles).map(above).collect();
    let scale = 1.4826 * median(off.iter().map(|x| x.abs()).collect());
    let scale = scale.max(1.0);
    middles
        .into_iter()
        .zip(off)
        .map(|(middle, off)| (middle, off / scale))
        .collect()
}

/// Of at least one value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 {
        values[half]
    } else {
        (values[half - 1] + values[half]) / 2.0
    }
}

/// P(Z > z) of a standard normal for z of 1 or more, by Laplace's continued fraction (Abramowitz and Stegun 26.2.14);
/// below 1 no less than it is: 1.
fn upper_tail(z: f64) -> f64 {
    if z.is_nan() || z < 1.0 {
        return 1.0;
    }
    let fraction = (1..=100).rev().fold(z, |rest, k| z + f64::from(k) / rest);
    (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() / fraction
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::data::{Aggregate, ItemTexts, MatrixBuilder, Scenario, SubScenario};
    use crate::irt::sigmoid;
    use crate::progress::Silent;
    use crate::random::{Stream, rng};

    const MODELS: usize = 60;
    const ITEMS: usize = 240;

    /// Two sub-scenarios; ability, discrimination, difficulty and a guessing floor. `leaked` tells which answers are known
    /// by heart.
    fn drawn(seed: u64, floor: f64, leaked: impl Fn(usize, usize, f64) -> bool) -> Benchmark {
        let mut random = rng(seed, Stream::Simulate(0));
        let mut normal = |sd: f64| {
            let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum();
            sd * (sum - 6.0)
        };
        let theta: Vec<f64> = (0..MODELS).map(|_| normal(1.0)).collect();
        let items: Vec<(f64, f64)> = (0..ITEMS)
            .map(|_| (normal(0.3).exp(), normal(1.2)))
            .collect();
        let mut matrix = MatrixBuilder::new((0..ITEMS).map(|i| format!("i{i}")).collect());
        for (l, theta) in theta.iter().enumerate() {
            let row: Vec<f64> = items
                .iter()
                .enumerate()
                .map(|(i, (a, b))| {
                    let p = floor + (1.0 - floor) * sigmoid(a * theta - b);
                    let right = random.random::<f64>() < p;
                    f64::from(right || leaked(l, i, random.random::<f64>()))
                })
                .collect();
            matrix.push(format!("m{l}"), &row);
        }
        let part = |name: &str, items| SubScenario {
            name: name.into(),
            items,
        };
        Benchmark {
            name: "case".into(),
            origin: "case".into(),
            simulated: true,
            source: String::new(),
            licence: String::new(),
            metric: String::new(),
            notes: String::new(),
            matrix: matrix.finish(),
            scenarios: vec![Scenario {
                name: "one".into(),
                aggregate: Aggregate::Micro,
                columns: (0..ITEMS).collect(),
                subscenarios: vec![part("a", 0..80), part("b", 80..ITEMS)],
            }],
            released: Default::default(),
            organisations: Default::default(),
            texts: ItemTexts::default(),
            warnings: Vec::new(),
        }
    }

    fn found(b: &Benchmark) -> Vec<Unexpected> {
        let settings = Settings {
            dims: vec![1, 2],
            ..Settings::default()
        };
        let (found, tests) = unexpectedly_right(b, &settings, &Silent).unwrap();
        assert!(tests > 0);
        found
    }

    #[test]
    fn the_normal_tail_is_that_of_tables() {
        for (z, p) in [(1.0, 0.158_655), (1.96, 0.024_998), (4.0, 3.167e-5)] {
            assert!((upper_tail(z) / p - 1.0).abs() < 1e-4, "{z}");
        }
        assert_eq!((upper_tail(0.3), upper_tail(f64::NAN)), (1.0, 1.0));
    }

    /// Nothing is leaked, with and without a guessing floor that the model of responses does not have.
    #[test]
    fn where_nothing_is_leaked_hardly_anything_is_named() {
        let named = (0..20)
            .filter(|&seed| {
                let floor = if seed % 2 == 0 { 0.0 } else { 0.2 };
                !found(&drawn(seed, floor, |_, _, _| false)).is_empty()
            })
            .count();
        assert!(named <= 3, "{named} of 20");
    }

    /// Two models know a third of one sub-scenario by heart, or four fifths of it.
    #[test]
    fn models_that_know_items_by_heart_are_named_and_others_are_not() {
        let guilty = |l: usize| l == 7 || l == 23;
        let mut power = [0, 0];
        let mut innocent = 0;
        for seed in 0..10 {
            for (k, share) in [0.35, 0.8].into_iter().enumerate() {
                let known = |l: usize, i: usize, u: f64| guilty(l) && i < 80 && u < share;
                let found = found(&drawn(100 + seed, 0.0, known));
                let named = |l: usize| found.iter().any(|f| f.model == l);
                power[k] += usize::from(named(7)) + usize::from(named(23));
                innocent += (0..MODELS).filter(|&l| !guilty(l) && named(l)).count();
                for f in found.iter().filter(|f| guilty(f.model)) {
                    assert!(f.right > f.expected && f.p <= LEVEL && f.deviations > 3.0);
                    assert!(!f.items.is_empty() && f.items.len() <= NAMED);
                }
            }
        }
        assert!(power[0] >= 8 && power[1] >= 16, "{power:?}");
        assert!(innocent <= 3, "{innocent}");
    }
}
