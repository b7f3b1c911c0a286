//! The program's cache of results, and `tinyscope cache`.

use std::env;
use std::io::Write;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tinyscope::Error;
use tinyscope::cache::{Cache, Entry};
use tinyscope::data::count;
use tinyscope::fetch::size;

use super::Failure;
use super::table::Table;
use crate::cli::{CacheArgs, CacheCommand};

/// Set once by the program's start, never where the screen or the subcommands run in a test's process.
static CACHE: OnceLock<Cache> = OnceLock::new();

/// Uses the user's cache from here on, unless `--no-cache` or TINYSCOPE_NO_CACHE says not to.
pub(super) fn open(off: bool) {
    let off = off || env::var_os("TINYSCOPE_NO_CACHE").is_some_and(|v| !v.is_empty() && v != "0");
    if let Some(cache) = Cache::of_user().filter(|_| !off) {
        // Nothing else sets it.
        let _ = CACHE.set(cache);
    }
}

/// Where results are kept, if anywhere.
pub(super) fn opened() -> Option<&'static Cache> {
    CACHE.get()
}

pub(super) fn run(args: &CacheArgs, out: &mut dyn Write) -> Result<(), Failure> {
    // It is looked at and cleared whether it is in use or not.
    let cache = Cache::of_user().ok_or_else(|| {
        Error::setting(
            "no cache folder: the environment names no home",
            "name a folder with TINYSCOPE_CACHE",
        )
    })?;
    match args.command {
        CacheCommand::List { json } => list(&cache, json, out),
        CacheCommand::Clear => {
            let cleared = cache.clear()?;
            let removed = count(cleared.entries, "result");
            let folder = cache.folder().display();
            writeln!(out, "{folder}: {removed} removed, {}", size(cleared.bytes))?;
            Ok(())
        }
    }
}

fn list(cache: &Cache, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let entries = cache.entries();
    let bytes: u64 = entries.iter().map(|e| e.bytes).sum();
    let folder = cache.folder().display().to_string();
    if json {
        let entries: Vec<_> = entries
            .iter()
            .map(|e| {
                let used = e.used.duration_since(SystemTime::UNIX_EPOCH);
                json!({
                    "key": e.key,
                    "what": e.what,
                    "benchmark": e.of,
                    "bytes": e.bytes,
                    "last_used_unix": used.map_or(0, |d| d.as_secs()),
                })
            })
            .collect();
        let all = json!({ "folder": folder, "bytes": bytes, "entries": entries });
        return super::json(out, &all);
    }
    if !entries.is_empty() {
        let mut table = Table::new(2, &["what", "benchmark", "size", "last used"]);
        for entry in &entries {
            table.row(row(entry));
        }
        writeln!(out, "{}", table.text())?;
    }
    writeln!(
        out,
        "{folder}: {}, {}",
        count(entries.len(), "result"),
        size(bytes)
    )?;
    Ok(())
}

fn row(entry: &Entry) -> Vec<String> {
    let what = entry.what.clone();
    vec![
        what.unwrap_or_else(|| "damaged, or of another version".into()),
        entry.of.clone(),
        size(entry.bytes),
        entry.used.elapsed().map_or_else(|_| "now".into(), ago),
    ]
}

/// A time that has passed, in its largest unit.
fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    let (n, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{} ago", count(n as usize, unit))
}
