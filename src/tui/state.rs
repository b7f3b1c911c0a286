//! Everything the screen shows.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tinyscope::anchors::{Edits, SelectionKind};
use tinyscope::data::Split;
use tinyscope::data::read::ReadOptions;
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{Lambda, Metrics, Scope as Theta, Settings};

use super::action::Action;
use super::curves::Cells;
use super::glyphs::Marker;
use super::job::{CellKey, FitKey, Job};
use super::overlay::Overlay;
use super::replay::ReplayState;
use super::shown::Matches;
use super::study::{Cell, Curve, FitShown, Mine, Study, metrics, scored};
use super::theme::{Theme, ThemeName};

pub(crate) use super::choices::{
    AllEdits, Axes, ColourBy, Cost, Cursor, ItemSort, Layers, Lower, Scope, Setting, Sort, Source,
    ViewName, Zoom,
};
pub(crate) use super::shown::Shown;

/// The job that the worker is at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Running {
    /// Which.
    pub(crate) job: Job,
    /// Its generation number: reports of older jobs are dropped.
    pub(crate) generation: u64,
    /// What it is doing.
    pub(crate) what: String,
    /// The screen was waiting for it when it began.
    pub(crate) waited_for: bool,
    /// Share done.
    pub(crate) done: f64,
    /// Time since its start at the last report.
    pub(crate) elapsed: Duration,
}

/// Values of n that the slider and its keys stop at.
pub(crate) const N_STOPS: [usize; 20] = [
    5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 750, 1000,
];
/// Values of n at which the trade-off curves are computed.
pub(crate) const N_GRID: [usize; 9] = [10, 20, 30, 40, 60, 80, 100, 150, 200];
/// Where a scenario has fewer items than this, the curves are computed at every tenth of them.
const FEW_ITEMS: usize = 60;
/// Error whose n the trade-off tells until another is typed: the paper's two points.
pub(crate) const TARGET: f64 = 0.02;
/// Step of lambda's keys.
pub(crate) const LAMBDA_STEP: f64 = 0.05;
/// Seeds of the trade-off's band.
pub(crate) const SEEDS: usize = 5;

/// A curve of an item, with its scenario and position.
pub(crate) type ItemCurve = (usize, usize, Curve);

/// How the screen looks, whatever it shows.
#[derive(Debug)]
pub(crate) struct Look {
    /// Columns and rows of the screen.
    pub(crate) size: (u16, u16),
    /// How plots are drawn.
    pub(crate) marker: Marker,
    /// Styles.
    pub(crate) theme: Theme,
    /// Only colours that 256-colour terminals have.
    pub(crate) indexed: bool,
    /// The list of scenarios as the user wants it; by the screen's width where absent.
    pub(crate) list_open: Option<bool>,
    /// The inspector as the user wants it; by the screen's width where absent.
    pub(crate) inspector_open: Option<bool>,
    /// Talks: the slide that is shown.
    pub(crate) slide: Option<usize>,
    /// The view that the slides began from.
    pub(crate) before_slides: Option<ViewName>,
    /// The mouse is listened to.
    pub(crate) mouse: bool,
}

