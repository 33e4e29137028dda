//! Links that point to their own position, and API signatures, which contain such links.

use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::tag::Tag;

/// Returns the text of an API signature without its permalink and source link.
pub(super) fn signature(dom: &Dom, id: NodeId) -> String {
    let mut out = String::new();
    let mut at = id + 1;
    while at < dom.end(id) {
        let skip = dom.tag(at) == Tag::A
            && (dom.has_class(at, "headerlink")
                || dom.has_class(at, "viewcode-link")
                || dom.has_class(at, "reference") && dom.has_class(at, "external"));
        if skip {
            at = dom.end(at);
            continue;
        }
        out.push_str(dom.text(at));
        at += 1;
    }
    collapse(&out)
}

/// Relation of a link to the heading around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SelfLink {
    /// It is the whole heading, and points to it.
    Whole,
    /// A sign next to the heading that points to it.
    Permalink,
    /// None: it leads elsewhere.
    None,
}

/// Maximum ancestors and siblings of a link that are searched for its target.
const AROUND: usize = 8;

const PERMALINK_CLASSES: &[&str] = &[
    "headerlink", "anchor-link", "header-anchor", "hash-link", "heading-anchor", "anchorjs-link",
    "permalink", "id_link", "heading-link", "header-link", "toc-anchor", "sl-anchor-link", "direct-link",
];

/// Detects whether a link points to its own position.
pub(super) fn self_link(dom: &Dom, id: NodeId, href: &str) -> SelfLink {
    let heading = dom
        .ancestors(id)
        .take(3)
        .find(|&n| dom.tag(n).heading_level().is_some());
    let is_classed = href.contains('#') && dom.classes(id).any(|class| PERMALINK_CLASSES.contains(&class));
    let is_local = href.starts_with('#');
    if heading.is_none() && !is_local && !is_classed {
        return SelfLink::None;
    }
    let text = collapse(&dom.text_of(id, 512));
    let says_something = text.chars().any(char::is_alphanumeric);
    if says_something
        && (is_local || is_classed)
        && heading.is_some_and(|heading| {
            let whole = collapse(&dom.text_of(heading, 512));
            // A permalink may follow.
            whole == text || whole.trim_end_matches([' ', '#', '¶', '§']) == text
        })
    {
        return SelfLink::Whole;
    }
    let is_symbol = matches!(text.as_str(), "#" | "¶" | "§" | "🔗" | "⚓" | "\u{f0c1}");
    let is_word = matches!(
        text.as_str(),
        "link" | "Link" | "Anchor" | "Permalink" | "\u{200b}"
    );
    let is_empty = || text.is_empty() && !dom.below(id).any(|n| matches!(dom.tag(n), Tag::Img));
    let points = match is_local {
        true => {
            matches!(text.as_str(), "#" | "¶") || (is_symbol || is_word || is_empty()) && heading.is_some()
        }
        false => is_symbol && heading.is_some(),
    };
    let says_where = || !says_something || is_word || is_at_target(dom, id, href);
    match points || is_classed && says_where() {
        true => SelfLink::Permalink,
        false => SelfLink::None,
    }
}

/// Returns true when a link points to an ancestor or sibling, as links like "Section titled ..." do.
fn is_at_target(dom: &Dom, id: NodeId, href: &str) -> bool {
    let Some((_, fragment)) = href.rsplit_once('#') else {
        return false;
    };
    let around = dom.ancestors(id).take(AROUND);
    let beside = dom.children(dom.parent(id)).take(AROUND);
    around
        .chain(beside)
        .any(|n| dom.attr(n, attr::ID) == Some(fragment))
}
