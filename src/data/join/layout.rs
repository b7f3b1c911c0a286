//! The joined scenarios and items: named sources first, then tables whose items may be any scenario's.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::models::{Models, unique};
use super::names::{Known, key, near_misses};
use super::tables::{self, Group};
use super::{Naming, Part};
use crate::data::read::Names;
use crate::data::{Aggregate, Benchmark, Scenario, SubScenario, count, list};
use crate::error::{Error, Result};

/// A joined scenario.
pub(super) struct Joined {
    pub(super) name: String,
    /// What the first source that knows says.
    aggregate: Option<Aggregate>,
    /// Sub-scenarios with their joined items.
    subs: Vec<(String, Vec<usize>)>,
    /// By id within the scenario.
    pub(super) known: Known,
    /// Items with their ids and first sources.
    pub(super) items: Vec<(usize, String, usize)>,
    /// Named like a file only.
    by_file: bool,
}

impl Joined {
    fn new(name: &str, names: Names, by_file: bool) -> Self {
        Self {
            name: name.to_owned(),
            aggregate: None,
            subs: Vec::new(),
            known: Known::new(names),
            items: Vec::new(),
            by_file,
        }
    }
}

/// The joined scenarios and items.
pub(super) struct Layout {
    names: Names,
    pub(super) scenarios: Vec<Joined>,
    known: Known,
    /// Scenario and sub-scenario of each joined item.
    of: Vec<(usize, usize)>,
    /// By source: joined item of each column; `None` where it is in no scenario.
    pub(super) columns: Vec<Vec<Option<usize>>>,
    /// Column of each joined item.
    order: Vec<usize>,
    pub(super) warnings: Vec<String>,
}

impl Layout {
    /// # Errors
    /// An item of a table that several scenarios have.
    pub(super) fn of(parts: &[Part], models: &Models, names: Names) -> Result<Self> {
        let columns = parts
            .iter()
            .map(|p| vec![None; p.benchmark.matrix.n_items()]);
        let mut layout = Self {
            names,
            scenarios: Vec::new(),
            known: Known::new(names),
            of: Vec::new(),
            columns: columns.collect(),
            order: Vec::new(),
            warnings: Vec::new(),
        };
        for (source, part) in parts.iter().enumerate() {
            if part.naming != Naming::File {
                layout.named(source, part);
            }
        }
        for group in tables::groups(parts, models, names, &mut layout.warnings)? {
            layout.nameless(&group, parts, models)?;
        }
        layout.order = vec![0; layout.of.len()];
        let items = layout.scenarios.iter().flat_map(|s| &s.subs);
        for (column, &item) in items.flat_map(|(_, items)| items).enumerate() {
            layout.order[item] = column;
        }
        Ok(layout)
    }

    pub(super) fn n_items(&self) -> usize {
        self.of.len()
    }

    /// Scenario of a joined item.
    pub(super) fn scenario(&self, item: usize) -> usize {
        self.of[item].0
    }

    /// Joined columns and scores of a source's row, without missing ones.
    pub(super) fn cells(&self, source: usize, part: &Benchmark, l: usize) -> Vec<(usize, f64)> {
        let row = part.matrix.row(l).into_iter().zip(&self.columns[source]);
        row.filter_map(|(y, at)| at.filter(|_| !y.is_nan()).map(|at| (self.order[at], y)))
            .collect()
    }

    /// Column of a source's column, where it is in a scenario.
    pub(super) fn column(&self, source: usize, column: usize) -> Option<usize> {
        self.columns[source][column].map(|item| self.order[item])
    }

    /// Takes a source that names its scenarios.
    fn named(&mut self, source: usize, part: &Part) {
        let b = &part.benchmark;
        let ids = b.matrix.items();
        let places = self
            .known
            .places(b.scenarios.iter().map(|s| s.name.as_str()));
        let mut moved = 0;
        for (scenario, place) in b.scenarios.iter().zip(places) {
            let at = place.unwrap_or_else(|| {
                self.scenarios
                    .push(Joined::new(&scenario.name, self.names, false));
                self.scenarios.len() - 1
            });
            self.known.set(&scenario.name, at);
            let joined = &mut self.scenarios[at];
            let own = (part.naming == Naming::Stated).then_some(scenario.aggregate);
            match (joined.aggregate, own) {
                (Some(one), Some(other)) if one != other => self.warnings.push(format!(
                    "scenario {:?} is averaged by {} in one source and by {} in {}: {} counts",
                    scenario.name,
                    one.name(),
                    other.name(),
                    part.path.display(),
                    one.name()
                )),
                (one, other) => joined.aggregate = one.or(other),
            }
            let items = scenario.columns.iter().map(|&c| ids[c].as_str());
            let found = joined.known.places(items);
            for sub in &scenario.subscenarios {
                let k = self.sub(at, &sub.name);
                for position in sub.items.clone() {
                    let column = scenario.columns[position];
                    let item = match found[position] {
                        Some(item) => {
                            moved += usize::from(self.of[item].1 != k);
                            self.scenarios[at].known.set(&ids[column], item);
                            item
                        }
                        None => self.item(at, k, &ids[column], source),
                    };
                    self.columns[source][column] = Some(item);
                }
            }
        }
        if moved > 0 {
            self.warnings.push(format!(
                "{}: {} in another sub-scenario than in a source before it, the first counts",
                part.path.display(),
                count(moved, "item")
            ));
        }
    }

