//! The arena while a page is parsed. Nodes are numbered in document order while each new node is appended after
//! the previous one. In most pages this holds to the end, and their order needs no links. The first change of
//! that order links all nodes, and [`Arena::freeze`] then sorts them.

use std::ops::Range;

use super::super::dom::{Attribute, Dom, NodeId, attr};
use super::super::names::Names;
use super::super::node::Node;
use super::super::tag::Tag;
use crate::limits;

/// Number of classes that are remembered, to recognize those of other elements.
const CLASSES: usize = 64;
/// No node.
pub(in super::super) const NONE: NodeId = NodeId::MAX;

/// A growing arena.
#[derive(Debug)]
pub(in super::super) struct Arena {
    /// Their ends are set by `freeze`; the parent of a detached node is [`NONE`].
    pub(in super::super) nodes: Vec<Node>,
    pub(in super::super) attributes: Vec<Attribute>,
    pub(in super::super) text: String,
    pub(in super::super) names: Names,
    /// Declarative shadow roots, outer ones first.
    pub(in super::super) shadows: Vec<NodeId>,
    /// Ranges of classes in the buffer, by a hash.
    classes: [Range<u32>; CLASSES],
    /// Links of all nodes once they are not in document order.
    links: Option<Vec<Links>>,
    moved: usize,
}

#[derive(Clone, Copy, Debug)]
struct Links {
    first: NodeId,
    last: NodeId,
    previous: NodeId,
    next: NodeId,
}

const UNLINKED: Links = Links {
    first: NONE,
    last: NONE,
    previous: NONE,
    next: NONE,
};

impl Arena {
    /// Returns an arena that contains only the document, with room for the tree of a page.
    pub(in super::super) fn new(page: &str) -> Arena {
        // A start tag and its end tag make an element and at most two texts, one inside and one after it.
        let tags = memchr::memchr_iter(b'<', page.as_bytes()).count();
        let nodes = (tags * 3 / 2 + 8).min(limits::NODES);
        let mut arena = Arena {
            nodes: Vec::with_capacity(nodes),
            attributes: Vec::with_capacity(nodes / 2),
            text: String::with_capacity(page.len()),
            names: Names::default(),
            shadows: Vec::new(),
            classes: [const { 0..0 }; CLASSES],
            links: None,
            moved: 0,
        };
        let document = arena.push(Node::element(Tag::Document, 0, 0..0));
        arena.nodes[document as usize].parent = document;
        arena
    }

    /// Adds a detached node.
    pub(super) fn push(&mut self, mut node: Node) -> NodeId {
        let id = self.nodes.len() as NodeId;
        node.set_end(id + 1);
        self.nodes.push(node);
        if let Some(links) = &mut self.links {
            links.push(UNLINKED);
        }
        id
    }

    /// Adds attributes, whose values were written last. A class that was there before refers to the same text again.
    pub(super) fn push_attributes(&mut self, new: &mut Vec<Attribute>) -> Range<usize> {
        let start = self.attributes.len();
        self.attributes.append(new);
        for at in start..self.attributes.len() {
            if self.attributes[at].name == attr::CLASS {
                self.share_class(at);
            }
        }
        start..self.attributes.len()
    }

    /// Makes a class refer to the text of an equal one before it; otherwise remembers it under its hash.
    fn share_class(&mut self, at: usize) {
        let own = &self.attributes[at];
        let class = self.value(own).as_bytes();
        let [first, .., last] = *class else {
            return;
        };
        let hash = class.len() * 7 + usize::from(first) * 5 + usize::from(last);
        let known = self.classes[hash % CLASSES].clone();
        if self.text.as_bytes()[known.start as usize..known.end as usize] != *class {
            self.classes[hash % CLASSES] = own.start..own.stop;
            return;
        }
        // An attribute without a value may be after it, and text that waited for the tag.
        if at + 1 == self.attributes.len() && own.stop as usize == self.text.len() {
            self.text.truncate(own.start as usize);
        }
        (self.attributes[at].start, self.attributes[at].stop) = (known.start, known.end);
    }

