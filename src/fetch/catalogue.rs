//! The public data sets that can be fetched: what they are, where they lie, what is known of them.
//!
//! Sizes and checksums are those that several independent users of the files have published; a file without a known one is
//! checked by its length and its form alone.

use std::path::{Path, PathBuf};

use super::folder::Record;
use super::part;
use super::sniff::Kind;
use crate::error::{Error, Result, nearest};

/// Where raw files of public repositories are served.
const GITHUB: &str = "https://raw.githubusercontent.com";
/// Where HELM's public bucket is served.
const GOOGLE: &str = "https://storage.googleapis.com";

/// A data set with a name to ask for it by.
#[derive(Debug)]
pub struct DataSet {
    /// The name to ask for it by; a set of many files goes to a folder of this name.
    pub name: &'static str,
    /// What it is, in a line.
    pub what: &'static str,
    /// How much it is, as far as known.
    pub size: &'static str,
    /// The licence, as far as known.
    pub licence: &'static str,
    /// The page that describes it.
    pub page: &'static str,
    /// The address that all its paths lie below; a mirror takes its place.
    pub base: &'static str,
    pub(super) form: Form,
}

/// How a data set is laid out at its source.
#[derive(Debug)]
pub(super) enum Form {
    /// One file.
    File(OneFile),
    /// A listing that names many files.
    Folder(Layout),
}

/// A file and all that is known of it.
#[derive(Debug)]
pub(super) struct OneFile {
    pub(super) path: &'static str,
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) bytes: u64,
    pub(super) sha256: &'static str,
}

/// The layouts of data sets of many files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// The leaderboard names the models, each has one file of annotations.
    AlpacaEval,
    /// A release maps runs to suites, each run has its per-instance statistics.
    HelmLite,
}

/// Every data set, in the order in which they are listed.
pub static ALL: [DataSet; 4] = [
    DataSet {
        name: "lb-pickle",
        what: "Open LLM Leaderboard: 395 models x 28,659 items in six scenarios (the tutorials' lb.pickle)",
        size: "one file, 90.6 MB",
        licence: "MIT (of the repository)",
        page: "https://github.com/felipemaiapolo/tinyBenchmarks",
        base: GITHUB,
        form: Form::File(OneFile {
            path: "felipemaiapolo/tinyBenchmarks/main/tutorials/data/lb.pickle",
            name: "lb.pickle",
            kind: Kind::Pickle,
            bytes: 90_593_109,
            sha256: "34f44d6a819512ef74d00a95288d252fa679288a10ca167cd97fdbc3aae66437",
        }),
    },
    DataSet {
        name: "tinybenchmarks",
        what: "the published package's 100 items, weights and IRT parameters of four benchmarks (tinyBenchmarks.pkl)",
        size: "one file, 5.2 MB",
        licence: "MIT (of the repository)",
        page: "https://github.com/felipemaiapolo/tinyBenchmarks",
        base: GITHUB,
        form: Form::File(OneFile {
            path: "felipemaiapolo/tinyBenchmarks/main/tinyBenchmarks/tinyBenchmarks.pkl",
            name: "tinyBenchmarks.pkl",
            kind: Kind::Pickle,
            bytes: 5_230_626,
            sha256: "c3b6e426dfe7b100fe6d0ee960398e10a8763254bcead3be80cc6bc15abca284",
        }),
    },
    DataSet {
        name: "alpacaeval",
        what: "AlpacaEval 2: annotations of 805 instructions for every model of the leaderboard (weighted_alpaca_eval_gpt4_turbo)",
        size: "a leaderboard and one file a model, size unknown before; --only takes some",
        licence: "CC BY-NC 4.0 (the data card's)",
        page: "https://github.com/tatsu-lab/alpaca_eval",
        base: GITHUB,
        form: Form::Folder(Layout::AlpacaEval),
    },
    DataSet {
        name: "helm-lite",
        what: "HELM Lite v1.13.0: per-instance statistics of every run, and the items' texts",
        size: "a listing and one file a run (some 2,500), size unknown before; --only takes some, as --only gsm:",
        licence: "not stated for the results; HELM itself is Apache-2.0",
        page: "https://crfm.stanford.edu/helm/lite/latest/",
        base: GOOGLE,
        form: Form::Folder(Layout::HelmLite),
    },
];

impl DataSet {
    /// The data set of a name.
    ///
    /// # Errors
    /// A name that is none, with the nearest one.
    pub fn named(name: &str) -> Result<&'static DataSet> {
        ALL.iter().find(|set| set.name == name).ok_or_else(|| {
            let names = || ALL.iter().map(|set| set.name).collect::<Vec<_>>();
            let hint = match nearest(name, names()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there are: {}", names().join(", ")),
            };
            Error::setting(format!("{name}: no data set of this name"), hint)
        })
    }

    /// The file or folder that it becomes in `folder`.
    pub fn target(&self, folder: &Path) -> PathBuf {
        folder.join(match &self.form {
            Form::File(file) => file.name,
            Form::Folder(_) => self.name,
        })
    }

    /// Where it is fetched from: a file, or the listing of many.
    pub fn source(&self) -> String {
        let path = match &self.form {
            Form::File(file) => file.path,
            Form::Folder(layout) => layout.listing().path,
        };
        format!("{}/{path}", self.base)
    }

    /// What of it is in `folder`.
    pub fn presence(&self, folder: &Path) -> Presence {
        let target = self.target(folder);
        match &self.form {
            Form::File(_) => match std::fs::metadata(&target) {
                Ok(there) if there.is_file() => Presence::Whole(there.len()),
                _ => part::length(&target).map_or(Presence::Absent, Presence::Part),
            },
            Form::Folder(_) => match Record::read(&target) {
                Some(record) if record.complete => Presence::Whole(record.bytes()),
                Some(_) => Presence::Unfinished,
                None => Presence::Absent,
            },
        }
    }
}

/// What of a data set is in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Nothing.
    Absent,
    /// So many bytes of a file, to go on from.
    Part(u64),
    /// Some files of many, to go on with.
    Unfinished,
    /// All, so many bytes.
    Whole(u64),
}
