//! The planner of the trade-off: the n that an error needs with every method, with its range, and what is saved.
//!
//! The same computation as `tinyscope plan`, on the n and seeds whose curves are on the screen.

use tinyscope::anchors::SelectionKind;
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{self, ErrorsByN};

use super::curves::{METHODS, method};
use super::state::{Shown, State};
use super::study::Measure;

/// The n that an error needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Needed {
    /// The first n of the curve is enough.
    AtMost(usize),
    /// This n, interpolated.
    At(usize),
    /// The last n of the curve is not enough.
    More(usize),
    /// There is no curve yet.
    Unknown,
}

impl Needed {
    /// An n between the first and the last of a curve; `None` where none of them is enough.
    fn of(n: Option<usize>, first: usize, last: usize) -> Needed {
        match n {
            None => Needed::More(last),
            Some(n) if n <= first && first > 1 => Needed::AtMost(first),
            Some(n) => Needed::At(n),
        }
    }

    /// As in a table.
    pub(crate) fn text(self) -> String {
        match self {
            Needed::AtMost(n) => format!("≤{n}"),
            Needed::At(n) => n.to_string(),
            Needed::More(n) => format!(">{n}"),
            Needed::Unknown => "…".into(),
        }
    }

    /// In a sentence.
    pub(crate) fn items(self) -> String {
        match self {
            Needed::AtMost(n) => format!("at most {n} items"),
            Needed::At(1) => "1 item".into(),
            Needed::At(n) => format!("{n} items"),
            Needed::More(n) => format!("more than {n} items"),
            Needed::Unknown => "?".into(),
        }
    }

    /// The n that is enough.
    pub(crate) fn enough(self) -> Option<usize> {
        match self {
            Needed::AtMost(n) | Needed::At(n) => Some(n),
            Needed::More(_) | Needed::Unknown => None,
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

/// The range of an n over resampled seeds and test models, 5th to 95th percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// Its lower end.
    pub(crate) low: Needed,
    /// Its upper end.
    pub(crate) high: Needed,
}

impl Range {
    /// As in a table: "69-180", "120->200", ">200".
    pub(crate) fn text(self) -> String {
        if self.low == self.high {
            return self.low.text();
        }
        format!("{}-{}", self.low.text(), self.high.text())
    }
}

/// What one method needs for the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Need {
    /// Which method, by number.
    pub(crate) at: usize,
    /// How the items are chosen.
    pub(crate) selection: SelectionKind,
    /// How scores are estimated.
    pub(crate) estimator: Estimator,
    /// How many items a scenario.
    pub(crate) n: Needed,
    /// How many times more stratified random items with the naive estimate are needed, and
    /// whether that is exact or a bound from below.
    pub(crate) times: Option<(bool, f64)>,
}

impl Need {
    /// Stratified random items with the naive estimate: what others have to beat.
    pub(crate) fn is_baseline(&self) -> bool {
        self.selection == SelectionKind::Random && self.estimator == Estimator::Naive
    }
}

impl State {
    /// What every method needs for the target, and over how many seeds.
    pub(crate) fn needs(&self) -> (Vec<Need>, usize) {
        let Some(shown) = &self.shown else {
            return (Vec::new(), 0);
        };
        let curves = self.all_curves(Measure::Error);
        // A learned curve that is not computed has a point at this n at most: that says nothing of others.
        let there = curves.iter().filter(|c| c.errors.is_some());
        let seeds = there.map(|c| c.seeds).min().unwrap_or(0);
        let n: Vec<Needed> = (0..METHODS).map(|at| self.needed(shown, at)).collect();
        let baseline = (0..METHODS)
            .find(|&at| method(at) == (SelectionKind::Random, Estimator::Naive))
            .map_or(Needed::Unknown, |at| n[at]);
        let need = |at: usize| {
            let (selection, estimator) = method(at);
            Need {
                at,
                selection,
                estimator,
                n: n[at],
                times: times(n[at], baseline),
            }
        };
        ((0..METHODS).map(need).collect(), seeds)
    }

