//! A small deterministic benchmark in memory, with results, for tests of the screen.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tinyscope::anchors::{Anchor, Selection, SelectionKind};
use tinyscope::data::{
    Aggregate, Benchmark, ItemText, ItemTexts, MatrixBuilder, Scenario, Split, SubScenario,
};
use tinyscope::estimate::{Estimates, Learned, PartEstimate, Stacker};
use tinyscope::experiment::{
    AnswersEstimate, FittedScenario, ModelEstimate, Replay, Scope as Theta, SelectionEstimates,
    Settings, Step,
};
use tinyscope::irt::{
    Ability, AbilityMethod, DimensionChoice, Fit, Gaussians, ItemParameters, Prior, Validation,
};

use super::job::{CellKey, FitKey};
use super::state::{N_GRID, N_STOPS, SEEDS, State};
use super::study::{Cell, FitShown, Mine, Study};
use super::theme::ThemeName;

const MODELS: usize = 40;
const SIZES: [(&str, &[(&str, usize)]); 3] = [
    (
        "arithmetic",
        &[("addition", 180), ("division", 120), ("fractions", 60)],
    ),
    ("reading", &[("reading", 240)]),
    ("history", &[("ancient", 150), ("modern", 150)]),
];

/// Numbers in [0, 1) that look random and are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

fn probability(a: &[f64], theta: &[f64], b: f64) -> f64 {
    1.0 / (1.0 + (b - a.iter().zip(theta).map(|(a, t)| a * t).sum::<f64>()).exp())
}

/// The same state, made once for tests that need many.
pub(crate) fn small(theme: ThemeName) -> State {
    thread_local! {
        static MADE: State = state(ThemeName::Dark);
    }
    MADE.with(|made| {
        let mut state = State::new(theme);
        state.look.size = made.look.size;
        if let Some(study) = &made.study {
            state.open(Arc::clone(study));
        }
        state.fits = made.fits.clone();
        state.cells = made.cells.clone();
        state.refresh();
        state
    })
}

/// A state with the benchmark open and every result there.
pub(crate) fn state(theme: ThemeName) -> State {
    let (study, fits) = study();
    let study = Arc::new(study);
    let mut state = State::new(theme);
    state.look.size = (120, 36);
    state.open(Arc::clone(&study));
    for (scenario, fit) in fits.into_iter().enumerate() {
        let fit = Arc::new(fit);
        for seed in 0..SEEDS as u64 {
            let key = FitKey {
                scenario,
                theta: Theta::Scenario,
                seed,
            };
            if seed == 0 {
                state.fits.insert(key, Arc::clone(&fit));
            }
            let stops = N_STOPS.into_iter().filter(|_| seed == 0);
            let ns: Vec<usize> = N_GRID.into_iter().chain(stops).collect();
            for selection in SelectionKind::ALL {
                for &n in &ns {
                    let n = n.min(study.scenario(scenario).n_items());
                    let key = CellKey {
                        fit: key,
                        selection,
                        n,
                        edits: None,
                    };
                    let found = cell(&study, &fit, &key);
                    state.cells.insert(key, Arc::new(found));
                }
            }
        }
    }
    state.findings = Some(vec![
        "2 constant items on which every model has the same score: a, b".into(),
    ]);
    state.refresh();
    replay(&mut state);
    state
}

/// Puts a made-up replay of the wanted model on the screen.
pub(crate) fn replay(state: &mut State) {
    let (Some((key, who)), Some(shown)) = (state.replay_wanted(), &state.shown) else {
        return;
    };
    let cell = shown.now.cell().unwrap();
    let steps = cell
        .found
        .selection
        .anchors
        .iter()
        .enumerate()
        .map(|(k, a)| {
            let far = 0.3 * (-(k as f64) / 9.0).exp();
            let swing = (k as f64 * 0.9).sin();
            Step {
                item: a.item,
                score: f64::from(u8::from(k % 3 != 1)),
                naive: (0.6 + 2.0 * far * swing).clamp(0.0, 1.0),
                p_irt: 0.58 - 0.5 * far,
                lambda: 1.0 / (1.0 + (k + 1) as f64 / 30.0),
                theta: 0.4 - far + 0.1 * swing * far,
                theta_sd: 0.15 + far,
            }
        });
    let found = Replay {
        scenario: key.fit.scenario,
        truth: Some(0.59),
        steps: steps.collect(),
    };
    state.replay.result = Some((key, who, Arc::new(found)));
    state.replay.go(usize::MAX);
}

