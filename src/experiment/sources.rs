//! How many training models it takes: error against their number, with the same test models.

use rand::seq::SliceRandom;

use super::curve::falling;
use super::metrics::Metrics;
use super::settings::Settings;
use super::trial::Trial;
use crate::anchors::SelectionKind;
use crate::data::{Benchmark, Split, split};
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::progress::{Observer, Part as Stretch};
use crate::random::{Stream, rng};

/// A number of training models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceCount {
    /// So many.
    Of(usize),
    /// All that the split leaves.
    All,
}

/// One selection and estimator on one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceRow {
    /// Index of the scenario; `None` for the mean over scenarios.
    pub scenario: Option<usize>,
    /// How the items were chosen.
    pub selection: SelectionKind,
    /// The estimator.
    pub estimator: Estimator,
    /// Mean over seeds of the MAE for each of [`Sources::counts`], and its sample deviation over seeds (`None` for one
    /// seed); `None` where so few models cannot train it.
    pub mae: Vec<Option<(f64, Option<f64>)>>,
}

/// Error against the number of training models.
#[derive(Debug, Clone, PartialEq)]
pub struct Sources {
    /// Numbers of training models, rising; the last is all of them (the fewest that a seed's split leaves).
    pub counts: Vec<usize>,
    /// By scenario (the mean over them last), selection and method.
    pub rows: Vec<SourceRow>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// An error within this factor of the error with all training models is as good.
const AS_GOOD: f64 = 1.1;

impl SourceRow {
    /// The place in [`Sources::counts`] from which on the error, made non-increasing, is within a tenth of that with all
    /// models; `None` where that with all is unknown.
    pub fn enough(&self) -> Option<usize> {
        let first = self.mae.iter().position(Option::is_some)?;
        let known: Vec<f64> = self.mae[first..]
            .iter()
            .map(|m| m.map(|(mae, _)| mae))
            .collect::<Option<_>>()?;
        let smooth = falling(&known);
        let all = smooth.last()?;
        let at = smooth.iter().position(|e| *e <= AS_GOOD * all)?;
        Some(first + at)
    }

