//! What the paper's package and tutorials publish as pickles: tinyBenchmarks.pkl, anchor.pickle, lambds.pickle.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{AnchorsFile, Chosen, ChosenItem, ScenarioAnchors, StoredItems};
use crate::anchors::SelectionKind;
use crate::data::Aggregate;
use crate::data::read::pickle::{self, Pickle, View, scenario_of};
use crate::data::read::{ReadOptions, Reading};
use crate::data::{Benchmark, list};
use crate::error::{Error, Result};
use crate::estimate::Seen;
use crate::experiment::Scope;
use crate::irt::{Convention, ItemParameters, Prior};
use crate::progress::Silent;

/// Most numbers that a published file may unfold to.
const NUMBERS: usize = 100_000_000;

/// A published pickle.
#[derive(Debug, Clone, PartialEq)]
pub enum Published {
    /// tinyBenchmarks.pkl: for every benchmark in it (`lb`, `mmlu`, ...) all that scoring needs.
    Benchmarks(Vec<AnchorsFile>),
    /// anchor.pickle: positions and weights of the chosen items of every scenario.
    Points(Vec<AnchorPoints>),
    /// lambds.pickle: the lambda of gp-IRT of every scenario.
    Lambdas(Vec<(String, f64)>),
}

/// The chosen items of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct AnchorPoints {
    /// Name of the scenario.
    pub scenario: String,
    /// Position within the scenario and weight of each; the weights sum to 1.
    pub points: Vec<(usize, f64)>,
}

/// What a pickle holds.
#[derive(Debug, Clone)]
pub enum Pickled {
    /// Something published, without responses.
    Published(Published),
    /// Responses.
    Benchmark(Box<Benchmark>),
}

/// Reads a pickle, whatever it holds; `None` for files that are none.
///
/// # Errors
/// Those of [`Published::read`] and [`benchmark`](crate::data::read::benchmark).
pub fn pickled(path: &Path, options: &ReadOptions) -> Result<Option<Pickled>> {
    let Some(pickle) = pickle::pickle(path)? else {
        return Ok(None);
    };
    if let Some(published) = Published::of(path, &pickle)? {
        return Ok(Some(Pickled::Published(published)));
    }
    let reading = Reading::new(options, &Silent, &[]);
    let benchmark = pickle::of_pickle(path, &pickle, &reading)?;
    Ok(Some(Pickled::Benchmark(Box::new(benchmark))))
}

impl Published {
    /// Reads a published pickle; `None` for files that are no pickle, or one of responses.
    ///
    /// A benchmark of tinyBenchmarks.pkl becomes an anchors file as the package scores with it: items are named
    /// `BENCHMARK/POSITION` (the numbers of its `seen_examples`), one ability by maximum likelihood from the answers of all its
    /// scenarios, parameters in the convention [`Convention::RepeatedIntercept`], the seen part of p-IRT by balance weights,
    /// and its own lambdas. What it does not publish is unknown: b is absent, s2 is 0, the prior a standard one; none of them
    /// counts in a score.
    ///
    /// # Errors
    /// A pickle that cannot be read or is refused; parts that do not fit together; a structure that is not known.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        match pickle::pickle(path)? {
            Some(pickle) => Self::of(path, &pickle),
            None => Ok(None),
        }
    }

    fn of(path: &Path, pickle: &Pickle) -> Result<Option<Self>> {
        let root = pickle.root();
        if root.get("models").is_some() && root.get("data").is_some() {
            return Ok(None);
        }
        let wrong =
            |what: String| Error::input(path, what, "the file may be cut off or of another kind");
        let mut left = NUMBERS;
        if let (Some(points), Some(weights)) =
            (root.get("anchor_points"), root.get("anchor_weights"))
        {
            return points_of(points, weights, &mut left)
                .map(|p| Some(Self::Points(p)))
                .map_err(wrong);
        }
        let entries = root.entries().unwrap_or_default();
        if !entries.is_empty()
            && entries
                .iter()
                .all(|(_, v)| v.get("irt_parameters").is_some())
        {
            let mut files = Vec::with_capacity(entries.len());
            for (name, value) in &entries {
                let file = benchmark(name, *value, &mut left)
                    .map_err(|what| wrong(format!("benchmark {name:?}: {what}")))?;
                files.push(file.checked(path)?);
            }
            return Ok(Some(Self::Benchmarks(files)));
        }
        let lambdas: Option<Vec<(String, f64)>> = entries
            .iter()
            .map(|(name, value)| {
                let lambda = value.number().filter(|x| (0.0..=1.0).contains(x))?;
                Some((scenario_of(name).0, lambda))
            })
            .collect();
        match lambdas {
            Some(lambdas) if !lambdas.is_empty() => Ok(Some(Self::Lambdas(lambdas))),
            _ => Err(pickle::unknown(path, root)),
        }
    }

    /// The benchmark whose chosen items the responses answer.
    ///
    /// # Errors
    /// No benchmark in the file; answers to items of none or of several of them.
    pub fn scored_by(self, path: &Path, responses: &HashMap<String, f64>) -> Result<AnchorsFile> {
        let Self::Benchmarks(mut files) = self else {
            return Err(Error::input(
                path,
                "no item parameters in it, only anchors or lambdas",
                "give tinyBenchmarks.pkl, or write an anchors file with `tinyscope anchors DATA --out FILE`",
            ));
        };
        if files.len() == 1 {
            return Ok(files.remove(0));
        }
        let names: Vec<String> = files.iter().map(|f| f.benchmark.clone()).collect();
        let prefixes: HashSet<&str> = responses
            .keys()
            .filter_map(|id| Some(id.rsplit_once('/')?.0))
            .collect();
        files.retain(|f| prefixes.contains(f.benchmark.as_str()));
        if files.len() == 1 {
            return Ok(files.remove(0));
        }
        Err(Error::setting(
            format!(
                "{} holds {}; the items answered belong to {} of them",
                path.display(),
                list(names.iter().map(String::as_str)),
                files.len()
            ),
            "name the items BENCHMARK/POSITION and answer those of one benchmark; `tinyscope show FILE` lists them",
        ))
    }
}

