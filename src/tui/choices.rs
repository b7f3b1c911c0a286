//! What the user can choose: view, scope, setting, colours, order, overlay, source.

use std::path::PathBuf;

use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;
use tinyscope::experiment::Lambda;

use super::action::Place;

/// The views, in the order of their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewName {
    /// Items and anchors.
    Map,
    /// Estimated against true.
    Scores,
    /// Error against n and lambda.
    Tradeoff,
}

impl ViewName {
    /// All views.
    pub(crate) const ALL: [ViewName; 3] = [ViewName::Map, ViewName::Scores, ViewName::Tradeoff];

    /// The title on the screen.
    pub(crate) fn label(self) -> &'static str {
        match self {
            ViewName::Map => "Map",
            ViewName::Scores => "Scores",
            ViewName::Tradeoff => "Trade-off",
        }
    }

    /// Which rows of the key table apply.
    pub(crate) fn place(self) -> Place {
        match self {
            ViewName::Map => Place::Map,
            ViewName::Scores => Place::Scores,
            ViewName::Tradeoff => Place::Anywhere,
        }
    }
}

/// One scenario or the mean over all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// A scenario by index.
    One(usize),
    /// The benchmark's mean score.
    Overall,
}

/// What the user asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setting {
    /// Scenario or overall.
    pub(crate) scope: Scope,
    /// Items a scenario.
    pub(crate) n: usize,
    /// How items are chosen.
    pub(crate) selection: SelectionKind,
    /// How scores are estimated.
    pub(crate) estimator: Estimator,
    /// Fixed lambda, or the paper's.
    pub(crate) lambda: Lambda,
}

/// Colours of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColourBy {
    /// The anchors' clusters.
    Cluster,
    /// Sub-scenarios.
    SubScenario,
    /// Share of training models that are right.
    Share,
}

/// What the two axes of the map are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axes {
    /// The first two principal components of the item parameters (a, b).
    Components,
    /// Difficulty b against the discrimination along the first ability axis.
    Parameters,
}

/// Order of the model table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// By true score, best first.
    Truth,
    /// By estimate, best first.
    Estimate,
    /// By size of the error, largest first.
    Error,
    /// By name.
    Name,
}

/// What is being typed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Overlay {
    /// Nothing: keys are actions.
    None,
    /// The list of keys, scrolled by so many lines.
    Help(u16),
    /// A value for n.
    TypeItems(String),
    /// A value for lambda.
    TypeLambda(String),
    /// Benchmarks to open: the highlighted row, and the path being typed on the last row.
    Open {
        /// Highlighted row.
        row: usize,
        /// Text of the last row.
        path: String,
    },
}

/// Something to open: a file, or a bundled demo as `demo:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Source(pub(crate) PathBuf);

impl Source {
    /// A bundled demo.
    pub(crate) fn demo(name: &str) -> Source {
        Source(format!("demo:{name}").into())
    }

    /// The demo's name, where it is one.
    pub(crate) fn demo_name(&self) -> Option<&str> {
        self.0.to_str()?.strip_prefix("demo:")
    }

    /// As shown in lists and messages.
    pub(crate) fn label(&self) -> String {
        match self.demo_name() {
            Some(name) => name.to_string(),
            None => self.0.display().to_string(),
        }
    }
}
