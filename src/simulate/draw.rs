//! Drawing a benchmark from a population.

use ndarray::Array2;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::path::PathBuf;

use super::family::{Tree, gaussians};
use super::floor::{Floored, PROBES, put_under};
use super::population::{Population, Source, SourceScenario};
use super::residual::MARGIN;
use super::shape::{Shape, ShapeScenario};
use super::{beta, names, respond};
use crate::data::{Benchmark, ItemTexts, MatrixBuilder, Scenario, SubScenario};
use crate::error::{Error, Result, nearest};
use crate::irt::{Gaussians, packed, sigmoid};
use crate::progress::{Observer, Progress};
use crate::random::{Stream, rng};

/// A family that is used again moves by this share of a standard deviation of ability (smoothed bootstrap).
const MOVE: f64 = 0.3;
/// Spread of the rank at which a model of another source is taken for one of the first.
const RANKS: f64 = 0.05;
/// Families whose rows are drawn before the next ones begin.
const BATCH: usize = 32;

/// A drawn benchmark with the truth behind it.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// What a reader of its files would see.
    pub benchmark: Benchmark,
    /// The parameters it was drawn from, which no file holds.
    pub truth: Truth,
}

/// True parameters, by scenario.
#[derive(Debug, Clone)]
pub struct Truth {
    /// In the benchmark's order.
    pub scenarios: Vec<TruthOfScenario>,
}

/// True parameters of one scenario of L models and N items.
#[derive(Debug, Clone)]
pub struct TruthOfScenario {
    /// theta, L x D.
    pub abilities: Array2<f64>,
    /// a, N x D.
    pub discriminations: Array2<f64>,
    /// b, N.
    pub intercepts: Vec<f64>,
    /// Floor and ceiling of each item's probability.
    pub limits: Vec<(f64, f64)>,
    /// Effects of model and sub-scenario on the logit, L x sub-scenarios.
    pub effects: Array2<f64>,
    /// Sub-scenario of each item.
    pub subscenario_of: Vec<usize>,
    /// Factors beyond the fit: L x k and N x k.
    pub factors: (Array2<f64>, Array2<f64>),
    /// Of scores in between: phi of each item and the share of ties.
    scores: Option<(Vec<f64>, f64)>,
    /// The score of a model that has it on every item.
    constant: Vec<Option<f64>>,
}

impl TruthOfScenario {
    /// The true expected score of a model on every item.
    ///
    /// # Panics
    /// When there is no such model.
    pub fn probabilities(&self, model: usize) -> Vec<f64> {
        if let Some(score) = self.constant[model] {
            return vec![score; self.intercepts.len()];
        }
        let theta = self.abilities.row(model);
        let x = self.discriminations.dot(&theta);
        let mut p: Vec<f64> = (0..x.len())
            .map(|i| {
                let effect = self.effects[(model, self.subscenario_of[i])];
                let (floor, ceiling) = self.limits[i];
                floor + (ceiling - floor) * sigmoid(x[i] - self.intercepts[i] + effect)
            })
            .collect();
        if self.factors.0.ncols() > 0 {
            let beyond = self.factors.1.dot(&self.factors.0.row(model));
            for (p, beyond) in p.iter_mut().zip(beyond) {
                *p = (*p + beyond).clamp(MARGIN, 1.0 - MARGIN);
            }
        }
        p
    }

    /// Scores of a model from its uniforms.
    fn scores(&self, model: usize, u: &[f64], random: &mut ChaCha8Rng) -> Vec<f64> {
        let p = self.probabilities(model);
        if self.constant[model].is_some() {
            return p;
        }
        match &self.scores {
            None => p
                .iter()
                .zip(u)
                .map(|(p, u)| f64::from(u8::from(u < p)))
                .collect(),
            Some((phi, ties)) => (0..p.len())
                .map(|i| {
                    if random.random::<f64>() < *ties {
                        0.5
                    } else {
                        beta::score(p[i].clamp(1e-6, 1.0 - 1e-6), phi[i], u[i])
                    }
                })
                .collect(),
        }
    }
}

/// Who plays in a drawn benchmark.
struct Cast {
    /// Families; the leaves are models of the first source.
    forest: Vec<Tree>,
    /// For each source, the model that each drawn model is like.
    parents: Vec<Vec<usize>>,
    /// Whether a drawn model's family has been used before.
    again: Vec<bool>,
}

