//! The list of recently opened files: one path a line in the user's state folder.

use std::fs;
use std::path::PathBuf;

use tinyscope::folders;

use super::state::Source;

/// How many are kept.
const KEPT: usize = 8;

/// The file, unless the environment names no home.
fn file() -> Option<PathBuf> {
    Some(folders::state()?.join("recent"))
}

/// Recently opened files that still exist, the newest first.
pub(crate) fn list() -> Vec<Source> {
    let text = file()
        .and_then(|file| fs::read_to_string(file).ok())
        .unwrap_or_default();
    text.lines()
        .map(PathBuf::from)
        .filter(|path| path.exists())
        .take(KEPT)
        .map(Source)
        .collect()
}

/// Puts a file first in the list. Demos are always listed, and a folder that cannot be written is no
/// reason to disturb anyone.
pub(crate) fn remember(source: &Source) {
    let Some(file) = file().filter(|_| source.demo_name().is_none()) else {
        return;
    };
    let path = fs::canonicalize(&source.0).unwrap_or_else(|_| source.0.clone());
    let mut lines = vec![path.display().to_string()];
    for other in list() {
        let label = other.label();
        if !lines.contains(&label) {
            lines.push(label);
        }
    }
    lines.truncate(KEPT);
    if let Some(folder) = file.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let _ = fs::write(file, lines.join("\n") + "\n");
}