    /// The sub-scenario of this name, made where there is none.
    fn sub(&mut self, at: usize, name: &str) -> usize {
        let loose = self.names == Names::Loose;
        let subs = &mut self.scenarios[at].subs;
        let alike = |other: &str| loose && key(name).is_some_and(|k| key(other) == Some(k));
        let found = subs.iter().position(|s| s.0 == name);
        found
            .or_else(|| subs.iter().position(|s| alike(&s.0)))
            .unwrap_or_else(|| {
                subs.push((name.to_owned(), Vec::new()));
                subs.len() - 1
            })
    }

    /// A new item.
    fn item(&mut self, at: usize, sub: usize, id: &str, source: usize) -> usize {
        let item = self.of.len();
        let joined = &mut self.scenarios[at];
        joined.known.set(id, item);
        joined.items.push((item, id.to_owned(), source));
        joined.subs[sub].1.push(item);
        self.of.push((at, sub));
        item
    }

    /// Takes tables that have the same items: each goes where a named scenario has it, the rest is a scenario of its own.
    fn nameless(&mut self, group: &Group, parts: &[Part], models: &Models) -> Result<()> {
        let scenarios = 0..self.scenarios.len();
        let mut homes: HashMap<usize, Vec<Vec<Option<usize>>>> = HashMap::new();
        for at in scenarios.filter(|&at| !self.scenarios[at].by_file) {
            let known = &self.scenarios[at].known;
            let found: Vec<Vec<Option<usize>>> = group
                .tables
                .iter()
                .map(|&t| known.places(ids(&parts[t]).iter().map(String::as_str)))
                .collect();
            if found.iter().flatten().any(Option::is_some) {
                homes.insert(at, found);
            }
        }
        let namesakes: Vec<Option<usize>> = group
            .tables
            .iter()
            .map(|&t| self.known.exactly(&parts[t].benchmark.name))
            .collect();
        self.leave(group, &mut homes, &namesakes, parts, models);
        let mut own = None;
        for (k, &table) in group.tables.iter().enumerate() {
            let path = &parts[table].path;
            let (mut placed, mut alone) = (0, 0);
            for (column, id) in ids(&parts[table]).iter().enumerate() {
                let mut found: BTreeMap<usize, usize> = homes
                    .iter()
                    .filter_map(|(&at, found)| found[k][column].map(|item| (at, item)))
                    .collect();
                if let Some(item) = namesakes[k].and_then(|at| found.remove(&at)) {
                    found.clear();
                    found.insert(self.of[item].0, item);
                }
                if found.len() > 1 {
                    let names = found.keys().map(|&at| self.scenarios[at].name.as_str());
                    let names: Vec<&str> = names.collect();
                    return Err(Error::input(
                        path,
                        format!("item {id:?} may be of the scenarios {}", names.join(" or ")),
                        "name the items SCENARIO/ID, or the file like the scenario",
                    ));
                }
                let item = match found.into_iter().next() {
                    Some((at, item)) => {
                        placed += 1;
                        self.scenarios[at].known.set(id, item);
                        item
                    }
                    None => {
                        alone += 1;
                        let at = *own.get_or_insert_with(|| self.own(&parts[table].benchmark.name));
                        let known = &self.scenarios[at].known;
                        // Ids that are alike only were matched for the group as a whole.
                        match known.exactly(group.id(k, column, id)) {
                            Some(item) => item,
                            None => {
                                let sub = self.sub(at, "all");
                                self.item(at, sub, group.id(k, column, id), table)
                            }
                        }
                    }
                };
                self.columns[table][column] = Some(item);
            }
            if let (Some(own), true) = (own, placed > 0 && alone > 0) {
                self.warnings.push(format!(
                    "{}: {} that no other source has, put into the scenario {:?}",
                    path.display(),
                    count(alone, "item"),
                    self.scenarios[own].name
                ));
            }
        }
        Ok(())
    }

