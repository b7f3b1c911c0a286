//! What a test asks, from an anchors file or a fit.

use std::collections::HashSet;
use std::path::Path;

use tinyscope::Error;
use tinyscope::anchors::Rule;
use tinyscope::data::{Benchmark, ItemTexts, read, split_or_all};
use tinyscope::error::nearest;
use tinyscope::experiment::{Adaptive, Fitted, Folds, LEVEL, fit_benchmark, train_adaptive};
use tinyscope::export::{AnchorsFile, training_scores};
use tinyscope::progress::{Observer, Part};

use super::super::{Bar, Failure, benchmark};
use super::answers::Answers;
use super::session::{Ready, plain};
use crate::cli::Adapt;

/// What is asked, from an anchors file or a fit.
pub(super) struct Prepared {
    pub(super) benchmark: String,
    pub(super) simulated: bool,
    pub(super) rule: Rule,
    pub(super) scenarios: Vec<Ready>,
    /// Ids of the items of all scenarios, those not asked for too.
    known: HashSet<String>,
    pub(super) texts: ItemTexts,
    notes: Vec<String>,
}

impl Prepared {
    /// Whether something was learned for every scenario.
    pub(super) fn calibrated(&self) -> bool {
        let mut each = self.scenarios.iter();
        each.all(|s| !s.adaptive.calibration.stages.is_empty())
    }

    /// What there is to know before the first question.
    pub(super) fn warnings(&self, answers: &Answers) -> Vec<String> {
        let mut notes = self.notes.clone();
        let without = |learned: bool| {
            let each = self.scenarios.iter().map(|s| (s, &s.adaptive.calibration));
            let names = each
                .filter(|(_, c)| c.stages.is_empty() && c.dispersion.is_empty() != learned)
                .map(|(s, _)| plain(&s.name));
            names.collect::<Vec<_>>().join(", ")
        };
        if !without(false).is_empty() {
            notes.push(
                "nothing was learned of adaptive tests: intervals are the model's own and too narrow; \
                 `tinyscope anchors DATA --adaptive --out FILE` learns, and so does `tinyscope adapt DATA`"
                    .into(),
            );
        }
        let few = without(true);
        if !few.is_empty() {
            notes.push(format!(
                "{few}: too few training models, or all alike, to learn how far off estimates are: intervals are the \
                 model's own and too narrow; 9 models that differ are the fewest"
            ));
        }
        let unknown = answers.iter().filter(|(id, _)| !self.known.contains(*id));
        match unknown.count() {
            0 => {}
            count => notes.push(format!(
                "{count} answers are of items that the benchmark lacks: kept, but not used"
            )),
        }
        notes
    }
}

pub(super) fn prepare(args: &Adapt) -> Result<Prepared, Failure> {
    let path = &args.data;
    let rule = args.rule.map(crate::cli::RuleArg::rule);
    let text = match read::demo_name(path) {
        None if path.is_file() => read::own_text(path, &args.reading.options(&args.more))?,
        _ => None,
    };
    match text {
        Some(text) => Ok(from_file(path, &text, args.model.scenarios(), rule)?),
        None => from_data(args, rule.unwrap_or_default()),
    }
}

fn from_file(
    path: &Path,
    text: &str,
    names: &[String],
    rule: Option<Rule>,
) -> tinyscope::Result<Prepared> {
    let file = AnchorsFile::parse(path, text)?;
    let all = || file.scenarios.iter().map(|s| s.name.as_str());
    if let Some(name) = names.iter().find(|n| !all().any(|s| s == n.as_str())) {
        let hint = match nearest(name, all()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("there are: {}", all().collect::<Vec<_>>().join(", ")),
        };
        return Err(Error::setting(
            format!("no scenario is named {name:?}"),
            hint,
        ));
    }
    let asked = file
        .scenarios
        .iter()
        .filter(|s| names.is_empty() || names.contains(&s.name));
    let scenarios: Vec<Ready> = asked
        .map(|s| {
            Ok(Ready {
                name: s.name.clone(),
                items: s.items.clone(),
                training: s.training_scores,
                adaptive: s.adaptive(rule)?,
            })
        })
        .collect::<tinyscope::Result<_>>()?;
    Ok(Prepared {
        benchmark: file.benchmark.clone(),
        simulated: file.simulated,
        rule: rule_of(&scenarios),
        known: file
            .scenarios
            .iter()
            .flat_map(|s| s.items.iter().cloned())
            .collect(),
        scenarios,
        texts: ItemTexts::default(),
        notes: Vec::new(),
    })
}

fn rule_of(scenarios: &[Ready]) -> Rule {
    scenarios
        .first()
        .map_or(Rule::default(), |s| s.adaptive.calibration.rule)
}

fn from_data(args: &Adapt, rule: Rule) -> Result<Prepared, Failure> {
    let reading = args.reading.options(&args.more);
    let benchmark = benchmark(&args.data, &reading, &Bar::new())?;
    let settings = args.model.settings(&benchmark)?;
    let split = split_or_all(&benchmark, args.model.split.as_ref(), settings.seed)?;
    let bar = Bar::new();
    let fitted = fit_benchmark(
        &benchmark,
        &split,
        &settings,
        &Part::new(&bar, "", 0.0, 0.3),
    )?;
    let rest = Part::new(&bar, "", 0.3, 1.0);
    let trained = train_for_tests(&benchmark, &fitted, rule, args.n, &rest)?;
    drop(bar);
    let ids = benchmark.matrix.items();
    let scenarios = fitted.scenarios.iter().zip(trained).map(|(s, adaptive)| {
        let scenario = &benchmark.scenarios[s.index];
        Ready {
            name: scenario.name.clone(),
            items: scenario.columns.iter().map(|&c| ids[c].clone()).collect(),
            training: training_scores(&benchmark, scenario, &s.train),
            adaptive,
        }
    });
    Ok(Prepared {
        benchmark: benchmark.name.clone(),
        simulated: benchmark.simulated,
        rule,
        scenarios: scenarios.collect(),
        known: ids.iter().cloned().collect(),
        texts: benchmark.texts.clone(),
        notes: [benchmark.warnings.clone(), fitted.warnings.clone()].concat(),
    })
}

/// What adaptive tests of up to `n` answers need beside the fit.
fn train_for_tests(
    benchmark: &Benchmark,
    fitted: &Fitted,
    rule: Rule,
    n: usize,
    observer: &dyn Observer,
) -> tinyscope::Result<Vec<Adaptive>> {
    let folds = Folds::fit(benchmark, fitted, &Part::new(observer, "", 0.0, 0.4))?;
    let rest = Part::new(observer, "", 0.4, 1.0);
    train_adaptive(benchmark, fitted, &folds, rule, n, LEVEL, &rest)
}