type Found<T> = std::result::Result<T, String>;

/// Takes `n` numbers out of what a file may unfold to.
fn take(left: &mut usize, n: usize) -> Found<()> {
    *left = left
        .checked_sub(n)
        .ok_or_else(|| format!("more than {NUMBERS} numbers in all"))?;
    Ok(())
}

fn entry<'a>(of: View<'a>, name: &str) -> Found<View<'a>> {
    of.get(name).ok_or_else(|| format!("no {name:?} in it"))
}

fn positions(of: View<'_>, what: &str, left: &mut usize) -> Found<Vec<usize>> {
    take(left, of.count().unwrap_or(0))?;
    of.positions()
        .ok_or_else(|| format!("{what} is {}, no list of positions", of.describe()))
}

/// Positive weights that sum to 1, as precise as they are.
fn weights(of: View<'_>, what: &str, n: usize, left: &mut usize) -> Found<Vec<f64>> {
    take(left, of.count().unwrap_or(0))?;
    let weights = of.numbers().filter(|w| w.len() == n).ok_or_else(|| {
        format!(
            "{what} is {}, not a weight for each of {n} items",
            of.describe()
        )
    })?;
    let total: f64 = weights.iter().sum();
    if weights.iter().any(|w| w.is_nan() || *w < 0.0) || (total - 1.0).abs() > 1e-3 {
        return Err(format!(
            "{what}: the weights are not positive with sum 1 (it is {total})"
        ));
    }
    // Written in single precision they sum to nearly 1.
    Ok(weights.into_iter().map(|w| w / total).collect())
}

fn points_of(points: View<'_>, all: View<'_>, left: &mut usize) -> Found<Vec<AnchorPoints>> {
    let entries = points.entries().ok_or_else(|| {
        format!(
            "anchor_points is {}, no dict of scenarios",
            points.describe()
        )
    })?;
    entries
        .iter()
        .map(|(name, value)| {
            let items = positions(*value, &format!("anchor_points of {name:?}"), left)?;
            let weights = weights(
                entry(all, name)?,
                &format!("anchor_weights of {name:?}"),
                items.len(),
                left,
            )?;
            Ok(AnchorPoints {
                scenario: scenario_of(name).0,
                points: items.into_iter().zip(weights).collect(),
            })
        })
        .collect()
}

fn benchmark(name: &str, of: View<'_>, left: &mut usize) -> Found<AnchorsFile> {
    let irt = entry(of, "irt_parameters")?;
    let (a, b) = (entry(irt, "A")?, entry(irt, "B")?);
    let (Some(&[1, dims, n]), Some(&[1, 1, n_b])) = (a.shape(), b.shape()) else {
        return Err(format!(
            "A is {} and B is {}; shapes (1, D, items) and (1, 1, items) are known",
            a.describe(),
            b.describe()
        ));
    };
    if n != n_b || !(1..=1000).contains(&dims) {
        return Err(format!("A has {n} items of D = {dims}, B has {n_b}"));
    }
    let items = Items { a, b, dims, n };
    let seen = positions(entry(of, "seen_examples")?, "seen_examples", left)?;
    let scenarios = entry(of, "scenarios_position")?
        .entries()
        .ok_or("scenarios_position is no dict")?;
    let scenarios = scenarios
        .iter()
        .map(|(s, value)| {
            scenario(name, s, (of, *value), &items, &seen, left)
                .map_err(|what| format!("scenario {s:?}: {what}"))
        })
        .collect::<Found<Vec<_>>>()?;
    Ok(AnchorsFile {
        tinyscope: "anchors".into(),
        version: 1,
        benchmark: name.to_owned(),
        simulated: false,
        seed: 0,
        split: "as published".into(),
        training_models: 0,
        scope: Scope::Joint.name().into(),
        ability: "ml".into(),
        seen: Seen::Balance.name().into(),
        scenarios,
    })
}

