//! Callouts (notes, warnings, tips) in GitHub's form: a quote that starts with `[!NOTE]`.

use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::tag::Tag;

/// A callout: its kind in GitHub's terms, and the element of its title or icon that only repeats the kind.
pub(super) struct Callout {
    pub(super) kind: &'static str,
    pub(super) title: Option<NodeId>,
}

/// Nodes at the start of a callout that are searched for its title, and bytes of that which are read.
const TITLE_NODES: usize = 12;
const TITLE_BYTES: usize = 64;

/// Reads a callout from an element's classes.
pub(super) fn of(dom: &Dom, id: NodeId) -> Option<Callout> {
    if !matches!(
        dom.tag(id),
        Tag::Div | Tag::Aside | Tag::Section | Tag::P | Tag::Dl | Tag::Other
    ) {
        return None;
    }
    let mut marked = false;
    let mut kind = None;
    for class in dom.classes(id) {
        let lower = class.to_ascii_lowercase();
        let family = [
            "admonition", "admonitionblock", "callout", "starlight-aside", "theme-admonition", "alert",
            "custom-block", "markdown-alert", "hint", "docutils",
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
    let kind = kind?;
    if !marked && !is_docbook(dom, id) && !is_doxygen(dom, id) {
        return None;
    }
    let icon = frame(dom, id).and_then(|table| icon(dom, table));
    Some(Callout {
        kind,
        title: icon.or_else(|| title(dom, id)),
    })
}

/// Returns true for a table that only places the icon of a callout next to its text.
pub(super) fn is_frame(dom: &Dom, table: NodeId) -> bool {
    let parent = dom.parent(table);
    frame(dom, parent) == Some(table) && of(dom, parent).is_some()
}

/// Returns true for a callout of DocBook: `div.note` with a title, or with a table around an icon and the text.
fn is_docbook(dom: &Dom, id: NodeId) -> bool {
    let is_title = |n: NodeId| dom.tag(n).heading_level().is_some() && dom.has_class(n, "title");
    dom.tag(id) == Tag::Div
        && dom
            .attr(id, attr::CLASS)
            .is_some_and(|class| matches!(class, "note" | "warning" | "caution" | "tip" | "important"))
        && (dom.children(id).any(is_title) || frame(dom, id).is_some_and(|table| icon(dom, table).is_some()))
}

/// Returns true for a callout of Doxygen: a definition list with one term, which repeats the class.
fn is_doxygen(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Dl
        && title(dom, id).is_some()
        && dom
            .children(id)
            .filter(|&n| dom.tag(n) == Tag::Dt)
            .take(2)
            .count()
            == 1
}

/// Returns the table that is all of an element.
fn frame(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let mut children = dom.children(id).filter(|&n| dom.tag(n) != Tag::Text);
    let table = children.next().filter(|&n| dom.tag(n) == Tag::Table)?;
    children.next().is_none().then_some(table)
}

/// Returns the cell of a callout's icon, or its row when that has nothing but the icon and a title that repeats the kind.
fn icon(dom: &Dom, table: NodeId) -> Option<NodeId> {
    let row = dom.first(table, Tag::Tr)?;
    let mut cells = dom
        .children(row)
        .filter(|&n| matches!(dom.tag(n), Tag::Td | Tag::Th));
    let (icon, beside) = (cells.next()?, cells.next()?);
    let says_kind = |n: NodeId| {
        let text = collapse(&dom.text_of(n, TITLE_BYTES)).to_ascii_lowercase();
        kind_of(text.trim_end_matches([':', '!'])).is_some()
    };
    let is_image = |n: NodeId| dom.below(n).take(TITLE_NODES).any(|n| dom.tag(n) == Tag::Img);
    let is_empty = |n: NodeId| collapse(&dom.text_of(n, TITLE_BYTES)).is_empty();
    if !(says_kind(icon) || is_image(icon) && is_empty(icon)) {
        return None;
    }
    let is_title = dom.tag(beside) == Tag::Th && (is_empty(beside) || says_kind(beside));
    Some(if is_title { row } else { icon })
}

/// Returns the title of a callout if it only repeats its kind.
fn title(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let text = |n: NodeId| collapse(&dom.text_of(n, TITLE_BYTES));
    let title = dom.below(id).take(TITLE_NODES).find(|&n| {
        (dom.tag(n).heading_level().is_some()
            || matches!(
                dom.tag(n),
                Tag::P | Tag::Div | Tag::Span | Tag::Strong | Tag::Summary | Tag::Dt
            ))
            && !text(n).is_empty()
    })?;
    kind_of(text(title).to_ascii_lowercase().trim_end_matches([':', '!'])).map(|_| title)
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
