//! `tinyscope completions` and `tinyscope man`: written by the program from its own command line.

use std::io::Write;

use clap::CommandFactory;

use super::Failure;
use crate::cli::{Cli, Completions};

/// A completion script for a shell.
pub(crate) fn completions(args: &Completions, out: &mut dyn Write) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tinyscope", &mut script);
    Ok(out.write_all(&script)?)
}

/// The manual page, then one of every subcommand.
pub(crate) fn man(out: &mut dyn Write) -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut *out)?;
    for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
        let name = format!("tinyscope-{}", sub.get_name());
        clap_mangen::Man::new(sub.clone().name(name)).render(&mut *out)?;
    }
    Ok(())
}
