//! `tinyscope render`: a screen of the explorer as an SVG picture.

use std::sync::Arc;

use tinyscope::data::write;

use super::{Bar, Failure, benchmark, keep_input, threads};
use crate::cli::Render;
use crate::tui::{Options, picture};

pub(crate) fn run(args: Render) -> Result<(), Failure> {
    threads(args.experiment.model.threads)?;
    keep_input(&args.data.data, Some(&args.out))?;
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
    Ok(write::atomically(&out, svg.as_bytes())?)
}