/// Everything the screen shows.
#[derive(Debug)]
pub(crate) struct State {
    /// The open benchmark.
    pub(crate) study: Option<Arc<Study>>,
    /// What is being opened or was opened last.
    pub(crate) source: Option<Source>,
    /// What the user asks for.
    pub(crate) setting: Setting,
    /// A setting kept for comparison; its scope is that of the screen.
    pub(crate) pin: Option<Setting>,
    /// The result on the screen.
    pub(crate) shown: Option<Shown>,
    /// Fits by scenario, scope of theta and seed.
    pub(crate) fits: HashMap<FitKey, Arc<FitShown>>,
    /// Splits by seed.
    pub(crate) splits: HashMap<u64, Arc<Split>>,
    /// Results by fit, selection, n and edits.
    pub(crate) cells: Cells,
    /// What a sceptic would find in the data, once looked for.
    pub(crate) findings: Option<Vec<String>>,
    /// The user's own model.
    pub(crate) mine: Option<Arc<Mine>>,
    /// Jobs that failed and why; they are not tried again.
    pub(crate) failed: HashMap<Job, String>,
    /// The running job.
    pub(crate) running: Option<Running>,
    /// Compute what may be looked at next.
    pub(crate) ahead: bool,
    /// How many seeds the trade-off's band is over.
    pub(crate) seeds: usize,
    /// True after the cancel key, until the setting changes.
    pub(crate) paused: bool,
    /// The view.
    pub(crate) view: ViewName,
    /// What lies over it.
    pub(crate) overlay: Overlay,
    /// Position of the selected item in the scenario.
    pub(crate) item: Option<usize>,
    /// The last step of the map's cursor: from, to and the arrow, so that the opposite one goes back.
    pub(crate) trail: Option<(usize, usize, Action)>,
    /// Response curve of the selected item.
    pub(crate) curve: Option<ItemCurve>,
    /// Items whose response curves are drawn together, by position, in the order of marking.
    pub(crate) marked: Vec<ItemCurve>,
    /// The sub-scenario that stands out.
    pub(crate) part: Option<usize>,
    /// Matrix row of the selected model.
    pub(crate) model: Option<usize>,
    /// The replay.
    pub(crate) replay: ReplayState,
    /// Colours of the map.
    pub(crate) colour_by: ColourBy,
    /// What the axes of the map are.
    pub(crate) axes: Axes,
    /// What the cursor of the map walks.
    pub(crate) cursor: Cursor,
    /// The layers of the map.
    pub(crate) layers: Layers,
    /// The part of the map that is shown.
    pub(crate) zoom: Zoom,
    /// Order of the model table.
    pub(crate) sort: Sort,
    /// Scores as ranks.
    pub(crate) ranking: bool,
    /// Intervals are drawn.
    pub(crate) bars: bool,
    /// Order of the item table.
    pub(crate) item_sort: ItemSort,
    /// Only items that hold this text, in Map and Items.
    pub(crate) item_filter: String,
    /// The items of the shown scenario that it keeps.
    pub(crate) matches: Option<Matches>,
    /// Only models that hold this text, in Scores and Replay.
    pub(crate) model_filter: String,
    /// The lower plot of the trade-off.
    pub(crate) lower: Lower,
    /// n on a logarithmic axis.
    pub(crate) log_n: bool,
    /// The mean absolute error whose n the trade-off tells, a share of the score.
    pub(crate) target: f64,
    /// What an answer costs.
    pub(crate) cost: Option<Cost>,
    /// Lines the item's text or the data's facts are scrolled by.
    pub(crate) scroll: u16,
    /// Settings before the last changes of anchors, for undo.
    pub(crate) undo: Vec<AllEdits>,
    /// Settings that were undone.
    pub(crate) redo: Vec<AllEdits>,
    /// How it looks.
    pub(crate) look: Look,
    /// A line for the user until the next key.
    pub(crate) message: Option<String>,
    /// Demos and recent files of the open list.
    pub(crate) openable: Vec<Source>,
    /// Answers of the user's own model to read once the benchmark is.
    pub(crate) mine_wanted: Option<std::path::PathBuf>,
    /// How files are read.
    pub(crate) reading: ReadOptions,
    /// The theme was asked for: settings that are restored leave it.
    pub(crate) theme_is_chosen: bool,
    /// Settings to restore once the benchmark is read.
    pub(crate) restore: Option<Box<super::saved::Saved>>,
    /// Counts jobs started.
    pub(crate) generation: u64,
    /// Reports of generations before this one belong to a benchmark that is closed.
    pub(crate) first_generation: u64,
}

