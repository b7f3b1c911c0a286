//! Families of models: who answers like whom beyond ability.
//!
//! A family is a tree. Its leaves are models; a branch says which share of items two models that part there answer by the
//! same draw. Along an edge a model keeps its ancestor's draw of an item with a probability that makes this so.

use ndarray::Array2;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Below this share models are not related.
const RELATED: f64 = 0.05;
/// Not even a copy under another name answers everything by the same draw.
const COPY: f64 = 0.98;

/// A family of models.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    /// A model.
    Leaf(usize),
    /// Models that part here.
    Branch {
        /// Share of items that models of different children answer by the same draw, in \[0, 1\]; not above the children's.
        share: f64,
        children: Vec<Tree>,
    },
}

impl Tree {
    /// Share of items that members have in common; 1 for a single model.
    pub(super) fn share(&self) -> f64 {
        match self {
            Self::Leaf(_) => 1.0,
            Self::Branch { share, .. } => *share,
        }
    }

    /// Probability that a member keeps the draw that its family has here, from below: two keep it both with `share`.
    fn kept(&self) -> f64 {
        self.share().sqrt()
    }

    /// Appends the members to `out`, in order.
    pub(super) fn leaves(&self, out: &mut Vec<usize>) {
        match self {
            Self::Leaf(l) => out.push(*l),
            Self::Branch { children, .. } => children.iter().for_each(|c| c.leaves(out)),
        }
    }

    /// Number of members.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Leaf(_) => 1,
            Self::Branch { children, .. } => children.iter().map(Tree::len).sum(),
        }
    }

    /// The family without the members that `keep` refuses; `None` when nobody is left.
    pub(super) fn prune(&self, keep: &dyn Fn(usize) -> bool) -> Option<Self> {
        match self {
            Self::Leaf(l) => keep(*l).then(|| self.clone()),
            Self::Branch { share, children } => {
                let mut left: Vec<Self> = children.iter().filter_map(|c| c.prune(keep)).collect();
                match left.len() {
                    0 | 1 => left.pop(),
                    _ => Some(Self::Branch {
                        share: *share,
                        children: left,
                    }),
                }
            }
        }
    }
}

/// One standard normal number a member, in order of the leaves: relatives' numbers correlate by the share of their branch.
pub(super) fn gaussians(forest: &[Tree], random: &mut impl RngExt) -> Vec<f64> {
    fn walk(tree: &Tree, above: f64, kept: f64, random: &mut impl RngExt, out: &mut Vec<f64>) {
        let own: f64 = StandardNormal.sample(random);
        let here = tree.kept();
        let r = (kept / here).min(1.0);
        let value = r * above + (1.0 - r * r).sqrt() * own;
        match tree {
            Tree::Leaf(_) => out.push(value),
            Tree::Branch { children, .. } => {
                for child in children {
                    walk(child, value, here, random, out);
                }
            }
        }
    }
    let mut out = Vec::new();
    for tree in forest {
        walk(tree, 0.0, 0.0, random, &mut out);
    }
    out
}

/// Probability that a node keeps its parent's draw of an item; `above` is the parent's share, 0 at a root.
pub(super) fn keep_probability(tree: &Tree, above: f64) -> f64 {
    (above.sqrt() / tree.kept()).min(1.0)
}

/// What pairs of models have in common beyond a fit, summed over items.
#[derive(Debug, Clone)]
pub(super) struct PairSums {
    /// Sum of products of residuals.
    covariance: Array2<f64>,
    /// What that sum would be if both always answered by the same draw: sum of min(p, q) - p q.
    bound: Array2<f64>,
    /// Variance of the first sum for unrelated models: sum of p (1 - p) q (1 - q).
    noise: Array2<f64>,
}

impl PairSums {
    /// Nothing yet about `n` models.
    pub(super) fn new(n: usize) -> Self {
        let zero = Array2::zeros((n, n));
        Self {
            covariance: zero.clone(),
            bound: zero.clone(),
            noise: zero,
        }
    }

    /// Adds the sums over some items for the pair (i, j), i != j.
    pub(super) fn add(&mut self, i: usize, j: usize, covariance: f64, bound: f64, noise: f64) {
        for at in [(i, j), (j, i)] {
            self.covariance[at] += covariance;
            self.bound[at] += bound;
            self.noise[at] += noise;
        }
    }

