//! The list of active formatting elements (HTML section 13.2.4.3) and the adoption agency algorithm, which
//! repairs misnested formatting elements. A copy of an element shares its attributes.

use super::super::dom::{Attribute, NodeId};
use super::super::tag::Tag;
use super::super::tokenizer::TagToken;
use super::arena::{Arena, NONE};
use super::sets::SPECIAL;
use super::stack::{Namespace, OpenElement};
use super::{Builder, Step};

/// Maximum equal elements in the list; beyond it, the earliest is removed.
const EQUAL_ELEMENTS: usize = 3;
/// Maximum repairs per end tag, and maximum elements kept between the formatting element and the furthest block.
const OUTER_LOOPS: usize = 8;
const INNER_LOOPS: usize = 3;

/// The list. Its markers have no id.
#[derive(Debug, Default)]
pub(super) struct Formatting {
    entries: Vec<OpenElement>,
}

impl Formatting {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the elements of the list.
    pub(super) fn elements(&self) -> impl Iterator<Item = (NodeId, Tag)> {
        self.entries.iter().map(|entry| (entry.id, entry.tag))
    }

    pub(super) fn push_marker(&mut self) {
        self.entries.push(OpenElement {
            id: NONE,
            name: 0,
            tag: Tag::Document,
            namespace: Namespace::Html,
        });
    }

    pub(super) fn clear_to_marker(&mut self) {
        while let Some(entry) = self.entries.pop()
            && entry.id != NONE
        {}
    }

    fn position(&self, id: NodeId) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.id == id)
    }

    /// Returns the last element with this tag after the last marker.
    pub(super) fn last(&self, tag: Tag) -> Option<OpenElement> {
        let entries = self.entries.iter().rev();
        entries
            .take_while(|entry| entry.id != NONE)
            .find(|entry| entry.tag == tag)
            .copied()
    }

    pub(super) fn remove(&mut self, id: NodeId) {
        if let Some(at) = self.position(id) {
            self.entries.remove(at);
        }
    }

    /// Adds an element. Keeps only three equal elements after the last marker.
    fn push(&mut self, arena: &Arena, element: OpenElement) {
        let mut equal = 0;
        let mut earliest = 0;
        for (at, entry) in self.entries.iter().enumerate().rev() {
            if entry.id == NONE {
                break;
            }
            if entry.tag == element.tag && same_attributes(arena, entry.id, element.id) {
                (equal, earliest) = (equal + 1, at);
            }
        }
        if equal >= EQUAL_ELEMENTS {
            self.entries.remove(earliest);
        }
        self.entries.push(element);
    }
}

/// Returns whether two elements have the same attributes in any order.
fn same_attributes(arena: &Arena, one: NodeId, other: NodeId) -> bool {
    let (one, other) = (arena.attributes_of(one), arena.attributes_of(other));
    let equal = |one: &[Attribute], other: &[Attribute]| {
        let mut pairs = one.iter().zip(other);
        pairs.all(|(one, other)| one.name == other.name && arena.value(one) == arena.value(other))
    };
    if one.len() != other.len() || one.len() < 2 || equal(one, other) {
        return one.len() == other.len() && equal(one, other);
    }
    let (mut one, mut other) = (one.to_vec(), other.to_vec());
    one.sort_unstable_by_key(|attribute| attribute.name);
    other.sort_unstable_by_key(|attribute| attribute.name);
    equal(&one, &other)
}

impl Builder {
    /// Inserts and opens a formatting element.
    pub(super) fn insert_formatting(&mut self, token: &mut TagToken) {
        self.reconstruct_formatting();
        self.insert(token);
        let element = self.current();
        self.formatting.push(&self.arena, element);
    }

    /// Reopens the formatting elements that were closed implicitly.
    pub(super) fn reconstruct_formatting(&mut self) {
        let closed = |entry: &OpenElement| entry.id != NONE && self.stack.position(entry.id).is_none();
        let entries = &self.formatting.entries;
        let first = entries.len() - entries.iter().rev().take_while(|entry| closed(entry)).count();
        for at in first..self.formatting.entries.len() {
            let entry = self.formatting.entries[at];
            let copy = self.insert_copy(entry);
            self.stack.push(copy);
            self.formatting.entries[at] = copy;
        }
    }

    fn insert_copy(&mut self, entry: OpenElement) -> OpenElement {
        let node = self.arena.nodes[entry.id as usize];
        self.insert_node(entry, node.name(), node.attributes())
    }

    fn create_copy(&mut self, entry: OpenElement) -> OpenElement {
        let node = self.arena.nodes[entry.id as usize];
        self.create_node(entry, node.name(), node.attributes())
    }

    /// Runs the adoption agency algorithm for the tag of a formatting element.
    pub(super) fn adopt(&mut self, token: &TagToken) -> Step {
        let current = self.current();
        if current.is(token.tag) && self.formatting.position(current.id).is_none() {
            self.stack.pop();
            return Step::Done;
        }
        for _ in 0..OUTER_LOOPS {
            let Some(formatting) = self.formatting.last(token.tag) else {
                return self.any_other_end(token);
            };
            let Some(opened) = self.stack.position(formatting.id) else {
                self.formatting.remove(formatting.id);
                return Step::Done;
            };
            if !self.stack.has_node_in_scope(formatting.id) {
                return Step::Done;
            }
            let below = &self.stack.elements()[opened..];
            let Some(furthest) = below.iter().position(|element| element.is_in(&SPECIAL)) else {
                self.stack.truncate(opened);
                self.formatting.remove(formatting.id);
                return Step::Done;
            };
            self.adopt_block(formatting, opened, opened + furthest);
        }
        Step::Done
    }

    /// Moves the furthest block out of the formatting element, and a copy of the latter into the block.
    fn adopt_block(&mut self, formatting: OpenElement, opened: usize, furthest: usize) {
        let block = self.stack.elements()[furthest];
        let common_ancestor = self.stack.elements()[opened - 1];
        let mut bookmark = self.formatting.position(formatting.id).unwrap_or(0);
        let mut last = block.id;
        for (closer, at) in (opened + 1..furthest).rev().enumerate() {
            let node = self.stack.elements()[at];
            let listed = self.formatting.position(node.id);
            let Some(listed) = listed.filter(|_| closer < INNER_LOOPS) else {
                if let Some(listed) = listed {
                    self.formatting.entries.remove(listed);
                    bookmark -= usize::from(listed < bookmark);
                }
                self.stack.remove(at);
                continue;
            };
            let copy = self.create_copy(node);
            self.stack.replace(at, copy);
            self.formatting.entries[listed] = copy;
            if last == block.id {
                bookmark = listed + 1;
            }
            self.arena.append(copy.id, last);
            last = copy.id;
        }
        self.arena.detach(last);
        let place = self.place(common_ancestor);
        self.insert_at(place, last);
        let copy = self.create_copy(formatting);
        self.arena.move_children(block.id, copy.id);
        self.arena.append(block.id, copy.id);
        if let Some(listed) = self.formatting.position(formatting.id) {
            self.formatting.entries.remove(listed);
            bookmark -= usize::from(listed < bookmark);
        }
        self.formatting.entries.insert(bookmark, copy);
        self.stack.remove(opened);
        let at = self
            .stack
            .position(block.id)
            .map_or(self.stack.len(), |at| at + 1);
        self.stack.insert(at, copy);
    }
}
