//! How many items reach a wanted error: every selection and estimator, over seeds.

use rand::RngExt;
use rayon::prelude::*;

use super::curve::{crossing, ladder, smooth};
use super::settings::Settings;
use super::trial::{Trial, complexity};
use crate::anchors::SelectionKind;
use crate::data::{Benchmark, split};
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::progress::{Observer, Part as Stretch, Progress};
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

/// What is planned for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// The error wanted, a share of the score in (0, 1).
    pub error: f64,
    /// Which error.
    pub measure: Measure,
    /// Number of seeds, from `settings.seed` on; each has its own split, fit and choice of items.
    pub seeds: usize,
    /// Most items a scenario to try.
    pub most: usize,
}

/// One selection and estimator on one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRow {
    /// Index of the scenario; `None` for the mean over scenarios.
    pub scenario: Option<usize>,
    /// How the items are chosen.
    pub selection: SelectionKind,
    /// How the score is estimated.
    pub estimator: Estimator,
    /// Smallest n that reaches the error, rounded up; of the mean over scenarios it is n a scenario. `None`: not reached.
    pub n: Option<usize>,
    /// True when the smallest n tried reaches it already: fewer may do.
    pub or_fewer: bool,
    /// 5th and 95th percentile of n over resamples of seeds and test models; `None` where the error is not reached there.
    pub range: (Option<usize>, Option<usize>),
    /// Items to run for `n`; of the mean over scenarios all of them together.
    pub items: Option<usize>,
    /// Items there are.
    pub all: usize,
    /// Smallest error of the smooth curve, and the n tried that has it first.
    pub best: (f64, usize),
    /// (n, error as measured, error of the smooth curve), by n.
    pub curve: Vec<(usize, f64, f64)>,
}

impl PlanRow {
    /// Items that need not be run, and their share of all.
    pub fn saved(&self) -> Option<(usize, f64)> {
        let saved = self.all.saturating_sub(self.items?);
        Some((saved, saved as f64 / self.all.max(1) as f64))
    }
}

/// What reaches the wanted error.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// By scenario (the mean over them last), selection and method.
    pub rows: Vec<PlanRow>,
    /// The n tried.
    pub ladder: Vec<usize>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// n within this factor of the smallest are as good: the ranges are wider than that.
const AS_GOOD: f64 = 1.1;

impl Plan {
    /// The row to follow for a scenario (`None`: the mean over scenarios): of those that reach the error with at most 1.1
    /// times the smallest n the one with the least complex estimator, of these the smallest n, of these the first.
    pub fn recommended(&self, scenario: Option<usize>) -> Option<&PlanRow> {
        let rows = || {
            let of = self.rows.iter().filter(|r| r.scenario == scenario);
            of.filter_map(|r| Some((r, r.n?)))
        };
        let least = rows().map(|(_, n)| n).min()? as f64;
        rows()
            .filter(|(_, n)| *n as f64 <= AS_GOOD * least)
            .min_by_key(|(r, n)| (complexity(r.estimator), *n, r.selection))
            .map(|(r, _)| r)
    }

    /// The row that comes nearest to the error where none reaches it.
    pub fn nearest(&self, scenario: Option<usize>) -> Option<&PlanRow> {
        let of = self.rows.iter().filter(|r| r.scenario == scenario);
        of.min_by(|a, b| a.best.0.total_cmp(&b.best.0))
    }
}

/// Resamples that a range rests on.
pub const RESAMPLES: usize = 200;

/// Absolute errors of the test models of one seed under one selection, for every rung: NaN where a model has no estimate.
struct Seed {
    /// Rung, method, model.
    errors: Vec<Vec<Vec<f64>>>,
    /// Chosen items by rung.
    items: Vec<usize>,
    models: usize,
}

/// Everything measured of a scenario (or the mean) under one selection.
struct Cell {
    scenario: Option<usize>,
    selection: SelectionKind,
    seeds: Vec<Seed>,
}

