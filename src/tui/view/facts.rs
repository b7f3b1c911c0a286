//! What is known of the data, the split and the fit, in words.

use super::format::{brief, clean, percent, unit};
use crate::tui::state::State;
use crate::tui::study::{Choice, FitShown, Study};

/// A line of facts: a heading, or a name with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fact {
    /// A heading.
    Heading(String),
    /// A name and what stands for it.
    Named(&'static str, String),
    /// A sentence.
    Text(String),
    /// A sentence that warns.
    Warning(String),
}

/// Everything that is known of the data, the split and the fit, in order.
pub(crate) fn facts(state: &State, study: &Study) -> Vec<Fact> {
    let benchmark = &study.benchmark;
    let mut facts = Vec::new();
    let named = |name, value: &str| Fact::Named(name, clean(value));
    facts.push(Fact::Heading("Source".into()));
    facts.push(named("benchmark", &benchmark.name));
    if benchmark.simulated {
        let text = "SIMULATED: drawn from a fitted population; no model was measured, no real response is in it.";
        facts.push(Fact::Warning(text.into()));
    }
    let given = [
        ("source", &benchmark.source),
        ("licence", &benchmark.licence),
        ("metric", &benchmark.metric),
        ("notes", &benchmark.notes),
    ];
    for (name, value) in given {
        let value = if value.trim().is_empty() {
            "not given"
        } else {
            value
        };
        facts.push(named(name, value));
    }
    let matrix = &benchmark.matrix;
    let kind = if matrix.is_binary() {
        "right or wrong"
    } else {
        "scores in [0, 1]"
    };
    facts.push(Fact::Named(
        "responses",
        format!(
            "{} models × {} items, {kind}",
            matrix.n_models(),
            matrix.n_items()
        ),
    ));
    let missing = matrix.missing_cells();
    let cells = matrix.n_models() * matrix.n_items();
    let share = missing as f64 / cells.max(1) as f64;
    facts.push(Fact::Named(
        "missing",
        format!("{missing} ({} %)", percent(share, 2)),
    ));
    facts.push(Fact::Named(
        "item texts",
        format!("{} of {}", benchmark.texts.len(), matrix.n_items()),
    ));
    facts.push(Fact::Heading("Checks".into()));
    for warning in benchmark.warnings.iter().chain(&study.split.warnings) {
        facts.push(Fact::Warning(clean(warning)));
    }
    if let Some(fit) = state.scenario().and_then(|s| state.fit(s))
        && !fit.fitted.fit.converged
    {
        let moves = &fit.fitted.fit.moves;
        facts.push(Fact::Warning(format!(
            "the fit stopped after {} sweeps while an ability still moved by {:.4}",
            moves.len(),
            moves.last().copied().unwrap_or(f64::NAN)
        )));
    }
    match &state.findings {
        None => facts.push(Fact::Text("still being looked for".into())),
        Some(found) if found.is_empty() => facts.push(Fact::Text(
            "no duplicate model or item, no constant item, no missing answer".into(),
        )),
        Some(found) => facts.extend(found.iter().map(|f| Fact::Warning(clean(f)))),
    }
    if let Some(fit) = state.scenario().and_then(|s| state.fit(s)) {
        fit_facts(study, fit, &mut facts);
    }
    settings_facts(state, study, &mut facts);
    facts
}

