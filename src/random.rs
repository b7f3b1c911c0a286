//! Seeded randomness: one seed, an independent stream for every purpose, the same numbers on every machine.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What random numbers are drawn for; each purpose has its own stream of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Which models test.
    Split,
    /// Items drawn by stratified sampling, for a scenario.
    Items(usize),
    /// k-means seeding: a scenario, a restart.
    KMeans(usize, usize),
    /// Which items take the place of those that the user excluded, for a scenario.
    Edit(usize),
    /// The order in which a replay asks the items of a scenario.
    Replay(usize),
    /// The start of the subspace iteration of a fit.
    FitStart,
    /// A resample of seeds and test models.
    Resample(usize),
    /// The order in which training models are added.
    Sources,
    /// Simulated populations and responses; the number is the part being drawn.
    Simulate(usize),
}

/// The generator of `seed` for `stream`.
pub fn rng(seed: u64, stream: Stream) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(match stream {
        Stream::Split => 1,
        Stream::FitStart => 2,
        Stream::Sources => 3,
        Stream::Items(scenario) => 1 << 32 | scenario as u64,
        Stream::KMeans(scenario, restart) => 2 << 32 | (restart as u64) << 24 | scenario as u64,
        Stream::Simulate(part) => 3 << 32 | part as u64,
        Stream::Edit(scenario) => 4 << 32 | scenario as u64,
        Stream::Resample(draw) => 6 << 32 | draw as u64,
        Stream::Replay(scenario) => 5 << 32 | scenario as u64,
    });
    rng
}