/// Tries a geometric ladder of n (5, 7, 10, 14, 20 ... up to `goal.most` or the largest scenario) on `goal.seeds` splits,
/// each fitted once for all n, and reads from the curve of each selection and method where it reaches the error: the mean
/// over seeds of the measure, made smooth by isotonic regression (falling, then rising only where it plainly rises), linear in
/// log n between rungs. Ranges resample seeds, and
/// within each its test models, the same ones for every n and method, [`RESAMPLES`] times; a resample has no error larger
/// than the sample's, so that ranges of [`Measure::Max`] lean to small n.
///
/// # Errors
/// An error that is not in (0, 1), no seeds; as [`split`] and [`Trial::fit`].
pub fn plan(
    benchmark: &Benchmark,
    settings: &Settings,
    goal: &Goal,
    observer: &dyn Observer,
) -> Result<Plan> {
    if !(goal.error > 0.0 && goal.error < 1.0) || goal.seeds == 0 || goal.most == 0 {
        return Err(Error::setting(
            format!(
                "a plan for an error of {} with {} seeds and at most {} items",
                goal.error, goal.seeds, goal.most
            ),
            "the error is a share of the score between 0 and 1; seeds and items are above 0",
        ));
    }
    let sizes = |s: &usize| benchmark.scenarios[*s].n_items();
    let scenarios = settings.scenario_indices(benchmark);
    let largest = scenarios.iter().map(sizes).max().unwrap_or(1);
    let ladder = ladder(goal.most.min(largest));
    let mut cells: Vec<Cell> = Vec::new();
    let mut warnings: Vec<String> = Vec::new();
    let mut trial: Option<Trial<'_>> = None;
    for k in 0..goal.seeds {
        let settings = Settings {
            seed: settings.seed + k as u64,
            ..settings.clone()
        };
        let at = |x: f64| (k as f64 + x) / goal.seeds as f64;
        let label = format!("seed {}", settings.seed);
        let split = split(benchmark, &settings.split, settings.seed)?;
        // Splits that no seed decides are fitted once.
        let known = trial.take().filter(|t| t.fitted.split == split);
        let fitted = match known {
            Some(known) => known,
            None => {
                let stretch = Stretch::new(observer, label.clone(), at(0.0), at(0.3));
                Trial::fit(benchmark, &split, &settings, &stretch)?
            }
        };
        for w in &fitted.fitted.warnings {
            if !warnings.contains(w) {
                warnings.push(w.clone());
            }
        }
        let total: f64 = ladder.iter().map(|&n| n as f64).sum();
        let mut done = 0.0;
        for &n in &ladder {
            observer.progress(&Progress {
                what: format!("{label}: n = {n}"),
                done: at(0.3 + 0.7 * done / total),
            });
            done += n as f64;
            let settings = Settings {
                n,
                ..settings.clone()
            };
            for &kind in &settings.selections {
                for judged in fitted.judge(kind, &settings, false, observer)? {
                    let test = &fitted.fitted.split.test;
                    let seed = seed_of(&mut cells, judged.scenario, kind, k, test.len());
                    seed.items.push(judged.items);
                    let mut errors = vec![vec![f64::NAN; test.len()]; Estimator::ALL.len()];
                    for m in &judged.models {
                        let Ok(row) = test.binary_search(&m.model) else {
                            continue;
                        };
                        for (of, x) in errors.iter_mut().zip(m.estimates) {
                            of[row] = x.map_or(f64::NAN, |x| (x - m.truth).abs());
                        }
                    }
                    seed.errors.push(errors);
                }
            }
        }
        trial = Some(fitted);
    }
    cells.sort_by_key(|c| (c.scenario.is_none(), c.scenario, c.selection));
    let caps = |kind: SelectionKind| -> Vec<usize> {
        let of = |c: &&Cell| c.selection == kind && c.scenario.is_some();
        cells.iter().filter(of).map(Cell::most).collect()
    };
    let jobs: Vec<(&Cell, usize)> = cells
        .iter()
        .flat_map(|c| (0..Estimator::ALL.len()).map(move |m| (c, m)))
        .collect();
    let rows = jobs
        .into_par_iter()
        .filter_map(|(cell, method)| {
            let all = match cell.scenario {
                Some(s) => sizes(&s),
                None => scenarios.iter().map(sizes).sum(),
            };
            let caps = caps(cell.selection);
            cell.row(method, goal, &ladder, &caps, all, settings.seed)
        })
        .collect();
    Ok(Plan {
        rows,
        ladder,
        warnings,
    })
}

fn seed_of(
    cells: &mut Vec<Cell>,
    scenario: Option<usize>,
    selection: SelectionKind,
    seed: usize,
    models: usize,
) -> &mut Seed {
    let found = cells
        .iter()
        .position(|c| c.scenario == scenario && c.selection == selection);
    let at = found.unwrap_or_else(|| {
        cells.push(Cell {
            scenario,
            selection,
            seeds: Vec::new(),
        });
        cells.len() - 1
    });
    let seeds = &mut cells[at].seeds;
    while seeds.len() <= seed {
        seeds.push(Seed {
            errors: Vec::new(),
            items: Vec::new(),
            models,
        });
    }
    &mut seeds[seed]
}

impl Cell {
    /// Most items that were ever chosen.
    fn most(&self) -> usize {
        let items = self.seeds.iter().flat_map(|s| s.items.iter().copied());
        items.max().unwrap_or(0)
    }

