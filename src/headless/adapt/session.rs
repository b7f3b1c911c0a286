//! One scenario asked item by item.

use std::collections::HashMap;
use std::io::Write;

use tinyscope::Error;
use tinyscope::anchors::AdaptiveTest;
use tinyscope::data::{ItemTexts, count};
use tinyscope::estimate::Interval;
use tinyscope::experiment::{Adaptive, Stop};
use tinyscope::irt::wilson_interval;

use super::super::{Failure, warn};
use super::answers::Answers;
use super::ask::{Asker, Reply};

/// A scenario that can be asked.
pub(super) struct Ready {
    pub(super) name: String,
    /// Ids by position.
    pub(super) items: Vec<String>,
    /// Lowest and highest true score of the training models, where known.
    pub(super) training: Option<[f64; 2]>,
    pub(super) adaptive: Adaptive,
}

/// Why a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// As many answers as were wanted.
    Answers,
    /// The interval is narrow enough.
    HalfWidth,
    /// Nothing is left to ask.
    Items,
    /// The user, or the end of the input.
    Quit,
}

impl Ended {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Answers => "n",
            Self::HalfWidth => "half-width",
            Self::Items => "items",
            Self::Quit => "quit",
        }
    }
}

/// What a test found.
pub(super) struct Found {
    pub(super) name: String,
    /// Items of the scenario.
    pub(super) items: usize,
    pub(super) interval: Interval,
    /// Not cut to \[0, 1\].
    pub(super) half_width: f64,
    /// Training models tell how wide it is.
    pub(super) calibrated: bool,
    /// Ids and scores, in order.
    pub(super) asked: Vec<(String, f64)>,
    pub(super) ended: Ended,
}

impl Found {
    /// How many right-or-wrong items drawn at random have a 90 % interval as narrow as this where the score is the estimate:
    /// the fewest whose Wilson interval is, with less to it as items run out.
    pub(super) fn random_items(&self) -> usize {
        let most = self.items as f64;
        let narrow = |n: usize| {
            let (low, high) = wilson_interval(self.interval.estimate, n as f64, NORMAL);
            let left = ((most - n as f64) / (most - 1.0).max(1.0)).sqrt();
            (high - low) / 2.0 * left <= self.half_width
        };
        // The interval only ever narrows.
        let (mut low, mut high) = (0, self.items);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if narrow(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }
}

/// 90 % of a normal distribution lie so many deviations around its mean.
const NORMAL: f64 = 1.645;

pub(super) struct Session<'a> {
    ready: &'a Ready,
    texts: &'a ItemTexts,
    stop: Stop,
    /// An answer to a scenario before can be taken back.
    pub(super) earlier: bool,
}

/// How a scenario was left.
pub(super) enum Left {
    /// Its test ended.
    Done(Found),
    /// For the scenario before, whose last answer is to be taken back.
    Back,
}

/// Positions and scores in order, no score where an item cannot be asked.
type History = Vec<(usize, Option<f64>)>;

impl<'a> Session<'a> {
    pub(super) fn new(ready: &'a Ready, texts: &'a ItemTexts, stop: Stop) -> Self {
        Self {
            ready,
            texts,
            stop,
            earlier: false,
        }
    }

    /// Asks until the test ends; every answer is saved before the next item is asked. With `back` the last answer is taken
    /// back first.
    pub(super) fn run(
        &self,
        answers: &mut Answers,
        asker: &mut Asker<'_>,
        talk: &mut dyn Write,
        notes: &mut Vec<String>,
        back: bool,
    ) -> Result<Left, Failure> {
        let (items, calibration) = (&self.ready.items, &self.ready.adaptive.calibration);
        let mut test = self.ready.adaptive.test();
        let mut history = self.known(answers);
        let scored = |&(item, y): &(usize, Option<f64>)| Some((item, y?));
        let known: Vec<(usize, f64)> = history.iter().filter_map(scored).collect();
        test.answer_all(&known)?;
        for (item, _) in history.iter().filter(|(_, y)| y.is_none()) {
            test.set_open(*item, false);
        }
        self.leave_out(&mut test, asker, notes);
        let name = plain(&self.ready.name);
        writeln!(talk, "\n{name}: {} items", items.len())?;
        // After an answer was taken back another is asked for, even where the test would end without.
        let mut asked_for = back && self.take_back(&mut test, &mut history, answers, talk)?;
        let ended = loop {
            let outcome = test.outcome();
            let half = calibration.estimate(&outcome).1;
            let Interval {
                estimate,
                low,
                high,
            } = calibration.interval(&outcome);
            writeln!(
                talk,
                "{:>4} answered   estimate {estimate:.4}   90 % from {low:.4} to {high:.4}",
                outcome.answered
            )?;
            if let (Some(n), false) = (calibration.reach(), calibration.reaches(&outcome)) {
                note(
                    notes,
                    format!(
                        "{name}: intervals are calibrated for up to {n}; beyond these they are those of {n}, \
                         and may be too narrow",
                        n = count(n, "answer")
                    ),
                );
            }
            if !std::mem::take(&mut asked_for) {
                if outcome.answered >= self.stop.n {
                    break Ended::Answers;
                }
                if self.stop.ends(outcome.answered, half) {
                    break Ended::HalfWidth;
                }
            }
            let Some(item) = test.next_item() else {
                break Ended::Items;
            };
            let id = &items[item];
            writeln!(talk, "item {}", plain(id))?;
            self.text(id, talk)?;
            talk.flush()?;
            match asker
                .ask(id, talk)?
                .map_err(|why| failed(id, &why, answers))?
            {
                Reply::Score(score) => {
                    test.answer(item, score)?;
                    answers.set(id, Some(score))?;
                    history.push((item, Some(score)));
                }
                Reply::Skip => {
                    test.set_open(item, false);
                    answers.set(id, None)?;
                    history.push((item, None));
                }
                Reply::Undo => {
                    if self.take_back(&mut test, &mut history, answers, talk)? {
                        asked_for = true;
                    } else if self.earlier {
                        return Ok(Left::Back);
                    } else {
                        writeln!(talk, "nothing to take back")?;
                    }
                }
                Reply::Quit => break Ended::Quit,
            }
        };
        let outcome = test.outcome();
        let asked = test.order().iter();
        Ok(Left::Done(Found {
            name: self.ready.name.clone(),
            items: items.len(),
            interval: calibration.interval(&outcome),
            half_width: calibration.estimate(&outcome).1,
            calibrated: calibration.reaches(&outcome),
            asked: asked
                .filter_map(|&i| Some((items[i].clone(), test.score(i)?)))
                .collect(),
            ended,
        }))
    }

