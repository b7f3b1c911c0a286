//! The tests of the program as its users meet it, in one binary: linking one for each takes longer than running them.
//! `cargo test --test all NAME` runs a part.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adapt;
mod beyond;
mod cache;
mod cases;
mod cli;
mod common;
mod demos;
mod fetch;
mod folders;
mod golden;
mod logs;
mod parameters;
mod pickle;
mod plan;
mod render;
mod simulate;
mod sources;
#[cfg(unix)]
mod terminal;
