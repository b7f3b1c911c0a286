//! Why there is no interval, in words.

use std::borrow::Borrow;

use super::fitted::Fitted;
use super::run::SelectionEstimates;
use super::settings::Lambda;
use super::uncertain::{LEVEL, errors};
use crate::data::{Benchmark, list};
use crate::estimate::{Calibration, Estimator};

/// Why there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Held-out errors of so few training models are known.
    Models {
        /// How many.
        known: usize,
    },
    /// So few pairs of training models were held out together: what differences are judged by.
    Pairs {
        /// How many.
        known: usize,
    },
    /// All known errors are 0.
    Exact {
        /// How many.
        known: usize,
    },
}

/// What the mean over scenarios is called.
pub(crate) const MEAN: &str = "the mean score";

/// What has no interval: where, by which estimator, why.
pub type Lacking<'a> = (&'a str, Estimator, Lack);

impl Lack {
    /// One warning for each reason.
    pub fn words(found: &[Lacking<'_>]) -> Vec<String> {
        let needed = Calibration::needed(LEVEL);
        let mut out = Vec::new();
        let named = |of: &dyn Fn(&Lacking<'_>) -> Option<String>| {
            let mut names: Vec<String> = Vec::new();
            for name in found.iter().filter_map(of) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            (!names.is_empty()).then(|| list(names.iter().map(String::as_str)))
        };
        let models = named(&|(place, _, lack)| match lack {
            Lack::Models { known } => Some(format!("{place} ({known})")),
            _ => None,
        });
        out.extend(models.map(|places| {
            format!(
                "no intervals where fewer than {needed} training models tell how large errors are: {places}"
            )
        }));
        let pairs = named(&|(place, _, lack)| match lack {
            Lack::Pairs { known } => Some(format!("{place} ({known})")),
            _ => None,
        });
        out.extend(pairs.map(|places| {
            format!(
                "no intervals of differences where fewer than {needed} pairs of training models, held out together, tell \
                 how large their errors are (it takes 12 models): {places}"
            )
        }));
        let exact = named(&|(place, estimator, lack)| match lack {
            Lack::Exact { .. } => Some(format!("{} in {place}", estimator.name())),
            _ => None,
        });
        out.extend(exact.map(|places| {
            format!(
                "no intervals where training models have no error at all, which does not tell how large others' are: {places}"
            )
        }));
        out
    }
}

/// What `found`, for each selection every scenario, has no intervals of, in words.
pub fn lacking<S: Borrow<SelectionEstimates>>(
    benchmark: &Benchmark,
    fitted: &Fitted,
    found: &[Vec<S>],
    lambda: Lambda,
) -> Vec<String> {
    let mut lacks: Vec<Lacking<'_>> = Vec::new();
    for kind in found {
        for estimator in Estimator::ALL {
            let before = lacks.len();
            for (s, f) in kind.iter().zip(&fitted.scenarios) {
                let s = s.borrow();
                let of = match s.stacker {
                    Some(_) => errors(&[s], estimator, lambda).err(),
                    None => Some(Lack::Models {
                        known: f.train.len(),
                    }),
                };
                let name = benchmark.scenarios[f.index].name.as_str();
                lacks.extend(of.map(|lack| (name, estimator, lack)));
            }
            if lacks.len() == before {
                let of = errors(kind, estimator, lambda).err();
                lacks.extend(of.map(|lack| (MEAN, estimator, lack)));
            }
        }
    }
    Lack::words(&lacks)
}
