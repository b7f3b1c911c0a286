//! The n that a wanted error needs: read from errors of test models at rising n, over several seeds.

use rand::RngExt;
use rayon::prelude::*;

use super::curve::{crossing, smooth};
use crate::random::{Stream, rng};

/// What of the errors of the test models shall be small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// Their mean absolute error.
    #[default]
    Mae,
    /// The largest.
    Max,
    /// The 90th percentile, linear between neighbours.
    P90,
}

impl Measure {
    /// `mae`, `max` or `p90`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mae => "mae",
            Self::Max => "max",
            Self::P90 => "p90",
        }
    }

    /// Of absolute errors, which it may reorder; `None` without any.
    pub fn of(self, errors: &mut [f64]) -> Option<f64> {
        let last = errors.len().checked_sub(1)?;
        Some(match self {
            Self::Mae => errors.iter().sum::<f64>() / errors.len() as f64,
            Self::Max => errors.iter().copied().fold(0.0, f64::max),
            Self::P90 => {
                errors.sort_by(f64::total_cmp);
                quantile(errors, 0.9, last)
            }
        })
    }
}

/// Resamples that a range rests on.
pub const RESAMPLES: usize = 200;

/// Absolute errors of the test models under one selection and estimator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ErrorsByN {
    /// n of each rung, rising.
    pub n: Vec<f64>,
    /// By seed and rung the errors of that seed's test models, shares of the score; NaN where a model has no estimate.
    pub seeds: Vec<Vec<Vec<f64>>>,
}

/// What a wanted error needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// Smallest n that reaches the error, rounded up; `None`: not reached.
    pub n: Option<usize>,
    /// True when the smallest n tried reaches it already: fewer may do.
    pub or_fewer: bool,
    /// Smallest error of the smooth curve, and the n tried that has it first.
    pub best: (f64, usize),
    /// (n, error as measured, error of the smooth curve), by n.
    pub curve: Vec<(usize, f64, f64)>,
}

impl ErrorsByN {
    /// Where the curve reaches the error: the mean over seeds of the measure, made smooth by isotonic regression (falling,
    /// then rising only where it plainly rises), linear in log n between rungs. `None` where nothing can be estimated.
    pub fn need(&self, error: f64, measure: Measure) -> Option<Need> {
        let whole: Vec<(usize, Vec<usize>)> = (0..self.seeds.len())
            .map(|k| (k, (0..self.models(k)).collect()))
            .collect();
        let measured = self.curve(measure, &whole)?;
        let smooth_curve = smooth(&measured);
        let reached = crossing(&self.n, &smooth_curve, error);
        let mut best = (f64::INFINITY, 0);
        for (e, n) in smooth_curve.iter().zip(&self.n) {
            if *e < best.0 {
                best = (*e, up(*n));
            }
        }
        let points = self.n.iter().zip(measured.iter().zip(&smooth_curve));
        Some(Need {
            n: reached.map(up),
            or_fewer: reached.is_some_and(|n| n <= self.n[0]) && self.n[0] > 1.0,
            best,
            curve: points
                .map(|(n, (e, s))| (n.round() as usize, *e, *s))
                .collect(),
        })
    }

    /// 5th and 95th percentile of that n over [`RESAMPLES`] resamples of the seeds and, within each, of its test models, the
    /// same ones for every n and method at the same `seed`; `None` where the error is not reached there. A resample has no
    /// error larger than the sample's, so that ranges of [`Measure::Max`] lean to small n.
    pub fn range(&self, error: f64, measure: Measure, seed: u64) -> (Option<usize>, Option<usize>) {
        let resampled: Vec<Option<f64>> = (0..RESAMPLES)
            .into_par_iter()
            .map(|k| {
                let curve = smooth(&self.curve(measure, &self.resample(k, seed))?);
                Some(crossing(&self.n, &curve, error).unwrap_or(f64::INFINITY))
            })
            .collect();
        let mut drawn: Vec<f64> = resampled.into_iter().flatten().collect();
        drawn.sort_by(f64::total_cmp);
        let end = |q: f64| {
            // The nearest rank: between a number and "not reached" lies nothing.
            let at = (q * (drawn.len().checked_sub(1)? as f64)).round() as usize;
            drawn.get(at).filter(|n| n.is_finite()).map(|n| up(*n))
        };
        (end(0.05), end(0.95))
    }

    /// Test models of a seed.
    fn models(&self, seed: usize) -> usize {
        self.seeds[seed].first().map_or(0, Vec::len)
    }

