//! Scores that wait for the matrix: a byte each where few values differ.

use std::collections::HashMap;

/// Scores by place; beyond the last they are missing.
pub(super) enum Packed {
    /// `levels[code]`; 255 is missing.
    Levels { levels: Vec<f64>, codes: Vec<u8> },
    /// NaN is missing.
    Scores(Vec<f64>),
}

impl Packed {
    /// Packs scores; NaN is missing.
    pub(super) fn of(scores: Vec<f64>) -> Self {
        let (mut levels, mut known) = (Vec::new(), HashMap::new());
        let mut codes = Vec::with_capacity(scores.len());
        for &score in &scores {
            if score.is_nan() {
                codes.push(u8::MAX);
                continue;
            }
            let next = levels.len();
            let code = *known.entry(score.to_bits()).or_insert(next);
            match u8::try_from(code) {
                Ok(code) if code < u8::MAX => codes.push(code),
                _ => return Self::Scores(scores),
            }
            if code == next {
                levels.push(score);
            }
        }
        Self::Levels { levels, codes }
    }

    /// The score at a place; NaN where missing.
    pub(super) fn get(&self, place: usize) -> f64 {
        let score = match self {
            Self::Levels { levels, codes } => {
                codes.get(place).and_then(|&c| levels.get(usize::from(c)))
            }
            Self::Scores(scores) => scores.get(place),
        };
        score.copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_scores_come_back() {
        for n in [2, 255, 256, 400] {
            let mut scores: Vec<f64> = (0..2 * n).map(|i| f64::from(i % n) / 400.0).collect();
            scores[1] = f64::NAN;
            let packed = Packed::of(scores.clone());
            let same = |(i, y): (usize, &f64)| packed.get(i).to_bits() == y.to_bits();
            assert!(scores.iter().enumerate().all(same), "{n}");
            assert!(packed.get(scores.len()).is_nan());
            assert_eq!(matches!(packed, Packed::Levels { .. }), n <= 255);
        }
    }
}
