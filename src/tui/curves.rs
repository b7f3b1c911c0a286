//! Error or rank correlation against n, over the seeds of the band.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{ErrorsByN, Need};

use super::job::CellKey;
use super::needs::Range;
use super::state::{Setting, State};
use super::study::{Cell, Measure, Scored, scored};

/// One value of n of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Items a scenario.
    pub(crate) n: usize,
    /// Mean over the seeds.
    pub(crate) mean: f64,
    /// Lowest of the seeds.
    pub(crate) low: f64,
    /// Highest of the seeds.
    pub(crate) high: f64,
}

/// A curve, and how many seeds it is over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// How the items are chosen.
    pub(crate) selection: SelectionKind,
    /// How scores are estimated.
    pub(crate) estimator: Estimator,
    /// In rising order of n.
    pub(crate) points: Vec<Point>,
    /// Seeds that every point is over.
    pub(crate) seeds: usize,
    /// Errors of the single models at the n of the grid, where the curve is of errors and all of the grid is there.
    pub(crate) errors: Option<ErrorsByN>,
}

/// Results by what they are of; whoever may change them makes a new version.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    map: HashMap<CellKey, Arc<Cell>>,
    version: u64,
}

impl Deref for Cells {
    type Target = HashMap<CellKey, Arc<Cell>>;

    fn deref(&self) -> &Self::Target {
        &self.map
    }
}

impl DerefMut for Cells {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.version += 1;
        &mut self.map
    }
}

/// Methods: every selection with every estimator.
pub(crate) const METHODS: usize = SelectionKind::ALL.len() * Estimator::ALL.len();

/// The selection and estimator of a method.
pub(crate) fn method(at: usize) -> (SelectionKind, Estimator) {
    let estimators = Estimator::ALL.len();
    (
        SelectionKind::ALL[at / estimators],
        Estimator::ALL[at % estimators],
    )
}

/// Curves, what an error needs of them and with which range, by method: each computed when it is first drawn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Curves {
    of: [[OnceCell<Curve>; METHODS]; 2],
    pub(super) needs: [OnceCell<Option<Need>>; METHODS],
    /// The last range of each method with what it rests on: resampling takes longer than a frame may.
    pub(super) ranges: RefCell<[Option<(ErrorsByN, f64, Range)>; METHODS]>,
    /// Version of the cells, and the target, that all this is of.
    rests_on: (u64, f64),
}

impl State {
    /// What of the shown curves still holds at a new setting: only gp-IRT's move with lambda, none with the estimator.
    pub(super) fn kept_curves(&self, old: Option<(Setting, Curves)>, now: &Setting) -> Curves {
        let rests_on = (self.cells.version, self.target);
        let Some((before, mut curves)) = old else {
            return Curves {
                rests_on,
                ..Curves::default()
            };
        };
        let same = Setting {
            lambda: before.lambda,
            estimator: before.estimator,
            selection: before.selection,
            ..now.clone()
        };
        let whole = before == same && curves.rests_on.0 == rests_on.0;
        for at in 0..METHODS {
            let moved = method(at).1 == Estimator::GpIrt && before.lambda != now.lambda;
            if moved || !whole {
                curves.of.iter_mut().for_each(|of| of[at] = OnceCell::new());
            }
            if moved || !whole || curves.rests_on.1 != rests_on.1 {
                curves.needs[at] = OnceCell::new();
            }
        }
        curves.rests_on = rests_on;
        curves
    }

    /// Seeds whose results are there for all of the grid; the current one where there is none.
    fn complete_seeds(&self, base: &Setting, grid: &[usize]) -> Vec<u64> {
        let complete: Vec<u64> = self
            .band()
            .filter(|&seed| {
                grid.iter().all(|&n| {
                    let setting = Setting {
                        n,
                        seed,
                        ..base.clone()
                    };
                    let scenarios = self.scenarios_of(setting.scope);
                    let there = |s: &usize| {
                        let cell = self.cells.get(&self.key(*s, &setting));
                        cell.is_some_and(|c| c.serves(setting.estimator))
                    };
                    scenarios.iter().all(there)
                })
            })
            .collect();
        if complete.is_empty() {
            vec![base.seed]
        } else {
            complete
        }
    }

