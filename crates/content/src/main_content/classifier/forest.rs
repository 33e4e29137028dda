//! Evaluates decision trees feature by feature instead of tree by tree (QuickScorer, Lucchese et al., SIGIR 2015). A
//! value above the threshold of a split makes the leaves on its left unreachable; the first leaf that is left of a
//! tree is the one that a walk from its root would reach. This spares a branch per split that no processor predicts.

use super::Tree;

/// Rows that are evaluated together, so that one instruction compares several of them with a threshold.
const TOGETHER: usize = 8;

/// The sum of some decision trees.
pub(super) struct Forest {
    /// By feature, then by threshold.
    splits: Vec<Split>,
    /// Features that have splits, each with the end of its splits.
    features: Vec<(usize, usize)>,
    /// The leaves of every tree, from left to right, filled up to the same number.
    leaves: Vec<i32>,
    leaves_per_tree: usize,
}

struct Split {
    feature: u16,
    threshold: i32,
    tree: usize,
    /// The leaves of the tree that a value above the threshold can reach, as bits.
    reachable: u32,
}

impl Forest {
    /// # Panics
    /// If a tree has more than 32 leaves.
    pub(super) fn of(trees: &[Tree]) -> Self {
        let leaves_per_tree = trees.iter().map(|tree| tree.leaves.len()).max().unwrap_or(1);
        assert!(leaves_per_tree <= 32, "a tree has {leaves_per_tree} leaves");
        let mut forest = Forest {
            splits: Vec::new(),
            features: Vec::new(),
            leaves: Vec::new(),
            leaves_per_tree,
        };
        for (number, tree) in trees.iter().enumerate() {
            let root = if tree.splits.is_empty() { !0 } else { 0 };
            forest.add(number, tree, root);
            forest.leaves.resize((number + 1) * leaves_per_tree, 0);
        }
        forest
            .splits
            .sort_unstable_by_key(|split| (split.feature, split.threshold));
        let mut end = 0;
        for same in forest.splits.chunk_by(|one, next| one.feature == next.feature) {
            end += same.len();
            forest.features.push((usize::from(same[0].feature), end));
        }
        forest
    }

    /// Adds a node of a tree and all below it.
    fn add(&mut self, number: usize, tree: &Tree, node: i16) {
        if node < 0 {
            return self.leaves.push(tree.leaves[!node as usize]);
        }
        let leaves_before = |forest: &Self| forest.leaves.len() - number * forest.leaves_per_tree;
        let split = &tree.splits[node as usize];
        let first = leaves_before(self);
        self.add(number, tree, split.left);
        let unreachable = (1u64 << leaves_before(self)) - (1u64 << first);
        self.splits.push(Split {
            feature: split.feature,
            threshold: split.threshold,
            tree: number,
            reachable: !(unreachable as u32),
        });
        self.add(number, tree, split.right);
    }

    /// Returns the sum for each row of features.
    pub(super) fn sums(&self, rows: &[&[i32]]) -> Vec<i32> {
        let mut reachable = vec![[0; TOGETHER]; self.leaves.len() / self.leaves_per_tree];
        let mut sums = Vec::with_capacity(rows.len());
        for rows in rows.chunks(TOGETHER) {
            reachable.fill([!0; TOGETHER]);
            self.reach(rows, &mut reachable);
            sums.extend((0..rows.len()).map(|row| self.sum(row, &reachable)));
        }
        sums
    }

    /// Removes the leaves of each tree that some rows cannot reach.
    fn reach(&self, rows: &[&[i32]], reachable: &mut [[u32; TOGETHER]]) {
        let mut start = 0;
        for &(feature, end) in &self.features {
            let mut values = [i32::MIN; TOGETHER];
            for (value, row) in values.iter_mut().zip(rows) {
                *value = row[feature];
            }
            let most = values.into_iter().max().unwrap_or_default();
            let splits = &self.splits[start..end];
            for split in splits.iter().take_while(|split| split.threshold < most) {
                let reachable = &mut reachable[split.tree];
                for (reachable, value) in reachable.iter_mut().zip(values) {
                    // 0 above the threshold, else all bits: without a branch, so that the loop becomes a few instructions.
                    let below = u32::from(value > split.threshold).wrapping_sub(1);
                    *reachable &= split.reachable | below;
                }
            }
            start = end;
        }
    }

    /// Returns the sum for one of the rows.
    fn sum(&self, row: usize, reachable: &[[u32; TOGETHER]]) -> i32 {
        let trees = self.leaves.chunks_exact(self.leaves_per_tree).zip(reachable);
        trees
            .map(|(leaves, reachable)| leaves[reachable[row].trailing_zeros() as usize])
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FILE, read};
    use super::*;

    /// Walks from the root to a leaf.
    fn walk(tree: &Tree, row: &[i32]) -> i32 {
        let mut node = 0i16;
        while node >= 0 {
            let split = &tree.splits[node as usize];
            node = match row[usize::from(split.feature)] <= split.threshold {
                true => split.left,
                false => split.right,
            };
        }
        tree.leaves[!node as usize]
    }

    #[test]
    fn sums_are_those_of_walks_through_all_trees() {
        let trees = read(FILE);
        let forest = Forest::of(&trees);
        let features = 1 + forest.features.last().unwrap().0;
        let mut thresholds = vec![vec![0]; features];
        for split in &forest.splits {
            thresholds[usize::from(split.feature)].extend([split.threshold, split.threshold + 1]);
        }
        let mut random = 1u64;
        let mut pick = |values: &Vec<i32>| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            values[(random >> 33) as usize % values.len()]
        };
        let rows: Vec<Vec<i32>> = (0..2000)
            .map(|_| thresholds.iter().map(&mut pick).collect())
            .collect();
        let expected: Vec<i32> = rows
            .iter()
            .map(|row| trees.iter().map(|tree| walk(tree, row)).sum())
            .collect();
        let rows: Vec<&[i32]> = rows.iter().map(Vec::as_slice).collect();
        for count in [0, 1, 7, 8, 9, 2000] {
            assert_eq!(forest.sums(&rows[..count]), expected[..count]);
        }
    }

    #[test]
    fn a_tree_may_be_a_single_leaf_or_have_32() {
        let single = Tree {
            splits: Vec::new(),
            leaves: vec![7],
        };
        let split = |at: i16| super::super::TreeSplit {
            feature: 0,
            left: !at,
            right: if at == 30 { !31 } else { at + 1 },
            threshold: i32::from(at),
        };
        let largest = Tree {
            splits: (0..31).map(split).collect(),
            leaves: (100..132).collect(),
        };
        let forest = Forest::of(&[single, largest]);
        let rows: Vec<[i32; 1]> = (-1..35).map(|value| [value]).collect();
        let rows: Vec<&[i32]> = rows.iter().map(<[i32; 1]>::as_slice).collect();
        let expected: Vec<i32> = (-1..35).map(|value: i32| 107 + value.clamp(0, 31)).collect();
        assert_eq!(forest.sums(&rows), expected);
    }
}
