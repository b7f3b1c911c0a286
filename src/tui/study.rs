//! What the screen knows of a benchmark: results of jobs, in the shape in which views draw them.
//!
//! Lambda is applied last, by the library's [`pairs_of`], so a change of lambda needs no job.

use std::sync::Arc;

use tinyscope::anchors::{SelectionKind, irt_points};
use tinyscope::data::{Benchmark, Scenario, Split};
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{
    FittedScenario, Lambda, Metrics, SelectionEstimates, Settings, pairs_of,
};
use tinyscope::irt::{Bin, ItemParameters, Shape, binned_proportions, principal_components};

use super::choices::Axes;

/// A benchmark with the split of its models.
#[derive(Debug)]
pub(crate) struct Study {
    /// Everything that was read.
    pub(crate) benchmark: Benchmark,
    /// Training and test models.
    pub(crate) split: Split,
    /// Split, seed and everything else that results rest on; n, selection and lambda are the screen's.
    pub(crate) settings: Settings,
}

impl Study {
    /// Number of scenarios.
    pub(crate) fn scenarios(&self) -> usize {
        self.benchmark.scenarios.len()
    }

    /// A scenario by index; the last one beyond the end.
    pub(crate) fn scenario(&self, index: usize) -> &Scenario {
        &self.benchmark.scenarios[index.min(self.scenarios() - 1)]
    }

    /// The id of an item, by scenario and position.
    pub(crate) fn item_id(&self, scenario: usize, item: usize) -> &str {
        let columns = &self.scenario(scenario).columns;
        columns
            .get(item)
            .and_then(|&column| self.benchmark.matrix.items().get(column))
            .map_or("", String::as_str)
    }

    /// A model's name by matrix row.
    pub(crate) fn model(&self, row: usize) -> &str {
        self.benchmark
            .matrix
            .models()
            .get(row)
            .map_or("", String::as_str)
    }
}

/// Names of choices on the screen, and the choice after one.
pub(crate) trait Choice: Sized + 'static {
    /// The name on the screen.
    fn label(self) -> &'static str;
    /// A name for narrow places.
    fn short(self) -> &'static str;
    /// The next one, wrapping round.
    fn next(self) -> Self;
}

impl Choice for SelectionKind {
    fn label(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::AnchorsCorrectness => "correctness anchors",
            Self::AnchorsIrt => "IRT anchors",
        }
    }

    fn short(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::AnchorsCorrectness => "correctness",
            Self::AnchorsIrt => "IRT",
        }
    }

    fn next(self) -> Self {
        after(self, &Self::ALL)
    }
}

impl Choice for Estimator {
    fn label(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::PIrt => "p-IRT",
            Self::GpIrt => "gp-IRT",
        }
    }

    fn short(self) -> &'static str {
        self.label()
    }

    fn next(self) -> Self {
        after(self, &Self::ALL)
    }
}

fn after<T: Copy + PartialEq>(one: T, all: &[T]) -> T {
    let at = all.iter().position(|&other| other == one).unwrap_or(0);
    all[(at + 1) % all.len()]
}

/// A fitted scenario as the map and the inspector need it. All per-item lists run over positions.
#[derive(Debug)]
pub(crate) struct FitShown {
    /// The library's fit of the scenario.
    pub(crate) fitted: FittedScenario,
    /// The scenario's own item parameters.
    pub(crate) items: ItemParameters,
    /// Items on the first two principal axes of (a, b).
    pub(crate) components: Vec<[f64; 2]>,
    /// Difficulty b of each item, and its discrimination along the first ability axis.
    pub(crate) parameters: Vec<[f64; 2]>,
    /// Shares of variance of the two axes.
    pub(crate) spread: [f64; 2],
    /// Mean score of the training models on each item; NaN where none answered.
    pub(crate) share: Vec<f64>,
    /// Sub-scenario of each item.
    pub(crate) sub: Vec<usize>,
}

impl FitShown {
    /// Prepares a fit for the screen.
    pub(crate) fn new(benchmark: &Benchmark, fitted: FittedScenario) -> FitShown {
        let items = fitted.items();
        let (scores, variance) = principal_components(&irt_points(&items), 2);
        let components = scores
            .rows()
            .into_iter()
            .map(|row| [row[0], row[1]])
            .collect();
        FitShown {
            components,
            spread: [0, 1].map(|d| variance.get(d).copied().unwrap_or(0.0)),
            ..FitShown::at(benchmark, fitted, items)
        }
    }

