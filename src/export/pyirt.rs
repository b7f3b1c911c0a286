//! py-irt's parameters (best_parameters.json, parameters.json), written and read.
//!
//! Keys as py-irt's export has them: `ability` (subjects x D), `diff`, `disc` (items x D), `item_ids` and `subject_ids`
//! `{index: id}`, `irt_model`. Upstream's 1pl and 2pl have plain lists; its multidim_2pl has items x D of `diff`, that of the
//! tinyBenchmarks authors' fork one number an item. The file does not say which of the two it is, so ours names its
//! `convention`, a key that py-irt leaves alone.

mod cells;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::{item_ids, sensible, write_json};
use crate::data::{Benchmark, count, list};
use crate::error::{Error, Result};
use crate::experiment::Fitted;
use crate::irt::Convention;

pub use cells::Row;
pub(super) use read::{malformed, read};

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