fn fit_facts(study: &Study, fit: &FitShown, facts: &mut Vec<Fact>) {
    let fitted = &fit.fitted;
    let scenario = study.scenario(fitted.index);
    facts.push(Fact::Heading(format!("Fit of {}", brief(&scenario.name))));
    let joint = fitted.fit_items.len() < fitted.fit.items.len();
    let with = if joint {
        ", one fit with the other scenarios"
    } else {
        ""
    };
    facts.push(Fact::Named(
        "items",
        format!(
            "{} in {}, {} average{with}",
            scenario.n_items(),
            match scenario.subscenarios.len() {
                1 => "1 sub-scenario".to_owned(),
                n => format!("{n} sub-scenarios"),
            },
            scenario.aggregate.name()
        ),
    ));
    facts.push(Fact::Named(
        "models",
        format!("{} train, {} test", fitted.train.len(), fitted.test.len()),
    ));
    let given = study.settings.parameters.as_ref();
    facts.push(Fact::Named(
        "D",
        match given {
            None => format!("{}: the smallest within .25 % of the best", fitted.dims()),
            Some(_) => format!("{}: that of the given parameters", fitted.dims()),
        },
    ));
    for row in &fitted.choice.table {
        let chosen = if row.dims == fitted.dims() {
            "  ← chosen"
        } else {
            ""
        };
        let error = format!(
            "D {:>2}: error {} %{chosen}",
            row.dims,
            percent(row.error, 3)
        );
        facts.push(Fact::Named("", error));
    }
    facts.push(Fact::Named(
        "error b",
        format!("{} % at the chosen D; in gp-IRT's λ", percent(fitted.b, 2)),
    ));
    facts.push(Fact::Named("variance s²", format!("{:.4}", fitted.s2)));
    let threshold = match fitted.threshold {
        Some(c) => format!("binarised: right above {c:.4}"),
        None => "scores as they are, not binarised".into(),
    };
    facts.push(Fact::Named("threshold", threshold));
    let sweeps = fitted.fit.moves.len();
    let stop = if fitted.fit.converged {
        "converged"
    } else {
        "not converged: the largest number of sweeps"
    };
    facts.push(Fact::Named("sweeps", format!("{sweeps}, {stop}")));
    if let (Some(first), Some(last)) = (fitted.fit.evidence.first(), fitted.fit.evidence.last()) {
        facts.push(Fact::Named(
            "evidence",
            format!("{first:.0} → {last:.0} nats"),
        ));
    }
    let prior = |name: &'static str, prior: &tinyscope::irt::Prior| {
        let mean: Vec<String> = prior
            .mean
            .iter()
            .take(4)
            .map(|m| format!("{m:+.2}"))
            .collect();
        let more = if prior.mean.len() > 4 { " …" } else { "" };
        Fact::Named(
            name,
            format!("mean {}{more}, by empirical Bayes", mean.join(" ")),
        )
    };
    facts.push(prior("prior (a, b)", &fitted.fit.item_prior));
    facts.push(prior("prior θ", &fitted.fit.ability_prior));
    let constant = fit.constant.iter().filter(|c| **c).count();
    let reversed = (0..fit.items.len()).filter(|&i| fit.reversed(i)).count();
    facts.push(Fact::Named(
        "odd items",
        format!("{constant} the same for all, {reversed} easier for weaker models"),
    ));
}

fn settings_facts(state: &State, study: &Study, facts: &mut Vec<Fact>) {
    let settings = &study.settings;
    facts.push(Fact::Heading("Settings".into()));
    let dims: Vec<String> = settings.dims.iter().map(usize::to_string).collect();
    let rows = [
        (
            "split",
            format!("{}, seed {}", settings.split, state.setting.seed),
        ),
        ("selection", state.setting.selection.label().to_owned()),
        ("estimator", state.setting.estimator.label().to_owned()),
        ("candidates", format!("D of {}", dims.join(", "))),
        ("theta", state.setting.theta.name().to_owned()),
        ("ability", settings.ability.name().to_owned()),
        ("seen part", format!("{} weights", settings.seen.name())),
        ("responses", settings.responses.name().to_owned()),
    ];
    facts.extend(rows.map(|(name, value)| Fact::Named(name, value)));
    learned_facts(state, facts);
    if let Some(given) = &settings.parameters {
        facts.push(Fact::Named(
            "parameters",
            clean(&given.path.to_string_lossy()),
        ));
        let seen = given.seen(&study.benchmark, &study.split);
        let said = given.notes.iter().chain(&seen);
        facts.extend(said.map(|text| Fact::Warning(clean(text))));
    }
    facts.push(Fact::Text(
        "method: tinyBenchmarks, arXiv 2402.14992".into(),
    ));
}

/// What was learned from the training models at the shown setting.
fn learned_facts(state: &State, facts: &mut Vec<Fact>) {
    let Some(now) = state.shown.as_ref().filter(|s| s.fresh).map(|s| &s.now) else {
        return;
    };
    if let Some(lambda) = crate::tui::sure::learned(&now.cells, |s| s.lambda) {
        let text = format!("{}: λ with the least held-out error", unit(lambda, 2));
        facts.push(Fact::Named("gp-cv", text));
    }
    if let Some([naive, p_irt, aipw, ridge]) = now.weights().map(|w| w.map(|x| unit(x, 2))) {
        let text = format!("naive {naive}, p-IRT {p_irt}, AIPW {aipw}, ridge {ridge}");
        facts.push(Fact::Named("stacked", text));
    }
    if let Some(half) = now.sure.half_width {
        let ((held, of), half) = (now.sure.held, percent(half, 1));
        let text = format!("±{half} points on average; hold {held} of {of} test models");
        facts.push(Fact::Named("90 %", text));
    }
}
