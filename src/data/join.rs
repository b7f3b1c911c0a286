//! Several sources as one benchmark: models and items are joined by name.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::read::{Names, ReadOptions, Runs};
use super::{Benchmark, ItemTexts, MatrixBuilder, Scenario, SubScenario, list};
use crate::error::{Result, plain};

/// Joins what was read from each source.
///
/// - A **model** is the same in two sources when it has the same name, a **scenario** likewise, and an **item** when its
///   scenario has an item of the same id. With [`Names::Loose`] names that differ in case, spaces, punctuation or `/`
///   against `__` only are the same; else such near misses are named in the warnings.
/// - Scenarios of different names that share item ids are the same (tables without a manifest are named like their file),
///   unless a model of both has different scores there: then the ids only happen to be the same, and each scenario keeps
///   its items.
/// - Where two sources give a model different scores on an item, the later source counts and the model is named;
///   [`Runs::Separate`] keeps both, as `MODEL @SOURCE`.
///
/// Scenarios, items and models stand in the order of the sources. Pairs that no source has are missing.
///
/// # Errors
/// More cells than the limit.
///
/// # Panics
/// Without a source.
pub(super) fn together(
    mut parts: Vec<(PathBuf, Benchmark)>,
    options: &ReadOptions,
) -> Result<Benchmark> {
    if parts.len() == 1 {
        return Ok(parts.remove(0).1);
    }
    let mut warnings = Vec::new();
    for (path, part) in &mut parts {
        for warning in part.warnings.drain(..) {
            let source = path.display().to_string();
            warnings.push(if warning.contains(&source) {
                warning
            } else {
                format!("{source}: {warning}")
            });
        }
    }
    let mut layout = Layout::new(options.names);
    let mut models = Models::new(options.names);
    let mut places: Vec<Place> = Vec::new();
    for at in 0..parts.len() {
        let (before, part) = (&parts[..at], &parts[at].1);
        let columns = layout.add(part, before, &places, &models);
        let rows = models.add(before, part, &columns, &places, &parts[at].0, options);
        places.push(Place { columns, rows });
    }
    options
        .limits
        .check_cells(&parts[0].0, models.names.len(), layout.n_items)?;
    let items = layout.ids();
    let mut matrix = MatrixBuilder::new(items.clone());
    let order = layout.order();
    let mut scores = vec![f64::NAN; layout.n_items];
    for (row, name) in models.names.iter().enumerate() {
        scores.fill(f64::NAN);
        for ((_, part), place) in parts.iter().zip(&places) {
            for (l, _) in place.rows.iter().enumerate().filter(|(_, r)| **r == row) {
                for (column, score) in part.matrix.row(l).into_iter().enumerate() {
                    if let Some(at) = place.columns[column].filter(|_| !score.is_nan()) {
                        scores[order[at]] = score;
                    }
                }
            }
        }
        matrix.push(name.clone(), &scores);
    }
    warnings.append(&mut layout.warnings);
    warnings.append(&mut models.warnings);
    warnings.extend(strangers(&parts, &places));
    if options.names == Names::Exact {
        warnings.extend(near_misses("models", models.names.iter()));
        warnings.extend(near_misses(
            "scenarios",
            layout.scenarios.iter().map(|s| &s.name),
        ));
        for s in &layout.scenarios {
            let what = format!("items of {}", s.name);
            warnings.extend(near_misses(&what, s.ids.iter()));
        }
    }
    let mut texts = ItemTexts::default();
    for ((_, part), place) in parts.iter().zip(&places) {
        for (column, id) in part.matrix.items().iter().enumerate() {
            if let (Some(at), Some(text)) = (place.columns[column], part.texts.get(id))
                && texts.get(&items[order[at]]).is_none()
            {
                texts.insert(items[order[at]].clone(), text.clone());
            }
        }
    }
    let scenarios = layout.scenarios();
    let named = |of: &dyn Fn(&Benchmark) -> String| said(&parts, of);
    Ok(Benchmark {
        name: {
            let mut names: Vec<&str> = parts.iter().map(|(_, p)| p.name.as_str()).collect();
            let mut seen = HashSet::new();
            names.retain(|n| seen.insert(*n));
            names.join(" + ")
        },
        origin: parts[0].1.origin.clone(),
        simulated: parts.iter().any(|(_, p)| p.simulated),
        source: named(&|p| p.source.clone()),
        licence: named(&|p| p.licence.clone()),
        metric: named(&|p| p.metric.clone()),
        notes: named(&|p| p.notes.clone()),
        matrix: matrix.finish(),
        scenarios,
        released: by_model(
            &parts,
            &places,
            &models,
            &mut warnings,
            "release dates",
            |p| &p.released,
        ),
        organisations: by_model(
            &parts,
            &places,
            &models,
            &mut warnings,
            "organisations",
            |p| &p.organisations,
        ),
        texts,
        warnings,
    })
}

