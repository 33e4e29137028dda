//! The elements that a page marks as its content, listed once.

use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// The elements that the page marks as its content, each list in document order.
pub(super) struct MarkedContent {
    /// `main`, by name or role.
    mains: Vec<NodeId>,
    /// These, and bodies of articles.
    pub(super) texts: Vec<NodeId>,
    /// `article`, by name or role.
    pub(super) articles: Vec<NodeId>,
}

impl MarkedContent {
    pub(super) fn of(dom: &Dom) -> MarkedContent {
        let (mut mains, mut texts, mut articles) = (Vec::new(), Vec::new(), Vec::new());
        for id in 1..dom.len() {
            let tag = dom.tag(id);
            let has = |name, value| {
                dom.attributes(id)
                    .iter()
                    .any(|a| a.name == name && dom.value(a) == value)
            };
            if tag == Tag::Main || has(attr::ROLE, "main") {
                mains.push(id);
                texts.push(id);
            } else if has(attr::ITEMPROP, "articleBody") {
                texts.push(id);
            }
            if tag == Tag::Article || has(attr::ROLE, "article") {
                articles.push(id);
            }
        }
        MarkedContent {
            mains,
            texts,
            articles,
        }
    }

    /// Returns whether a `main` is below an element.
    pub(super) fn has_main_below(&self, dom: &Dom, id: NodeId) -> bool {
        !within(dom, &self.mains, id).is_empty()
    }
}

/// Returns the nodes of a sorted list that are below an element.
pub(super) fn within<'n>(dom: &Dom, nodes: &'n [NodeId], id: NodeId) -> &'n [NodeId] {
    let from = nodes.partition_point(|&node| node <= id);
    let count = nodes[from..].partition_point(|&node| node < dom.end(id));
    &nodes[from..from + count]
}
