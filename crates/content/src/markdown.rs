//! Writes the arena as Markdown in one walk: CommonMark with GFM tables, strike-through and task lists.
//! Nothing recurses, output is bounded, URLs are absolute. What counts as content is decided before, in
//! `main_content`. Start with `walk`.

mod anchors;
mod blocks;
mod callout;
pub(crate) mod code;
mod escape;
pub(crate) mod footnotes;
mod inline;
pub(crate) mod shape;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod walk;

use url::Url;

use crate::html::dom::{Dom, NodeId};
use crate::html::links::Targets;
use crate::limits;

/// Input of the walk.
pub(crate) struct Request<'a> {
    pub(crate) dom: &'a Dom,
    pub(crate) base: &'a Url,
    pub(crate) targets: &'a Targets,
    /// Subtrees to write, in document order, none inside another.
    pub(crate) roots: &'a [NodeId],
    /// By node: skipped with its whole subtree.
    pub(crate) dropped: &'a [bool],
    /// Replace `data:` images with a placeholder.
    pub(crate) remove_base64_images: bool,
}

/// Writes the subtrees as Markdown, without a trailing line end; empty when there is no content.
pub(crate) fn write(request: &Request<'_>) -> String {
    let max = request
        .dom
        .input_bytes
        .saturating_mul(limits::OUTPUT_FACTOR)
        .saturating_add(limits::SLACK_BYTES);
    let mut walk = walk::Walk::new(request, max);
    for &root in request.roots {
        walk.subtree(root);
    }
    walk.finish()
}
