//! Callouts (notes, warnings, tips) in GitHub's form: a quote that starts with `[!NOTE]`.

use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::tag::Tag;

/// A callout: its kind in GitHub's terms, and its title if that only repeats the kind.
pub(super) struct Callout {
    pub(super) kind: &'static str,
    pub(super) title: Option<NodeId>,
}

/// Reads a callout from an element's classes.
pub(super) fn of(dom: &Dom, id: NodeId) -> Option<Callout> {
    if !matches!(
        dom.tag(id),
        Tag::Div | Tag::Aside | Tag::Section | Tag::P | Tag::Other
    ) {
        return None;
    }
    let mut marked = false;
    let mut kind = None;
    for class in dom.classes(id) {
        let lower = class.to_ascii_lowercase();
        let family = [
            "admonition",
            "callout",
            "starlight-aside",
            "theme-admonition",
            "alert",
            "custom-block",
            "markdown-alert",
            "hint",
            "docutils",
        ]
        .iter()
        .find(|family| {
            lower == **family
                || lower
                    .strip_prefix(**family)
                    .is_some_and(|rest| rest.starts_with('-'))
        });
        marked |= family.is_some_and(|family| *family != "docutils");
        let word = family.map_or(lower.as_str(), |family| lower[family.len()..].trim_matches('-'));
        kind = kind.or(kind_of(word));
    }
    if !marked {
        // DocBook: `div.note` with a title in it.
        let docbook = dom.tag(id) == Tag::Div
            && dom
                .attr(id, attr::CLASS)
                .is_some_and(|class| matches!(class, "note" | "warning" | "caution" | "tip" | "important"))
            && dom
                .children(id)
                .any(|n| dom.tag(n).heading_level().is_some() && dom.has_class(n, "title"));
        if !docbook {
            return None;
        }
    }
    let kind = kind?;
    let title = dom.below(id).take(12).find(|&n| {
        (dom.tag(n).heading_level().is_some()
            || matches!(
                dom.tag(n),
                Tag::P | Tag::Div | Tag::Span | Tag::Strong | Tag::Summary
            ))
            && !collapse(&dom.text_of(n, 64)).is_empty()
    });
    let title = title.filter(|&n| {
        kind_of(
            collapse(&dom.text_of(n, 64))
                .to_ascii_lowercase()
                .trim_end_matches([':', '!']),
        )
        .is_some()
    });
    Some(Callout { kind, title })
}

fn kind_of(word: &str) -> Option<&'static str> {
    match word {
        "note" | "info" | "primary" | "information" | "seealso" | "see also" | "secondary" | "light" => {
            Some("NOTE")
        }
        "tip" | "hint" | "success" => Some("TIP"),
        "important" | "attention" => Some("IMPORTANT"),
        "warning" | "warn" => Some("WARNING"),
        "caution" | "danger" | "error" => Some("CAUTION"),
        _ => None,
    }
}