    /// The curve of a selection and an estimator; `base` has the rest of the setting.
    pub(crate) fn curve_of(
        &self,
        selection: SelectionKind,
        estimator: Estimator,
        measure: Measure,
        base: &Setting,
    ) -> Curve {
        let base = &Setting {
            selection,
            estimator,
            ..base.clone()
        };
        let grid = self.grid();
        let seeds = self.complete_seeds(base, &grid);
        let mut ns = grid;
        ns.push(base.n);
        ns.sort_unstable();
        ns.dedup();
        let scores = |n: usize, seed: u64| {
            let setting = Setting {
                n,
                seed,
                ..base.clone()
            };
            Some(scored(&self.cells_of(&setting)?, estimator, base.lambda))
        };
        // By n and seed; an n that not every seed has is left out.
        let found: Vec<(usize, Vec<Vec<Scored>>)> = ns
            .into_iter()
            .filter_map(|n| {
                Some((
                    n,
                    seeds.iter().map(|&s| scores(n, s)).collect::<Option<_>>()?,
                ))
            })
            .collect();
        let points = found.iter().filter_map(|(n, scores)| {
            let values: Option<Vec<f64>> = scores.iter().map(|s| measure.of(s)).collect();
            let values = values.filter(|v| !v.is_empty())?;
            Some(Point {
                n: *n,
                mean: values.iter().sum::<f64>() / values.len() as f64,
                low: values.iter().copied().fold(f64::INFINITY, f64::min),
                high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            })
        });
        Curve {
            selection,
            estimator,
            points: points.collect(),
            seeds: seeds.len(),
            errors: match measure {
                Measure::Error => errors_by_n(&found, &self.grid()),
                Measure::Ranks => None,
            },
        }
    }

    /// The curve of a method at the shown setting.
    pub(crate) fn curve_at(&self, measure: Measure, at: usize) -> Option<&Curve> {
        let shown = self.shown.as_ref()?;
        Some(shown.curves.of[measure as usize][at].get_or_init(|| {
            let (selection, estimator) = method(at);
            self.curve_of(selection, estimator, measure, &shown.now.setting)
        }))
    }

    /// The curves of every selection and estimator at the shown setting.
    pub(crate) fn all_curves(&self, measure: Measure) -> Vec<&Curve> {
        (0..METHODS)
            .filter_map(|at| self.curve_at(measure, at))
            .collect()
    }
}

/// Errors of each model (of those that have any estimate) at the n of the grid; `None` where one of them is missing.
fn errors_by_n(found: &[(usize, Vec<Vec<Scored>>)], grid: &[usize]) -> Option<ErrorsByN> {
    let rungs: Option<Vec<&Vec<Vec<Scored>>>> = grid
        .iter()
        .map(|n| Some(&found.iter().find(|f| f.0 == *n)?.1))
        .collect();
    let rungs = rungs.filter(|r| !r.is_empty())?;
    let seeds = (0..rungs[0].len()).map(|seed| {
        let each = || rungs.iter().map(|scores| &scores[seed]);
        let mut models: Vec<usize> = each().flatten().map(|s| s.model).collect();
        models.sort_unstable();
        models.dedup();
        let of = |scores: &Vec<Scored>| {
            let mut errors = vec![f64::NAN; models.len()];
            for s in scores {
                if let Ok(at) = models.binary_search(&s.model) {
                    errors[at] = (s.estimate - s.truth).abs();
                }
            }
            errors
        };
        each().map(of).collect()
    });
    Some(ErrorsByN {
        n: grid.iter().map(|n| *n as f64).collect(),
        seeds: seeds.collect(),
    })
}
