//! Adaptive tests from an anchors file, which holds every item's parameters.

use super::anchors_file::{AnchorsFile, ScenarioAnchors};
use crate::anchors::{Pool, Rule};
use crate::error::{Error, Result};
use crate::estimate::AdaptiveCalibration;
use crate::experiment::Adaptive;

impl AnchorsFile {
    /// The same with what was learned for adaptive tests, one a scenario in order.
    pub fn with_adaptive(mut self, trained: &[Adaptive]) -> Self {
        for (scenario, adaptive) in self.scenarios.iter_mut().zip(trained) {
            scenario.adaptive = Some(adaptive.calibration.clone());
        }
        self
    }
}

impl ScenarioAnchors {
    /// Ready for adaptive tests: as learned where the file holds that, else without correction and with the model's own
    /// deviation instead of calibrated intervals. `rule` is that of the file, or where nothing was learned any.
    ///
    /// # Errors
    /// Another rule than the file's.
    pub fn adaptive(&self, rule: Option<Rule>) -> Result<Adaptive> {
        let calibration = match &self.adaptive {
            Some(learned) => learned.clone(),
            None => AdaptiveCalibration::unlearned(rule.unwrap_or_default()),
        };
        if let Some(rule) = rule.filter(|r| *r != calibration.rule) {
            return Err(Error::setting(
                format!(
                    "the anchors file was calibrated for the rule {}, not {}",
                    calibration.rule.name(),
                    rule.name()
                ),
                format!(
                    "write one with `tinyscope anchors DATA --adaptive={} --out FILE`",
                    rule.name()
                ),
            ));
        }
        let parameters = self.parameters.parameters(self.items.len());
        let parameters = parameters.map_err(|what| Error::setting(what, ""))?;
        let pool = Pool::new(
            parameters,
            self.balance.clone(),
            calibration.dispersion.clone(),
            self.prior.clone(),
            self.threshold,
        )?;
        Ok(Adaptive { pool, calibration })
    }
}
