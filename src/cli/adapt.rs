//! Arguments of `tinyscope adapt`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tinyscope::anchors::Rule;

use super::{Model, More, Reading, positive};

#[derive(Debug, Args)]
#[command(after_long_help = HOW)]
pub(crate) struct Adapt {
    /// An anchors file (best of `tinyscope anchors DATA --adaptive --out FILE`), or DATA, which is fitted first: a manifest, a
    /// table of responses, a folder of logs, or demo:NAME; options of reading and of the fit count for DATA only
    #[arg(value_name = "ANCHORS|DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) more: More,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) model: Model,
    /// Stop after so many answers in a scenario
    #[arg(long, default_value = "100", value_parser = positive)]
    pub(crate) n: usize,
    /// Stop once the 90 % interval reaches no further than this to either side of the estimate, as 0.02
    #[arg(long, value_name = "H", value_parser = half_width)]
    pub(crate) half_width: Option<f64>,
    /// A shell command that is run for each item, with its id as $1 and in TINYSCOPE_ITEM, and prints its score [default: ask
    /// on standard input]
    #[arg(long, value_name = "CMD")]
    pub(crate) ask: Option<String>,
    /// The most seconds that the command may take for an item [default: no limit]
    #[arg(long, value_name = "SECONDS", requires = "ask", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Keep the answers in this file, JSON {item: score}, and go on with what it holds; written after every answer, by one
    /// test at a time
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// How the next item is chosen [default: the anchors file's, or score]
    #[arg(long)]
    pub(crate) rule: Option<RuleArg>,
    /// Print the result as JSON, and what is asked on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

const HOW: &str = "\
On standard input, a line is a score from 0 to 1, or s (this item cannot be asked), u (take the last answer back, that \
to the scenario before too) or q (stop). A command prints one of the first two; it is not waited for what it leaves running, and \
where it fails, or after Ctrl-C (exit code 130), the answers before are kept in --answers and the same line of tinyscope goes on.

Intervals hold for models like the training models, for as many answers as the anchors file was made for (its --n): beyond \
these, and where training models are fewer than 9, a warning says so.

  tinyscope anchors DATA --adaptive --out anchors.json
  tinyscope adapt anchors.json --scenario gsm8k --half-width 0.03 --answers mine.json
  tinyscope adapt anchors.json --ask './evaluate \"$1\"' --timeout 600 --answers mine.json --json";

/// Rules by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleArg {
    /// The item whose answer is expected to take most off the variance of the score
    Score,
    /// The item that tells most of the ability: the largest determinant of the Fisher information
    DOptimal,
}

impl RuleArg {
    pub(crate) fn rule(self) -> Rule {
        match self {
            Self::Score => Rule::Score,
            Self::DOptimal => Rule::DOptimal,
        }
    }
}

fn half_width(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("not a number between 0 and 1".into()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && x < 1e9 => Ok(Duration::from_secs_f64(x)),
        _ => Err("not a number of seconds above 0".into()),
    }
}