    /// n of every rung: for a scenario the items chosen, which distinct points may cap; for the mean over scenarios as asked
    /// for. Rungs that add no item are left out: (rung, n).
    fn rungs(&self, ladder: &[usize]) -> Vec<(usize, f64)> {
        let mut rungs: Vec<(usize, f64)> = Vec::with_capacity(ladder.len());
        let mut before = 0.0;
        for (r, &n) in ladder.iter().enumerate() {
            let items = self.seeds.iter().map(|s| s.items[r] as f64).sum::<f64>();
            let chosen = items / self.seeds.len() as f64;
            if chosen >= before + 0.5 {
                let n = self.scenario.map_or(n as f64, |_| chosen);
                rungs.push((r, n));
                before = chosen;
            }
        }
        rungs
    }

    /// The mean over seeds of the measure at every rung; `draw` names (seed, its models) to take. `None` where no seed has
    /// an estimate.
    fn curve(
        &self,
        rungs: &[(usize, f64)],
        method: usize,
        measure: Measure,
        draw: &[(usize, Vec<usize>)],
    ) -> Option<Vec<f64>> {
        let mut errors = Vec::new();
        let point = |&(rung, _): &(usize, f64)| {
            let (mut sum, mut count) = (0.0, 0.0);
            for (seed, models) in draw {
                let of = &self.seeds[*seed].errors[rung][method];
                errors.clear();
                errors.extend(models.iter().map(|&m| of[m]).filter(|e| !e.is_nan()));
                if let Some(x) = measure.of(&mut errors) {
                    sum += x;
                    count += 1.0;
                }
            }
            (count > 0.0).then(|| sum / count)
        };
        rungs.iter().map(point).collect()
    }

    /// `None` where nothing can be estimated.
    fn row(
        &self,
        method: usize,
        goal: &Goal,
        ladder: &[usize],
        caps: &[usize],
        all: usize,
        seed: u64,
    ) -> Option<PlanRow> {
        let rungs = self.rungs(ladder);
        let ns: Vec<f64> = rungs.iter().map(|(_, n)| *n).collect();
        let whole: Vec<(usize, Vec<usize>)> = self
            .seeds
            .iter()
            .enumerate()
            .map(|(k, s)| (k, (0..s.models).collect()))
            .collect();
        let measured = self.curve(&rungs, method, goal.measure, &whole)?;
        let smooth_curve = smooth(&measured);
        let reached = crossing(&ns, &smooth_curve, goal.error);
        let up = |n: f64| (n - 1e-9).ceil() as usize;
        let n = reached.map(up);
        let mut drawn: Vec<f64> = (0..RESAMPLES)
            .filter_map(|k| {
                let draw = self.resample(k, seed);
                let curve = smooth(&self.curve(&rungs, method, goal.measure, &draw)?);
                Some(crossing(&ns, &curve, goal.error).unwrap_or(f64::INFINITY))
            })
            .collect();
        drawn.sort_by(f64::total_cmp);
        let end = |q: f64| {
            // The nearest rank: between a number and "not reached" lies nothing.
            let at = (q * (drawn.len().checked_sub(1)? as f64)).round() as usize;
            drawn.get(at).filter(|n| n.is_finite()).map(|n| up(*n))
        };
        let mut best = (f64::INFINITY, 0);
        for (e, n) in smooth_curve.iter().zip(&ns) {
            if *e < best.0 {
                best = (*e, up(*n));
            }
        }
        Some(PlanRow {
            scenario: self.scenario,
            selection: self.selection,
            estimator: Estimator::ALL[method],
            n,
            or_fewer: reached.is_some_and(|n| n <= ns[0]) && ns[0] > 1.0,
            range: (end(0.05), end(0.95)),
            items: n.map(|n| match self.scenario {
                Some(_) => n,
                None => caps.iter().map(|&cap| n.min(cap)).sum(),
            }),
            all,
            best,
            curve: ns
                .iter()
                .zip(measured.iter().zip(&smooth_curve))
                .map(|(n, (e, s))| (n.round() as usize, *e, *s))
                .collect(),
        })
    }

    /// Seeds, and the models of each, drawn with replacement.
    fn resample(&self, draw: usize, seed: u64) -> Vec<(usize, Vec<usize>)> {
        let mut random = rng(seed, Stream::Resample(draw));
        (0..self.seeds.len())
            .map(|_| {
                let k = random.random_range(0..self.seeds.len());
                let models = self.seeds[k].models;
                let drawn = (0..models).map(|_| random.random_range(0..models));
                (k, drawn.collect())
            })
            .collect()
    }
}

/// Of sorted values, linear between neighbours; `last` is the largest index.
fn quantile(sorted: &[f64], q: f64, last: usize) -> f64 {
    let rank = q * last as f64;
    let (below, above) = (rank.floor() as usize, rank.ceil() as usize);
    sorted[below] + (rank - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests;
