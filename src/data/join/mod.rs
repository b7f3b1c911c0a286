//! Several sources as one benchmark: models and items are joined by name.

mod evidence;
mod layout;
mod models;
mod names;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use super::read::{Names, ReadOptions};
use super::{Benchmark, ItemTexts, list};
use crate::error::Result;
use layout::Layout;
use models::Models;

/// What was read from one source.
pub(super) struct Part {
    /// As the user named it.
    pub(super) path: PathBuf,
    pub(super) benchmark: Benchmark,
    pub(super) naming: Naming,
}

/// Where the names of a source's scenarios come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// The source names its scenarios, and says how they are averaged.
    Stated,
    /// The item ids begin with them; nobody says how they are averaged.
    Prefixed,
    /// The file's name stands for the only one: its items may be any scenario's.
    File,
}

/// Joins what was read from each source.
///
/// - A **model** is the same in two sources when it has the same name, a **scenario** likewise, and an **item** when its
///   scenario has an item of the same id. With [`Names::Loose`] names that differ in case, spaces,
///   punctuation or `/` against `__` only are the same, but never two names of one source; else such near misses are named in
///   the warnings.
/// - Tables without a manifest or prefixed ids have no scenario of their own ([`Naming::File`]). Those that share item ids are
///   one, see [`tables::groups`]; each of their items goes where a scenario of another source has one of this id, and the
///   rest is a scenario that is called like the file.
/// - Where two sources give a model different scores on an item, the later source counts and the model is named;
///   [`Runs::Separate`](super::read::Runs::Separate) keeps both, as `MODEL @SOURCE`.
///
/// Models stand in the order of the sources; scenarios and items too, but those of tables without names last. Pairs that no
/// source has are missing.
///
/// # Errors
/// More cells than the limit; an item or table that may belong to several scenarios.
///
/// # Panics
/// Without a source.
pub(super) fn together(mut parts: Vec<Part>, options: &ReadOptions) -> Result<Benchmark> {
    if parts.len() == 1 {
        return Ok(parts.remove(0).benchmark);
    }
    let mut warnings = Vec::new();
    for part in &mut parts {
        let source = part.path.display().to_string();
        for warning in part.benchmark.warnings.drain(..) {
            warnings.push(if warning.contains(&source) {
                warning
            } else {
                format!("{source}: {warning}")
            });
        }
    }
    let models = Models::of(&parts, options.names);
    let mut layout = Layout::of(&parts, &models, options.names)?;
    let limits = &options.limits;
    limits.check_cells(&parts[0].path, models.names.len(), layout.n_items())?;
    warnings.append(&mut layout.warnings);
    let (matrix, rows) = models.scores(&parts, &layout, options.runs, &mut warnings);
    warnings.extend(strangers(&parts, &models, &layout));
    warnings.extend(pooled(&parts, &models, &layout));
    let loose = options.names == Names::Loose;
    let all = models
        .names
        .iter()
        .map(|(name, source)| (name.as_str(), *source));
    warnings.extend(names::near_misses("models", all, loose));
    warnings.extend(layout.near_misses());
    let mut texts = ItemTexts::default();
    for (source, part) in parts.iter().enumerate() {
        for (column, id) in part.benchmark.matrix.items().iter().enumerate() {
            if let (Some(at), Some(text)) =
                (layout.column(source, column), part.benchmark.texts.get(id))
                && texts.get(&matrix.items()[at]).is_none()
            {
                texts.insert(matrix.items()[at].clone(), text.clone());
            }
        }
    }
    let named = |of: &dyn Fn(&Benchmark) -> String| said(&parts, of);
    let mut by_model = Joining {
        parts: &parts,
        rows: &rows,
        models: matrix.models(),
        warnings: &mut warnings,
    };
    let released = by_model.join("release dates", |p| &p.released);
    let organisations = by_model.join("organisations", |p| &p.organisations);
    Ok(Benchmark {
        name: {
            let mut names: Vec<&str> = parts.iter().map(|p| p.benchmark.name.as_str()).collect();
            let mut seen = HashSet::new();
            names.retain(|n| seen.insert(*n));
            names.join(" + ")
        },
        origin: parts[0].benchmark.origin.clone(),
        simulated: parts.iter().any(|p| p.benchmark.simulated),
        source: named(&|p| p.source.clone()),
        licence: named(&|p| p.licence.clone()),
        metric: named(&|p| p.metric.clone()),
        notes: named(&|p| p.notes.clone()),
        scenarios: layout.scenarios(),
        matrix,
        released,
        organisations,
        texts,
        warnings,
    })
}

