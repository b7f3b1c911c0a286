//! Everything the screen shows, and which job it needs next.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tinyscope::anchors::{Anchor, SelectionKind};
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{Lambda, Metrics, Settings};

use super::glyphs::Marker;
use super::study::{
    Cell, CellKey, Curve, FitShown, Scored, Study, curve, metrics, paper_lambda, scored,
};
use super::theme::{Theme, ThemeName};

pub(crate) use super::choices::{Axes, ColourBy, Overlay, Scope, Setting, Sort, Source, ViewName};

/// Work for the worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Job {
    /// Read a benchmark.
    Load(Source),
    /// Fit a scenario.
    Fit(usize),
    /// Choose items and estimate.
    Cell(CellKey),
}

/// The job that the worker is at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Running {
    /// Which.
    pub(crate) job: Job,
    /// Its generation number: reports of older jobs are dropped.
    pub(crate) generation: u64,
    /// What it is doing.
    pub(crate) what: String,
    /// Share done.
    pub(crate) done: f64,
    /// Time since its start at the last report.
    pub(crate) elapsed: Duration,
}

/// The result on the screen; it may be older than the setting.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    /// The scope, n and selection it belongs to.
    pub(crate) setting: Setting,
    /// One cell a scenario of the scope.
    pub(crate) cells: Vec<Arc<Cell>>,
    /// True and estimated scores at the current estimator and lambda.
    pub(crate) scores: Vec<Scored>,
    /// How good they are.
    pub(crate) metrics: Metrics,
    /// The same for a stratified random sample of the same n with the naive estimator.
    pub(crate) baseline: Option<Metrics>,
    /// The paper's lambda (mean over scenarios for overall).
    pub(crate) paper_lambda: Option<f64>,
    /// False while a newer result is being computed.
    pub(crate) fresh: bool,
}

/// Values of n that the slider and its keys stop at.
pub(crate) const N_STOPS: [usize; 20] = [
    5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 750, 1000,
];
/// Values of n at which the trade-off curves are computed.
pub(crate) const N_GRID: [usize; 9] = [10, 20, 30, 40, 60, 80, 100, 150, 200];
/// Step of lambda's keys.
pub(crate) const LAMBDA_STEP: f64 = 0.05;

/// Everything the screen shows.
#[derive(Debug)]
pub(crate) struct State {
    /// The open benchmark.
    pub(crate) study: Option<Arc<Study>>,
    /// What is being opened or was opened last.
    pub(crate) source: Option<Source>,
    /// What the user asks for.
    pub(crate) setting: Setting,
    /// The result on the screen.
    pub(crate) shown: Option<Shown>,
    /// Fits by scenario.
    pub(crate) fits: Vec<Option<Arc<FitShown>>>,
    /// Results by scenario, selection and n.
    pub(crate) cells: HashMap<CellKey, Arc<Cell>>,
    /// Jobs that failed and why; they are not tried again.
    pub(crate) failed: HashMap<Job, String>,
    /// The running job.
    pub(crate) running: Option<Running>,
    /// Compute the trade-off curves before they are looked at.
    pub(crate) ahead: bool,
    /// True after the cancel key, until the setting changes.
    pub(crate) paused: bool,
    /// The view.
    pub(crate) view: ViewName,
    /// What lies over it.
    pub(crate) overlay: Overlay,
    /// Index of the selected anchor of the shown cell.
    pub(crate) anchor: usize,
    /// Curve of the selected anchor, with its scenario and item.
    pub(crate) curve: Option<(usize, usize, Curve)>,
    /// Matrix row of the selected model.
    pub(crate) model: Option<usize>,
    /// Colours of the map.
    pub(crate) colour_by: ColourBy,
    /// What the axes of the map are.
    pub(crate) axes: Axes,
    /// Order of the model table.
    pub(crate) sort: Sort,
    /// Lines the item's text is scrolled by.
    pub(crate) scroll: u16,
    /// The list of scenarios as the user wants it; by the screen's width where absent.
    pub(crate) list_open: Option<bool>,
    /// The inspector as the user wants it; open where absent.
    pub(crate) inspector_open: Option<bool>,
    /// Columns and rows of the screen.
    pub(crate) size: (u16, u16),
    /// How plots are drawn.
    pub(crate) marker: Marker,
    /// Styles.
    pub(crate) theme: Theme,
    /// Only colours that 256-colour terminals have.
    pub(crate) indexed: bool,
    /// A line for the user until the next key.
    pub(crate) message: Option<String>,
    /// Demos and recent files of the open list.
    pub(crate) openable: Vec<Source>,
    /// Counts jobs started.
    pub(crate) generation: u64,
    /// Reports of generations before this one belong to a benchmark that is closed.
    pub(crate) first_generation: u64,
}

