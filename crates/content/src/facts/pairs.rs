//! Label-value pairs outside of tables: definition lists, `Label: value` in a block of its own, and blocks of
//! two parts, the first marked as a label.

use super::table::label_of;
use super::{is_around, text};
use crate::html::dom::{Dom, NodeId, collapse};
use crate::html::tag::Tag;
use crate::limits;

/// Substrings of class names that mark a label.
const LABEL_CLASSES: &[&str] = &[
    "label", "key", "term", "attribute", "spec-name", "title", "name", "heading",
];

/// Returns all pairs of a page.
pub(super) fn pairs(dom: &Dom) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for id in 0..dom.len() {
        if found.len() >= limits::FACT_PAIRS {
            break;
        }
        match dom.tag(id) {
            Tag::Dl => definitions(dom, id, &mut found),
            Tag::Li | Tag::P | Tag::Div | Tag::Td | Tag::Span if is_small(dom, id) && !is_around(dom, id) => {
                found.extend(line(dom, id).or_else(|| parts(dom, id)));
            }
            _ => {}
        }
    }
    found
}

/// Adds each term with its definitions, joined. Nested lists are read on their own.
fn definitions(dom: &Dom, list: NodeId, found: &mut Vec<(String, String)>) {
    let mut terms: Vec<String> = Vec::new();
    let mut said: Vec<String> = Vec::new();
    let mut close = |terms: &mut Vec<String>, said: &mut Vec<String>| {
        let value = said.join(", ");
        for term in terms.drain(..).filter(|_| !value.is_empty()) {
            found.extend(label_of(&term).map(|label| (label, value.clone())));
        }
        said.clear();
    };
    let mut at = list + 1;
    while at < dom.end(list) {
        match dom.tag(at) {
            Tag::Dl => at = dom.end(at),
            Tag::Dt => {
                if !said.is_empty() {
                    close(&mut terms, &mut said);
                }
                terms.extend(text(dom, at));
                at = dom.end(at);
            }
            Tag::Dd => {
                said.extend(text(dom, at));
                at = dom.end(at);
            }
            _ => at += 1,
        }
    }
    close(&mut terms, &mut said);
}

/// Returns whether a node is small enough to be one pair.
fn is_small(dom: &Dom, id: NodeId) -> bool {
    let size = dom.end(id) - id;
    size > 1 && size <= limits::FACT_PAIR_NODES
}

/// Reads `Label: value` from a block without nested blocks.
fn line(dom: &Dom, id: NodeId) -> Option<(String, String)> {
    let blocks = dom.below(id).any(|below| dom.tag(below).is_block());
    if blocks || dom.tag(id) == Tag::Span {
        return None;
    }
    let whole = text(dom, id)?;
    let (label, value) = whole.split_once([':', '：'])?;
    let value = collapse(value);
    // A URL or a time of day is not a pair.
    let apart = !value.starts_with("//") && !(label.ends_with(|c: char| c.is_ascii_digit()));
    (apart && !value.is_empty()).then_some(())?;
    Some((label_of(label)?, value))
}

/// Reads a block of two parts, the first of which is marked as a label.
fn parts(dom: &Dom, id: NodeId) -> Option<(String, String)> {
    let mut children = dom
        .children(id)
        .filter(|&child| dom.tag(child) != Tag::Text || !dom.text(child).trim().is_empty());
    let (first, second) = (children.next()?, children.next()?);
    if children.next().is_some() || dom.tag(first) == Tag::Text {
        return None;
    }
    let called = matches!(dom.tag(first), Tag::Label | Tag::Strong | Tag::B | Tag::Dfn)
        || dom.classes(first).any(|class| {
            let class = class.to_ascii_lowercase();
            LABEL_CLASSES.iter().any(|word| class.contains(word))
        });
    let label = text(dom, first).filter(|_| called)?;
    let value = match dom.tag(second) {
        Tag::Text => Some(collapse(dom.text(second))),
        _ => text(dom, second),
    };
    Some((label_of(&label)?, value.filter(|value| !value.is_empty())?))
}