    /// Takes the last answer back; false where there is none.
    fn take_back(
        &self,
        test: &mut AdaptiveTest<'_>,
        history: &mut History,
        answers: &mut Answers,
        talk: &mut dyn Write,
    ) -> Result<bool, Failure> {
        let Some((item, score)) = history.pop() else {
            return Ok(false);
        };
        if score.is_some() {
            test.undo();
        }
        test.set_open(item, true);
        let id = &self.ready.items[item];
        answers.remove(id)?;
        writeln!(talk, "taken back: {}", plain(id))?;
        Ok(true)
    }

    /// Items that cannot be named to whoever answers are not asked; they may have been answered otherwise.
    fn leave_out(&self, test: &mut AdaptiveTest<'_>, asker: &Asker<'_>, notes: &mut Vec<String>) {
        let mut left_out = 0;
        for (item, id) in self.ready.items.iter().enumerate() {
            if test.score(item).is_none() && !asker.takes(id) {
                test.set_open(item, false);
                left_out += 1;
            }
        }
        if left_out > 0 {
            let (name, items) = (plain(&self.ready.name), count(left_out, "item"));
            note(
                notes,
                format!(
                    "{name}: {items} not asked: no command can be given an id that holds a NUL character"
                ),
            );
        }
    }

    /// Whether the file of answers holds some of this scenario.
    pub(super) fn begun(&self, answers: &Answers) -> bool {
        !self.known(answers).is_empty()
    }

    /// What the file of answers holds of this scenario, in its order: position and score, no score where it cannot be asked.
    fn known(&self, answers: &Answers) -> History {
        let items = self.ready.items.iter().enumerate();
        let position: HashMap<&str, usize> = items.map(|(i, id)| (id.as_str(), i)).collect();
        let each = answers.iter();
        each.filter_map(|(id, y)| Some((*position.get(id)?, y)))
            .collect()
    }

    fn text(&self, id: &str, talk: &mut dyn Write) -> std::io::Result<()> {
        let Some(text) = self.texts.get(id) else {
            return Ok(());
        };
        for line in text
            .text
            .lines()
            .chain(text.options.iter().map(String::as_str))
        {
            writeln!(talk, "     {}", plain(line))?;
        }
        Ok(())
    }
}

/// What a file holds must not steer the terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn failed(item: &str, why: &str, answers: &Answers) -> Failure {
    let item = plain(item);
    Error::setting(format!("item {item}: {why}"), answers.how_to_go_on()).into()
}

/// A warning, on standard error and for the result; each once.
fn note(notes: &mut Vec<String>, text: String) {
    if !notes.contains(&text) {
        warn(std::slice::from_ref(&text));
        notes.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_items_by_wilson_interval() {
        let of = |estimate, half_width, items| {
            let found = Found {
                name: String::new(),
                items,
                interval: Interval::around(estimate, half_width),
                half_width,
                calibrated: true,
                asked: Vec::new(),
                ended: Ended::HalfWidth,
            };
            found.random_items()
        };
        // 1.645^2 / 4 / 0.02^2 = 1691, a little less by Wilson.
        assert!((1680..1692).contains(&of(0.5, 0.02, 10_000_000)));
        assert!((600..640).contains(&of(0.5, 0.02, 1000)));
        assert!(of(1.0, 0.05, 1000) > 20);
        assert_eq!(
            (of(0.5, 0.9, 100), of(0.5, 0.0, 100), of(0.5, 0.1, 1)),
            (1, 100, 1)
        );
    }
}
