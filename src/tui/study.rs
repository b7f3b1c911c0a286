//! What the screen knows of a benchmark: results of jobs, in the shape in which views draw them.
//!
//! Lambda is applied last, by the library's [`pairs_of`], so a change of lambda needs no job.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use tinyscope::anchors::{SelectionKind, irt_points};
use tinyscope::data::{Benchmark, Responses, Scenario, Split};
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{
    AnswersEstimate, FittedScenario, Lambda, Metrics, SelectionEstimates, Settings,
    correctness_points, pairs_of, spearman,
};
use tinyscope::irt::{Bin, ItemParameters, Shape, binned_proportions, principal_components};

use super::choices::Axes;

/// A benchmark with the split of its models.
#[derive(Debug)]
pub(crate) struct Study {
    /// Everything that was read.
    pub(crate) benchmark: Benchmark,
    /// Training and test models at the settings' seed.
    pub(crate) split: Arc<Split>,
    /// Split, seed and everything else that results rest on; n, selection and lambda are the screen's.
    pub(crate) settings: Settings,
}

/// The answers of the user's own model.
#[derive(Debug)]
pub(crate) struct Mine {
    /// What it is called: the file's name without its ending.
    pub(crate) name: String,
    /// Where the answers were read.
    pub(crate) file: PathBuf,
    /// Scores by item id.
    pub(crate) answers: HashMap<String, f64>,
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
pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// All of them, in the order of their key.
    const ALL: &'static [Self];

    /// The name on the screen.
    fn label(self) -> &'static str;

    /// A name for narrow places.
    fn short(self) -> &'static str {
        self.label()
    }

    /// The next one, wrapping round.
    fn next(self) -> Self {
        let at = Self::ALL.iter().position(|&other| other == self);
        Self::ALL[(at.unwrap_or(0) + 1) % Self::ALL.len()]
    }
}

impl Choice for SelectionKind {
    const ALL: &'static [Self] = &SelectionKind::ALL;

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
}

impl Choice for Estimator {
    const ALL: &'static [Self] = &Estimator::ALL;

    fn label(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::PIrt => "p-IRT",
            Self::GpIrt => "gp-IRT",
            Self::Aipw => "AIPW",
            Self::GpIrtCv => "gp-cv",
            Self::Ridge => "ridge",
            Self::Stacked => "stacked",
        }
    }
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
    /// Items on the first two principal axes of the training models' scores.
    pub(crate) correctness: Vec<[f64; 2]>,
    /// Shares of variance of those two.
    pub(crate) correctness_spread: [f64; 2],
    /// Mean score of the training models on each item; NaN where none answered.
    pub(crate) share: Vec<f64>,
    /// True score of each model of the matrix; `None` where it answered nothing of the scenario.
    pub(crate) truths: Vec<Option<f64>>,
    /// Items on which all training models that answered have the same score.
    pub(crate) constant: Vec<bool>,
    /// Sub-scenario of each item.
    pub(crate) sub: Vec<usize>,
    /// Fifth of the scenario's difficulties that each item is in, 0 the easiest.
    pub(crate) fifth: Vec<usize>,
}

impl FitShown {
    /// Prepares a fit for the screen.
    pub(crate) fn new(benchmark: &Benchmark, fitted: FittedScenario) -> FitShown {
        let items = fitted.items();
        let (components, spread) = plane(&irt_points(&items));
        let columns = benchmark.scenarios[fitted.index].columns.clone();
        let responses = Responses::new(&benchmark.matrix, fitted.train.clone(), columns);
        let (correctness, correctness_spread) = plane(&correctness_points(&responses));
        FitShown {
            components,
            spread,
            correctness,
            correctness_spread,
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
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); scenario.n_items()];
        for &model in &fitted.train {
            let scores = benchmark.scores(model, &scenario.columns);
            for ((sum, end), y) in sums.iter_mut().zip(&mut ends).zip(scores) {
                if !y.is_nan() {
                    *sum = (sum.0 + y, sum.1 + 1);
                    *end = (end.0.min(y), end.1.max(y));
                }
            }
        }
        let parameters: Vec<[f64; 2]> = (0..items.len())
            .map(|item| Shape::of(&items, item))
            .map(|shape| [shape.intercept, shape.general])
            .collect();
        FitShown {
            items,
            components: Vec::new(),
            spread: [0.0; 2],
            correctness: Vec::new(),
            correctness_spread: [0.0; 2],
            fifth: fifths(&parameters),
            truths: (0..benchmark.matrix.n_models())
                .map(|model| benchmark.true_score(model, scenario))
                .collect(),
            parameters,
            share: sums.into_iter().map(|(sum, n)| sum / n as f64).collect(),
            constant: ends.into_iter().map(|(low, high)| low >= high).collect(),
            sub: scenario.subscenario_of(),
            fitted,
        }
    }

    /// Where the items stand on the map.
    pub(crate) fn xy(&self, axes: Axes) -> &[[f64; 2]] {
        match axes {
            Axes::Components => &self.components,
            Axes::Parameters => &self.parameters,
            Axes::Correctness => &self.correctness,
        }
    }

    /// What the weakest of the models would call easy: negatively discriminating along the first axis.
    pub(crate) fn reversed(&self, item: usize) -> bool {
        self.parameters.get(item).is_some_and(|p| p[1] < 0.0)
    }

    /// Difficulty and discrimination of an item.
    pub(crate) fn shape(&self, item: usize) -> Option<Shape> {
        (item < self.items.len()).then(|| Shape::of(&self.items, item))
    }
}

