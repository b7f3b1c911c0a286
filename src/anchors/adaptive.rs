//! Adaptive selection: the next item is the one whose answer tells most of what is wanted.
//!
//! Around the posterior N(m, S) of the ability, the answer to item i is y_i = P_i + s_i a_i' (theta - m) + e_i, with
//! s_i = dP_i / d(a_i' m) and e_i of variance phi_i = r_i (P_i (1 - P_i) - s_i^2 a_i' S a_i); r_i, the item's dispersion, is
//! 1 for right or wrong and smaller for graded scores. What is not known of the score is sum over unseen of w_i y_i, and with
//! g = sum over unseen of w_i s_i a_i
//!
//!   cov(score, y_i) = s_i g' S a_i + w_i phi_i,    var(y_i) = s_i^2 a_i' S a_i + phi_i,
//!
//! so that the answer to item i is expected to take cov^2 / var off the variance of the score.

use ndarray::Array2;

use crate::error::{Error, Result};
use crate::irt::{
    Gaussians, ItemParameters, Prior, Tempered, doubled_extended, packed, sigmoid, tempered_ability,
};

/// How the next item is chosen.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The largest expected reduction of the variance of the score, cov^2 / var.
    #[default]
    Score,
    /// The largest determinant of the information about the ability, which grows by 1 + s^2 a' S a / phi (tried by the
    /// authors of the paper, section 3.2).
    DOptimal,
}

impl Rule {
    /// `score` or `d-optimal`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::DOptimal => "d-optimal",
        }
    }
}

/// The items of a scenario that can be asked, with all that asking them needs; serves any number of models.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    items: ItemParameters,
    /// E\[z z'\], packed, a row an item.
    moments: Array2<f64>,
    balance: Vec<f64>,
    dispersion: Vec<f64>,
    prior: Prior,
    threshold: Option<f64>,
}

impl Pool {
    /// From parameters and balance weights of all items by position, the dispersion r of each (above 0; empty for 1), the
    /// prior of the ability, and the threshold above which a score counts 1 in the ability (where responses were binarised).
    ///
    /// # Errors
    /// Lengths or dimensions that do not fit together.
    pub fn new(
        items: ItemParameters,
        balance: Vec<f64>,
        dispersion: Vec<f64>,
        prior: Prior,
        threshold: Option<f64>,
    ) -> Result<Self> {
        let n = items.len();
        let dispersion = if dispersion.is_empty() {
            vec![1.0; n]
        } else {
            dispersion
        };
        if balance.len() != n || dispersion.len() != n || prior.dims() != items.dims() {
            return Err(Error::setting(
                format!(
                    "{n} items of D = {}, {} weights, {} dispersions and a prior of D = {} do not fit together",
                    items.dims(),
                    balance.len(),
                    dispersion.len(),
                    prior.dims()
                ),
                "",
            ));
        }
        if let Some(r) = dispersion.iter().find(|r| !(**r > 0.0 && r.is_finite())) {
            return Err(Error::setting(format!("a dispersion is {r}"), ""));
        }
        Ok(Self {
            moments: items.posterior().second_moments(),
            items,
            balance,
            dispersion,
            prior,
            threshold,
        })
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// What is predicted of an item at the current ability.
#[derive(Debug, Clone, Copy, Default)]
struct Outlook {
    /// P.
    p: f64,
    /// s.
    slope: f64,
    /// s^2 a' S a, the part of the variance of the answer that the ability explains.
    ability: f64,
}

/// One model's adaptive test: which items were asked, what it answered, what that tells.
#[derive(Debug, Clone)]
pub struct AdaptiveTest<'a> {
    pool: &'a Pool,
    rule: Rule,
    /// NaN where not answered.
    scores: Vec<f64>,
    /// False for items that cannot be asked; they count in the score all the same unless `counts` says otherwise.
    open: Vec<bool>,
    counts: Vec<bool>,
    order: Vec<usize>,
    theta: Gaussians,
    outlook: Vec<Outlook>,
}

fn start(pool: &Pool) -> Gaussians {
    let d = pool.items.dims();
    Gaussians::new(d, pool.prior.mean.clone(), pool.prior.covariance())
}

/// What a test tells of the score before anything is learned from other models.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// (sum over seen of w y + sum over unseen of w P) / sum of w, in \[0, 1\].
    pub estimate: f64,
    /// Its standard deviation under the model: sqrt(g' S g + sum over unseen of w^2 phi) / sum of w.
    pub deviation: f64,
    /// Share of the balance weight that was not asked.
    pub unseen: f64,
    /// Items answered.
    pub answered: usize,
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

