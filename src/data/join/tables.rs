//! Tables without names of scenarios: which of them have the same items.

use std::collections::HashMap;

use super::evidence::{Evidence, counts};
use super::models::Models;
use super::names::Known;
use super::{Naming, Part};
use crate::data::read::Names;
use crate::error::{Error, Result};

/// Tables that are one scenario.
pub(super) struct Group {
    /// As sources, in their order.
    pub(super) tables: Vec<usize>,
    /// Ids of one table that are alike another's, by table and column.
    ids: Vec<HashMap<usize, String>>,
}

impl Group {
    fn of(tables: Vec<usize>, parts: &[Part], names: Names) -> Self {
        let mut known = Known::new(names);
        let mut spelled: Vec<&str> = Vec::new();
        let mut ids = Vec::new();
        for &table in &tables {
            let own = parts[table].benchmark.matrix.items();
            let mut other = HashMap::new();
            let places = known.places(own.iter().map(String::as_str));
            for (column, (id, place)) in own.iter().zip(places).enumerate() {
                let at = place.unwrap_or_else(|| {
                    spelled.push(id);
                    spelled.len() - 1
                });
                known.set(id, at);
                if spelled[at] != id {
                    other.insert(column, spelled[at].to_owned());
                }
            }
            ids.push(other);
        }
        Self { tables, ids }
    }

    /// The id of a column as the group's first table spells it.
    pub(super) fn id<'a>(&'a self, table: usize, column: usize, id: &'a str) -> &'a str {
        self.ids[table].get(&column).map_or(id, String::as_str)
    }
}

/// Which set each table belongs to.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    /// The set keeps the number of its first table.
    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// The tables in groups of the same items, whatever their order. Two tables are of one group when they share an item id, or
/// their file's name and no id. Where the ids merely count and models of both have scores that differ like those of different
/// tests ([`Evidence::different`]) they are not, and it is said.
///
/// # Errors
/// A table that belongs to two that are different.
pub(super) fn groups(
    parts: &[Part],
    models: &Models,
    names: Names,
    warnings: &mut Vec<String>,
) -> Result<Vec<Group>> {
    let tables: Vec<usize> = (0..parts.len())
        .filter(|&s| parts[s].naming == Naming::File)
        .collect();
    let (mut compared, mut apart, mut linked) = (Vec::new(), Vec::new(), Vec::new());
    for (k, &a) in tables.iter().enumerate() {
        let mut known = Known::new(names);
        for (column, id) in parts[a].benchmark.matrix.items().iter().enumerate() {
            known.set(id, column);
        }
        for &b in &tables[k + 1..] {
            let ids = parts[b].benchmark.matrix.items();
            let places = known.places(ids.iter().map(String::as_str));
            let pairs: Vec<(usize, usize)> = places
                .iter()
                .enumerate()
                .filter_map(|(column, place)| Some(((*place)?, column)))
                .collect();
            if pairs.is_empty() {
                if parts[a].benchmark.name == parts[b].benchmark.name {
                    linked.push((a, b));
                }
                continue;
            }
            let evidence = compare(parts, models, a, b, &pairs);
            let counting = pairs.iter().all(|&(_, column)| counts(&ids[column]));
            if counting && evidence.different() {
                apart.push((a, b));
            } else if evidence.any() || !counting {
                compared.push((a, b));
            } else {
                linked.push((a, b));
            }
        }
    }
    let mut sets = Sets((0..parts.len()).collect());
    for (a, b) in compared {
        sets.unite(a, b);
    }
    // A third run may lie between two that differ a lot.
    apart.retain(|&(a, b)| sets.find(a) != sets.find(b));
    for (a, b) in linked {
        sets.unite(a, b);
    }
    let shown = |table: usize| parts[table].path.display().to_string();
    for &(a, b) in &apart {
        if sets.find(a) == sets.find(b) {
            let between = tables
                .iter()
                .find(|&&c| c != a && c != b && sets.find(c) == sets.find(a));
            let between = between.copied().unwrap_or(b);
            return Err(Error::input(
                &parts[between].path,
                format!(
                    "it shares item ids or the name with {} and {}, which look like different tests",
                    shown(a),
                    shown(b)
                ),
                "name the items SCENARIO/ID",
            ));
        }
        warnings.push(taken_as_two(&shown(b), &shown(a)));
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &table in &tables {
        let set = sets.find(table);
        match groups.iter_mut().find(|g| sets.find(g[0]) == set) {
            Some(group) => group.push(table),
            None => groups.push(vec![table]),
        }
    }
    let groups = groups.into_iter();
    Ok(groups.map(|g| Group::of(g, parts, names)).collect())
}

/// What is said where equal numbers are taken for different items.
pub(super) fn taken_as_two(one: &str, other: &str) -> String {
    format!(
        "{one} and {other} share item ids that merely count, and the scores of models of both differ as those of different \
         tests do: taken as two scenarios (name the items SCENARIO/ID to join them)"
    )
}

/// Compares the scores that models have in two sources, on pairs of columns.
pub(super) fn compare(
    parts: &[Part],
    models: &Models,
    a: usize,
    b: usize,
    pairs: &[(usize, usize)],
) -> Evidence {
    let mut evidence = Evidence::default();
    if pairs.is_empty() {
        return evidence;
    }
    let rows = models.rows[a].iter().enumerate();
    let there: HashMap<usize, usize> = rows.map(|(l, &row)| (row, l)).collect();
    for (l, row) in models.rows[b].iter().enumerate() {
        if let Some(&other) = there.get(row) {
            let one = parts[a].benchmark.matrix.row(other);
            let two = parts[b].benchmark.matrix.row(l);
            evidence.add(pairs.iter().map(|&(x, y)| (one[x], two[y])));
        }
    }
    evidence
}