    /// A fit whose items have no place on the map yet.
    pub(crate) fn at(
        benchmark: &Benchmark,
        fitted: FittedScenario,
        items: ItemParameters,
    ) -> FitShown {
        let scenario = &benchmark.scenarios[fitted.index];
        let mut sums = vec![(0.0, 0usize); scenario.n_items()];
        for &model in &fitted.train {
            for (sum, y) in sums
                .iter_mut()
                .zip(benchmark.scores(model, &scenario.columns))
            {
                if !y.is_nan() {
                    *sum = (sum.0 + y, sum.1 + 1);
                }
            }
        }
        let parameters = (0..items.len())
            .map(|item| Shape::of(&items, item))
            .map(|shape| [shape.intercept, shape.general])
            .collect();
        FitShown {
            items,
            components: Vec::new(),
            parameters,
            spread: [0.0; 2],
            share: sums.into_iter().map(|(sum, n)| sum / n as f64).collect(),
            sub: scenario.subscenario_of(),
            fitted,
        }
    }

    /// Where the items stand on the map.
    pub(crate) fn xy(&self, axes: Axes) -> &[[f64; 2]] {
        match axes {
            Axes::Components => &self.components,
            Axes::Parameters => &self.parameters,
        }
    }

    /// Difficulty and discrimination of an item.
    pub(crate) fn shape(&self, item: usize) -> Option<Shape> {
        (item < self.items.len()).then(|| Shape::of(&self.items, item))
    }
}

/// An item response curve along the item's own direction, with what was observed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Curve {
    /// (ability along a / |a|, probability).
    pub(crate) line: Vec<(f64, f64)>,
    /// Observed mean scores of groups of training models.
    pub(crate) observed: Vec<Bin>,
}

/// Groups of training models whose observed mean scores stand beside the curve.
const GROUPS: usize = 8;

/// The curve of an item over the abilities of the models, at least from -2 to 2.
pub(crate) fn curve(study: &Study, fit: &FitShown, item: usize) -> Curve {
    let Some(shape) = fit.shape(item) else {
        return Curve::default();
    };
    let column = study.scenario(fit.fitted.index).columns.get(item).copied();
    let abilities = &fit.fitted.fit.abilities;
    let (mut low, mut high) = (-2.0f64, 2.0f64);
    let mut points = Vec::new();
    for (index, &row) in fit.fitted.fitted_models.iter().enumerate() {
        let along = fit.items.along(item, abilities.mean(index));
        low = low.min(along);
        high = high.max(along);
        if let Some(score) = column.and_then(|c| study.benchmark.matrix.get(row, c)) {
            points.push((along, score));
        }
    }
    let line = (0..=60)
        .map(|step| {
            let x = low + (high - low) * f64::from(step) / 60.0;
            (x, shape.probability(x))
        })
        .collect();
    Curve {
        line,
        observed: binned_proportions(points, GROUPS),
    }
}

/// What one choice of items gives on one scenario.
pub(crate) type Cell = SelectionEstimates;

/// Which cell: scenario, selection and n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CellKey {
    /// Scenario index.
    pub(crate) scenario: usize,
    /// How the items are chosen.
    pub(crate) selection: SelectionKind,
    /// How many are asked for.
    pub(crate) n: usize,
}

/// A test model's true and estimated score: of one scenario, or the mean over several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    /// Row of the matrix.
    pub(crate) model: usize,
    /// True score.
    pub(crate) truth: f64,
    /// Estimated score.
    pub(crate) estimate: f64,
}

/// True and estimated scores from the cells of one scenario, or of all for the mean over them.
pub(crate) fn scored(cells: &[Arc<Cell>], estimator: Estimator, lambda: Lambda) -> Vec<Scored> {
    pairs_of(cells, estimator, lambda)
        .into_iter()
        .map(|(model, truth, estimate)| Scored {
            model,
            truth,
            estimate,
        })
        .collect()
}

/// Metrics of such scores.
pub(crate) fn metrics(scores: &[Scored]) -> Metrics {
    let pairs: Vec<(f64, f64)> = scores.iter().map(|s| (s.truth, s.estimate)).collect();
    Metrics::of(&pairs)
}

/// Mean over cells of the paper's lambda.
pub(crate) fn paper_lambda(cells: &[Arc<Cell>]) -> Option<f64> {
    let sum: f64 = cells.iter().map(|cell| cell.paper_lambda).sum();
    (!cells.is_empty()).then(|| sum / cells.len() as f64)
}
