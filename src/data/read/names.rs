//! Names of models that stand more than once in a source are kept apart, and said so.

use std::collections::HashMap;

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
