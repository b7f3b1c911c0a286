//! A floor of guessing and a ceiling of slips under a fitted response curve.

use crate::irt::sigmoid;

/// Where the curve of an item is known: probabilities are compared at the abilities of this many models.
pub(super) const PROBES: usize = 200;

/// An item's floor and ceiling, and how its logit a . theta - b changes under them: to `slope` (a . theta) - `intercept`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Floored {
    pub(super) floor: f64,
    pub(super) ceiling: f64,
    pub(super) slope: f64,
    pub(super) intercept: f64,
}

/// Puts at most `guess` under and at most `slip` over the curve sigmoid(x - b), x = a . theta of some models.
///
/// A fit without floor has already bent the curve to what it saw: the floor is no higher than its 5 % quantile, the ceiling
/// no lower than its 95 % quantile, and the slope follows by weighted least squares. A curve that is to stand for another
/// kind of item (`foreign`) knows nothing of its floor: it is kept from it by the mean alone, and the slope stays. The mean
/// over the models stays either way.
pub(super) fn put_under(x: &[f64], b: f64, guess: f64, slip: f64, foreign: bool) -> Floored {
    let mut p: Vec<f64> = x.iter().map(|x| sigmoid(x - b)).collect();
    let mean = p.iter().sum::<f64>() / p.len().max(1) as f64;
    let mut sorted = p.clone();
    sorted.sort_by(f64::total_cmp);
    let quantile = |q: f64| {
        sorted
            .get(((sorted.len().max(1) - 1) as f64 * q).round() as usize)
            .copied()
            .unwrap_or(0.5)
    };
    let (lowest, highest) = if foreign {
        (0.95 * mean, 1.0 - 0.95 * (1.0 - mean))
    } else {
        (quantile(0.05), quantile(0.95))
    };
    let floor = guess.min(lowest);
    let ceiling = (1.0 - slip).max(highest);
    if floor == 0.0 && ceiling == 1.0 || ceiling - floor < 1e-3 {
        return Floored {
            floor: 0.0,
            ceiling: 1.0,
            slope: 1.0,
            intercept: b,
        };
    }
    // Weighted regression of the logit above the floor on the old one.
    let (mut w0, mut wx, mut wy) = (0.0, 0.0, 0.0);
    for p in &mut p {
        *p = ((*p - floor) / (ceiling - floor)).clamp(0.01, 0.999);
        w0 += *p * (1.0 - *p);
    }
    let moments = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        p.iter()
            .zip(x)
            .map(|(&p, &x)| p * (1.0 - p) * f(x, (p / (1.0 - p)).ln()))
            .sum()
    };
    wx += moments(&|x, _| x) / w0;
    wy += moments(&|_, y| y) / w0;
    let xx = moments(&|x, _| (x - wx).powi(2));
    let xy = moments(&|x, y| (x - wx) * (y - wy));
    let slope = if !foreign && xx > 1e-4 * x.len() as f64 {
        (xy / xx).clamp(1.0, 4.0)
    } else {
        1.0
    };
    // The mean falls as the intercept rises.
    let (mut low, mut high) = (-60.0, 60.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        let m = x
            .iter()
            .map(|x| floor + (ceiling - floor) * sigmoid(slope * x - middle))
            .sum::<f64>()
            / x.len().max(1) as f64;
        if m > mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    Floored {
        floor,
        ceiling,
        slope,
        intercept: (low + high) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_stays_and_the_floor_leaves_room() {
        let x: Vec<f64> = (0..101).map(|k| f64::from(k - 50) / 20.0).collect();
        for b in [-3.0, -1.0, 0.0, 2.0, 5.0] {
            let f = put_under(&x, b, 0.25, 0.02, b > 1.0);
            let old = x.iter().map(|x| sigmoid(x - b)).sum::<f64>() / 101.0;
            let new = x
                .iter()
                .map(|x| f.floor + (f.ceiling - f.floor) * sigmoid(f.slope * x - f.intercept))
                .sum::<f64>()
                / 101.0;
            assert!((old - new).abs() < 1e-6, "{b}: {old} {new}");
            assert!((0.0..=0.25).contains(&f.floor) && (0.98..=1.0).contains(&f.ceiling));
        }
    }

    #[test]
    fn without_floor_and_slip_nothing_changes() {
        let f = put_under(&[-1.0, 0.0, 1.0], 0.3, 0.0, 0.0, false);
        assert_eq!(
            (f.floor, f.ceiling, f.slope, f.intercept),
            (0.0, 1.0, 1.0, 0.3)
        );
    }
}
