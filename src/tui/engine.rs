//! The jobs of the screen, done by the library: reading, fitting, choosing items, estimating.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use tinyscope::anchors::{Selection, SelectionKind};
use tinyscope::data::read::{self, ReadOptions};
use tinyscope::data::{Benchmark, Diagnostics, split};
use tinyscope::experiment::{
    FOLDS, Fitted, FittedScenario, Folds, Scope as Theta, Settings, edit_selection,
    estimate_answers, estimate_selection, fit_benchmark, learn, replay, select, select_with,
};
use tinyscope::irt::Fit;
use tinyscope::progress::{Observer, Part, Progress};
use tinyscope::{Error, Result};

use super::choices::Source;
use super::event::Outcome;
use super::job::{CellKey, FitKey, Job, Who};
use super::study::{Cell, FitShown, Mine, Study};
use super::worker::Work;

/// Reads a file, or a bundled demo by `demo:NAME`.
pub(crate) type Read = fn(&Path, &ReadOptions, &dyn Observer) -> Result<Benchmark>;
/// Turns the command line's options into settings for a benchmark.
pub(crate) type Configure = dyn Fn(&Benchmark) -> Result<Settings> + Send + Sync;

/// Selections kept without the changes by hand, so that such a change costs no k-means; forgotten
/// all at once beyond this.
const KEPT: usize = 300;

/// Fits of folds beyond this are forgotten but for those of the seed in hand.
const FOLD_BYTES: usize = 12 << 20;

/// Does jobs and keeps what later ones need.
pub(crate) struct Engine {
    read: Read,
    options: ReadOptions,
    /// What is open.
    source: Option<Source>,
    configure: Arc<Configure>,
    /// Settings of the first benchmark that could be opened: names of scenarios are its own, the rest
    /// serves the others too.
    settings: Option<Settings>,
    study: Option<Arc<Study>>,
    /// In joint scope one for all scenarios, under the first.
    fits: HashMap<FitKey, Arc<Fitted>>,
    /// As far as they are fitted, by the same keys: one that is interrupted loses only a fold.
    folds: HashMap<FitKey, Folds>,
    selections: HashMap<(FitKey, SelectionKind, usize), Arc<Selection>>,
    mine: Option<Arc<Mine>>,
}

impl Engine {
    /// An engine without a benchmark.
    pub(crate) fn new(read: Read, options: ReadOptions, configure: Arc<Configure>) -> Engine {
        Engine {
            read,
            options,
            source: None,
            configure,
            settings: None,
            study: None,
            fits: HashMap::new(),
            folds: HashMap::new(),
            selections: HashMap::new(),
            mine: None,
        }
    }

    fn load(&mut self, source: &Source, observer: &dyn Observer) -> Result<Outcome> {
        // What was named beside the first source does not belong to another.
        if self
            .source
            .replace(source.clone())
            .is_some_and(|s| s != *source)
        {
            self.options.also.clear();
        }
        let benchmark = (self.read)(&source.0, &self.options, observer)?;
        let settings = match &self.settings {
            Some(first) => Settings {
                scenarios: Vec::new(),
                // Parameters of other items serve no other data.
                parameters: first
                    .parameters
                    .clone()
                    .filter(|parameters| parameters.covers(&benchmark)),
                ..first.clone()
            },
            None => (self.configure)(&benchmark)?,
        };
        let split = Arc::new(split(&benchmark, &settings.split, settings.seed)?);
        self.settings = Some(settings.clone());
        let study = Arc::new(Study {
            benchmark,
            split,
            settings,
        });
        self.fits.clear();
        self.folds.clear();
        self.selections.clear();
        self.study = Some(Arc::clone(&study));
        Ok(Outcome::Loaded(study))
    }

    fn study(&self) -> Result<Arc<Study>> {
        self.study
            .clone()
            .ok_or_else(|| Error::setting("nothing is open", "open a benchmark"))
    }

    /// The settings of the study at a fit's seed and scope.
    fn settings(study: &Study, key: FitKey) -> Settings {
        Settings {
            scenarios: match key.theta {
                Theta::Joint => Vec::new(),
                Theta::Scenario => vec![key.scenario],
            },
            scope: key.theta,
            seed: key.seed,
            ..study.settings.clone()
        }
    }

    /// The key of a fit: in joint scope all scenarios have one.
    fn place(key: FitKey) -> FitKey {
        match key.theta {
            Theta::Joint => FitKey { scenario: 0, ..key },
            Theta::Scenario => key,
        }
    }

    /// Fits one scenario, or all at once where they share a fit; at most once.
    fn fitted(&mut self, key: FitKey, observer: &dyn Observer) -> Result<Arc<Fitted>> {
        let place = Engine::place(key);
        if let Some(fitted) = self.fits.get(&place) {
            return Ok(Arc::clone(fitted));
        }
        let study = self.study()?;
        let settings = Engine::settings(&study, key);
        let split = if key.seed == study.settings.seed {
            Arc::clone(&study.split)
        } else {
            Arc::new(split(&study.benchmark, &settings.split, settings.seed)?)
        };
        let label = if key.seed == study.settings.seed {
            String::new()
        } else {
            format!("seed {}", key.seed)
        };
        let part = Part::new(observer, label, 0.0, 1.0);
        let fitted = Arc::new(fit_benchmark(&study.benchmark, &split, &settings, &part)?);
        self.fits.insert(place, Arc::clone(&fitted));
        Ok(fitted)
    }

