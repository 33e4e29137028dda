//! Elements whose text is not content of the page.

use crate::html::dom::{Dom, NodeId};
use crate::html::tag::Tag;

/// Maximum number of elements between the button of an accordion and the heading around it.
const MAX_LEVELS: usize = 4;
/// Nodes at the start of a button that are searched for a heading.
const MAX_NODES: usize = 32;

/// Returns true for elements whose text is not content of the page.
pub(super) fn is_skipped(dom: &Dom, id: NodeId) -> bool {
    match dom.tag(id) {
        Tag::Select | Tag::Textarea => true,
        Tag::Button => !opens_section(dom, id),
        _ => dom.is_never_text(id),
    }
}

/// Returns true for a button in a heading or term, or around a heading: it opens the text below (accordions).
fn opens_section(dom: &Dom, button: NodeId) -> bool {
    let is_heading = |id: NodeId| dom.tag(id).heading_level().is_some();
    let mut around = dom.ancestors(button).take(MAX_LEVELS);
    around.any(|id| is_heading(id) || dom.tag(id) == Tag::Dt)
        || dom.below(button).take(MAX_NODES).any(is_heading)
}
