//! Pairs of a label and a value outside of tables: definition lists, `Label: value` in a block of its own, and blocks
//! of two parts of which the first is called a label.

use super::table::label_of;
use super::{is_around, text};
use crate::html::dom::{Dom, NodeId, collapse};
use crate::html::tag::Tag;
use crate::limits;

/// Parts of class names that call a part a label.
const LABEL_CLASSES: &[&str] = &[
    "label",
    "key",
    "term",
    "attribute",
    "spec-name",
    "title",
    "name",
    "heading",
];

/// All pairs of a page.
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

/// Each term with what is said about it, joined. Lists inside a list come on their own.
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

/// Whether a node is small enough to be one pair, and holds no other block but such as have one line.
fn is_small(dom: &Dom, id: NodeId) -> bool {
    let size = dom.end(id) - id;
    size > 1 && size <= limits::FACT_PAIR_NODES
}

/// `Label: value`, where the label has an element of its own or the block is nothing else.
fn line(dom: &Dom, id: NodeId) -> Option<(String, String)> {
    let blocks = dom.below(id).any(|below| dom.tag(below).is_block());
    if blocks || dom.tag(id) == Tag::Span {
        return None;
    }
    let whole = text(dom, id)?;
    let (label, value) = whole.split_once([':', '：'])?;
    let value = collapse(value);
    // An address or a time of day is no pair.
    let apart = !value.starts_with("//") && !(label.ends_with(|c: char| c.is_ascii_digit()));
    (apart && !value.is_empty()).then_some(())?;
    Some((label_of(label)?, value))
}

/// Two parts, the first of which is called a label.
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
