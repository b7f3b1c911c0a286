//! Arguments of `tinyscope simulate`.

use std::path::PathBuf;

use clap::Args;

use super::{Dims, Reading, at_most, dims, thread_count};

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// Fit the population to these benchmarks; the first gives families and spread of ability
    #[arg(long, value_name = "DATA", value_delimiter = ',')]
    pub(crate) like: Vec<PathBuf>,
    /// Scenarios, sub-scenarios and numbers of items and models from this manifest or list of sizes [default: those of
    /// --like]
    #[arg(long, value_name = "MANIFEST")]
    pub(crate) sizes: Option<PathBuf>,
    /// Number of models [default: that of --sizes or --like, else 100]
    #[arg(long, value_name = "L", value_parser = models)]
    pub(crate) models: Option<usize>,
    /// Number of items of a single scenario [default: 1000]
    #[arg(long, value_name = "N", value_parser = items, conflicts_with_all = ["like", "sizes"])]
    pub(crate) items: Option<usize>,
    /// Dimensions of the ability: one number, or with --like a list to validate over [default: 2, with --like 2,5]
    #[arg(long, value_name = "LIST", value_parser = dims)]
    dims: Option<Dims>,
    /// Floor of guessing: .25 for four options, 0 for free answers [default: that of --sizes, else 0]
    #[arg(long, value_name = "G", value_parser = share)]
    pub(crate) guess: Option<f64>,
    /// Highest share of slips of models that know the answer [default: that of --sizes, else 0]
    #[arg(long, value_name = "E", value_parser = share)]
    pub(crate) slip: Option<f64>,
    /// Every model on its own, without relatives
    #[arg(long, conflicts_with = "like")]
    pub(crate) no_families: bool,
    /// Standard deviation, on the logit, of the effects of model and sub-scenario [default: 0.2]
    #[arg(long, value_name = "SD", conflicts_with = "like")]
    pub(crate) effects: Option<f64>,
    /// Seed of every draw
    #[arg(long, default_value = "0")]
    pub(crate) seed: u64,
    /// Write NAME.json and NAME.csv.gz into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// NAME of the files [default: that of --sizes or --like, else simulated]
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Number of threads; the results do not depend on it [default: all cores]
    #[arg(long, value_parser = thread_count)]
    pub(crate) threads: Option<usize>,
}

/// Models and items are bounded so that a slip of the hand does not fill the memory.
fn models(text: &str) -> Result<usize, String> {
    at_most(text, 100_000)
}

fn items(text: &str) -> Result<usize, String> {
    at_most(text, 1_000_000)
}

impl Simulate {
    /// Dimensions, where they are named.
    pub(crate) fn dims(&self) -> Option<&[usize]> {
        self.dims.as_ref().map(|d| d.0.as_slice())
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..1.0).contains(&x) => Ok(x),
        _ => Err("not a number from 0 to below 1".into()),
    }
}
