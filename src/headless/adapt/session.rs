//! One scenario asked item by item.

use std::collections::HashMap;
use std::io::Write;

use tinyscope::Error;
use tinyscope::data::ItemTexts;
use tinyscope::estimate::Interval;
use tinyscope::experiment::{Adaptive, Stop};
use tinyscope::irt::wilson_interval;

use super::super::Failure;
use super::answers::Answers;
use super::ask::{Asker, Reply};

/// A scenario that can be asked.
pub(super) struct Ready {
    pub(super) name: String,
    /// Ids by position.
    pub(super) items: Vec<String>,
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
}

impl<'a> Session<'a> {
    pub(super) fn new(ready: &'a Ready, texts: &'a ItemTexts, stop: Stop) -> Self {
        Self { ready, texts, stop }
    }

    /// Asks until the test ends; every answer is saved before the next item is asked.
    pub(super) fn run(
        &self,
        answers: &mut Answers,
        asker: &mut Asker<'_>,
        talk: &mut dyn Write,
    ) -> Result<Found, Failure> {
        let (items, calibration) = (&self.ready.items, &self.ready.adaptive.calibration);
        let mut test = self.ready.adaptive.test();
        let mut history = self.known(answers);
        let scored = |&(item, y): &(usize, Option<f64>)| Some((item, y?));
        let known: Vec<(usize, f64)> = history.iter().filter_map(scored).collect();
        test.answer_all(&known)?;
        for (item, _) in history.iter().filter(|(_, y)| y.is_none()) {
            test.set_open(*item, false);
        }
        writeln!(talk, "\n{}: {} items", self.ready.name, items.len())?;
        let ended = loop {
            let outcome = test.outcome();
            let (estimate, half) = calibration.estimate(&outcome);
            writeln!(
                talk,
                "{:>4} answered   estimate {estimate:.4} \u{b1} {half:.4}",
                outcome.answered
            )?;
            if outcome.answered >= self.stop.n {
                break Ended::Answers;
            }
            if self.stop.ends(outcome.answered, half) {
                break Ended::HalfWidth;
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
                Reply::Undo => match history.pop() {
                    Some((item, score)) => {
                        if score.is_some() {
                            test.undo();
                        }
                        test.set_open(item, true);
                        answers.remove(&items[item])?;
                        writeln!(talk, "taken back: {}", plain(&items[item]))?;
                    }
                    None => writeln!(talk, "nothing to take back")?,
                },
                Reply::Quit => break Ended::Quit,
            }
        };
        let outcome = test.outcome();
        let asked = test.order().iter();
        Ok(Found {
            name: self.ready.name.clone(),
            items: items.len(),
            interval: calibration.interval(&outcome),
            half_width: calibration.estimate(&outcome).1,
            asked: asked
                .filter_map(|&i| Some((items[i].clone(), test.score(i)?)))
                .collect(),
            ended,
        })
    }

    /// What the file of answers holds of this scenario, in its order: position and score, no score where it cannot be asked.
    fn known(&self, answers: &Answers) -> Vec<(usize, Option<f64>)> {
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
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn failed(item: &str, why: &str, answers: &Answers) -> Failure {
    Error::setting(format!("item {item}: {why}"), answers.how_to_go_on()).into()
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
