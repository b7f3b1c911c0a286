//! The model file: item parameters, abilities, evidence and the validation table of a fit.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{StoredItems, item_ids, split_name, write_json};
use crate::data::Benchmark;
use crate::error::{Error, Result};
use crate::experiment::{Fitted, Settings, shortened};
use crate::irt::Prior;

/// A fitted benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Always `model`: what the file is.
    pub tinyscope: String,
    /// Version of the format.
    pub version: u32,
    /// Name of the benchmark.
    pub benchmark: String,
    /// True when the responses were simulated.
    pub simulated: bool,
    /// Seed of the split.
    pub seed: u64,
    /// The split; `all models` where none was left out.
    pub split: String,
    /// `scenario` or `joint`.
    pub scope: String,
    /// `raw` or `binary` responses.
    pub responses: String,
    /// One fit a scenario; in joint scope they share abilities, prior and evidence.
    pub scenarios: Vec<ScenarioModel>,
}

/// The fit of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenarioModel {
    /// Its name.
    pub name: String,
    /// b: validation error at the chosen D; absent where it could not be measured.
    pub b: Option<f64>,
    /// s2: mean variance of the training models' scores.
    pub s2: f64,
    /// The threshold where responses were binarised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// (D, error) of every candidate; the error is absent where it could not be measured.
    pub validation: Vec<(usize, Option<f64>)>,
    /// Evidence lower bound before each sweep and at the end, in nats.
    pub evidence: Vec<f64>,
    /// Whether the fit met its tolerance.
    pub converged: bool,
    /// Prior of the ability.
    pub ability_prior: Prior,
    /// Prior of (a, b).
    pub item_prior: Prior,
    /// Ids of the items.
    pub items: Vec<String>,
    /// Their parameters.
    pub parameters: StoredItems,
    /// Names of the training models.
    pub models: Vec<String>,
    /// Their abilities: posterior means.
    pub abilities: Vec<Vec<f64>>,
    /// Posterior covariances: packed lower triangles.
    pub abilities_cov: Vec<Vec<f64>>,
}

impl ModelFile {
    /// From a fit.
    pub fn of(benchmark: &Benchmark, fitted: &Fitted, settings: &Settings) -> Self {
        let number = |x: f64| (!x.is_nan()).then_some(x);
        let scenarios = fitted
            .scenarios
            .iter()
            .map(|f| {
                let scenario = &benchmark.scenarios[f.index];
                let ability = &f.fit.abilities;
                ScenarioModel {
                    name: scenario.name.clone(),
                    b: number(f.b),
                    s2: f.s2,
                    threshold: f.threshold,
                    validation: f
                        .choice
                        .table
                        .iter()
                        .map(|v| (v.dims, number(v.error)))
                        .collect(),
                    evidence: f.fit.evidence.clone(),
                    converged: f.fit.converged,
                    ability_prior: f.fit.ability_prior.clone(),
                    item_prior: f.fit.item_prior.clone(),
                    items: item_ids(benchmark, scenario),
                    parameters: StoredItems::of(&f.items()),
                    models: f
                        .fitted_models
                        .iter()
                        .map(|&l| benchmark.matrix.models()[l].clone())
                        .collect(),
                    abilities: (0..ability.len())
                        .map(|l| ability.mean(l).to_vec())
                        .collect(),
                    abilities_cov: (0..ability.len())
                        .map(|l| ability.cov(l).to_vec())
                        .collect(),
                }
            })
            .collect();
        Self {
            tinyscope: "model".into(),
            version: 1,
            benchmark: benchmark.name.clone(),
            simulated: benchmark.simulated,
            seed: settings.seed,
            split: split_name(fitted, settings),
            scope: fitted.scope.name().into(),
            responses: settings.responses.name().into(),
            scenarios,
        }
    }

    /// Writes the file whole or not at all; compressed where its name ends in `.gz`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, path: &Path) -> Result<()> {
        write_json(path, self)
    }

    /// The file in a JSON text.
    ///
    /// # Errors
    /// With the place in `path`.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|e| {
            Error::at_line(
                path,
                e.line() as u64,
                format!("not a model file: {}", shortened(&e.to_string(), 200)),
                "write one with `tinyscope fit DATA --out FILE`",
            )
        })
    }
}