impl Population {
    /// Draws a benchmark: the same seed gives the same one on any number of threads.
    ///
    /// A scenario is drawn from the population's scenario that its `like` names, else from the one of its own name; a
    /// population of a single scenario serves every name. Sub-scenarios go by name too, those of unknown names by lot.
    ///
    /// # Errors
    /// [`Error::Setting`] for a shape that cannot be drawn or names that lead nowhere; [`Error::Cancelled`].
    pub fn draw(&self, shape: &Shape, seed: u64, observer: &dyn Observer) -> Result<Simulated> {
        shape.check()?;
        let found = shape
            .scenarios
            .iter()
            .map(|s| self.find(s))
            .collect::<Result<Vec<_>>>()?;
        let cast = self.cast(shape.models, seed);
        let mut truth = Vec::new();
        for (k, (wanted, &(source, from))) in shape.scenarios.iter().zip(&found).enumerate() {
            observer.check()?;
            let from = &self.sources[source].scenarios[from];
            truth.push(draw_truth(wanted, from, &cast, source, k, seed));
        }
        let metric = found
            .first()
            .map(|&(s, k)| self.sources[s].scenarios[k].metric.clone());
        let mut benchmark = frame(shape, metric.unwrap_or_default());
        benchmark.notes = format!(
            "SIMULATED by tinyscope simulate, seed {seed}, {}. No response was measured.",
            self.notes
        );
        let names = names::models(&cast.forest);
        let mut builder = MatrixBuilder::new(benchmark.matrix.items().to_vec());
        let mut means = Vec::new();
        let n = shape.n_items();
        let families = respond::place(&cast.forest);
        for batch in families.chunks(BATCH) {
            observer.check()?;
            observer.progress(&Progress {
                what: "drawing responses".into(),
                done: builder.n_models() as f64 / shape.models as f64,
            });
            let rows: Vec<Vec<Vec<f64>>> = batch
                .par_iter()
                .map(|&family| {
                    let mut rows = Vec::new();
                    respond::uniforms(family, n, seed, &mut |model, u, random| {
                        let mut row = Vec::with_capacity(n);
                        for scenario in &truth {
                            let at = row.len();
                            let u = &u[at..at + scenario.limits.len()];
                            row.extend(scenario.scores(model, u, random));
                        }
                        rows.push(row);
                    });
                    rows
                })
                .collect();
            for row in rows.into_iter().flatten() {
                means.push(row.iter().sum::<f64>() / n as f64);
                builder.push(names[builder.n_models()].clone(), &row);
            }
        }
        benchmark.released = names::released(&names, &means, seed);
        benchmark.matrix = builder.finish();
        Ok(Simulated {
            benchmark,
            truth: Truth { scenarios: truth },
        })
    }

    /// The source and scenario that `wanted` is drawn from.
    fn find(&self, wanted: &ShapeScenario) -> Result<(usize, usize)> {
        let all: Vec<(usize, usize, String)> = self
            .sources
            .iter()
            .enumerate()
            .flat_map(|(s, source)| {
                source
                    .scenarios
                    .iter()
                    .enumerate()
                    .map(move |(k, scenario)| (s, k, format!("{}/{}", source.name, scenario.name)))
            })
            .collect();
        if let [(s, k, _)] = all[..] {
            return Ok((s, k));
        }
        let name = wanted.like.as_deref().unwrap_or(&wanted.name);
        let hit = all
            .iter()
            .find(|(s, k, full)| full == name || self.sources[*s].scenarios[*k].name == name);
        match hit {
            Some(&(s, k, _)) => Ok((s, k)),
            None => {
                let known: Vec<&str> = all.iter().map(|(_, _, full)| full.as_str()).collect();
                let near = nearest(name, known.iter().copied());
                Err(Error::setting(
                    format!(
                        "scenario {:?} is to be drawn like {name:?}, which the population does not have",
                        wanted.name
                    ),
                    match near {
                        Some(near) => format!("did you mean `like` {near:?}?"),
                        None => format!("give it a `like` of: {}", known.join(", ")),
                    },
                ))
            }
        }
    }

