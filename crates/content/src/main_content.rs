//! Which part of a page is its content. Chooses roots and marks what is left out inside them; never changes the page.

use url::Url;

use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// The roots of the main content in document order; marks boilerplate inside them in `dropped`.
pub(crate) fn choose(dom: &Dom, _url: &Url, dropped: &mut [bool]) -> Vec<NodeId> {
    let body = dom.first(0, Tag::Body).unwrap_or(0);
    for id in dom.below(body) {
        dropped[id as usize] |= is_boilerplate(dom, id);
    }
    let is_main = |id: &NodeId| dom.tag(*id) == Tag::Main || dom.attr(*id, attr::ROLE) == Some("main");
    match dom.below(body).find(is_main) {
        Some(main) => vec![main],
        None => vec![body],
    }
}

fn is_boilerplate(dom: &Dom, id: NodeId) -> bool {
    match dom.tag(id) {
        Tag::Nav | Tag::Aside | Tag::Footer | Tag::Form | Tag::Dialog => true,
        Tag::Header => !dom.below(id).any(|n| dom.tag(n) == Tag::H1),
        _ => dom.attr(id, attr::ROLE).is_some_and(|role| {
            matches!(
                role,
                "navigation" | "banner" | "contentinfo" | "search" | "complementary"
            )
        }),
    }
}