    /// The mean over seeds of the measure at every rung; `draw` names (seed, its models) to take. `None` where no seed has
    /// an estimate.
    fn curve(&self, measure: Measure, draw: &[(usize, Vec<usize>)]) -> Option<Vec<f64>> {
        let mut errors = Vec::new();
        let point = |rung: usize| {
            let (mut sum, mut count) = (0.0, 0.0);
            for (seed, models) in draw {
                let of = &self.seeds[*seed][rung];
                // The explorer resamples at every step of lambda: the mean needs no copy.
                if measure == Measure::Mae {
                    let known = models.iter().map(|&m| of[m]).filter(|e| !e.is_nan());
                    let (total, n) = known.fold((0.0, 0usize), |(s, n), e| (s + e, n + 1));
                    if n > 0 {
                        sum += total / n as f64;
                        count += 1.0;
                    }
                    continue;
                }
                errors.clear();
                errors.extend(models.iter().map(|&m| of[m]).filter(|e| !e.is_nan()));
                if let Some(x) = measure.of(&mut errors) {
                    sum += x;
                    count += 1.0;
                }
            }
            (count > 0.0).then(|| sum / count)
        };
        (0..self.n.len()).map(point).collect()
    }

    /// Seeds, and the models of each, drawn with replacement.
    fn resample(&self, draw: usize, seed: u64) -> Vec<(usize, Vec<usize>)> {
        let mut random = rng(seed, Stream::Resample(draw));
        (0..self.seeds.len())
            .map(|_| {
                let k = random.random_range(0..self.seeds.len());
                let models = self.models(k);
                let drawn = (0..models).map(|_| random.random_range(0..models));
                (k, drawn.collect())
            })
            .collect()
    }
}

/// An n between rungs, rounded up.
fn up(n: f64) -> usize {
    (n - 1e-9).ceil() as usize
}

/// Of sorted values, linear between neighbours; `last` is the largest index.
fn quantile(sorted: &[f64], q: f64, last: usize) -> f64 {
    let rank = q * last as f64;
    let (below, above) = (rank.floor() as usize, rank.ceil() as usize);
    sorted[below] + (rank - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors of 40 models over two seeds, uniform with mean `at(n)`, the same models at every n.
    fn errors(at: impl Fn(f64) -> f64) -> ErrorsByN {
        let n = [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 400.0];
        let seeds = (0..2).map(|k| {
            let mut random = rng(k, Stream::Simulate(0));
            let size: Vec<f64> = (0..40).map(|_| 2.0 * random.random::<f64>()).collect();
            n.iter()
                .map(|&n| size.iter().map(|s| s * at(n)).collect())
                .collect()
        });
        ErrorsByN {
            n: n.to_vec(),
            seeds: seeds.collect(),
        }
    }

    #[test]
    fn a_known_curve_gives_the_known_n_and_a_range_around_it() {
        let errors = errors(|n| 0.2 / n.sqrt());
        let n = errors.need(0.02, Measure::Mae).unwrap().n.unwrap() as f64;
        // The mean of the sizes is near 1: (.2 / .02)^2.
        assert!((80.0..125.0).contains(&n), "{n}");
        let (low, high) = errors.range(0.02, Measure::Mae, 0);
        let (low, high) = (low.unwrap() as f64, high.unwrap() as f64);
        assert!(low < n && n < high && low > 0.5 * n && high < 2.0 * n);
        // Larger errors take more.
        let order = [Measure::Mae, Measure::P90, Measure::Max]
            .map(|m| errors.need(0.025, m).unwrap().n.unwrap());
        assert!(order[0] < order[1] && order[1] < order[2], "{order:?}");
    }

    #[test]
    fn a_floor_is_not_reached_and_says_how_near_it_came() {
        let errors = errors(|n| 0.03 + 0.2 / n);
        let need = errors.need(0.02, Measure::Mae).unwrap();
        assert_eq!((need.n, need.best.1), (None, 400));
        assert!(need.best.0 > 0.02);
        assert_eq!(errors.range(0.02, Measure::Mae, 0).1, None);
        // What the smallest n reaches, fewer may.
        let need = errors.need(0.5, Measure::Mae).unwrap();
        assert_eq!((need.n, need.or_fewer), (Some(5), true));
        assert_eq!(
            ErrorsByN::default().need(0.02, Measure::Mae).unwrap().n,
            None
        );
    }

    #[test]
    fn a_model_without_an_estimate_does_not_count() {
        let of = |x: f64| ErrorsByN {
            n: vec![10.0, 20.0],
            seeds: vec![vec![vec![0.05, x], vec![0.01, x]]],
        };
        let need = of(f64::NAN).need(0.02, Measure::Max).unwrap();
        assert_eq!(need.curve, [(10, 0.05, 0.05), (20, 0.01, 0.01)]);
        assert_eq!(of(0.06).need(0.02, Measure::Max).unwrap().n, None);
        let none = ErrorsByN {
            n: vec![10.0],
            seeds: vec![vec![vec![f64::NAN]]],
        };
        assert_eq!(none.need(0.02, Measure::Mae), None);
        assert_eq!(none.range(0.02, Measure::Mae, 0), (None, None));
    }

    #[test]
    fn measures_of_errors() {
        let errors = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 0.9];
        let of = |m: Measure| m.of(&mut errors.to_vec()).unwrap();
        assert!((of(Measure::Mae) - 0.5).abs() < 1e-12);
        assert_eq!(of(Measure::Max), 1.0);
        assert!((of(Measure::P90) - 0.9).abs() < 1e-12);
        assert_eq!(Measure::P90.of(&mut []), None);
    }
}