    fn fit(&mut self, key: FitKey, observer: &dyn Observer) -> Result<Outcome> {
        let study = self.study()?;
        let fitted = self.fitted(key, observer)?;
        let shown = fitted.scenarios.iter().map(|s| {
            let key = FitKey {
                scenario: s.index,
                ..key
            };
            (key, Arc::new(FitShown::new(&study.benchmark, s.clone())))
        });
        Ok(Outcome::Fitted(
            shown.collect(),
            Arc::new(fitted.split.clone()),
        ))
    }

    /// Items of every scenario that shares the fit: chosen at most once, then changed by hand.
    fn selections(
        &mut self,
        key: &CellKey,
        fitted: &Fitted,
        observer: &dyn Observer,
    ) -> Result<Vec<Selection>> {
        let study = self.study()?;
        let benchmark = &study.benchmark;
        let mut selections = Vec::new();
        for (at, scenario) in fitted.scenarios.iter().enumerate() {
            observer.check()?;
            let fit = FitKey {
                scenario: scenario.index,
                ..key.fit
            };
            let place = (fit, key.selection, key.n);
            let base = match self.selections.get(&place) {
                Some(base) => Arc::clone(base),
                None => {
                    let name = &benchmark.scenarios[scenario.index].name;
                    observer.progress(&Progress {
                        what: format!("choosing {} items of {name}", key.n),
                        done: at as f64 / (fitted.scenarios.len() + 1) as f64,
                    });
                    let (kind, n, seed) = (key.selection, key.n, key.fit.seed);
                    let base = Arc::new(select(benchmark, scenario, kind, n, seed, observer)?);
                    if self.selections.len() >= KEPT {
                        self.selections.clear();
                    }
                    self.selections.insert(place, Arc::clone(&base));
                    base
                }
            };
            selections.push(match &key.edits {
                Some(edits) if scenario.index == key.fit.scenario => {
                    edit_selection(benchmark, scenario, &base, edits, key.fit.seed)
                }
                _ => base.as_ref().clone(),
            });
        }
        Ok(selections)
    }

    /// Frees the folds of other seeds than this where all together have grown large. The screen asks for one seed after
    /// another, and the cache on disk has them.
    fn forget_folds(&mut self, seed: u64) {
        let numbers = |fit: &Fit| {
            let k = fit.dims() + 1;
            fit.items.len() * (1 + k + k * (k + 1) / 2)
        };
        let bytes: usize = (self.folds.values())
            .flat_map(|folds| &folds.folds)
            .flat_map(|fold| &fold.scenarios)
            .map(|s| numbers(&s.fit) * size_of::<f64>())
            .sum();
        if bytes > FOLD_BYTES {
            self.folds.retain(|key, _| key.seed == seed);
        }
    }

    /// The fits without each fold of the training models; each once, as long as they are kept.
    fn folds(&mut self, key: FitKey, fitted: &Fitted, observer: &dyn Observer) -> Result<Folds> {
        let study = self.study()?;
        let place = Engine::place(key);
        self.forget_folds(key.seed);
        let folds = self
            .folds
            .entry(place)
            .or_insert_with(|| Folds { folds: Vec::new() });
        for fold in folds.folds.len()..FOLDS {
            let at = |k: usize| 0.9 * k as f64 / FOLDS as f64;
            let label = format!("intervals, fold {} of {FOLDS}", fold + 1);
            let part = Part::new(observer, label, at(fold), at(fold + 1));
            folds
                .folds
                .push(Folds::one(&study.benchmark, fitted, fold, &part)?);
        }
        Ok(folds.clone())
    }

