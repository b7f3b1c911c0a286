//! A model that is not in the matrix, by its answers.

use std::collections::HashMap;
use std::sync::Arc;

use super::fitted::Fitted;
use super::settings::Settings;
use super::together::Together;
use crate::anchors::Selection;
use crate::data::{Benchmark, weighted_mean};
use crate::estimate::{Estimates, Stacker};
use crate::irt::Ability;

/// What a model's answers tell of it on one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswersEstimate {
    /// Index of the scenario in the benchmark.
    pub scenario: usize,
    /// Estimates of its score over all items, those chosen but not answered left out; `None` when no chosen item was
    /// answered.
    pub estimates: Option<Estimates>,
    /// The same if every chosen item that was not answered counted 0, and if it counted 1; `None` where all were answered
    /// that the ability rests on, or none of the scenario's. Estimates rise with nearly every answer, so that
    /// intervals that hold both hold whatever is missing.
    pub bounds: Option<[Estimates; 2]>,
    /// The ability they rest on: of the chosen items answered in this scenario, in joint scope in all.
    pub ability: Ability,
    /// Chosen items answered.
    pub answered: usize,
    /// Chosen items.
    pub chosen: usize,
    /// The true score in \[0, 1\], only where every item of the scenario was answered.
    pub truth: Option<f64>,
}

/// Estimates of a model from its answers: scores in \[0, 1\] by item id, on which only those of chosen items tell (and all
/// of a scenario's, where there, its true score). One selection a scenario, both in the order of `fitted.scenarios`, and so
/// are the estimates. A NaN is no answer; ids that the benchmark lacks are passed over.
///
/// `stackers` are what was learned for the same selections, in the same order: they add the learned estimates. An empty list
/// adds none.
///
/// The same numbers as scoring with an anchors file gives, and as the test models have that answered every item.
pub fn estimate_answers(
    benchmark: &Benchmark,
    fitted: &Fitted,
    selections: &[Selection],
    answers: &HashMap<String, f64>,
    stackers: &[Option<Arc<Stacker>>],
    settings: &Settings,
) -> Vec<AnswersEstimate> {
    let ids = benchmark.matrix.items();
    let of = |&column: &usize| answers.get(&ids[column]).copied().unwrap_or(f64::NAN);
    let mut out = Vec::with_capacity(fitted.scenarios.len());
    for together in Together::of(fitted, selections) {
        let scores: Vec<Vec<f64>> = together
            .scenarios
            .iter()
            .map(|s| {
                benchmark.scenarios[s.index]
                    .columns
                    .iter()
                    .map(of)
                    .collect()
            })
            .collect();
        let theta = together.ability(&scores, settings);
        let bounds = [0.0, 1.0].map(|value| {
            let filled = filled(&scores, together.selections, value)?;
            let theta = together.ability(&filled, settings);
            Some((filled, theta))
        });
        let each = together.scenarios.iter().zip(together.selections);
        for (s, ((scenario, selection), y)) in each.zip(&scores).enumerate() {
            let anchors = &selection.anchors;
            let stacker = stackers.get(out.len()).and_then(Option::as_deref);
            let of = |y: &[f64], theta: &Ability| {
                let counts = counted_without_truth(y, selection);
                let counted = |i: usize| counts[i];
                let mut found = together.estimates(s, y, counted, theta, settings)?;
                if let Some(stacker) = stacker {
                    let components = together.components(s, y, counted, theta, settings);
                    found.learned = components.map(|c| stacker.learned(&c));
                }
                Some(found)
            };
            let estimates = of(y, &theta);
            let [low, high] = bounds.each_ref().map(|filled| {
                let (scores, theta) = filled.as_ref()?;
                of(&scores[s], theta)
            });
            out.push(AnswersEstimate {
                scenario: scenario.index,
                bounds: low
                    .zip(high)
                    .filter(|_| estimates.is_some())
                    .map(|(low, high)| [low, high]),
                estimates,
                ability: theta.clone(),
                answered: anchors.iter().filter(|a| !y[a.item].is_nan()).count(),
                chosen: selection.n(),
                truth: (y.iter().all(|y| !y.is_nan()))
                    .then(|| weighted_mean(&scenario.balance, y))
                    .flatten(),
            });
        }
    }
    out
}

