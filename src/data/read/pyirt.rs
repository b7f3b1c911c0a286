//! py-irt's JSON lines: `{"subject_id": model, "responses": {item: score}}`.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::jsonlines::{At, Cell, Sink, each};
use super::long::Order;
use super::names::Names;
use super::{Limits, Reading, Source, Table};
use crate::data::MatrixBuilder;
use crate::error::{Error, Result};

const REMEDY: &str = "write {\"subject_id\": model, \"responses\": {item: score, ...}} a line";

/// Reads the records in their order; items stand in the order of their first answer. What a record does not name is
/// missing, and so are null and NaN.
///
/// # Errors
/// With line: what is no such record, an item twice in one, a score outside \[0, 1\] (0 to 100 with `percent`).
pub(super) fn read(path: &Path, source: Source<'_>, reading: &Reading<'_>) -> Result<Table> {
    let mut subjects = Subjects {
        path,
        scale: if reading.percent { 0.01 } else { 1.0 },
        limits: &reading.limits,
        items: Order::default(),
        rows: Vec::new(),
        names: Names::default(),
    };
    let cut_off = each(path, source, reading.limits.depth, &mut subjects)?;
    if subjects.rows.is_empty() {
        return Err(Error::input(path, "no record that is whole", REMEDY));
    }
    let mut warnings = subjects.names.warnings;
    if let Some(at) = cut_off {
        warnings.push(format!(
            "{}, {at}: the record is cut off and left out",
            path.display()
        ));
    }
    let n_items = subjects.items.names.len();
    if n_items == 0 {
        return Err(Error::input(path, "no items: all responses are empty", ""));
    }
    reading
        .limits
        .check_cells(path, subjects.rows.len(), n_items)?;
    let mut matrix = MatrixBuilder::new(subjects.items.names);
    let mut scores = Vec::new();
    for (name, row) in subjects.rows {
        scores.clear();
        scores.resize(n_items, f64::NAN);
        for (item, score) in row {
            scores[item] = score;
        }
        matrix.push(name, &scores);
    }
    Ok(Table {
        matrix: matrix.finish(),
        warnings,
    })
}

struct Subjects<'p> {
    path: &'p Path,
    scale: f64,
    limits: &'p Limits,
    items: Order,
    rows: Vec<(String, Vec<(usize, f64)>)>,
    names: Names,
}

struct Record {
    subject: String,
    responses: Vec<(String, Cell)>,
}

impl Sink for Subjects<'_> {
    type Record = Record;
    const HINT: &'static str = REMEDY;

    fn read<'de, D: Deserializer<'de>>(&self, from: D) -> std::result::Result<Record, D::Error> {
        from.deserialize_map(Fields)
    }

    fn take(&mut self, record: Record, at: At) -> Result<()> {
        let Record { subject, responses } = record;
        let names = responses.iter().map(|(item, _)| item.as_str());
        for name in names.chain([subject.as_str()]) {
            if let Some((what, hint)) = self.limits.too_long(name) {
                return Err(at.error(self.path, what, hint));
            }
        }
        let mut row = Vec::with_capacity(responses.len());
        let mut seen = HashSet::with_capacity(responses.len());
        for (item, cell) in responses {
            let place = self.items.place(&item);
            if !seen.insert(place) {
                return Err(at.error(
                    self.path,
                    format_args!("item {item:?} stands twice (model {subject:?})"),
                    "give every item one score",
                ));
            }
            let score = in_range(&cell, self.scale).map_err(|(what, hint)| {
                let what = format!("{what} (model {subject:?}, item {item:?})");
                at.error(self.path, what, hint)
            })?;
            row.extend(score.map(|score| (place, score)));
        }
        let name = self.names.unique(subject.trim(), &at.to_string());
        self.rows.push((name, row));
        Ok(())
    }
}

/// The score in \[0, 1\], `None` where missing; else what is wrong and what to do about it.
pub(super) fn in_range(
    cell: &Cell,
    scale: f64,
) -> std::result::Result<Option<f64>, (String, &'static str)> {
    match cell {
        Cell::Missing => Ok(None),
        Cell::Number(x) if (0.0..=1.0).contains(&(x * scale)) => Ok(Some(x * scale)),
        Cell::Number(x) if scale == 1.0 && *x > 1.0 && *x <= 100.0 => Err((
            format!("{x} is above 1"),
            "scores are in [0, 1]; if these are percentages, say --percent",
        )),
        Cell::Number(x) if scale == 1.0 => {
            Err((format!("{x} is outside [0, 1]"), "scores are in [0, 1]"))
        }
        Cell::Number(x) => Err((
            format!("{x} is outside [0, 100]"),
            "percentages are in [0, 100]",
        )),
        Cell::Other(text) => Err((
            format!("{text} is not a score"),
            "write a number in [0, 1], or null where it is missing",
        )),
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `subject_id` and `responses`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Record, A::Error> {
        let (mut subject, mut responses) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "subject_id" => {
                    subject = Some(match map.next_value()? {
                        serde_json::Value::String(name) => name,
                        serde_json::Value::Number(number) => number.to_string(),
                        other => {
                            return Err(A::Error::custom(format!(
                                "`subject_id` is {other}, not a name"
                            )));
                        }
                    });
                }
                "responses" => responses = Some(map.next_value::<Responses>()?.0),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Record {
            subject: subject.ok_or_else(|| A::Error::missing_field("subject_id"))?,
            responses: responses.ok_or_else(|| A::Error::missing_field("responses"))?,
        })
    }
}

/// Pairs as they stand, an item given twice included.
struct Responses(Vec<(String, Cell)>);

impl<'de> serde::Deserialize<'de> for Responses {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Responses;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object {item: score}")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Responses, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Responses(pairs))
            }
        }
        from.deserialize_map(Pairs)
    }
}
