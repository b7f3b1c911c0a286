//! Files that leave the program: anchors files, model files, results as JSON.

mod adaptive;
mod anchors_file;
mod compared;
mod items;
mod model_file;
mod parameters;
mod planning;
mod published;
mod pyirt;
mod remarks;
mod results;
mod score;

pub use anchors_file::{AnchorsFile, Chosen, ChosenItem, ScenarioAnchors, training_scores};
pub use compared::{Compared, Comparisons, Verdict};
pub use items::{anchors_csv, anchors_for_harness};
pub use model_file::{ModelFile, ScenarioModel};
pub use parameters::read_parameters;
pub use planning::{plan_json, shift_json, sources_json};
pub use published::{AnchorPoints, Pickled, Published, pickled};
pub use pyirt::{PyIrtFile, Row};
pub use remarks::beyond_training;
pub use results::{estimate_json, show_json, sweep_json, warnings};
pub use score::{ScenarioScore, Score};

use std::path::Path;

use crate::data::{Benchmark, Scenario, write};
use crate::error::{Error, Result};
use crate::experiment::{Fitted, Settings};
use crate::irt::{Convention, Gaussians, ItemParameters, Prior};

/// Item parameters as they stand in a file.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StoredItems {
    /// How the numbers make a logit.
    pub convention: Convention,
    /// D.
    pub dims: usize,
    /// Posterior means of (a, b), D + 1 numbers an item; b is the intercept of a . theta - b.
    pub mean: Vec<Vec<f64>>,
    /// Posterior covariances: packed lower triangles, row by row. Empty for point parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cov: Vec<Vec<f64>>,
}

impl StoredItems {
    /// From fitted parameters.
    pub fn of(items: &ItemParameters) -> Self {
        let posterior = items.posterior();
        Self {
            convention: items.convention(),
            dims: items.dims(),
            mean: (0..items.len())
                .map(|i| posterior.mean(i).to_vec())
                .collect(),
            cov: if posterior.cov.iter().all(|c| *c == 0.0) {
                Vec::new()
            } else {
                (0..items.len())
                    .map(|i| posterior.cov(i).to_vec())
                    .collect()
            },
        }
    }

    /// Back to parameters; `Err` says what does not fit together.
    pub(crate) fn parameters(&self, n: usize) -> std::result::Result<ItemParameters, String> {
        if !(1..=1000).contains(&self.dims) {
            return Err(format!("D is {}", self.dims));
        }
        Ok(ItemParameters::stored(
            gaussians(&self.mean, &self.cov, n, self.dims + 1)?,
            self.convention,
        ))
    }
}

/// Writes a file whole or not at all; compressed where its name ends in `.gz`.
fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    let mut text = serde_json::to_vec(value).map_err(|e| Error::io(path, "writing", e.into()))?;
    text.push(b'\n');
    write::atomically(path, &text)
}

/// The split by name; `all models` where none was left out.
fn split_name(fitted: &Fitted, settings: &Settings) -> String {
    if fitted.split.test.is_empty() {
        "all models".into()
    } else {
        settings.split.to_string()
    }
}

/// Ids of a scenario's items, in order of position.
fn item_ids(benchmark: &Benchmark, scenario: &Scenario) -> Vec<String> {
    let ids = benchmark.matrix.items();
    scenario.columns.iter().map(|&c| ids[c].clone()).collect()
}

/// Most dimensions of item parameters that come from elsewhere; no fit of ours has more.
const MOST_DIMS: usize = 50;

/// Whether a prior of the ability is a Gaussian of `d` dimensions.
fn check_prior(prior: &Prior, d: usize) -> std::result::Result<(), String> {
    if prior.mean.len() != d || prior.precision.len() != d * (d + 1) / 2 {
        return Err("the prior has another number of dimensions than the items".into());
    }
    if !(prior.mean.iter().all(|m| sensible(*m)) && is_covariance(&prior.precision, d))
        || (0..d).any(|j| prior.precision[j * (j + 3) / 2] <= 0.0)
    {
        return Err("the prior is no Gaussian: its precision is not positive".into());
    }
    Ok(())
}

/// Finite, and within anything that a fit gives.
fn sensible(x: f64) -> bool {
    x.abs() < 1e6
}

/// Whether a packed matrix can be a covariance: no negative variance, no correlation beyond 1.
fn is_covariance(packed: &[f64], k: usize) -> bool {
    let at = |i: usize, j: usize| packed[i * (i + 1) / 2 + j];
    (0..k).all(|i| {
        at(i, i) >= 0.0
            && (0..=i).all(|j| {
                let most = (at(i, i) * at(j, j)).max(0.0).sqrt();
                at(i, j).is_finite() && at(i, j).abs() <= most * (1.0 + 1e-9) + 1e-12
            })
    })
}

/// Rows of means and packed covariances to Gaussians, checked.
fn gaussians(
    mean: &[Vec<f64>],
    cov: &[Vec<f64>],
    n: usize,
    k: usize,
) -> std::result::Result<Gaussians, String> {
    if mean.len() != n || !(cov.is_empty() || cov.len() == n) {
        return Err(format!(
            "{} means and {} covariances for {n} items",
            mean.len(),
            cov.len()
        ));
    }
    let packed = k * (k + 1) / 2;
    let bad = |rows: &[Vec<f64>], len: usize| rows.iter().position(|r| r.len() != len);
    if let Some(i) = bad(mean, k).or_else(|| bad(cov, packed)) {
        return Err(format!(
            "item {i} has {} mean and {} covariance numbers; D = {} has {k} and {packed}",
            mean[i].len(),
            cov.get(i).map_or(0, Vec::len),
            k - 1
        ));
    }
    if let Some(i) = mean.iter().position(|m| !m.iter().all(|x| sensible(*x))) {
        return Err(format!(
            "item {i} has parameters beyond any that a fit gives"
        ));
    }
    if let Some(i) = cov.iter().position(|c| !is_covariance(c, k)) {
        return Err(format!("the covariance of item {i} is none"));
    }
    let mean = mean.concat();
    Ok(if cov.is_empty() {
        Gaussians::points(k, mean)
    } else {
        Gaussians::new(k, mean, cov.concat())
    })
}
