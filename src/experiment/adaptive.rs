//! Adaptive tests of a fitted benchmark: what is learned for them from training models, and those of its test models.

use rayon::prelude::*;

use super::fitted::{Fitted, FittedScenario};
use super::folds::Folds;
use crate::anchors::{AdaptiveTest, Outcome, Pool, Rule};
use crate::data::{Benchmark, weighted_mean};
use crate::error::Result;
use crate::estimate::{AdaptiveCalibration, Interval, Known};
use crate::irt::{AbilityMethod, ability};
use crate::progress::{Observer, Part as Stretch};

/// A scenario ready for adaptive tests of any model.
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptive {
    /// Its items.
    pub pool: Pool,
    /// Correction and intervals.
    pub calibration: AdaptiveCalibration,
}

impl Adaptive {
    /// A test of a new model.
    pub fn test(&self) -> AdaptiveTest<'_> {
        AdaptiveTest::new(&self.pool, self.calibration.rule)
    }
}

/// When a test ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// After so many answers.
    pub n: usize,
    /// Once the interval reaches no further than this to either side, after an answer at least.
    pub half_width: Option<f64>,
}

impl Stop {
    /// Whether it ends after these many answers, with an interval of this half width.
    pub fn ends(&self, answered: usize, half_width: f64) -> bool {
        let narrow = |wanted| answered > 0 && half_width <= wanted;
        answered >= self.n || self.half_width.is_some_and(narrow)
    }
}

/// One test model's adaptive test.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptiveEstimate {
    /// Row of the matrix.
    pub model: usize,
    /// True score.
    pub truth: f64,
    /// Items asked, by position, in order.
    pub items: Vec<usize>,
    /// Before the first answer, and after each.
    pub estimates: Vec<Interval>,
}

/// Learns dispersions, correction and intervals for tests of up to `n` items of each fitted scenario, in order: the training
/// models held out of each fold are tested adaptively by that fold's fit and the dispersions that the other folds give. No
/// test model is read.
///
/// Each scenario has its own ability, whatever the scope of the fit.
///
/// # Errors
/// Cancellation.
pub fn train_adaptive(
    benchmark: &Benchmark,
    fitted: &Fitted,
    folds: &Folds,
    rule: Rule,
    n: usize,
    level: f64,
    observer: &dyn Observer,
) -> Result<Vec<Adaptive>> {
    let count = fitted.scenarios.len() as f64;
    let each = fitted.scenarios.iter().enumerate();
    each.map(|(s, scenario)| {
        let name = &benchmark.scenarios[scenario.index].name;
        let label = format!("adaptive tests on {name}");
        let stretch = Stretch::new(observer, label, s as f64 / count, (s + 1) as f64 / count);
        let parts: Vec<&FittedScenario> = folds.folds.iter().map(|f| &f.scenarios[s]).collect();
        train_scenario(benchmark, scenario, &parts, rule, n, level, &stretch)
    })
    .collect()
}

fn train_scenario(
    benchmark: &Benchmark,
    scenario: &FittedScenario,
    parts: &[&FittedScenario],
    rule: Rule,
    n: usize,
    level: f64,
    observer: &dyn Observer,
) -> Result<Adaptive> {
    let residuals: Vec<Residuals> = parts.iter().map(|p| Residuals::of(benchmark, p)).collect();
    let columns = &benchmark.scenarios[scenario.index].columns;
    // Once all is answered the score is known.
    let numbers = numbers(n.min(columns.len().saturating_sub(1)));
    let mut known: Vec<(usize, Vec<Known>)> = numbers.iter().map(|&n| (n, Vec::new())).collect();
    for (fold, part) in parts.iter().enumerate() {
        observer.check()?;
        let others = residuals.iter().enumerate().filter(|(k, _)| *k != fold);
        let pool = pool(part, dispersion(others.map(|(_, r)| r)))?;
        let tested = spread(&part.test, REPLAYED.div_ceil(parts.len()));
        let paths: Vec<Vec<Known>> = tested
            .par_iter()
            .map(|&model| {
                let y = benchmark.scores(model, columns);
                let Some(truth) = weighted_mean(&part.balance, &y) else {
                    return Vec::new();
                };
                let mut path = Vec::new();
                follow(&pool, rule, &y, |outcome| {
                    if outcome.unseen > 0.0 && numbers.binary_search(&outcome.answered).is_ok() {
                        path.push(Known { truth, outcome });
                    }
                    observer.cancelled() || outcome.answered >= n
                });
                path
            })
            .collect();
        for path in paths {
            for (models, one) in known.iter_mut().zip(path) {
                models.1.push(one);
            }
        }
    }
    observer.check()?;
    let dispersion = dispersion(residuals.iter());
    Ok(Adaptive {
        pool: pool(scenario, dispersion.clone())?,
        calibration: AdaptiveCalibration::learn(rule, level, dispersion, &known),
    })
}

