//! `tinyscope render`: a screen of the explorer as a picture, a table or a recording.

use std::io::Write;
use std::path::PathBuf;

use tinyscope::Error;
use tinyscope::data::write;

use super::{Bar, Failure, keep_input, screen_options, threads};
use crate::cli::{Render, picture_kind};
use crate::tui::{Picture, pictures};

pub(crate) fn run(args: Render) -> Result<(), Failure> {
    threads(args.experiment.model.threads)?;
    let Render {
        view,
        data,
        more,
        open,
        reading,
        screen,
        width,
        height,
        keys,
        slide,
        out,
        cast,
        experiment,
    } = args;
    let data = data.unwrap_or_default();
    let outputs = [
        out.map(|path| (picture_kind(&path).map(Picture::Last), path)),
        cast.map(|path| (Some(Picture::Recording), path)),
    ];
    if let [Some((_, picture)), Some((_, cast))] = &outputs
        && picture == cast
    {
        let what = format!("--out and --cast are both {}", cast.display());
        return Err(Error::setting(what, "name two files").into());
    }
    let (mut wanted, mut files): (Vec<Picture>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for (picture, path) in outputs.into_iter().flatten() {
        let mut inputs = vec![data.clone()];
        inputs.extend(more.more.iter().cloned());
        inputs.extend(open.iter().chain(&screen.me).cloned());
        keep_input(&inputs, Some(&path))?;
        if let Some(picture) = picture {
            wanted.push(picture);
            files.push(path);
        }
    }
    let reading = reading.options(&more);
    let options = screen_options((data, open), reading, experiment, screen, Some(view))?;
    let bar = Bar::new();
    let texts = pictures(&options, (width, height), (&keys.0, slide), &wanted, &bar)?;
    drop(bar);
    for (file, text) in files.iter().zip(texts) {
        write::atomically(file, text.as_bytes())?;
        // Nothing is left to do where standard error is closed.
        let _ = writeln!(std::io::stderr(), "written: {}", file.display());
    }
    Ok(())
}
