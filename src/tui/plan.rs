//! Which job the screen needs next: it says what it lacks, and the most urgent comes first.

use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;

use super::job::{CellKey, Job};
use super::state::{Scope, Setting, State, ViewName};
use super::study::is_learned;
use super::update::next_stop;

/// So many of the slider's stops on each side of n are computed ahead.
const STOPS_AHEAD: usize = 4;

impl State {
    /// The most urgent job whose result is not there: first what the screen shows now, then what a
    /// key would show, then the curves of the trade-off.
    pub(crate) fn next_job(&self) -> Option<Job> {
        if self.paused || self.study.is_none() {
            return None;
        }
        let lacks = |settings: &[Setting]| self.lacking(settings);
        let kinds = |setting: &Setting| SelectionKind::ALL.map(|k| with(setting, k));
        lacks(&self.waited_for())
            .or_else(|| self.replay_job())
            .or_else(|| self.looked_at())
            .or_else(|| lacks(&kinds(&self.setting)))
            .or_else(|| lacks(&self.listed()))
            .or_else(|| if self.ahead { self.soon() } else { None })
    }

    /// What the screen cannot be drawn without.
    fn waited_for(&self) -> Vec<Setting> {
        let random = Setting {
            estimator: Estimator::Naive,
            ..with(&self.setting, SelectionKind::Random)
        };
        let mut wanted = vec![self.setting.clone(), random];
        wanted.extend(self.pinned(self.setting.scope));
        wanted
    }

    /// How sure the estimates on the screen are.
    fn intervals(&self) -> Option<Job> {
        self.intervals_of(&self.setting)
    }

    /// How sure those of a setting are whose cells are there.
    fn intervals_of(&self, setting: &Setting) -> Option<Job> {
        let scenarios = self.scenarios_of(setting.scope);
        scenarios
            .into_iter()
            .find_map(|s| self.unlearned(self.key(s, setting)))
    }

    /// The job that learns from the training models of a cell that is there, unless it is done.
    fn unlearned(&self, key: CellKey) -> Option<Job> {
        let cell = self.cells.get(&key)?;
        if cell.learned {
            return None;
        }
        self.untried(Job::Learn(key))
    }

    /// The errors of the list: the setting in every scenario that was asked for.
    fn listed(&self) -> Vec<Setting> {
        let Some(study) = &self.study else {
            return Vec::new();
        };
        let scenarios = study.settings.scenario_indices(&study.benchmark);
        let one = |s: usize| Setting {
            scope: Scope::One(s),
            ..self.setting.clone()
        };
        scenarios.into_iter().map(one).collect()
    }

    /// What only the view on the screen needs.
    fn looked_at(&self) -> Option<Job> {
        match self.view {
            ViewName::Scores | ViewName::Replay => self.intervals(),
            ViewName::Tradeoff => self.curves(),
            ViewName::Data if self.findings.is_none() => self.untried(Job::Diagnose),
            // On a live screen the overlap of other seeds can wait.
            ViewName::Map | ViewName::Items if !self.ahead => self.lacking(&self.other_seeds()),
            _ => None,
        }
    }

    /// What a key would show next, and further keys after it.
    fn soon(&self) -> Option<Job> {
        let around = self.around();
        let beside = |stops: &[Setting]| {
            let random = |stop: &Setting| [stop.clone(), with(stop, SelectionKind::Random)];
            self.lacking(&stops.iter().flat_map(random).collect::<Vec<_>>())
        };
        let next = &around[..around.len().min(2)];
        beside(next)
            .or_else(|| self.intervals())
            .or_else(|| beside(&around))
            .or_else(|| self.lacking(&self.other_seeds()))
            .or_else(|| self.curves())
            .or_else(|| next.iter().find_map(|stop| self.intervals_of(stop)))
            .or_else(|| match self.findings {
                None => self.untried(Job::Diagnose),
                Some(_) => None,
            })
            // Who looks at the trade-off compares all methods in the end; it takes long, so it comes last.
            .or_else(|| match self.view {
                ViewName::Tradeoff => self.curves_of(Estimator::Stacked),
                _ => None,
            })
    }

    /// The setting at the slider's stops around n, the nearest first: whoever holds the key down meets results.
    fn around(&self) -> Vec<Setting> {
        let (mut up, mut down) = (self.setting.n, self.setting.n);
        let mut stops = Vec::new();
        for _ in 0..STOPS_AHEAD {
            for (n, more) in [(&mut up, true), (&mut down, false)] {
                let stop = next_stop(*n, more, self.largest_n());
                if stop != *n {
                    *n = stop;
                    stops.push(Setting {
                        n: stop,
                        ..self.setting.clone()
                    });
                }
            }
        }
        stops
    }

