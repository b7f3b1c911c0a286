//! One scenario asked item by item.

use std::collections::HashMap;
use std::io::Write;

use tinyscope::Error;
use tinyscope::data::ItemTexts;
use tinyscope::estimate::Interval;
use tinyscope::experiment::{Adaptive, Stop};

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
    /// How many right-or-wrong items drawn at random have a normal 90 % interval as narrow as this, where the score is the
    /// estimate: n0 = p (1 - p) (1.645 / half width)^2, less as items run out: n0 / (1 + (n0 - 1) / N).
    pub(super) fn random_items(&self) -> Option<usize> {
        let p = self.interval.estimate;
        let most = self.items as f64;
        if self.half_width <= 0.0 {
            return Some(self.items);
        }
        let infinite = p * (1.0 - p) * (1.645 / self.half_width).powi(2);
        let n = infinite / (1.0 + (infinite - 1.0) / most);
        (n >= 1.0).then(|| n.ceil().min(most) as usize)
    }
}

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
