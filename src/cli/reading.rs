//! What the user says about files that their content does not tell.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

use tinyscope::data::read::{DEEPEST, DEPTH, Limits, Names, ReadOptions, Runs};

/// Sources beside the first.
#[derive(Debug, Default, Args)]
pub(crate) struct More {
    /// Further sources, joined to the first: models and items by name
    #[arg(value_name = "MORE")]
    pub(crate) more: Vec<PathBuf>,
    /// Which names of models, scenarios and items are the same in two sources
    #[arg(long, default_value = "exact")]
    names: NamesArg,
}

#[derive(Debug, Default, Clone, Copy, ValueEnum)]
enum NamesArg {
    /// Equal ones
    #[default]
    Exact,
    /// Those that differ in case, spaces, signs or `/` against `__` only
    Loose,
}

#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// Scores are percentages, 0 to 100
    #[arg(long)]
    pub(crate) percent: bool,
    /// Tables have items as rows and models as columns
    #[arg(long)]
    pub(crate) transpose: bool,
    /// What stands between the cells of tables: one character, or tab [default: found in the first line]
    #[arg(long, value_name = "C", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// The answer filter of logs that hold several, as strict-match [default: named in the diagnostics]
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
    /// The metric of logs that hold several, as acc_norm [default: named in the diagnostics]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// What counts where a model was run several times
    #[arg(long, default_value = "newest")]
    runs: RunsArg,
    /// Deepest nesting of JSON, in what is read of it
    #[arg(long, value_name = "N", default_value_t = DEPTH, value_parser = depth, help_heading = LIMITS)]
    max_depth: usize,
    /// Longest name of a model or item, in bytes
    #[arg(long, value_name = "N", default_value = "4096", value_parser = super::positive, help_heading = LIMITS)]
    max_name: usize,
    /// Most bytes that a byte of a gzip file may unpack to, beyond the first 64 MiB (of DATA and answers, not of parameters)
    #[arg(long, value_name = "N", default_value = "300", value_parser = super::positive, help_heading = LIMITS)]
    max_ratio: usize,
    /// Most cells of a response matrix, models times items
    #[arg(long, value_name = "N", default_value = "500000000", value_parser = super::positive, help_heading = LIMITS)]
    max_cells: usize,
}

const LIMITS: &str = "Limits of what is read";

fn depth(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (DEPTH..=DEEPEST).contains(&n) => Ok(n),
        _ => Err(format!("not a whole number from {DEPTH} to {DEEPEST}")),
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RunsArg {
    Newest,
    Separate,
}

impl Reading {
    pub(crate) fn options(&self, more: &More) -> ReadOptions {
        ReadOptions {
            percent: self.percent,
            transpose: self.transpose,
            delimiter: self.delimiter,
            filter: self.filter.clone(),
            metric: self.metric.clone(),
            runs: match self.runs {
                RunsArg::Newest => Runs::Newest,
                RunsArg::Separate => Runs::Separate,
            },
            also: more.more.clone(),
            names: match more.names {
                NamesArg::Exact => Names::Exact,
                NamesArg::Loose => Names::Loose,
            },
            limits: Limits {
                depth: self.max_depth,
                name: self.max_name,
                ratio: self.max_ratio as u64,
                cells: self.max_cells,
            },
        }
    }
}

/// One ASCII character that can stand between cells, or the word tab.
fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [c] if c.is_ascii() && !c.is_ascii_alphanumeric() && !b"\"\r\n.-+".contains(c) => Ok(*c),
        _ => Err(
            "one ASCII character that is no letter, digit, quote, dot or sign, or the word tab"
                .into(),
        ),
    }
}
