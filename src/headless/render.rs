//! `tinyscope render`: a screen of the explorer as an SVG picture.

use std::fs;
use std::sync::Arc;

use tinyscope::Error;

use super::{Bar, Failure, benchmark, threads};
use crate::cli::Render;
use crate::tui::{Options, picture};

pub(crate) fn run(args: Render) -> Result<(), Failure> {
    threads(args.experiment.model.threads)?;
    let Render {
        view,
        data,
        width,
        height,
        theme,
        out,
        experiment,
    } = args;
    let options = Options {
        source: data.data,
        read: benchmark,
        reading: data.reading.options(),
        configure: Arc::new(move |benchmark| experiment.settings(benchmark)),
        theme: Some(theme.name()),
        view: view.name(),
        demos: Vec::new(),
    };
    let bar = Bar::new();
    let svg = picture(&options, (width, height), &bar)?;
    drop(bar);
    Ok(fs::write(&out, svg).map_err(|e| Error::io(&out, "writing the picture", e))?)
}