/// Where the models and items of a source went.
struct Place {
    /// Joined item of each column; `None` where it is in no scenario.
    columns: Vec<Option<usize>>,
    /// Joined model of each row.
    rows: Vec<usize>,
}

/// Names, and the place of each by what makes it the same as another.
struct Known {
    names: Names,
    at: HashMap<String, usize>,
}

impl Known {
    fn new(names: Names) -> Self {
        Self {
            names,
            at: HashMap::new(),
        }
    }

    fn key(&self, name: &str) -> String {
        match self.names {
            Names::Exact => name.to_owned(),
            Names::Loose => plain(name),
        }
    }

    fn get(&self, name: &str) -> Option<usize> {
        self.at.get(&self.key(name)).copied()
    }

    fn set(&mut self, name: &str, at: usize) {
        let key = self.key(name);
        self.at.entry(key).or_insert(at);
    }
}

/// The joined models.
struct Models {
    known: Known,
    names: Vec<String>,
    warnings: Vec<String>,
}

impl Models {
    fn new(names: Names) -> Self {
        Self {
            known: Known::new(names),
            names: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The joined models of a source's rows; says where its scores differ from those of a source before it.
    fn add(
        &mut self,
        before: &[(PathBuf, Benchmark)],
        part: &Benchmark,
        columns: &[Option<usize>],
        places: &[Place],
        path: &Path,
        options: &ReadOptions,
    ) -> Vec<usize> {
        let mut differing = Vec::new();
        let mut rows = Vec::with_capacity(part.matrix.n_models());
        for (l, name) in part.matrix.models().iter().enumerate() {
            let row = match self.known.get(name) {
                // Two rows of one source are two models, however alike their names are.
                Some(row) if !rows.contains(&row) => {
                    let n = differing_cells(before, places, row, (part, l, columns));
                    if n > 0 && options.runs == Runs::Separate {
                        self.push(&format!("{} @{}", self.names[row], path.display()), None)
                    } else {
                        if n > 0 {
                            differing.push(format!("{name} ({n} items)"));
                        }
                        row
                    }
                }
                Some(_) => self.push(name, None),
                None => self.push(name, Some(name)),
            };
            rows.push(row);
        }
        if !differing.is_empty() {
            self.warnings.push(format!(
                "{}: other scores than in a source before it, the later ones count: {} (--runs separate keeps both)",
                path.display(),
                list(differing.iter().map(String::as_str))
            ));
        }
        rows
    }

    /// A new model, found again by `known` where there is one.
    fn push(&mut self, name: &str, known: Option<&str>) -> usize {
        let row = self.names.len();
        let taken = |n: &String| self.names.contains(n);
        let numbered = |n: usize| match n {
            1 => name.to_owned(),
            n => format!("{name} #{n}"),
        };
        let free = (1..).map(numbered).find(|n| !taken(n));
        self.names.push(free.unwrap_or_default());
        if let Some(known) = known {
            self.known.set(known, row);
        }
        row
    }
}

/// On how many items the joined model `row` has another score than row `l` of `part`.
fn differing_cells(
    before: &[(PathBuf, Benchmark)],
    places: &[Place],
    row: usize,
    (part, l, columns): (&Benchmark, usize, &[Option<usize>]),
) -> usize {
    let mine = scores(part, l, columns);
    let mut differing = HashSet::new();
    for ((_, other), place) in before.iter().zip(places) {
        for (m, _) in place.rows.iter().enumerate().filter(|(_, r)| **r == row) {
            let theirs = scores(other, m, &place.columns);
            differing.extend(
                theirs
                    .into_iter()
                    .filter(|(item, y)| mine.get(item).is_some_and(|mine| mine != y))
                    .map(|(item, _)| item),
            );
        }
    }
    differing.len()
}

/// Scores of a row by joined item.
fn scores(part: &Benchmark, l: usize, columns: &[Option<usize>]) -> HashMap<usize, f64> {
    let row = part.matrix.row(l).into_iter().zip(columns);
    row.filter_map(|(y, at)| at.filter(|_| !y.is_nan()).map(|at| (at, y)))
        .collect()
}

/// A joined scenario.
struct Joined {
    name: String,
    aggregate: super::Aggregate,
    /// Sub-scenarios with their joined items.
    subs: Vec<(String, Vec<usize>)>,
    /// By id within the scenario.
    known: Known,
    /// In order of their numbers.
    ids: Vec<String>,
}

/// The joined scenarios and items.
struct Layout {
    names: Names,
    scenarios: Vec<Joined>,
    known: Known,
    n_items: usize,
    warnings: Vec<String>,
}

impl Layout {
    fn new(names: Names) -> Self {
        Self {
            names,
            scenarios: Vec::new(),
            known: Known::new(names),
            n_items: 0,
            warnings: Vec::new(),
        }
    }

    /// Takes the scenarios of a source; the joined item of each of its columns.
    fn add(
        &mut self,
        part: &Benchmark,
        before: &[(PathBuf, Benchmark)],
        places: &[Place],
        models: &Models,
    ) -> Vec<Option<usize>> {
        let ids = part.matrix.items();
        let mut columns = vec![None; ids.len()];
        for scenario in &part.scenarios {
            let at = match self.known.get(&scenario.name) {
                Some(at) => at,
                None => self.same_items(part, scenario, before, places, models),
            };
            let joined = &mut self.scenarios[at];
            if joined.aggregate != scenario.aggregate {
                self.warnings.push(format!(
                    "scenario {:?} is averaged by {} in one source and {} in another: {0} counts",
                    joined.name,
                    joined.aggregate.name(),
                    scenario.aggregate.name()
                ));
            }
            for sub in &scenario.subscenarios {
                let k = joined.subs.iter().position(|s| s.0 == sub.name);
                let k = k.unwrap_or_else(|| {
                    joined.subs.push((sub.name.clone(), Vec::new()));
                    joined.subs.len() - 1
                });
                for &column in &scenario.columns[sub.items.clone()] {
                    let item = joined.known.get(&ids[column]).unwrap_or_else(|| {
                        let item = self.n_items;
                        self.n_items += 1;
                        joined.known.set(&ids[column], item);
                        joined.ids.push(ids[column].clone());
                        joined.subs[k].1.push(item);
                        item
                    });
                    columns[column] = Some(item);
                }
            }
        }
        columns
    }

    /// The joined scenario of another name that has the items of `scenario`; a new one where there is none, or where a model
    /// of both has different scores there.
    fn same_items(
        &mut self,
        part: &Benchmark,
        scenario: &Scenario,
        before: &[(PathBuf, Benchmark)],
        places: &[Place],
        models: &Models,
    ) -> usize {
        let ids = part.matrix.items();
        let mut clash = None;
        for (at, joined) in self.scenarios.iter().enumerate() {
            let mut columns = vec![None; ids.len()];
            for &column in &scenario.columns {
                columns[column] = joined.known.get(&ids[column]);
            }
            if columns.iter().all(Option::is_none) {
                continue;
            }
            let differs = part.matrix.models().iter().enumerate().any(|(l, name)| {
                let row = models.known.get(name);
                row.is_some_and(|row| differing_cells(before, places, row, (part, l, &columns)) > 0)
            });
            if !differs {
                self.known.set(&scenario.name, at);
                return at;
            }
            clash = Some(joined.name.clone());
        }
        if let Some(other) = clash {
            self.warnings.push(format!(
                "{:?} and {other:?} share item ids, but models have different scores there: taken as two scenarios \
                 (name the items SCENARIO/ID to join them)",
                scenario.name
            ));
        }
        self.known.set(&scenario.name, self.scenarios.len());
        self.scenarios.push(Joined {
            name: scenario.name.clone(),
            aggregate: scenario.aggregate,
            subs: Vec::new(),
            known: Known::new(self.names),
            ids: Vec::new(),
        });
        self.scenarios.len() - 1
    }

    /// By joined item: its column.
    fn order(&self) -> Vec<usize> {
        let items = self.scenarios.iter().flat_map(|s| &s.subs);
        let mut order = vec![0; self.n_items];
        for (column, &item) in items.flat_map(|(_, items)| items).enumerate() {
            order[item] = column;
        }
        order
    }

    /// Ids by column; those that two scenarios have begin with the scenario's name.
    fn ids(&self) -> Vec<String> {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for id in self.scenarios.iter().flat_map(|s| &s.ids) {
            *count.entry(id).or_default() += 1;
        }
        let order = self.order();
        let mut ids = vec![String::new(); self.n_items];
        for scenario in &self.scenarios {
            for id in &scenario.ids {
                let item = scenario.known.get(id).unwrap_or_default();
                ids[order[item]] = match count[id.as_str()] {
                    1 => id.clone(),
                    _ => format!("{}/{id}", scenario.name),
                };
            }
        }
        ids
    }

    fn scenarios(&self) -> Vec<Scenario> {
        let mut column = 0;
        let scenarios = self.scenarios.iter().map(|joined| {
            let first = column;
            let mut subscenarios = Vec::new();
            for (name, items) in joined.subs.iter().filter(|s| !s.1.is_empty()) {
                subscenarios.push(SubScenario {
                    name: name.clone(),
                    items: column - first..column - first + items.len(),
                });
                column += items.len();
            }
            Scenario {
                name: joined.name.clone(),
                aggregate: joined.aggregate,
                columns: (first..column).collect(),
                subscenarios,
            }
        });
        scenarios.collect()
    }
}

/// Sources that share neither a model nor an item with any other.
fn strangers(parts: &[(PathBuf, Benchmark)], places: &[Place]) -> Vec<String> {
    let alone = |at: usize| {
        let rows: HashSet<usize> = places[at].rows.iter().copied().collect();
        let items: HashSet<usize> = places[at].columns.iter().flatten().copied().collect();
        places.iter().enumerate().all(|(other, place)| {
            other == at
                || !(place.rows.iter().any(|r| rows.contains(r))
                    || place.columns.iter().flatten().any(|c| items.contains(c)))
        })
    };
    let strange = parts.iter().enumerate().filter(|(at, _)| alone(*at));
    strange
        .map(|(_, (path, _))| {
            format!(
                "{} shares neither a model nor an item with the other sources",
                path.display()
            )
        })
        .collect()
}

/// Names that differ in case, spaces, punctuation or `/` against `__` only.
fn near_misses<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        alike.entry(plain(name)).or_default().push(name);
    }
    let groups: Vec<String> = alike
        .into_iter()
        .filter(|(key, names)| !key.is_empty() && names.len() > 1)
        .map(|(_, names)| {
            let names: Vec<String> = names.iter().map(|n| format!("{n:?}")).collect();
            names.join(" and ")
        })
        .collect();
    (!groups.is_empty()).then(|| {
        format!(
            "{what} that differ in case, spaces or signs only are kept apart: {} (--names loose joins them)",
            list(groups.iter().map(String::as_str))
        )
    })
}

