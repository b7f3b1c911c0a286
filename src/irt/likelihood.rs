//! The maximum-likelihood ability at given items: the reference's estimate, by Newton's method with analytic derivatives.

use multiversion::multiversion;

use super::parameters::ItemParameters;
use super::{packed, sigmoid};

/// The reference's guard inside its logarithms.
const GUARD: f64 = 1e-10;
const STEPS: usize = 200;
/// A step is at most this long; abilities of real models lie within a few units of 0.
const LONGEST: f64 = 10.0;

/// The ability that maximises sum over answered items of y log(P + 1e-10) + (1 - y) log(1 - P + 1e-10), `y` with NaN where
/// not answered, and whether it was found: where all answers are right, or all wrong, there is none. 0 without answers.
pub(super) fn maximum(items: &ItemParameters, y: &[f64]) -> (Vec<f64>, bool) {
    let d = items.dims();
    let seen: Vec<usize> = (0..items.len()).filter(|&i| !y[i].is_nan()).collect();
    let mut theta = vec![0.0; d];
    if seen.is_empty() {
        return (theta, true);
    }
    let mut here = Point::new(seen.len(), d);
    let mut there = Point::new(seen.len(), d);
    here.move_to(items, &seen, y, &theta);
    let mut converged = false;
    let (mut gradient, mut information) = (vec![0.0; d], vec![0.0; packed::len(d)]);
    for _ in 0..STEPS {
        gradient.fill(0.0);
        information.fill(0.0);
        derivatives(&here, &mut gradient, &mut information);
        if gradient.iter().all(|g| g.abs() < 1e-9) {
            converged = true;
            break;
        }
        let trace: f64 = (0..d).map(|a| information[packed::at(a, a)]).sum();
        (0..d).for_each(|a| information[packed::at(a, a)] += 1e-10 * trace + 1e-12);
        packed::cholesky(&mut information, d);
        packed::solve(&information, d, &mut gradient);
        let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let mut step = (LONGEST / norm).min(1.0);
        let improved = loop {
            let moved: Vec<f64> = theta
                .iter()
                .zip(&gradient)
                .map(|(t, g)| t + step * g)
                .collect();
            there.move_to(items, &seen, y, &moved);
            if there.loss <= here.loss {
                let gained = here.loss - there.loss;
                theta = moved;
                std::mem::swap(&mut here, &mut there);
                break gained > 0.0 || step * norm > 1e-12;
            }
            step /= 2.0;
            if step < 1e-12 {
                break false;
            }
        };
        if !improved {
            break;
        }
    }
    // All right or all wrong: the likelihood has no maximum, whatever the guard makes of it.
    let runs_off = seen.iter().all(|&i| y[i] == 1.0) || seen.iter().all(|&i| y[i] == 0.0);
    (theta, converged && !runs_off)
}

/// What is known of the answers at one ability.
struct Point {
    /// Minus the log-likelihood.
    loss: f64,
    /// P (1 - P) of each item.
    spread: Vec<f64>,
    /// Derivative of each answer's log-likelihood by its logit.
    pull: Vec<f64>,
    /// Derivatives of each logit by the ability: d an item.
    slopes: Vec<f64>,
}

impl Point {
    fn new(n: usize, d: usize) -> Self {
        Self {
            loss: f64::INFINITY,
            spread: vec![0.0; n],
            pull: vec![0.0; n],
            slopes: vec![0.0; n * d],
        }
    }

    fn move_to(&mut self, items: &ItemParameters, seen: &[usize], y: &[f64], theta: &[f64]) {
        self.loss = 0.0;
        // Likelihoods of right and wrong answers are multiplied as long as that is safe: a logarithm takes as long as all the
        // rest of an item.
        let mut product = 1.0f64;
        let places = self.spread.iter_mut().zip(&mut self.pull);
        for (((spread, pull), slope), &i) in places
            .zip(self.slopes.chunks_exact_mut(theta.len()))
            .zip(seen)
        {
            let p = sigmoid(items.logit(i, theta, Some(slope)));
            let (right, wrong) = (p + GUARD, 1.0 - p + GUARD);
            if y[i] == 1.0 {
                product *= right;
            } else if y[i] == 0.0 {
                product *= wrong;
            } else {
                self.loss -= y[i] * right.ln() + (1.0 - y[i]) * wrong.ln();
            }
            if product < 1e-200 {
                self.loss -= product.ln();
                product = 1.0;
            }
            *spread = p * (1.0 - p);
            *pull = *spread * (y[i] / right - (1.0 - y[i]) / wrong);
        }
        self.loss -= product.ln();
    }
}

/// Adds the gradient of the log-likelihood, and the expected information, packed.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn derivatives(at: &Point, gradient: &mut [f64], information: &mut [f64]) {
    let d = gradient.len();
    for ((slope, spread), pull) in at.slopes.chunks_exact(d).zip(&at.spread).zip(&at.pull) {
        for a in 0..d {
            gradient[a] += pull * slope[a];
            let scaled = spread * slope[a];
            let row = &mut information[packed::len(a)..packed::len(a) + a + 1];
            for (sum, s) in row.iter_mut().zip(slope) {
                *sum += scaled * s;
            }
        }
    }
}
