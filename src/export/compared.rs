//! Two new models that answered the same chosen items.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::anchors_file::AnchorsFile;
use super::score::Found;
use crate::anchors::SelectionKind;
use crate::estimate::{Estimates, Estimator};
use crate::experiment::{Comparison, Lack, Lacking, Lambda};

/// One line of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Index of the scenario in the file; `None` for the mean over all.
    pub scenario: Option<usize>,
    /// How the items were chosen.
    pub selection: SelectionKind,
    /// The estimator.
    pub estimator: Estimator,
    /// Of both models.
    pub estimates: [f64; 2],
    /// The first against the second; `None` where too little is known of errors.
    pub comparison: Option<Comparison>,
}

impl Compared {
    /// Which one is better; equal where these items do not tell them apart, `None` where nothing can be said.
    pub fn better(&self) -> Option<Ordering> {
        self.comparison.map(|c| match () {
            () if c.low > 0.0 => Ordering::Greater,
            () if c.high < 0.0 => Ordering::Less,
            () => Ordering::Equal,
        })
    }
}

/// A comparison with what it cannot say.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparisons {
    /// By selection, scenario and estimator.
    pub rows: Vec<Compared>,
    /// What there are no intervals of, in words.
    pub lacking: Vec<String>,
}

/// The answer: the row that it rests on, and those of other selections that come to another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict<'a> {
    /// The stacked estimate of the mean score (or of the only scenario that both answered) on the paper's anchors, where
    /// they were chosen; else on the first selection.
    pub row: &'a Compared,
    /// The same on other selections, where they say otherwise.
    pub otherwise: Vec<&'a Compared>,
}

impl Comparisons {
    /// `None` where no interval of it is known.
    pub fn verdict(&self) -> Option<Verdict<'_>> {
        let known = |c: &&Compared| c.estimator == Estimator::Stacked && c.comparison.is_some();
        let mut rows: Vec<&Compared> = self.rows.iter().filter(known).collect();
        if rows.iter().any(|c| c.scenario.is_none()) {
            rows.retain(|c| c.scenario.is_none());
        }
        let first = *rows.first()?;
        if rows.iter().any(|c| c.scenario != first.scenario) {
            return None;
        }
        let paper = |c: &&&Compared| c.selection == SelectionKind::AnchorsIrt;
        let row = rows.iter().find(paper).copied().unwrap_or(first);
        rows.retain(|c| c.better() != row.better());
        Some(Verdict {
            row,
            otherwise: rows,
        })
    }
}

impl AnchorsFile {
    /// Two models that answered the same items, by selection and estimator: on each scenario, and on the mean over scenarios
    /// where every scenario has an estimate. No row where the file does not hold how large errors are.
    ///
    /// Where one lacks answers to chosen items, an interval holds those with all of them wrong and all right, each model's
    /// on its own.
    pub fn compare(
        &self,
        a: &HashMap<String, f64>,
        b: &HashMap<String, f64>,
        lambda: Lambda,
    ) -> Comparisons {
        let mut rows = Vec::new();
        let mut lacks: Vec<Lacking<'_>> = Vec::new();
        let all: Vec<usize> = (0..self.scenarios.len()).collect();
        let mut groups: Vec<(Option<usize>, Vec<usize>)> =
            all.iter().map(|&s| (Some(s), vec![s])).collect();
        groups.push((None, all));
        for kind in self.kinds() {
            let before = lacks.len();
            let both = [a, b].map(|responses| self.found(kind, responses));
            for (scenario, group) in &groups {
                for estimator in Estimator::ALL {
                    let mean =
                        |of: &[Option<Estimates>]| self.mean(group, of, kind, estimator, lambda);
                    let [Some(first), Some(second)] = both.each_ref().map(|f| mean(&f.seen)) else {
                        continue;
                    };
                    let Some(errors) = self.errors(group, kind, estimator, lambda) else {
                        continue;
                    };
                    let comparison = errors.and_then(|errors| {
                        let whole = errors.compare(first, second)?;
                        if both.iter().all(|f| f.bounds.is_none()) {
                            return Ok(whole);
                        }
                        let [first, second] = both
                            .each_ref()
                            .map(|f| ends(f).into_iter().filter_map(mean));
                        let second: Vec<(f64, f64)> = second.collect();
                        let mut pairs = first.flat_map(|a| second.iter().map(move |b| (a, *b)));
                        let middle = whole.difference.clamp(-1.0, 1.0);
                        let point = Comparison {
                            low: middle,
                            high: middle,
                            resolvable: 0.0,
                            ..whole
                        };
                        pairs.try_fold(point, |so_far, (a, b)| {
                            let end = errors.compare(a, b)?;
                            Ok::<Comparison, Lack>(so_far.hull(end))
                        })
                    });
                    if let Err(lack) = comparison
                        && (scenario.is_some() || lacks[before..].iter().all(|l| l.1 != estimator))
                    {
                        lacks.push((self.place(group), estimator, lack));
                    }
                    rows.push(Compared {
                        scenario: *scenario,
                        selection: kind,
                        estimator,
                        estimates: [first.0, second.0],
                        comparison: comparison.ok(),
                    });
                }
            }
        }
        Comparisons {
            rows,
            lacking: Lack::words(&lacks),
        }
    }
}

/// What the answers may come to: as they are, or with all that is missing wrong and all right.
fn ends(found: &Found) -> Vec<&[Option<Estimates>]> {
    match &found.bounds {
        None => vec![&found.seen],
        Some([low, high]) => vec![low, high],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(scenario: Option<usize>, selection: SelectionKind, difference: f64) -> Compared {
        Compared {
            scenario,
            selection,
            estimator: Estimator::Stacked,
            estimates: [0.5, 0.5 - difference],
            comparison: Some(Comparison {
                difference,
                low: difference - 0.1,
                high: difference + 0.1,
                resolvable: 0.1,
                better: 0.5,
            }),
        }
    }

    #[test]
    fn the_verdict_is_the_papers_selections_and_names_those_that_differ() {
        let [random, correctness, irt] = SelectionKind::ALL;
        let of = |rows: &[Compared]| {
            let all = Comparisons {
                rows: rows.to_vec(),
                lacking: Vec::new(),
            };
            all.verdict().map(|v| {
                let others = v.otherwise.iter().map(|c| c.selection);
                (v.row.selection, v.row.scenario, others.collect::<Vec<_>>())
            })
        };
        let mean = [
            row(Some(0), irt, -0.3),
            row(None, random, 0.05),
            row(None, correctness, 0.3),
            row(None, irt, 0.2),
        ];
        assert_eq!(of(&mean), Some((irt, None, vec![random])));
        assert_eq!(
            of(&mean[1..3]),
            Some((random, None, vec![correctness])),
            "the first where the paper's was not chosen"
        );
        // Without a mean the only scenario that both answered; of several there is none.
        assert_eq!(of(&mean[..1]), Some((irt, Some(0), vec![])));
        assert_eq!(of(&[row(Some(0), irt, 0.2), row(Some(1), irt, 0.2)]), None);
        let mut unknown = row(None, irt, 0.2);
        unknown.comparison = None;
        assert_eq!(of(&[unknown]), None);
    }
}
