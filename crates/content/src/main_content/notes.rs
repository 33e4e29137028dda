//! Keeps the footnotes of kept text.

use super::block::Block;
use super::weights::TextWeights;
use crate::html::dom::Dom;
use crate::markdown::footnotes::Footnotes;

/// Raises the probabilities of notes to `cut` if a kept block refers to them.
pub(super) fn restore(
    dom: &Dom,
    weights: &TextWeights,
    blocks: &[Block],
    probabilities: &mut [i32],
    cut: i32,
) {
    for (reference, note) in Footnotes::of(dom).links() {
        let block = weights.block(reference);
        let at = blocks.partition_point(|other| other.id < block);
        if blocks.get(at).is_none_or(|found| found.id != block) || probabilities[at] < cut {
            continue;
        }
        let first = blocks.partition_point(|block| block.id < note);
        let end = blocks.partition_point(|block| block.id < dom.end(note));
        for probability in &mut probabilities[first..end] {
            *probability = cut.max(*probability);
        }
    }
}