    /// Returns true when the limits of nodes or moves are used up.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() >= limits::NODES || self.moved >= limits::MOVED_NODES
    }

    /// Returns the attributes of an element.
    pub(super) fn attributes_of(&self, id: NodeId) -> &[Attribute] {
        &self.attributes[self.nodes[id as usize].attributes()]
    }

    /// Returns a value.
    pub(super) fn value(&self, attribute: &Attribute) -> &str {
        &self.text[attribute.start as usize..attribute.stop as usize]
    }

    /// Returns the value of an attribute of an element.
    pub(in super::super) fn attr(&self, id: NodeId, name: &str) -> Option<&str> {
        let mut attributes = self.attributes_of(id).iter();
        let found = attributes.find(|attribute| self.names.get(attribute.name) == name)?;
        Some(self.value(found))
    }

    /// Returns true for a text node of white space only.
    pub(in super::super) fn is_blank(&self, id: NodeId) -> bool {
        let node = &self.nodes[id as usize];
        node.tag == Tag::Text && self.text[node.text_range()].trim().is_empty()
    }

    /// Returns whether the node is a declarative shadow root.
    pub(in super::super) fn is_shadow(&self, id: NodeId) -> bool {
        self.shadows.binary_search(&id).is_ok()
    }

    /// Appends a detached or attached node.
    pub(in super::super) fn append(&mut self, parent: NodeId, id: NodeId) {
        if self.links.is_none() {
            if self.follows_in_order(parent, id) {
                self.nodes[id as usize].parent = parent;
                return;
            }
            self.link();
        }
        self.detach(id);
        let last = self.last(parent);
        self.insert_between(parent, last, NONE, id);
    }

    /// Inserts a node before another one, which has a parent.
    pub(super) fn insert_before(&mut self, sibling: NodeId, id: NodeId) {
        self.detach(id);
        let parent = self.nodes[sibling as usize].parent;
        let previous = self.links()[sibling as usize].previous;
        self.insert_between(parent, previous, sibling, id);
    }

    /// Removes a node from its parent.
    pub(in super::super) fn detach(&mut self, id: NodeId) {
        let parent = self.nodes[id as usize].parent;
        let links = self.links();
        if parent == NONE {
            return;
        }
        let Links { previous, next, .. } = links[id as usize];
        match previous {
            NONE => links[parent as usize].first = next,
            previous => links[previous as usize].next = next,
        }
        match next {
            NONE => links[parent as usize].last = previous,
            next => links[next as usize].previous = previous,
        }
        (links[id as usize].previous, links[id as usize].next) = (NONE, NONE);
        self.nodes[id as usize].parent = NONE;
    }

    /// Moves all children to another parent.
    pub(super) fn move_children(&mut self, from: NodeId, to: NodeId) {
        loop {
            let first = self.first(from);
            if first == NONE {
                return;
            }
            self.moved += 1;
            self.append(to, first);
        }
    }

    /// Appends text to the last child, or as a new child.
    pub(super) fn append_text(&mut self, parent: NodeId, text: &str) {
        let last = match &self.links {
            Some(links) => links[parent as usize].last,
            // Without links, the last child can only be the last node.
            None => self.nodes.len() as NodeId - 1,
        };
        if last != NONE && self.nodes[last as usize].parent == parent && self.extend_text(last, text) {
            return;
        }
        let id = self.push_text_node(text);
        self.append(parent, id);
    }

    /// Inserts text before a node, which has a parent.
    pub(super) fn insert_text_before(&mut self, sibling: NodeId, text: &str) {
        let previous = self.links()[sibling as usize].previous;
        if previous != NONE && self.extend_text(previous, text) {
            return;
        }
        let id = self.push_text_node(text);
        self.insert_before(sibling, id);
    }

    /// Extends a text node if its text was written last.
    fn extend_text(&mut self, id: NodeId, text: &str) -> bool {
        let node = &mut self.nodes[id as usize];
        let extends = node.tag == Tag::Text && node.text_range().end == self.text.len();
        if extends {
            self.text.push_str(text);
            node.extend_text(self.text.len() as u32);
        }
        extends
    }

    fn push_text_node(&mut self, text: &str) -> NodeId {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        self.push(Node::text(start..self.text.len() as u32))
    }

    /// Returns the first child, or [`NONE`].
    pub(in super::super) fn first(&mut self, id: NodeId) -> NodeId {
        self.links()[id as usize].first
    }

    fn last(&mut self, id: NodeId) -> NodeId {
        self.links()[id as usize].last
    }

    /// Returns the next sibling, or [`NONE`].
    pub(in super::super) fn next(&mut self, id: NodeId) -> NodeId {
        self.links()[id as usize].next
    }

    fn insert_between(&mut self, parent: NodeId, previous: NodeId, next: NodeId, id: NodeId) {
        self.nodes[id as usize].parent = parent;
        let links = self.links();
        (links[id as usize].previous, links[id as usize].next) = (previous, next);
        match previous {
            NONE => links[parent as usize].first = id,
            previous => links[previous as usize].next = id,
        }
        match next {
            NONE => links[parent as usize].last = id,
            next => links[next as usize].previous = id,
        }
    }

    /// Returns whether a node that is appended to `parent` is next in document order. While the answer is true,
    /// nodes that are walked here are never walked again.
    fn follows_in_order(&self, parent: NodeId, id: NodeId) -> bool {
        if id as usize + 1 != self.nodes.len() {
            return false;
        }
        let mut at = id - 1;
        while at != parent {
            if at == 0 || at == NONE {
                return false;
            }
            at = self.nodes[at as usize].parent;
        }
        true
    }

    fn links(&mut self) -> &mut Vec<Links> {
        if self.links.is_none() {
            self.link();
        }
        self.links.get_or_insert_default()
    }

    /// Links all nodes, which are in document order except for detached ones.
    fn link(&mut self) {
        let mut links = vec![UNLINKED; self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate().skip(1) {
            if node.parent == NONE {
                continue;
            }
            let parent = node.parent as usize;
            let last = links[parent].last;
            match last {
                NONE => links[parent].first = id as NodeId,
                last => links[last as usize].next = id as NodeId,
            }
            links[parent].last = id as NodeId;
            links[id].previous = last;
        }
        self.links = Some(links);
    }

    /// Returns the arena in document order.
    pub(super) fn freeze(mut self, truncated: bool, input_bytes: usize) -> Dom {
        if let Some(links) = self.links.take() {
            self.nodes = in_document_order(&self.nodes, &links);
        }
        for id in (1..self.nodes.len()).rev() {
            let node = self.nodes[id];
            self.nodes[node.parent as usize].extend_to(node.end(id as NodeId));
        }
        let mut rare = Vec::new();
        for (id, node) in self.nodes.iter_mut().enumerate() {
            if node.tag == Tag::Text {
                let (ink, is_ascii) = measure(&self.text[node.text_range()]);
                node.set_ink(ink, is_ascii);
            } else if node.tag.is_rare() {
                rare.push(id as NodeId);
            }
        }
        Dom {
            nodes: self.nodes,
            rare,
            attributes: self.attributes,
            text: self.text,
            names: self.names,
            truncated,
            input_bytes,
            shown_noscript: Vec::new(),
        }
    }
}

