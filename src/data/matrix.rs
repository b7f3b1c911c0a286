//! The response matrix: models x items, scores in [0, 1], any of them missing.

use std::collections::HashMap;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use crate::cache::Cache;

/// Scores of models on items. Missing entries are missing, never wrong.
///
/// Up to 255 different scores are kept as one byte an entry (0/1 responses, pass rates), more as `f64`; either way
/// each score is exactly the number that was read. 6,000 x 28,659 binary responses take 172 MB.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct ResponseMatrix {
    models: Vec<String>,
    items: Vec<String>,
    cells: Cells,
    /// Where what is computed from the scores is kept.
    #[serde(skip)]
    cache: Option<Cache>,
    #[serde(skip)]
    digest: OnceLock<[u8; 32]>,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
enum Cells {
    /// `levels[code]`, row-major; `MISSING` is no level.
    Levels {
        levels: Vec<f64>,
        #[serde(with = "super::kept::block")]
        codes: Vec<u8>,
    },
    /// NaN is missing.
    Scores(Vec<f64>),
}

/// The code of a missing score.
pub(super) const MISSING: u8 = u8::MAX;
const LEVELS: usize = u8::MAX as usize;

impl ResponseMatrix {
    /// Number of models (rows).
    pub fn n_models(&self) -> usize {
        self.models.len()
    }

    /// Number of items (columns).
    pub fn n_items(&self) -> usize {
        self.items.len()
    }

    /// Names of the models, in row order.
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// Ids of the items, in column order.
    pub fn items(&self) -> &[String] {
        &self.items
    }

    /// The score of a model on an item, `None` where missing.
    ///
    /// # Panics
    /// When `model` or `item` is out of range.
    pub fn get(&self, model: usize, item: usize) -> Option<f64> {
        assert!(item < self.items.len(), "item {item} out of range");
        let at = model * self.items.len() + item;
        let score = match &self.cells {
            Cells::Levels { levels, codes } => decode(levels, codes[at]),
            Cells::Scores(scores) => scores[at],
        };
        (!score.is_nan()).then_some(score)
    }

    /// Copies the scores of `model` on the items `columns` to `out`; NaN where missing.
    ///
    /// # Panics
    /// When an index is out of range or `out` is shorter than `columns`.
    pub fn gather(&self, model: usize, columns: &[usize], out: &mut [f64]) {
        let row = model * self.items.len()..(model + 1) * self.items.len();
        let out = &mut out[..columns.len()];
        match &self.cells {
            Cells::Levels { levels, codes } => {
                let row = &codes[row];
                for (o, &c) in out.iter_mut().zip(columns) {
                    *o = decode(levels, row[c]);
                }
            }
            Cells::Scores(scores) => {
                let row = &scores[row];
                for (o, &c) in out.iter_mut().zip(columns) {
                    *o = row[c];
                }
            }
        }
    }

    /// The different scores, at most 255 of them, where they are few; [`Self::codes`] count in them.
    pub(super) fn levels(&self) -> Option<&[f64]> {
        match &self.cells {
            Cells::Levels { levels, .. } => Some(levels),
            Cells::Scores(_) => None,
        }
    }

    /// The code of every score of a model, [`MISSING`] where it has none, if scores are kept so.
    pub(super) fn codes(&self, model: usize) -> Option<&[u8]> {
        match &self.cells {
            Cells::Levels { codes, .. } => {
                Some(&codes[model * self.items.len()..(model + 1) * self.items.len()])
            }
            Cells::Scores(_) => None,
        }
    }

    /// All scores of one model; NaN where missing.
    pub fn row(&self, model: usize) -> Vec<f64> {
        let row = model * self.items.len()..(model + 1) * self.items.len();
        match &self.cells {
            Cells::Levels { levels, codes } => {
                codes[row].iter().map(|&c| decode(levels, c)).collect()
            }
            Cells::Scores(scores) => scores[row].to_vec(),
        }
    }

    /// Number of missing entries.
    pub fn missing_cells(&self) -> usize {
        match &self.cells {
            Cells::Levels { codes, .. } => codes.iter().filter(|&&c| c == MISSING).count(),
            Cells::Scores(scores) => scores.iter().filter(|s| s.is_nan()).count(),
        }
    }

    /// True when every score present is 0 or 1.
    pub fn is_binary(&self) -> bool {
        match &self.cells {
            Cells::Levels { levels, .. } => levels.iter().all(|&s| s == 0.0 || s == 1.0),
            Cells::Scores(scores) => scores.iter().all(|&s| s.is_nan() || s == 0.0 || s == 1.0),
        }
    }

    /// Memory that the scores take, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.cells {
            Cells::Levels { codes, .. } => codes.len(),
            Cells::Scores(scores) => scores.len() * size_of::<f64>(),
        }
    }

    /// From here on fits and selections of these scores are looked for in the cache first, and kept there.
    pub fn keep_in(&mut self, cache: Cache) {
        self.cache = Some(cache);
    }

    /// Where results are kept, if anywhere.
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// SHA-256 of the scores and their shape; names are not in it. Computed once.
    pub fn digest(&self) -> [u8; 32] {
        let compute = || {
            let mut sum = Sha256::new();
            let mut number = |n: usize| sum.update((n as u64).to_le_bytes());
            number(self.models.len());
            number(self.items.len());
            let scores = match &self.cells {
                Cells::Levels { levels, codes } => {
                    number(codes.len());
                    sum.update(codes);
                    levels
                }
                Cells::Scores(scores) => scores,
            };
            let mut bytes = Vec::with_capacity(1 << 16);
            for part in scores.chunks(1 << 13) {
                bytes.clear();
                bytes.extend(part.iter().flat_map(|y| y.to_le_bytes()));
                sum.update(&bytes);
            }
            sum.finalize().into()
        };
        *self.digest.get_or_init(compute)
    }
}

