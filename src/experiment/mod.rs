//! Train/test runs: everything is fitted on the training models and judged on the test models.

mod adaptive;
mod answers;
#[cfg(test)]
mod cases;
mod curve;
mod fitted;
mod folds;
mod imported;
mod keep;
mod lack;
mod learned;
mod metrics;
mod need;
mod plan;
mod replay;
mod run;
mod select;
mod settings;
mod shift;
mod sources;
mod sweep;
mod together;
mod trial;
mod uncertain;
mod unexpected;

pub use adaptive::{Adaptive, AdaptiveEstimate, Stop, estimate_adaptive, train_adaptive};
pub use answers::{AnswersEstimate, estimate_answers};
pub use fitted::{Fitted, FittedScenario, fit_benchmark};
pub use folds::{FOLDS, Folds};
pub use imported::{Imported, ImportedPart, ImportedSet};
pub(crate) use imported::{brief, shortened};
pub use keep::keep_selection;
pub(crate) use lack::MEAN;
pub use lack::{Lack, Lacking, lacking};
pub use learned::{Chooser, learn, stackers};
pub use metrics::{Metrics, kendall_tau_b, pairs_in_order, ranks, spearman, top_recall};
pub use need::{ErrorsByN, Measure, Need, RESAMPLES};
pub use plan::{Goal, Plan, PlanRow, plan};
pub use replay::{Replay, Step, replay};
pub use run::{
    ModelEstimate, OverallPair, Row, SelectionEstimates, cap_warning, cap_warnings,
    estimate_selection, overall, pairs_of, rows, run, run_learned,
};
pub use select::{correctness_points, edit_selection, select, select_with};
pub use settings::{Lambda, ResponseForm, Scope, Settings};
pub use shift::{SPLITS, Shift, ShiftRow, shift};
pub use sources::{SourceCount, SourceRow, Sources, sources};
pub use sweep::{Sweep, SweepRow, sweep};
pub use trial::{Judged, JudgedModel, Trial};
pub use uncertain::{Comparison, Errors, Estimated, LEVEL, errors, estimated, intervals};
pub use unexpected::{Unexpected, unexpectedly_right};
