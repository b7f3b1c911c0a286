//! The variational fit of the M2PL model.

use super::centred::Centred;
use super::moments::Gaussians;
use super::parameters::{ItemParameters, Prior};
use super::weigh::Weighed;
use super::{gauge, start, sweep};
use crate::cache::Key;
use crate::data::Responses;
use crate::error::Result;
use crate::progress::{Observer, Progress};

/// Counts the forms in which fits, and what is chosen by them, were kept.
pub(super) const KEPT: u32 = 1;

/// What a fit is asked for.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct FitOptions {
    /// D, the number of ability dimensions; at least 1.
    pub dims: usize,
    /// At most so many sweeps.
    pub max_sweeps: usize,
    /// Stop when no ability moves by more than this in a sweep.
    pub tolerance: f64,
    /// The numbers that responses are worked on in.
    pub precision: Precision,
}

/// The numbers of what is computed for every response: c, omega and the products with them. Sums over responses and all that
/// is solved or inverted are in double precision either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum Precision {
    /// `f64`.
    #[default]
    Double,
    /// `f32`, in two thirds of the time. Estimated scores move by about 1e-8 on real matrices, which no error shows; but the
    /// seventh digit of a parameter then depends on the processor's instructions, and with it at which anchors k-means ends
    /// (`cargo bench --bench scale -- precision`).
    Single,
}

impl FitOptions {
    /// 60 sweeps, tolerance 1e-3.
    pub fn new(dims: usize) -> Self {
        Self {
            dims,
            max_sweeps: 60,
            tolerance: 1e-3,
            precision: Precision::Double,
        }
    }
}

/// A fitted model, in the canonical gauge: abilities with mean 0 and mean second moment I, axes by discrimination.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Fit {
    /// Items, in the order of the responses' columns.
    pub items: ItemParameters,
    /// Abilities of the models fitted on, in their order.
    pub abilities: Gaussians,
    /// Prior of z = (a, b), by empirical Bayes.
    pub item_prior: Prior,
    /// Prior of theta, by empirical Bayes.
    pub ability_prior: Prior,
    /// Evidence lower bound before each sweep and at the end, in nats; it never falls.
    pub evidence: Vec<f64>,
    /// Largest move of any ability in each sweep, before the gauge is changed.
    pub moves: Vec<f64>,
    /// Whether the last sweep moved no ability by more than the tolerance.
    pub converged: bool,
}

impl Fit {
    /// D.
    pub fn dims(&self) -> usize {
        self.items.dims()
    }
}

/// Fits the model to `responses` (scores in \[0, 1\], NaN missing) by coordinate ascent on the evidence bound:
///
///   c_li^2 = <E\[zz'\], E\[xx'\]>, x = (theta, -1), omega = tanh(c/2) / (2c), fresh before each half-sweep;
///   q(z_i): S^-1 = Lambda_z + sum_l omega E\[xx'\], m = S (Lambda_z mu_z + sum_l (y - 1/2) E\[x\]);
///   q(theta_l): S^-1 = Lambda_t + sum_i omega E\[aa'\], m = S (Lambda_t mu_t + sum_i (y - 1/2) E\[a\] + omega E\[ab\]);
///   empirical Bayes after each half.
///
/// Deterministic, whatever the number of threads. About 4 L N (D + 1)(D + 2) flops a sweep; memory beside the responses is
/// that of the parameters. Where the matrix has a cache, the fit is looked for in it first.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn fit(
    responses: &Responses<'_>,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<Fit> {
    responses.kept(
        || format!("fit, D = {}", options.dims),
        || Key::new("fit", KEPT).with(options),
        || ascend(responses, options, observer),
    )
}

/// [`fit`] without a cache.
pub(super) fn ascend(
    responses: &Responses<'_>,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<Fit> {
    match options.precision {
        Precision::Double => ascend_in::<f64>(responses, options, observer),
        Precision::Single => ascend_in::<f32>(responses, options, observer),
    }
}

fn ascend_in<T: Weighed>(
    responses: &Responses<'_>,
    options: &FitOptions,
    observer: &dyn Observer,
) -> Result<Fit> {
    let d = options.dims.max(1);
    let (means, counts) = responses.item_means();
    let y = Centred::<T>::new(responses);
    let mut theta = Gaussians::isotropic(responses.n_models(), d, 0.1);
    let begin = start::abilities(&y, &means, d);
    for (theta, begin) in theta.mean.iter_mut().zip(&begin) {
        *theta = *begin;
    }
    let mut z = Gaussians::isotropic(responses.n_items(), d + 1, 0.1);
    for (i, z) in z.mean.chunks_exact_mut(d + 1).enumerate() {
        let p = if counts[i] == 0 {
            0.5
        } else {
            means[i].clamp(0.02, 0.98)
        };
        z[d] = -(p / (1.0 - p)).ln();
    }
    let mut items = sweep::Items::<T>::new(z);
    let (mut prior_z, mut prior_theta) = (Prior::standard(d + 1), Prior::standard(d));
    let (mut evidence, mut moves) = (Vec::new(), Vec::new());
    let mut converged = false;
    for s in 0..options.max_sweeps {
        observer.check()?;
        observer.progress(&Progress {
            what: format!("sweep {}", s + 1),
            done: s as f64 / options.max_sweeps as f64,
        });
        let divergence = prior_theta.divergence().sum(&theta);
        evidence.push(sweep::items(&y, &theta, &mut items, &prior_z) - divergence);
        prior_z = Prior::empirical(items.posterior());
        let largest = sweep::abilities(&y, &mut theta, &items, &prior_theta);
        prior_theta = Prior::empirical(&theta);
        moves.push(largest);
        if largest <= options.tolerance {
            converged = true;
            break;
        }
    }
    let divergence = prior_theta.divergence().sum(&theta);
    let mut z = items.posterior().clone();
    evidence.push(sweep::items(&y, &theta, &mut items, &prior_z) - divergence);
    gauge::canonical(&mut theta, &mut z, &mut prior_theta, &mut prior_z);
    Ok(Fit {
        items: ItemParameters::new(z),
        abilities: theta,
        item_prior: prior_z,
        ability_prior: prior_theta,
        evidence,
        moves,
        converged,
    })
}