    /// Draws families of the first source, each once before any is drawn again, until there are enough models.
    fn cast(&self, models: usize, seed: u64) -> Cast {
        let first: &Source = &self.sources[0];
        let mut random = rng(seed, Stream::Simulate(0));
        let (mut forest, mut again, mut round) = (Vec::new(), Vec::new(), 0);
        while again.len() < models {
            let mut order: Vec<usize> = (0..first.forest.len()).collect();
            order.shuffle(&mut random);
            for k in order {
                let room = models - again.len();
                let mut tree = Some(first.forest[k].clone());
                if let Some(whole) = &tree
                    && whole.len() > room
                {
                    let mut members = Vec::new();
                    whole.leaves(&mut members);
                    members.shuffle(&mut random);
                    members.truncate(room);
                    tree = whole.prune(&|l| members.contains(&l));
                }
                if let Some(tree) = tree {
                    again.resize(again.len() + tree.len(), round > 0);
                    forest.push(tree);
                }
            }
            round += 1;
        }
        let mut own = Vec::new();
        forest.iter().for_each(|t| t.leaves(&mut own));
        let mut rank = vec![0; first.order.len()];
        for (r, &l) in first.order.iter().enumerate() {
            rank[l] = r;
        }
        let mut random = rng(seed, Stream::Simulate(6));
        let mut parents = vec![own.clone()];
        for other in &self.sources[1..] {
            // The model of the other source at about the same rank; relatives deviate together.
            let shift = gaussians(&forest, &mut random);
            let last = other.order.len() - 1;
            let like = own.iter().zip(shift).map(|(&l, shift)| {
                let at = (rank[l] as f64 + 0.5) / rank.len() as f64 + RANKS * shift;
                other.order[((at * other.order.len() as f64).max(0.0) as usize).min(last)]
            });
            parents.push(like.collect());
        }
        Cast {
            forest,
            parents,
            again,
        }
    }
}

/// Whether two names are of the same scenario (arc, ARC-Challenge): letters and digits of one are in the other's.
fn same_kind(a: &str, b: &str) -> bool {
    let plain = |s: &str| -> String {
        let alphanumeric = s.chars().filter(|c| c.is_alphanumeric());
        alphanumeric.flat_map(char::to_lowercase).collect()
    };
    let (a, b) = (plain(a), plain(b));
    a.contains(&b) || b.contains(&a)
}

/// A benchmark of this shape without models.
fn frame(shape: &Shape, metric: String) -> Benchmark {
    let (mut ids, mut scenarios) = (Vec::new(), Vec::new());
    for s in &shape.scenarios {
        let mut at = 0;
        let subscenarios: Vec<SubScenario> = s
            .subscenarios
            .iter()
            .map(|(name, n)| {
                at += n;
                SubScenario {
                    name: name.clone(),
                    items: at - n..at,
                }
            })
            .collect();
        let first = ids.len();
        ids.extend(names::items(&s.name, &subscenarios));
        scenarios.push(Scenario {
            name: s.name.clone(),
            aggregate: s.aggregate,
            columns: (first..ids.len()).collect(),
            subscenarios,
        });
    }
    Benchmark {
        name: shape.name.clone(),
        origin: PathBuf::from(&shape.name),
        simulated: true,
        source: "tinyscope simulate".into(),
        licence: "MIT OR Apache-2.0".into(),
        metric,
        notes: String::new(),
        matrix: MatrixBuilder::new(ids).finish(),
        scenarios,
        released: Default::default(),
        organisations: Default::default(),
        texts: ItemTexts::default(),
        warnings: Vec::new(),
    }
}

/// A draw from N(m, scale^2 S).
fn posterior_draw(
    posteriors: &Gaussians,
    at: usize,
    scale: f64,
    random: &mut ChaCha8Rng,
) -> Vec<f64> {
    let k = posteriors.dims();
    let z: Vec<f64> = (0..k).map(|_| StandardNormal.sample(random)).collect();
    let mut out = posteriors.mean(at).to_vec();
    let mut l = posteriors.cov(at).to_vec();
    if l.iter().any(|c| *c != 0.0) {
        packed::cholesky(&mut l, k);
        for (i, out) in out.iter_mut().enumerate() {
            *out += scale * (0..=i).map(|j| l[packed::at(i, j)] * z[j]).sum::<f64>();
        }
    }
    out
}

