//! One node of a page in 16 bytes: a large page has a million of them.

use std::ops::Range;

use super::tag::Tag;
use crate::limits;

/// Index of a node in document order; 0 is the document itself.
pub(crate) type NodeId = u32;

/// Marks a text that is not ASCII.
const NON_ASCII: u32 = 1 << 23;
/// The largest ink of a text: more counts as much.
const MAX_INK: u32 = NON_ASCII - 1;

/// The document, a text or an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) parent: NodeId,
    /// Text: start of its range in the buffer. Element: start of its range in the attribute list.
    start: u32,
    /// Text: end of its range in the buffer. Others: one past the last node of the subtree.
    end: u32,
    pub(crate) tag: Tag,
    /// Text: its ink and [`NON_ASCII`]. Element: number of attributes, then the number of its name in two bytes.
    detail: [u8; 3],
}

impl Node {
    /// Returns a detached text, a range of the buffer.
    pub(super) fn text(range: Range<u32>) -> Node {
        Node {
            parent: NodeId::MAX,
            start: range.start,
            end: range.end,
            tag: Tag::Text,
            detail: [0; 3],
        }
    }

    /// Returns a detached element whose attributes are a range of the attribute list.
    pub(super) fn element(tag: Tag, name: u16, attributes: Range<usize>) -> Node {
        let [low, high] = name.to_le_bytes();
        let mut node = Node {
            parent: NodeId::MAX,
            start: 0,
            end: 0,
            tag,
            detail: [0, low, high],
        };
        node.set_attributes(attributes);
        node
    }

    /// Returns one past the last node of the subtree of the node, whose number is `id`.
    pub(crate) fn end(&self, id: NodeId) -> NodeId {
        match self.tag {
            Tag::Text => id + 1,
            _ => self.end,
        }
    }

    /// Sets the end of the subtree; a text has none.
    pub(super) fn set_end(&mut self, end: NodeId) {
        if self.tag != Tag::Text {
            self.end = end;
        }
    }

    /// Extends the subtree of an element to `end`.
    pub(super) fn extend_to(&mut self, end: NodeId) {
        debug_assert_ne!(self.tag, Tag::Text);
        self.end = self.end.max(end);
    }

    /// Returns the range of a text in the buffer; empty for others.
    pub(super) fn text_range(&self) -> Range<usize> {
        match self.tag {
            Tag::Text => self.start as usize..self.end as usize,
            _ => 0..0,
        }
    }

    /// Moves the end of the range of a text.
    pub(super) fn extend_text(&mut self, end: u32) {
        debug_assert_eq!(self.tag, Tag::Text);
        self.end = end;
    }

    /// Returns the range of an element in the attribute list; empty for others.
    pub(super) fn attributes(&self) -> Range<usize> {
        let start = self.start as usize;
        match self.tag {
            Tag::Text | Tag::Document => 0..0,
            _ => start..start + usize::from(self.detail[0]),
        }
    }

    /// Sets the range of an element in the attribute list.
    pub(super) fn set_attributes(&mut self, range: Range<usize>) {
        debug_assert!(range.len() <= limits::ATTRIBUTES_PER_TAG);
        self.start = range.start as u32;
        self.detail[0] = range.len() as u8;
    }

    /// Gives an element another name.
    pub(super) fn rename(&mut self, tag: Tag, name: u16) {
        self.tag = tag;
        [self.detail[1], self.detail[2]] = name.to_le_bytes();
    }

    /// Returns the number of the name of an element.
    pub(super) fn name(&self) -> u16 {
        let [_, low, high] = self.detail;
        u16::from_le_bytes([low, high])
    }

    /// Stores the number of bytes of a text that are not white space, and whether it is ASCII.
    pub(super) fn set_ink(&mut self, ink: u32, is_ascii: bool) {
        debug_assert_eq!(self.tag, Tag::Text);
        let [bytes @ .., _] = (ink.min(MAX_INK) | if is_ascii { 0 } else { NON_ASCII }).to_le_bytes();
        self.detail = bytes;
    }

    /// Returns the number of bytes of a text that are not white space; 0 for others.
    pub(super) fn ink(&self) -> u32 {
        match self.tag {
            Tag::Text => self.detail() & MAX_INK,
            _ => 0,
        }
    }

    /// Returns whether a text is ASCII; true for others.
    pub(super) fn is_ascii(&self) -> bool {
        self.tag != Tag::Text || self.detail() & NON_ASCII == 0
    }

    fn detail(&self) -> u32 {
        let [low, middle, high] = self.detail;
        u32::from_le_bytes([low, middle, high, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_takes_16_bytes() {
        assert_eq!(size_of::<Node>(), 16);
    }

    #[test]
    fn the_ink_of_a_text_is_bounded() {
        for (ink, stored) in [(0, 0), (5, 5), (MAX_INK, MAX_INK), (u32::MAX, MAX_INK)] {
            for is_ascii in [true, false] {
                let mut node = Node::text(3..9);
                node.set_ink(ink, is_ascii);
                assert_eq!((node.ink(), node.is_ascii()), (stored, is_ascii));
                assert_eq!((node.text_range(), node.end(7)), (3..9, 8));
            }
        }
    }

    #[test]
    fn an_element_has_name_attributes_and_end() {
        let mut node = Node::element(Tag::P, u16::MAX, 4..259);
        node.set_end(12);
        assert_eq!(
            (node.name(), node.attributes(), node.end(3)),
            (u16::MAX, 4..259, 12)
        );
        assert_eq!((node.text_range(), node.ink(), node.is_ascii()), (0..0, 0, true));
    }
}
