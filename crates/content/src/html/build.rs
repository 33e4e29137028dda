//! html5ever's tree sink. Writes into a linked arena, which is put into document order at the end. Never
//! grows beyond its budgets: it reports when they are used up and ignores further nodes.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{LocalName, Namespace, QualName};

use super::dom::{self, Attribute, Dom, Node};
use super::shadow;
use super::tag::Tag;
use crate::limits;

pub(super) const NONE: u32 = u32::MAX;

pub(super) struct LinkedNode {
    pub(super) parent: u32,
    pub(super) first: u32,
    last: u32,
    previous: u32,
    pub(super) next: u32,
    start: u32,
    stop: u32,
    /// Index in the name table; the qualified name of an element is in `qualified`.
    name: u32,
    qualified: u32,
    pub(super) tag: Tag,
}

#[derive(Default)]
pub(super) struct Arena {
    pub(super) nodes: Vec<LinkedNode>,
    attributes: Vec<Attribute>,
    text: String,
    names: Vec<Box<str>>,
    /// Declarative shadow roots, outer ones first.
    shadows: Vec<u32>,
    by_name: HashMap<LocalName, u32>,
    qualified: Vec<QualName>,
    by_qualified: HashMap<QualName, (u32, Tag)>,
    max_text: usize,
    moved: usize,
}

/// The sink. Uses interior mutability because the trait takes `&self`.
pub(super) struct Sink {
    arena: RefCell<Arena>,
    created: Cell<usize>,
    formatting_created: Cell<usize>,
    truncated: Cell<bool>,
    input_bytes: usize,
}

/// The name of an element. Owned, because a table entry may move while the tree builder uses it.
#[derive(Debug)]
pub(super) struct Name(QualName);

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// Returns true for elements that HTML reopens in later blocks while they stay unclosed. Without `a`, because
/// links matter.
pub(super) fn is_formatting(tag: Tag) -> bool {
    use Tag::*;
    matches!(
        tag,
        B | Big | Code | Em | Font | I | Nobr | S | Small | Strike | Strong | Tt | U
    )
}

impl Sink {
    pub(super) fn new(input_bytes: usize) -> Sink {
        let mut arena = Arena {
            max_text: (input_bytes.saturating_mul(limits::COPIED_TEXT_FACTOR) + limits::SLACK_BYTES)
                .min(u32::MAX as usize / 2),
            ..Arena::default()
        };
        for name in dom::attr::NAMES {
            let index = arena.names.len() as u32;
            arena.names.push((*name).into());
            arena.by_name.insert(LocalName::from(*name), index);
        }
        arena.nodes.push(LinkedNode::new(Tag::Document));
        Sink {
            arena: RefCell::new(arena),
            created: Cell::new(0),
            formatting_created: Cell::new(0),
            truncated: Cell::new(false),
            input_bytes,
        }
    }

    /// Returns the number of elements created so far.
    pub(super) fn created(&self) -> usize {
        self.created.get()
    }

    /// Returns the number of formatting elements created so far, including copies.
    pub(super) fn formatting_created(&self) -> usize {
        self.formatting_created.get()
    }

    /// Returns the tag of an element.
    pub(super) fn tag(&self, handle: u32) -> Tag {
        self.arena.borrow().nodes[handle as usize].tag
    }

    /// Returns true when a budget is used up.
    pub(super) fn is_full(&self) -> bool {
        let arena = self.arena.borrow();
        arena.nodes.len() >= limits::NODES || arena.moved >= limits::MOVED_NODES
    }

    /// Marks the page as truncated.
    pub(super) fn mark_truncated(&self) {
        self.truncated.set(true);
    }
}

impl LinkedNode {
    fn new(tag: Tag) -> LinkedNode {
        LinkedNode {
            parent: NONE,
            first: NONE,
            last: NONE,
            previous: NONE,
            next: NONE,
            start: 0,
            stop: 0,
            name: 0,
            qualified: 0,
            tag,
        }
    }
}

impl Arena {
    fn name(&mut self, local: &LocalName) -> u32 {
        if let Some(&index) = self.by_name.get(local) {
            return index;
        }
        let index = self.names.len() as u32;
        self.names.push((**local).into());
        self.by_name.insert(local.clone(), index);
        index
    }

    /// Copies a value into the buffer. Beyond the budget the value is empty, and the flag is false.
    fn push_text(&mut self, value: &str) -> (u32, u32, bool) {
        let start = self.text.len() as u32;
        if self.text.len() + value.len() > self.max_text {
            return (start, start, false);
        }
        self.text.push_str(value);
        (start, self.text.len() as u32, true)
    }