impl State {
    /// An empty screen.
    pub(crate) fn new(theme: ThemeName) -> State {
        let setting = Setting {
            scope: Scope::One(0),
            n: 100,
            selection: SelectionKind::AnchorsIrt,
            estimator: Estimator::GpIrt,
            lambda: Lambda::Auto,
        };
        State {
            study: None,
            source: None,
            setting,
            shown: None,
            fits: Vec::new(),
            cells: HashMap::new(),
            failed: HashMap::new(),
            running: None,
            ahead: true,
            paused: false,
            view: ViewName::Map,
            overlay: Overlay::None,
            anchor: 0,
            curve: None,
            model: None,
            colour_by: ColourBy::Cluster,
            axes: Axes::Components,
            sort: Sort::Truth,
            scroll: 0,
            list_open: None,
            inspector_open: None,
            size: (0, 0),
            marker: Marker::Braille,
            theme: Theme::new(theme),
            indexed: false,
            message: None,
            openable: Vec::new(),
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
        };
    }

    /// Puts a benchmark on the screen and forgets results of the last one.
    pub(crate) fn open(&mut self, study: Arc<Study>) {
        if self.study.is_none() {
            self.configure(&study.settings);
        }
        let scenarios = study.scenarios();
        if let Scope::One(index) = self.setting.scope
            && index >= scenarios
        {
            self.setting.scope = Scope::One(0);
        }
        if self.setting.scope == Scope::Overall && scenarios < 2 {
            self.setting.scope = Scope::One(0);
        }
        self.fits = vec![None; scenarios];
        self.cells.clear();
        self.failed.clear();
        self.shown = None;
        self.curve = None;
        self.model = None;
        self.anchor = 0;
        self.scroll = 0;
        self.paused = false;
        self.study = Some(study);
        self.setting.n = self.setting.n.clamp(1, self.largest_n());
    }

