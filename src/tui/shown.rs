//! The result on the screen: the last one that is complete, and the pinned one beside it.

use std::cell::OnceCell;
use std::sync::Arc;

use tinyscope::anchors::{Anchor, SelectionKind};
use tinyscope::estimate::{Estimator, Interval, PARTS};
use tinyscope::experiment::{Lambda, Metrics};

use super::curves::Curves;
use super::state::{Cursor, Scope, Setting, State};
use super::study::{Cell, Scored, curve, is_learned, metrics, mine, paper_lambda, scored};
use super::sure::{self, Standing, Sure};

/// What one setting gives.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// The setting.
    pub(crate) setting: Setting,
    /// One cell a scenario of the scope.
    pub(crate) cells: Vec<Arc<Cell>>,
    /// True and estimated scores.
    pub(crate) scores: Vec<Scored>,
    /// How good they are.
    pub(crate) metrics: Metrics,
    /// The paper's lambda (mean over scenarios for overall).
    pub(crate) paper_lambda: Option<f64>,
    /// The estimate of the user's own model.
    pub(crate) mine: Option<f64>,
    /// Its interval.
    pub(crate) mine_interval: Option<Interval>,
    /// Intervals of the scores.
    pub(crate) sure: Sure,
    /// Ranks and comparisons, computed when first drawn.
    standing: OnceCell<Option<Standing>>,
}

impl Found {
    fn new(setting: Setting, cells: Vec<Arc<Cell>>) -> Found {
        let (estimator, lambda) = (setting.estimator, setting.lambda);
        let scores = scored(&cells, estimator, lambda);
        let mine = mine(&cells, estimator, lambda);
        Found {
            mine_interval: sure::mine(&cells, estimator, lambda),
            sure: Sure::of(&cells, &scores, estimator, lambda),
            standing: OnceCell::new(),
            metrics: metrics(&scores),
            paper_lambda: paper_lambda(&cells),
            mine,
            scores,
            cells,
            setting,
        }
    }

    /// The lambda in use: 1 for naive, 0 for p-IRT.
    pub(crate) fn lambda(&self) -> Option<f64> {
        match (self.setting.estimator, self.setting.lambda) {
            (Estimator::Naive, _) => Some(1.0),
            (Estimator::PIrt, _) => Some(0.0),
            (Estimator::GpIrt, Lambda::Auto) => self.paper_lambda,
            (Estimator::GpIrt, Lambda::Fixed(x)) => Some(x),
            (Estimator::GpIrtCv, _) => sure::learned(&self.cells, |s| s.lambda),
            // The others are no mixture of the two.
            _ => None,
        }
    }

    /// Whether all of it is learned: then no interval is still to come.
    pub(crate) fn learned(&self) -> bool {
        self.cells.iter().all(|cell| cell.learned)
    }

    /// Weights of the stacked estimate's parts (mean over scenarios for overall).
    pub(crate) fn weights(&self) -> Option<[f64; PARTS.len()]> {
        let mut weights = [0.0; PARTS.len()];
        for (at, weight) in weights.iter_mut().enumerate() {
            *weight = sure::learned(&self.cells, |s| s.weights[at])?;
        }
        Some(weights)
    }

    /// Ranks that the models may hold, and comparisons of two.
    pub(crate) fn standing(&self) -> Option<&Standing> {
        let of = || Standing::of(&self.cells, self.setting.estimator, self.setting.lambda);
        self.standing.get_or_init(of).as_ref()
    }

    /// The interval of a test model.
    pub(crate) fn interval(&self, model: usize) -> Option<Interval> {
        let at = self.scores.iter().position(|s| s.model == model)?;
        self.sure.intervals.get(at).copied().flatten()
    }

    /// The only cell of a single scenario.
    pub(crate) fn cell(&self) -> Option<&Arc<Cell>> {
        match self.setting.scope {
            Scope::One(_) => self.cells.first(),
            Scope::Overall => None,
        }
    }

    /// Chosen items that the user's own model answered, and how many were chosen.
    pub(crate) fn answered(&self) -> (usize, usize) {
        let own = self.cells.iter().filter_map(|c| c.mine.as_ref());
        own.fold((0, 0), |s, m| (s.0 + m.answered, s.1 + m.chosen))
    }

    /// Chosen items: of a scenario, or of all together.
    pub(crate) fn items(&self) -> usize {
        self.cells.iter().map(|c| c.found.selection.n()).sum()
    }
}