    /// Returns the value of an attribute of an element.
    pub(super) fn attr(&self, id: u32, name: &str) -> Option<&str> {
        let node = &self.nodes[id as usize];
        if matches!(node.tag, Tag::Text | Tag::Document) {
            return None;
        }
        let attributes = &self.attributes[node.start as usize..node.stop as usize];
        let found = attributes
            .iter()
            .find(|a| &*self.names[a.name as usize] == name)?;
        Some(&self.text[found.start as usize..found.stop as usize])
    }

    /// Returns true for a text node of white space only.
    pub(super) fn is_blank(&self, id: u32) -> bool {
        let node = &self.nodes[id as usize];
        node.tag == Tag::Text
            && self.text[node.start as usize..node.stop as usize]
                .trim()
                .is_empty()
    }

    /// Returns whether the node is a declarative shadow root.
    pub(super) fn is_shadow(&self, id: u32) -> bool {
        self.shadows.binary_search(&id).is_ok()
    }

    pub(super) fn detach(&mut self, id: u32) {
        let (parent, previous, next) = {
            let node = &self.nodes[id as usize];
            (node.parent, node.previous, node.next)
        };
        if parent == NONE {
            return;
        }
        match previous {
            NONE => self.nodes[parent as usize].first = next,
            p => self.nodes[p as usize].next = next,
        }
        match next {
            NONE => self.nodes[parent as usize].last = previous,
            n => self.nodes[n as usize].previous = previous,
        }
        let node = &mut self.nodes[id as usize];
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }

    pub(super) fn append(&mut self, parent: u32, id: u32) {
        self.detach(id);
        let last = self.nodes[parent as usize].last;
        match last {
            NONE => self.nodes[parent as usize].first = id,
            l => self.nodes[l as usize].next = id,
        }
        self.nodes[parent as usize].last = id;
        let node = &mut self.nodes[id as usize];
        (node.parent, node.previous, node.next) = (parent, last, NONE);
    }

    fn insert_before(&mut self, sibling: u32, id: u32) {
        self.detach(id);
        let (parent, previous) = {
            let node = &self.nodes[sibling as usize];
            (node.parent, node.previous)
        };
        if parent == NONE {
            return;
        }
        match previous {
            NONE => self.nodes[parent as usize].first = id,
            p => self.nodes[p as usize].next = id,
        }
        self.nodes[sibling as usize].previous = id;
        let node = &mut self.nodes[id as usize];
        (node.parent, node.previous, node.next) = (parent, previous, sibling);
    }

    /// Appends text to `neighbour` if that was the text written last; else creates a text node and returns
    /// it.
    fn text_node(&mut self, neighbour: u32, text: &str) -> Option<u32> {
        let at_end = neighbour != NONE && {
            let node = &self.nodes[neighbour as usize];
            node.tag == Tag::Text && node.stop as usize == self.text.len()
        };
        let (start, stop, _) = self.push_text(text);
        if at_end {
            self.nodes[neighbour as usize].stop = stop;
            return None;
        }
        let mut node = LinkedNode::new(Tag::Text);
        (node.start, node.stop) = (start, stop);
        self.nodes.push(node);
        Some(self.nodes.len() as u32 - 1)
    }

    /// Returns the arena in document order. Follows the links, so depth costs nothing.
    fn freeze(self, truncated: bool, input_bytes: usize) -> Dom {
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        let (mut at, mut parent) = (0u32, 0u32);
        loop {
            let from = &self.nodes[at as usize];
            let id = nodes.len() as u32;
            nodes.push(Node {
                parent,
                end: id + 1,
                start: from.start,
                stop: from.stop,
                name: from.name,
                tag: from.tag,
            });
            if from.first != NONE {
                (parent, at) = (id, from.first);
                continue;
            }
            let mut up = at;
            let next = loop {
                let node = &self.nodes[up as usize];
                if up == 0 {
                    break NONE;
                }
                if node.next != NONE {
                    break node.next;
                }
                nodes[parent as usize].end = nodes.len() as u32;
                parent = nodes[parent as usize].parent;
                up = node.parent;
            };
            if next == NONE {
                break;
            }
            at = next;
        }
        let length = nodes.len() as u32;
        nodes[0].end = length;
        Dom {
            nodes,
            attributes: self.attributes,
            text: self.text,
            names: self.names,
            truncated,
            input_bytes,
            shows_noscript: false,
        }
    }
}

impl TreeSink for Sink {
    type Handle = u32;
    type Output = Dom;
    type ElemName<'a> = Name;