    /// Scenario indices of a scope.
    pub(crate) fn scenarios_of(&self, scope: Scope) -> Vec<usize> {
        match scope {
            Scope::One(index) => vec![index],
            Scope::Overall => (0..self.fits.len()).collect(),
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

    /// The cell key of a scenario; n is capped at its number of items.
    pub(crate) fn key(&self, scenario: usize, selection: SelectionKind, n: usize) -> CellKey {
        let items = self
            .study
            .as_ref()
            .map_or(n, |s| s.scenario(scenario).n_items());
        CellKey {
            scenario,
            selection,
            n: n.min(items),
        }
    }

    /// Cells of a scope, if all are there.
    pub(crate) fn cells_of(
        &self,
        scope: Scope,
        selection: SelectionKind,
        n: usize,
    ) -> Option<Vec<Arc<Cell>>> {
        let scenarios = self.scenarios_of(scope);
        if scenarios.is_empty() {
            return None;
        }
        scenarios
            .iter()
            .map(|&s| self.cells.get(&self.key(s, selection, n)).cloned())
            .collect()
    }

    /// How good an estimator is on a scope, if its cells are there.
    pub(crate) fn metrics_of(
        &self,
        scope: Scope,
        selection: SelectionKind,
        n: usize,
        estimator: Estimator,
        lambda: Lambda,
    ) -> Option<Metrics> {
        let cells = self.cells_of(scope, selection, n)?;
        Some(metrics(&scored(&cells, estimator, lambda)))
    }

    /// Values of n of the trade-off curves in the current scope.
    pub(crate) fn grid(&self) -> Vec<usize> {
        let largest = self.largest_n();
        N_GRID.into_iter().filter(|&n| n <= largest).collect()
    }

    /// Brings what is shown up to date with setting and results; called after every change.
    pub(crate) fn refresh(&mut self) {
        let wanted = self.setting;
        let old = self.shown.take();
        let (base, cells, fresh) = match self.cells_of(wanted.scope, wanted.selection, wanted.n) {
            Some(cells) => (wanted, cells, true),
            None => match &old {
                Some(old) => (old.setting, old.cells.clone(), false),
                None => {
                    self.curve = None;
                    return;
                }
            },
        };
        if let Some(old) = &old {
            self.keep_anchor(old, base.scope, &cells);
        } else {
            self.anchor = heaviest(&cells);
        }
        let scores = scored(&cells, wanted.estimator, wanted.lambda);
        let baseline = self.metrics_of(
            base.scope,
            SelectionKind::Random,
            base.n,
            Estimator::Naive,
            Lambda::Auto,
        );
        self.shown = Some(Shown {
            setting: Setting {
                estimator: wanted.estimator,
                lambda: wanted.lambda,
                ..base
            },
            metrics: metrics(&scores),
            scores,
            baseline,
            paper_lambda: paper_lambda(&cells),
            cells,
            fresh,
        });
        self.refresh_curve();
    }

    /// Keeps the selected item where it is still an anchor, else takes the anchor nearest to it.
    fn keep_anchor(&mut self, old: &Shown, scope: Scope, cells: &[Arc<Cell>]) {
        let (Some(before), Some(now)) = (old.cells.first(), cells.first()) else {
            return;
        };
        if Arc::ptr_eq(before, now) {
            return;
        }
        self.scroll = 0;
        let same_scope = old.setting.scope == scope;
        let item = before
            .selection
            .anchors
            .get(self.anchor)
            .map(|a| a.item)
            .filter(|_| same_scope);
        let Some(item) = item else {
            self.anchor = heaviest(cells);
            return;
        };
        let xy = match scope {
            Scope::One(s) => self.fits.get(s).cloned().flatten(),
            Scope::Overall => None,
        };
        let distance = |other: usize| match &xy {
            Some(fit) => match (fit.xy(self.axes).get(item), fit.xy(self.axes).get(other)) {
                (Some(p), Some(q)) => (p[0] - q[0]).hypot(p[1] - q[1]),
                _ => f64::INFINITY,
            },
            None => f64::from(u8::from(other != item)),
        };
        self.anchor = now
            .selection
            .anchors
            .iter()
            .enumerate()
            .min_by(|p, q| distance(p.1.item).total_cmp(&distance(q.1.item)))
            .map_or(0, |(index, _)| index);
    }

    /// Scenario and item of the selected anchor.
    pub(crate) fn selected_item(&self) -> Option<(usize, Anchor)> {
        let shown = self.shown.as_ref()?;
        let Scope::One(scenario) = shown.setting.scope else {
            return None;
        };
        Some((
            scenario,
            *shown.cells.first()?.selection.anchors.get(self.anchor)?,
        ))
    }

    /// Computes the response curve of the selected anchor where it is not there yet.
    pub(crate) fn refresh_curve(&mut self) {
        let wanted = self
            .selected_item()
            .map(|(scenario, anchor)| (scenario, anchor.item));
        if self.curve.as_ref().map(|c| (c.0, c.1)) == wanted {
            return;
        }
        self.curve = wanted.and_then(|(scenario, item)| {
            let fit = self.fits.get(scenario)?.as_ref()?;
            let study = self.study.as_ref()?;
            Some((scenario, item, curve(study, fit, item)))
        });
    }
}

/// The anchor with the largest weight.
fn heaviest(cells: &[Arc<Cell>]) -> usize {
    cells
        .first()
        .and_then(|cell| {
            cell.selection
                .anchors
                .iter()
                .enumerate()
                .max_by(|p, q| p.1.weight.total_cmp(&q.1.weight).then(q.0.cmp(&p.0)))
        })
        .map_or(0, |(index, _)| index)
}