    /// Chooses items and estimates every test model; learns from the training models where asked to.
    fn cell(&mut self, key: &CellKey, learned: bool, observer: &dyn Observer) -> Result<Outcome> {
        let study = self.study()?;
        let fitted = self.fitted(key.fit, observer)?;
        let selections = self.selections(key, &fitted, observer)?;
        observer.check()?;
        let benchmark = &study.benchmark;
        let settings = Engine::settings(&study, key.fit);
        let mut found = estimate_selection(benchmark, &fitted, &selections, &settings);
        if learned {
            let folds = self.folds(key.fit, &fitted, observer)?;
            observer.progress(&Progress {
                what: format!("intervals at n = {}", key.n),
                done: 0.9,
            });
            // Edits are made in every fold as the user made them; one restart is enough where the
            // choice only tells how errors are spread.
            let seed = key.fit.seed;
            let choose = |scenario: &FittedScenario| {
                let (kind, n) = (key.selection, key.n);
                let base = select_with(benchmark, scenario, kind, n, seed, 1, observer)?;
                Ok(match &key.edits {
                    Some(edits) if scenario.index == key.fit.scenario => {
                        edit_selection(benchmark, scenario, &base, edits, seed)
                    }
                    _ => base,
                })
            };
            let choose = Some(&choose as _);
            learn(
                benchmark, &fitted, &folds, &mut found, choose, &settings, observer,
            )?;
        }
        let stackers: Vec<_> = found.iter().map(|s| s.stacker.clone()).collect();
        let mut mine = self.mine.as_ref().map_or_else(Vec::new, |mine| {
            let answers = &mine.answers;
            estimate_answers(
                benchmark,
                &fitted,
                &selections,
                answers,
                &stackers,
                &settings,
            )
        });
        let cells = found.into_iter().filter_map(|found| {
            let scenario = found.scenario;
            let same = scenario == key.fit.scenario;
            // Changes by hand in one scenario tell nothing of what the others' would be.
            if key.edits.is_some() && !same {
                return None;
            }
            let at = mine.iter().position(|m| m.scenario == scenario);
            let items = benchmark.scenarios[scenario].n_items();
            let key = CellKey {
                fit: FitKey {
                    scenario,
                    ..key.fit
                },
                n: key.n.min(items),
                ..key.clone()
            };
            let mine = at.map(|at| mine.swap_remove(at));
            let cell = Cell {
                found,
                mine,
                learned,
            };
            Some((key, Arc::new(cell)))
        });
        Ok(Outcome::Estimated(cells.collect()))
    }

    fn answers(&mut self, file: &Path) -> Result<Outcome> {
        let study = self.study()?;
        let answers = read::responses(file, &self.options)?;
        let items = study.benchmark.matrix.items();
        let known = items.iter().filter(|id| answers.contains_key(*id)).count();
        if known == 0 {
            return Err(Error::input(
                file,
                format!(
                    "none of its {} items is one of {}",
                    answers.len(),
                    study.benchmark.name
                ),
                "item ids must be those of the benchmark; `tinyscope anchors` writes the chosen ones",
            ));
        }
        let name = file.file_stem().map(|s| s.to_string_lossy().into_owned());
        let mine = Arc::new(Mine {
            name: name.unwrap_or_default(),
            file: file.to_owned(),
            answers,
        });
        self.mine = Some(Arc::clone(&mine));
        Ok(Outcome::Answered(mine, known))
    }

    fn replay(&mut self, key: &CellKey, who: Who, observer: &dyn Observer) -> Result<Outcome> {
        let study = self.study()?;
        let fitted = self.fitted(key.fit, observer)?;
        let selections = self.selections(key, &fitted, observer)?;
        let benchmark = &study.benchmark;
        let matrix = &benchmark.matrix;
        let settings = Engine::settings(&study, key.fit);
        let scenario = &benchmark.scenarios[key.fit.scenario];
        let mine = self.mine.clone();
        let of_mine = |column: usize| {
            let id = &matrix.items()[column];
            let answers = mine.as_ref().map(|m| &m.answers);
            answers.and_then(|a| a.get(id)).copied().unwrap_or(f64::NAN)
        };
        let of_model = |row: usize, column: usize| matrix.get(row, column).unwrap_or(f64::NAN);
        let (answers, truth): (Box<dyn Fn(usize) -> f64 + Sync>, Option<f64>) = match who {
            Who::Model(row) => (
                Box::new(move |column| of_model(row, column)),
                benchmark.true_score(row, scenario),
            ),
            Who::Mine => (Box::new(of_mine), None),
        };
        let found = replay(
            benchmark,
            &fitted,
            key.fit.scenario,
            &selections,
            &*answers,
            truth,
            &settings,
            observer,
        )?;
        Ok(Outcome::Replayed(key.clone(), who, Arc::new(found)))
    }
}

impl Work for Engine {
    fn run(&mut self, job: &Job, observer: &dyn Observer) -> Result<Outcome> {
        #[cfg(debug_assertions)]
        fail_on_demand(job);
        match job {
            Job::Load(source) => self.load(source, observer),
            Job::Fit(key) => self.fit(*key, observer),
            Job::Cell(key) => self.cell(key, false, observer),
            Job::Learn(key) => self.cell(key, true, observer),
            Job::Answers(file) => self.answers(file),
            Job::Replay(key, who) => self.replay(key, *who, observer),
            Job::Diagnose => {
                let study = self.study()?;
                let findings = Diagnostics::of(&study.benchmark);
                Ok(Outcome::Diagnosed(findings.warnings(&study.benchmark)))
            }
        }
    }
}

/// Lets a test see that a panic of the worker leaves the screen alive; not in releases.
#[cfg(debug_assertions)]
#[allow(clippy::panic)]
fn fail_on_demand(job: &Job) {
    let n = std::env::var("TINYSCOPE_PANIC_AT_N").ok();
    if let (Job::Cell(key), Some(n)) = (job, n.and_then(|n| n.parse::<usize>().ok()))
        && key.n == n
    {
        panic!("asked to break off at n = {n}");
    }
}
