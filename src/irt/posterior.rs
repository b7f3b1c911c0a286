//! The variational posterior of abilities at given items, for several models at once.
//!
//! Models stand in the lanes of vector registers, so that each one's numbers are the same bits whatever others are beside it.

use multiversion::multiversion;

use super::lane::{LANES, Lane, Number, solve};
use super::moments::Gaussians;
use super::packed;
use super::parameters::{ItemParameters, Prior};
use super::real::Real;

/// Items worked on at once: so many sums are under way while each waits for its last product.
const ITEMS: usize = 4;

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
    for (row, from) in z.second_moments().outer_iter().enumerate() {
        let (group, place) = (row / ITEMS, row % ITEMS);
        let group = &mut zz[group * ITEMS * p..(group + 1) * ITEMS * p];
        for (to, from) in group.chunks_exact_mut(ITEMS).zip(from) {
            to[place] = *from;
        }
    }
    let mut counts = vec![0.0; rows * LANES];
    let mut linear: Vec<Lane> = prior.shift().into_iter().map(Lane::of).collect();
    let mut mean: Vec<Lane> = prior.mean.iter().copied().map(Lane::of).collect();
    let mut cov: Vec<Lane> = prior.covariance().into_iter().map(Lane::of).collect();
    let mut models: Vec<Model> = Vec::with_capacity(ys.len());
    for (lane, y) in ys.iter().enumerate() {
        let mut settled = true;
        for (row, &i) in answered
            .iter()
            .enumerate()
            .filter(|(_, i)| !y[**i].is_nan())
        {
            counts[row * LANES + lane] = 1.0;
            settled = false;
            for (h, a) in linear.iter_mut().zip(z.mean(row)) {
                h.0[lane] += (y[i] - 0.5) * a;
            }
        }
        models.push(Model {
            settled,
            before: None,
            residual: f64::INFINITY,
        });
    }
    let mut xx = vec![Lane::of(0.0); p];
    let mut sums = vec![Lane::of(0.0); p];
    let (mut new_mean, mut new_cov) = (mean.clone(), cov.clone());
    let (mut at, mut to) = (vec![0.0; d], vec![0.0; d]);
    for _ in 0..STEPS {
        if models.iter().all(|m| m.settled) {
            break;
        }
        moments(&mean, &cov, &mut xx);
        sums.fill(Lane::of(0.0));
        weighted_moments(&zz, &xx, &counts, &mut sums);
        for (s, (prior, sum)) in new_cov.iter_mut().zip(prior.precision.iter().zip(&sums)) {
            *s = Lane::of(*prior) + *sum;
        }
        for (m, (linear, sum)) in new_mean.iter_mut().zip(linear.iter().zip(&sums[inner..])) {
            *m = *linear + *sum;
        }
        solve(&mut new_cov, &mut new_mean);
        for (lane, model) in models.iter_mut().enumerate().filter(|(_, m)| !m.settled) {
            for (cov, new) in cov.iter_mut().zip(&new_cov) {
                cov.0[lane] = new.0[lane];
            }
            for j in 0..d {
                (at[j], to[j]) = (mean[j].0[lane], new_mean[j].0[lane]);
            }
            model.step(&mut at, &to);
            for j in 0..d {
                mean[j].0[lane] = at[j];
            }
        }
    }
    let of = |numbers: &[Lane], lane: usize| numbers.iter().map(|n| n.0[lane]).collect();
    models
        .iter()
        .enumerate()
        .map(|(lane, m)| {
            (
                Gaussians::new(d, of(&mean, lane), of(&cov, lane)),
                m.settled,
            )
        })
        .collect()
}

/// One model under way.
struct Model {
    settled: bool,
    /// After the first step of a pair: where it began, and the step.
    before: Option<(Vec<f64>, Vec<f64>)>,
    /// Squared length of the first step of the last pair.
    residual: f64,
}

impl Model {
    /// Takes a step from `mean` to `new`, or after two of them further in their direction: squared extrapolation (Varadhan
    /// and Roland 2008, SQUAREM, steplength S3), which takes a third of the steps to the same fixed point. Where the last one
    /// went too far, the next pair is plain.
    fn step(&mut self, mean: &mut [f64], new: &[f64]) {
        let step: Vec<f64> = new.iter().zip(mean.iter()).map(|(n, m)| n - m).collect();
        self.settled = step.iter().all(|s| s.abs() < TOLERANCE);
        let Some((start, first)) = self.before.take().filter(|_| !self.settled) else {
            self.before = Some((mean.to_vec(), step));
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

/// E\[xx'\] of x = (theta, -1), packed, what stands off the diagonal doubled.
fn moments(mean: &[Lane], cov: &[Lane], xx: &mut [Lane]) {
    let d = mean.len();
    let twice = |a: usize, b: usize| Lane::of(if a == b { 1.0 } else { 2.0 });
    for a in 0..d {
        for b in 0..=a {
            let q = packed::at(a, b);
            xx[q] = twice(a, b) * (cov[q] + mean[a] * mean[b]);
        }
        xx[packed::len(d) + a] = Lane::of(-2.0) * mean[a];
    }
    xx[packed::len(d) + d] = Lane::of(1.0);
}

/// Adds to `sums`, packed by number, the sum over items of omega times E\[zz'\]: `zz` has [`ITEMS`] items' numbers side by
/// side, `xx` the doubled moments of the abilities, and `counts` is 1 where a model answered, else 0,
/// [`LANES`] an item.
///
/// One loop measures a group of items and adds the group before it. It sums across the numbers, so that what the compiler
/// puts into registers are the models of a lane.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn weighted_moments(zz: &[f64], xx: &[Lane], counts: &[f64], sums: &mut [Lane]) {
    let p = xx.len();
    let mut before = &zz[..ITEMS * p];
    let mut weights = [Lane::of(0.0); ITEMS];
    for (group, counts) in (zz.chunks_exact(ITEMS * p)).zip(counts.chunks_exact(ITEMS * LANES)) {
        let mut w = [Lane::of(0.0); ITEMS];
        for (((x, sum), z), b) in (xx.iter().zip(sums.iter_mut()))
            .zip(group.chunks_exact(ITEMS))
            .zip(before.chunks_exact(ITEMS))
        {
            let mut s = *sum;
            for i in 0..ITEMS {
                w[i] = w[i] + Lane::of(z[i]) * *x;
                s = s + Lane::of(b[i]) * weights[i];
            }
            *sum = s;
        }
        let mut flat = [0.0; ITEMS * LANES];
        for (flat, w) in flat.chunks_exact_mut(LANES).zip(&w) {
            flat.copy_from_slice(&w.0);
        }
        weigh(&mut flat, counts);
        for (w, flat) in weights.iter_mut().zip(flat.chunks_exact(LANES)) {
            w.0.copy_from_slice(flat);
        }
        before = group;
    }
    for (sum, b) in sums.iter_mut().zip(before.chunks_exact(ITEMS)) {
        for i in 0..ITEMS {
            *sum = *sum + Lane::of(b[i]) * weights[i];
        }
    }
}

/// c^2 to omega, 0 where an answer does not count. A function of its own: in one with its caller, the compiler works on one
/// number at a time.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn weigh(c2: &mut [f64], counts: &[f64]) {
    for (w, count) in c2.iter_mut().zip(counts) {
        let c = w.max(0.0).sqrt();
        *w = count * c.omega(c.exp_negative());
    }
}
