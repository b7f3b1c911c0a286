//! Which job the screen needs next: it says what it lacks, and the most urgent comes first.

use tinyscope::anchors::SelectionKind;

use super::state::{Job, Setting, State, ViewName};

impl State {
    /// The most urgent job whose result is not there: first what the screen shows now, then what a
    /// key would show, then the curves of the trade-off.
    pub(crate) fn next_job(&self) -> Option<Job> {
        if self.paused || self.study.is_none() {
            return None;
        }
        let Setting {
            scope,
            n,
            selection,
            ..
        } = self.setting;
        let here = self.scenarios_of(scope);
        let everywhere: Vec<usize> = match &self.study {
            Some(study) => study.settings.scenario_indices(&study.benchmark),
            None => Vec::new(),
        };
        let now = self.lacking(&here, &[selection, SelectionKind::Random], &[n]);
        now.or_else(|| self.lacking(&here, &SelectionKind::ALL, &[n]))
            .or_else(|| {
                let grid = (self.view == ViewName::Tradeoff).then(|| self.grid());
                grid.and_then(|grid| self.lacking(&here, &SelectionKind::ALL, &grid))
            })
            .or_else(|| self.lacking(&everywhere, &[selection], &[n]))
            .or_else(|| {
                let grid = self.ahead.then(|| self.grid());
                grid.and_then(|grid| self.lacking(&here, &SelectionKind::ALL, &grid))
            })
    }

    fn lacking(
        &self,
        scenarios: &[usize],
        selections: &[SelectionKind],
        ns: &[usize],
    ) -> Option<Job> {
        let mut jobs = Vec::new();
        for &n in ns {
            for &selection in selections {
                for &scenario in scenarios {
                    let key = self.key(scenario, selection, n);
                    if self.fits.get(scenario).is_some_and(Option::is_none) {
                        jobs.push(Job::Fit(scenario));
                    } else if !self.cells.contains_key(&key) {
                        jobs.push(Job::Cell(key));
                    }
                }
            }
        }
        jobs.into_iter().find(|job| !self.failed.contains_key(job))
    }

    /// True when the screen is waiting for this job's result.
    pub(crate) fn urgent(&self, job: &Job) -> bool {
        let here = self.scenarios_of(self.setting.scope);
        match job {
            Job::Load(_) => true,
            Job::Fit(scenario) => here.contains(scenario),
            Job::Cell(key) => {
                here.contains(&key.scenario)
                    && *key == self.key(key.scenario, key.selection, self.setting.n)
                    && (key.selection == self.setting.selection
                        || key.selection == SelectionKind::Random)
            }
        }
    }
}
