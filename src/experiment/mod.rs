//! Train/test runs: everything is fitted on the training models and judged on the test models.

mod adaptive;
mod answers;
#[cfg(test)]
mod cases;
mod fitted;
mod folds;
mod imported;
mod learned;
mod metrics;
mod replay;
mod run;
mod select;
mod settings;
mod sweep;
mod together;

pub use adaptive::{Adaptive, AdaptiveEstimate, Stop, estimate_adaptive, train_adaptive};
pub use answers::{AnswersEstimate, estimate_answers};
pub use fitted::{Fitted, FittedScenario, fit_benchmark};
pub use folds::{FOLDS, Folds};
pub use imported::{Imported, ImportedPart, ImportedSet};
pub(crate) use imported::{brief, shortened};
pub use learned::{Chooser, LearnedEstimate, estimate_learned, stackers};
pub use metrics::{Metrics, kendall_tau_b, pairs_in_order, ranks, spearman, top_recall};
pub use replay::{Replay, Step, replay};
pub use run::{
    ModelEstimate, OverallPair, Row, SelectionEstimates, cap_warning, cap_warnings,
    estimate_selection, overall, pairs_of, rows, run,
};
pub use select::{correctness_points, edit_selection, select, select_with};
pub use settings::{Lambda, ResponseForm, Scope, Settings};
pub use sweep::{Sweep, SweepRow, sweep};