impl State {
    /// An empty screen.
    pub(crate) fn new(theme: ThemeName) -> State {
        State {
            study: None,
            source: None,
            setting: Setting {
                scope: Scope::One(0),
                n: 100,
                selection: SelectionKind::AnchorsIrt,
                estimator: Estimator::GpIrt,
                lambda: Lambda::Auto,
                theta: Theta::Scenario,
                seed: 0,
                edits: AllEdits::default(),
            },
            pin: None,
            shown: None,
            fits: HashMap::new(),
            splits: HashMap::new(),
            cells: Cells::default(),
            findings: None,
            mine: None,
            failed: HashMap::new(),
            running: None,
            ahead: true,
            seeds: SEEDS,
            paused: false,
            view: ViewName::Map,
            overlay: Overlay::None,
            item: None,
            trail: None,
            curve: None,
            marked: Vec::new(),
            part: None,
            model: None,
            replay: ReplayState::default(),
            colour_by: ColourBy::Cluster,
            axes: Axes::Components,
            cursor: Cursor::Anchors,
            layers: Layers {
                items: true,
                anchors: true,
                lines: false,
            },
            zoom: Zoom::WHOLE,
            sort: Sort::Truth,
            ranking: false,
            bars: true,
            item_sort: ItemSort::Weight,
            item_filter: String::new(),
            matches: None,
            model_filter: String::new(),
            lower: Lower::Lambda,
            log_n: false,
            target: TARGET,
            cost: None,
            scroll: 0,
            undo: Vec::new(),
            redo: Vec::new(),
            look: Look {
                size: (0, 0),
                marker: Marker::Braille,
                theme: Theme::new(theme),
                indexed: false,
                list_open: None,
                inspector_open: None,
                slide: None,
                before_slides: None,
                mouse: false,
            },
            message: None,
            openable: Vec::new(),
            mine_wanted: None,
            reading: ReadOptions::default(),
            theme_is_chosen: false,
            restore: None,
            generation: 0,
            first_generation: 0,
        }
    }

    /// Takes n, selection, lambda and the first scenario from the command line's settings. IRT anchors
    /// are shown first where they are among the selections.
    fn configure(&mut self, settings: &Settings) {
        let preferred = SelectionKind::AnchorsIrt;
        self.setting = Setting {
            scope: Scope::One(settings.scenarios.first().copied().unwrap_or(0)),
            n: settings.n,
            selection: match settings.selections.as_slice() {
                kinds if kinds.contains(&preferred) => preferred,
                [first, ..] => *first,
                [] => preferred,
            },
            estimator: Estimator::GpIrt,
            lambda: settings.lambda,
            theta: settings.scope,
            seed: settings.seed,
            edits: AllEdits::default(),
        };
    }

    /// Puts a benchmark on the screen and forgets results of the last one.
    pub(crate) fn open(&mut self, study: Arc<Study>) {
        if self.study.is_none() {
            self.configure(&study.settings);
        }
        let scenarios = study.scenarios();
        let gone = match self.setting.scope {
            Scope::One(index) => index >= scenarios,
            Scope::Overall => scenarios < 2,
        };
        if gone {
            self.setting.scope = Scope::One(0);
        }
        self.fits.clear();
        self.splits.clear();
        self.splits
            .insert(study.settings.seed, Arc::clone(&study.split));
        self.cells.clear();
        self.failed.clear();
        self.findings = None;
        self.shown = None;
        self.model = None;
        self.pin = None;
        self.paused = false;
        self.replay = ReplayState::default();
        self.setting.edits = AllEdits::default();
        self.undo.clear();
        self.redo.clear();
        self.item_filter.clear();
        self.model_filter.clear();
        self.study = Some(study);
        self.leave_scenario();
        self.setting.n = self.setting.n.clamp(1, self.largest_n());
    }

    /// Forgets what belongs to the scenario that was shown.
    pub(crate) fn leave_scenario(&mut self) {
        self.item = None;
        self.curve = None;
        self.marked.clear();
        self.part = None;
        self.zoom = Zoom::WHOLE;
        self.scroll = 0;
        self.replay.pause();
    }

