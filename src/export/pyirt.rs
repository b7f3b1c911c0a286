//! py-irt's parameters (best_parameters.json, parameters.json), written and read.
//!
//! Keys as py-irt's export has them: `ability` (subjects x D), `diff`, `disc` (items x D), `item_ids` and `subject_ids`
//! `{index: id}`, `irt_model`. Upstream's 1pl and 2pl have plain lists; its multidim_2pl has items x D of `diff`, that of the
//! tinyBenchmarks authors' fork one number an item. The file does not say which of the two it is, so ours names its
//! `convention`, a key that py-irt leaves alone.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::Path;

use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::{MOST_DIMS, item_ids, sensible, write_json};
use crate::data::{Benchmark, count, list};
use crate::error::{Error, Place, Result};
use crate::experiment::{Fitted, Imported, ImportedSet, brief};
use crate::irt::{Convention, Gaussians, GivenPrior, ItemParameters, Prior};

const REMEDY: &str =
    "give py-irt's best_parameters.json: ability, diff, disc, item_ids, subject_ids";

/// Parameters of one fit in py-irt's form.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PyIrtFile {
    /// `fork` or `upstream`; py-irt ignores it.
    pub convention: &'static str,
    /// Name of the benchmark; py-irt ignores it.
    pub benchmark: String,
    /// True when the responses were simulated; py-irt ignores it.
    pub simulated: bool,
    /// `multidim_2pl`, or `2pl` for D = 1 in upstream's convention.
    pub irt_model: &'static str,
    /// Posterior means of the training models' abilities.
    pub ability: Vec<Row>,
    /// b of the items, as the convention has it.
    pub diff: Vec<Row>,
    /// a of the items.
    pub disc: Vec<Row>,
    /// Ids of the items by index.
    pub item_ids: BTreeMap<usize, String>,
    /// Names of the training models by index.
    pub subject_ids: BTreeMap<usize, String>,
}

/// Numbers of one item or model: a list, or in one dimension a number. `None` is what no number can be (NaN, null).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Row {
    /// A plain number.
    One(Option<f64>),
    /// A list of them.
    Many(Vec<Option<f64>>),
}

impl PyIrtFile {
    /// From a fit, without what py-irt has no place for: covariances, prior, b of lambda, s2.
    ///
    /// # Errors
    /// Several fits, since a file holds one; in upstream's convention an item whose discrimination is too small to carry its
    /// intercept (the file's numbers stay below 1e6).
    pub fn of(benchmark: &Benchmark, fitted: &Fitted, convention: Convention) -> Result<Self> {
        let Some(first) = fitted.scenarios.first() else {
            return Err(Error::setting("nothing was fitted", ""));
        };
        if fitted
            .scenarios
            .iter()
            .any(|s| s.fit_items.start == 0 && s.index != first.index)
        {
            return Err(Error::setting(
                format!(
                    "a py-irt file holds one fit, these are {}, one a scenario",
                    fitted.scenarios.len()
                ),
                "name one with --scenario NAME (a file each), or fit them together with --theta joint",
            ));
        }
        let ids: Vec<String> = fitted
            .scenarios
            .iter()
            .flat_map(|s| item_ids(benchmark, &benchmark.scenarios[s.index]))
            .collect();
        let (items, abilities) = (&first.fit.items, &first.fit.abilities);
        let flat = convention == Convention::Centred && items.dims() == 1;
        let row = |numbers: &[f64]| match numbers {
            [one] if flat => Row::One(Some(*one)),
            many => Row::Many(many.iter().copied().map(Some).collect()),
        };
        let diff = items.difficulties(convention);
        let unfit: Vec<&str> = diff
            .iter()
            .zip(&ids)
            .filter(|(b, _)| !b.iter().all(|b| sensible(*b)))
            .map(|(_, id)| id.as_str())
            .collect();
        if !unfit.is_empty() {
            return Err(Error::setting(
                format!(
                    "{} cannot be written as a (theta - b), its a is too small for its intercept: {}",
                    count(unfit.len(), "item"),
                    list(unfit.iter().copied())
                ),
                "use --convention fork, which can hold every fit",
            ));
        }
        let models = benchmark.matrix.models();
        Ok(Self {
            convention: convention.name(),
            benchmark: benchmark.name.clone(),
            simulated: benchmark.simulated,
            irt_model: if flat { "2pl" } else { "multidim_2pl" },
            ability: (0..abilities.len())
                .map(|l| row(abilities.mean(l)))
                .collect(),
            diff: diff.iter().map(|b| row(b)).collect(),
            disc: (0..items.len())
                .map(|i| row(items.discrimination(i)))
                .collect(),
            item_ids: ids.into_iter().enumerate().collect(),
            subject_ids: first
                .fitted_models
                .iter()
                .map(|&l| models[l].clone())
                .enumerate()
                .collect(),
        })
    }