    /// Error with all training models.
    pub fn with_all(&self) -> Option<f64> {
        self.mae.last().copied().flatten().map(|(mae, _)| mae)
    }
}

impl Sources {
    /// The row with the smallest error where all models train.
    pub fn best(&self, scenario: Option<usize>) -> Option<&SourceRow> {
        let of = self.rows.iter().filter(|r| r.scenario == scenario);
        of.filter_map(|r| Some((r, r.with_all()?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(r, _)| r)
    }
}

type Key = (Option<usize>, SelectionKind, Estimator);

/// For each of `seeds` seeds from `settings.seed` on: the split's training models in a seeded order, the first L of them
/// for every L of `counts` (so that more models contain the fewer), all else fitted and chosen anew, and the MAE over the
/// same test models with `settings.n` items a scenario. Numbers of at least that of all models are left out with a warning,
/// and so are numbers too small to fit; all is always tried.
///
/// # Errors
/// No seeds; as [`split`] and, with all models, [`Trial::fit`].
pub fn sources(
    benchmark: &Benchmark,
    settings: &Settings,
    counts: &[SourceCount],
    seeds: usize,
    observer: &dyn Observer,
) -> Result<Sources> {
    let splits: Vec<Split> = (0..seeds)
        .map(|k| split(benchmark, &settings.split, settings.seed + k as u64))
        .collect::<Result<_>>()?;
    let Some(all) = splits.iter().map(|s| s.train.len()).min() else {
        return Err(Error::setting("no seeds", "ask for one at least"));
    };
    let mut warnings: Vec<String> = Vec::new();
    let mut warn = |w: String| {
        if !warnings.contains(&w) {
            warnings.push(w);
        }
    };
    let mut tried: Vec<usize> = Vec::new();
    for count in counts {
        match *count {
            SourceCount::Of(l) if l >= all => warn(format!(
                "{l} training models: the split leaves {all}, which all are"
            )),
            SourceCount::Of(l) => tried.push(l),
            SourceCount::All => {}
        }
    }
    tried.push(all);
    tried.sort_unstable();
    tried.dedup();
    // One list a number of models, one number a seed.
    let mut found: Vec<(Key, Vec<Vec<f64>>)> = Vec::new();
    for (k, whole) in splits.iter().enumerate() {
        let settings = Settings {
            seed: settings.seed + k as u64,
            ..settings.clone()
        };
        let mut order = whole.train.clone();
        order.shuffle(&mut rng(settings.seed, Stream::Sources));
        for (c, &count) in tried.iter().enumerate() {
            let at = |x: f64| (k as f64 + (c as f64 + x) / tried.len() as f64) / seeds as f64;
            let label = format!("seed {}, {count} training models", settings.seed);
            let stretch = Stretch::new(observer, label, at(0.0), at(1.0));
            let mut train = order[..count].to_vec();
            train.sort_unstable();
            let divided = Split {
                train,
                ..whole.clone()
            };
            let trial = match Trial::fit(benchmark, &divided, &settings, &stretch) {
                Ok(trial) => trial,
                Err(Error::Setting { what, .. }) if count < all => {
                    warn(format!("{count} training models are too few: {what}"));
                    continue;
                }
                Err(e) => return Err(e),
            };
            if count == all {
                trial.fitted.warnings.iter().cloned().for_each(&mut warn);
            }
            for &kind in &settings.selections {
                for judged in trial.judge(kind, &settings, false, observer)? {
                    for (m, method) in Estimator::ALL.into_iter().enumerate() {
                        let key = (judged.scenario, kind, method);
                        let row = found.iter().position(|(k, _)| *k == key);
                        let row = row.unwrap_or_else(|| {
                            found.push((key, vec![Vec::new(); tried.len()]));
                            found.len() - 1
                        });
                        found[row].1[c].extend(Metrics::of(&judged.pairs(m)).mae);
                    }
                }
            }
        }
    }
    found.sort_by_key(|((scenario, selection, method), _)| {
        (scenario.is_none(), *scenario, *selection, *method)
    });
    let rows = found
        .into_iter()
        .map(|((scenario, selection, method), maes)| SourceRow {
            scenario,
            selection,
            estimator: method,
            mae: maes.iter().map(|of| mean_and_sd(of, seeds)).collect(),
        })
        .collect();
    Ok(Sources {
        counts: tried,
        rows,
        warnings,
    })
}

/// `None` unless every seed has a value.
fn mean_and_sd(values: &[f64], seeds: usize) -> Option<(f64, Option<f64>)> {
    if values.len() < seeds {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((
        mean,
        (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::cases::{benchmark, few};
    use crate::experiment::{fit_benchmark, rows, run};
    use crate::progress::Silent;

    #[test]
    fn enough_is_where_the_error_stays_within_a_tenth() {
        let row = |maes: &[f64]| SourceRow {
            scenario: None,
            selection: SelectionKind::Random,
            estimator: Estimator::ALL[0],
            mae: maes
                .iter()
                .map(|m| (!m.is_nan()).then_some((*m, None)))
                .collect(),
        };
        assert_eq!(row(&[4.0, 2.5, 2.1, 2.0]).enough(), Some(2));
        // Noise does not count as getting worse.
        assert_eq!(row(&[4.0, 2.0, 2.2, 2.0]).enough(), Some(1));
        assert_eq!(row(&[f64::NAN, 4.0, 2.0]).enough(), Some(2));
        assert_eq!(row(&[2.0, f64::NAN]).enough(), None);
        assert_eq!(row(&[2.0]).enough(), Some(0));
    }

    #[test]
    fn all_models_give_what_a_run_gives_and_numbers_beyond_are_said() {
        let b = benchmark();
        let settings = Settings { n: 12, ..few() };
        let counts = [
            SourceCount::Of(500),
            SourceCount::Of(12),
            SourceCount::All,
            SourceCount::Of(5),
        ];
        let found = sources(&b, &settings, &counts, 1, &Silent).unwrap();
        assert_eq!(found.counts, [5, 12, 30]);
        assert!(found.warnings[0].contains("500 training models: the split leaves 30"));
        assert_eq!(found.rows.len(), 3 * 3 * 7);
        let split = split(&b, &settings.split, 0).unwrap();
        let fitted = fit_benchmark(&b, &split, &settings, &Silent).unwrap();
        let plain = run(&b, &fitted, &settings, &Silent).unwrap();
        for (kind, plain) in SelectionKind::ALL.into_iter().zip(&plain) {
            let paper = rows(&plain[0], settings.lambda);
            for (k, row) in paper.iter().take(3).enumerate() {
                let ours = found.rows.iter().find(|r| {
                    (r.scenario, r.selection, r.estimator) == (Some(0), kind, Estimator::ALL[k])
                });
                let ours = ours.unwrap().with_all().unwrap();
                assert!((ours - row.metrics.mae.unwrap()).abs() < 1e-12);
            }
        }
        let best = found.best(None).unwrap();
        assert!(best.mae[2].unwrap().1.is_none() && best.enough().is_some());
        assert!(sources(&b, &settings, &counts, 0, &Silent).is_err());
    }
}
