//! Whether two tables that number their items alike have the same items.

/// Fewer common cells tell nothing.
const FEW: usize = 4;
/// So many points of difference must chance make before a comparison with it tells something.
const ENOUGH: f64 = 10.0;
/// So much of the difference that chance would make is as good as chance.
const CHANCE: f64 = 0.75;

/// The scores that models have in both tables, compared item by item.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence {
    cells: usize,
    /// Sum of the differences of all cells.
    differ: f64,
    /// The same where both sides vary, and what it would be had the items of one side been shuffled.
    varied: f64,
    chance: f64,
}

impl Evidence {
    /// Adds a model's scores on the items that both tables have; pairs of which one is missing do not count.
    pub(super) fn add(&mut self, pairs: impl Iterator<Item = (f64, f64)>) {
        let (one, two): (Vec<f64>, Vec<f64>) =
            pairs.filter(|(x, y)| !x.is_nan() && !y.is_nan()).unzip();
        let differ: f64 = one.iter().zip(&two).map(|(x, y)| (x - y).abs()).sum();
        self.cells += one.len();
        self.differ += differ;
        let varies = |of: &[f64]| of.iter().any(|y| *y != of[0]);
        if varies(&one) && varies(&two) {
            self.varied += differ;
            self.chance += shuffled(&one, two);
        }
    }

    pub(super) fn join(&mut self, other: Self) {
        self.cells += other.cells;
        self.differ += other.differ;
        self.varied += other.varied;
        self.chance += other.chance;
    }

    /// True where there is a cell to compare.
    pub(super) fn any(&self) -> bool {
        self.cells > 0
    }

    /// True where the items are not the same: the scores differ by half a point in the mean, or by three quarters at least of
    /// what they would if their order were chance. A model that is run again differs by less, one that is right on nine of
    /// ten items of two tests differs on few of them and yet by chance.
    pub(super) fn different(&self) -> bool {
        self.cells >= FEW
            && (2.0 * self.differ >= self.cells as f64
                || self.chance >= ENOUGH && self.varied >= CHANCE * self.chance)
    }
}

/// Mean over all orders of `two` of the sum of |one - two|.
fn shuffled(one: &[f64], mut two: Vec<f64>) -> f64 {
    two.sort_by(f64::total_cmp);
    let mut sums = vec![0.0];
    for y in &two {
        sums.push(sums[sums.len() - 1] + y);
    }
    let (n, all) = (two.len(), sums[two.len()]);
    let each = one.iter().map(|x| {
        let below = two.partition_point(|y| y < x);
        let (under, over) = (sums[below], all - sums[below]);
        x * below as f64 - under + over - x * (n - below) as f64
    });
    each.sum::<f64>() / n as f64
}

/// True for ids that merely count: `0`, `q17`.
pub(super) fn counts(id: &str) -> bool {
    let number = id.trim_start_matches(|c: char| !c.is_ascii_digit());
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_is_the_mean_over_all_pairs() {
        let (one, two) = ([0.0, 1.0, 0.25], [1.0, 0.5, 0.0]);
        let pairs = one.iter().flat_map(|x| two.iter().map(move |y| x - y));
        let mean = pairs.map(f64::abs).sum::<f64>() / 3.0;
        assert!((shuffled(&one, two.to_vec()) - mean).abs() < 1e-12);
    }

    /// Twenty models of two tests that nearly all items are easy in, and the same models run again with some noise.
    #[test]
    fn easy_tests_are_told_from_noisy_runs() {
        let (mut tests, mut runs) = (Evidence::default(), Evidence::default());
        for m in 0..20usize {
            let easy = |i: usize, s: usize| f64::from(!(i * 7 + m * 3 + s).is_multiple_of(10));
            tests.add((0..50).map(|i| (easy(i, 0), easy(i * i + 3 * i, 4))));
            let right = |i: usize| f64::from((i * i + m) % 5 < 3);
            runs.add(
                (0..50).map(|i| (right(i), if i % 5 == 0 { 1.0 - right(i) } else { right(i) })),
            );
        }
        assert!(tests.different() && !runs.different(), "{tests:?} {runs:?}");
        assert!(counts("0") && counts("q17") && !counts("a1b") && !counts("x"));
    }
}