    /// What is known of the score.
    pub fn outcome(&self) -> Outcome {
        let cov = self.theta.cov(0);
        let (mut total, mut sum, mut unseen, mut noise) = (0.0, 0.0, 0.0, 0.0);
        for (i, &w) in self.pool.balance.iter().enumerate() {
            let (y, p) = (self.scores[i], self.outlook[i].p);
            if !y.is_nan() {
                total += w;
                sum += w * y;
            } else if self.counts[i] {
                total += w;
                sum += w * p;
                unseen += w;
                noise += w * w * self.noise(i);
            }
        }
        let variance = packed::quadratic(cov, &self.gradient()).max(0.0) + noise;
        let total = if total > 0.0 { total } else { 1.0 };
        Outcome {
            estimate: (sum / total).clamp(0.0, 1.0),
            deviation: variance.sqrt() / total,
            unseen: unseen / total,
            answered: self.order.len(),
        }
    }

    /// g: how what is unseen of the score, times the sum of w, moves with the ability.
    fn gradient(&self) -> Vec<f64> {
        let mut gradient = vec![0.0; self.pool.items.dims()];
        for (i, w) in self.pool.balance.iter().enumerate() {
            if self.counts[i] && self.scores[i].is_nan() {
                let steep = w * self.outlook[i].slope;
                let a = self.pool.items.discrimination(i);
                for (g, a) in gradient.iter_mut().zip(a) {
                    *g += steep * a;
                }
            }
        }
        gradient
    }

