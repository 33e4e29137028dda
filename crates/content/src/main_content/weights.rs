//! How much text each subtree holds, and of which kind. Computed in one pass; the search for the main content
//! uses the sums.

use super::skipped::is_skipped;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Minimum bytes of text directly in a block that counts as prose.
const PROSE_BYTES: u32 = 90;

/// Sums over the subtree of every node, without dropped subtrees.
#[derive(Clone)]
pub(super) struct TextWeights {
    /// Bytes of text without white space.
    pub(super) text: Vec<u32>,
    /// Bytes of text inside links.
    pub(super) linked: Vec<u32>,
    /// Bytes of unlinked text in prose blocks.
    pub(super) prose: Vec<u32>,
    /// The nearest block that contains each node, or is it.
    block: Vec<NodeId>,
    own_text: Vec<u32>,
    own_linked: Vec<u32>,
}

impl TextWeights {
    /// Computes the sums of a page.
    pub(super) fn of(dom: &Dom, dropped: &[bool]) -> TextWeights {
        let length = dom.nodes.len();
        let mut weights = TextWeights {
            text: vec![0; length],
            linked: vec![0; length],
            prose: vec![0; length],
            block: vec![0; length],
            own_text: vec![0; length],
            own_linked: vec![0; length],
        };
        weights.add_own_text(dom);
        weights.sum(dom, dropped);
        weights
    }

    /// Adds up the text of each block.
    fn add_own_text(&mut self, dom: &Dom) {
        let mut link_end = 0;
        let mut at: NodeId = 1;
        while at < dom.len() {
            let tag = dom.tag(at);
            let index = at as usize;
            if is_skipped(dom, at) {
                // Nothing in here is text, but callers may ask for the block of its nodes.
                let block = self.block[dom.parent(at) as usize];
                for inside in at..dom.end(at) {
                    self.block[inside as usize] = block;
                }
                at = dom.end(at);
                continue;
            }
            self.block[index] = if tag.is_block() {
                at
            } else {
                self.block[dom.parent(at) as usize]
            };
            if tag == Tag::A && dom.attr(at, attr::HREF).is_some() {
                link_end = link_end.max(dom.end(at));
            }
            if tag == Tag::Text {
                let count = dom.ink(at);
                let block = self.block[index] as usize;
                self.own_text[block] = self.own_text[block].saturating_add(count);
                if at < link_end {
                    self.own_linked[block] = self.own_linked[block].saturating_add(count);
                }
            }
            at += 1;
        }
    }

    /// Adds up the subtrees again, without what has been dropped so far.
    pub(super) fn sum(&mut self, dom: &Dom, dropped: &[bool]) {
        for sums in [&mut self.text, &mut self.linked, &mut self.prose] {
            sums.fill(0);
        }
        for id in (1..dom.len()).rev() {
            let at = id as usize;
            let (text, linked) = (self.own_text[at], self.own_linked[at]);
            let prose = if self.is_paragraph(id) { text - linked } else { 0 };
            // The sums of children are complete, as they come later in document order.
            self.text[at] = self.text[at].saturating_add(text);
            self.linked[at] = self.linked[at].saturating_add(linked);
            self.prose[at] = self.prose[at].saturating_add(prose);
            if dropped[at] {
                (self.text[at], self.linked[at], self.prose[at]) = (0, 0, 0);
            }
            let parent = dom.parent(id) as usize;
            self.text[parent] = self.text[parent].saturating_add(self.text[at]);
            self.linked[parent] = self.linked[parent].saturating_add(self.linked[at]);
            self.prose[parent] = self.prose[parent].saturating_add(self.prose[at]);
        }
    }

    /// Returns the nearest block that contains a node, or is it.
    pub(super) fn block(&self, id: NodeId) -> NodeId {
        self.block[id as usize]
    }

    /// Returns the bytes of text directly in a block.
    pub(super) fn own_text(&self, id: NodeId) -> u32 {
        self.own_text[id as usize]
    }

    /// Returns true for a block whose own text is prose.
    pub(super) fn is_paragraph(&self, id: NodeId) -> bool {
        let (text, linked) = (self.own_text[id as usize], self.own_linked[id as usize]);
        text >= PROSE_BYTES && linked * 2 < text
    }

    /// Returns the weight of a subtree in the search for content: prose counts double, links little.
    pub(super) fn weight(&self, id: NodeId) -> u64 {
        let at = id as usize;
        let (text, linked, prose) = (
            u64::from(self.text[at]),
            u64::from(self.linked[at]),
            u64::from(self.prose[at]),
        );
        (text - linked.min(text)) * 10 + prose * 10 + linked * 3
    }

    /// Returns the share of text that is linked, in percent.
    pub(super) fn linked_percent(&self, id: NodeId) -> u32 {
        let at = id as usize;
        match self.text[at] {
            0 => 0,
            text => (u64::from(self.linked[at]) * 100 / u64::from(text)) as u32,
        }
    }
}
