//! Populations made up from a few numbers.

use ndarray::Array2;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal, StudentT};

use super::family::{Tree, gaussians};
use super::population::{Population, Source, SourceScenario};
use super::residual::Factors;
use super::shape::Shape;
use crate::data::SubScenario;
use crate::error::{Error, Result};
use crate::irt::Gaussians;
use crate::random::{Stream, rng};

/// A population without data behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain {
    /// D; at least 1.
    pub dims: usize,
    /// Whether models come in families that share ability and errors.
    pub families: bool,
    /// Standard deviation of the effects of model and sub-scenario, on the logit.
    pub effect: f64,
}

impl Default for Plain {
    fn default() -> Self {
        Self {
            dims: 2,
            families: true,
            effect: 0.2,
        }
    }
}

/// A new model starts a family of its own as if so many others had none: families are of very unequal size.
const CONCENTRATION: f64 = 8.0;
/// A member is a near copy of another with this probability.
const COPIES: f64 = 0.1;
/// Share of items that near copies answer by the same draw.
const COPY_SHARE: f64 = 0.85;
/// The same between other members of a family: a range.
const SHARE: (f64, f64) = (0.08, 0.3);
/// Correlation of the abilities of members with what their family has in common.
const ABILITY: f64 = 0.6;
/// Share of items that are easier for weaker models.
const NEGATIVE: f64 = 0.04;

impl Plain {
    /// Models and items for every place of `shape`: theta ~ N(0, I) with families in common; a of the first axis log-normal,
    /// some negative, of the others N(0, .35^2); b of many easy and hard items, with the tails of Student's t (5 degrees).
    ///
    /// # Errors
    /// [`Error::Setting`] for a D of 0, an effect below 0, or a shape that cannot be drawn.
    pub fn population(&self, shape: &Shape, seed: u64) -> Result<Population> {
        shape.check()?;
        if self.dims == 0 || !(0.0..=100.0).contains(&self.effect) {
            return Err(Error::setting(
                "D must be at least 1 and the effect of sub-scenarios between 0 and 100",
                "",
            ));
        }
        let mut random = rng(seed, Stream::Simulate(7));
        let forest = if self.families {
            families(shape.models, &mut random)
        } else {
            (0..shape.models).map(Tree::Leaf).collect()
        };
        let d = self.dims;
        // Gaussians come in the order of the leaves, abilities in that of the models.
        let mut place = Vec::new();
        forest.iter().for_each(|t| t.leaves(&mut place));
        let mut family = vec![0; shape.models];
        let mut at = 0;
        for (k, tree) in forest.iter().enumerate() {
            place[at..at + tree.len()]
                .iter()
                .for_each(|&l| family[l] = k);
            at += tree.len();
        }
        let mut theta = vec![0.0; shape.models * d];
        for j in 0..d {
            let common: Vec<f64> = forest
                .iter()
                .map(|_| StandardNormal.sample(&mut random))
                .collect();
            let own = gaussians(&forest, &mut random);
            for (&l, own) in place.iter().zip(own) {
                let shared = if self.families { ABILITY } else { 0.0 };
                theta[l * d + j] =
                    shared * common[family[l]] + (1.0 - shared * shared).sqrt() * own;
            }
        }
        let mut order: Vec<usize> = (0..shape.models).collect();
        order.sort_by(|&i, &j| theta[i * d].total_cmp(&theta[j * d]).then(i.cmp(&j)));
        let scenarios = shape
            .scenarios
            .iter()
            .map(|s| {
                let mut at = 0;
                SourceScenario {
                    name: s.name.clone(),
                    metric: "simulated correctness".into(),
                    subscenarios: s
                        .subscenarios
                        .iter()
                        .map(|(name, n)| {
                            at += n;
                            SubScenario {
                                name: name.clone(),
                                items: at - n..at,
                            }
                        })
                        .collect(),
                    items: Gaussians::points(d + 1, items(s.n_items(), d, &mut random)),
                    abilities: Gaussians::points(d, theta.clone()),
                    factors: Factors {
                        models: Array2::zeros((shape.models, 0)),
                        items: Array2::zeros((s.n_items(), 0)),
                    },
                    effect: if s.subscenarios.len() > 1 {
                        self.effect
                    } else {
                        0.0
                    },
                    scores: None,
                    constant: vec![None; shape.models],
                    made_up: true,
                }
            })
            .collect();
        Ok(Population {
            sources: vec![Source {
                name: "plain".into(),
                forest,
                order,
                scenarios,
            }],
            notes: format!("population of {d} dimensions"),
        })
    }
}

/// (a, b) of `n` items.
fn items(n: usize, d: usize, random: &mut impl RngExt) -> Vec<f64> {
    let mut out = Vec::with_capacity(n * (d + 1));
    let tails = StudentT::new(5.0).ok();
    for _ in 0..n {
        for j in 0..d {
            let z: f64 = StandardNormal.sample(random);
            out.push(match j {
                0 if random.random::<f64>() < NEGATIVE => -(0.3 * z).exp() / 2.0,
                0 => (0.3 * z).exp(),
                _ => 0.35 * z,
            });
        }
        out.push(-1.0 + tails.map_or(0.0, |t| 2.4 * t.sample(random)));
    }
    out
}

/// Families by a Chinese restaurant process, near copies among their members.
fn families(models: usize, random: &mut impl RngExt) -> Vec<Tree> {
    let mut members: Vec<Vec<Tree>> = Vec::new();
    let mut family_of: Vec<usize> = Vec::new();
    for l in 0..models {
        let seats = family_of.len() as f64 + CONCENTRATION.min(1.0 + models as f64 / 20.0);
        let at = (random.random::<f64>() * seats) as usize;
        let Some(&family) = family_of.get(at) else {
            family_of.push(members.len());
            members.push(vec![Tree::Leaf(l)]);
            continue;
        };
        family_of.push(family);
        let relatives = &mut members[family];
        if random.random::<f64>() < COPIES {
            let of = random.random_range(0..relatives.len());
            match &mut relatives[of] {
                Tree::Branch { children, .. } => children.push(Tree::Leaf(l)),
                leaf => {
                    *leaf = Tree::Branch {
                        share: COPY_SHARE,
                        children: vec![leaf.clone(), Tree::Leaf(l)],
                    }
                }
            }
        } else {
            relatives.push(Tree::Leaf(l));
        }
    }
    members
        .into_iter()
        .map(|mut children| {
            let share = SHARE.0 + (SHARE.1 - SHARE.0) * random.random::<f64>();
            match (children.len(), children.pop()) {
                (1, Some(only)) => only,
                (_, last) => {
                    children.extend(last);
                    Tree::Branch { share, children }
                }
            }
        })
        .collect()
}