/// Items that the filter keeps.
#[derive(Debug, Clone)]
pub(crate) struct Matches {
    /// The scenario that they are of.
    pub(crate) scenario: usize,
    /// One an item.
    pub(crate) items: Vec<bool>,
    filter: String,
}

/// The result on the screen; it may be older than the setting.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    /// What is shown.
    pub(crate) now: Found,
    /// The metrics of a stratified random sample of the same n with the naive estimator.
    pub(crate) baseline: Option<Metrics>,
    /// The pinned setting in the same scope.
    pub(crate) ghost: Option<Found>,
    /// False while a newer result is being computed.
    pub(crate) fresh: bool,
    /// The curves of error and of rank correlation, and what an error needs.
    pub(crate) curves: Curves,
}

impl State {
    /// The pinned setting in a scope.
    pub(crate) fn pinned(&self, scope: Scope) -> Option<Setting> {
        self.pin.clone().map(|pin| Setting { scope, ..pin })
    }

    /// Brings what is shown up to date with setting and results; called after every change.
    pub(crate) fn refresh(&mut self) {
        let wanted = self.setting.clone();
        let old = self.shown.take();
        // Until something is learned at a new setting, the paper's estimate stands in for it.
        let stand_in = Setting {
            estimator: Estimator::GpIrt,
            ..wanted.clone()
        };
        let unlearned = is_learned(wanted.estimator).then_some(&stand_in);
        let there = unlearned.and_then(|s| Some((s.clone(), self.cells_of(s)?)));
        let (base, cells, fresh) = match (self.cells_of(&wanted), there) {
            (Some(cells), _) => (wanted.clone(), cells, true),
            (None, Some((stand_in, cells))) => (stand_in, cells, false),
            (None, None) => match &old {
                Some(old) => (old.now.setting.clone(), old.now.cells.clone(), false),
                None => {
                    self.curve = None;
                    return;
                }
            },
        };
        let serves = cells.iter().all(|cell| cell.serves(wanted.estimator));
        let now = Found::new(
            Setting {
                estimator: if serves {
                    wanted.estimator
                } else {
                    stand_in.estimator
                },
                lambda: wanted.lambda,
                ..base.clone()
            },
            cells,
        );
        let baseline = self.metrics_of(&Setting {
            selection: SelectionKind::Random,
            estimator: Estimator::Naive,
            ..base.clone()
        });
        self.warn_of_few_answers(&now, old.as_ref());
        let pinned = self.pinned(base.scope);
        let ghost = pinned.and_then(|pin| self.cells_of(&pin).map(|cells| Found::new(pin, cells)));
        // While the last result is of another scenario, there is no item to select.
        if base.scope == wanted.scope {
            self.keep_item(&now);
        }
        let before = old.map(|old| (old.now.setting, old.curves));
        self.shown = Some(Shown {
            curves: self.kept_curves(before, &now.setting),
            now,
            baseline,
            ghost,
            fresh,
        });
        self.refresh_curve();
        self.refresh_matches();
    }

    /// Answers to other items than the chosen ones tell little: said when their number changes.
    fn warn_of_few_answers(&mut self, now: &Found, old: Option<&Shown>) {
        let (answered, chosen) = now.answered();
        let before = old.map(|old| old.now.answered());
        if before != Some((answered, chosen)) && 2 * answered < chosen {
            self.message = Some(format!(
                "only {answered} of the {chosen} items chosen here were answered; \
                 `tinyscope anchors DATA --split iid` chooses the explorer's"
            ));
        }
    }

    /// The cursor stays where it is; where it walks anchors and its item is none, it takes the nearest
    /// one, and the heaviest where there was none.
    fn keep_item(&mut self, now: &Found) {
        let Some(cell) = now.cell() else {
            self.item = None;
            return;
        };
        let anchors = &cell.found.selection.anchors;
        let Some(item) = self.item else {
            self.item = heaviest(anchors);
            return;
        };
        if self.cursor == Cursor::Items || anchors.iter().any(|a| a.item == item) {
            return;
        }
        let fit = match now.setting.scope {
            Scope::One(s) => self.fits.get(&self.fit_key(s, &now.setting)),
            Scope::Overall => None,
        };
        let Some(xy) = fit.map(|fit| fit.xy(self.axes)) else {
            return;
        };
        let distance = |other: usize| match (xy.get(item), xy.get(other)) {
            (Some(p), Some(q)) => (p[0] - q[0]).hypot(p[1] - q[1]),
            _ => f64::INFINITY,
        };
        self.scroll = 0;
        self.item = anchors
            .iter()
            .min_by(|p, q| distance(p.item).total_cmp(&distance(q.item)))
            .map(|a| a.item);
    }