/// The published parameters: A is 1 x D x items, B 1 x 1 x items.
struct Items<'a> {
    a: View<'a>,
    b: View<'a>,
    dims: usize,
    n: usize,
}

impl Items<'_> {
    fn at(&self, positions: &[usize]) -> Found<StoredItems> {
        let mut a = Vec::with_capacity(positions.len() * self.dims);
        let mut b = Vec::with_capacity(positions.len());
        for &i in positions {
            let missing = || format!("position {i} is none of the {} items", self.n);
            for d in 0..self.dims {
                a.push(self.a.cell(&[0, d, i]).ok_or_else(missing)?);
            }
            b.push(self.b.cell(&[0, 0, i]).ok_or_else(missing)?);
        }
        let points = ItemParameters::published(Convention::RepeatedIntercept, self.dims, &a, &b);
        Ok(StoredItems {
            convention: Convention::RepeatedIntercept,
            dims: self.dims,
            mean: (0..points.len())
                .map(|i| points.posterior().mean(i).to_vec())
                .collect(),
            cov: Vec::new(),
        })
    }
}

fn scenario(
    benchmark: &str,
    name: &str,
    (of, value): (View<'_>, View<'_>),
    items: &Items<'_>,
    seen: &[usize],
    left: &mut usize,
) -> Found<ScenarioAnchors> {
    let places = positions(value, "scenarios_position", left)?;
    if places.is_empty() {
        return Err("it has no items".into());
    }
    take(
        left,
        places.len().saturating_mul(items.dims + 2) + seen.len(),
    )?;
    let parameters = items.at(&places)?;
    let place: HashMap<usize, usize> = places.iter().enumerate().map(|(k, &i)| (i, k)).collect();
    let balance = balance(
        entry(entry(of, "subscenarios_position")?, name)?,
        &place,
        left,
    )?;
    let chosen: Vec<usize> = seen
        .iter()
        .copied()
        .filter(|i| place.contains_key(i))
        .collect();
    let weights = weights(
        entry(entry(of, "examples_weights")?, name)?,
        "examples_weights",
        chosen.len(),
        left,
    )?;
    let lambda = entry(entry(of, "optimal_lambdas")?, name)?;
    let lambda = lambda
        .number()
        .ok_or_else(|| format!("its lambda is {}", lambda.describe()))?;
    let id = |i: usize| format!("{benchmark}/{i}");
    // An item that was chosen twice counts with both weights, one that counts nothing is not asked.
    let mut anchors: Vec<ChosenItem> = Vec::with_capacity(chosen.len());
    let mut at: HashMap<usize, usize> = HashMap::new();
    for (i, weight) in chosen.into_iter().zip(weights).filter(|(_, w)| *w > 0.0) {
        let k = *at.entry(i).or_insert(anchors.len());
        match anchors.get_mut(k) {
            Some(anchor) => anchor.weight += weight,
            None => anchors.push(ChosenItem { id: id(i), weight }),
        }
    }
    Ok(ScenarioAnchors {
        name: name.to_owned(),
        aggregate: Aggregate::Macro,
        b: None,
        s2: 0.0,
        threshold: None,
        training_scores: None,
        adaptive: None,
        prior: Prior::standard(items.dims),
        selections: vec![Chosen {
            selection: SelectionKind::AnchorsIrt.name().into(),
            n: anchors.len(),
            lambda,
            anchors,
            learned: None,
        }],
        items: places.iter().map(|&i| id(i)).collect(),
        balance,
        parameters,
    })
}

/// Balance weights N / (n_sub N_sub(i)) of a scenario whose sub-scenarios are given by position.
fn balance(subs: View<'_>, place: &HashMap<usize, usize>, left: &mut usize) -> Found<Vec<f64>> {
    let subs = subs.entries().ok_or("subscenarios_position is no dict")?;
    let mut weights = vec![0.0; place.len()];
    for (name, value) in &subs {
        let positions = positions(*value, &format!("sub-scenario {name:?}"), left)?;
        let weight = place.len() as f64 / (subs.len() * positions.len().max(1)) as f64;
        for i in &positions {
            match place.get(i) {
                Some(&k) if weights[k] == 0.0 => weights[k] = weight,
                _ => {
                    return Err(format!(
                        "sub-scenario {name:?} has the item {i} of another one"
                    ));
                }
            }
        }
    }
    Ok(weights)
}