/// Returns the number of bytes that are not white space, and whether the text is ASCII.
fn measure(text: &str) -> (u32, bool) {
    let is_ink = |byte: &u8| u8::from(!matches!(byte, b' ' | b'\t'..=b'\r'));
    let (mut ink, mut seen) = (0, 0);
    // The sum of a piece fits a byte, so the compiler can count many bytes at once.
    for piece in text.as_bytes().chunks(u8::MAX as usize) {
        ink += u32::from(piece.iter().map(is_ink).sum::<u8>());
        seen |= piece.iter().fold(0, |seen, byte| seen | byte);
    }
    (ink, seen.is_ascii())
}

/// Returns the linked nodes in document order. Follows the links, so depth costs nothing.
fn in_document_order(from: &[Node], links: &[Links]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(from.len());
    let (mut at, mut parent) = (0, 0);
    loop {
        let id = nodes.len() as NodeId;
        let mut node = from[at as usize];
        node.parent = parent;
        node.set_end(id + 1);
        nodes.push(node);
        let first = links[at as usize].first;
        if first != NONE {
            (parent, at) = (id, first);
            continue;
        }
        while at != 0 && links[at as usize].next == NONE {
            parent = nodes[parent as usize].parent;
            at = from[at as usize].parent;
        }
        if at == 0 {
            return nodes;
        }
        at = links[at as usize].next;
    }
}