/// The scores with `value` for every chosen item that has none; `None` where all have one.
fn filled(scores: &[Vec<f64>], selections: &[Selection], value: f64) -> Option<Vec<Vec<f64>>> {
    let mut filled = scores.to_vec();
    let mut missing = false;
    for (y, selection) in filled.iter_mut().zip(selections) {
        for a in &selection.anchors {
            if y[a.item].is_nan() {
                y[a.item] = value;
                missing = true;
            }
        }
    }
    missing.then_some(filled)
}

/// Which items make up the score of a model whose other answers are unknown: all, without the chosen ones that it did not
/// answer.
pub(super) fn counted_without_truth(y: &[f64], selection: &Selection) -> Vec<bool> {
    let mut counts = vec![true; y.len()];
    for a in &selection.anchors {
        counts[a.item] = !y[a.item].is_nan();
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anchors::SelectionKind;
    use crate::estimate::Estimator;
    use crate::experiment::cases::{few, fitted};
    use crate::experiment::{Folds, ResponseForm, Scope, estimate_selection, learn, select};
    use crate::export::AnchorsFile;
    use crate::irt::AbilityMethod;
    use crate::progress::Silent;

    fn all_settings() -> impl Iterator<Item = Settings> {
        [Scope::Scenario, Scope::Joint]
            .into_iter()
            .flat_map(|scope| {
                [
                    (AbilityMethod::Posterior, ResponseForm::Raw),
                    (AbilityMethod::MaximumLikelihood, ResponseForm::Binary),
                ]
                .map(|(ability, responses)| Settings {
                    n: 15,
                    scope,
                    ability,
                    responses,
                    ..few()
                })
            })
    }

    #[test]
    fn a_model_of_the_matrix_has_the_same_estimates_by_its_answers() {
        for settings in all_settings() {
            let (b, f) = fitted(&settings);
            for kind in SelectionKind::ALL {
                let choose = |s| select(&b, s, kind, settings.n, 0, &Silent).unwrap();
                let selections: Vec<Selection> = f.scenarios.iter().map(choose).collect();
                let found = estimate_selection(&b, &f, &selections, &settings);
                let file = AnchorsFile::of(&b, &f, std::slice::from_ref(&selections), &settings);
                let complete = |l: usize| {
                    found.iter().all(|s| {
                        b.scores(l, &b.scenarios[s.scenario].columns)
                            .iter()
                            .all(|y| !y.is_nan())
                    })
                };
                let mut models = f
                    .split
                    .test
                    .iter()
                    .copied()
                    .filter(|&l| complete(l))
                    .peekable();
                assert!(models.peek().is_some());
                for model in models {
                    let mut answers = HashMap::new();
                    for (s, selection) in f.scenarios.iter().zip(&selections) {
                        let columns = &b.scenarios[s.index].columns;
                        for a in &selection.anchors {
                            let column = columns[a.item];
                            answers.insert(
                                b.matrix.items()[column].clone(),
                                b.scores(model, &[column])[0],
                            );
                        }
                    }
                    let ours = estimate_answers(&b, &f, &selections, &answers, &[], &settings);
                    let scored = file
                        .score(&answers, crate::experiment::Lambda::Fixed(0.3))
                        .unwrap();
                    for ((ours, theirs), scored) in ours.iter().zip(&found).zip(&scored.scenarios) {
                        let m = theirs.models.iter().find(|m| m.model == model).unwrap();
                        let e = ours.estimates.unwrap();
                        assert_eq!(
                            (ours.scenario, ours.answered, ours.chosen),
                            (theirs.scenario, 15, 15)
                        );
                        assert_eq!(ours.truth, None);
                        assert!((e.naive - m.estimates.naive).abs() < 1e-12);
                        assert!((e.p_irt - m.estimates.p_irt).abs() < 1e-12);
                        assert_eq!(ours.ability, m.ability);
                        for &(_, estimator, x) in &scored.estimates {
                            assert!((e.get(estimator, 0.3).unwrap() - x).abs() < 1e-12);
                        }
                    }
                    // All its answers: a truth, the same estimates.
                    let all: HashMap<String, f64> = b
                        .matrix
                        .items()
                        .iter()
                        .cloned()
                        .zip(b.scores(model, &(0..b.matrix.n_items()).collect::<Vec<_>>()))
                        .collect();
                    for (with, without) in
                        estimate_answers(&b, &f, &selections, &all, &[], &settings)
                            .iter()
                            .zip(&ours)
                    {
                        assert_eq!(with.truth, b.true_score(model, &b.scenarios[with.scenario]));
                        assert_eq!(with.estimates, without.estimates);
                    }
                }
            }
        }
    }

    /// What is learned of a model by its answers is what is learned of it as a test model.
    #[test]
    fn learned_estimates_are_those_of_a_test_model() {
        let settings = Settings { n: 15, ..few() };
        let (b, f) = fitted(&settings);
        let folds = Folds::fit(&b, &f, &Silent).unwrap();
        let choose = |s| select(&b, s, SelectionKind::AnchorsIrt, settings.n, 0, &Silent).unwrap();
        let selections: Vec<Selection> = f.scenarios.iter().map(choose).collect();
        let mut found = estimate_selection(&b, &f, &selections, &settings);
        learn(&b, &f, &folds, &mut found, None, &settings, &Silent).unwrap();
        let stackers: Vec<_> = found.iter().map(|s| s.stacker.clone()).collect();
        let mut compared = 0;
        for &model in &f.split.test {
            let row = b.matrix.row(model);
            if row.iter().any(|y| y.is_nan()) {
                continue;
            }
            let answers = b.matrix.items().iter().cloned().zip(row).collect();
            let ours = estimate_answers(&b, &f, &selections, &answers, &stackers, &settings);
            for (ours, theirs) in ours.iter().zip(&found) {
                let m = theirs.models.iter().find(|m| m.model == model).unwrap();
                assert!(m.estimates.learned.is_some());
                assert_eq!(ours.estimates, Some(m.estimates));
                compared += 1;
            }
        }
        assert!(compared > 0);
    }

    #[test]
    fn what_was_not_answered_drops_out_as_in_an_anchors_file() {
        for settings in all_settings() {
            let (b, f) = fitted(&settings);
            let kind = SelectionKind::AnchorsIrt;
            let choose = |s| select(&b, s, kind, settings.n, 0, &Silent).unwrap();
            let selections: Vec<Selection> = f.scenarios.iter().map(choose).collect();
            let file = AnchorsFile::of(&b, &f, std::slice::from_ref(&selections), &settings);
            let mut answers: HashMap<String, f64> = selections[0].anchors[3..]
                .iter()
                .map(|a| {
                    (
                        b.matrix.items()[a.item].clone(),
                        f64::from(u8::from(a.item % 3 == 0)),
                    )
                })
                .collect();
            answers.insert("unknown".into(), 1.0);
            answers.insert(
                b.matrix.items()[selections[0].anchors[0].item].clone(),
                f64::NAN,
            );
            let ours = estimate_answers(&b, &f, &selections, &answers, &[], &settings);
            assert_eq!((ours[0].answered, ours[0].chosen), (12, 15));
            assert_eq!((ours[1].answered, ours[1].estimates), (0, None));
            let [low, high] = ours[0].bounds.unwrap();
            for (value, bound) in [(0.0, low), (1.0, high)] {
                let mut filled = answers.clone();
                let chosen = b.scenarios.iter().zip(&selections);
                let columns =
                    chosen.flat_map(|(s, of)| of.anchors.iter().map(|a| s.columns[a.item]));
                for column in columns {
                    let answer = filled.entry(b.matrix.items()[column].clone());
                    let answer = answer.or_insert(value);
                    *answer = if answer.is_nan() { value } else { *answer };
                }
                let whole = estimate_answers(&b, &f, &selections, &filled, &[], &settings);
                assert_eq!((whole[0].estimates, whole[0].bounds), (Some(bound), None));
            }
            assert!(ours[1].bounds.is_none());
            assert!(low.naive < ours[0].estimates.unwrap().naive);
            let scored = file
                .score(&answers, crate::experiment::Lambda::Auto)
                .unwrap();
            let p_irt = scored.scenarios[0]
                .estimates
                .iter()
                .find(|e| e.1 == Estimator::PIrt)
                .unwrap()
                .2;
            assert!((ours[0].estimates.unwrap().p_irt - p_irt).abs() < 1e-12);
        }
    }
}
