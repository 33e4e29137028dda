//! Prunes inside the chosen root: lists of outgoing links, share bars, labels of controls. How strictly
//! depends on the kind of page.

use super::hints;
use super::kind::PageKind;
use super::weights::TextWeights;
use crate::html::dom::{Dom, NodeId, collapse};
use crate::html::tag::Tag;

/// Marks what is dropped.
pub(super) fn prune(
    dom: &Dom,
    root: NodeId,
    kind: PageKind,
    weights: &mut TextWeights,
    dropped: &mut [bool],
) {
    let total = weights.text[root as usize].max(1);
    // Text before the element: its position on the page.
    let mut before = 0u32;
    let mut at = root + 1;
    while at < dom.end(root) {
        let tag = dom.tag(at);
        if dropped[at as usize] || tag == Tag::Pre {
            before = before.saturating_add(weights.text[at as usize]);
            at = dom.end(at);
            continue;
        }
        if tag == Tag::Text {
            before = before.saturating_add(dom.ink(at));
            at += 1;
            continue;
        }
        let late = u64::from(before) * 100 >= u64::from(total) * 60;
        let label = label(dom, at, weights).unwrap_or_default();
        if is_control(tag, &label) {
            dropped[at as usize] = true;
        } else if kind != PageKind::Documentation
            && is_link_block_title(tag, &label)
            && drop_section(dom, root, at, weights, dropped, late)
        {
            // The section with this title is marked.
        } else if kind == PageKind::Article && is_link_block(dom, at, weights, total, late) {
            dropped[at as usize] = true;
        } else {
            at += 1;
            continue;
        }
        at = dom.end(at);
    }
}

/// Returns the text of an element that is short enough for a label or title.
fn label(dom: &Dom, id: NodeId, weights: &TextWeights) -> Option<String> {
    let tag = dom.tag(id);
    let may_be_label = (tag.is_block() || matches!(tag, Tag::A | Tag::Span | Tag::Strong | Tag::B))
        && (1..=60).contains(&weights.text[id as usize]);
    may_be_label.then(|| collapse(&dom.text_of(id, 400)))
}

fn is_control(tag: Tag, label: &str) -> bool {
    let may_be_control = tag.heading_level().is_none()
        && !matches!(
            tag,
            Tag::Td | Tag::Th | Tag::Dt | Tag::Strong | Tag::B | Tag::Span
        );
    may_be_control && hints::is_control_text(label)
}

fn is_link_block_title(tag: Tag, label: &str) -> bool {
    let may_be_title = tag.heading_level().is_some()
        || matches!(
            tag,
            Tag::P | Tag::Div | Tag::Strong | Tag::B | Tag::Span | Tag::Summary | Tag::Legend
        );
    may_be_title && hints::is_link_block_title(label)
}

/// Returns true for a block of an article that consists almost only of links.
fn is_link_block(dom: &Dom, id: NodeId, weights: &TextWeights, total: u32, late: bool) -> bool {
    let at = id as usize;
    let tag = dom.tag(id);
    let text = weights.text[at];
    if text == 0 || u64::from(text) * 100 > u64::from(total) * 40 || weights.prose[at] > 0 {
        return false;
    }
    let links = dom.below(id).filter(|&n| dom.tag(n) == Tag::A).take(4).count();
    let percent = weights.linked_percent(id);
    match tag {
        Tag::Ul | Tag::Ol | Tag::Dl => links >= 2 && percent >= if late { 70 } else { 85 },
        Tag::Div | Tag::Section | Tag::Article | Tag::Table | Tag::Aside => {
            links >= 2 && percent >= if late { 60 } else { 75 }
        }
        _ => false,
    }
}

/// Drops the title of a block of outgoing links and what follows it, up to the next heading of the same or
/// higher rank. Returns false when that would drop too much text.
fn drop_section(
    dom: &Dom,
    root: NodeId,
    title: NodeId,
    weights: &TextWeights,
    dropped: &mut [bool],
    late: bool,
) -> bool {
    // While the title comes first in its parent, the parent is the section.
    let mut top = title;
    while dom.parent(top) != root && dom.parent(top) != 0 {
        let parent = dom.parent(top);
        let first = dom
            .children(parent)
            .find(|&n| weights.text[n as usize] > 0 || !dom.text(n).trim().is_empty());
        if first != Some(top) || matches!(dom.tag(parent), Tag::Td | Tag::Tr | Tag::Li | Tag::Body) {
            break;
        }
        top = parent;
    }
    let budget = u64::from(weights.text[root as usize]) * 30 / 100;
    let short = |n: NodeId| weights.prose[n as usize] == 0 || weights.linked_percent(n) >= 40;
    if top != title && u64::from(weights.text[top as usize]) <= budget && (late || short(top)) {
        dropped[top as usize] = true;
        return true;
    }
    let rank = dom.tag(title).heading_level().unwrap_or(7);
    let parent = dom.parent(top);
    let mut section = vec![top];
    let mut sum = u64::from(weights.text[top as usize]);
    for sibling in dom
        .children(parent)
        .filter(|&n| n > top && !matches!(dom.tag(n), Tag::Text))
    {
        if dom
            .tag(sibling)
            .heading_level()
            .is_some_and(|level| level <= rank)
            || !short(sibling)
        {
            break;
        }
        sum += u64::from(weights.text[sibling as usize]);
        section.push(sibling);
    }
    if sum > budget {
        return false;
    }
    // A title without links after it may be a heading of the text.
    let linked = section.iter().skip(1).any(|&n| weights.linked_percent(n) >= 40);
    let has_more = late && section.len() > 1;
    if !(linked || has_more) {
        return false;
    }
    for node in section {
        dropped[node as usize] = true;
    }
    true
}
