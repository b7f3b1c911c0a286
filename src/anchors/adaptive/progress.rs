//! A test under way: which item is next, what was answered.

use super::outlook::Outlook;
use super::{Pool, Rule};
use crate::error::{Error, Result};
use crate::irt::{Gaussians, Tempered, packed, tempered_ability};

/// One model's adaptive test: which items were asked, what it answered, what that tells.
#[derive(Debug, Clone)]
pub struct AdaptiveTest<'a> {
    pub(super) pool: &'a Pool,
    pub(super) rule: Rule,
    /// NaN where not answered.
    pub(super) scores: Vec<f64>,
    /// False for items that cannot be asked; they count in the score all the same unless `counts` says otherwise.
    pub(super) open: Vec<bool>,
    pub(super) counts: Vec<bool>,
    pub(super) order: Vec<usize>,
    pub(super) theta: Gaussians,
    pub(super) outlook: Vec<Outlook>,
}

fn start(pool: &Pool) -> Gaussians {
    let d = pool.items.dims();
    Gaussians::new(d, pool.prior.mean.clone(), pool.prior.covariance())
}

impl<'a> AdaptiveTest<'a> {
    /// A test in which nothing was asked yet.
    pub fn new(pool: &'a Pool, rule: Rule) -> Self {
        let n = pool.len();
        let mut test = Self {
            pool,
            rule,
            scores: vec![f64::NAN; n],
            open: vec![true; n],
            counts: vec![true; n],
            order: Vec::new(),
            theta: start(pool),
            outlook: vec![Outlook::default(); n],
        };
        test.predict();
        test
    }

    /// The same where only some items make up the score, and only these are asked: those that a model of the matrix
    /// answered.
    pub fn over(pool: &'a Pool, rule: Rule, counts: Vec<bool>) -> Self {
        let mut test = Self::new(pool, rule);
        test.open.clone_from(&counts);
        test.counts = counts;
        test
    }

    /// The item to ask next, by position; of equals the first. `None` when none is left.
    pub fn next_item(&self) -> Option<usize> {
        let d = self.pool.items.dims();
        let cov = self.theta.cov(0);
        let mut along = vec![0.0; d];
        packed::times(cov, &self.gradient(), &mut along);
        let mut best: Option<(usize, f64)> = None;
        for i in (0..self.pool.len()).filter(|&i| self.open[i] && self.scores[i].is_nan()) {
            let a = self.pool.items.discrimination(i);
            let Outlook { slope, ability, .. } = self.outlook[i];
            let noise = self.noise(i);
            let gain = match self.rule {
                Rule::Score => {
                    let shared: f64 = a.iter().zip(&along).map(|(a, g)| a * g).sum();
                    let joint = slope * shared + self.pool.balance[i] * noise;
                    joint * joint / (ability + noise)
                }
                Rule::DOptimal => ability / noise,
            };
            if best.is_none_or(|(_, most)| gain > most) {
                best = Some((i, gain));
            }
        }
        best.map(|(i, _)| i)
    }

    /// Takes the score of an item, in \[0, 1\]; asked or not, and once more where it was answered before.
    ///
    /// # Errors
    /// No such item, a score outside \[0, 1\].
    pub fn answer(&mut self, item: usize, score: f64) -> Result<()> {
        self.answer_all(&[(item, score)])
    }

    /// [`Self::answer`] for many at once: the ability is updated once.
    ///
    /// # Errors
    /// As [`Self::answer`]; then none is taken.
    pub fn answer_all(&mut self, answers: &[(usize, f64)]) -> Result<()> {
        for &(item, score) in answers {
            if item >= self.pool.len() || !(0.0..=1.0).contains(&score) {
                return Err(Error::setting(
                    format!("item {item} with score {score}"),
                    format!("there are {} items; scores are in [0, 1]", self.pool.len()),
                ));
            }
        }
        for &(item, score) in answers {
            let changed = !self.scores[item].is_nan();
            self.scores[item] = score;
            if changed {
                self.again();
            } else {
                self.order.push(item);
                self.update(self.order.len());
            }
        }
        self.predict();
        Ok(())
    }

    /// Takes the last answer back and says which item it was of.
    pub fn undo(&mut self) -> Option<usize> {
        let item = self.order.pop()?;
        self.scores[item] = f64::NAN;
        self.again();
        self.predict();
        Some(item)
    }

    /// Says whether an item can be asked; one that cannot still counts in the score, by its prediction.
    pub fn set_open(&mut self, item: usize, open: bool) {
        if let Some(old) = self.open.get_mut(item) {
            *old = open;
        }
    }

    /// Items answered, in order.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The score of an item, where answered.
    pub fn score(&self, item: usize) -> Option<f64> {
        self.scores.get(item).copied().filter(|y| !y.is_nan())
    }

    /// Posterior of the ability: one vector.
    pub fn ability(&self) -> &Gaussians {
        &self.theta
    }

    /// The ability from the first so many answers, starting at that of one less: so that it depends on the answers and their
    /// order only, not on what was taken back or where a test was interrupted.
    fn update(&mut self, count: usize) {
        let pool = self.pool;
        let answers: Vec<Tempered> = self.order[..count]
            .iter()
            .map(|&item| Tempered {
                item,
                score: match pool.threshold {
                    Some(c) => f64::from(u8::from(self.scores[item] > c)),
                    None => self.scores[item],
                },
                weight: 1.0 / pool.dispersion[item],
            })
            .collect();
        self.theta = tempered_ability(
            &pool.items,
            &pool.moments,
            &answers,
            &pool.prior,
            &self.theta,
        );
    }

    fn again(&mut self) {
        self.theta = start(self.pool);
        (1..=self.order.len()).for_each(|count| self.update(count));
    }
}