/// Points on their first two principal axes, and the axes' shares of variance.
fn plane(points: &ndarray::Array2<f64>) -> (Vec<[f64; 2]>, [f64; 2]) {
    let (scores, variance) = principal_components(points, 2);
    let at = |row: ndarray::ArrayView1<'_, f64>, d: usize| row.get(d).copied().unwrap_or(0.0);
    let places = scores.rows().into_iter();
    (
        places.map(|row| [at(row, 0), at(row, 1)]).collect(),
        [0, 1].map(|d| variance.get(d).copied().unwrap_or(0.0)),
    )
}

/// The fifth of the difficulties (first coordinate) that each item is in.
fn fifths(parameters: &[[f64; 2]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..parameters.len()).collect();
    order.sort_by(|&p, &q| parameters[p][0].total_cmp(&parameters[q][0]));
    let mut fifths = vec![0; parameters.len()];
    for (at, item) in order.into_iter().enumerate() {
        fifths[item] = at * 5 / parameters.len();
    }
    fifths
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
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// The chosen items, and every test model's estimates.
    pub(crate) found: SelectionEstimates,
    /// The estimates of the user's own model, where one is open.
    pub(crate) mine: Option<AnswersEstimate>,
    /// Learning is done: what could be learned is in the estimates, and the intervals are known.
    pub(crate) learned: bool,
}

impl Cell {
    /// Whether everything is there that an estimator needs.
    pub(crate) fn serves(&self, estimator: Estimator) -> bool {
        self.learned || !is_learned(estimator)
    }
}

/// Whether an estimator learns from held-out training models: that takes a job of its own.
pub(crate) fn is_learned(estimator: Estimator) -> bool {
    Estimator::LEARNED.contains(&estimator)
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
    let found: Vec<&SelectionEstimates> = cells.iter().map(|cell| &cell.found).collect();
    pairs_of(&found, estimator, lambda)
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
    let sum: f64 = cells.iter().map(|cell| cell.found.paper_lambda).sum();
    (!cells.is_empty()).then(|| sum / cells.len() as f64)
}

/// The estimate of the user's own model, where every cell has one.
pub(crate) fn mine(cells: &[Arc<Cell>], estimator: Estimator, lambda: Lambda) -> Option<f64> {
    let each: Option<Vec<f64>> = cells
        .iter()
        .map(|cell| {
            let estimates = cell.mine.as_ref()?.estimates?;
            estimates.get(estimator, lambda.value(cell.found.paper_lambda))
        })
        .collect();
    each.filter(|e| !e.is_empty())
        .map(|e| e.iter().sum::<f64>() / e.len() as f64)
}

/// Mean absolute error of an estimator on one sub-scenario, over the models that have both.
pub(crate) fn part_error(
    cell: &Cell,
    part: usize,
    estimator: Estimator,
    lambda: Lambda,
) -> Option<f64> {
    let pairs = cell.found.part_pairs(part, estimator, lambda);
    let errors = pairs
        .iter()
        .map(|(truth, estimate)| (estimate - truth).abs());
    (!pairs.is_empty()).then(|| errors.sum::<f64>() / pairs.len() as f64)
}

/// What the curves of the trade-off show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Mean absolute error.
    Error,
    /// Spearman's rank correlation.
    Ranks,
}

impl Measure {
    /// Its value over the test models; only what is drawn is computed.
    pub(crate) fn of(self, scores: &[Scored]) -> Option<f64> {
        match self {
            Measure::Error => {
                let errors = scores.iter().map(|s| (s.estimate - s.truth).abs());
                (!scores.is_empty()).then(|| errors.sum::<f64>() / scores.len() as f64)
            }
            Measure::Ranks => {
                let (truth, estimate): (Vec<f64>, Vec<f64>) =
                    scores.iter().map(|s| (s.truth, s.estimate)).unzip();
                spearman(&truth, &estimate)
            }
        }
    }
}
