//! The answer of a comparison in words, with what it rests on.

use std::cmp::Ordering;

use serde_json::{Value, json};
use tinyscope::export::{AnchorsFile, Compared, Verdict};

/// As text and in parts.
pub(super) fn json(file: &AnchorsFile, verdict: &Verdict<'_>, names: [&str; 2]) -> Value {
    let c = verdict.row;
    let better = match c.better() {
        Some(Ordering::Greater) => Some("first"),
        Some(Ordering::Less) => Some("second"),
        _ => None,
    };
    let otherwise = verdict.otherwise.iter().map(|c| c.selection.name());
    json!({
        "text": words(file, verdict, names), "better": better,
        "scenario": c.scenario.map(|s| &file.scenarios[s].name),
        "selection": c.selection.name(), "estimator": c.estimator.name(),
        "otherwise": otherwise.collect::<Vec<_>>(),
    })
}

/// One sentence, and another one where other items tell something else.
pub(super) fn words(file: &AnchorsFile, verdict: &Verdict<'_>, names: [&str; 2]) -> String {
    let c = verdict.row;
    let score = match (c.scenario, file.scenarios.as_slice()) {
        (Some(s), all) => &all[s].name,
        (None, [one]) => &one.name,
        (None, _) => "the mean score",
    };
    let mut text = format!(
        "By the {} estimate of {score} from {}: {}.",
        c.estimator.name(),
        c.selection.name(),
        sentence(c, names)
    );
    for other in &verdict.otherwise {
        text += &format!(
            " From {}: {}.",
            other.selection.name(),
            sentence(other, names)
        );
    }
    text
}

fn sentence(c: &Compared, [a, b]: [&str; 2]) -> String {
    let Some(d) = c.comparison else {
        return "nothing can be said".into();
    };
    let (better, worse, share) = if d.difference >= 0.0 {
        (a, b, d.better)
    } else {
        (b, a, 1.0 - d.better)
    };
    let points = 100.0 * d.difference.abs();
    let probability = percent(share);
    if c.better() == Some(Ordering::Equal) {
        return format!(
            "these answers cannot tell them apart, {points:.1} points for {better} (probability {probability}), and \
             differences below {:.1} are within the error",
            100.0 * d.resolvable
        );
    }
    format!("{better} is better than {worse} by {points:.1} points (probability {probability})")
}

/// A probability; none is known to be 0 or 1.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        x if x < 1.0 => "< 1 %".into(),
        x if x > 99.0 => "> 99 %".into(),
        x => format!("{x:.0} %"),
    }
}
