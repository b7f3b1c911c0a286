//! How many items reach a wanted error: every selection and estimator, over seeds.

use rayon::prelude::*;

use super::curve::ladder;
use super::need::{ErrorsByN, Measure, Need};
use super::settings::Settings;
use super::trial::{Trial, complexity};
use crate::anchors::SelectionKind;
use crate::data::{Benchmark, split};
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::progress::{Observer, Part as Stretch, Progress};

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
    /// The n that the error needs; of the mean over scenarios it is n a scenario.
    pub need: Need,
    /// As [`ErrorsByN::range`].
    pub range: (Option<usize>, Option<usize>),
    /// Items to run for that n; of the mean over scenarios all of them together.
    pub items: Option<usize>,
    /// Items there are.
    pub all: usize,
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
    /// The row to follow for a scenario (`None`: the mean over scenarios): of those whose safe n, the upper end of the
    /// range, is at most 1.1 times the smallest the one with the least complex estimator, of these the smallest n, of these
    /// the first. Where no range ends, the same by n.
    pub fn recommended(&self, scenario: Option<usize>) -> Option<&PlanRow> {
        let rows = |key: fn(&PlanRow) -> Option<usize>| {
            let of = self.rows.iter().filter(move |r| r.scenario == scenario);
            of.filter_map(move |r| Some((r, key(r)?)))
        };
        let best = |key: fn(&PlanRow) -> Option<usize>| {
            let least = rows(key).map(|(_, n)| n).min()? as f64;
            rows(key)
                .filter(|(_, n)| *n as f64 <= AS_GOOD * least)
                .min_by_key(|(r, n)| (complexity(r.estimator), *n, r.selection))
                .map(|(r, _)| r)
        };
        best(|r| r.need.n.and(r.range.1)).or_else(|| best(|r| r.need.n))
    }

    /// The row that comes nearest to the error where none reaches it.
    pub fn nearest(&self, scenario: Option<usize>) -> Option<&PlanRow> {
        let of = self.rows.iter().filter(|r| r.scenario == scenario);
        of.min_by(|a, b| a.need.best.0.total_cmp(&b.need.best.0))
    }
}

/// Absolute errors of the test models of one seed under one selection, for every rung: NaN where a model has no estimate.
struct Seed {
    /// Rung, method, model.
    errors: Vec<Vec<Vec<f64>>>,
    /// Chosen items by rung.
    items: Vec<usize>,
}

/// Everything measured of a scenario (or the mean) under one selection.
struct Cell {
    scenario: Option<usize>,
    selection: SelectionKind,
    seeds: Vec<Seed>,
}

/// Tries a geometric ladder of n (5, 7, 10, 14, 20 ... up to `goal.most` or the largest scenario) on `goal.seeds` splits,
/// each fitted once for all n, and reads from the curve of each selection and method where it reaches the error, as
/// [`ErrorsByN::need`], with [`ErrorsByN::range`].
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
                    let seed = seed_of(&mut cells, judged.scenario, kind, k);
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
        let of = |s: &Seed| {
            let errors = rungs
                .iter()
                .map(|(rung, _)| s.errors[*rung][method].clone());
            errors.collect()
        };
        let errors = ErrorsByN {
            n: rungs.iter().map(|(_, n)| *n).collect(),
            seeds: self.seeds.iter().map(of).collect(),
        };
        let need = errors.need(goal.error, goal.measure)?;
        Some(PlanRow {
            scenario: self.scenario,
            selection: self.selection,
            estimator: Estimator::ALL[method],
            range: errors.range(goal.error, goal.measure, seed),
            items: need.n.map(|n| match self.scenario {
                Some(_) => n,
                None => caps.iter().map(|&cap| n.min(cap)).sum(),
            }),
            all,
            need,
        })
    }
}

#[cfg(test)]
mod tests;
