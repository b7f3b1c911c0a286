//! Quantiles of the beta distribution, to five decimals: scores between 0 and 1.

/// Decimals of a simulated score.
const GRID: u32 = 100_000;

/// The score whose rank among draws of Beta(p phi, (1 - p) phi) is `u`: the quantile, on a grid of five decimals.
pub(super) fn score(p: f64, phi: f64, u: f64) -> f64 {
    let (a, b) = (p * phi, (1.0 - p) * phi);
    let norm = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    // The smallest k with F((k + 1/2) / GRID) >= u: the quantile rounded to the grid.
    let (mut low, mut high) = (0, GRID);
    while low < high {
        let mid = (low + high) / 2;
        if cdf(a, b, norm, (f64::from(mid) + 0.5) / f64::from(GRID)) >= u {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    f64::from(low) / f64::from(GRID)
}

/// The regularised incomplete beta function I_x(a, b); `norm` is -ln B(a, b).
fn cdf(a: f64, b: f64, norm: f64, x: f64) -> f64 {
    if x >= 1.0 {
        return 1.0;
    }
    let front = (norm + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// Continued fraction of I_x(a, b), DLMF 8.17.22, by the modified Lentz method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..200 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        value *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-12 {
            break;
        }
    }
    value
}

/// ln Gamma(x), x > 0, by Stirling's series after shifting the argument up (DLMF 5.11.1).
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let (r, r2) = (1.0 / x, 1.0 / (x * x));
    let series = r / 12.0 * (1.0 - r2 / 30.0 * (1.0 - r2 * 2.0 / 7.0 * (1.0 - r2 * 0.75)));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_gamma_of_known_arguments() {
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-12);
        assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-12);
        assert!((ln_gamma(1e-3) - 6.907_178_885_383_853).abs() < 1e-9);
    }

    #[test]
    fn a_uniform_distribution_gives_the_rank_back() {
        for u in [0.0, 0.1, 0.25, 0.5, 0.99] {
            assert!((score(0.5, 2.0, u) - u).abs() < 1e-5);
        }
    }

    #[test]
    fn the_mean_over_ranks_is_the_probability_and_the_variance_that_of_the_dispersion() {
        for (p, phi) in [(0.05, 0.5), (0.5, 0.1), (0.7, 4.0), (0.99, 0.03)] {
            let n = 4000;
            let scores: Vec<f64> = (0..n)
                .map(|k| score(p, phi, (f64::from(k) + 0.5) / f64::from(n)))
                .collect();
            let mean = scores.iter().sum::<f64>() / f64::from(n);
            let variance = scores.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!((mean - p).abs() < 2e-3, "{p} {phi}: {mean}");
            let expected = p * (1.0 - p) / (1.0 + phi);
            assert!((variance - expected).abs() < 2e-3, "{p} {phi}: {variance}");
        }
    }
}
