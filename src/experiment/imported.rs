//! Item parameters from elsewhere instead of a fit: which of a file's items serve which of the data's.
//!
//! Items are joined by id; by position only where a file's ids are positions, and then every count must agree. An item of
//! the data without parameters is an error, since nothing could predict it; parameters without an item are left out and
//! counted. The abilities of the training models are always fitted anew at the given items, whatever the file says of them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

use crate::data::read::pickle::scenario_of;
use crate::data::{Benchmark, Scenario, Split, count, list};
use crate::error::{Error, Result, nearest};
use crate::irt::{Convention, GivenPrior, ItemParameters};

/// Item parameters that were read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The file.
    pub path: PathBuf,
    /// The convention that the user named, where one was needed.
    pub convention: Option<Convention>,
    /// What the user should know: the kind of file, its convention and how that was found.
    pub notes: Vec<String>,
    /// One or more sets; each is one space of abilities.
    pub sets: Vec<ImportedSet>,
}

/// Items that were fitted together.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedSet {
    /// Their parameters.
    pub items: ItemParameters,
    /// Their ids, as many; none where the file has none.
    pub ids: Vec<String>,
    /// True where the ids, if any, only count the items.
    pub positional: bool,
    /// The scenarios they belong to, where the file says so.
    pub parts: Vec<ImportedPart>,
    /// Prior of the ability.
    pub prior: GivenPrior,
    /// The models they were fitted on, where the file names them.
    pub models: Vec<String>,
}

/// One scenario of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedPart {
    /// Its name.
    pub scenario: String,
    /// Its items in the set.
    pub items: Range<usize>,
    /// b: validation error, where the file has it.
    pub b: Option<f64>,
    /// Scores above it counted 1 in the fit, where responses were binarised.
    pub threshold: Option<f64>,
}

/// The parameters of scenarios that share a fit.
pub(super) struct Joined<'a> {
    pub(super) set: &'a ImportedSet,
    /// One a scenario: its items among the set's.
    pub(super) places: Vec<Place<'a>>,
}

/// Where a scenario's items stand in a set.
pub(super) struct Place<'a> {
    set: usize,
    pub(super) rows: Vec<usize>,
    /// The file's scenario where it has exactly these items.
    pub(super) part: Option<&'a ImportedPart>,
}

impl Joined<'_> {
    /// Parameters of all the items, scenario by scenario.
    pub(super) fn items(&self) -> ItemParameters {
        let rows: Vec<usize> = self
            .places
            .iter()
            .flat_map(|p| p.rows.iter().copied())
            .collect();
        self.set.items.select(&rows)
    }

    /// b of every scenario, where the file has them all.
    pub(super) fn errors(&self) -> Option<Vec<f64>> {
        self.places.iter().map(|p| p.part?.b).collect()
    }
}

impl Imported {
    /// True when every item of the benchmark has parameters.
    pub fn covers(&self, benchmark: &Benchmark) -> bool {
        (0..benchmark.scenarios.len()).all(|s| self.join(benchmark, &[s]).is_ok())
    }

