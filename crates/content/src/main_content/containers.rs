//! Where the paragraphs of the longest text are: usually they are children of one element, and teasers and
//! comments are elsewhere.

use super::weights::TextWeights;
use crate::html::dom::{Dom, NodeId};

/// Maximum number of ancestors that a block is compared with.
pub(super) const MAX_ANCESTORS: usize = 40;
/// Minimum bytes of text directly in a block that counts as prose.
const PROSE_BYTES: i32 = 90;
/// The same on a page without a block of that size.
const SHORT_PROSE_BYTES: i32 = 15;

/// The prose in every element, and the element with the most prose.
pub(super) struct Containers {
    /// By node: bytes of prose in blocks that are its children.
    direct: Vec<u32>,
    /// The node with the most prose, and how much it has.
    pub(super) best: NodeId,
    most: u32,
}

impl Containers {
    /// Reads the blocks of a page: their ids, their bytes of text, and how many of these are in links.
    pub(super) fn of(
        dom: &Dom,
        body: NodeId,
        weights: &TextWeights,
        blocks: &[(NodeId, i32, i32)],
    ) -> Containers {
        let is_long = |least: i32| {
            move |&&(_, bytes, linked): &&(NodeId, i32, i32)| bytes >= least && linked * 2 < bytes
        };
        let least = match blocks.iter().any(|block| is_long(PROSE_BYTES)(&block)) {
            true => PROSE_BYTES,
            false => SHORT_PROSE_BYTES,
        };
        let mut direct = vec![0u32; dom.nodes.len()];
        for &(id, bytes, linked) in blocks.iter().filter(is_long(least)) {
            let parent = dom.parent(id).max(body) as usize;
            direct[parent] = direct[parent].saturating_add((bytes - linked) as u32);
        }
        let best = blocks
            .iter()
            .map(|&(id, ..)| dom.parent(id).max(body))
            .max_by_key(|&id| (direct[id as usize], std::cmp::Reverse(id)))
            .unwrap_or(body);
        let most = direct[best as usize]
            .max(weights.prose[body as usize] / 20)
            .max(1);
        Containers { direct, best, most }
    }

    /// Returns the prose in the parent and in the grandparent, as percentages of the prose in the best
    /// element; whether the block is before (-1), inside (0) or after (1) the best element; and how many
    /// levels above the best element their common ancestor is.
    pub(super) fn features(&self, dom: &Dom, id: NodeId) -> [i32; 4] {
        let parent = dom.parent(id);
        let share = |id: NodeId| (u64::from(self.direct[id as usize]) * 100 / u64::from(self.most)) as i32;
        let side = match id {
            id if id < self.best => -1,
            id if id >= dom.end(self.best) => 1,
            _ => 0,
        };
        let common = dom
            .inclusive_ancestors(self.best)
            .take(MAX_ANCESTORS)
            .take_while(|&up| !(up <= id && id < dom.end(up)))
            .count();
        [share(parent), share(dom.parent(parent)), side, common as i32]
    }
}
