//! The user's own folders: the program's variable first, then XDG's, then the platform's place.

use std::env;
use std::path::PathBuf;

/// Where small things that last are kept (recent files): `TINYSCOPE_STATE` names it. `None` where the environment names no
/// home.
pub fn state() -> Option<PathBuf> {
    named("TINYSCOPE_STATE")
        .or_else(|| own("XDG_STATE_HOME", ""))
        .or_else(|| named("HOME").map(|p| p.join(".local/state/tinyscope")))
        .or_else(|| own("LOCALAPPDATA", ""))
}

/// Where fetched data are kept: `TINYSCOPE_CACHE` names it. `None` where the environment names no home.
pub fn cache() -> Option<PathBuf> {
    let place = if cfg!(target_os = "macos") {
        "Library/Caches/tinyscope"
    } else {
        ".cache/tinyscope"
    };
    named("TINYSCOPE_CACHE")
        .or_else(|| own("XDG_CACHE_HOME", ""))
        .or_else(|| named("HOME").map(|p| p.join(place)))
        .or_else(|| own("LOCALAPPDATA", "cache"))
}

/// The path in a variable that is set and not empty.
fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .filter(|v| !v.is_empty())
        .map(PathBuf::from)
}

/// `tinyscope/below` in the folder that a variable names.
fn own(variable: &str, below: &str) -> Option<PathBuf> {
    let own = named(variable)?.join("tinyscope");
    Some(if below.is_empty() {
        own
    } else {
        own.join(below)
    })
}
