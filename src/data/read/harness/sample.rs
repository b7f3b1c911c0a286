//! The samples of one log: what each filter and metric says of every document.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::doc::Doc;
use crate::data::ItemText;
use crate::data::read::jsonlines::{At, Cell, Sink};
use crate::error::Result;

/// The documents of a task, in the order in which logs name them first.
#[derive(Default)]
pub(super) struct Docs {
    places: HashMap<u64, usize>,
    pub(super) all: Vec<Known>,
}

/// What is known of a document.
pub(super) struct Known {
    pub(super) id: u64,
    /// Of its first sample.
    hash: Option<u64>,
    /// Its text was looked for: once is enough.
    looked: bool,
    pub(super) text: Option<ItemText>,
}

/// Where a value stands that is no score in \[0, 1\], of which document, and the value.
pub(super) type Outside = (At, u64, f64);

/// The scores that one filter and metric give.
pub(super) struct Scores {
    pub(super) filter: String,
    pub(super) metric: String,
    /// By place of the document; NaN where missing.
    pub(super) scores: Vec<f64>,
    given: Vec<bool>,
    /// The first that is no score in \[0, 1\].
    pub(super) outside: Option<Outside>,
}

/// Takes the samples of one log.
pub(super) struct Samples<'a> {
    pub(super) docs: &'a mut Docs,
    pub(super) scale: f64,
    pub(super) scores: Vec<Scores>,
    /// Documents whose hash is not that of the first log.
    pub(super) other_hash: BTreeSet<u64>,
    /// Documents with two samples that differ.
    pub(super) twice: BTreeSet<u64>,
}

/// One sample.
#[derive(Default)]
pub(super) struct Sample {
    doc_id: u64,
    hash: Option<u64>,
    filter: Option<String>,
    metrics: Option<Vec<String>>,
    values: Vec<(String, Cell)>,
    /// Where it was looked for.
    doc: Option<Doc>,
    target: Option<Value>,
}

impl Sink for Samples<'_> {
    type Record = Sample;
    const HINT: &'static str =
        "a sample of lm-evaluation-harness is an object with `doc_id` and a metric, one a line";

    fn read<'de, D: Deserializer<'de>>(&self, from: D) -> std::result::Result<Sample, D::Error> {
        from.deserialize_map(Fields(self.docs))
    }

    fn take(&mut self, sample: Sample, at: At) -> Result<()> {
        let Sample {
            doc_id,
            hash,
            filter,
            metrics,
            values,
            doc,
            target,
        } = sample;
        let docs = &mut *self.docs;
        let next = docs.all.len();
        let place = *docs.places.entry(doc_id).or_insert(next);
        if place == next {
            docs.all.push(Known {
                id: doc_id,
                hash,
                looked: false,
                text: None,
            });
        }
        let known = &mut docs.all[place];
        match (known.hash, hash) {
            (Some(first), Some(this)) if first != this => {
                self.other_hash.insert(doc_id);
                return Ok(());
            }
            (None, Some(_)) => known.hash = hash,
            _ => {}
        }
        if let (false, Some(doc)) = (known.looked, doc) {
            known.looked = true;
            known.text = doc.text(target);
        }
        let filter = filter.unwrap_or_else(|| "none".into());
        for (metric, cell) in values {
            if metrics.as_ref().is_some_and(|m| !m.contains(&metric)) {
                continue;
            }
            let value = match cell {
                Cell::Number(x) => x,
                Cell::Missing => f64::NAN,
                Cell::Other(_) => continue,
            };
            let found = self
                .scores
                .iter()
                .position(|s| s.metric == metric && s.filter == filter);
            let scores = match found {
                Some(k) => &mut self.scores[k],
                None => {
                    self.scores.push(Scores::new(filter.clone(), metric));
                    let last = self.scores.len() - 1;
                    &mut self.scores[last]
                }
            };
            let same = scores.set(place, value * self.scale);
            if !same {
                self.twice.insert(doc_id);
            }
            if !value.is_nan() && !(0.0..=1.0).contains(&(value * self.scale)) {
                scores.outside.get_or_insert((at, doc_id, value));
            }
        }
        Ok(())
    }
}

impl Scores {
    fn new(filter: String, metric: String) -> Self {
        Self {
            filter,
            metric,
            scores: Vec::new(),
            given: Vec::new(),
            outside: None,
        }
    }

    /// Notes a score where there is none yet; false where there is another.
    fn set(&mut self, place: usize, score: f64) -> bool {
        if self.scores.len() <= place {
            self.scores.resize(place + 1, f64::NAN);
            self.given.resize(place + 1, false);
        }
        if self.given[place] {
            let first = self.scores[place];
            return first == score || (first.is_nan() && score.is_nan());
        }
        self.given[place] = true;
        self.scores[place] = score;
        true
    }
}

/// Reads a sample; the document's text only where it is not known.
struct Fields<'a>(&'a Docs);

impl Fields<'_> {
    fn looked(&self, id: Option<u64>) -> bool {
        let place = id.and_then(|id| self.0.places.get(&id));
        place.is_some_and(|&at| self.0.all[at].looked)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = Sample;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sample")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Sample, A::Error> {
        let mut sample = Sample::default();
        let mut id = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "doc_id" => {
                    let given: Value = map.next_value()?;
                    let number = given.as_u64();
                    let number = number.or_else(|| given.as_str()?.trim().parse().ok());
                    let wrong = || format!("`doc_id` is {given}, not a whole number");
                    id = Some(number.ok_or_else(|| A::Error::custom(wrong()))?);
                }
                "doc" if !self.looked(id) => sample.doc = Some(map.next_value()?),
                "target" if !self.looked(id) => sample.target = Some(map.next_value()?),
                "doc_hash" => {
                    if let Some(text) = map.next_value::<Option<String>>()? {
                        let mut hasher = DefaultHasher::new();
                        text.hash(&mut hasher);
                        sample.hash = Some(hasher.finish());
                    }
                }
                "filter" => sample.filter = map.next_value()?,
                "metrics" => sample.metrics = map.next_value()?,
                "doc" | "target" | "arguments" | "resps" | "filtered_resps" | "prompt_hash"
                | "target_hash" | "native_id" | "label" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => sample.values.push((key, map.next_value()?)),
            }
        }
        sample.doc_id = id.ok_or_else(|| A::Error::missing_field("doc_id"))?;
        Ok(sample)
    }
}