/// As many training models are tested at most: more would tell little more.
const REPLAYED: usize = 150;

/// At most so many of them, evenly spread.
fn spread(models: &[usize], most: usize) -> Vec<usize> {
    let count = models.len().min(most);
    (0..count)
        .map(|k| models[k * models.len() / count])
        .collect()
}

/// Numbers of answers that are calibrated: 0 to 10, then ever further apart, up to n.
fn numbers(n: usize) -> Vec<usize> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < n {
        out.push(at);
        at += 1 + at / 8;
    }
    out.push(n);
    out
}

/// Adaptive tests of the test models, each over the items that it answered; one list a scenario, in row order.
///
/// # Errors
/// Cancellation.
pub fn estimate_adaptive(
    benchmark: &Benchmark,
    fitted: &Fitted,
    trained: &[Adaptive],
    stop: Stop,
    observer: &dyn Observer,
) -> Result<Vec<Vec<AdaptiveEstimate>>> {
    let each = fitted.scenarios.iter().zip(trained);
    each.map(|(scenario, adaptive)| {
        observer.check()?;
        let columns = &benchmark.scenarios[scenario.index].columns;
        let one = |&model: &usize| {
            let y = benchmark.scores(model, columns);
            let truth = weighted_mean(&scenario.balance, &y)?;
            let mut estimates = Vec::new();
            let calibration = &adaptive.calibration;
            let test = follow(&adaptive.pool, calibration.rule, &y, |outcome| {
                let (estimate, half) = calibration.estimate(&outcome);
                estimates.push(Interval::around(estimate, half));
                observer.cancelled() || stop.ends(outcome.answered, half)
            });
            Some(AdaptiveEstimate {
                model,
                truth,
                items: test.order().to_vec(),
                estimates,
            })
        };
        Ok(scenario.test.par_iter().filter_map(one).collect())
    })
    .collect()
}

/// Asks a model with these scores, NaN where missing, until `ended` says so or nothing is left; it hears of every outcome.
fn follow<'a>(
    pool: &'a Pool,
    rule: Rule,
    y: &[f64],
    mut ended: impl FnMut(Outcome) -> bool,
) -> AdaptiveTest<'a> {
    let mut test = AdaptiveTest::over(pool, rule, y.iter().map(|y| !y.is_nan()).collect());
    while !ended(test.outcome()) {
        let Some(item) = test.next_item() else { break };
        if test.answer(item, y[item]).is_err() {
            break;
        }
    }
    test
}

fn pool(scenario: &FittedScenario, dispersion: Vec<f64>) -> Result<Pool> {
    Pool::new(
        scenario.items(),
        scenario.balance.clone(),
        dispersion,
        scenario.fit.ability_prior.clone(),
        scenario.threshold,
    )
}

/// How far scores are from what is predicted at the ability that all of a model's answers tell, over the models held out of
/// a fold: sums of e = (y - P)^2 and v = P (1 - P), by item, and of their products over all.
struct Residuals {
    e: Vec<f64>,
    v: Vec<f64>,
    ee: f64,
    ev: f64,
    vv: f64,
}

