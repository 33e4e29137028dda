//! How much text hangs on each node, and of which sort. One sweep over the arena; the choice of content reads the sums.

use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Bytes of text directly in one block from which it reads as prose.
const PROSE_BYTES: u32 = 90;

/// Sums over the subtree of every node, left-out subtrees not counted.
pub(super) struct Mass {
    /// Bytes of text, white space not counted.
    pub(super) text: Vec<u32>,
    /// Of these, inside links.
    pub(super) linked: Vec<u32>,
    /// Of these, unlinked and in blocks that read as prose.
    pub(super) prose: Vec<u32>,
    /// The nearest block that holds each node, itself included.
    block: Vec<NodeId>,
    own_text: Vec<u32>,
    own_linked: Vec<u32>,
}

impl Mass {
    /// Measures the page.
    pub(super) fn of(dom: &Dom, dropped: &[bool]) -> Mass {
        let length = dom.nodes.len();
        let mut mass = Mass {
            text: vec![0; length],
            linked: vec![0; length],
            prose: vec![0; length],
            block: vec![0; length],
            own_text: vec![0; length],
            own_linked: vec![0; length],
        };
        mass.own(dom);
        mass.sum(dom, dropped);
        mass
    }

    /// Text by the block that holds it.
    fn own(&mut self, dom: &Dom) {
        let mut link_end = 0;
        let mut at: NodeId = 1;
        while at < dom.len() {
            let tag = dom.tag(at);
            let index = at as usize;
            if dom.is_never_text(tag) || matches!(tag, Tag::Select | Tag::Textarea | Tag::Button) {
                // Nothing in here is text; its nodes still need a block for whoever asks.
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
                let count = dom.text(at).bytes().filter(|b| !b.is_ascii_whitespace()).count() as u32;
                let block = self.block[index] as usize;
                self.own_text[block] = self.own_text[block].saturating_add(count);
                if at < link_end {
                    self.own_linked[block] = self.own_linked[block].saturating_add(count);
                }
            }
            at += 1;
        }
    }

    /// Sums up again, without what is left out by now.
    pub(super) fn sum(&mut self, dom: &Dom, dropped: &[bool]) {
        for id in (1..dom.len()).rev() {
            let at = id as usize;
            let (text, linked) = (self.own_text[at], self.own_linked[at]);
            let prose = if text >= PROSE_BYTES && linked * 2 < text {
                text - linked
            } else {
                0
            };
            // The sums of children were added before, as they come later in document order.
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

    /// The nearest block that holds a node, itself included.
    pub(super) fn block(&self, id: NodeId) -> NodeId {
        self.block[id as usize]
    }

    /// Forgets the sums, to sum up again.
    pub(super) fn clear(&mut self) {
        for sums in [&mut self.text, &mut self.linked, &mut self.prose] {
            sums.fill(0);
        }
    }

    /// What a subtree weighs when content is looked for: prose counts double, links little.
    pub(super) fn weight(&self, id: NodeId) -> u64 {
        let at = id as usize;
        let (text, linked, prose) = (
            u64::from(self.text[at]),
            u64::from(self.linked[at]),
            u64::from(self.prose[at]),
        );
        (text - linked.min(text)) * 10 + prose * 10 + linked * 3
    }

    /// Share of the text that is linked, in percent.
    pub(super) fn linked_percent(&self, id: NodeId) -> u32 {
        let at = id as usize;
        match self.text[at] {
            0 => 0,
            text => (u64::from(self.linked[at]) * 100 / u64::from(text)) as u32,
        }
    }
}