/// Forgets what was learned, as before its jobs are done.
pub(crate) fn unlearn(state: &mut State) {
    for cell in state.cells.values_mut() {
        let mut own = (**cell).clone();
        own.learned = false;
        own.found.stacker = None;
        for model in &mut own.found.models {
            model.estimates.learned = None;
        }
        *cell = Arc::new(own);
    }
    state.refresh();
}

/// Gives every cell the estimates of a model of one's own.
pub(crate) fn own_model(state: &mut State) {
    state.mine = Some(Arc::new(Mine {
        name: "my-model-7b".into(),
        file: "my-model-7b.csv".into(),
        answers: HashMap::new(),
    }));
    for cell in state.cells.values_mut() {
        let mut own = (**cell).clone();
        let chosen = own.found.selection.n();
        own.mine = Some(AnswersEstimate {
            scenario: own.found.scenario,
            estimates: Some(Estimates {
                naive: 0.52,
                p_irt: 0.49,
                answered: chosen - 2,
                learned: Some(Learned {
                    scores: [0.505, 0.5, 0.49, 0.5],
                    spread: 0.1 / root(chosen),
                }),
            }),
            bounds: None,
            ability: own.found.models[0].ability.clone(),
            answered: chosen - 2,
            chosen,
            truth: None,
        });
        *cell = Arc::new(own);
    }
    state.refresh();
}