impl Residuals {
    fn of(benchmark: &Benchmark, scenario: &FittedScenario) -> Self {
        let columns = &benchmark.scenarios[scenario.index].columns;
        let (items, prior) = (scenario.items(), &scenario.fit.ability_prior);
        let each: Vec<Vec<Option<(f64, f64)>>> = scenario
            .test
            .par_iter()
            .map(|&model| {
                let mut y = benchmark.scores(model, columns);
                if let Some(c) = scenario.threshold {
                    for y in y.iter_mut().filter(|y| !y.is_nan()) {
                        *y = f64::from(u8::from(*y > c));
                    }
                }
                let theta = ability(&items, &y, prior, AbilityMethod::Posterior);
                let p = theta.probabilities(&items);
                let one =
                    |(y, p): (&f64, &f64)| (!y.is_nan()).then(|| ((y - p).powi(2), p * (1.0 - p)));
                y.iter().zip(&p).map(one).collect()
            })
            .collect();
        let mut out = Self {
            e: vec![0.0; columns.len()],
            v: vec![0.0; columns.len()],
            ee: 0.0,
            ev: 0.0,
            vv: 0.0,
        };
        for model in each {
            for (i, found) in model.into_iter().enumerate() {
                let Some((e, v)) = found else { continue };
                out.e[i] += e;
                out.v[i] += v;
                out.ee += e * e;
                out.ev += e * v;
                out.vv += v * v;
            }
        }
        out
    }
}

/// The largest and smallest dispersion of an item.
const DISPERSIONS: (f64, f64) = (0.02, 20.0);

