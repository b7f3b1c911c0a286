//! Arguments of the subcommands that plan: how many items, which models to trust, how many to train on.

use clap::{Args, ValueEnum};
use tinyscope::experiment::{Goal, Measure, Settings, SourceCount};

use super::experiment::{positive, seed_count};
use super::{Choice, Data, Estimation, LambdaArg, Model, Selections};
use tinyscope::data::Benchmark;

#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) data: Data,
    /// The error wanted, as a share of the score: 0.02 is two points of a hundred
    #[arg(long, value_name = "X", default_value = "0.02", value_parser = error)]
    error: f64,
    /// Which error of the held-out models: their mean absolute error, the largest, or the 90th percentile
    #[arg(long, default_value = "mae")]
    measure: MeasureArg,
    /// Number of seeds, from --seed on: each has its own split, fit and choice of items
    #[arg(long, default_value = "5", value_parser = seed_count)]
    pub(crate) seeds: usize,
    /// Most items a scenario to try; a scenario has no more than its own
    #[arg(long, value_name = "N", default_value = "500", value_parser = positive)]
    most: usize,
    #[command(flatten)]
    pub(crate) model: Model,
    #[command(flatten)]
    selection: Selections,
    #[command(flatten)]
    lambda: LambdaArg,
    #[command(flatten)]
    estimation: Estimation,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MeasureArg {
    Mae,
    Max,
    P90,
}

impl Plan {
    pub(crate) fn goal(&self) -> Goal {
        Goal {
            error: self.error,
            measure: match self.measure {
                MeasureArg::Mae => Measure::Mae,
                MeasureArg::Max => Measure::Max,
                MeasureArg::P90 => Measure::P90,
            },
            seeds: self.seeds,
            most: self.most,
        }
    }

    pub(crate) fn settings(&self, benchmark: &Benchmark) -> tinyscope::Result<Settings> {
        let mut settings = self.model.settings(benchmark)?;
        settings.selections = self.selection.kinds();
        settings.lambda = self.lambda.lambda;
        self.estimation.apply(&mut settings);
        Ok(settings)
    }
}

/// What `shift` and `sources` share.
#[derive(Debug, Args)]
pub(crate) struct Trials {
    /// Number of seeds, from --seed on
    #[arg(long, default_value = "5", value_parser = seed_count)]
    pub(crate) seeds: usize,
    #[command(flatten)]
    pub(crate) model: Model,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    lambda: LambdaArg,
    #[command(flatten)]
    estimation: Estimation,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Trials {
    pub(crate) fn settings(&self, benchmark: &Benchmark) -> tinyscope::Result<Settings> {
        let mut settings = self.model.settings(benchmark)?;
        self.choice.apply(&mut settings);
        settings.lambda = self.lambda.lambda;
        self.estimation.apply(&mut settings);
        Ok(settings)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Shift {
    #[command(flatten)]
    pub(crate) data: Data,
    #[command(flatten)]
    pub(crate) trials: Trials,
}

#[derive(Debug, Args)]
pub(crate) struct Sources {
    #[command(flatten)]
    pub(crate) data: Data,
    /// Numbers of training models to try; all: as many as the split leaves
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "10,20,40,80,all", value_parser = source_count)]
    pub(crate) models: Vec<SourceCount>,
    #[command(flatten)]
    pub(crate) trials: Trials,
}

fn error(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("not a number between 0 and 1".into()),
    }
}

fn source_count(text: &str) -> Result<SourceCount, String> {
    if text == "all" {
        return Ok(SourceCount::All);
    }
    match text.trim().parse() {
        Ok(n) if n >= 2 => Ok(SourceCount::Of(n)),
        _ => Err("neither all nor a whole number from 2".into()),
    }
}
