//! One log: read beside others, then joined with what is known of its task.

use super::folder::Log;
use super::packed::Packed;
use super::sample::{Docs, Samples};
use super::{Reading, Run};
use crate::data::list;
use crate::data::read::jsonlines::{At, each};
use crate::error::Result;

/// What one log holds.
pub(super) struct Read {
    samples: Samples,
    cut_off: Option<At>,
}

/// Reads a log of a task of which `known` is known so far.
///
/// # Errors
/// With file and line: what is no sample.
pub(super) fn read(log: &Log, known: &Docs, reading: &Reading<'_>) -> Result<Read> {
    let scale = if reading.percent { 0.01 } else { 1.0 };
    let mut beside = Samples::default().beside(known, &log.path, scale);
    let (source, depth) = (reading.open(&log.path)?, reading.limits.depth);
    let cut_off = each(&log.path, source, depth, &mut beside)?;
    Ok(Read {
        samples: beside.samples,
        cut_off,
    })
}

impl Read {
    /// Adds to what is known of the task's documents; the run with its scores by their places, `None` where there is no
    /// sample.
    pub(super) fn join(
        self,
        row: usize,
        log: &Log,
        docs: &mut Docs,
        warnings: &mut Vec<String>,
    ) -> Option<Run> {
        let Samples {
            scores,
            own,
            mut other_hash,
            twice,
            known,
        } = self.samples;
        let places: Vec<Option<usize>> = own
            .all
            .into_iter()
            .map(|doc| {
                let id = doc.id;
                let place = docs.join(doc);
                if place.is_none() {
                    other_hash.insert(id);
                }
                place
            })
            .collect();
        let shown = log.path.display();
        if let Some(at) = self.cut_off {
            warnings.push(format!("{shown}, {at}: the sample is cut off and left out"));
        }
        for (ids, what) in [
            (
                other_hash,
                "another doc_hash than the first log of the task: these samples are left out",
            ),
            (twice, "two samples that differ: the first counts"),
        ] {
            if !ids.is_empty() {
                let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
                let ids = list(ids.iter().map(String::as_str));
                warnings.push(format!("{shown}: doc_id {ids} with {what}"));
            }
        }
        if scores.is_empty() {
            warnings.push(format!("{shown}: no sample with a score, left out"));
            return None;
        }
        let (mut names, mut outside, mut packed) = (Vec::new(), Vec::new(), Vec::new());
        for s in scores {
            packed.push(Packed::of(placed(s.scores, known, &places)));
            outside.push(s.outside);
            names.push((s.filter, s.metric));
        }
        Some(Run {
            row,
            path: log.path.clone(),
            names,
            scores: packed,
            outside,
        })
    }
}

/// Scores of which those from `known` on belong to `places`, where they have one.
fn placed(mut scores: Vec<f64>, known: usize, places: &[Option<usize>]) -> Vec<f64> {
    let own = match scores.get(known..) {
        Some(own) if !places.is_empty() => own.to_vec(),
        _ => return scores,
    };
    scores.truncate(known);
    for (score, place) in own.into_iter().zip(places) {
        if let Some(place) = *place {
            if scores.len() <= place {
                scores.resize(place + 1, f64::NAN);
            }
            scores[place] = score;
        }
    }
    scores
}