    /// The trade-off's curves at this seed, then at the others of the band.
    fn curves(&self) -> Option<Job> {
        // The paper's estimators take no learning: they are drawn first, whatever is chosen.
        let (here, paper, chosen) = (self.setting.seed, Estimator::GpIrt, self.setting.estimator);
        self.lacking(&self.grid_at(here, paper))
            .or_else(|| self.intervals())
            // The table of errors has every estimator at this n.
            .or_else(|| {
                let mut kinds = SelectionKind::ALL.into_iter();
                kinds.find_map(|kind| self.intervals_of(&with(&self.setting, kind)))
            })
            .or_else(|| self.lacking(&self.grid_at(here, chosen)))
            .or_else(|| self.curves_of(paper))
            .or_else(|| self.curves_of(chosen))
    }

    /// The curves of an estimator, under every selection and at every seed of the band.
    fn curves_of(&self, estimator: Estimator) -> Option<Job> {
        self.band()
            .find_map(|seed| self.lacking(&self.grid_at(seed, estimator)))
    }

    /// The settings that a seed's curves of an estimator rest on.
    fn grid_at(&self, seed: u64, estimator: Estimator) -> Vec<Setting> {
        let mut settings = Vec::new();
        for n in self.grid() {
            for kind in SelectionKind::ALL {
                settings.push(Setting {
                    n,
                    seed,
                    estimator,
                    ..with(&self.setting, kind)
                });
            }
        }
        settings
    }

    /// The setting at the other seeds of the band: how stable the anchors are.
    pub(crate) fn other_seeds(&self) -> Vec<Setting> {
        self.band()
            .filter(|&seed| seed != self.setting.seed)
            .map(|seed| Setting {
                seed,
                ..self.setting.clone()
            })
            .collect()
    }

    /// The first job of these settings whose result is not there. Only the fits of the current
    /// setting are shown; those of other seeds stay with the worker.
    fn lacking(&self, settings: &[Setting]) -> Option<Job> {
        settings.iter().find_map(|setting| {
            self.scenarios_of(setting.scope)
                .into_iter()
                .find_map(|scenario| {
                    let key = self.key(scenario, setting);
                    let mine =
                        setting.seed == self.setting.seed && setting.theta == self.setting.theta;
                    if mine && !self.fits.contains_key(&key.fit) {
                        return self.untried(Job::Fit(key.fit));
                    }
                    match self.cells.get(&key) {
                        None => self.untried(Job::Cell(key)),
                        Some(cell) if cell.serves(setting.estimator) => None,
                        Some(_) => self.untried(Job::Learn(key)),
                    }
                })
        })
    }

    fn untried(&self, job: Job) -> Option<Job> {
        (!self.failed.contains_key(&job)).then_some(job)
    }

    fn replay_job(&self) -> Option<Job> {
        if self.view != ViewName::Replay {
            return None;
        }
        let (key, who) = self.replay_wanted()?;
        if self.replay.holds(&key, who) {
            return None;
        }
        self.untried(Job::Replay(key, who))
    }

    /// True when the screen is waiting for this job's result.
    pub(crate) fn urgent(&self, job: &Job) -> bool {
        match job {
            Job::Load(_) | Job::Answers(_) => true,
            Job::Diagnose => self.view == ViewName::Data,
            Job::Replay(key, who) => {
                self.view == ViewName::Replay && self.replay_wanted() == Some((key.clone(), *who))
            }
            Job::Fit(fit) => {
                self.scenarios_of(self.setting.scope)
                    .contains(&fit.scenario)
                    && *fit == self.fit_key(fit.scenario, &self.setting)
            }
            Job::Cell(key) => self.waits_for(key, |_| true),
            Job::Learn(key) => self.waits_for(key, is_learned),
        }
    }

    /// True when a setting that is waited for, of such an estimator, rests on this cell.
    fn waits_for(&self, key: &CellKey, of: fn(Estimator) -> bool) -> bool {
        self.waited_for().iter().any(|setting| {
            of(setting.estimator)
                && self.scenarios_of(setting.scope).contains(&key.fit.scenario)
                && *key == self.key(key.fit.scenario, setting)
        })
    }
}

fn with(setting: &Setting, selection: SelectionKind) -> Setting {
    Setting {
        selection,
        ..setting.clone()
    }
}
