//! The explorer, its pictures, and the settings files of both.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tinyscope::error::nearest;
use tinyscope::estimate::Seen;
use tinyscope::experiment::{ResponseForm, Settings};
use tinyscope::export::read_parameters;
use tinyscope::irt::{AbilityMethod, Convention, DEFAULT_DIMS};

use super::{Experiment, MOST_DIMS, More, Reading, at_most, split_kind};
use crate::tui::{Marker, SavedFit, Step, ThemeName, ViewName, What, parse_keys};

/// The explorer: what opens without a subcommand.
#[derive(Debug, Args)]
pub(crate) struct Explore {
    /// A manifest, a table of responses, a folder of logs, or demo:NAME [default: demo:helm-lite]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) more: More,
    /// Open a bundled demo
    #[arg(long, value_name = "NAME", conflicts_with = "data")]
    pub(crate) demo: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) experiment: Experiment,
    #[command(flatten)]
    pub(crate) screen: Screen,
    /// Open a settings file: the screen as it was written by the key w, f
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "demo"])]
    pub(crate) open: Option<PathBuf>,
}

/// What the explorer and its pictures have in common.
#[derive(Debug, Args)]
pub(crate) struct Screen {
    /// Styles of the screen [default: mono where NO_COLOR is set, else by the terminal's background; dark for pictures]
    #[arg(long)]
    pub(crate) theme: Option<ThemeName>,
    /// How plots are drawn [default: braille in terminals, octant in SVG pictures]
    #[arg(long)]
    pub(crate) marker: Option<Marker>,
    /// The answers of your own model to the chosen items: JSON {item: score}, CSV lines item,score, or a table of one model
    #[arg(long, value_name = "RESPONSES")]
    pub(crate) me: Option<PathBuf>,
    /// Number of seeds, from --seed on, that the curves of the trade-off are a mean and range of
    #[arg(long, default_value = "5", value_parser = seeds)]
    pub(crate) seeds: usize,
}

#[derive(Debug, Args)]
#[command(after_long_help = KEYS)]
pub(crate) struct Render {
    /// Which view
    pub(crate) view: ViewName,
    /// A manifest, a table of responses, a folder of logs, or demo:NAME
    #[arg(required_unless_present = "open")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) more: More,
    /// A settings file instead: the screen as it was written by the key w, f; VIEW is shown
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub(crate) open: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) screen: Screen,
    /// Columns of the screen, at most 1000
    #[arg(long, default_value = "120", value_parser = clap::value_parser!(u16).range(..=1000))]
    pub(crate) width: u16,
    /// Rows of the screen, at most 1000
    #[arg(long, default_value = "36", value_parser = clap::value_parser!(u16).range(..=1000))]
    pub(crate) height: u16,
    /// Press these keys first, as in "s + + p" (see below)
    #[arg(long, value_name = "KEYS", default_value = "", value_parser = script, allow_hyphen_values = true)]
    pub(crate) keys: Script,
    /// Show the view as a slide: large title, one plot, one sentence
    #[arg(long)]
    pub(crate) slide: bool,
    /// Write the last screen here; the ending says how: svg (picture), csv (the plots' data), md or tex (the table), txt
    #[arg(long, value_name = "FILE", required_unless_present = "cast", value_parser = picture_file)]
    pub(crate) out: Option<PathBuf>,
    /// Write the whole run here as an asciinema recording (v2), with made-up, repeatable times
    #[arg(long, value_name = "FILE")]
    pub(crate) cast: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) experiment: Experiment,
}

const KEYS: &str = "\
KEYS are separated by spaces: characters as they are, names (Tab, Enter, Esc, Space, Backspace, Left, Right, Up, Down, \
PgUp, PgDn, Home, End, F1, F5), S-Left with Shift, C-c with Control, 2s to wait (a replay runs meanwhile), and longer \
words letter by letter: \"n60 Enter\". The explorer's key ? lists what keys do.";

/// A script of keys.
#[derive(Debug, Clone)]
pub(crate) struct Script(pub(crate) Vec<Step>);

fn script(text: &str) -> Result<Script, String> {
    parse_keys(text).map(Script)
}

/// A file whose ending says what is written.
fn picture_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    picture_kind(&path)
        .map(|_| path)
        .ok_or_else(|| "the ending must be svg, csv, md, tex or txt".into())
}

/// What a file of that name holds.
pub(crate) fn picture_kind(path: &std::path::Path) -> Option<What> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    What::of_extension(&ending)
}

/// Seeds of a band: each costs a fit.
fn seeds(text: &str) -> Result<usize, String> {
    at_most(text, 100)
}

/// The settings that a settings file asks for; the scenarios, n and the rest are the screen's.
pub(crate) fn saved_settings(fit: &SavedFit) -> Result<Settings, String> {
    let convention = match fit.convention.as_deref() {
        None => None,
        Some("fork") => Some(Convention::RepeatedIntercept),
        Some("upstream") => Some(Convention::Centred),
        Some(other) => return Err(did_you_mean(other, &["fork", "upstream"])),
    };
    let parameters = fit
        .parameters
        .as_ref()
        .map(|path| read_parameters(path, convention))
        .transpose()
        .map_err(|e| e.to_string())?;
    Ok(Settings {
        parameters: parameters.map(Arc::new),
        split: split_kind(&fit.split)?,
        dims: match fit.dims.as_slice() {
            [] => DEFAULT_DIMS.to_vec(),
            dims if dims.iter().all(|d| (1..=MOST_DIMS).contains(d)) => dims.to_vec(),
            _ => return Err(format!("dims are whole numbers from 1 to {MOST_DIMS}")),
        },
        ability: match fit.ability.as_str() {
            "posterior" => AbilityMethod::Posterior,
            "ml" => AbilityMethod::MaximumLikelihood,
            other => return Err(did_you_mean(other, &["posterior", "ml"])),
        },
        seen: match fit.seen.as_str() {
            "anchor" => Seen::Anchor,
            "balance" => Seen::Balance,
            other => return Err(did_you_mean(other, &["anchor", "balance"])),
        },
        responses: match fit.responses.as_str() {
            "raw" => ResponseForm::Raw,
            "binary" => ResponseForm::Binary,
            other => return Err(did_you_mean(other, &["raw", "binary"])),
        },
        seed: fit.seed,
        ..Settings::default()
    })
}

fn did_you_mean(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("{name:?}: did you mean {near:?}?"),
        None => format!("{name:?} is none of {}", known.join(", ")),
    }
}
