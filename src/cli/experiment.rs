//! What decides an experiment: the fit, the choice of items, the estimators.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tinyscope::anchors::SelectionKind;
use tinyscope::data::{Benchmark, SplitKind};
use tinyscope::estimate::Seen;
use tinyscope::experiment::{Lambda, ResponseForm, Scope, Settings};
use tinyscope::export::read_parameters;
use tinyscope::irt::{AbilityMethod, Convention, DEFAULT_DIMS};

/// Everything that decides an experiment.
#[derive(Debug, Args)]
pub(crate) struct Experiment {
    #[command(flatten)]
    pub(crate) model: Model,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) lambda: LambdaArg,
    #[command(flatten)]
    pub(crate) estimation: Estimation,
}

/// What the fit depends on.
#[derive(Debug, Args)]
pub(crate) struct Model {
    /// Only this scenario (may be given again) [default: all]
    #[arg(long, value_name = "NAME")]
    scenario: Vec<String>,
    /// Training and test models: iid, date (the newest test), org (whole organisations test), top (the best quarter tests),
    /// or file:PATH with JSON lists of test model names, list k for seed k [default: iid, where a split is needed]
    #[arg(long, value_parser = split_kind)]
    pub(crate) split: Option<SplitKind>,
    /// Dimensions of the ability, chosen by validation: auto (2,5,10,15) or a list
    #[arg(long, value_name = "auto|LIST", default_value = "auto", value_parser = dims)]
    dims: Dims,
    /// One fit a scenario, or one fit and one ability for all
    #[arg(long, default_value = "scenario")]
    theta: ThetaArg,
    /// Use the item parameters of this file instead of a fit: a model file (fit --out), an anchors file, py-irt's
    /// best_parameters.json, or tinyBenchmarks.pkl; abilities of the training models are fitted at them
    #[arg(long, value_name = "FILE", conflicts_with = "dims")]
    pub(crate) parameters: Option<PathBuf>,
    /// What py-irt's file holds where it does not tell: a . theta - D b with one b an item (the tinyBenchmarks authors' fork)
    /// or the sum of a (theta - b) (upstream)
    #[arg(long)]
    pub(crate) convention: Option<ConventionArg>,
    /// How abilities are estimated
    #[arg(long, default_value = "posterior")]
    ability: AbilityArg,
    /// Fit scores as they are, or binarised as in the paper
    #[arg(long, default_value = "raw")]
    responses: ResponsesArg,
    /// Seed of the split, of random items and of k-means
    #[arg(long, default_value = "0")]
    seed: u64,
    /// Number of threads; the results do not depend on it [default: all cores]
    #[arg(long, value_parser = thread_count)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct Choice {
    /// Number of items a scenario
    #[arg(long, default_value = "100", value_parser = positive)]
    pub(crate) n: usize,
    #[command(flatten)]
    selection: Selections,
}

#[derive(Debug, Args)]
pub(crate) struct Selections {
    /// How items are chosen
    #[arg(long, default_value = "all")]
    select: SelectArg,
}

#[derive(Debug, Args)]
pub(crate) struct LambdaArg {
    /// Share of the naive estimate in gp-IRT: auto (the paper's) or a number in [0, 1]
    #[arg(long, value_name = "auto|X", default_value = "auto", value_parser = lambda)]
    pub(crate) lambda: Lambda,
}