/// The benchmark and its fits.
pub(crate) fn study() -> (Study, Vec<FitShown>) {
    let mut numbers = Numbers(7);
    let mut items = Vec::new();
    let mut scenarios = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    let mut texts = ItemTexts::default();
    for (name, subs) in SIZES {
        let first = items.len();
        let mut part = Part::default();
        let mut subscenarios = Vec::new();
        for (s, (sub, count)) in subs.iter().enumerate() {
            let start = items.len() - first;
            for i in 0..*count {
                let id = format!("{name}/{sub}/{i}");
                texts.insert(
                    id.clone(),
                    ItemText {
                        text: format!(
                            "Question {i} of {sub}: a train leaves at noon and 漢字 travels {i} miles; how far is it \
                             after a while, when the driver stops twice for tea?"
                        ),
                        options: vec![format!("{i} miles"), "nobody knows".into()],
                        answer: Some("A".into()),
                        category: None,
                    },
                );
                items.push(id);
                let a = [0.9 + 0.35 * numbers.normal(), 0.5 * numbers.normal()];
                let b = numbers.normal() * 1.1 + s as f64 * 0.7 - 0.6;
                part.z.push([a[0], a[1], b]);
                part.xy.push([b + 0.2 * a[0], a[0] - 0.9 + 0.6 * a[1]]);
            }
            subscenarios.push(SubScenario {
                name: (*sub).into(),
                items: start..start + count,
            });
        }
        scenarios.push(Scenario {
            name: name.into(),
            aggregate: Aggregate::Macro,
            columns: (first..items.len()).collect(),
            subscenarios,
        });
        parts.push(part);
    }
    let mut builder = MatrixBuilder::new(items);
    let mut abilities = Vec::new();
    for model in 0..MODELS {
        let theta = [numbers.normal() + 0.3, 0.8 * numbers.normal()];
        let mut scores = Vec::new();
        for part in &parts {
            for [a0, a1, b] in &part.z {
                let p = probability(&[*a0, *a1], &theta, *b);
                scores.push(f64::from(u8::from(numbers.next() < p)));
            }
        }
        abilities.push(theta);
        builder.push(format!("org-{:02}/model-{model:02}", model % 5), &scores);
    }
    let test: Vec<usize> = (0..MODELS).filter(|m| m % 4 == 3).collect();
    let train: Vec<usize> = (0..MODELS).filter(|m| m % 4 != 3).collect();
    let benchmark = Benchmark {
        name: "Small Exam".into(),
        origin: "small".into(),
        simulated: true,
        source: String::new(),
        licence: String::new(),
        metric: String::new(),
        notes: String::new(),
        matrix: builder.finish(),
        scenarios,
        released: BTreeMap::new(),
        organisations: BTreeMap::new(),
        texts,
        warnings: Vec::new(),
    };
    let fits = parts
        .into_iter()
        .enumerate()
        .map(|(index, part)| {
            let items = part.z.len();
            let theta: Vec<f64> = train.iter().flat_map(|&m| abilities[m]).collect();
            let z = part.z.into_iter().flatten().collect();
            let fit = Fit {
                items: ItemParameters::new(Gaussians::points(3, z)),
                abilities: Gaussians::points(2, theta),
                item_prior: Prior::standard(3),
                ability_prior: Prior::standard(2),
                evidence: Vec::new(),
                moves: Vec::new(),
                converged: true,
            };
            let row = Validation {
                dims: 2,
                error: 0.021,
                errors: vec![0.021],
            };
            let fitted = FittedScenario {
                index,
                train: train.clone(),
                test: test.clone(),
                balance: benchmark.scenarios[index].balance_weights(),
                fit: Arc::new(fit),
                fitted_models: Arc::new(train.clone()),
                fit_items: 0..items,
                choice: Arc::new(DimensionChoice {
                    dims: 2,
                    table: vec![row],
                }),
                b: 0.021,
                s2: 0.2,
                threshold: None,
            };
            let items = fitted.items();
            FitShown {
                correctness: part.xy.iter().map(|p| [p[1], -p[0]]).collect(),
                correctness_spread: [0.41, 0.07],
                components: part.xy,
                spread: [0.63, 0.21],
                ..FitShown::at(&benchmark, fitted, items)
            }
        })
        .collect();
    let split = Arc::new(Split {
        train,
        test,
        warnings: Vec::new(),
    });
    (
        Study {
            benchmark,
            split,
            settings: Settings {
                n: 40,
                ..Settings::default()
            },
        },
        fits,
    )
}

#[derive(Default)]
struct Part {
    z: Vec<[f64; 3]>,
    xy: Vec<[f64; 2]>,
}

/// What the training models of the fixture would have told at n items: errors of a few points that
/// shrink as 1 / sqrt(n).
fn stacker(train: &[usize], n: usize) -> Arc<Stacker> {
    thread_local! {
        static MADE: RefCell<HashMap<usize, Arc<Stacker>>> = RefCell::default();
    }
    let make = || {
        let mut numbers = Numbers(11 + n as u64);
        let known: Vec<serde_json::Value> = train
            .iter()
            .enumerate()
            .map(|(k, &model)| {
                let shared = numbers.normal();
                let mut error =
                    |size: f64| (0.6 * shared + 0.8 * numbers.normal()) * size / root(n);
                let sizes = [0.35, 0.24, 0.26, 0.22, 0.25, 0.19];
                serde_json::json!({
                    "model": model, "fold": k % 5, "errors": sizes.map(&mut error),
                    "spread": 0.1 / root(n),
                })
            })
            .collect();
        let stored = serde_json::json!({
            "lambda": 0.31, "weights": [0.08, 0.27, 0.24, 0.41], "bias": [0.0, 0.004, 0.001, 0.0],
            "ridge": {"level": 0.5, "centre": [], "coefficients": [], "penalty": 0.3},
            "known": known,
        });
        Arc::new(serde_json::from_value(stored).unwrap())
    };
    MADE.with(|made| Arc::clone(made.borrow_mut().entry(n).or_insert_with(make)))
}

