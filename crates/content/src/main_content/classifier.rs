//! Scores each block by its features with a few dozen small decision trees, trained offline on labelled
//! pages, and chooses the cut with the best expected score for the page. Integers only, so that every platform
//! decides the same.

mod forest;

use std::sync::OnceLock;

use self::forest::Forest;
use super::alike;
use super::block::Block;
use super::kind::PageKind;

/// File format, in little-endian `i32`: the number of trees; for each tree its number of splits, the splits
/// (feature, left, right, threshold), the leaves. A negative child is the leaf with the complement (`!child`)
/// as its index. Written by `crates/content/score/train.py`.
const FILE: &[u8] = include_bytes!("classifier.trees");
static FOREST: OnceLock<Forest> = OnceLock::new();
/// Leaf value that stands for 1 in log-odds.
const UNIT: i32 = 4096;
/// Probability in per mille at log-odds of 0, 1/4, 1/2, ...; linear in between.
const PROBABILITIES: &[i32] = &[
    500, 562, 622, 679, 731, 777, 818, 852, 881, 905, 924, 940, 953, 963, 971, 977, 982, 986, 989, 991, 993,
    995, 996, 997, 998, 998, 999,
];

/// A tree as it is stored.
struct Tree {
    splits: Vec<TreeSplit>,
    leaves: Vec<i32>,
}

struct TreeSplit {
    feature: u16,
    left: i16,
    right: i16,
    threshold: i32,
}

/// Uses other trees than those of the project, to measure them. Returns false when trees are in use already.
pub(super) fn replace(file: &[u8]) -> bool {
    FOREST.set(Forest::of(&read(file))).is_ok()
}

/// Returns the probability that each block is content, in per mille.
pub(super) fn probabilities(kind: PageKind, blocks: &[Block]) -> Vec<i32> {
    let forest = FOREST.get_or_init(|| Forest::of(&read(FILE)));
    let rows: Vec<&[i32]> = blocks.iter().map(|block| block.features.as_slice()).collect();
    let mut odds = forest.sums(&rows);
    // In an article, the paragraphs and the invitations among them look alike, so their odds are not averaged.
    if kind != PageKind::Article {
        alike::average(blocks, &mut odds);
    }
    odds.into_iter().map(probability).collect()
}

/// Returns the cut with the best expected score, and that score in millionths. Blocks with at least this
/// probability are kept. The score is the F-measure in which recall counts `recall` times as much as precision, in
/// per mille. `sized` holds probabilities and sizes.
pub(super) fn cut(sized: &mut [(i32, i64)], recall: i64) -> (i32, i64) {
    sized.sort_unstable_by_key(|&(probability, _)| std::cmp::Reverse(probability));
    let wanted: i64 = sized
        .iter()
        .map(|&(probability, size)| i64::from(probability) * size)
        .sum();
    let (mut right, mut taken) = (0i64, 0i64);
    let (mut best, mut cut) = (-1i64, 1001);
    for &(probability, size) in sized.iter() {
        right += i64::from(probability) * size;
        taken += size * 1000;
        let all = i128::from(taken) * 1000 + i128::from(wanted) * i128::from(recall);
        let score = i128::from(right) * i128::from(1000 + recall) * 1_000_000 / all.max(1);
        let score = i64::try_from(score).unwrap_or(0);
        if score > best {
            (best, cut) = (score, probability);
        }
    }
    (cut, best)
}

fn probability(odds: i32) -> i32 {
    let (step, size) = (UNIT / 4, odds.unsigned_abs() as i32);
    let (at, rest) = ((size / step) as usize, size % step);
    let last = PROBABILITIES.len() - 1;
    let above = match PROBABILITIES.get(at + 1) {
        Some(next) => PROBABILITIES[at] + (next - PROBABILITIES[at]) * rest / step,
        None => PROBABILITIES[last],
    };
    if odds < 0 { 1000 - above } else { above }
}

fn read(file: &[u8]) -> Vec<Tree> {
    let mut words = file
        .chunks_exact(4)
        .map(|bytes| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let mut next = || words.next().expect("classifier.trees is complete: see the test");
    let count = next();
    (0..count)
        .map(|_| {
            let splits = next();
            Tree {
                splits: (0..splits)
                    .map(|_| TreeSplit {
                        feature: next() as u16,
                        left: next() as i16,
                        right: next() as i16,
                        threshold: next(),
                    })
                    .collect(),
                leaves: (0..=splits).map(|_| next()).collect(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probability_increases_with_log_odds() {
        assert_eq!(
            (probability(0), probability(UNIT), probability(-UNIT)),
            (500, 731, 269)
        );
        assert!((-40_000..40_000).map(probability).is_sorted());
    }

    #[test]
    fn the_cut_drops_blocks_that_lower_the_expected_score() {
        assert_eq!(cut(&mut [(900, 100), (100, 100), (800, 50)], 1000).0, 800);
        assert_eq!(cut(&mut [(300, 10), (10, 100)], 1000).0, 300);
        assert_eq!(cut(&mut [], 1000).0, 1001);
    }

    #[test]
    fn the_cut_is_higher_where_recall_counts_less() {
        let mut blocks = [(900, 100), (400, 100)];
        assert_eq!(cut(&mut blocks, 1000).0, 400);
        assert_eq!(cut(&mut blocks, 300).0, 900);
    }

    #[test]
    fn the_expected_score_is_that_of_the_cut() {
        assert_eq!(cut(&mut [(1000, 100), (0, 100)], 1000).1, 1_000_000);
        assert_eq!(cut(&mut [(500, 100)], 1000).1, 666_666);
    }

    #[test]
    fn every_tree_is_complete() {
        let trees = read(FILE);
        assert!(!trees.is_empty());
        for tree in &trees {
            for split in &tree.splits {
                for child in [split.left, split.right] {
                    assert!(if child < 0 {
                        (!child as usize) < tree.leaves.len()
                    } else {
                        (child as usize) < tree.splits.len()
                    });
                }
            }
        }
    }
}
