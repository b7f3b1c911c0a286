//! A model whose item parameters are given: only the abilities and their prior are fitted.

use super::centred::Centred;
use super::fit::{Fit, KEPT};
use super::moments::Gaussians;
use super::parameters::{ItemParameters, Prior};
use super::sweep;
use crate::cache::Key;
use crate::data::Responses;
use crate::error::Result;
use crate::progress::{Observer, Progress};

/// The prior of the ability that comes with given item parameters.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub enum GivenPrior {
    /// Of the fit that the items are from: it stays.
    Fitted(Prior),
    /// Where empirical Bayes starts from.
    Start(Prior),
}

/// At most so many sweeps, as few moves as a fit ends with.
const SWEEPS: usize = 100;
const TOLERANCE: f64 = 1e-3;

/// Abilities of the models of `responses` (scores in \[0, 1\], NaN missing) at given parameters of all its items: the ability
/// half of [`super::fit()`], with empirical Bayes of their prior after each sweep unless it is given. The items and the scale
/// of the latent space stay what they are; there is no evidence, since no item was fitted. `converged` says whether the
/// last sweep moved no ability by more than 1e-3. Where the matrix has a cache, the fit is looked for in it first.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn fit_abilities(
    responses: &Responses<'_>,
    items: ItemParameters,
    prior: &GivenPrior,
    observer: &dyn Observer,
) -> Result<Fit> {
    responses.kept(
        || format!("abilities at given items, D = {}", items.dims()),
        || Key::new("abilities", KEPT).with(&items).with(prior),
        || ascend(responses, items.clone(), prior, observer),
    )
}

fn ascend(
    responses: &Responses<'_>,
    items: ItemParameters,
    prior: &GivenPrior,
    observer: &dyn Observer,
) -> Result<Fit> {
    let (GivenPrior::Fitted(first) | GivenPrior::Start(first)) = prior;
    let mut ability_prior = first.clone();
    let n = responses.n_models();
    let mut abilities = Gaussians::new(
        items.dims(),
        first.mean.repeat(n),
        first.covariance().repeat(n),
    );
    // In double precision: with the items given, a sweep is half of one, and few are needed.
    let y = Centred::<f64>::new(responses);
    let given = sweep::Items::new(items.posterior().clone());
    let mut moves = Vec::new();
    let mut converged = false;
    while !converged && moves.len() < SWEEPS {
        observer.check()?;
        observer.progress(&Progress {
            what: format!("abilities, sweep {}", moves.len() + 1),
            done: moves.len() as f64 / SWEEPS as f64,
        });
        let largest = sweep::abilities(&y, &mut abilities, &given, &ability_prior);
        if matches!(prior, GivenPrior::Start(_)) {
            ability_prior = Prior::empirical(&abilities);
        }
        moves.push(largest);
        converged = largest <= TOLERANCE;
    }
    Ok(Fit {
        item_prior: Prior::empirical(items.posterior()),
        items,
        abilities,
        ability_prior,
        evidence: Vec::new(),
        moves,
        converged,
    })
}
