//! Arguments of `tinyscope cache`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(long_about = LONG)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

const LONG: &str = "\
What is kept in the cache of parsed benchmarks, fits and selections, and how to be rid of it.

What took long to read or compute is kept in the folder `computed` of TINYSCOPE_CACHE, else of tinyscope in the user's cache \
folder, by the digest of all that it depends on: it is never out of date. It takes at most 2 GB; what was not used for longest \
goes first. Results with and without it are the same to the last bit. --no-cache or TINYSCOPE_NO_CACHE=1 does without.";

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// What is kept, of which benchmark, its size and when it was last used
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove all of it; fetched data stay
    Clear,
}
