//! Error or rank correlation against n, over the seeds of the band.

use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;

use super::state::{Setting, State};
use super::study::{Measure, scored};

/// One value of n of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Items a scenario.
    pub(crate) n: usize,
    /// Mean over the seeds.
    pub(crate) mean: f64,
    /// Lowest of the seeds.
    pub(crate) low: f64,
    /// Highest of the seeds.
    pub(crate) high: f64,
}

/// A curve, and how many seeds it is over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// How the items are chosen.
    pub(crate) selection: SelectionKind,
    /// How scores are estimated.
    pub(crate) estimator: Estimator,
    /// In rising order of n.
    pub(crate) points: Vec<Point>,
    /// Seeds that every point is over.
    pub(crate) seeds: usize,
}

impl State {
    /// Seeds whose results are there for all of the grid; the current one where there is none.
    fn complete_seeds(&self, base: &Setting, grid: &[usize]) -> Vec<u64> {
        let complete: Vec<u64> = self
            .band()
            .filter(|&seed| {
                grid.iter().all(|&n| {
                    let setting = Setting {
                        n,
                        seed,
                        ..base.clone()
                    };
                    let scenarios = self.scenarios_of(setting.scope);
                    let there = |s: &usize| {
                        let cell = self.cells.get(&self.key(*s, &setting));
                        cell.is_some_and(|c| c.serves(setting.estimator))
                    };
                    scenarios.iter().all(there)
                })
            })
            .collect();
        if complete.is_empty() {
            vec![base.seed]
        } else {
            complete
        }
    }

    /// The curve of a selection and an estimator; `base` has the rest of the setting.
    pub(crate) fn curve_of(
        &self,
        selection: SelectionKind,
        estimator: Estimator,
        measure: Measure,
        base: &Setting,
    ) -> Curve {
        let base = &Setting {
            selection,
            estimator,
            ..base.clone()
        };
        let grid = self.grid();
        let seeds = self.complete_seeds(base, &grid);
        let mut ns = grid;
        ns.push(base.n);
        ns.sort_unstable();
        ns.dedup();
        let value = |n: usize, seed: u64| {
            let setting = Setting {
                n,
                seed,
                ..base.clone()
            };
            measure.of(&scored(&self.cells_of(&setting)?, estimator, base.lambda))
        };
        let points = ns.into_iter().filter_map(|n| {
            let values: Option<Vec<f64>> = seeds.iter().map(|&seed| value(n, seed)).collect();
            let values = values.filter(|v| !v.is_empty())?;
            Some(Point {
                n,
                mean: values.iter().sum::<f64>() / values.len() as f64,
                low: values.iter().copied().fold(f64::INFINITY, f64::min),
                high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            })
        });
        Curve {
            selection,
            estimator,
            points: points.collect(),
            seeds: seeds.len(),
        }
    }

    /// The curves of every selection and estimator at the shown setting.
    pub(crate) fn all_curves(&self, measure: Measure) -> &[Curve] {
        let Some(shown) = &self.shown else {
            return &[];
        };
        shown.curves[measure as usize].get_or_init(|| {
            let each = SelectionKind::ALL
                .into_iter()
                .flat_map(|selection| Estimator::ALL.map(|estimator| (selection, estimator)));
            each.map(|(s, e)| self.curve_of(s, e, measure, &shown.now.setting))
                .collect()
        })
    }
}

/// The n that an error needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Needed {
    /// The first n of the curve is enough.
    AtMost(usize),
    /// From this n on the curve stays at the error or below, interpolated.
    At(usize),
    /// The last n of the curve is not enough.
    More(usize),
    /// There is no curve yet.
    Unknown,
}

impl Needed {
    /// As in a table.
    pub(crate) fn text(self) -> String {
        match self {
            Needed::AtMost(n) => format!("≤{n}"),
            Needed::At(n) => n.to_string(),
            Needed::More(n) => format!(">{n}"),
            Needed::Unknown => "…".into(),
        }
    }

    /// A bound from below and one from above, where there are such.
    fn bounds(self) -> (Option<f64>, Option<f64>) {
        match self {
            Needed::AtMost(n) => (None, Some(n as f64)),
            Needed::At(n) => (Some(n as f64), Some(n as f64)),
            Needed::More(n) => (Some(n as f64), None),
            Needed::Unknown => (None, None),
        }
    }
}

/// How many times more items `other` needs than `mine`: "3.6", "more than 2.5", "".
pub(crate) fn times(mine: Needed, other: Needed) -> Option<(bool, f64)> {
    let ((my_low, my_high), (low, _)) = (mine.bounds(), other.bounds());
    let (low, high) = (low?, my_high?);
    let exact = my_low.is_some() && matches!(other, Needed::At(_));
    Some((exact, low / high))
}

/// The n from which on a curve stays at the target or below.
pub(crate) fn needed(points: &[Point], target: f64) -> Needed {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Needed::Unknown;
    };
    let Some(above) = points.iter().rposition(|p| p.mean > target) else {
        return Needed::AtMost(first.n);
    };
    let Some(next) = points.get(above + 1) else {
        return Needed::More(last.n);
    };
    let before = points[above];
    let share = (before.mean - target) / (before.mean - next.mean);
    let n = before.n as f64 + share * (next.n - before.n) as f64;
    Needed::At(n.ceil() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[(usize, f64)]) -> Vec<Point> {
        let point = |&(n, mean): &(usize, f64)| Point {
            n,
            mean,
            low: mean,
            high: mean,
        };
        values.iter().map(point).collect()
    }

    #[test]
    fn needed_items_are_interpolated_and_bounded() {
        let curve = points(&[(10, 0.06), (20, 0.04), (100, 0.015)]);
        assert_eq!(needed(&curve, 0.05), Needed::At(15));
        assert_eq!(needed(&curve, 0.01), Needed::More(100));
        assert_eq!(needed(&curve, 0.07), Needed::AtMost(10));
        assert_eq!(needed(&[], 0.05), Needed::Unknown);
        // A curve that rises again has not met the target where it first did.
        let bumpy = points(&[(10, 0.03), (20, 0.01), (30, 0.03), (40, 0.01)]);
        assert_eq!(needed(&bumpy, 0.02), Needed::At(35));
    }

    #[test]
    fn ratios_say_whether_they_are_bounds() {
        let at = Needed::At;
        assert_eq!(times(at(40), at(144)), Some((true, 3.6)));
        assert_eq!(times(at(40), Needed::More(200)), Some((false, 5.0)));
        assert_eq!(times(Needed::AtMost(10), at(50)), Some((false, 5.0)));
        assert_eq!(times(Needed::More(200), at(50)), None);
        assert_eq!(times(at(40), Needed::AtMost(10)), None);
    }
}
