//! What the user can choose: view, scope, setting, colours, order, source.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tinyscope::anchors::{Edits, SelectionKind};
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{Lambda, Scope as Theta};

use super::action::Place;
use super::study::Choice;

/// The views, in the order of their keys.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ViewName {
    /// Items and anchors in the plane.
    Map,
    /// Difficulties, the table of items, response curves.
    Items,
    /// Estimated against true.
    Scores,
    /// Error against n and lambda.
    Tradeoff,
    /// One model's anchors answered one by one.
    Replay,
    /// Where everything comes from.
    Data,
}

impl ViewName {
    /// All views.
    pub(crate) const ALL: [ViewName; 6] = [
        ViewName::Map,
        ViewName::Items,
        ViewName::Scores,
        ViewName::Tradeoff,
        ViewName::Replay,
        ViewName::Data,
    ];

    /// The name on the screen.
    pub(crate) fn label(self) -> &'static str {
        match self {
            ViewName::Map => "Map",
            ViewName::Items => "Items",
            ViewName::Scores => "Scores",
            ViewName::Tradeoff => "Trade-off",
            ViewName::Replay => "Replay",
            ViewName::Data => "Data",
        }
    }

    /// The name in file names and on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ViewName::Map => "map",
            ViewName::Items => "items",
            ViewName::Scores => "scores",
            ViewName::Tradeoff => "tradeoff",
            ViewName::Replay => "replay",
            ViewName::Data => "data",
        }
    }

    /// Which rows of the key table apply.
    pub(crate) fn place(self) -> Place {
        match self {
            ViewName::Map => Place::Map,
            ViewName::Items => Place::Items,
            ViewName::Scores => Place::Scores,
            ViewName::Tradeoff => Place::Tradeoff,
            ViewName::Replay => Place::Replay,
            ViewName::Data => Place::Data,
        }
    }
}

/// One scenario or the mean over all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// A scenario by index.
    One(usize),
    /// The benchmark's mean score.
    Overall,
}

/// Changes of the anchors by hand, by scenario.
pub(crate) type AllEdits = Arc<BTreeMap<usize, Arc<Edits>>>;

/// What the user asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// Scenario or overall.
    pub(crate) scope: Scope,
    /// Items a scenario.
    pub(crate) n: usize,
    /// How items are chosen.
    pub(crate) selection: SelectionKind,
    /// How scores are estimated.
    pub(crate) estimator: Estimator,
    /// Fixed lambda, or the paper's.
    pub(crate) lambda: Lambda,
    /// One ability a scenario, or one for all.
    pub(crate) theta: Theta,
    /// Seed of split, random items and k-means.
    pub(crate) seed: u64,
    /// Anchors kept out or always in.
    pub(crate) edits: AllEdits,
}

/// A choice among a few that a key steps through.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident => $label:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl Choice for $name {
            const ALL: &'static [Self] = &[$($name::$variant,)+];

            fn label(self) -> &'static str {
                match self { $($name::$variant => $label,)+ }
            }
        }
    };
}

choice! {
    /// Colours of the map.
    ColourBy {
        /// The anchors' clusters.
        Cluster => "cluster",
        /// Sub-scenarios.
        SubScenario => "sub-scenario",
        /// Difficulty along the item's own direction.
        Difficulty => "difficulty",
        /// Share of training models that are right.
        Share => "share of models right",
    }
}

choice! {
    /// What the two axes of the map are.
    Axes {
        /// The first two principal components of the item parameters (a, b).
        Components => "components of the item parameters",
        /// Difficulty b against the discrimination along the first ability axis.
        Parameters => "difficulty against discrimination",
        /// The first two principal components of the training models' scores.
        Correctness => "components of correctness",
    }
}

choice! {
    /// What the cursor of the map walks.
    Cursor {
        /// The chosen items.
        Anchors => "anchors",
        /// All items.
        Items => "items",
    }
}

choice! {
    /// Order of the model table.
    Sort {
        /// By true score, best first.
        Truth => "true score",
        /// By estimate, best first.
        Estimate => "estimate",
        /// By size of the error, largest first.
        Error => "error",
        /// By name.
        Name => "name",
    }
}

choice! {
    /// Order of the item table.
    ItemSort {
        /// By weight, anchors first.
        Weight => "weight",
        /// By difficulty, easiest first.
        Difficulty => "difficulty",
        /// By discrimination, highest first.
        Discrimination => "discrimination",
        /// By the share of training models that are right.
        Share => "share right",
        /// By id.
        Name => "id",
    }
}

choice! {
    /// What the lower plot of the trade-off shows where there is room for one.
    Lower {
        /// Error against lambda.
        Lambda => "error against λ",
        /// Rank correlation against n.
        Ranks => "rank correlation against n",
    }
}

/// The layers of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Layers {
    /// All items as points.
    pub(crate) items: bool,
    /// The chosen items.
    pub(crate) anchors: bool,
    /// Lines from an anchor to the items of its cluster.
    pub(crate) lines: bool,
}

/// The part of the map that is shown: its centre and size as shares of the whole.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Zoom {
    /// Centre across, 0 to 1.
    pub(crate) x: f64,
    /// Centre up, 0 to 1.
    pub(crate) y: f64,
    /// How many times larger than the whole, at least 1.
    pub(crate) factor: f64,
}

