//! Keeps the footnotes of kept text.

use super::decisions::Decisions;
use crate::markdown::footnotes::Footnotes;

/// Keeps notes if a kept block refers to them.
pub(super) fn restore(page: &mut Decisions) {
    let (dom, blocks) = (page.dom, page.blocks);
    for (reference, note) in Footnotes::of(dom).links() {
        let block = page.weights.block(reference);
        let at = blocks.partition_point(|other| other.id < block);
        if blocks.get(at).is_none_or(|found| found.id != block) || !page.is_kept(at) {
            continue;
        }
        let first = blocks.partition_point(|block| block.id < note);
        let end = blocks.partition_point(|block| block.id < dom.end(note));
        (first..end).for_each(|at| page.keep(at));
    }
}