/// What every source says where all say the same, else what each says.
fn said(parts: &[(PathBuf, Benchmark)], of: &dyn Fn(&Benchmark) -> String) -> String {
    let all: Vec<(&str, String)> = parts
        .iter()
        .map(|(_, p)| (p.name.as_str(), of(p)))
        .collect();
    if all.iter().all(|(_, text)| *text == all[0].1) {
        return all[0].1.clone();
    }
    let each: Vec<String> = all
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("{name}: {text}"))
        .collect();
    each.join("; ")
}

/// What the sources know of the models, by joined name; the first counts.
fn by_model<T: Clone + PartialEq>(
    parts: &[(PathBuf, Benchmark)],
    places: &[Place],
    models: &Models,
    warnings: &mut Vec<String>,
    what: &str,
    of: impl Fn(&Benchmark) -> &BTreeMap<String, T>,
) -> BTreeMap<String, T> {
    let mut joined: BTreeMap<String, T> = BTreeMap::new();
    let mut differing = Vec::new();
    for ((_, part), place) in parts.iter().zip(places) {
        for (l, name) in part.matrix.models().iter().enumerate() {
            let (Some(value), model) = (of(part).get(name), &models.names[place.rows[l]]) else {
                continue;
            };
            match joined.get(model) {
                Some(first) if first != value => differing.push(model.as_str()),
                Some(_) => {}
                None => {
                    joined.insert(model.clone(), value.clone());
                }
            }
        }
    }
    if !differing.is_empty() {
        warnings.push(format!(
            "sources give different {what}, the first counts: {}",
            list(differing.into_iter())
        ));
    }
    joined
}

#[cfg(test)]
mod tests;
