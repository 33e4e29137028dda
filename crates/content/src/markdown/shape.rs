//! One pass over the arena that records what the walk must know about a subtree before it enters it: whether
//! it contains blocks, tables, headings, images or links, and how much text.

use super::code;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

pub(super) const BLOCK: u16 = 1;
pub(super) const TABLE: u16 = 2;
pub(super) const HEADING: u16 = 4;
pub(super) const IMAGE: u16 = 8;
pub(super) const LINK: u16 = 16;
pub(super) const PRE: u16 = 32;
pub(super) const LIST: u16 = 64;
pub(super) const CHECKBOX: u16 = 128;

/// Returns true for the title of a page of Doxygen, which is in no heading.
pub(crate) fn is_doxygen_title(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Div && dom.has_class(id, "title") && dom.has_class(dom.parent(id), "headertitle")
}

/// Returns the level of an element that is a heading by its role or its class.
pub(super) fn level(dom: &Dom, id: NodeId, tag: Tag) -> Option<u8> {
    if is_doxygen_title(dom, id) {
        return Some(1);
    }
    let is_heading = matches!(tag, Tag::Div | Tag::P) && dom.attr(id, attr::ROLE) == Some("heading");
    let level = dom.attr(id, attr::ARIA_LEVEL).filter(|_| is_heading)?;
    level.trim().parse().ok().filter(|level| (1..=6).contains(level))
}

/// What each subtree contains, including its root.
pub(super) struct Shape {
    subtrees: Vec<Subtree>,
}

#[derive(Clone, Copy, Default)]
struct Subtree {
    flags: u16,
    /// Bytes of text without white space; more than fit count as much.
    text: u16,
}

impl Shape {
    pub(super) fn of(dom: &Dom) -> Shape {
        let mut subtrees = vec![Subtree::default(); dom.len() as usize];
        for id in (1..dom.len()).rev() {
            let tag = dom.tag(id);
            let own = &mut subtrees[id as usize];
            if dom.is_never_text(id) {
                *own = Subtree::default();
            } else if tag == Tag::Text {
                own.text = u16::try_from(dom.ink(id)).unwrap_or(u16::MAX);
            } else {
                own.flags |= own_flags(dom, id, tag);
            }
            let own = *own;
            let parent = &mut subtrees[dom.parent(id) as usize];
            parent.flags |= own.flags;
            parent.text = parent.text.saturating_add(own.text);
        }
        Shape { subtrees }
    }

    /// Returns true when the subtree contains one of these, or the element is one.
    pub(super) fn has(&self, id: NodeId, flags: u16) -> bool {
        self.subtrees[id as usize].flags & flags != 0
    }

    /// Returns true when something below the element is one of these.
    pub(super) fn has_below(&self, dom: &Dom, id: NodeId, flags: u16) -> bool {
        dom.children(id).any(|child| self.has(child, flags))
    }

    /// Returns the bytes of text in the subtree, without white space, up to 65,535.
    pub(super) fn text(&self, id: NodeId) -> u16 {
        self.subtrees[id as usize].text
    }
}

fn own_flags(dom: &Dom, id: NodeId, tag: Tag) -> u16 {
    let block = if tag.is_block() { BLOCK } else { 0 };
    block
        | match tag {
            Tag::Table => TABLE,
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => HEADING,
            Tag::Img => IMAGE,
            Tag::A if dom.attr(id, attr::HREF).is_some() => LINK,
            _ if code::is_block(dom, id) => PRE,
            Tag::Ul | Tag::Ol | Tag::Blockquote => LIST,
            Tag::Input
                if dom
                    .attr(id, attr::TYPE)
                    .is_some_and(|t| t.eq_ignore_ascii_case("checkbox")) =>
            {
                CHECKBOX
            }
            _ => 0,
        }
}
