//! `tinyscope fetch`: public data sets into the cache folder, and the list of them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tinyscope::fetch::{self, DataSet, Options, Presence, catalogue, size};
use tinyscope::{Error, folders};

use super::{Bar, Failure, warn};
use crate::cli::Fetch;

pub(crate) fn run(args: &Fetch, out: &mut dyn Write) -> Result<(), Failure> {
    let folder = folder(args)?;
    let Some(name) = args.name.as_deref().filter(|_| !args.list) else {
        return Ok(list(&folder, out)?);
    };
    let set = DataSet::named(name)?;
    let options = Options {
        folder,
        base: args.base_url.clone(),
        max_size: args.max_size,
        only: args.only.clone(),
        again: args.again,
        checksum: !args.no_checksum,
        timeout: args.timeout,
        retries: args.retries,
        pause: args.pause,
    };
    let bar = Bar::new();
    let fetched = fetch::fetch(set, &options, &bar)?;
    drop(bar);
    if !fetched.missing.is_empty() {
        let some: Vec<&str> = fetched.missing.iter().take(3).map(String::as_str).collect();
        let more = if fetched.missing.len() > some.len() {
            ", ..."
        } else {
            ""
        };
        warn(&[format!(
            "{} of the listing are not at the source: {}{more}",
            fetched.missing.len(),
            some.join(", ")
        )]);
    }
    let path = fetched.path.display();
    let files = match fetched.files {
        1 => String::new(),
        n => format!(", {n} files"),
    };
    let done = if fetched.new == 0 {
        "already there; --again fetches it anew"
    } else {
        "fetched"
    };
    writeln!(out, "{path}: {}{files}, {done}", size(fetched.bytes))?;
    writeln!(out, "next: tinyscope show {}", word(&fetched.path))?;
    Ok(())
}

/// Where data sets go.
fn folder(args: &Fetch) -> tinyscope::Result<PathBuf> {
    let named = args.to.clone().or_else(folders::cache);
    named.ok_or_else(|| {
        Error::setting(
            "no cache folder: the environment names no home",
            "name a folder with --to or TINYSCOPE_CACHE",
        )
    })
}

/// All data sets, and what of them is there.
fn list(folder: &Path, out: &mut dyn Write) -> io::Result<()> {
    for set in &catalogue::ALL {
        let state = match set.presence(folder) {
            Presence::Absent => "not there".into(),
            Presence::Part(bytes) => format!("{} of it are there to go on from", size(bytes)),
            Presence::Unfinished => "some of its files are there to go on with".into(),
            Presence::Whole(bytes) => format!("there, {}", size(bytes)),
        };
        writeln!(out, "{}: {}", set.name, set.what)?;
        for (label, value) in [
            ("size", set.size),
            ("page", set.page),
            ("source", &set.source()),
            ("licence", set.licence),
            (
                "goes to",
                &format!("{} ({state})", set.target(folder).display()),
            ),
        ] {
            writeln!(out, "  {label:<8} {value}")?;
        }
    }
    writeln!(
        out,
        "\nfetch one: tinyscope fetch {}",
        catalogue::ALL[0].name
    )
}

/// A path as a word of a shell's command.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:,@%\\".contains(c);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