/// Sources that share neither a model nor an item with any other.
fn strangers(parts: &[Part], models: &Models, layout: &Layout) -> Vec<String> {
    let of = |source: usize| -> Held {
        let rows = models.rows[source].iter().map(|r| (true, *r));
        let items = layout.columns[source].iter().flatten();
        rows.chain(items.map(|i| (false, *i))).collect()
    };
    let of: Vec<Held> = (0..parts.len()).map(of).collect();
    let strange = (0..parts.len()).filter(|&source| {
        let others = of.iter().enumerate().filter(|(other, _)| *other != source);
        others
            .map(|o| o.1)
            .all(|other| other.is_disjoint(&of[source]))
    });
    strange
        .map(|source| {
            format!(
                "{} shares neither a model nor an item with the other sources",
                parts[source].path.display()
            )
        })
        .collect()
}

/// Joined models (true) and items (false).
type Held = HashSet<(bool, usize)>;

/// Scenarios of one name whose sources have neither items nor models in common: nothing but the name says that they are one.
fn pooled(parts: &[Part], models: &Models, layout: &Layout) -> Vec<String> {
    let mut found = Vec::new();
    for (at, scenario) in layout.scenarios.iter().enumerate() {
        // Sources that share something, and what they have together.
        let mut pools: Vec<(Vec<usize>, Held)> = Vec::new();
        for (source, columns) in layout.columns.iter().enumerate() {
            let mut has: Held = columns
                .iter()
                .flatten()
                .filter(|&&item| layout.scenario(item) == at)
                .map(|&item| (false, item))
                .collect();
            if has.is_empty() {
                continue;
            }
            has.extend(models.rows[source].iter().map(|&row| (true, row)));
            let mut sources = vec![source];
            let (near, far) = pools
                .into_iter()
                .partition(|pool| !pool.1.is_disjoint(&has));
            pools = far;
            for (others, held) in near {
                sources.extend(others);
                has.extend(held);
            }
            sources.sort_unstable();
            pools.push((sources, has));
        }
        if pools.len() > 1 {
            pools.sort_by_key(|pool| pool.0[0]);
            let each = pools
                .iter()
                .map(|pool| parts[pool.0[0]].path.display().to_string());
            found.push(format!(
                "{} is pooled from {}, which share no item and no model",
                scenario.name,
                each.collect::<Vec<String>>().join(" and ")
            ));
        }
    }
    found
}

/// What every source says where all say the same, else what each says.
fn said(parts: &[Part], of: &dyn Fn(&Benchmark) -> String) -> String {
    let all: Vec<(&str, String)> = parts
        .iter()
        .map(|p| (p.benchmark.name.as_str(), of(&p.benchmark)))
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

/// Joins what the sources know of the models.
struct Joining<'a> {
    parts: &'a [Part],
    /// By source and row: the joined row.
    rows: &'a [Vec<usize>],
    models: &'a [String],
    warnings: &'a mut Vec<String>,
}

impl Joining<'_> {
    /// By joined name; the first source counts.
    fn join<T: Clone + PartialEq>(
        &mut self,
        what: &str,
        of: impl Fn(&Benchmark) -> &BTreeMap<String, T>,
    ) -> BTreeMap<String, T> {
        let mut joined: BTreeMap<String, T> = BTreeMap::new();
        let mut differing = Vec::new();
        for (part, rows) in self.parts.iter().zip(self.rows) {
            for (name, row) in part.benchmark.matrix.models().iter().zip(rows) {
                let (Some(value), model) = (of(&part.benchmark).get(name), &self.models[*row])
                else {
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
            self.warnings.push(format!(
                "sources give different {what}, the first counts: {}",
                list(differing.into_iter())
            ));
        }
        joined
    }
}
