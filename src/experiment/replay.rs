//! One model's chosen items answered one by one.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::answers::counted_without_truth;
use super::fitted::Fitted;
use super::settings::Settings;
use super::together::Together;
use crate::anchors::Selection;
use crate::data::Benchmark;
use crate::error::{Error, Result};
use crate::estimate::paper_lambda;
use crate::progress::{Observer, Progress};
use crate::random::{Stream, rng};

/// What is known of a model after one more answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The item answered, a position in the scenario.
    pub item: usize,
    /// Its score.
    pub score: f64,
    /// Naive estimate from the answers so far, their weights renormalised.
    pub naive: f64,
    /// p-IRT estimate from the answers so far.
    pub p_irt: f64,
    /// The paper's lambda at this share of the selection, rounded up to whole items: at so many items where all were
    /// answered, and at the last step always the selection's own.
    pub lambda: f64,
    /// Mean of the ability on the first axis (general ability: the axis along which items discriminate most).
    pub theta: f64,
    /// Its posterior standard deviation; 0 for maximum likelihood.
    pub theta_sd: f64,
}

/// A model's way from its first answer on a scenario to the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Index of the scenario in the benchmark.
    pub scenario: usize,
    /// True score, where known.
    pub truth: Option<f64>,
    /// One an answer; the last has the estimates of the whole selection. Empty where no chosen item was answered.
    pub steps: Vec<Step>,
}