    /// phi of an item.
    fn noise(&self, item: usize) -> f64 {
        let Outlook { p, ability, .. } = self.outlook[item];
        let whole = p * (1.0 - p);
        // To first order the ability may seem to explain more than there is.
        self.pool.dispersion[item] * (whole - ability).max(0.2 * whole).max(1e-12)
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

    fn predict(&mut self) {
        let d = self.pool.items.dims();
        let x = doubled_extended(&self.theta);
        let (m, cov) = (self.theta.mean(0), self.theta.cov(0));
        for (i, (out, zz)) in self
            .outlook
            .iter_mut()
            .zip(self.pool.moments.outer_iter())
            .enumerate()
        {
            let z = self.pool.items.posterior().mean(i);
            let mu = z[..d].iter().zip(m).map(|(a, t)| a * t).sum::<f64>() - z[d];
            let second: f64 = zz.iter().zip(&x).map(|(z, x)| z * x).sum();
            let var = (second - mu * mu).max(0.0);
            let shrink = 1.0 / (1.0 + std::f64::consts::PI / 8.0 * var).sqrt();
            let p = sigmoid(mu * shrink);
            let slope = p * (1.0 - p) * shrink;
            *out = Outlook {
                p,
                slope,
                ability: slope * slope * packed::quadratic(cov, &z[..d]),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const N: usize = 9;

    fn pool(z: &[f64], balance: &[f64], dispersion: &[f64]) -> Pool {
        let cov = [0.05, 0.0, 0.05, 0.0, 0.0, 0.05].repeat(N);
        let items = ItemParameters::new(Gaussians::new(3, z.to_vec(), cov));
        let (balance, dispersion) = (balance.to_vec(), dispersion.to_vec());
        Pool::new(items, balance, dispersion, Prior::standard(2), None).unwrap()
    }

    /// Variance of the score, times the square of the sum of weights, once item i is known: with the posterior
    /// S' = (S^-1 + s^2 a a' / phi)^-1 of the linear model and the gradient and noise of what is then left.
    fn variance_without(test: &AdaptiveTest<'_>, item: usize) -> f64 {
        let d = 2;
        let mut cov = test.theta.cov(0).to_vec();
        packed::cholesky(&mut cov, d);
        packed::invert(&mut cov, d);
        let (a, out) = (test.pool.items.discrimination(item), test.outlook[item]);
        for i in 0..d {
            for j in 0..=i {
                cov[packed::at(i, j)] += out.slope * out.slope * a[i] * a[j] / test.noise(item);
            }
        }
        packed::cholesky(&mut cov, d);
        packed::invert(&mut cov, d);
        let (mut gradient, mut noise) = (vec![0.0; d], 0.0);
        for i in (0..N).filter(|&i| i != item && test.scores[i].is_nan()) {
            let w = test.pool.balance[i];
            noise += w * w * test.noise(i);
            for (g, a) in gradient.iter_mut().zip(test.pool.items.discrimination(i)) {
                *g += w * test.outlook[i].slope * a;
            }
        }
        packed::quadratic(&cov, &gradient) + noise
    }

    fn cases() -> impl Strategy<Value = (Pool, Vec<f64>)> {
        (
            prop::collection::vec(-2.0..2.0f64, 3 * N),
            prop::collection::vec(0.2..2.0f64, N),
            prop::collection::vec(0.1..2.0f64, N),
            prop::collection::vec(0.0..=1.0f64, N),
        )
            .prop_map(|(z, balance, dispersion, y)| (pool(&z, &balance, &dispersion), y))
    }

    proptest! {
        #[test]
        fn the_next_item_leaves_the_least_variance((pool, y) in cases()) {
            let mut test = AdaptiveTest::new(&pool, Rule::Score);
            while let Some(item) = test.next_item() {
                let least = variance_without(&test, item);
                for other in (0..N).filter(|&i| test.scores[i].is_nan()) {
                    prop_assert!(least <= variance_without(&test, other) * (1.0 + 1e-9));
                }
                test.answer(item, y[item]).unwrap();
            }
            // All answered: the score, exactly.
            let outcome = test.outcome();
            let total: f64 = pool.balance.iter().sum();
            let truth = pool.balance.iter().zip(&y).map(|(w, y)| w * y).sum::<f64>() / total;
            prop_assert!((outcome.estimate - truth).abs() < 1e-12);
            prop_assert_eq!((outcome.deviation, outcome.unseen, outcome.answered), (0.0, 0.0, N));
        }

        #[test]
        fn an_answer_is_expected_to_leave_less_variance((pool, y) in cases(), x in prop::collection::vec(-1.0..1.0f64, 2)) {
            let total: f64 = pool.balance.iter().sum();
            for rule in [Rule::Score, Rule::DOptimal] {
                let mut test = AdaptiveTest::new(&pool, rule);
                let prior = packed::quadratic(test.theta.cov(0), &x);
                while let Some(item) = test.next_item() {
                    let before = (test.outcome().deviation * total).powi(2);
                    prop_assert!(variance_without(&test, item) <= before * (1.0 + 1e-9));
                    test.answer(item, y[item].round()).unwrap();
                    // Whatever is answered: the ability is never less certain than before the first answer.
                    prop_assert!(packed::quadratic(test.theta.cov(0), &x) <= prior * (1.0 + 1e-9));
                }
            }
        }

        #[test]
        fn only_the_answers_and_their_order_matter((pool, y) in cases(), wrong in 0.0..=1.0f64) {
            let mut plain = AdaptiveTest::new(&pool, Rule::Score);
            let mut order = Vec::new();
            for _ in 0..5 {
                let item = plain.next_item().unwrap();
                plain.answer(item, y[item]).unwrap();
                order.push((item, y[item]));
            }
            let mut at_once = AdaptiveTest::new(&pool, Rule::Score);
            at_once.answer_all(&order).unwrap();
            let mut corrected = AdaptiveTest::new(&pool, Rule::Score);
            for &(item, score) in &order {
                corrected.answer(item, wrong).unwrap();
                prop_assert_eq!(corrected.undo(), Some(item));
                corrected.answer(item, wrong).unwrap();
                corrected.answer(item, score).unwrap();
            }
            for other in [&at_once, &corrected] {
                prop_assert_eq!(other.outcome(), plain.outcome());
                prop_assert_eq!(other.next_item(), plain.next_item());
                prop_assert_eq!(&other.theta, &plain.theta);
            }
        }
    }

    #[test]
    fn what_cannot_be_asked_is_not_and_still_counts() {
        let z: Vec<f64> = (0..3 * N)
            .map(|i| ((i * 7) % 5) as f64 / 2.0 - 1.0)
            .collect();
        let pool = pool(&z, &[1.0; N], &[]);
        let mut test = AdaptiveTest::new(&pool, Rule::Score);
        let first = test.next_item().unwrap();
        test.set_open(first, false);
        let mut asked = 0;
        while let Some(item) = test.next_item() {
            assert_ne!(item, first);
            test.answer(item, 1.0).unwrap();
            asked += 1;
        }
        assert_eq!(asked, N - 1);
        assert!((test.outcome().unseen - 1.0 / N as f64).abs() < 1e-12);
        let mut counts = vec![true; N];
        counts[first] = false;
        let over = AdaptiveTest::over(&pool, Rule::DOptimal, counts);
        assert_ne!(over.next_item(), Some(first));
        assert!((over.outcome().unseen - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let pool = pool(&[0.5; 3 * N], &[1.0; N], &[]);
        let mut test = AdaptiveTest::new(&pool, Rule::Score);
        for (item, score) in [(N, 0.5), (0, 1.5), (0, f64::NAN), (0, -0.1)] {
            assert!(test.answer_all(&[(1, 0.5), (item, score)]).is_err());
        }
        assert!(test.order().is_empty() && test.undo().is_none());
        let items = pool.items.clone();
        let make = |balance: usize, r: Vec<f64>, d| {
            Pool::new(
                items.clone(),
                vec![1.0; balance],
                r,
                Prior::standard(d),
                None,
            )
        };
        assert!(make(N, Vec::new(), 2).is_ok() && make(N - 1, Vec::new(), 2).is_err());
        assert!(make(N, vec![0.0; N], 2).is_err() && make(N, Vec::new(), 3).is_err());
    }
}
