//! One model's anchors answered one by one: which model, how far, and whether it runs by itself.

use std::sync::Arc;
use std::time::Duration;

use tinyscope::experiment::Replay;

use super::job::{CellKey, Who};
use super::state::{Scope, State};

/// Steps a second that the speed keys go through.
pub(crate) const SPEEDS: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 20.0, 40.0];

/// The replay as far as the user has it.
#[derive(Debug, Clone)]
pub(crate) struct ReplayState {
    /// Whose answers; the first test model where absent.
    pub(crate) who: Option<Who>,
    /// Answers revealed so far.
    pub(crate) step: usize,
    /// It runs by itself.
    pub(crate) playing: bool,
    /// Index into [`SPEEDS`].
    pub(crate) speed: usize,
    /// The last one that was computed.
    pub(crate) result: Option<(CellKey, Who, Arc<Replay>)>,
}

impl Default for ReplayState {
    fn default() -> ReplayState {
        ReplayState {
            who: None,
            step: 1,
            playing: false,
            speed: 2,
            result: None,
        }
    }
}

impl ReplayState {
    /// Stops running by itself.
    pub(crate) fn pause(&mut self) {
        self.playing = false;
    }

    /// Whether the result of this is there.
    pub(crate) fn holds(&self, key: &CellKey, who: Who) -> bool {
        matches!(&self.result, Some((k, w, _)) if k == key && *w == who)
    }

    /// Steps of the result.
    pub(crate) fn steps(&self) -> usize {
        self.result.as_ref().map_or(0, |r| r.2.steps.len())
    }

    /// Goes to a step; the first answer is always revealed.
    pub(crate) fn go(&mut self, step: usize) {
        self.step = step.clamp(1, self.steps().max(1));
    }

    /// One step on; stops at the end.
    pub(crate) fn tick(&mut self) {
        self.go(self.step + 1);
        if self.step >= self.steps() {
            self.playing = false;
        }
    }

    /// Time between steps.
    pub(crate) fn interval(&self) -> Duration {
        Duration::from_secs_f64(1.0 / SPEEDS[self.speed.min(SPEEDS.len() - 1)])
    }
}

impl State {
    /// The models that a replay can be of: the user's own, then the test models in the order of the
    /// score table.
    pub(crate) fn replayable(&self) -> Vec<Who> {
        let own = self.mine.iter().map(|_| Who::Mine);
        let rows = super::view::models::order(self);
        own.chain(rows.iter().map(|row| Who::Model(row.scored.model)))
            .collect()
    }

    /// Whose answers are revealed.
    pub(crate) fn replayed(&self) -> Option<Who> {
        let all = self.replayable();
        let wanted = self.replay.who.or(self.model.map(Who::Model));
        wanted
            .filter(|who| all.contains(who))
            .or_else(|| all.first().copied())
    }

    /// The replay that the screen wants, where one scenario is shown and its items are chosen.
    pub(crate) fn replay_wanted(&self) -> Option<(CellKey, Who)> {
        let shown = self.shown.as_ref().filter(|s| s.fresh)?;
        let Scope::One(scenario) = shown.now.setting.scope else {
            return None;
        };
        Some((self.key(scenario, &self.setting), self.replayed()?))
    }
}
