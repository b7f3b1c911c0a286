//! The jobs of the screen, done by the library: reading, fitting, choosing items, estimating.

use std::path::Path;
use std::sync::Arc;

use tinyscope::data::read::ReadOptions;
use tinyscope::data::{Benchmark, split};
use tinyscope::experiment::{Fitted, Scope, Settings, estimate_selection, fit_benchmark, select};
use tinyscope::progress::{Observer, Progress};
use tinyscope::{Error, Result};

use super::event::Outcome;
use super::state::{Job, Source};
use super::study::{CellKey, FitShown, Study};
use super::worker::Work;

/// Reads a file, or a bundled demo by `demo:NAME`.
pub(crate) type Read = fn(&Path, &ReadOptions) -> Result<Benchmark>;
/// Turns the command line's options into settings for a benchmark.
pub(crate) type Configure = dyn Fn(&Benchmark) -> Result<Settings> + Send + Sync;

/// Does jobs and keeps what later ones need.
pub(crate) struct Engine {
    read: Read,
    options: ReadOptions,
    configure: Arc<Configure>,
    /// Settings of the first benchmark that could be opened: names of scenarios are its own, the rest
    /// serves the others too.
    settings: Option<Settings>,
    study: Option<Arc<Study>>,
    /// One a scenario; in joint scope the same one for all, in the first place.
    fits: Vec<Option<Fitted>>,
}

impl Engine {
    /// An engine without a benchmark.
    pub(crate) fn new(read: Read, options: ReadOptions, configure: Arc<Configure>) -> Engine {
        Engine {
            read,
            options,
            configure,
            settings: None,
            study: None,
            fits: Vec::new(),
        }
    }

    fn load(&mut self, source: &Source) -> Result<Outcome> {
        let benchmark = (self.read)(&source.0, &self.options)?;
        let settings = match &self.settings {
            Some(first) => Settings {
                scenarios: Vec::new(),
                ..first.clone()
            },
            None => (self.configure)(&benchmark)?,
        };
        let split = split(&benchmark, &settings.split, settings.seed)?;
        self.settings = Some(settings.clone());
        let study = Arc::new(Study {
            benchmark,
            split,
            settings,
        });
        self.fits = (0..study.scenarios()).map(|_| None).collect();
        self.study = Some(Arc::clone(&study));
        Ok(Outcome::Loaded(study))
    }

    fn study(&self) -> Result<Arc<Study>> {
        self.study
            .clone()
            .ok_or_else(|| Error::setting("nothing is open", "open a benchmark"))
    }

    /// Fits one scenario, or all at once where they share a fit.
    fn fit(&mut self, scenario: usize, observer: &dyn Observer) -> Result<Outcome> {
        let study = self.study()?;
        let joint = study.settings.scope == Scope::Joint;
        let scenarios = if joint { Vec::new() } else { vec![scenario] };
        let settings = Settings {
            scenarios,
            ..study.settings.clone()
        };
        let fitted = fit_benchmark(&study.benchmark, &study.split, &settings, observer)?;
        let shown = fitted
            .scenarios
            .iter()
            .map(|s| {
                (
                    s.index,
                    Arc::new(FitShown::new(&study.benchmark, s.clone())),
                )
            })
            .collect();
        let place = if joint { 0 } else { scenario };
        if let Some(slot) = self.fits.get_mut(place) {
            *slot = Some(fitted);
        }
        Ok(Outcome::Fitted(shown))
    }

    /// Chooses items and estimates every test model.
    fn cell(&self, key: CellKey, observer: &dyn Observer) -> Result<Outcome> {
        let study = self.study()?;
        let joint = study.settings.scope == Scope::Joint;
        let place = if joint { 0 } else { key.scenario };
        let Some(Some(fitted)) = self.fits.get(place) else {
            return Err(Error::setting("this scenario is not fitted yet", ""));
        };
        let benchmark = &study.benchmark;
        let mut selections = Vec::new();
        for (at, scenario) in fitted.scenarios.iter().enumerate() {
            observer.check()?;
            let name = &benchmark.scenarios[scenario.index].name;
            observer.progress(&Progress {
                what: format!("choosing {} items of {name}", key.n),
                done: at as f64 / (fitted.scenarios.len() + 1) as f64,
            });
            selections.push(select(
                benchmark,
                scenario,
                key.selection,
                key.n,
                study.settings.seed,
                observer,
            )?);
        }
        observer.check()?;
        let found = estimate_selection(benchmark, fitted, &selections, &study.settings);
        let cells = found
            .into_iter()
            .map(|cell| {
                let items = benchmark.scenarios[cell.scenario].n_items();
                let key = CellKey {
                    scenario: cell.scenario,
                    n: key.n.min(items),
                    ..key
                };
                (key, Arc::new(cell))
            })
            .collect();
        Ok(Outcome::Estimated(cells))
    }
}

impl Work for Engine {
    fn run(&mut self, job: &Job, observer: &dyn Observer) -> Result<Outcome> {
        match job {
            Job::Load(source) => self.load(source),
            Job::Fit(scenario) => self.fit(*scenario, observer),
            Job::Cell(key) => self.cell(*key, observer),
        }
    }
}
