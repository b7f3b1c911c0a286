//! The command line. Wrong arguments end with exit code 2 (clap's), failures with 1.

mod adapt;
mod cache;
mod experiment;
mod fetch;
mod planning;
mod reading;
mod screen;
mod simulate;

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tinyscope::data::read::ReadOptions;

pub(crate) use adapt::{Adapt, RuleArg};
pub(crate) use cache::{CacheArgs, CacheCommand};
pub(crate) use experiment::{
    Choice, ConventionArg, Estimation, Experiment, LambdaArg, Model, Selections,
};
use experiment::{Dims, MOST_DIMS, at_most, dims, positive, seed_count, split_kind, thread_count};
pub(crate) use fetch::Fetch;
pub(crate) use planning::{Plan, Shift, Sources};
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
    /// Compute everything anew: read nothing from the cache of results and keep nothing in it (as TINYSCOPE_NO_CACHE=1 does)
    #[arg(long, global = true, help_heading = "The cache")]
    pub(crate) no_cache: bool,
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

Exit codes: 0 done, 1 failed, 2 wrong arguments, 130 interrupted by Ctrl-C.";

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
    /// How many items reach a wanted error, with every selection and estimator, and what that saves
    Plan(Plan),
    /// How far estimates hold for models that are newer, of other organisations, or stronger than those that train
    Shift(Shift),
    /// Error against the number of training models
    Sources(Sources),
    /// Estimate the score of a new model that answered only the anchors
    Score(Score),
    /// Two new models that answered the same anchors: their difference, and what these items can tell apart
    Compare(Compare),
    /// Ask a new model one item at a time, each time the one that tells most of its score, until it is known well enough
    Adapt(Box<Adapt>),
    /// Write whatever is read as the native pair: NAME.json with its matrix NAME.csv.gz
    Import(Import),
    /// Download a public data set into the cache folder, going on where it stopped; without a name, list them
    Fetch(Fetch),
    /// What is kept in the cache of parsed benchmarks, fits and selections, and how to be rid of it
    Cache(CacheArgs),
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
    /// Fit too, and list models that are right on hard items more often than models of like ability: what contamination
    /// looks like, among other things (benchmarks only)
    #[arg(long)]
    pub(crate) unexpected: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(flatten)]
    pub(crate) data: Data,
    /// The manifest to write, NAME.json; its matrix and item texts stand beside it
    #[arg(long, value_name = "NAME.json", value_parser = manifest_name())]
    pub(crate) out: PathBuf,
}

/// A path whose name is that of a manifest.
fn manifest_name() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        let name = path.file_name().and_then(|n| n.to_str());
        match name.and_then(|n| n.strip_suffix(".json")) {
            Some(stem) if !stem.is_empty() => Ok(path),
            _ => Err("not a name that ends in .json; name the manifest: NAME.json"),
        }
    })
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
    /// Keep the anchors of this older anchors file that the items still hold, and fill up to n with new ones
    #[arg(long, value_name = "OLD.json")]
    pub(crate) keep: Option<PathBuf>,
    /// Learn what `tinyscope adapt` needs for calibrated intervals, up to --n answers: five more fits, and the tests of the
    /// training models [rule where none is named: score]
    #[arg(long, value_name = "RULE", num_args = 0..=1, require_equals = true, default_missing_value = "score")]
    pub(crate) adaptive: Option<RuleArg>,
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
    #[arg(long, default_value = "5", value_parser = seed_count)]
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
pub(crate) struct Compare {
    /// An anchors file, as `tinyscope anchors --out` writes it
    pub(crate) anchors: PathBuf,
    /// The first model's scores, or those of both: JSON {item: score}, CSV lines item,score, or whatever DATA is elsewhere: a
    /// table, a folder or file of logs
    pub(crate) first: PathBuf,
    /// The second model's scores; without it --model names two models of FIRST
    #[arg(required_unless_present = "model")]
    pub(crate) second: Option<PathBuf>,
    /// Which model, where a file holds several; may be given twice: for FIRST and for SECOND, or both for FIRST where it is the
    /// only file. Given once it is for the file of the two that holds several models, FIRST before SECOND
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Vec<String>,
    #[command(flatten)]
    pub(crate) lambda: LambdaArg,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    /// An anchors file, as `tinyscope anchors --out` writes it, or the published tinyBenchmarks.pkl (its items are
    /// BENCHMARK/POSITION)
    pub(crate) anchors: PathBuf,
    /// The new model's scores: JSON {item: score}, CSV lines item,score, or whatever DATA is elsewhere: a table, a folder or
    /// file of logs
    pub(crate) responses: PathBuf,
    /// Which model, where there are several
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) lambda: LambdaArg,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
