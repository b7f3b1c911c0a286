//! Which filter and metric count, where logs have several: they are never merged.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use super::{Key, Run, Task, task};
use crate::data::read::Reading;
use crate::error::{Error, Result, nearest};

/// What counts in a scenario.
pub(super) struct Choice {
    pub(super) filter: String,
    pub(super) metric: String,
}

impl Choice {
    /// True for scores of this filter and metric.
    pub(super) fn is(&self, (filter, metric): &(String, String)) -> bool {
        *filter == self.filter && *metric == self.metric
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.metric)?;
        if self.filter != "none" {
            write!(f, " of filter {}", self.filter)?;
        }
        Ok(())
    }
}

/// Chooses by scenario: what the user names; else what most logs have, of equals what leaderboards report. Says so where
/// there was something to choose.
///
/// # Errors
/// A filter or metric that no log has.
pub(super) fn choose(
    origin: &Path,
    tasks: &BTreeMap<Key, Task>,
    reading: &Reading<'_>,
    warnings: &mut Vec<String>,
) -> Result<BTreeMap<String, Choice>> {
    let all = || tasks.values().flat_map(|t| &t.runs).flat_map(|r| &r.names);
    for (wanted, what, there) in [
        (
            &reading.filter,
            "filter",
            all().map(|n| n.0.as_str()).collect::<BTreeSet<_>>(),
        ),
        (
            &reading.metric,
            "metric",
            all().map(|n| n.1.as_str()).collect(),
        ),
    ] {
        if let Some(wanted) = wanted.as_deref().filter(|w| !there.contains(w)) {
            let near = nearest(wanted, there.iter().copied());
            let near = near.map_or(String::new(), |n| format!("did you mean {n:?}? "));
            let there: Vec<&str> = there.into_iter().collect();
            return Err(Error::input(
                origin,
                format!("no log has the {what} {wanted:?}"),
                format!("{near}the logs have {}", there.join(", ")),
            ));
        }
    }
    let mut scenarios: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for ((scenario, ..), task) in tasks {
        scenarios.entry(scenario).or_default().extend(&task.runs);
    }
    let mut choices = BTreeMap::new();
    for (scenario, runs) in scenarios {
        let mut pick = |what: &str,
                        of: &dyn Fn(&Run) -> BTreeMap<String, usize>,
                        wanted: &Option<String>,
                        ranks: &[&str]| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for run in &runs {
                for (name, n) in of(run) {
                    *counts.entry(name).or_default() += n;
                }
            }
            let found = wanted.as_ref().filter(|w| counts.contains_key(*w)).cloned();
            let rank = |name: &str| ranks.iter().position(|r| *r == name).unwrap_or(ranks.len());
            let best = counts
                .iter()
                .min_by_key(|(name, n)| (std::cmp::Reverse(**n), rank(name)))
                .map(|(name, _)| name.clone())
                .unwrap_or_default();
            let chosen = found.unwrap_or(best);
            let others: Vec<String> = counts
                .into_keys()
                .filter(|name| *name != chosen)
                .map(|name| format!("{name:?}"))
                .collect();
            match wanted {
                Some(wanted) if *wanted != chosen => warnings.push(format!(
                    "{scenario} has no {what} {wanted:?}: {chosen:?} counts"
                )),
                _ if others.is_empty() => {}
                _ => warnings.push(format!(
                    "{scenario}: the {what} {chosen:?} counts, left out: {} (--{what} chooses)",
                    others.join(", ")
                )),
            }
            chosen
        };
        let filters = |run: &Run| run.names.iter().map(|(f, _)| (f.clone(), 1)).collect();
        let filter = pick("filter", &filters, &reading.filter, task::FILTERS);
        // Values outside [0, 1] are scores only where the user says so.
        let metrics = |run: &Run| {
            let names = run.names.iter().zip(&run.outside);
            names
                .filter(|((f, _), _)| *f == filter)
                .map(|((_, m), outside)| (m.clone(), usize::from(outside.is_none())))
                .collect()
        };
        let metric = pick("metric", &metrics, &reading.metric, task::metrics(scenario));
        choices.insert(scenario.to_owned(), Choice { filter, metric });
    }
    Ok(choices)
}

/// What a score is: one name where it is the same everywhere.
pub(super) fn summary(choices: &BTreeMap<String, Choice>) -> String {
    let different: BTreeSet<String> = choices.values().map(Choice::to_string).collect();
    match different.len() {
        0 | 1 => different.into_iter().next().unwrap_or_default(),
        _ => {
            let each: Vec<String> = choices.iter().map(|(s, c)| format!("{s}: {c}")).collect();
            each.join("; ")
        }
    }
}