/// `n` of `from`, each once before any is taken again, in random order.
fn rounds(from: std::ops::Range<usize>, n: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
    let mut out = Vec::with_capacity(n);
    while out.len() < n {
        let mut all: Vec<usize> = from.clone().collect();
        all.shuffle(random);
        all.truncate(n - out.len());
        out.extend(all);
    }
    out
}

fn draw_truth(
    wanted: &ShapeScenario,
    from: &SourceScenario,
    cast: &Cast,
    source: usize,
    index: usize,
    seed: u64,
) -> TruthOfScenario {
    let stream = |purpose: usize| rng(seed, Stream::Simulate(index * 8 + purpose));
    let parents = &cast.parents[source];
    let (l, n, d) = (parents.len(), wanted.n_items(), from.abilities.dims());
    let mut random = stream(2);
    let mut abilities = Array2::zeros((l, d));
    let scale = from.overall_dispersion().sqrt();
    for (model, &parent) in parents.iter().enumerate() {
        let theta = posterior_draw(&from.abilities, parent, scale, &mut random);
        abilities
            .row_mut(model)
            .iter_mut()
            .zip(theta)
            .for_each(|(a, t)| *a = t);
    }
    for j in 0..d {
        let moves = gaussians(&cast.forest, &mut random);
        for (model, moved) in moves.into_iter().enumerate() {
            if cast.again[model] {
                let theta = &mut abilities[(model, j)];
                *theta = (*theta + MOVE * moved) / (1.0 + MOVE * MOVE).sqrt();
            }
        }
    }
    let foreign = !same_kind(&wanted.name, &from.name);
    let mut random = stream(3);
    let mut taken = Vec::with_capacity(n);
    let mut subscenario_of = Vec::with_capacity(n);
    for (k, (name, count)) in wanted.subscenarios.iter().enumerate() {
        let parts: Vec<&SubScenario> = from
            .subscenarios
            .iter()
            .filter(|s| !s.items.is_empty())
            .collect();
        let range = match parts.iter().find(|s| s.name == *name) {
            Some(same) => same.items.clone(),
            None if wanted.subscenarios.len() == 1 || parts.is_empty() => 0..from.items.len(),
            None => parts[random.random_range(0..parts.len())].items.clone(),
        };
        taken.extend(rounds(range, *count, &mut random));
        subscenario_of.resize(taken.len(), k);
    }
    let mut discriminations = Array2::zeros((n, d));
    let (mut intercepts, mut limits) = (vec![0.0; n], vec![(0.0, 1.0); n]);
    let step = l.div_ceil(PROBES).max(1);
    let probes = abilities.slice(ndarray::s![..;step, ..]);
    for (i, &at) in taken.iter().enumerate() {
        let scale = from
            .scores
            .as_ref()
            .map_or(1.0, |s| s.dispersion[at].sqrt());
        let z = posterior_draw(&from.items, at, scale, &mut random);
        let a = ndarray::ArrayView1::from(&z[..d]);
        let x = probes.dot(&a).to_vec();
        let floored = if from.made_up {
            // Its parameters were never fitted to anything: the floor stands as it is.
            Floored {
                floor: wanted.guess,
                ceiling: 1.0 - wanted.slip,
                slope: 1.0,
                intercept: z[d],
            }
        } else {
            put_under(&x, z[d], wanted.guess, wanted.slip, foreign)
        };
        discriminations
            .row_mut(i)
            .assign(&a.mapv(|a| a * floored.slope));
        intercepts[i] = floored.intercept;
        limits[i] = (floored.floor, floored.ceiling);
    }
    let mut random = stream(4);
    let mut effects = Array2::zeros((l, wanted.subscenarios.len()));
    for mut column in effects.columns_mut() {
        for (effect, g) in column.iter_mut().zip(gaussians(&cast.forest, &mut random)) {
            *effect = from.effect * g;
        }
    }
    TruthOfScenario {
        abilities,
        discriminations,
        intercepts,
        limits,
        effects,
        subscenario_of,
        factors: (
            from.factors.models.select(ndarray::Axis(0), parents),
            from.factors.items.select(ndarray::Axis(0), &taken),
        ),
        scores: from.scores.as_ref().map(|s| {
            let phi = taken.iter().map(|&i| 1.0 / s.dispersion[i] - 1.0).collect();
            (phi, s.ties)
        }),
        constant: parents.iter().map(|&l| from.constant[l]).collect(),
    }
}