#[inline]
fn decode(levels: &[f64], code: u8) -> f64 {
    levels.get(code as usize).copied().unwrap_or(f64::NAN)
}

/// Builds a [`ResponseMatrix`] a model at a time.
#[derive(Debug)]
pub struct MatrixBuilder {
    models: Vec<String>,
    items: Vec<String>,
    cells: Cells,
    codes: HashMap<u64, u8>,
}

impl MatrixBuilder {
    /// An empty matrix with these item ids.
    pub fn new(items: Vec<String>) -> Self {
        Self {
            models: Vec::new(),
            items,
            cells: Cells::Levels {
                levels: Vec::new(),
                codes: Vec::new(),
            },
            codes: HashMap::new(),
        }
    }

    /// Adds a model with its scores in item order; NaN is missing. Scores are taken as they are: the readers check their
    /// range.
    ///
    /// # Panics
    /// When `scores` has not one value an item.
    pub fn push(&mut self, model: impl Into<String>, scores: &[f64]) {
        assert_eq!(scores.len(), self.items.len(), "one score an item");
        self.models.push(model.into());
        if let Cells::Levels { levels, codes } = &mut self.cells {
            let start = codes.len();
            codes.reserve(scores.len());
            let mut last = (f64::NAN.to_bits(), MISSING);
            for &score in scores {
                // `+ 0.0` makes -0 the same level as 0.
                let bits = (score + 0.0).to_bits();
                if score.is_nan() {
                    codes.push(MISSING);
                    continue;
                }
                if bits != last.0 {
                    let next = levels.len();
                    let code = match self.codes.get(&bits) {
                        Some(&code) => code,
                        None if next < LEVELS => {
                            levels.push(score + 0.0);
                            self.codes.insert(bits, next as u8);
                            next as u8
                        }
                        None => break,
                    };
                    last = (bits, code);
                }
                codes.push(last.1);
            }
            if codes.len() == start + scores.len() {
                return;
            }
            codes.truncate(start);
            let widened = codes.iter().map(|&c| decode(levels, c)).collect();
            self.cells = Cells::Scores(widened);
        }
        if let Cells::Scores(all) = &mut self.cells {
            all.extend_from_slice(scores);
        }
    }

    /// Number of models so far.
    pub fn n_models(&self) -> usize {
        self.models.len()
    }

    /// The finished matrix.
    pub fn finish(self) -> ResponseMatrix {
        ResponseMatrix {
            models: self.models,
            items: self.items,
            cells: self.cells,
            cache: None,
            digest: OnceLock::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build(rows: &[Vec<f64>]) -> ResponseMatrix {
        let items = (0..rows[0].len()).map(|i| format!("q{i}")).collect();
        let mut b = MatrixBuilder::new(items);
        for (i, r) in rows.iter().enumerate() {
            b.push(format!("m{i}"), r);
        }
        b.finish()
    }

    #[test]
    fn few_levels_take_a_byte_each_and_many_widen() {
        let few = build(&[vec![0.0, 1.0, 0.5], vec![f64::NAN, 1.0, 0.25]]);
        assert_eq!(few.bytes(), 6);
        assert_eq!(few.get(1, 0), None);
        assert_eq!(few.get(1, 2), Some(0.25));
        assert_eq!(few.missing_cells(), 1);
        let many = build(&[
            vec![0.0; 300],
            (0..300).map(|i| i as f64 / 300.0).collect(),
            vec![f64::NAN; 300],
        ]);
        assert_eq!(many.bytes(), 900 * 8);
        assert_eq!(many.get(0, 299), Some(0.0));
        assert_eq!(many.get(1, 150), Some(0.5));
        assert_eq!(many.missing_cells(), 300);
    }

    proptest! {
        #[test]
        fn every_score_comes_back_exactly(rows in (1usize..6, 1usize..80).prop_flat_map(|(l, n)| {
            prop::collection::vec(prop::collection::vec(prop_oneof![Just(f64::NAN), Just(0.0), Just(1.0), 0.0..1.0f64], n), l)
        })) {
            let m = build(&rows);
            let mut out = vec![0.0; m.n_items()];
            let columns: Vec<usize> = (0..m.n_items()).rev().collect();
            for (l, row) in rows.iter().enumerate() {
                m.gather(l, &columns, &mut out);
                for (i, &y) in row.iter().enumerate() {
                    prop_assert_eq!(m.get(l, i), (!y.is_nan()).then_some(y));
                    prop_assert_eq!(out[m.n_items() - 1 - i].to_bits() , if y.is_nan() { out[m.n_items() - 1 - i].to_bits() } else { y.to_bits() });
                }
            }
        }
    }
}
