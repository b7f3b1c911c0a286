//! The tables of the views: for people rounded, for programs in full precision.

use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::{Estimator, Interval};

use crate::tui::needs::Needed;
use crate::tui::state::{Setting, Shown, State, ViewName};
use crate::tui::study::{Choice, Measure, Study};
use crate::tui::view::{self, Fact, format::percent};

/// A table: what it shows, its headings and rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    /// One or two sentences.
    pub(super) caption: String,
    /// Names of the columns.
    pub(super) headings: Vec<String>,
    /// Cells by row.
    pub(super) rows: Vec<Vec<String>>,
}

/// What is said while there is nothing to write.
pub(super) fn nothing() -> String {
    "nothing is shown yet: wait for the result".into()
}

fn headings(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

fn shown(state: &State) -> Result<(&Study, &Shown), String> {
    let study = state.study.as_deref().ok_or_else(nothing)?;
    let shown = state.shown.as_ref().ok_or_else(nothing)?;
    Ok((study, shown))
}

/// The data of the plots on the screen, in full precision.
pub(super) fn data(state: &State) -> Result<Table, String> {
    let (study, shown) = shown(state)?;
    let table = match state.view {
        ViewName::Map | ViewName::Items => items(state, study, shown, false)?,
        ViewName::Scores => scores(state, study, shown, |v| v.to_string()),
        ViewName::Tradeoff => curves(state, shown),
        ViewName::Replay => replay(state, study, shown, |v| v.to_string())?,
        ViewName::Data => fit(state)?,
    };
    Ok(table)
}

/// The table of the view, as people read it.
pub(super) fn table(state: &State) -> Result<Table, String> {
    let (study, shown) = shown(state)?;
    let mut table = match state.view {
        ViewName::Map | ViewName::Items => items(state, study, shown, true)?,
        ViewName::Scores => scores(state, study, shown, |v| percent(v, 1)),
        ViewName::Tradeoff => needs(state),
        ViewName::Replay => replay(state, study, shown, |v| format!("{v:.3}"))?,
        ViewName::Data => facts(state, study),
    };
    table.caption = format!("{}. {}", view::sentence(state), table.caption);
    if study.benchmark.simulated {
        table.caption = format!("SIMULATED. {}", table.caption);
    }
    Ok(table)
}

/// Items with their place, parameters and weight; for people only the chosen ones, rounded.
fn items(state: &State, study: &Study, shown: &Shown, people: bool) -> Result<Table, String> {
    let scenario = state
        .scenario()
        .ok_or("one scenario at a time: Tab chooses one")?;
    let fit = state.fit(scenario).ok_or_else(nothing)?;
    let cell = shown.now.cell().ok_or_else(nothing)?;
    let weights = view::items::weights(cell, fit.items.len());
    let subs = &study.scenario(scenario).subscenarios;
    let number = |v: f64, digits: usize| {
        if people {
            format!("{v:.digits$}")
        } else {
            v.to_string()
        }
    };
    let mut rows = Vec::new();
    let order: Vec<usize> = if state.view == ViewName::Items {
        view::items::order(state)
    } else {
        (0..fit.items.len()).collect()
    };
    for item in order {
        if people && weights[item] == 0.0 && state.view == ViewName::Map {
            continue;
        }
        let Some(shape) = fit.shape(item) else {
            continue;
        };
        let sub = fit.sub.get(item).and_then(|&s| subs.get(s));
        let mut row = vec![
            study.item_id(scenario, item).to_owned(),
            sub.map_or(String::new(), |s| s.name.clone()),
            number(shape.intercept, 2),
            number(shape.discrimination, 2),
            number(shape.general, 2),
            number(fit.share[item], 2),
            number(weights[item], 4),
        ];
        if !people {
            let [x, y] = fit
                .xy(state.axes)
                .get(item)
                .copied()
                .unwrap_or([f64::NAN; 2]);
            let cluster = cell
                .found
                .selection
                .clusters
                .as_ref()
                .and_then(|c| c.get(item));
            let constant = fit.constant.get(item).copied().unwrap_or(false);
            row.extend([
                x.to_string(),
                y.to_string(),
                cluster.map_or(String::new(), usize::to_string),
                constant.to_string(),
            ]);
        }
        rows.push(row);
    }
    let mut names = vec![
        "item",
        "part",
        "b",
        "|a|",
        "a first axis",
        "share right",
        "weight",
    ];
    if !people {
        names = vec![
            "item",
            "part",
            "b",
            "a_norm",
            "a_first",
            "share_right",
            "weight",
            "x",
            "y",
            "cluster",
            "constant",
        ];
    }
    Ok(Table {
        caption: format!("Items of {}.", study.scenario(scenario).name),
        headings: headings(&names),
        rows,
    })
}

fn scores(state: &State, study: &Study, shown: &Shown, number: impl Fn(f64) -> String) -> Table {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let ends = |interval: Option<Interval>| match interval {
        Some(i) => [number(i.low), number(i.high)],
        None => [String::new(), String::new()],
    };
    if let (Some(estimate), Some(mine)) = (shown.now.mine, &state.mine) {
        let rank = state.predicted_rank(estimate);
        let [low, high] = ends(shown.now.mine_interval);
        rows.push(vec![
            mine.name.clone(),
            String::new(),
            number(estimate),
            low,
            high,
            String::new(),
            String::new(),
            rank.map_or(String::new(), |r| format!("{} of {}", r.0, r.1)),
            String::new(),
        ]);
    }
    let standing = shown.now.standing();
    rows.extend(view::models::order(state).iter().map(|row| {
        let s = row.scored;
        let [low, high] = ends(shown.now.interval(s.model));
        let ranks = standing.and_then(|standing| standing.ranks(s.model));
        vec![
            study.model(s.model).to_owned(),
            number(s.truth),
            number(s.estimate),
            low,
            high,
            number(s.estimate - s.truth),
            row.true_rank.to_string(),
            row.rank.to_string(),
            ranks.map_or(String::new(), |(best, worst)| format!("{best}-{worst}")),
        ]
    }));
    let sure = match shown.now.sure.half_width {
        Some(_) => {
            let (held, of) = shown.now.sure.held;
            format!(" low and high: 90 % intervals, which hold {held} of {of}.")
        }
        None => String::new(),
    };
    Table {
        caption: format!("Estimated against true scores of held-out models.{sure}"),
        headings: headings(&[
            "model",
            "true",
            "estimated",
            "low",
            "high",
            "error",
            "true_rank",
            "rank",
            "ranks",
        ]),
        rows,
    }
}

/// Every curve of the trade-off in long form.
fn curves(state: &State, shown: &Shown) -> Table {
    let mut rows = Vec::new();
    for (name, measure) in [("mae", Measure::Error), ("spearman", Measure::Ranks)] {
        for curve in state.all_curves(measure) {
            for p in &curve.points {
                rows.push(vec![
                    format!("{name}_against_n"),
                    curve.selection.name().to_owned(),
                    curve.estimator.name().to_owned(),
                    p.n.to_string(),
                    p.mean.to_string(),
                    p.low.to_string(),
                    p.high.to_string(),
                    curve.seeds.to_string(),
                ]);
            }
        }
    }
    for selection in SelectionKind::ALL {
        let setting = Setting {
            selection,
            ..shown.now.setting.clone()
        };
        for (lambda, mae) in view::tradeoff::lambda_curve(state, &setting) {
            let mae = mae.to_string();
            rows.push(vec![
                "mae_against_lambda".into(),
                selection.name().to_owned(),
                Estimator::GpIrt.name().to_owned(),
                lambda.to_string(),
                mae.clone(),
                mae.clone(),
                mae,
                "1".into(),
            ]);
        }
    }
    Table {
        caption: String::new(),
        headings: headings(&[
            "plot",
            "selection",
            "estimator",
            "x",
            "mean",
            "low",
            "high",
            "seeds",
        ]),
        rows,
    }
}

/// The n that every method needs.
fn needs(state: &State) -> Table {
    let (needs, seeds) = state.needs();
    let there = needs.iter().filter(|need| need.n != Needed::Unknown);
    let rows = there.map(|need| {
        let saved = need.n.enough().and_then(|n| state.saved(n));
        let times = match need.times {
            Some((true, x)) => format!("{x:.1}"),
            Some((false, x)) if x > 1.0 => format!(">{x:.1}"),
            _ => "-".into(),
        };
        vec![
            need.selection.label().to_owned(),
            need.estimator.label().to_owned(),
            need.n.text(),
            state.range(need.at).text(),
            saved.map_or("-".into(), |s| format!("{:.0} %", 100.0 * s)),
            times,
        ]
    });
    let seeds = if seeds == 1 {
        "1 seed".into()
    } else {
        format!("{seeds} seeds")
    };
    Table {
        caption: format!(
            "Items for a mean absolute error of {} ({seeds}), their 90 % range over resampled seeds and models, the share of \
             items saved, and how many times more random items it takes.",
            state.target_text()
        ),
        headings: headings(&[
            "items",
            "estimator",
            "n",
            "90 % range",
            "saved",
            "random / this",
        ]),
        rows: rows.collect(),
    }
}

fn replay(
    state: &State,
    study: &Study,
    shown: &Shown,
    number: impl Fn(f64) -> String,
) -> Result<Table, String> {
    let (who, found) = view::replay::current(state, shown).ok_or_else(nothing)?;
    let rows = found.steps.iter().enumerate().map(|(k, step)| {
        let id = study.item_id(found.scenario, step.item).to_owned();
        let estimate = view::replay::estimate(shown, step);
        let mut row = vec![(k + 1).to_string(), id];
        let values = [
            step.score,
            step.naive,
            step.p_irt,
            estimate,
            step.theta,
            step.theta_sd,
        ];
        row.extend(values.map(&number));
        row
    });
    Ok(Table {
        caption: format!("Answers of {} one by one.", view::replay::name(state, who)),
        headings: headings(&[
            "answer", "item", "score", "naive", "p_irt", "estimate", "theta", "theta_sd",
        ]),
        rows: rows.collect(),
    })
}

/// Validation table and evidence curve.
fn fit(state: &State) -> Result<Table, String> {
    let scenario = state
        .scenario()
        .ok_or("one scenario at a time: Tab chooses one")?;
    let fit = state.fit(scenario).ok_or_else(nothing)?;
    let validation = fit.fitted.choice.table.iter().map(|row| {
        vec![
            "validation_error".into(),
            row.dims.to_string(),
            row.error.to_string(),
        ]
    });
    let evidence = fit.fitted.fit.evidence.iter().enumerate();
    let evidence = evidence.map(|(k, e)| vec!["evidence".to_owned(), k.to_string(), e.to_string()]);
    Ok(Table {
        caption: String::new(),
        headings: headings(&["plot", "x", "value"]),
        rows: validation.chain(evidence).collect(),
    })
}

fn facts(state: &State, study: &Study) -> Table {
    let mut rows = Vec::new();
    let mut group = String::new();
    for fact in view::data_facts(state, study) {
        match fact {
            Fact::Heading(text) => group = text,
            Fact::Named(name, value) => rows.push(vec![group.clone(), name.to_owned(), value]),
            Fact::Text(text) | Fact::Warning(text) => {
                rows.push(vec![group.clone(), String::new(), text]);
            }
        }
    }
    Table {
        caption: "What the numbers rest on.".into(),
        headings: headings(&["about", "what", "value"]),
        rows,
    }
}
