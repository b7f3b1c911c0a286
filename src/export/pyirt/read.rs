//! Reading py-irt's parameters: shapes, numbers and the convention.

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::cells::{Ids, Row};
use crate::data::count;
use crate::error::{Error, Place, Result};
use crate::experiment::{Imported, ImportedSet, brief, shortened};
use crate::export::{MOST_DIMS, sensible};
use crate::irt::{Convention, Gaussians, GivenPrior, ItemParameters, Prior};

const REMEDY: &str =
    "give py-irt's best_parameters.json: ability, diff, disc, item_ids, subject_ids";

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
pub(in crate::export) fn read(
    path: &Path,
    json: &[u8],
    asked: Option<Convention>,
) -> Result<Imported> {
    let raw: Raw = serde_json::from_slice(json).map_err(|e| malformed(path, &e, REMEDY))?;
    raw.imported(path, asked)
        .map_err(|(what, hint)| Error::input(path, what, hint))
}

/// An error of the JSON reader, with its place and of bounded length.
pub(in crate::export) fn malformed(path: &Path, e: &serde_json::Error, hint: &str) -> Error {
    let text = e.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |t| t.0);
    Error::Input {
        place: Place {
            line: Some(e.line() as u64),
            column: Some(e.column() as u64),
            ..Place::file(path)
        },
        what: shortened(what, 200),
        hint: hint.into(),
    }
}

/// What is wrong, and what to do about it.
pub(super) type Wrong = (String, String);

pub(super) fn wrong(what: impl Into<String>) -> Wrong {
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
