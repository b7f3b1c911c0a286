//! The samples of one log: what each filter and metric says of every document.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;

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

impl Known {
    /// Nothing that a sample says could be new.
    fn is_complete(&self) -> bool {
        self.hash.is_some() && self.looked
    }
}

impl Docs {
    fn get(&self, id: u64) -> Option<&Known> {
        self.places.get(&id).map(|&place| &self.all[place])
    }

    fn place(&mut self, id: u64, new: impl FnOnce() -> Known) -> usize {
        let next = self.all.len();
        let place = *self.places.entry(id).or_insert(next);
        if place == next {
            self.all.push(new());
        }
        place
    }

    /// Adds what a log says of a document; its place, `None` where its hash is another one.
    pub(super) fn join(&mut self, doc: Known) -> Option<usize> {
        let Some(&place) = self.places.get(&doc.id) else {
            return Some(self.place(doc.id, || doc));
        };
        let known = &mut self.all[place];
        if matches!((known.hash, doc.hash), (Some(first), Some(this)) if first != this) {
            return None;
        }
        known.hash = known.hash.or(doc.hash);
        if !known.looked {
            known.looked = doc.looked;
            known.text = doc.text;
        }
        Some(place)
    }
}

/// Where a value stands that is no score in \[0, 1\], of which document, and the value.
pub(super) type Outside = (At, u64, f64);

/// Most pairs of filter and metric of a log: each holds a score a document.
const MOST: usize = 1000;

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

/// What the samples of one log say.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) scores: Vec<Scores>,
    /// Documents of which this log may tell more than was known before; their places come after those of the known ones.
    pub(super) own: Docs,
    /// Number of documents known before.
    pub(super) known: usize,
    /// Documents whose hash is not that of the first log.
    pub(super) other_hash: BTreeSet<u64>,
    /// Documents with two samples that differ.
    pub(super) twice: BTreeSet<u64>,
}

/// Takes the samples of one log, beside what is known of the task.
pub(super) struct Reading<'a> {
    pub(super) samples: Samples,
    known: &'a Docs,
    path: &'a Path,
    scale: f64,
}

impl Samples {
    /// Ready to take samples.
    pub(super) fn beside<'a>(self, known: &'a Docs, path: &'a Path, scale: f64) -> Reading<'a> {
        Reading {
            samples: Self {
                known: known.all.len(),
                ..self
            },
            known,
            path,
            scale,
        }
    }
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

impl Sink for Reading<'_> {
    type Record = Sample;
    const HINT: &'static str =
        "a sample of lm-evaluation-harness is an object with `doc_id` and a metric, one a line";

    fn read<'de, D: Deserializer<'de>>(&self, from: D) -> std::result::Result<Sample, D::Error> {
        from.deserialize_map(Fields(self))
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
        let samples = &mut self.samples;
        let before = self.known.get(doc_id);
        let (place, first) = match before.filter(|known| known.is_complete()) {
            Some(known) => (self.known.places[&doc_id], known.hash),
            None => {
                let own = samples.own.place(doc_id, || Known {
                    id: doc_id,
                    hash: before.and_then(|known| known.hash),
                    looked: before.is_some_and(|known| known.looked),
                    text: None,
                });
                let known = &mut samples.own.all[own];
                let first = known.hash;
                known.hash = known.hash.or(hash);
                if let (false, Some(doc)) = (known.looked, doc)
                    && known.hash == hash.or(known.hash)
                {
                    known.looked = true;
                    known.text = doc.text(target);
                }
                (self.known.all.len() + own, first)
            }
        };
        if matches!((first, hash), (Some(first), Some(this)) if first != this) {
            samples.other_hash.insert(doc_id);
            return Ok(());
        }
        let filter = filter.as_deref().unwrap_or("none");
        for (metric, cell) in values {
            if metrics.as_ref().is_some_and(|m| !m.contains(&metric)) {
                continue;
            }
            let value = match cell {
                Cell::Number(x) => x,
                Cell::Missing => f64::NAN,
                Cell::Other(_) => continue,
            };
            let mut found = samples.scores.iter();
            let found = found.position(|s| s.metric == metric && s.filter == filter);
            let found = match found {
                Some(found) => found,
                None if samples.scores.len() == MOST => {
                    return Err(at.error(
                        self.path,
                        format_args!("more than {MOST} metrics and filters in one log"),
                        Self::HINT,
                    ));
                }
                None => {
                    samples.scores.push(Scores::new(filter.to_owned(), metric));
                    samples.scores.len() - 1
                }
            };
            let scores = &mut samples.scores[found];
            let same = scores.set(place, value * self.scale);
            if !same {
                samples.twice.insert(doc_id);
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
struct Fields<'a>(&'a Reading<'a>);

impl Fields<'_> {
    fn looked(&self, id: Option<u64>) -> bool {
        id.is_some_and(|id| {
            let docs = [self.0.known, &self.0.samples.own];
            let mut known = docs.into_iter().filter_map(|docs| docs.get(id));
            known.any(|known| known.looked)
        })
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
