//! Links that point at the place they stand in, and API signatures, which carry such links.

use crate::html::dom::{Dom, NodeId, collapse};
use crate::html::tag::Tag;

/// The text of an API signature without its permalink and source link.
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

/// True for links that stand beside a heading to point at it.
pub(super) fn is_permalink(dom: &Dom, id: NodeId, href: &str) -> bool {
    const CLASSES: &[&str] = &[
        "headerlink",
        "anchor-link",
        "header-anchor",
        "hash-link",
        "heading-anchor",
        "anchorjs-link",
        "permalink",
        "id_link",
        "heading-link",
        "header-link",
        "toc-anchor",
        "sl-anchor-link",
        "direct-link",
    ];
    if dom.classes(id).any(|class| CLASSES.contains(&class)) && href.contains('#') {
        return true;
    }
    if !href.starts_with('#') {
        return false;
    }
    let text = dom.text_of(id, 64);
    let text = text.trim();
    let is_sign = matches!(
        text,
        "#" | "¶" | "§" | "🔗" | "⚓" | "\u{f0c1}" | "link" | "Link" | "Anchor" | "Permalink" | "​"
    );
    let in_heading = || {
        dom.ancestors(id)
            .take(3)
            .any(|n| dom.tag(n).heading_level().is_some())
    };
    let has_picture = dom.below(id).any(|n| matches!(dom.tag(n), Tag::Img));
    matches!(text, "#" | "¶") || ((is_sign || (text.is_empty() && !has_picture)) && in_heading())
}
