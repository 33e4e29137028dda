//! Which blocks of a page are kept. The model decides first, then the rules correct it.

use std::hash::Hash;

use super::block::Block;
use super::kind::PageKind;
use super::weights::TextWeights;
use crate::hash::HashSet;
use crate::html::dom::Dom;

/// Share of the items of a list that are kept elsewhere, in percent, above which the list is a copy.
const MAX_COPIED: usize = 80;

pub(super) struct Decisions<'a> {
    pub(super) dom: &'a Dom,
    pub(super) kind: PageKind,
    pub(super) weights: &'a TextWeights,
    /// By node: whether it is in an element that is known not to be content.
    pub(super) in_widget: &'a [bool],
    /// In document order.
    pub(super) blocks: &'a [Block],
    /// Probability of each block that it is content, in per mille.
    pub(super) probabilities: Vec<i32>,
    /// Probability from which on a block is kept.
    pub(super) cut: i32,
}

impl Decisions<'_> {
    pub(super) fn is_kept(&self, at: usize) -> bool {
        self.probabilities[at] >= self.cut
    }

    pub(super) fn keep(&mut self, at: usize) {
        self.probabilities[at] = self.cut.max(self.probabilities[at]);
    }

    pub(super) fn drop(&mut self, at: usize) {
        self.probabilities[at] = 0;
    }

    /// Returns the number of words of blocks, and of those that are kept.
    pub(super) fn words(&self, blocks: impl Iterator<Item = usize>) -> (i32, i32) {
        blocks.fold((0, 0), |(all, kept), at| {
            let words = self.blocks[at].size();
            (all + words, if self.is_kept(at) { kept + words } else { kept })
        })
    }

    /// Returns true if most items of a list are kept elsewhere, too. `item` identifies the item that a block shows, if
    /// any.
    pub(super) fn is_copy<T: Eq + Hash>(&self, list: &[usize], item: impl Fn(usize) -> Option<T>) -> bool {
        let items: HashSet<T> = list.iter().filter_map(|&at| item(at)).collect();
        let elsewhere =
            (0..self.blocks.len()).filter(|at| self.is_kept(*at) && list.binary_search(at).is_err());
        let kept: HashSet<T> = elsewhere.filter_map(item).collect();
        kept.intersection(&items).count() * 100 > items.len() * MAX_COPIED
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> impl Iterator<Item = &Block> {
        (0..self.blocks.len())
            .filter(|&at| self.is_kept(at))
            .map(|at| &self.blocks[at])
    }
}