    /// Number of scenarios.
    pub(crate) fn scenarios(&self) -> usize {
        self.study.as_ref().map_or(0, |s| s.scenarios())
    }

    /// Scenario indices of a scope.
    pub(crate) fn scenarios_of(&self, scope: Scope) -> Vec<usize> {
        match scope {
            Scope::One(index) => vec![index],
            Scope::Overall => (0..self.scenarios()).collect(),
        }
    }

    /// The shown scenario, unless it is all of them.
    pub(crate) fn scenario(&self) -> Option<usize> {
        match self.setting.scope {
            Scope::One(index) if index < self.scenarios() => Some(index),
            _ => None,
        }
    }

    /// Items of the scope's largest scenario: n cannot be more.
    pub(crate) fn largest_n(&self) -> usize {
        let Some(study) = &self.study else {
            return 1;
        };
        self.scenarios_of(self.setting.scope)
            .iter()
            .map(|&s| study.scenario(s).n_items())
            .max()
            .unwrap_or(1)
            .max(1)
    }

    /// The fit that a setting rests on in a scenario.
    pub(crate) fn fit_key(&self, scenario: usize, setting: &Setting) -> FitKey {
        FitKey {
            scenario,
            theta: setting.theta,
            seed: setting.seed,
        }
    }

    /// The fit of a scenario at the current setting.
    pub(crate) fn fit(&self, scenario: usize) -> Option<&Arc<FitShown>> {
        self.fits.get(&self.fit_key(scenario, &self.setting))
    }

    /// The split at the current seed, or the first one until it is there.
    pub(crate) fn split(&self) -> Option<&Arc<Split>> {
        let first = || self.study.as_ref().map(|s| &s.split);
        self.splits.get(&self.setting.seed).or_else(first)
    }

    /// The cell that a setting needs of a scenario; n is capped at its number of items.
    pub(crate) fn key(&self, scenario: usize, setting: &Setting) -> CellKey {
        let items = self.study.as_ref();
        let items = items.map_or(setting.n, |s| s.scenario(scenario).n_items());
        CellKey {
            fit: self.fit_key(scenario, setting),
            selection: setting.selection,
            n: setting.n.min(items),
            edits: setting.edits.get(&scenario).cloned(),
        }
    }

    /// Cells of a setting in its scope, if all are there, with what its estimator needs.
    pub(crate) fn cells_of(&self, setting: &Setting) -> Option<Vec<Arc<Cell>>> {
        let scenarios = self.scenarios_of(setting.scope);
        if scenarios.is_empty() {
            return None;
        }
        scenarios
            .iter()
            .map(|&s| {
                let cell = self.cells.get(&self.key(s, setting));
                cell.filter(|c| c.serves(setting.estimator)).cloned()
            })
            .collect()
    }

    /// How good a setting is, if its cells are there.
    pub(crate) fn metrics_of(&self, setting: &Setting) -> Option<Metrics> {
        let cells = self.cells_of(setting)?;
        Some(metrics(&scored(&cells, setting.estimator, setting.lambda)))
    }

    /// What the user changed by hand in a scenario.
    pub(crate) fn edits(&self, scenario: usize) -> Option<&Arc<Edits>> {
        self.setting.edits.get(&scenario)
    }

    /// Values of n of the trade-off curves in the current scope.
    pub(crate) fn grid(&self) -> Vec<usize> {
        let largest = self.largest_n();
        if largest < FEW_ITEMS {
            let tenths = (1..=10).map(|k| (k * largest).div_ceil(10));
            return tenths.collect::<BTreeSet<usize>>().into_iter().collect();
        }
        N_GRID.into_iter().filter(|&n| n <= largest).collect()
    }

    /// Seeds of the trade-off's band.
    pub(crate) fn band(&self) -> std::ops::Range<u64> {
        let first = self.study.as_ref().map_or(0, |s| s.settings.seed);
        first..first.saturating_add(self.seeds as u64)
    }
}