/// The dispersion r of every item: its own sum e / sum v shrunk to that of all, (sum e + k r) / (sum v + k) with r that of
/// all and k from how much items differ beyond chance: tau^2 = (sum over items of (sum e - r sum v)^2 - W) / sum over items
/// of (sum v)^2, W = sum over all of (e - r v)^2, k = W / (tau^2 sum v).
fn dispersion<'a>(of: impl Iterator<Item = &'a Residuals>) -> Vec<f64> {
    let (mut e, mut v) = (Vec::<f64>::new(), Vec::<f64>::new());
    let (mut ee, mut ev, mut vv) = (0.0, 0.0, 0.0);
    for r in of {
        e.resize(r.e.len(), 0.0);
        v.resize(r.v.len(), 0.0);
        e.iter_mut().zip(&r.e).for_each(|(sum, x)| *sum += x);
        v.iter_mut().zip(&r.v).for_each(|(sum, x)| *sum += x);
        ee += r.ee;
        ev += r.ev;
        vv += r.vv;
    }
    let (all_e, all_v) = (e.iter().sum::<f64>(), v.iter().sum::<f64>());
    if all_e <= 0.0 || all_v <= 0.0 {
        return vec![1.0; e.len()];
    }
    let (low, high) = DISPERSIONS;
    let all = (all_e / all_v).clamp(low, high);
    let within = (ee - 2.0 * all * ev + all * all * vv).max(0.0);
    let between: f64 = e.iter().zip(&v).map(|(e, v)| (e - all * v).powi(2)).sum();
    let square: f64 = v.iter().map(|v| v * v).sum();
    let tau2 = ((between - within) / square).max(0.0);
    // Bounded, so that an item with next to no scatter among few models is not taken as exact.
    let typical = all_v / e.len() as f64;
    let strength = if tau2 > 0.0 {
        (within / (tau2 * all_v)).clamp(0.05 * typical, 1e3 * typical)
    } else {
        1e3 * typical
    };
    e.iter()
        .zip(&v)
        .map(|(e, v)| ((e + strength * all) / (v + strength)).clamp(low, high))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MatrixBuilder;
    use crate::experiment::cases::{few, fitted};
    use crate::progress::{CancelToken, Silent};

    const STOP: Stop = Stop {
        n: 12,
        half_width: None,
    };

    fn tests_of(
        b: &Benchmark,
        f: &Fitted,
        rule: Rule,
        stop: Stop,
    ) -> (Vec<Adaptive>, Vec<Vec<AdaptiveEstimate>>) {
        let folds = Folds::fit(b, f, &Silent).unwrap();
        let trained = train_adaptive(b, f, &folds, rule, stop.n, 0.9, &Silent).unwrap();
        let found = estimate_adaptive(b, f, &trained, stop, &Silent).unwrap();
        (trained, found)
    }

    /// The answers of test models on items that they were not asked turned around: nothing learned, asked or estimated moves.
    #[test]
    fn what_test_models_did_not_show_changes_nothing() {
        let (b, f) = fitted(&few());
        for rule in [Rule::Score, Rule::DOptimal] {
            let (trained, found) = tests_of(&b, &f, rule, STOP);
            let mut scrambled = b.clone();
            let mut matrix = MatrixBuilder::new(b.matrix.items().to_vec());
            for (l, name) in b.matrix.models().iter().enumerate() {
                let mut row = b.matrix.row(l);
                for (s, models) in f.scenarios.iter().zip(&found) {
                    let Some(m) = models.iter().find(|m| m.model == l) else {
                        continue;
                    };
                    for (at, &column) in b.scenarios[s.index].columns.iter().enumerate() {
                        if !m.items.contains(&at) {
                            row[column] = 1.0 - row[column];
                        }
                    }
                }
                matrix.push(name.clone(), &row);
            }
            scrambled.matrix = matrix.finish();
            let (again, after) = tests_of(&scrambled, &f, rule, STOP);
            assert_eq!(trained, again);
            for (a, b) in found.iter().flatten().zip(after.iter().flatten()) {
                assert_eq!(
                    (a.model, &a.items, &a.estimates),
                    (b.model, &b.items, &b.estimates)
                );
                assert_ne!(a.truth, b.truth);
            }
        }
    }

    #[test]
    fn tests_end_where_they_should() {
        let (b, f) = fitted(&few());
        let (trained, found) = tests_of(&b, &f, Rule::Score, STOP);
        for m in found.iter().flatten() {
            assert_eq!((m.items.len(), m.estimates.len()), (12, 13));
            let mut items = m.items.clone();
            items.sort_unstable();
            items.dedup();
            assert_eq!(items.len(), 12);
            assert!(
                m.estimates
                    .iter()
                    .all(|i| i.low <= i.estimate && i.estimate <= i.high)
            );
        }
        let wanted = Stop {
            n: 12,
            half_width: Some(0.12),
        };
        let short = estimate_adaptive(&b, &f, &trained, wanted, &Silent).unwrap();
        for (short, long) in short.iter().flatten().zip(found.iter().flatten()) {
            assert_eq!(short.items, long.items[..short.items.len()]);
            let (last, before) = short.estimates.split_last().unwrap();
            assert!(last.half_width() <= 0.12 + 1e-12 || short.items.len() == 12);
            assert!(
                before
                    .iter()
                    .all(|i| i.high - i.estimate > 0.12 || i.high == 1.0 || i.low == 0.0)
            );
        }
        struct Cancelled(CancelToken);
        impl Observer for Cancelled {
            fn progress(&self, _: &crate::progress::Progress) {}
            fn cancelled(&self) -> bool {
                true
            }
        }
        let stop = Cancelled(CancelToken::default());
        assert!(!stop.0.is_cancelled());
        assert!(estimate_adaptive(&b, &f, &trained, STOP, &stop).is_err());
    }

    #[test]
    fn scatter_is_found_item_by_item() {
        // Two kinds of items, one scattering four times as much; P = 1/2 for 40 models.
        let scatter = |i: usize| if i < 10 { 0.05 } else { 0.2 };
        let mut r = Residuals {
            e: vec![0.0; 20],
            v: vec![0.0; 20],
            ee: 0.0,
            ev: 0.0,
            vv: 0.0,
        };
        for i in 0..20 {
            for l in 0..40 {
                let (e, v) = (scatter(i) * (0.5 + (l % 3) as f64 / 2.0), 0.25);
                r.e[i] += e;
                r.v[i] += v;
                r.ee += e * e;
                r.ev += e * v;
                r.vv += v * v;
            }
        }
        let found = dispersion(std::iter::once(&r));
        assert!(
            found[..10].iter().all(|x| (x - 0.2).abs() < 0.05),
            "{found:?}"
        );
        assert!(
            found[10..].iter().all(|x| (x - 0.8).abs() < 0.05),
            "{found:?}"
        );
        assert_eq!(numbers(3), [0, 1, 2, 3]);
        let many = numbers(100);
        assert!(
            many.windows(2).all(|w| w[0] < w[1]) && many.last() == Some(&100) && many.len() < 40
        );
        assert_eq!(spread(&[4, 5, 6, 7, 8, 9], 3), [4, 6, 8]);
        assert_eq!(spread(&[4, 5], 3), [4, 5]);
    }
}