    fn finish(self) -> Dom {
        let mut arena = self.arena.into_inner();
        // The first shadow root of a host counts.
        let mut hosts = HashSet::new();
        for shadow in arena.shadows.clone() {
            if hosts.insert(arena.nodes[shadow as usize].parent) {
                shadow::fill_slots(&mut arena, shadow);
            }
        }
        arena.freeze(self.truncated.get(), self.input_bytes)
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> u32 {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a u32) -> Name {
        let arena = self.arena.borrow();
        Name(arena.qualified[arena.nodes[*target as usize].qualified as usize].clone())
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<html5ever::Attribute>,
        _flags: ElementFlags,
    ) -> u32 {
        let mut guard = self.arena.borrow_mut();
        let arena = &mut *guard;
        let (qualified, tag) = match arena.by_qualified.get(&name) {
            Some(&known) => known,
            None => {
                let known = (arena.qualified.len() as u32, Tag::of(&name.local));
                arena.qualified.push(name.clone());
                arena.by_qualified.insert(name.clone(), known);
                known
            }
        };
        let mut node = LinkedNode::new(tag);
        node.qualified = qualified;
        node.name = arena.name(&name.local);
        node.start = arena.attributes.len() as u32;
        for attribute in attributes {
            let name = arena.name(&attribute.name.local);
            let (start, stop, kept) = arena.push_text(&attribute.value);
            if !kept {
                self.truncated.set(true);
                continue;
            }
            arena.attributes.push(Attribute { name, start, stop });
        }
        node.stop = arena.attributes.len() as u32;
        arena.nodes.push(node);
        let id = arena.nodes.len() as u32 - 1;
        if tag == Tag::Template && arena.attr(id, "shadowrootmode").is_some() {
            // The contents of the template are shown.
            let name = arena.name(&LocalName::from("div"));
            let node = &mut arena.nodes[id as usize];
            (node.tag, node.name) = (Tag::Div, name);
            arena.shadows.push(id);
        }
        self.created.set(self.created.get() + 1);
        if is_formatting(tag) {
            self.formatting_created.set(self.formatting_created.get() + 1);
        }
        id
    }

    fn create_comment(&self, _text: StrTendril) -> u32 {
        // Comments are not kept; an empty text node takes their place so that handles stay valid.
        let mut arena = self.arena.borrow_mut();
        arena.nodes.push(LinkedNode::new(Tag::Text));
        arena.nodes.len() as u32 - 1
    }

    fn create_pi(&self, _target: StrTendril, data: StrTendril) -> u32 {
        self.create_comment(data)
    }

    fn append(&self, parent: &u32, child: NodeOrText<u32>) {
        let mut arena = self.arena.borrow_mut();
        match child {
            NodeOrText::AppendNode(id) => arena.append(*parent, id),
            NodeOrText::AppendText(text) => {
                let last = arena.nodes[*parent as usize].last;
                if let Some(id) = arena.text_node(last, &text) {
                    arena.append(*parent, id);
                }
            }
        }
    }

    fn append_based_on_parent_node(&self, element: &u32, previous: &u32, child: NodeOrText<u32>) {
        let has_parent = self.arena.borrow().nodes[*element as usize].parent != NONE;
        match has_parent {
            true => self.append_before_sibling(element, child),
            false => self.append(previous, child),
        }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public: StrTendril, _system: StrTendril) {}

    fn get_template_contents(&self, target: &u32) -> u32 {
        *target
    }

    fn same_node(&self, x: &u32, y: &u32) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &u32, child: NodeOrText<u32>) {
        let mut arena = self.arena.borrow_mut();
        match child {
            NodeOrText::AppendNode(id) => arena.insert_before(*sibling, id),
            NodeOrText::AppendText(text) => {
                let previous = arena.nodes[*sibling as usize].previous;
                if let Some(id) = arena.text_node(previous, &text) {
                    arena.insert_before(*sibling, id);
                }
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &u32, attributes: Vec<html5ever::Attribute>) {
        let mut guard = self.arena.borrow_mut();
        let arena = &mut *guard;
        let (start, stop) = {
            let node = &arena.nodes[*target as usize];
            (node.start as usize, node.stop as usize)
        };
        // Only `html` and `body` get here, with few attributes: write the joined list at the end.
        if stop - start + attributes.len() > limits::ATTRIBUTES_PER_TAG {
            self.truncated.set(true);
            return;
        }
        let mut joined: Vec<Attribute> = arena.attributes[start..stop].to_vec();
        let before = joined.len();
        for attribute in attributes {
            let name = arena.name(&attribute.name.local);
            if joined.iter().any(|a| a.name == name) {
                continue;
            }
            let (start, stop, _) = arena.push_text(&attribute.value);
            joined.push(Attribute { name, start, stop });
        }
        if joined.len() > before {
            let start = arena.attributes.len() as u32;
            arena.attributes.extend(joined);
            let stop = arena.attributes.len() as u32;
            let node = &mut arena.nodes[*target as usize];
            (node.start, node.stop) = (start, stop);
        }
    }

    fn remove_from_parent(&self, target: &u32) {
        self.arena.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &u32, new_parent: &u32) {
        let mut arena = self.arena.borrow_mut();
        loop {
            let first = arena.nodes[*node as usize].first;
            if first == NONE {
                break;
            }
            arena.moved += 1;
            arena.append(*new_parent, first);
        }
    }
}
