//! tinyscope: a terminal explorer and command line for evaluating language models with few examples.

mod cli;
mod headless;
mod tui;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    headless::main(cli::Cli::parse())
}