impl Zoom {
    /// Everything.
    pub(crate) const WHOLE: Zoom = Zoom {
        x: 0.5,
        y: 0.5,
        factor: 1.0,
    };

    /// The largest factor: a cell then is a thousandth of what it was.
    pub(crate) const MOST: f64 = 64.0;

    /// Larger or smaller around a point given as shares of the whole.
    pub(crate) fn by(self, factor: f64, (x, y): (f64, f64)) -> Zoom {
        let next = (self.factor * factor).clamp(1.0, Zoom::MOST);
        let keep = self.factor / next;
        Zoom {
            x: x + (self.x - x) * keep,
            y: y + (self.y - y) * keep,
            factor: next,
        }
        .inside()
    }

    /// Moved by shares of what is seen.
    pub(crate) fn moved(self, x: f64, y: f64) -> Zoom {
        Zoom {
            x: self.x + x / self.factor,
            y: self.y + y / self.factor,
            ..self
        }
        .inside()
    }

    /// A zoom of whatever numbers, with its factor and centre where they may be.
    pub(crate) fn bounded(self) -> Zoom {
        let finite = |x: f64, otherwise: f64| if x.is_finite() { x } else { otherwise };
        Zoom {
            x: finite(self.x, 0.5),
            y: finite(self.y, 0.5),
            factor: finite(self.factor, 1.0).clamp(1.0, Zoom::MOST),
        }
        .inside()
    }

    fn inside(self) -> Zoom {
        let half = 0.5 / self.factor;
        Zoom {
            x: self.x.clamp(half, 1.0 - half),
            y: self.y.clamp(half, 1.0 - half),
            ..self
        }
    }

    /// The seen stretch of an axis from `low` to `high` around `centre`.
    pub(crate) fn stretch(self, low: f64, high: f64, centre: f64) -> (f64, f64) {
        let (middle, half) = (
            low + centre * (high - low),
            0.5 * (high - low) / self.factor,
        );
        (middle - half, middle + half)
    }
}

/// What one answer costs.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Cost {
    /// For one item.
    pub(crate) per_item: f64,
    /// In what: "s", "$", "EUR".
    pub(crate) unit: String,
}

impl Cost {
    /// Reads `0.002 $`, `$0.002`, `3 s` or `12`.
    pub(crate) fn parse(text: &str) -> Option<Cost> {
        let text = text.trim();
        let digits = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let from = text.find(digits)?;
        let rest = &text[from..];
        let to = rest.find(|c| !digits(c)).unwrap_or(rest.len());
        let per_item: f64 = rest[..to].replace(',', ".").parse().ok()?;
        let unit = format!("{}{}", text[..from].trim(), rest[to..].trim());
        let plain = unit.chars().count() <= 8 && !unit.contains(char::is_control);
        (per_item > 0.0 && per_item.is_finite() && plain && !unit.contains('-'))
            .then_some(Cost { per_item, unit })
    }

    /// The cost of so many items, in the unit's own words: seconds become minutes and hours.
    pub(crate) fn of(&self, items: f64) -> String {
        let total = self.per_item * items;
        let number = |x: f64| match x {
            x if x >= 100.0 => format!("{x:.0}"),
            x if x >= 10.0 => format!("{x:.1}"),
            x => format!("{x:.2}"),
        };
        match self.unit.as_str() {
            "s" if total >= 5400.0 => format!("{} h", number(total / 3600.0)),
            "s" if total >= 90.0 => format!("{} min", number(total / 60.0)),
            "$" | "€" | "£" => format!("{}{}", self.unit, number(total)),
            "" => number(total),
            unit => format!("{} {unit}", number(total)),
        }
    }
}

/// Something to open: a file, or a bundled demo as `demo:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Source(pub(crate) PathBuf);

impl Source {
    /// A bundled demo.
    pub(crate) fn demo(name: &str) -> Source {
        Source(format!("demo:{name}").into())
    }

    /// The demo's name, where it is one.
    pub(crate) fn demo_name(&self) -> Option<&str> {
        self.0.to_str()?.strip_prefix("demo:")
    }

    /// As shown in lists and messages.
    pub(crate) fn label(&self) -> String {
        match self.demo_name() {
            Some(name) => name.to_string(),
            None => self.0.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_and_written() {
        let cost = |text: &str| Cost::parse(text).map(|c| c.of(100.0));
        assert_eq!(cost("$0.002").as_deref(), Some("$0.20"));
        assert_eq!(cost("0,002 €").as_deref(), Some("€0.20"));
        assert_eq!(cost("3 s").as_deref(), Some("5.00 min"));
        assert_eq!(cost("90 s").as_deref(), Some("2.50 h"));
        assert_eq!(cost("2 calls").as_deref(), Some("200 calls"));
        for bad in ["", "s", "-1 $", "0", "1.2.3", "1e400000000000000000000 s"] {
            assert_eq!(cost(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn zoom_keeps_its_point_and_stays_inside() {
        let zoom = Zoom::WHOLE.by(4.0, (0.3, 0.9));
        assert!((zoom.x - 0.35).abs() < 1e-12 && zoom.factor == 4.0);
        assert!(zoom.y <= 1.0 - 0.125);
        let back = zoom.moved(9.0, -9.0).by(0.01, (0.0, 0.0));
        assert_eq!(back, Zoom::WHOLE);
    }
}
