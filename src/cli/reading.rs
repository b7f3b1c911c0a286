//! What the user says about files that their content does not tell.

use clap::{Args, ValueEnum};
use tinyscope::data::read::{ReadOptions, Runs};

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
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RunsArg {
    Newest,
    Separate,
}

impl Reading {
    pub(crate) fn options(&self) -> ReadOptions {
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