    fn needed(&self, shown: &Shown, at: usize) -> Needed {
        let errors = self
            .curve_at(Measure::Error, at)
            .and_then(|c| c.errors.as_ref());
        let need = shown.curves.needs[at]
            .get_or_init(|| errors?.need(self.target, experiment::Measure::Mae));
        match (need, errors.and_then(|e| Some((e.n.first()?, e.n.last()?)))) {
            (Some(need), Some((first, last))) => {
                Needed::of(need.n, *first as usize, *last as usize)
            }
            _ => Needed::Unknown,
        }
    }

    /// The range of the n that a method needs.
    pub(crate) fn range(&self, at: usize) -> Range {
        const UNKNOWN: Range = Range {
            low: Needed::Unknown,
            high: Needed::Unknown,
        };
        let Some(shown) = &self.shown else {
            return UNKNOWN;
        };
        let curve = self.curve_at(Measure::Error, at);
        let Some(errors) = curve.and_then(|c| c.errors.as_ref()) else {
            return UNKNOWN;
        };
        let (Some(first), Some(last)) = (errors.n.first(), errors.n.last()) else {
            return UNKNOWN;
        };
        let mut ranges = shown.curves.ranges.borrow_mut();
        if let Some((of, target, range)) = &ranges[at]
            && *target == self.target
            && same(of, errors)
        {
            return *range;
        }
        let seed = self.band().start;
        let (low, high) = errors.range(self.target, experiment::Measure::Mae, seed);
        let end = |n: Option<usize>| Needed::of(n, *first as usize, *last as usize);
        let range = Range {
            low: end(low),
            high: end(high),
        };
        ranges[at] = Some((errors.clone(), self.target, range));
        range
    }

    /// The share of a model's items that need not be run where n a scenario are.
    pub(crate) fn saved(&self, n: usize) -> Option<f64> {
        let (run, all) = self.items(n);
        (all > 0).then(|| 1.0 - run as f64 / all as f64)
    }

    /// Items that a model runs with n a scenario, and all items, of the shown scope.
    pub(crate) fn items(&self, n: usize) -> (usize, usize) {
        let (Some(study), Some(shown)) = (&self.study, &self.shown) else {
            return (0, 0);
        };
        let scenarios = self.scenarios_of(shown.now.setting.scope);
        let sizes = scenarios.iter().map(|&s| study.scenario(s).n_items());
        sizes.fold((0, 0), |(run, all), size| (run + n.min(size), all + size))
    }

    /// The target in points: "2 %", "0.5 %".
    pub(crate) fn target_text(&self) -> String {
        let digits = format!("{:.4}", 100.0 * self.target);
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        format!("{digits} %")
    }
}

/// Equal, and missing where the other is missing.
fn same(p: &ErrorsByN, q: &ErrorsByN) -> bool {
    let bits = |e: &ErrorsByN| -> Vec<u64> {
        let errors = e.seeds.iter().flatten().flatten();
        errors.map(|x| x.to_bits()).collect()
    };
    let shape = |e: &ErrorsByN| -> Vec<usize> {
        let rungs = e.seeds.iter().flatten();
        rungs.map(Vec::len).collect()
    };
    p.n == q.n && shape(p) == shape(q) && bits(p) == bits(q)
}

/// How many times more items `other` needs than `mine`: "3.6", "more than 2.5", "".
fn times(mine: Needed, other: Needed) -> Option<(bool, f64)> {
    let ((my_low, my_high), (low, _)) = (mine.bounds(), other.bounds());
    let (low, high) = (low?, my_high?);
    let exact = my_low.is_some() && matches!(other, Needed::At(_));
    Some((exact, low / high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_items_are_bounded() {
        assert_eq!(Needed::of(Some(15), 10, 100), Needed::At(15));
        assert_eq!(Needed::of(None, 10, 100), Needed::More(100));
        assert_eq!(Needed::of(Some(10), 10, 100), Needed::AtMost(10));
        assert_eq!(Needed::of(Some(1), 1, 10), Needed::At(1));
        let range = |low, high| Range { low, high }.text();
        assert_eq!(range(Needed::AtMost(10), Needed::At(60)), "≤10-60");
        assert_eq!(range(Needed::More(200), Needed::More(200)), ">200");
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