    /// Estimated share, shrunk to 0 by its own uncertainty (prior variance 1).
    fn share(&self, i: usize, j: usize) -> f64 {
        let bound = self.bound[(i, j)].max(1e-9);
        self.covariance[(i, j)] / bound / (1.0 + self.noise[(i, j)] / (bound * bound))
    }

    /// Everything about j is added to i.
    fn merge(&mut self, i: usize, j: usize) {
        for sums in [&mut self.covariance, &mut self.bound, &mut self.noise] {
            let n = sums.nrows();
            for k in 0..n {
                let both = sums[(i, k)] + sums[(j, k)];
                sums[(i, k)] = both;
                sums[(k, i)] = both;
            }
        }
    }

    /// Families by agglomeration: the two groups with the largest share become one, while they are related. Shares of
    /// groups are those of all pairs between them, pooled.
    pub(super) fn families(mut self) -> Vec<Tree> {
        let n = self.covariance.nrows();
        let mut shares = Array2::from_shape_fn((n, n), |(i, j)| self.share(i, j));
        let mut groups: Vec<Option<Tree>> = (0..n).map(|l| Some(Tree::Leaf(l))).collect();
        loop {
            let mut best = (RELATED, 0, 0);
            for i in 0..n {
                for j in i + 1..n {
                    if groups[i].is_some() && groups[j].is_some() && shares[(i, j)] > best.0 {
                        best = (shares[(i, j)], i, j);
                    }
                }
            }
            let (share, i, j) = best;
            if i == j {
                break;
            }
            let (Some(a), Some(b)) = (groups[i].take(), groups[j].take()) else {
                break;
            };
            groups[i] = Some(Tree::Branch {
                share: share.min(COPY).min(a.share()).min(b.share()),
                children: vec![a, b],
            });
            self.merge(i, j);
            for k in 0..n {
                shares[(i, k)] = self.share(i, k);
                shares[(k, i)] = shares[(i, k)];
            }
        }
        groups.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stream, rng};

    #[test]
    fn relatives_are_joined_and_strangers_are_not() {
        let mut sums = PairSums::new(4);
        sums.add(0, 2, 80.0, 100.0, 25.0);
        sums.add(0, 3, 30.0, 100.0, 25.0);
        sums.add(2, 3, 30.0, 100.0, 25.0);
        for l in [0, 2, 3] {
            sums.add(1, l, 1.0, 100.0, 25.0);
        }
        let families = sums.families();
        assert_eq!(families.iter().map(Tree::len).collect::<Vec<_>>(), [3, 1]);
        let Tree::Branch { share, children } = &families[0] else {
            panic!("a family of three");
        };
        assert!((share - 0.3).abs() < 0.01, "{share}");
        assert!((children[0].share() - 0.8).abs() < 0.01);
    }

    #[test]
    fn numbers_of_relatives_correlate_by_their_share() {
        let forest = [Tree::Branch {
            share: 0.25,
            children: vec![
                Tree::Leaf(0),
                Tree::Branch {
                    share: 0.81,
                    children: vec![Tree::Leaf(1), Tree::Leaf(2)],
                },
            ],
        }];
        let mut random = rng(1, Stream::Simulate(0));
        let (mut far, mut near, mut own) = (0.0, 0.0, 0.0);
        for _ in 0..20_000 {
            let g = gaussians(&forest, &mut random);
            far += g[0] * g[1] / 20_000.0;
            near += g[1] * g[2] / 20_000.0;
            own += g[2] * g[2] / 20_000.0;
        }
        assert!(
            (far - 0.25).abs() < 0.03 && (near - 0.81).abs() < 0.03 && (own - 1.0).abs() < 0.04
        );
    }

    #[test]
    fn pruning_keeps_shape() {
        let tree = Tree::Branch {
            share: 0.2,
            children: vec![
                Tree::Leaf(0),
                Tree::Branch {
                    share: 0.5,
                    children: vec![Tree::Leaf(1), Tree::Leaf(2)],
                },
            ],
        };
        let left = tree.prune(&|l| l != 1).map(|t| t.len());
        assert_eq!(left, Some(2));
        assert_eq!(tree.prune(&|_| false), None);
    }
}