fn root(n: usize) -> f64 {
    (n as f64).sqrt()
}

/// A plausible result: every so-manieth item is an anchor, clusters are the nearest anchor.
pub(crate) fn cell(study: &Study, fit: &FitShown, key: &CellKey) -> Cell {
    let (scenario, kind, n) = (key.fit.scenario, key.selection, key.n);
    let items = fit.components.len();
    let seed = key.fit.seed as usize;
    let offset = seed
        + match kind {
            SelectionKind::Random => 3,
            SelectionKind::AnchorsCorrectness => 1,
            SelectionKind::AnchorsIrt => 0,
        };
    let mut chosen: Vec<usize> = (0..n).map(|k| (k * items / n + offset) % items).collect();
    chosen.sort_unstable();
    let nearest = |i: usize| {
        let distance = |&j: &usize| {
            let (p, q) = (fit.components[i], fit.components[j]);
            (p[0] - q[0]).hypot(p[1] - q[1])
        };
        (0..n)
            .min_by(|&p, &q| distance(&chosen[p]).total_cmp(&distance(&chosen[q])))
            .unwrap()
    };
    let clusters: Option<Vec<usize>> =
        (kind != SelectionKind::Random).then(|| (0..items).map(nearest).collect());
    let anchors: Vec<Anchor> = chosen
        .iter()
        .enumerate()
        .map(|(k, &item)| {
            let weight = match &clusters {
                None => 1.0 / n as f64,
                Some(c) => c.iter().filter(|&&c| c == k).count() as f64 / items as f64,
            };
            Anchor { item, weight }
        })
        .collect();
    let place = study.scenario(scenario);
    let models = study
        .split
        .test
        .iter()
        .map(|&model| {
            let score = |item: usize| {
                study
                    .benchmark
                    .matrix
                    .get(model, place.columns[item])
                    .unwrap()
            };
            let truth = study.benchmark.true_score(model, place).unwrap();
            let drift = 0.3 / (n as f64).sqrt() * ((model * 7 + n * (1 + offset)) as f64).sin();
            let ability = Ability {
                theta: Gaussians::points(2, vec![0.0, 0.0]),
                method: AbilityMethod::Posterior,
                converged: true,
            };
            let estimates = Estimates {
                naive: anchors.iter().map(|a| a.weight * score(a.item)).sum(),
                p_irt: (truth + drift).clamp(0.0, 1.0),
                answered: n,
                learned: Some(Learned {
                    scores: [0.22, 0.2, 0.24, 0.17].map(|size| {
                        let phase = (model + 5 * offset) as f64 * 1.7;
                        let wave = (phase + size * 300.0 + n as f64).sin();
                        (truth + size * wave / root(n)).clamp(0.0, 1.0)
                    }),
                    spread: (0.08 + 0.02 * (model % 3) as f64) / root(n),
                }),
            };
            let parts = place.subscenarios.iter().map(|sub| {
                let scores = sub.items.clone().map(score);
                let truth = scores.sum::<f64>() / sub.items.len() as f64;
                PartEstimate {
                    truth,
                    naive: truth - drift,
                    p_irt: truth + drift,
                }
            });
            let several = place.subscenarios.len() > 1;
            ModelEstimate {
                model,
                truth,
                estimates,
                parts: if several { parts.collect() } else { Vec::new() },
                ability,
            }
        })
        .collect();
    Cell {
        found: SelectionEstimates {
            scenario,
            selection: Selection {
                kind,
                anchors,
                clusters,
            },
            paper_lambda: 1.0 / (1.0 + n as f64 / 30.0),
            models,
            stacker: Some(stacker(&study.split.train, n)),
        },
        mine: None,
        learned: true,
    }
}
