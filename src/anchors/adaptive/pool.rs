//! What can be asked, and what asking it needs.

use ndarray::Array2;

use crate::error::{Error, Result};
use crate::irt::{ItemParameters, Prior};

/// The items of a scenario that can be asked, with all that asking them needs; serves any number of models.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    pub(super) items: ItemParameters,
    /// E\[z z'\], packed, a row an item.
    pub(super) moments: Array2<f64>,
    pub(super) balance: Vec<f64>,
    pub(super) dispersion: Vec<f64>,
    pub(super) prior: Prior,
    pub(super) threshold: Option<f64>,
}

impl Pool {
    /// From parameters and balance weights of all items by position, the dispersion r of each (above 0; empty for 1), the
    /// prior of the ability, and the threshold above which a score counts 1 in the ability (where responses were binarised).
    ///
    /// # Errors
    /// Lengths or dimensions that do not fit together.
    pub fn new(
        items: ItemParameters,
        balance: Vec<f64>,
        dispersion: Vec<f64>,
        prior: Prior,
        threshold: Option<f64>,
    ) -> Result<Self> {
        let n = items.len();
        let dispersion = if dispersion.is_empty() {
            vec![1.0; n]
        } else {
            dispersion
        };
        if balance.len() != n || dispersion.len() != n || prior.dims() != items.dims() {
            return Err(Error::setting(
                format!(
                    "{n} items of D = {}, {} weights, {} dispersions and a prior of D = {} do not fit together",
                    items.dims(),
                    balance.len(),
                    dispersion.len(),
                    prior.dims()
                ),
                "",
            ));
        }
        if let Some(r) = dispersion.iter().find(|r| !(**r > 0.0 && r.is_finite())) {
            return Err(Error::setting(format!("a dispersion is {r}"), ""));
        }
        Ok(Self {
            moments: items.posterior().second_moments(),
            items,
            balance,
            dispersion,
            prior,
            threshold,
        })
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