    /// Finds the items of scenarios that are to share a fit.
    ///
    /// # Errors
    /// Items without parameters; counts that differ where the file has no ids; scenarios whose parameters were not fitted
    /// together.
    pub(super) fn join(&self, benchmark: &Benchmark, group: &[usize]) -> Result<Joined<'_>> {
        let mut places: Vec<Place<'_>> = Vec::with_capacity(group.len());
        for &index in group {
            let place = self.place(benchmark, group, index)?;
            if places.first().is_some_and(|first| first.set != place.set) {
                return Err(Error::setting(
                    format!(
                        "{}: the parameters of {:?} and {:?} were fitted apart, their abilities cannot be one",
                        self.path.display(),
                        benchmark.scenarios[group[0]].name,
                        benchmark.scenarios[index].name,
                    ),
                    "use --theta scenario, or the parameters of a joint fit",
                ));
            }
            places.push(place);
        }
        Ok(Joined {
            set: &self.sets[places.first().map_or(0, |p| p.set)],
            places,
        })
    }

    fn place(&self, benchmark: &Benchmark, group: &[usize], index: usize) -> Result<Place<'_>> {
        let scenario = &benchmark.scenarios[index];
        let ids: Vec<&str> = scenario
            .columns
            .iter()
            .map(|&c| benchmark.matrix.items()[c].as_str())
            .collect();
        let mut best: (usize, usize, Vec<Option<usize>>) = (0, 0, vec![None; ids.len()]);
        for (set, of) in self.sets.iter().enumerate() {
            let row: HashMap<&str, usize> = of
                .ids
                .iter()
                .enumerate()
                .map(|(row, id)| (id.as_str(), row))
                .collect();
            let rows: Vec<Option<usize>> = ids.iter().map(|id| row.get(id).copied()).collect();
            let found = rows.iter().flatten().count();
            if found > best.0 {
                best = (found, set, rows);
            }
        }
        let (found, set, rows) = best;
        if found == 0
            && let Some(place) = self.by_position(benchmark, group, index)?
        {
            return Ok(place);
        }
        if found < ids.len() {
            return Err(self.lacking(&scenario.name, &ids, &rows));
        }
        let rows: Vec<usize> = rows.into_iter().flatten().collect();
        let parts = &self.sets[set].parts;
        let part = parts
            .iter()
            .find(|p| p.items.len() == rows.len() && rows.iter().all(|r| p.items.contains(r)));
        Ok(Place { set, rows, part })
    }

    /// The items by position, where the file's ids are positions.
    fn by_position(
        &self,
        benchmark: &Benchmark,
        group: &[usize],
        index: usize,
    ) -> Result<Option<Place<'_>>> {
        let scenario = &benchmark.scenarios[index];
        let n = scenario.n_items();
        // A set that holds more of the benchmark's scenarios was made for it; among equals the more special one.
        let named = |set: &ImportedSet, name: &str, n: usize| {
            set.parts.iter().position(|p| {
                (p.scenario == name || scenario_of(&p.scenario).0 == name) && p.items.len() == n
            })
        };
        let known = |set: &ImportedSet| {
            let of = |s: &&Scenario| named(set, &s.name, s.n_items()).is_some();
            benchmark.scenarios.iter().filter(of).count()
        };
        let best = self
            .sets
            .iter()
            .enumerate()
            .filter(|(_, set)| set.positional)
            .filter_map(|(at, set)| Some((at, &set.parts[named(set, &scenario.name, n)?])))
            .min_by_key(|(at, _)| {
                let set = &self.sets[*at];
                (std::cmp::Reverse(known(set)), set.parts.len())
            });
        if let Some((set, part)) = best {
            return Ok(Some(Place {
                set,
                rows: part.items.clone().collect(),
                part: Some(part),
            }));
        }
        let Some((set, of)) = self
            .sets
            .iter()
            .enumerate()
            .find(|(_, set)| set.positional && set.parts.is_empty())
        else {
            return Ok(None);
        };
        let items = of.items.len();
        let sizes = group.iter().map(|&s| benchmark.scenarios[s].n_items());
        let rows = if items == benchmark.matrix.n_items() {
            scenario.columns.clone()
        } else if items == sizes.clone().sum::<usize>() {
            let before = group.iter().position(|&s| s == index).unwrap_or(0);
            let from: usize = sizes.take(before).sum();
            (from..from + n).collect()
        } else {
            return Err(Error::input(
                &self.path,
                format!(
                    "{} without ids of the data; scenario {:?} has {n}, the data have {}",
                    count(items, "item"),
                    scenario.name,
                    benchmark.matrix.n_items()
                ),
                "without ids the counts must agree: name the scenario with --scenario, or give a file with item_ids",
            ));
        };
        Ok(Some(Place {
            set,
            rows,
            part: None,
        }))
    }

    fn lacking(&self, scenario: &str, ids: &[&str], rows: &[Option<usize>]) -> Error {
        let lacking: Vec<&str> = ids
            .iter()
            .zip(rows)
            .filter(|(_, row)| row.is_none())
            .map(|(id, _)| *id)
            .collect();
        let known = || self.sets.iter().flat_map(|s| &s.ids).map(String::as_str);
        let near = lacking
            .iter()
            .take(3)
            .find_map(|id| Some((*id, nearest(id, known())?)));
        let counted: Vec<String> = self
            .sets
            .iter()
            .filter(|set| set.positional)
            .flat_map(|set| &set.parts)
            .map(|p| format!("{} ({})", brief(&p.scenario), count(p.items.len(), "item")))
            .collect();
        let hint = match (near, known().next()) {
            _ if !counted.is_empty() => format!(
                "its ids only count, so scenarios must agree in name and number: {}",
                list(counted.iter().map(String::as_str))
            ),
            (Some((id, near)), _) => format!("did you mean its {:?} for {id:?}?", brief(near)),
            (None, Some(first)) => format!(
                "its items are named like {:?}; choose scenarios that it has with --scenario, or fit without --parameters",
                brief(first)
            ),
            (None, None) => "fit without --parameters".into(),
        };
        Error::input(
            &self.path,
            format!(
                "no parameters for {} of the {} of scenario {scenario:?}: {}",
                lacking.len(),
                count(ids.len(), "item"),
                list(lacking.iter().copied())
            ),
            hint,
        )
    }

    /// What the user should know of parameters in use: their kind, joins by position, items that the data lack, and test
    /// models that the parameters have seen.
    pub(super) fn warnings(
        &self,
        joined: &Joined<'_>,
        benchmark: &Benchmark,
        split: &Split,
    ) -> Vec<String> {
        let (set, file) = (joined.set, self.path.display());
        let mut out = self.notes.clone();
        let known: HashSet<&str> = benchmark
            .matrix
            .items()
            .iter()
            .map(String::as_str)
            .collect();
        let extra: Vec<&str> = set
            .ids
            .iter()
            .map(String::as_str)
            .filter(|id| !known.contains(id))
            .collect();
        if extra.len() == set.ids.len() {
            out.push(format!(
                "{file}: its items have no ids of the data, they are joined by position"
            ));
        } else if !extra.is_empty() {
            out.push(format!(
                "{file}: parameters of {} that the data lack are left out: {}",
                count(extra.len(), "item"),
                list(
                    extra
                        .iter()
                        .map(|id| brief(id))
                        .collect::<Vec<_>>()
                        .iter()
                        .map(String::as_str)
                )
            ));
        }
        if joined.errors().is_none() {
            out.push(format!(
                "{file} has no validation error: b is measured on training models that its parameters may have seen, and may be too small"
            ));
        }
        out.extend(self.leak(&set.models, benchmark, split));
        out
    }

    /// Says which test models the parameters have seen, or that the file does not tell; `None` where none is tested or all
    /// is well.
    pub fn seen(&self, benchmark: &Benchmark, split: &Split) -> Option<String> {
        let models: Vec<String> = self.sets.iter().flat_map(|s| s.models.clone()).collect();
        self.leak(&models, benchmark, split)
    }

    fn leak(&self, fitted_on: &[String], benchmark: &Benchmark, split: &Split) -> Option<String> {
        if split.test.is_empty() {
            return None;
        }
        let file = self.path.display();
        let fitted_on: HashSet<&str> = fitted_on.iter().map(String::as_str).collect();
        let among = |rows: &[usize]| -> Vec<&str> {
            rows.iter()
                .map(|&l| benchmark.matrix.models()[l].as_str())
                .filter(|m| fitted_on.contains(m))
                .collect()
        };
        let leaked = among(&split.test);
        if !leaked.is_empty() {
            return Some(format!(
                "{file}: its parameters were fitted on {} of the {}: {}; their estimates are optimistic",
                leaked.len(),
                count(split.test.len(), "test model"),
                list(leaked.iter().copied())
            ));
        }
        among(&split.train).is_empty().then(|| {
            format!(
                "{file} does not name the models that its parameters were fitted on: if test models are among them, estimates are optimistic"
            )
        })
    }
}

/// A name from a file, short enough for a message.
pub(crate) fn brief(text: &str) -> String {
    shortened(text, 80)
}

/// At most so many characters of a text from a file.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
