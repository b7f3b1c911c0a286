//! Responses drawn from a population, for timings: of any size, and the same everywhere.

use ndarray::Array2;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use tinyscope::data::{MatrixBuilder, ResponseMatrix, Responses};
use tinyscope::irt::sigmoid;
use tinyscope::random::{Stream, rng};

/// 0/1 responses of an M2PL population with standard normal abilities.
pub(crate) fn simulated(models: usize, items: usize, dims: usize) -> ResponseMatrix {
    let mut random = rng(0, Stream::Simulate(0));
    let normal = |random: &mut _| -> f64 { StandardNormal.sample(random) };
    let a = Array2::from_shape_simple_fn((items, dims), || 0.6 + 0.4 * normal(&mut random));
    let b: Vec<f64> = (0..items).map(|_| normal(&mut random)).collect();
    let mut matrix = MatrixBuilder::new((0..items).map(|i| i.to_string()).collect());
    for l in 0..models {
        let theta = ndarray::Array1::from_shape_simple_fn(dims, || normal(&mut random));
        let logits = a.dot(&theta);
        let row: Vec<f64> = logits
            .iter()
            .zip(&b)
            .map(|(x, b)| f64::from(random.random::<f64>() < sigmoid(x - b)))
            .collect();
        matrix.push(l.to_string(), &row);
    }
    matrix.finish()
}

/// All of a matrix.
pub(crate) fn all(m: &ResponseMatrix) -> Responses<'_> {
    Responses::new(m, (0..m.n_models()).collect(), (0..m.n_items()).collect())
}
