//! Names of models that stand more than once in a source are kept apart, and said so; names of files and folders.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The name of a file or folder as text, different for different names: bytes that are not UTF-8 as `\xfe`.
pub(super) fn as_text(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// The own name of a file or folder, however the path leads to it.
pub(super) fn own_name(path: &Path) -> String {
    match path.file_name() {
        Some(name) => as_text(name),
        None => {
            let whole = path.canonicalize().unwrap_or_default();
            whole.file_name().map_or_else(String::new, as_text)
        }
    }
}

/// The own names of files or folders, numbered where those of different paths are equal.
pub(crate) fn own_names(paths: &[PathBuf]) -> Vec<String> {
    let mut by_name: HashMap<String, Vec<PathBuf>> = HashMap::new();
    let label = |path: &PathBuf| {
        let name = own_name(path);
        let same = by_name.entry(name.clone()).or_default();
        let at = same.iter().position(|p| p == path).unwrap_or_else(|| {
            same.push(path.clone());
            same.len() - 1
        });
        match at {
            0 => name,
            _ => format!("{name} #{}", at + 1),
        }
    };
    paths.iter().map(label).collect()
}

/// The names so far, and what was said about them.
#[derive(Debug, Default)]
pub(super) struct Names {
    seen: HashMap<String, usize>,
    pub(super) warnings: Vec<String>,
}

impl Names {
    /// The name a model gets: its own, or `NAME #2` where it stands again. `place` says where ("line 3").
    pub(super) fn unique(&mut self, name: &str, place: &str) -> String {
        let name = if name.is_empty() {
            self.warnings.push(format!("{place} has no model name"));
            "unnamed".to_owned()
        } else {
            name.to_owned()
        };
        let count = self.seen.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 {
            return name;
        }
        let mut number = *count;
        let mut kept = format!("{name} #{number}");
        while self.seen.contains_key(&kept) {
            number += 1;
            kept = format!("{name} #{number}");
        }
        self.warnings.push(format!(
            "model {name:?} stands again at {place}: kept apart as {kept:?}"
        ));
        self.seen.insert(kept.clone(), 1);
        kept
    }
}
