//! Intervals that cover: conformal, from the out-of-fold errors of training models.

/// A score with an interval, all in \[0, 1\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// `estimate` plus and minus `half`, cut to \[0, 1\].
    pub fn around(estimate: f64, half: f64) -> Self {
        let estimate = estimate.clamp(0.0, 1.0);
        Self {
            estimate,
            low: (estimate - half).max(0.0),
            high: (estimate + half).min(1.0),
        }
    }

    /// The shortest interval with the same estimate that holds this one, `other`, and the estimate.
    pub fn hull(self, other: Self) -> Self {
        Self {
            estimate: self.estimate,
            low: self.low.min(other.low).min(self.estimate),
            high: self.high.max(other.high).max(self.estimate),
        }
    }

    /// Half its length.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether a score lies within.
    pub fn covers(&self, score: f64) -> bool {
        (self.low..=self.high).contains(&score)
    }
}

/// How large errors are, learned from models whose errors are known: split conformal prediction with locally scaled scores
/// (Lei et al. 2018, "Distribution-free predictive inference for regression", section 5.2).
///
/// The scale of a model's error is sigma = sqrt(spread^2 + m), spread the posterior deviation of its predicted score and m
/// the mean squared error of the models known; half = quantile of |error| / sigma, times the model's own sigma. Whatever
/// errors look like, models exchangeable with those known are covered with the level's probability, to within 1 / (L + 1).
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// |error| / sigma, rising.
    scores: Vec<f64>,
    mean_square: f64,
}

impl Calibration {
    /// From (error, spread) of every model known.
    pub fn of(known: &[(f64, f64)]) -> Self {
        let mean_square = known.iter().map(|(e, _)| e * e).sum::<f64>() / known.len().max(1) as f64;
        let mut scores: Vec<f64> = known
            .iter()
            .map(|(e, spread)| {
                let sigma = (spread * spread + mean_square).sqrt();
                if sigma > 0.0 { e.abs() / sigma } else { 0.0 }
            })
            .collect();
        scores.sort_by(f64::total_cmp);
        Self {
            scores,
            mean_square,
        }
    }

    /// How many models are known.
    pub fn known(&self) -> usize {
        self.scores.len()
    }

    /// How many models it takes: the fewest L for which the ceil((L + 1) level)-th smallest score is there at all.
    pub fn needed(level: f64) -> usize {
        let there = |l: &usize| ((l + 1) as f64 * level - 1e-9).ceil() <= *l as f64;
        (1..).find(there).unwrap_or(usize::MAX)
    }

    /// Whether no model known has an error, rounding aside.
    pub fn exact(&self) -> bool {
        self.mean_square <= 1e-18
    }

    /// Share of the models known whose error is larger than this one, each on its own scale; 0 where none is known.
    pub fn beyond(&self, error: f64, spread: f64) -> f64 {
        let sigma = (spread * spread + self.mean_square).sqrt();
        let score = if sigma > 0.0 {
            error.abs() / sigma
        } else {
            f64::INFINITY
        };
        let within = self.scores.partition_point(|s| *s <= score);
        (self.scores.len() - within) as f64 / self.scores.len().max(1) as f64
    }

    /// Half the length of the interval of a model with this spread: the (L + 1) level-th smallest score, linear between
    /// neighbours, times sigma. The largest where L models cannot tell so high a level; 1 where none is known.
    pub fn half_width(&self, spread: f64, level: f64) -> f64 {
        let Some(last) = self.scores.len().checked_sub(1) else {
            return 1.0;
        };
        let rank = ((last + 2) as f64 * level - 1.0).clamp(0.0, last as f64);
        let (below, above) = (rank.floor() as usize, rank.ceil() as usize);
        let share = rank - below as f64;
        let score = (1.0 - share) * self.scores[below] + share * self.scores[above];
        score * (spread * spread + self.mean_square).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn of_the_models_known_at_least_the_level_is_covered(
            known in prop::collection::vec((-0.3..0.3f64, 0.0..0.2f64), 1..80), level in 0.05..0.99f64,
        ) {
            let calibration = Calibration::of(&known);
            let within = known.iter().filter(|(e, s)| e.abs() <= calibration.half_width(*s, level) + 1e-12).count();
            let rank = ((known.len() + 1) as f64 * level).floor().min(known.len() as f64);
            prop_assert!(within as f64 >= rank);
            let (narrow, wide) = (calibration.half_width(0.01, level), calibration.half_width(0.3, level));
            prop_assert!(narrow <= wide && narrow <= calibration.half_width(0.01, 0.995));
        }
    }

    #[test]
    fn ranks_and_edges() {
        let known: Vec<(f64, f64)> = (1..=19).map(|i| (f64::from(i) / 100.0, 0.0)).collect();
        let calibration = Calibration::of(&known);
        assert!((calibration.half_width(0.0, 0.9) - 0.18).abs() < 1e-12);
        assert!((calibration.half_width(0.0, 0.925) - 0.185).abs() < 1e-12);
        assert!((calibration.half_width(0.0, 0.99) - 0.19).abs() < 1e-12);
        assert_eq!(Calibration::of(&[]).half_width(0.1, 0.9), 1.0);
        assert_eq!(Calibration::of(&[(0.0, 0.0)]).half_width(0.0, 0.9), 0.0);
        for (level, needed) in [(0.9, 9), (0.5, 1), (0.8, 4), (0.95, 19)] {
            assert_eq!(Calibration::needed(level), needed);
        }
        let wide = Interval::around(0.5, 0.1).hull(Interval::around(0.8, 0.1));
        assert_eq!((wide.estimate, wide.low, wide.high), (0.5, 0.4, 0.9));
        assert!(Calibration::of(&[(1e-12, 0.1); 9]).exact() && !calibration.exact());
        let cut = Interval::around(1.1, 0.2);
        assert_eq!((cut.estimate, cut.high, cut.covers(0.9)), (1.0, 1.0, true));
    }
}