    /// Writes the file whole or not at all; compressed where its name ends in `.gz`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, path: &Path) -> Result<()> {
        write_json(path, self)
    }
}

/// What is read; keys that are not here are left alone.
#[derive(Deserialize)]
struct Raw {
    convention: Option<String>,
    irt_model: Option<String>,
    #[serde(default)]
    simulated: bool,
    ability: Option<Vec<Row>>,
    diff: Option<Vec<Row>>,
    disc: Option<Vec<Row>>,
    lambdas: Option<IgnoredAny>,
    item_ids: Option<Ids>,
    subject_ids: Option<Ids>,
}

/// Reads py-irt's parameters from JSON in which [`crate::data::read::python::mend`] has replaced NaN. `asked` is the
/// convention that the user names.
///
/// # Errors
/// With line and column where the JSON is not of this form, else with the key and item: lists whose lengths differ, numbers
/// that are NaN or beyond 1e6, D outside 1 to 50, ids that repeat; a model with guessing; a convention that contradicts
/// `asked`, that the shape does not allow, or that neither the file, the shape nor `asked` tells.
pub(super) fn read(path: &Path, json: &[u8], asked: Option<Convention>) -> Result<Imported> {
    let raw: Raw = serde_json::from_slice(json).map_err(|e| malformed(path, &e, REMEDY))?;
    raw.imported(path, asked)
        .map_err(|(what, hint)| Error::input(path, what, hint))
}

/// An error of the JSON reader, with its place and of bounded length.
pub(super) fn malformed(path: &Path, e: &serde_json::Error, hint: &str) -> Error {
    let text = e.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |t| t.0);
    Error::Input {
        place: Place {
            line: Some(e.line() as u64),
            column: Some(e.column() as u64),
            ..Place::file(path)
        },
        what: brief(what),
        hint: hint.into(),
    }
}

type Wrong = (String, String);

fn wrong(what: impl Into<String>) -> Wrong {
    (what.into(), REMEDY.into())
}

/// Rows as numbers: `width` a row.
struct Table {
    flat: bool,
    width: usize,
    numbers: Vec<f64>,
}

impl Raw {
    fn imported(
        self,
        path: &Path,
        asked: Option<Convention>,
    ) -> std::result::Result<Imported, Wrong> {
        let model = self.irt_model.as_deref().unwrap_or("a model without name");
        if self.lambdas.is_some() || matches!(model, "3pl" | "4pl") {
            return Err((
                format!(
                    "{}: it has a share of guesses or slips, which the M2PL has not",
                    brief(model)
                ),
                "give a 1pl, 2pl or multidim_2pl model".into(),
            ));
        }
        let diff = self.diff.ok_or_else(|| wrong("no \"diff\" in it"))?;
        let n = diff.len();
        if n == 0 {
            return Err(wrong("diff is empty: no items"));
        }
        let ids = match self.item_ids {
            Some(ids) => ids.of("item_ids", n, "diff")?,
            None => Vec::new(),
        };
        let diff = table("diff", &diff, &ids)?;
        let disc = match self.disc {
            Some(disc) if disc.len() == n => table("disc", &disc, &ids)?,
            Some(disc) => {
                return Err(wrong(format!(
                    "diff has {}, disc has {}",
                    count(n, "item"),
                    disc.len()
                )));
            }
            None if diff.flat => Table {
                flat: true,
                width: 1,
                numbers: vec![1.0; n],
            },
            None => {
                return Err(wrong(
                    "no \"disc\" in it, which only a 1pl model does without",
                ));
            }
        };
        let (convention, how) = convention(&diff, &disc, self.convention.as_deref(), asked)?;
        let dims = disc.width;
        let items = ItemParameters::published(convention, dims, &disc.numbers, &diff.numbers);
        if let Some(i) = (0..n).find(|&i| !sensible(items.intercept(i))) {
            return Err(wrong(format!(
                "the intercept of {} is beyond 1e6",
                named(&ids, i)
            )));
        }
        let models = match (self.subject_ids, &self.ability) {
            (Some(ids), Some(ability)) => ids.of("subject_ids", ability.len(), "ability")?,
            (Some(ids), None) => {
                let n = ids.0.len();
                ids.of("subject_ids", n, "subject_ids")?
            }
            (None, _) => Vec::new(),
        };
        let start = match self.ability {
            Some(ability) if !ability.is_empty() => {
                let ability = table("ability", &ability, &models)?;
                if ability.width != dims {
                    return Err(wrong(format!(
                        "disc has D = {dims}, ability has D = {}",
                        ability.width
                    )));
                }
                Prior::empirical(&Gaussians::points(dims, ability.numbers))
            }
            _ => Prior::standard(dims),
        };
        let mut notes = vec![format!(
            "item parameters of {} instead of a fit: py-irt, {}, D = {dims}, convention {} ({how})",
            path.display(),
            brief(model),
            convention.name()
        )];
        if self.simulated {
            notes.push(format!("{}: fitted on simulated responses", path.display()));
        }
        Ok(Imported {
            path: path.to_owned(),
            convention: asked,
            notes,
            sets: vec![ImportedSet {
                positional: counts(&ids),
                items,
                ids,
                parts: Vec::new(),
                prior: GivenPrior::Start(start),
                models,
            }],
        })
    }
}

