//! Invented names and release dates.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::{Date, date};
use rand::RngExt;

use super::family::Tree;
use crate::data::{ItemText, SubScenario};
use crate::random::{Stream, rng};

/// Models without relatives that one organisation may have.
const LONERS: usize = 4;
/// First release, and days to the last.
const FIRST: Date = date(2022, 9, 1);
const DAYS: f64 = 730.0;
/// How much of the order of release is the order of scores; the rest is chance.
const PROGRESS: f64 = 0.65;

/// `org-07/sim-012`: a family is an organisation, models without relatives share some; one name a model, in order.
pub(super) fn models(forest: &[Tree]) -> Vec<String> {
    let total: usize = forest.iter().map(Tree::len).sum();
    let digits = total.to_string().len().max(3);
    let (mut names, mut orgs, mut loners) = (Vec::new(), 0, Vec::new());
    for tree in forest {
        let org = if tree.len() > 1 {
            orgs += 1;
            orgs
        } else {
            if loners.len() % LONERS == 0 {
                orgs += 1;
                loners.push(orgs);
            } else {
                loners.push(loners[loners.len() - 1]);
            }
            loners[loners.len() - 1]
        };
        for _ in 0..tree.len() {
            let number = names.len() + 1;
            names.push(format!("org-{org:02}/sim-{number:0digits$}"));
        }
    }
    names
}

/// Release dates: better models tend to be newer.
pub(super) fn released(names: &[String], scores: &[f64], seed: u64) -> BTreeMap<String, Date> {
    let mut random = rng(seed, Stream::Simulate(1));
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&i, &j| scores[i].total_cmp(&scores[j]).then(i.cmp(&j)));
    let mut out = BTreeMap::new();
    for (rank, &l) in order.iter().enumerate() {
        let at = rank as f64 / scores.len() as f64;
        let t = PROGRESS * at + (1.0 - PROGRESS) * random.random::<f64>();
        let day = FIRST.saturating_add(((t * DAYS) as i64).days());
        out.insert(names[l].clone(), day);
    }
    out
}

/// Ids of a scenario's items: `scenario/sub/0000`, without the sub-scenario where there is only one.
pub(super) fn items(scenario: &str, subscenarios: &[SubScenario]) -> Vec<String> {
    subscenarios
        .iter()
        .flat_map(|sub| {
            (0..sub.items.len()).map(move |k| {
                if subscenarios.len() == 1 {
                    format!("{scenario}/{k:04}")
                } else {
                    format!("{scenario}/{}/{k:04}", sub.name)
                }
            })
        })
        .collect()
}

/// What stands in place of an item's text.
pub(crate) fn placeholder(id: &str) -> ItemText {
    ItemText {
        text: format!("Simulated item {id}: there is no question behind it."),
        options: Vec::new(),
        answer: None,
        category: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_organisations_and_dates_follow_scores() {
        let forest = [
            Tree::Branch {
                share: 0.5,
                children: vec![Tree::Leaf(3), Tree::Leaf(1)],
            },
            Tree::Leaf(0),
            Tree::Leaf(2),
        ];
        let names = models(&forest);
        assert_eq!(
            names,
            [
                "org-01/sim-001",
                "org-01/sim-002",
                "org-02/sim-003",
                "org-02/sim-004"
            ]
        );
        let scores: Vec<f64> = (0..200).map(f64::from).collect();
        let names: Vec<String> = (0..200).map(|k| format!("m{k:03}")).collect();
        let dates = released(&names, &scores, 0);
        assert_eq!(dates.len(), 200);
        assert!(dates["m199"] > dates["m000"]);
    }
}