    /// Scenario and position of the selected item.
    pub(crate) fn selected_item(&self) -> Option<(usize, usize)> {
        let shown = self.shown.as_ref()?;
        match shown.now.setting.scope {
            Scope::One(scenario) if self.scenario() == Some(scenario) => {
                Some((scenario, self.item?))
            }
            _ => None,
        }
    }

    /// Index and anchor of an item of the shown scenario, where it is one.
    pub(crate) fn anchor_of(&self, item: usize) -> Option<(usize, Anchor)> {
        let cell = self.shown.as_ref()?.now.cell()?;
        let anchors = cell.found.selection.anchors.iter().copied();
        anchors.enumerate().find(|(_, a)| a.item == item)
    }

    /// The anchor (a position) whose cluster an item of the shown scenario belongs to.
    pub(crate) fn anchor_owning(&self, item: usize) -> Option<usize> {
        let selection = &self.shown.as_ref()?.now.cell()?.found.selection;
        let cluster = *selection.clusters.as_ref()?.get(item)?;
        selection.anchors.get(cluster).map(|a| a.item)
    }

    /// Brings the items that the filter keeps up to date with filter and scenario.
    pub(crate) fn refresh_matches(&mut self) {
        let wanted = self.scenario().filter(|_| !self.item_filter.is_empty());
        let (Some(scenario), Some(study)) = (wanted, self.study.clone()) else {
            self.matches = None;
            return;
        };
        let same = |m: &Matches| m.scenario == scenario && m.filter == self.item_filter;
        if self.matches.as_ref().is_some_and(same) {
            return;
        }
        let wanted = self.item_filter.to_lowercase();
        let parts = &study.scenario(scenario).subscenarios;
        let items = (0..study.scenario(scenario).n_items()).map(|item| {
            let id = study.item_id(scenario, item);
            let holds = |text: &str| text.to_lowercase().contains(&wanted);
            let part = parts.iter().find(|p| p.items.contains(&item));
            let text = study.benchmark.texts.get(id);
            holds(id)
                || part.is_some_and(|p| holds(&p.name))
                || text.is_some_and(|t| holds(&t.text))
        });
        self.matches = Some(Matches {
            scenario,
            items: items.collect(),
            filter: self.item_filter.clone(),
        });
    }

    /// Computes the response curve of the selected item where it is not there yet.
    pub(crate) fn refresh_curve(&mut self) {
        let wanted = self.selected_item();
        if self.curve.as_ref().map(|c| (c.0, c.1)) == wanted {
            return;
        }
        self.curve = wanted.and_then(|(scenario, item)| {
            let study = self.study.as_ref()?;
            Some((scenario, item, curve(study, self.fit(scenario)?, item)))
        });
    }

    /// True score of each model of the matrix in the shown scope, once all of its scenarios are fitted.
    pub(crate) fn true_scores(&self) -> Option<Vec<Option<f64>>> {
        let shown = self.shown.as_ref()?;
        let fits: Option<Vec<_>> = self
            .scenarios_of(shown.now.setting.scope)
            .into_iter()
            .map(|s| self.fits.get(&self.fit_key(s, &shown.now.setting)))
            .collect();
        let fits = fits.filter(|fits| !fits.is_empty())?;
        let mean = |model: usize| {
            let each: Option<Vec<f64>> = fits.iter().map(|fit| fit.truths[model]).collect();
            each.map(|each| each.iter().sum::<f64>() / each.len() as f64)
        };
        Some((0..fits[0].truths.len()).map(mean).collect())
    }

    /// Rank that a score would have among the true scores of all models in the shown scope, and how
    /// many they are; 1 is the best.
    pub(crate) fn predicted_rank(&self, score: f64) -> Option<(usize, usize)> {
        let truths: Vec<f64> = self.true_scores()?.into_iter().flatten().collect();
        let better = truths.iter().filter(|t| **t > score).count();
        Some((better + 1, truths.len()))
    }
}

/// The anchor with the largest weight; the first of equals.
fn heaviest(anchors: &[Anchor]) -> Option<usize> {
    anchors
        .iter()
        .max_by(|p, q| p.weight.total_cmp(&q.weight).then(q.item.cmp(&p.item)))
        .map(|a| a.item)
}
