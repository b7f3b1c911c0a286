//! The command line. Wrong arguments end with exit code 2 (clap's), failures with 1.

mod fetch;
mod reading;
mod screen;
mod simulate;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tinyscope::anchors::SelectionKind;
use tinyscope::data::read::ReadOptions;
use tinyscope::data::{Benchmark, SplitKind};
use tinyscope::estimate::Seen;
use tinyscope::experiment::{Lambda, ResponseForm, Scope, Settings};
use tinyscope::export::read_parameters;
use tinyscope::irt::{AbilityMethod, Convention, DEFAULT_DIMS};

pub(crate) use fetch::Fetch;
pub(crate) use reading::{More, Reading};
pub(crate) use screen::{Explore, Render, Screen, picture_kind, saved_settings};
pub(crate) use simulate::Simulate;

/// Evaluate language models with few examples (tinyBenchmarks, arXiv 2402.14992).
#[derive(Debug, Parser)]
#[command(version, about, long_about = LONG, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) explore: Explore,
}

const LONG: &str = "\
Evaluate language models with few examples.

tinyscope fits an item response model to the responses of models that were already evaluated, chooses about 100 anchor \
items, and estimates a new model's benchmark score from its answers on these alone. The method is tinyBenchmarks \
(Maia Polo et al. 2024, arXiv 2402.14992).

DATA is a manifest NAME.json with its matrix NAME.csv.gz, a bare CSV or CSV.gz of responses (a row a model, a column an \
item, scores in [0, 1]; items as rows with --transpose; or long form with the columns model, item and score), py-irt's \
JSON lines, a folder of lm-evaluation-harness sample logs (DIR/model/samples_TASK_TIME.jsonl), of HELM runs or of AlpacaEval \
annotations, the tutorials' lb.pickle, or demo:NAME for a bundled, simulated demo. Several of them are joined: models and \
items by name.

Exit codes: 0 done, 1 failed, 2 wrong arguments.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Scenarios, models, true scores and diagnostics; for an anchors or model file or a published pickle, what it holds
    Show(Show),
    /// Item parameters, abilities, evidence and the validation table (all models unless --split is given)
    Fit(Fit),
    /// Choose items and write them with all that scoring a new model needs (all models unless --split is given)
    Anchors(Anchors),
    /// Estimated against true scores of held-out models
    Estimate(Estimate),
    /// Error against the number of items, over seeds
    Sweep(Sweep),
    /// Estimate the score of a new model that answered only the anchors
    Score(Score),
    /// Write whatever is read as the native pair: NAME.json with its matrix NAME.csv.gz
    Import(Import),
    /// Download a public data set into the cache folder, going on where it stopped; without a name, list them
    Fetch(Fetch),
    /// Draw a benchmark from a made-up population, or from one fitted to data
    Simulate(Simulate),
    /// The explorer's screen as an SVG picture, without a terminal
    Render(Box<Render>),
    /// A completion script for a shell, on standard output
    Completions(Completions),
    /// The manual pages, on standard output
    Man,
}

#[derive(Debug, Args)]
pub(crate) struct Data {
    /// A manifest, a table of responses, a folder of logs, or demo:NAME
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) more: More,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl Data {
    /// How the data are read, further sources included.
    pub(crate) fn options(&self) -> ReadOptions {
        self.reading.options(&self.more)
    }

    /// Everything that is read.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let mut sources = vec![self.data.clone()];
        sources.extend(self.more.more.iter().cloned());
        sources
    }
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) data: Data,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(flatten)]
    pub(crate) data: Data,
    /// The manifest to write, NAME.json; its matrix and item texts stand beside it
    #[arg(long, value_name = "NAME.json")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Fit {
    #[command(flatten)]
    pub(crate) data: Data,
    #[command(flatten)]
    pub(crate) model: Model,
    /// Write the model file here (.gz compresses)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How: all of the fit, or the item parameters and abilities of one fit as py-irt's best_parameters.json, in the
    /// convention that --convention names [default of it: fork]
    #[arg(long, default_value = "native", requires = "out")]
    pub(crate) format: FitFormat,
}

/// Forms of a written fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FitFormat {
    /// The model file: JSON with posteriors, priors, validation and evidence
    Native,
    /// py-irt's JSON
    PyIrt,
}

#[derive(Debug, Args)]
pub(crate) struct Anchors {
    #[command(flatten)]
    pub(crate) data: Data,
    #[command(flatten)]
    pub(crate) model: Model,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) estimation: Estimation,
    /// Write the anchors here (.gz compresses)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How: all that scoring needs, a table, or the JSON that lm-evaluation-harness's --samples takes
    #[arg(long, default_value = "native", requires = "out")]
    pub(crate) format: AnchorsFormat,
}

/// Forms of written anchors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnchorsFormat {
    /// JSON with all that `score` needs
    Native,
    /// scenario,selection,item,weight,cluster_size
    Csv,
    /// {task: [document indices]}
    LmEval,
}

#[derive(Debug, Args)]
pub(crate) struct Estimate {
    #[command(flatten)]
    pub(crate) data: Data,
    #[command(flatten)]
    pub(crate) experiment: Experiment,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) data: Data,
    #[command(flatten)]
    pub(crate) model: Model,
    /// Numbers of items a scenario
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "10,30,60,100", value_parser = positive)]
    pub(crate) n: Vec<usize>,
    /// Number of seeds, from --seed on
    #[arg(long, default_value = "5", value_parser = positive)]
    pub(crate) seeds: usize,
    #[command(flatten)]
    pub(crate) selection: Selections,
    #[command(flatten)]
    pub(crate) lambda: LambdaArg,
    #[command(flatten)]
    pub(crate) estimation: Estimation,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    /// An anchors file, as `tinyscope anchors --out` writes it, or the published tinyBenchmarks.pkl (its items are
    /// BENCHMARK/POSITION)
    pub(crate) anchors: PathBuf,
    /// The new model's scores: JSON {item: score}, CSV lines item,score, or a table of one model
    pub(crate) responses: PathBuf,
    #[command(flatten)]
    pub(crate) lambda: LambdaArg,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

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
    /// Training and test models: iid, date, org, or file:PATH with JSON lists of test model names, list k for seed k
    /// [default: iid, where a split is needed]
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
struct Dims(Vec<usize>);

/// More dimensions than any benchmark carries; a fit's time grows with the cube.
const MOST_DIMS: usize = 50;

fn dims(text: &str) -> Result<Dims, String> {
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
fn thread_count(text: &str) -> Result<usize, String> {
    at_most(text, 1_024)
}

/// A whole number from 1 to `most`.
fn at_most(text: &str, most: usize) -> Result<usize, String> {
    match positive(text)? {
        n if n <= most => Ok(n),
        _ => Err(format!("above {most}")),
    }
}

fn positive(text: &str) -> Result<usize, String> {
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

fn split_kind(text: &str) -> Result<SplitKind, String> {
    match text {
        "iid" => Ok(SplitKind::Iid),
        "date" => Ok(SplitKind::Date),
        "org" => Ok(SplitKind::Org),
        _ => match text.strip_prefix("file:") {
            Some(path) if !path.is_empty() => Ok(SplitKind::File(path.into())),
            _ => Err("one of iid, date, org, file:PATH".into()),
        },
    }
}
