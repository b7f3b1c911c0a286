//! Rows of numbers and lists of ids, as py-irt's JSON has them.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::read::{Wrong, wrong};
use crate::experiment::brief;

/// Numbers of one item or model: a list, or in one dimension a number. `None` is what no number can be (NaN, null).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Row {
    /// A plain number.
    One(Option<f64>),
    /// A list of them.
    Many(Vec<Option<f64>>),
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
pub(super) struct Ids(pub(super) Vec<(String, String)>);

impl Ids {
    /// The ids in order, when their indices are 0 to n - 1 and no id repeats.
    pub(super) fn of(
        self,
        key: &str,
        n: usize,
        other: &str,
    ) -> std::result::Result<Vec<String>, Wrong> {
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
