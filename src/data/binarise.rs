//! Binary responses from scores, as the reference needs them (the paper fits 0/1 responses).

use super::Responses;

/// Number of candidate thresholds, as in the published tutorials.
pub const GRID: usize = 100;

/// The threshold c of [`GRID`] even steps in \[0.01, 0.99\] that minimises, over the models of `responses`, the mean of
/// |mean of 1\[Y > c\] - mean of Y|; the smallest of equals. Missing entries are left out; models without answers too.
pub fn threshold(responses: &Responses<'_>) -> f64 {
    let candidates: Vec<f64> = (0..GRID)
        .map(|k| 0.01 + 0.98 * k as f64 / (GRID - 1) as f64)
        .collect();
    let mut errors = vec![0.0; GRID];
    for model in 0..responses.n_models() {
        let mut scores: Vec<f64> = responses.row(model);
        scores.retain(|y| !y.is_nan());
        if scores.is_empty() {
            continue;
        }
        scores.sort_by(f64::total_cmp);
        let n = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / n;
        for (error, &c) in errors.iter_mut().zip(&candidates) {
            let above = n - scores.partition_point(|&y| y <= c) as f64;
            *error += (above / n - mean).abs();
        }
    }
    let best = (0..GRID)
        .min_by(|&i, &j| errors[i].total_cmp(&errors[j]))
        .unwrap_or(0);
    candidates[best]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MatrixBuilder;

    #[test]
    fn binary_responses_keep_any_threshold_and_scores_find_theirs() {
        let mut b = MatrixBuilder::new((0..4).map(|i| i.to_string()).collect());
        b.push("m", &[0.1, 0.2, 0.9, 0.8]);
        b.push("n", &[f64::NAN; 4]);
        let m = b.finish();
        let c = threshold(&Responses::new(&m, vec![0, 1], (0..4).collect()));
        assert!((0.2..0.8).contains(&c), "{c}");
    }
}