/// True for no ids, and for those that only count (0, 1, 2 or q0, q1, q2: what the tutorials write).
fn counts(ids: &[String]) -> bool {
    ids.iter()
        .enumerate()
        .all(|(i, id)| id.strip_prefix('q').unwrap_or(id) == i.to_string())
}

fn named(names: &[String], i: usize) -> String {
    match names.get(i) {
        Some(name) => format!("{:?}", brief(name)),
        None => format!("number {i}"),
    }
}

fn table(key: &str, rows: &[Row], names: &[String]) -> std::result::Result<Table, Wrong> {
    let width = |row: &Row| match row {
        Row::One(_) => None,
        Row::Many(row) => Some(row.len()),
    };
    let first = rows.first().and_then(width);
    if let Some(i) = rows.iter().position(|row| width(row) != first) {
        let said =
            |width: Option<usize>| width.map_or("a plain number".into(), |n| count(n, "number"));
        return Err(wrong(format!(
            "{key} of {} has {}, the first has {}",
            named(names, i),
            said(rows.get(i).and_then(width)),
            said(first)
        )));
    }
    let dims = first.unwrap_or(1);
    if !(1..=MOST_DIMS).contains(&dims) {
        return Err(wrong(format!(
            "{key} has D = {dims}; 1 to {MOST_DIMS} can be used"
        )));
    }
    let mut numbers = Vec::with_capacity(rows.len() * dims);
    for (i, row) in rows.iter().enumerate() {
        let row = match row {
            Row::One(x) => std::slice::from_ref(x),
            Row::Many(row) => row,
        };
        for x in row {
            match x {
                Some(x) if sensible(*x) => numbers.push(*x),
                Some(x) => {
                    return Err(wrong(format!(
                        "{key} of {} is {x:e}, beyond 1e6",
                        named(names, i)
                    )));
                }
                None => {
                    return Err(wrong(format!(
                        "{key} of {} is NaN, infinite or null",
                        named(names, i)
                    )));
                }
            }
        }
    }
    Ok(Table {
        flat: first.is_none(),
        width: dims,
        numbers,
    })
}

