//! Which names are the same in two sources.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::data::list;
use crate::data::read::Names;
use crate::error::plain;

/// Names, and what each leads to.
#[derive(Default)]
pub(super) struct Known {
    loose: bool,
    exact: HashMap<String, usize>,
    alike: HashMap<String, Vec<usize>>,
}

impl Known {
    pub(super) fn new(names: Names) -> Self {
        Self {
            loose: names == Names::Loose,
            ..Self::default()
        }
    }

    /// What each name of one source leads to. Equal names first. With [`Names::Loose`] a name without an equal one leads to
    /// the only one that is alike, unless another name of the source does too: two names of a source are two things.
    pub(super) fn places<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<Option<usize>> {
        let names: Vec<&str> = names.collect();
        let mut places: Vec<Option<usize>> =
            names.iter().map(|n| self.exact.get(*n).copied()).collect();
        if !self.loose {
            return places;
        }
        let taken: HashSet<usize> = places.iter().flatten().copied().collect();
        let mut open: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            if places[at].is_none()
                && let Some(key) = key(name)
            {
                open.entry(key).or_default().push(at);
            }
        }
        for (key, at) in open {
            if let (Some([place]), [at]) = (self.alike.get(&key).map(Vec::as_slice), &at[..])
                && !taken.contains(place)
            {
                places[*at] = Some(*place);
            }
        }
        places
    }

    /// What an equal name leads to.
    pub(super) fn exactly(&self, name: &str) -> Option<usize> {
        self.exact.get(name).copied()
    }

    /// Adds a name, or another spelling of one.
    pub(super) fn set(&mut self, name: &str, at: usize) {
        self.exact.entry(name.to_owned()).or_insert(at);
        if self.loose
            && let Some(key) = key(name)
        {
            let alike = self.alike.entry(key).or_default();
            if !alike.contains(&at) {
                alike.push(at);
            }
        }
    }
}

/// What names that differ in case, spaces and signs only share; none without a letter or digit. `+` and `#` tell names apart
/// (C, C++ and C#).
pub(super) fn key(name: &str) -> Option<String> {
    let mut key = plain(name);
    if key.is_empty() {
        return None;
    }
    key.extend(name.chars().filter(|c| matches!(c, '+' | '#')));
    Some(key)
}

/// Names that are alike and not equal, of different sources; each comes with its source.
pub(super) fn near_misses<'a>(
    what: &str,
    names: impl Iterator<Item = (&'a str, usize)>,
    loose: bool,
) -> Option<String> {
    let mut alike: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for (name, source) in names {
        if let Some(key) = key(name) {
            let group = alike.entry(key).or_default();
            if group.iter().all(|(other, _)| *other != name) {
                group.push((name, source));
            }
        }
    }
    let groups: Vec<String> = alike
        .into_values()
        .filter(|names| names.iter().any(|(_, source)| *source != names[0].1))
        .map(|names| {
            let names: Vec<String> = names.iter().map(|(n, _)| format!("{n:?}")).collect();
            names.join(" and ")
        })
        .collect();
    let remedy = if loose {
        "(one source has several of them)"
    } else {
        "(--names loose joins them)"
    };
    (!groups.is_empty()).then(|| {
        format!(
            "{what} that differ in case, spaces or signs only are kept apart: {} {remedy}",
            list(groups.iter().map(String::as_str))
        )
    })
}
