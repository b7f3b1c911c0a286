//! Responses: uniforms that relatives share, turned into scores.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::family::{Tree, keep_probability};
use crate::random::{Stream, rng};

/// Streams of tree nodes begin here.
const NODES: usize = 1 << 28;

/// A family with the number of its first node and first member, so that families can be drawn in any order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) tree: &'a Tree,
    node: usize,
    member: usize,
}

/// Every family with its place.
pub(super) fn place(forest: &[Tree]) -> Vec<Placed<'_>> {
    fn nodes(tree: &Tree) -> usize {
        match tree {
            Tree::Leaf(_) => 1,
            Tree::Branch { children, .. } => 1 + children.iter().map(nodes).sum::<usize>(),
        }
    }
    let (mut node, mut member) = (0, 0);
    forest
        .iter()
        .map(|tree| {
            let placed = Placed { tree, node, member };
            node += nodes(tree);
            member += tree.len();
            placed
        })
        .collect()
}

/// Calls `member` for every member of the family with its row, its uniforms (one an item), and a generator of its own.
pub(super) fn uniforms(
    family: Placed<'_>,
    n_items: usize,
    seed: u64,
    member: &mut dyn FnMut(usize, &[f64], &mut ChaCha8Rng),
) {
    let mut walk = Walk {
        node: family.node,
        row: family.member,
        seed,
        member,
    };
    walk.down(family.tree, &vec![0.5; n_items], 0.0);
}

struct Walk<'a> {
    node: usize,
    row: usize,
    seed: u64,
    member: &'a mut dyn FnMut(usize, &[f64], &mut ChaCha8Rng),
}

impl Walk<'_> {
    fn down(&mut self, tree: &Tree, above: &[f64], share: f64) {
        let mut random = rng(self.seed, Stream::Simulate(NODES + self.node));
        self.node += 1;
        let keep = keep_probability(tree, share);
        let own: Vec<f64> = above
            .iter()
            .map(|&above| {
                let v: f64 = random.random();
                // Below `keep` the ancestor's draw stays; above, v is uniform over the rest: a new draw.
                if v < keep {
                    above
                } else {
                    (v - keep) / (1.0 - keep)
                }
            })
            .collect();
        match tree {
            Tree::Leaf(_) => {
                (self.member)(self.row, &own, &mut random);
                self.row += 1;
            }
            Tree::Branch { children, .. } => {
                for child in children {
                    self.down(child, &own, tree.share());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relatives_share_draws_as_often_as_their_branch_says() {
        let forest = [
            Tree::Leaf(0),
            Tree::Branch {
                share: 0.3,
                children: vec![
                    Tree::Leaf(1),
                    Tree::Branch {
                        share: 0.9,
                        children: vec![Tree::Leaf(2), Tree::Leaf(3)],
                    },
                ],
            },
        ];
        let mut rows = vec![Vec::new(); 4];
        for family in place(&forest) {
            uniforms(family, 20_000, 3, &mut |row, u, _| rows[row] = u.to_vec());
        }
        let same = |i: usize, j: usize| {
            rows[i].iter().zip(&rows[j]).filter(|(a, b)| a == b).count() as f64 / 20_000.0
        };
        assert_eq!(same(0, 1), 0.0);
        assert!((same(1, 2) - 0.3).abs() < 0.02 && (same(2, 3) - 0.9).abs() < 0.02);
        let mean = rows[3].iter().sum::<f64>() / 20_000.0;
        assert!((mean - 0.5).abs() < 0.01);
    }
}
