//! The variational posterior of abilities at given items, for several models at once.
//!
//! Models stand in the lanes of vector registers, so that each one's numbers are the same bits whatever others are beside it.

use multiversion::multiversion;

use super::moments::{Gaussians, doubled, extended_moments};
use super::packed;
use super::parameters::{ItemParameters, Prior};
use super::weigh::{exp_negative, omega};

/// Models worked on at once: one register of AVX-512, two of AVX.
pub(super) const LANES: usize = 8;
/// Items worked on at once: so many sums are under way while each waits for its last product.
const ITEMS: usize = 4;

/// One number of every model.
type Lane = [f64; LANES];

/// Most steps: each is a closed-form update.
const STEPS: usize = 1000;
const TOLERANCE: f64 = 1e-9;

/// q(theta) of up to [`LANES`] models with scores `ys` on `items` (NaN: not answered), and whether it settled: fixed points of
///
///   c_i^2 = <E\[zz'\], E\[xx'\]>, x = (theta, -1), omega = tanh(c/2) / (2c);
///   S^-1 = Lambda + sum_i omega E\[aa'\], m = S (Lambda mu + sum_i (y - 1/2) E\[a\] + omega E\[ab\]),
///
/// from the prior on, each model until its mean moves by less than 1e-9.
pub(super) fn posteriors(
    items: &ItemParameters,
    ys: &[&[f64]],
    prior: &Prior,
) -> Vec<(Gaussians, bool)> {
    debug_assert!(ys.len() <= LANES);
    let d = items.dims();
    let (inner, p) = (packed::len(d), packed::len(d + 1));
    let answered: Vec<usize> = (0..items.len())
        .filter(|&i| ys.iter().any(|y| !y[i].is_nan()))
        .collect();
    let z = items.posterior().select(&answered);
    // Whole groups of items: what is added has no answer.
    let rows = answered.len().next_multiple_of(ITEMS);
    let mut zz = vec![0.0; rows * p];
    for (to, from) in zz.chunks_exact_mut(p).zip(z.second_moments().outer_iter()) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = *from;
        }
    }
    let mut counts: Vec<Lane> = vec![[0.0; LANES]; rows];
    let mut models: Vec<Model> = Vec::with_capacity(ys.len());
    for (lane, y) in ys.iter().enumerate() {
        let mut linear = prior.shift();
        let mut answers = false;
        for (row, &i) in answered
            .iter()
            .enumerate()
            .filter(|(_, i)| !y[**i].is_nan())
        {
            counts[row][lane] = 1.0;
            answers = true;
            for (h, a) in linear.iter_mut().zip(z.mean(row)) {
                *h += (y[i] - 0.5) * a;
            }
        }
        models.push(Model {
            theta: Gaussians::new(d, prior.mean.clone(), prior.covariance()),
            linear,
            settled: !answers,
            before: None,
            residual: f64::INFINITY,
        });
    }
    let mut xx: Vec<Lane> = vec![[0.0; LANES]; p];
    let mut sums: Vec<Lane> = vec![[0.0; LANES]; p];
    let (mut precision, mut mean) = (vec![0.0; inner], vec![0.0; d]);
    for _ in 0..STEPS {
        if models.iter().all(|m| m.settled) {
            break;
        }
        for (lane, model) in models.iter().enumerate().filter(|(_, m)| !m.settled) {
            let moments = doubled(extended_moments(&model.theta), d + 1);
            for (x, m) in xx.iter_mut().zip(&moments) {
                x[lane] = *m;
            }
        }
        sums.fill([0.0; LANES]);
        weighted_moments(&zz, &xx, &counts, &mut sums);
        for (lane, model) in models.iter_mut().enumerate().filter(|(_, m)| !m.settled) {
            for (q, s) in precision.iter_mut().enumerate() {
                *s = prior.precision[q] + sums[q][lane];
            }
            for (j, m) in mean.iter_mut().enumerate() {
                *m = model.linear[j] + sums[inner + j][lane];
            }
            packed::cholesky(&mut precision, d);
            packed::solve(&precision, d, &mut mean);
            packed::invert(&mut precision, d);
            model.theta.cov.copy_from_slice(&precision);
            model.step(&mean);
        }
    }
    models
        .into_iter()
        .map(|mut m| {
            m.theta.refresh_log_det();
            (m.theta, m.settled)
        })
        .collect()
}

/// One model under way.
struct Model {
    theta: Gaussians,
    /// What of the mean does not change.
    linear: Vec<f64>,
    settled: bool,
    /// After the first step of a pair: where it began, and the step.
    before: Option<(Vec<f64>, Vec<f64>)>,
    /// Squared length of the first step of the last pair.
    residual: f64,
}

impl Model {
    /// Takes a step to `new`, or after two of them further in their direction: squared extrapolation (Varadhan and Roland
    /// 2008, SQUAREM, steplength S3), which takes a third of the steps to the same fixed point. Where the last one went too
    /// far, the next pair is plain.
    fn step(&mut self, new: &[f64]) {
        let mean = &mut self.theta.mean;
        let step: Vec<f64> = new.iter().zip(mean.iter()).map(|(n, m)| n - m).collect();
        self.settled = step.iter().all(|s| s.abs() < TOLERANCE);
        let Some((start, first)) = self.before.take().filter(|_| !self.settled) else {
            self.before = Some((mean.clone(), step));
            mean.copy_from_slice(new);
            return;
        };
        let bend: Vec<f64> = step.iter().zip(&first).map(|(s, f)| s - f).collect();
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let (length, turn) = (square(&first), square(&bend));
        let too_far = length > self.residual;
        self.residual = length;
        if too_far || turn == 0.0 {
            mean.copy_from_slice(new);
            return;
        }
        let far = (length / turn).sqrt().max(1.0);
        for (((m, s), f), b) in mean.iter_mut().zip(&start).zip(&first).zip(&bend) {
            *m = s + far * (2.0 * f + far * b);
        }
    }
}

/// Adds to `sums`, packed by number, the sum over items of omega times E\[zz'\]: `zz` has a row an item, `xx` the doubled
/// moments of the abilities, and `counts` is 1 where a model answered, else 0.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn weighted_moments(zz: &[f64], xx: &[Lane], counts: &[Lane], sums: &mut [Lane]) {
    let p = xx.len();
    for (zz, counts) in zz.chunks_exact(ITEMS * p).zip(counts.chunks_exact(ITEMS)) {
        let (first, rest) = zz.split_at(p);
        let (second, rest) = rest.split_at(p);
        let (third, fourth) = rest.split_at(p);
        let mut w = [[0.0; LANES]; ITEMS];
        for ((((x, a), b), c), d) in xx.iter().zip(first).zip(second).zip(third).zip(fourth) {
            for r in 0..LANES {
                w[0][r] += a * x[r];
                w[1][r] += b * x[r];
                w[2][r] += c * x[r];
                w[3][r] += d * x[r];
            }
        }
        for (w, counts) in w.iter_mut().zip(counts) {
            for (w, count) in w.iter_mut().zip(counts) {
                let c = w.max(0.0).sqrt();
                *w = count * omega(c, exp_negative(c));
            }
        }
        for ((((sum, a), b), c), d) in sums
            .iter_mut()
            .zip(first)
            .zip(second)
            .zip(third)
            .zip(fourth)
        {
            for r in 0..LANES {
                sum[r] = sum[r] + a * w[0][r] + b * w[1][r] + c * w[2][r] + d * w[3][r];
            }
        }
    }
}
