//! A benchmark: a response matrix with its scenarios, sub-scenarios and everything known about models and items.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use jiff::civil::Date;

use super::{ItemTexts, ResponseMatrix};

/// How the items of a scenario are averaged to its true score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregate {
    /// Every sub-scenario counts equally (the paper's; MMLU's 57 subjects).
    Macro,
    /// Every item counts equally.
    Micro,
}

impl Aggregate {
    /// `macro` or `micro`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Macro => "macro",
            Self::Micro => "micro",
        }
    }
}

/// A named part of a scenario (an MMLU subject).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SubScenario {
    /// Its name.
    pub name: String,
    /// Its items, as positions within the scenario.
    pub items: Range<usize>,
}

/// A scenario (MMLU, GSM8K): items that are averaged to one score.
///
/// Everything about one scenario is indexed by *position*, 0..[`Scenario::n_items`]; `columns` leads to the matrix.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// How its items are averaged.
    pub aggregate: Aggregate,
    /// Matrix column of each position; sub-scenarios are contiguous.
    pub columns: Vec<usize>,
    /// Its sub-scenarios, in order; they cover all positions. At least one.
    pub subscenarios: Vec<SubScenario>,
}

impl Scenario {
    /// Number of items.
    pub fn n_items(&self) -> usize {
        self.columns.len()
    }

    /// Balance weight of each item, mean 1: N / (n_sub N_sub(i)) for macro, 1 for micro (paper, section 3.2).
    pub fn balance_weights(&self) -> Vec<f64> {
        let mut weights = vec![1.0; self.n_items()];
        if self.aggregate == Aggregate::Macro {
            let parts = self
                .subscenarios
                .iter()
                .filter(|s| !s.items.is_empty())
                .count();
            for sub in &self.subscenarios {
                let w = self.n_items() as f64 / (parts * sub.items.len().max(1)) as f64;
                weights[sub.items.clone()].fill(w);
            }
        }
        weights
    }

    /// The sub-scenario (an index) of each position.
    pub fn subscenario_of(&self) -> Vec<usize> {
        let mut of = vec![0; self.n_items()];
        for (k, sub) in self.subscenarios.iter().enumerate() {
            of[sub.items.clone()].fill(k);
        }
        of
    }
}

/// A benchmark with everything that was read about it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Benchmark {
    /// Its name.
    pub name: String,
    /// Where it was read from; a demo's name for bundled ones.
    pub origin: PathBuf,
    /// True when the responses were simulated and not measured.
    pub simulated: bool,
    /// Who published the responses; empty where unknown.
    pub source: String,
    /// Terms of use; empty where unknown.
    pub licence: String,
    /// What a score is (`exact_match`, `win probability`); empty where unknown.
    pub metric: String,
    /// Remarks of whoever made the file.
    pub notes: String,
    /// Models x items.
    pub matrix: ResponseMatrix,
    /// The scenarios; at least one.
    pub scenarios: Vec<Scenario>,
    /// Release dates, by model name.
    #[serde(with = "super::kept::dates")]
    pub released: BTreeMap<String, Date>,
    /// Organisations, by model name; where absent the model's name tells.
    pub organisations: BTreeMap<String, String>,
    /// Texts of the items, where there are any.
    pub texts: ItemTexts,
    /// What reading had to mend or leave out.
    pub warnings: Vec<String>,
}

impl Benchmark {
    /// True score of a model on a scenario: sum w y / sum w over the items it answered; `None` when it answered none.
    pub fn true_score(&self, model: usize, scenario: &Scenario) -> Option<f64> {
        weighted_mean(
            &scenario.balance_weights(),
            &self.scores(model, &scenario.columns),
        )
    }

    /// Mean of a model's true scores over `scenarios`; `None` when one is missing.
    pub fn overall_score(&self, model: usize) -> Option<f64> {
        let scores: Option<Vec<f64>> = self
            .scenarios
            .iter()
            .map(|s| self.true_score(model, s))
            .collect();
        scores.map(|s| s.iter().sum::<f64>() / s.len() as f64)
    }

    /// Scores of a model on the given columns; NaN where missing.
    pub fn scores(&self, model: usize, columns: &[usize]) -> Vec<f64> {
        let mut out = vec![f64::NAN; columns.len()];
        self.matrix.gather(model, columns, &mut out);
        out
    }

    /// Index of the scenario with this name.
    pub fn scenario_index(&self, name: &str) -> Option<usize> {
        self.scenarios.iter().position(|s| s.name == name)
    }

    /// The organisation of a model: from the manifest, else its name up to the first `/`, else up to the first `_`, else
    /// the whole name.
    pub fn organisation(&self, model: &str) -> String {
        if let Some(org) = self.organisations.get(model) {
            return org.clone();
        }
        let end = model
            .find('/')
            .or_else(|| model.find('_'))
            .unwrap_or(model.len());
        model[..end].to_owned()
    }
}

/// sum w y / sum w over the entries of `scores` that are not NaN; `None` when there are none.
pub(crate) fn weighted_mean(weights: &[f64], scores: &[f64]) -> Option<f64> {
    let (mut total, mut weight) = (0.0, 0.0);
    for (&w, &y) in weights.iter().zip(scores) {
        if !y.is_nan() {
            total += w * y;
            weight += w;
        }
    }
    (weight > 0.0).then(|| total / weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macro_weights_have_mean_one_and_equal_subscenario_totals() {
        let s = Scenario {
            name: "s".into(),
            aggregate: Aggregate::Macro,
            columns: (0..10).collect(),
            subscenarios: vec![
                SubScenario {
                    name: "a".into(),
                    items: 0..2,
                },
                SubScenario {
                    name: "b".into(),
                    items: 2..10,
                },
            ],
        };
        let w = s.balance_weights();
        assert!((w.iter().sum::<f64>() - 10.0).abs() < 1e-12);
        assert!((w[0] * 2.0 - w[2] * 8.0).abs() < 1e-12);
        assert_eq!(weighted_mean(&w, &[f64::NAN; 10]), None);
        let mut y = vec![0.0; 10];
        y[..2].fill(1.0);
        assert_eq!(weighted_mean(&w, &y), Some(0.5));
    }
}
