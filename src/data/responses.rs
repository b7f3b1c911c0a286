//! Some models' scores on some items: what the engine fits and clusters.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ResponseMatrix;
use super::matrix::MISSING;
use crate::cache::Key;
use crate::error::Result;

/// A view of a response matrix: chosen models and columns, optionally binarised.
///
/// Rows and columns of the view are indexed from 0; nothing is copied from the matrix.
#[derive(Debug, Clone)]
pub struct Responses<'a> {
    matrix: &'a ResponseMatrix,
    models: Vec<usize>,
    columns: Vec<usize>,
    /// One a column: a score above it counts 1, else 0.
    thresholds: Option<Vec<f64>>,
}

impl<'a> Responses<'a> {
    /// The scores of `models` on `columns` of `matrix`, as they are.
    pub fn new(matrix: &'a ResponseMatrix, models: Vec<usize>, columns: Vec<usize>) -> Self {
        Self {
            matrix,
            models,
            columns,
            thresholds: None,
        }
    }

    /// The same view with responses 1\[Y > c\], `thresholds` holding c for each column of the view.
    ///
    /// # Panics
    /// When there is not one threshold a column.
    pub fn binarised(mut self, thresholds: Vec<f64>) -> Self {
        assert_eq!(thresholds.len(), self.columns.len());
        self.thresholds = Some(thresholds);
        self
    }

    /// The same columns for other models (indices into the matrix).
    pub fn with_models(&self, models: Vec<usize>) -> Self {
        Self {
            models,
            ..self.clone()
        }
    }

    /// Number of models.
    pub fn n_models(&self) -> usize {
        self.models.len()
    }

    /// Number of items.
    pub fn n_items(&self) -> usize {
        self.columns.len()
    }

    /// The models, as rows of the matrix.
    pub fn models(&self) -> &[usize] {
        &self.models
    }

    /// The items, as columns of the matrix.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// What `compute` makes of these responses and of whatever else `key` is given: from the cache where the matrix has one
    /// and it is there. `what` says in a few words what it is.
    ///
    /// # Errors
    /// Those of `compute`.
    pub(crate) fn kept<T: Serialize + DeserializeOwned>(
        &self,
        what: impl FnOnce() -> String,
        key: impl FnOnce() -> Key,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Some(cache) = self.matrix.cache() else {
            return compute();
        };
        let key = key()
            .with(&self.matrix.digest())
            .with(&self.models)
            .with(&self.columns)
            .with(&self.thresholds);
        cache.kept(&what(), &key, compute)
    }

    /// Copies responses of row `model` on items `from .. from + out.len()` to `out`; NaN where missing.
    pub fn gather(&self, model: usize, from: usize, out: &mut [f64]) {
        let to = from + out.len();
        self.matrix
            .gather(self.models[model], &self.columns[from..to], out);
        if let Some(thresholds) = &self.thresholds {
            for (y, &c) in out.iter_mut().zip(&thresholds[from..to]) {
                if !y.is_nan() {
                    *y = f64::from(*y > c);
                }
            }
        }
    }

    /// The different scores where they are few, and [`Self::codes`] count in them.
    pub(crate) fn levels(&self) -> Option<Vec<f64>> {
        match &self.thresholds {
            Some(_) => Some(vec![0.0, 1.0]),
            None => self.matrix.levels().map(<[f64]>::to_vec),
        }
    }

    /// Copies which of [`Self::levels`] each response of row `model` is, 255 where it is missing.
    ///
    /// # Panics
    /// When there are no levels, or `out` has not one place an item.
    pub(crate) fn codes(&self, model: usize, out: &mut [u8]) {
        assert_eq!(out.len(), self.n_items());
        if self.thresholds.is_some() {
            for (code, y) in out.iter_mut().zip(self.row(model)) {
                *code = if y.is_nan() {
                    MISSING
                } else {
                    u8::from(y > 0.5)
                };
            }
            return;
        }
        let codes = self.matrix.codes(self.models[model]);
        for (code, &c) in out.iter_mut().zip(&self.columns) {
            *code = codes.map_or(MISSING, |codes| codes[c]);
        }
    }

    /// All responses of row `model`; NaN where missing.
    pub fn row(&self, model: usize) -> Vec<f64> {
        let mut out = vec![f64::NAN; self.n_items()];
        self.gather(model, 0, &mut out);
        out
    }

    /// Mean response and number of answers of every item; NaN where nobody answered.
    pub fn item_means(&self) -> (Vec<f64>, Vec<usize>) {
        let mut sums = vec![0.0; self.n_items()];
        let mut counts = vec![0; self.n_items()];
        let mut row = vec![0.0; self.n_items()];
        for model in 0..self.n_models() {
            self.gather(model, 0, &mut row);
            for ((sum, count), &y) in sums.iter_mut().zip(&mut counts).zip(&row) {
                if !y.is_nan() {
                    *sum += y;
                    *count += 1;
                }
            }
        }
        let means = sums.iter().zip(&counts).map(|(s, &c)| s / c as f64);
        (means.collect(), counts)
    }
}