/// The convention, and how it is known.
fn convention(
    diff: &Table,
    disc: &Table,
    named: Option<&str>,
    asked: Option<Convention>,
) -> std::result::Result<(Convention, &'static str), Wrong> {
    use Convention::{Centred, RepeatedIntercept};
    let (d, b) = (disc.width, diff.width);
    let possible: &[Convention] = match (d, b) {
        (1, 1) if disc.flat && diff.flat => &[Centred, RepeatedIntercept],
        (1, 1) => &[RepeatedIntercept, Centred],
        (_, 1) => &[RepeatedIntercept],
        (d, b) if d == b => &[Centred],
        _ => {
            return Err(wrong(format!(
                "an item has {} in diff and {} in disc; they are 1 (the fork) or as many (upstream)",
                count(b, "number"),
                d
            )));
        }
    };
    let named = match named {
        None => None,
        Some("fork") => Some(RepeatedIntercept),
        Some("upstream") => Some(Centred),
        Some(other) => {
            return Err((
                format!(
                    "the convention {:?} is neither fork nor upstream",
                    brief(other)
                ),
                "correct it in the file".into(),
            ));
        }
    };
    if let (Some(named), Some(asked)) = (named, asked)
        && named != asked
    {
        return Err((
            format!("its convention is {}, not {}", named.name(), asked.name()),
            "leave --convention out: the file names its own".into(),
        ));
    }
    if let Some(wanted) = named.or(asked) {
        if !possible.contains(&wanted) {
            return Err((
                format!(
                    "convention {}, but an item has {} in diff where D = {d}",
                    wanted.name(),
                    count(b, "number")
                ),
                "the fork has one number an item, upstream has D".into(),
            ));
        }
        let how = if named.is_some() {
            "named in the file"
        } else {
            "as --convention says"
        };
        return Ok((wanted, how));
    }
    match possible {
        [one] => Ok((*one, "by the shape of diff")),
        [one, ..] if disc.flat && diff.flat => Ok((*one, "plain lists are upstream's 1pl and 2pl")),
        _ => Err((
            "D = 1 in lists of one number: it may be the fork's a theta - b or upstream's a (theta - b)".into(),
            "say which with --convention fork or --convention upstream".into(),
        )),
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = Row;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }
            fn visit_f64<E>(self, x: f64) -> std::result::Result<Row, E> {
                Ok(Row::One(Some(x)))
            }
            fn visit_i64<E>(self, x: i64) -> std::result::Result<Row, E> {
                Ok(Row::One(Some(x as f64)))
            }
            fn visit_u64<E>(self, x: u64) -> std::result::Result<Row, E> {
                Ok(Row::One(Some(x as f64)))
            }
            fn visit_unit<E>(self) -> std::result::Result<Row, E> {
                Ok(Row::One(None))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Row, E> {
                if text.is_empty() {
                    return Ok(Row::One(None));
                }
                Err(E::custom(format_args!("{:?} is no number", brief(text))))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut of: A) -> std::result::Result<Row, A::Error> {
                let mut row = Vec::new();
                while let Some(x) = of.next_element::<Row>()? {
                    match x {
                        Row::One(x) => row.push(x),
                        Row::Many(_) => {
                            return Err(A::Error::custom("lists within lists of numbers"));
                        }
                    }
                }
                Ok(Row::Many(row))
            }
        }
        from.deserialize_any(Numbers)
    }
}

/// Ids by index: (index as written, id).
struct Ids(Vec<(String, String)>);

impl Ids {
    /// The ids in order, when their indices are 0 to n - 1 and no id repeats.
    fn of(self, key: &str, n: usize, other: &str) -> std::result::Result<Vec<String>, Wrong> {
        if self.0.len() != n {
            return Err(wrong(format!(
                "{other} has {n}, {key} has {}",
                self.0.len()
            )));
        }
        let mut ids: Vec<Option<String>> = vec![None; n];
        let mut seen = HashSet::with_capacity(n);
        for (index, id) in self.0 {
            let place = index.parse::<usize>().ok().and_then(|i| ids.get_mut(i));
            match place {
                Some(place @ None) => {
                    if !seen.insert(id.clone()) {
                        return Err(wrong(format!("{key}: {:?} stands in it twice", brief(&id))));
                    }
                    *place = Some(id);
                }
                _ => {
                    return Err(wrong(format!(
                        "{key}: the index {:?} is none of 0 to {} or stands twice",
                        brief(&index),
                        n.saturating_sub(1)
                    )));
                }
            }
        }
        Ok(ids.into_iter().flatten().collect())
    }
}

impl<'de> Deserialize<'de> for Ids {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        /// A string, or a number as one.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Id {
            Text(String),
            Number(i64),
        }
        impl Id {
            fn text(self) -> String {
                match self {
                    Self::Text(text) => text,
                    Self::Number(x) => x.to_string(),
                }
            }
        }
        struct Indexed;
        impl<'de> Visitor<'de> for Indexed {
            type Value = Ids;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("{index: id} or a list of ids")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut of: A) -> std::result::Result<Ids, A::Error> {
                let mut ids = Vec::new();
                while let Some((index, id)) = of.next_entry::<String, Id>()? {
                    ids.push((index, id.text()));
                }
                Ok(Ids(ids))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut of: A) -> std::result::Result<Ids, A::Error> {
                let mut ids = Vec::new();
                while let Some(id) = of.next_element::<Id>()? {
                    ids.push((ids.len().to_string(), id.text()));
                }
                Ok(Ids(ids))
            }
        }
        from.deserialize_any(Indexed)
    }
}