#[derive(Debug, Args)]
pub(crate) struct Estimation {
    /// Seen part of p-IRT: anchor weights (the paper's experiments) or balance weights (the published package)
    #[arg(long, default_value = "anchor")]
    seen: SeenArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SelectArg {
    Random,
    AnchorsCorrectness,
    AnchorsIrt,
    All,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ThetaArg {
    Scenario,
    Joint,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum AbilityArg {
    Posterior,
    Ml,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ResponsesArg {
    Raw,
    Binary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConventionArg {
    Fork,
    Upstream,
}

impl ConventionArg {
    pub(crate) fn convention(self) -> Convention {
        match self {
            Self::Fork => Convention::RepeatedIntercept,
            Self::Upstream => Convention::Centred,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SeenArg {
    Anchor,
    Balance,
}

impl Selections {
    pub(crate) fn kinds(&self) -> Vec<SelectionKind> {
        match self.select {
            SelectArg::Random => vec![SelectionKind::Random],
            SelectArg::AnchorsCorrectness => vec![SelectionKind::AnchorsCorrectness],
            SelectArg::AnchorsIrt => vec![SelectionKind::AnchorsIrt],
            SelectArg::All => SelectionKind::ALL.to_vec(),
        }
    }
}

impl Choice {
    pub(crate) fn apply(&self, settings: &mut Settings) {
        settings.n = self.n;
        settings.selections = self.selection.kinds();
    }
}

impl Estimation {
    pub(crate) fn apply(&self, settings: &mut Settings) {
        settings.seen = match self.seen {
            SeenArg::Anchor => Seen::Anchor,
            SeenArg::Balance => Seen::Balance,
        };
    }
}

impl Model {
    /// Names of the scenarios asked for; none means all.
    pub(crate) fn scenarios(&self) -> &[String] {
        &self.scenario
    }

    /// Settings with what the fit depends on; the rest as by default.
    pub(crate) fn settings(&self, benchmark: &Benchmark) -> tinyscope::Result<Settings> {
        self.settings_in(benchmark, self.convention)
    }

    /// The same where `convention`, not the option, is that of the parameters.
    pub(crate) fn settings_in(
        &self,
        benchmark: &Benchmark,
        convention: Option<ConventionArg>,
    ) -> tinyscope::Result<Settings> {
        let convention = convention.map(ConventionArg::convention);
        let parameters = match &self.parameters {
            Some(path) => Some(Arc::new(read_parameters(path, convention)?)),
            None if convention.is_some() => {
                return Err(tinyscope::Error::setting(
                    "--convention says what a file of py-irt's holds, and none is named",
                    "name it with --parameters, or write one with `tinyscope fit --format py-irt`",
                ));
            }
            None => None,
        };
        Ok(Settings {
            scenarios: Settings::find_scenarios(benchmark, &self.scenario)?,
            split: self.split.clone().unwrap_or(SplitKind::Iid),
            dims: self.dims.0.clone(),
            scope: match self.theta {
                ThetaArg::Scenario => Scope::Scenario,
                ThetaArg::Joint => Scope::Joint,
            },
            parameters,
            ability: match self.ability {
                AbilityArg::Posterior => AbilityMethod::Posterior,
                AbilityArg::Ml => AbilityMethod::MaximumLikelihood,
            },
            responses: match self.responses {
                ResponsesArg::Raw => ResponseForm::Raw,
                ResponsesArg::Binary => ResponseForm::Binary,
            },
            seed: self.seed,
            ..Settings::default()
        })
    }
}

impl Experiment {
    /// All of an experiment's settings.
    pub(crate) fn settings(&self, benchmark: &Benchmark) -> tinyscope::Result<Settings> {
        let mut settings = self.model.settings(benchmark)?;
        self.choice.apply(&mut settings);
        self.estimation.apply(&mut settings);
        settings.lambda = self.lambda.lambda;
        Ok(settings)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Dims(pub(super) Vec<usize>);

/// More dimensions than any benchmark carries; a fit's time grows with the cube.
pub(super) const MOST_DIMS: usize = 50;

pub(super) fn dims(text: &str) -> Result<Dims, String> {
    if text == "auto" {
        return Ok(Dims(DEFAULT_DIMS.to_vec()));
    }
    text.split(',')
        .map(|d| match d.trim().parse() {
            Ok(d) if (1..=MOST_DIMS).contains(&d) => Ok(d),
            _ => Err(format!("{d:?} is not a whole number from 1 to {MOST_DIMS}")),
        })
        .collect::<Result<_, _>>()
        .map(Dims)
}

/// More threads than any machine this runs on has cores only cost time.
pub(super) fn thread_count(text: &str) -> Result<usize, String> {
    at_most(text, 1_024)
}

/// Each seed is a fit: more would not end.
pub(super) fn seed_count(text: &str) -> Result<usize, String> {
    at_most(text, 1_000)
}

/// A whole number from 1 to `most`.
pub(super) fn at_most(text: &str, most: usize) -> Result<usize, String> {
    match positive(text)? {
        n if n <= most => Ok(n),
        _ => Err(format!("above {most}")),
    }
}

pub(super) fn positive(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("not a whole number above 0".into()),
    }
}

fn lambda(text: &str) -> Result<Lambda, String> {
    if text == "auto" {
        return Ok(Lambda::Auto);
    }
    match text.parse() {
        Ok(x) if (0.0..=1.0).contains(&x) => Ok(Lambda::Fixed(x)),
        _ => Err("neither auto nor a number in [0, 1]".into()),
    }
}

pub(super) fn split_kind(text: &str) -> Result<SplitKind, String> {
    match text {
        "iid" => Ok(SplitKind::Iid),
        "date" => Ok(SplitKind::Date),
        "org" => Ok(SplitKind::Org),
        "top" => Ok(SplitKind::Top),
        _ => match text.strip_prefix("file:") {
            Some(path) if !path.is_empty() => Ok(SplitKind::File(path.into())),
            _ => Err("one of iid, date, org, top, file:PATH".into()),
        },
    }
}
