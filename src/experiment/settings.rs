//! What an experiment is asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::imported::Imported;
use crate::anchors::SelectionKind;
use crate::data::{Benchmark, SplitKind};
use crate::error::{Error, Result, nearest};
use crate::estimate::Seen;
use crate::irt::{AbilityMethod, DEFAULT_DIMS};

/// lambda of gp-IRT.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Lambda {
    /// The paper's b^2 / (b^2 + v).
    #[default]
    Auto,
    /// This share of the naive estimate, in \[0, 1\].
    Fixed(f64),
}

impl Lambda {
    /// The value where the paper's is `auto`.
    pub fn value(self, auto: f64) -> f64 {
        match self {
            Self::Auto => auto,
            Self::Fixed(x) => x,
        }
    }
}

/// Which items a model is fitted on, and which answers tell an ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Scope {
    /// One fit and one D a scenario.
    #[default]
    Scenario,
    /// One fit on all items; the ability from the seen items of all scenarios.
    Joint,
}

impl Scope {
    /// `scenario` or `joint`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Joint => "joint",
        }
    }
}

/// Whether the fit sees scores or binary responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum ResponseForm {
    /// Scores as they are.
    #[default]
    Raw,
    /// 1\[score > c\], c by scenario on the training models (the paper's).
    Binary,
}

impl ResponseForm {
    /// `raw` or `binary`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Binary => "binary",
        }
    }
}

/// Everything that decides the numbers of an experiment, beside the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Scenarios by index; empty means all.
    pub scenarios: Vec<usize>,
    /// Items a scenario.
    pub n: usize,
    /// Selections to try.
    pub selections: Vec<SelectionKind>,
    /// lambda of gp-IRT.
    pub lambda: Lambda,
    /// Training and test models.
    pub split: SplitKind,
    /// Candidates for D, validated over.
    pub dims: Vec<usize>,
    /// One fit a scenario, or one for all.
    pub scope: Scope,
    /// Item parameters that are used instead of a fit; `dims` does not count then.
    pub parameters: Option<Arc<Imported>>,
    /// How abilities are estimated.
    pub ability: AbilityMethod,
    /// The seen part of p-IRT.
    pub seen: Seen,
    /// Scores or binary responses in the fit.
    pub responses: ResponseForm,
    /// Seed of the split, of random items and of k-means.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            scenarios: Vec::new(),
            n: 100,
            selections: SelectionKind::ALL.to_vec(),
            lambda: Lambda::Auto,
            split: SplitKind::Iid,
            dims: DEFAULT_DIMS.to_vec(),
            scope: Scope::Scenario,
            parameters: None,
            ability: AbilityMethod::Posterior,
            seen: Seen::Anchor,
            responses: ResponseForm::Raw,
            seed: 0,
        }
    }
}

impl Settings {
    /// Indices of the scenarios asked for.
    pub fn scenario_indices(&self, benchmark: &Benchmark) -> Vec<usize> {
        if self.scenarios.is_empty() {
            (0..benchmark.scenarios.len()).collect()
        } else {
            self.scenarios.clone()
        }
    }

    /// Indices of scenarios by name.
    ///
    /// # Errors
    /// A name that no scenario has.
    pub fn find_scenarios(benchmark: &Benchmark, names: &[String]) -> Result<Vec<usize>> {
        let one = |name: &String| {
            benchmark.scenario_index(name).ok_or_else(|| {
                let all: Vec<&str> = benchmark
                    .scenarios
                    .iter()
                    .map(|s| s.name.as_str())
                    .collect();
                let hint = match nearest(name, all.iter().copied()) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!("there are: {}", all.join(", ")),
                };
                Error::setting(format!("no scenario is named {name:?}"), hint)
            })
        };
        let found: Vec<usize> = names.iter().map(one).collect::<Result<_>>()?;
        let mut seen = BTreeSet::new();
        Ok(found.into_iter().filter(|s| seen.insert(*s)).collect())
    }
}