    /// Strikes scenarios of `homes` where the tables' scores say that the items are others.
    fn leave(
        &mut self,
        group: &Group,
        homes: &mut HashMap<usize, Vec<Vec<Option<usize>>>>,
        namesakes: &[Option<usize>],
        parts: &[Part],
        models: &Models,
    ) {
        let mut struck = Vec::new();
        for (&at, found) in homes.iter() {
            if namesakes.contains(&Some(at)) {
                continue;
            }
            let mut evidence = super::evidence::Evidence::default();
            let mut counting = true;
            for (k, &table) in group.tables.iter().enumerate() {
                let mut shared = ids(&parts[table]).iter().zip(&found[k]);
                counting &= shared.all(|(id, f)| f.is_none() || super::evidence::counts(id));
                for (source, part) in parts.iter().enumerate() {
                    if part.naming == Naming::File {
                        continue;
                    }
                    let there: HashMap<usize, usize> = self.columns[source]
                        .iter()
                        .enumerate()
                        .filter_map(|(column, item)| item.map(|item| (item, column)))
                        .collect();
                    let pairs: Vec<(usize, usize)> = found[k]
                        .iter()
                        .enumerate()
                        .filter_map(|(column, item)| Some((column, *there.get(&(*item)?)?)))
                        .collect();
                    evidence.join(tables::compare(parts, models, table, source, &pairs));
                }
            }
            if counting && evidence.different() {
                struck.push(at);
            }
        }
        struck.sort_unstable();
        for at in struck {
            homes.remove(&at);
            let paths: Vec<String> = group
                .tables
                .iter()
                .map(|&t| parts[t].path.display().to_string())
                .collect();
            self.warnings.push(tables::taken_as_two(
                &list(paths.iter().map(String::as_str)),
                &format!("the scenario {:?}", self.scenarios[at].name),
            ));
        }
    }

    /// The scenario of items that no named one has.
    fn own(&mut self, name: &str) -> usize {
        if let Some(at) = self.known.exactly(name) {
            return at;
        }
        let mut taken: HashSet<String> = self.scenarios.iter().map(|s| s.name.clone()).collect();
        let name = unique(name, &mut taken);
        self.scenarios.push(Joined::new(&name, self.names, true));
        self.scenarios.len() - 1
    }

    /// Ids by column; those that two scenarios have begin with the scenario's name.
    pub(super) fn ids(&self) -> Vec<String> {
        let mut often: HashMap<&str, usize> = HashMap::new();
        let all = || {
            self.scenarios
                .iter()
                .flat_map(|s| s.items.iter().map(move |i| (s, i)))
        };
        for (_, (_, id, _)) in all() {
            *often.entry(id).or_default() += 1;
        }
        let mut ids = vec![String::new(); self.n_items()];
        let single = often.iter().filter(|(_, n)| **n == 1);
        let mut taken: HashSet<String> = single.map(|(id, _)| (*id).to_owned()).collect();
        for (scenario, (item, id, _)) in all() {
            ids[self.order[*item]] = match often[id.as_str()] {
                1 => id.clone(),
                _ => unique(&format!("{}/{id}", scenario.name), &mut taken),
            };
        }
        ids
    }

    pub(super) fn scenarios(&self) -> Vec<Scenario> {
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
                aggregate: joined.aggregate.unwrap_or(Aggregate::Macro),
                columns: (first..column).collect(),
                subscenarios,
            }
        });
        scenarios.collect()
    }

    /// Names of scenarios and items that are alike and not the same.
    pub(super) fn near_misses(&self) -> Vec<String> {
        let loose = self.names == Names::Loose;
        let first = |s: &Joined| s.items.first().map_or(0, |i| i.2);
        let named = self.scenarios.iter().map(|s| (s.name.as_str(), first(s)));
        let mut found: Vec<String> = near_misses("scenarios", named, loose).into_iter().collect();
        let items = |s: &'_ Joined| -> Vec<(String, usize)> {
            s.items
                .iter()
                .map(|(_, id, source)| (id.clone(), *source))
                .collect()
        };
        for s in self.scenarios.iter().filter(|s| !s.by_file) {
            let items = items(s);
            let items = items.iter().map(|(id, source)| (id.as_str(), *source));
            found.extend(near_misses(&format!("items of {}", s.name), items, loose));
        }
        // A table's items may be any scenario's.
        let tables: Vec<&Joined> = self.scenarios.iter().filter(|s| s.by_file).collect();
        if !tables.is_empty() {
            let keys: HashSet<String> = tables
                .iter()
                .flat_map(|s| s.items.iter().filter_map(|i| key(&i.1)))
                .collect();
            let all: Vec<(String, usize)> = self.scenarios.iter().flat_map(items).collect();
            let all = all
                .iter()
                .filter(|(id, _)| key(id).is_some_and(|k| keys.contains(&k)))
                .map(|(id, source)| (id.as_str(), *source));
            found.extend(near_misses("items", all, loose));
        }
        found
    }
}

fn ids(part: &Part) -> &[String] {
    part.benchmark.matrix.items()
}