/// Replays a model's answers on the chosen items of `scenario` (an index in the benchmark), in an order that depends only
/// on `settings.seed`, the scenario and the selection: a random permutation of its items, in which those without an
/// answer are passed over. In joint scope the chosen items of the other scenarios count as answered from the start.
///
/// `selections` are in the order of `fitted.scenarios`. `answers` gives the score on a column of the matrix, NaN where
/// missing. The score that is estimated is the one `truth` is of: with a truth, that over the items that the model
/// answered (as of a model of the matrix); without, that over all items but the chosen ones it did not answer (as of a
/// model known by its answers only).
///
/// # Errors
/// A scenario that is not fitted, not one selection a fitted scenario; cancellation.
#[expect(
    clippy::too_many_arguments,
    reason = "a fit, a choice, a model and how to go about it"
)]
pub fn replay(
    benchmark: &Benchmark,
    fitted: &Fitted,
    scenario: usize,
    selections: &[Selection],
    answers: &dyn Fn(usize) -> f64,
    truth: Option<f64>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Replay> {
    observer.check()?;
    if selections.len() != fitted.scenarios.len() {
        return Err(Error::setting(
            format!(
                "{} selections for {} fitted scenarios",
                selections.len(),
                fitted.scenarios.len()
            ),
            "choose items of every scenario first",
        ));
    }
    let found = Together::of(fitted, selections).find_map(|together| {
        let at = (together.scenarios.iter()).position(|s| s.index == scenario)?;
        Some((together, at))
    });
    let Some((together, at)) = found else {
        return Err(Error::setting("this scenario is not fitted yet", ""));
    };
    let scores: Vec<Vec<f64>> = together
        .scenarios
        .iter()
        .map(|s| {
            let columns = &benchmark.scenarios[s.index].columns;
            columns.iter().map(|&c| answers(c)).collect()
        })
        .collect();
    let (fit, selection) = (&together.scenarios[at], &together.selections[at]);
    let counts: Vec<bool> = match truth {
        Some(_) => scores[at].iter().map(|y| !y.is_nan()).collect(),
        None => counted_without_truth(&scores[at], selection),
    };
    let mut order: Vec<usize> = selection.anchors.iter().map(|a| a.item).collect();
    order.shuffle(&mut rng(settings.seed, Stream::Replay(scenario)));
    order.retain(|&item| !scores[at][item].is_nan());
    observer.progress(&Progress {
        what: format!(
            "replaying {} answers on {}",
            order.len(),
            benchmark.scenarios[scenario].name
        ),
        done: 0.0,
    });
    let steps = (0..order.len())
        .into_par_iter()
        .map(|k| {
            observer.check()?;
            let mut so_far = scores.clone();
            so_far[at] = vec![f64::NAN; counts.len()];
            for &item in &order[..=k] {
                so_far[at][item] = scores[at][item];
            }
            let ability = together.ability(&so_far, settings);
            let found = together.estimates(at, &so_far[at], |i| counts[i], &ability, settings);
            Ok(found.map(|e| Step {
                item: order[k],
                score: scores[at][order[k]],
                naive: e.naive,
                p_irt: e.p_irt,
                lambda: paper_lambda(
                    selection.kind,
                    fit.b,
                    fit.s2,
                    ((k + 1) * selection.n()).div_ceil(order.len()),
                ),
                theta: ability.theta.mean(0)[0],
                theta_sd: ability.theta.cov(0)[0].max(0.0).sqrt(),
            }))
        })
        .collect::<Result<Vec<Option<Step>>>>()?;
    Ok(Replay {
        scenario,
        truth,
        steps: steps.into_iter().flatten().collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::anchors::SelectionKind;
    use crate::experiment::cases::{few, fitted};
    use crate::experiment::{Scope, estimate_answers, estimate_selection, select};
    use crate::irt::AbilityMethod;
    use crate::progress::{CancelToken, Silent};

    fn chosen(
        b: &Benchmark,
        f: &Fitted,
        kind: SelectionKind,
        settings: &Settings,
    ) -> Vec<Selection> {
        let one = |s| select(b, s, kind, settings.n, settings.seed, &Silent).unwrap();
        f.scenarios.iter().map(one).collect()
    }

    #[test]
    fn the_last_step_has_the_estimates_of_the_selection() {
        for (scope, ability) in [
            (Scope::Scenario, AbilityMethod::Posterior),
            (Scope::Joint, AbilityMethod::Posterior),
            (Scope::Joint, AbilityMethod::MaximumLikelihood),
        ] {
            let settings = Settings {
                n: 12,
                scope,
                ability,
                ..few()
            };
            let (b, f) = fitted(&settings);
            for kind in SelectionKind::ALL {
                let selections = chosen(&b, &f, kind, &settings);
                for found in estimate_selection(&b, &f, &selections, &settings) {
                    for m in &found.models {
                        let answers = |c: usize| b.scores(m.model, &[c])[0];
                        let r = replay(
                            &b,
                            &f,
                            found.scenario,
                            &selections,
                            &answers,
                            Some(m.truth),
                            &settings,
                            &Silent,
                        )
                        .unwrap();
                        assert_eq!((r.scenario, r.truth), (found.scenario, Some(m.truth)));
                        assert_eq!(r.steps.len(), m.estimates.answered);
                        let last = r.steps.last().unwrap();
                        assert!((last.naive - m.estimates.naive).abs() < 1e-12);
                        assert!((last.p_irt - m.estimates.p_irt).abs() < 1e-12);
                        assert!((last.theta - m.ability.theta.mean(0)[0]).abs() < 1e-12);
                        if m.estimates.answered == settings.n {
                            assert_eq!(last.lambda, found.paper_lambda);
                        }
                        let point = ability == AbilityMethod::MaximumLikelihood;
                        assert!(r.steps.iter().all(|s| (s.theta_sd == 0.0) == point));
                        assert!(r.steps.windows(2).all(|w| w[0].lambda <= w[1].lambda));
                        assert_eq!(r.steps[0].naive, r.steps[0].score);
                        assert!(
                            r.steps.iter().all(|s| answers(
                                b.scenarios[r.scenario].columns[s.item]
                            ) == s.score)
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn without_a_truth_it_ends_where_the_answers_lead() {
        let settings = Settings { n: 12, ..few() };
        let (b, f) = fitted(&settings);
        let selections = chosen(&b, &f, SelectionKind::AnchorsIrt, &settings);
        let columns = &b.scenarios[1].columns;
        let known: HashMap<usize, f64> = selections[1].anchors[2..]
            .iter()
            .map(|a| (columns[a.item], f64::from(u8::from(a.item % 2 == 0))))
            .collect();
        let answers = |c: usize| known.get(&c).copied().unwrap_or(f64::NAN);
        let r = replay(&b, &f, 1, &selections, &answers, None, &settings, &Silent).unwrap();
        let by_id = known
            .iter()
            .map(|(&c, &y)| (b.matrix.items()[c].clone(), y))
            .collect();
        let e = estimate_answers(&b, &f, &selections, &by_id, &[], &settings)[1]
            .estimates
            .unwrap();
        let last = r.steps.last().unwrap();
        assert_eq!(
            (r.steps.len(), last.naive, last.p_irt),
            (10, e.naive, e.p_irt)
        );
        let none = replay(&b, &f, 0, &selections, &answers, None, &settings, &Silent).unwrap();
        assert!(none.steps.is_empty());
    }

    #[test]
    fn the_order_depends_on_the_seed_alone() {
        let settings = Settings { n: 12, ..few() };
        let (b, f) = fitted(&settings);
        let selections = chosen(&b, &f, SelectionKind::Random, &settings);
        let order = |model: usize, seed: u64| -> Vec<usize> {
            let settings = Settings {
                seed,
                ..settings.clone()
            };
            let answers = |c: usize| b.scores(model, &[c])[0];
            let r = replay(&b, &f, 0, &selections, &answers, None, &settings, &Silent).unwrap();
            r.steps.iter().map(|s| s.item).collect()
        };
        assert_eq!(order(0, 0), order(3, 0));
        assert_ne!(order(0, 0), order(0, 1));
        assert_ne!(
            order(0, 0),
            selections[0]
                .anchors
                .iter()
                .map(|a| a.item)
                .collect::<Vec<_>>()
        );
    }

    struct Cancelled(CancelToken);

    impl Observer for Cancelled {
        fn progress(&self, _: &Progress) {
            self.0.cancel();
        }

        fn cancelled(&self) -> bool {
            self.0.is_cancelled()
        }
    }

    #[test]
    fn what_cannot_be_replayed_is_an_error() {
        let settings = Settings {
            n: 5,
            scenarios: vec![0],
            ..few()
        };
        let (b, f) = fitted(&settings);
        let selections = chosen(&b, &f, SelectionKind::Random, &settings);
        let go = |scenario, selections: &[Selection], observer: &dyn Observer| {
            replay(
                &b,
                &f,
                scenario,
                selections,
                &|_| 1.0,
                None,
                &settings,
                observer,
            )
        };
        assert!(go(0, &selections, &Silent).is_ok());
        assert!(go(1, &selections, &Silent).is_err());
        assert!(go(0, &[], &Silent).is_err());
        let stop = Cancelled(CancelToken::default());
        assert!(matches!(go(0, &selections, &stop), Err(Error::Cancelled)));
    }
}
