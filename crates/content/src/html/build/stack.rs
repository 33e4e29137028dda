//! The stack of open elements (HTML section 13.2.4.2).

use super::super::dom::NodeId;
use super::super::tag::Tag;
use super::super::tag_set::TagSet;
use super::sets::{IMPLIED_END, SCOPE};

/// Namespace of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespace {
    Html,
    MathMl,
    Svg,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenElement {
    pub(super) id: NodeId,
    /// Number of its name in lower case.
    pub(super) name: u16,
    pub(super) tag: Tag,
    pub(super) namespace: Namespace,
}

impl OpenElement {
    pub(super) fn is(&self, tag: Tag) -> bool {
        self.tag == tag && self.namespace == Namespace::Html
    }

    pub(super) fn is_in(&self, set: &TagSet) -> bool {
        match self.namespace {
            Namespace::Html => set.contains(self.tag),
            Namespace::MathMl => {
                set.integration_points && (self.is_text_integration_point() || self.tag == Tag::AnnotationXml)
            }
            Namespace::Svg => {
                set.integration_points && matches!(self.tag, Tag::ForeignObject | Tag::Desc | Tag::Title)
            }
        }
    }

    pub(super) fn is_text_integration_point(&self) -> bool {
        self.namespace == Namespace::MathMl
            && matches!(self.tag, Tag::Mi | Tag::Mo | Tag::Mn | Tag::Ms | Tag::Mtext)
    }
}

/// The stack. Counts its elements, because most questions are about elements that are not open at all.
#[derive(Debug)]
pub(super) struct Stack {
    elements: Vec<OpenElement>,
    /// HTML elements by tag.
    counts: [u32; 256],
}

impl Stack {
    pub(super) fn new() -> Stack {
        Stack {
            elements: Vec::with_capacity(64),
            counts: [0; 256],
        }
    }

    pub(super) fn elements(&self) -> &[OpenElement] {
        &self.elements
    }

    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }

    /// Returns the current node. The stack is only empty before `html` and after the end.
    pub(super) fn current(&self) -> Option<&OpenElement> {
        self.elements.last()
    }

    pub(super) fn current_is(&self, tag: Tag) -> bool {
        self.current().is_some_and(|element| element.is(tag))
    }

    pub(super) fn current_is_in(&self, set: &TagSet) -> bool {
        self.current().is_some_and(|element| element.is_in(set))
    }

    pub(super) fn push(&mut self, element: OpenElement) {
        self.count(element, 1);
        self.elements.push(element);
    }

    pub(super) fn pop(&mut self) -> Option<OpenElement> {
        let element = self.elements.pop()?;
        self.count(element, -1);
        Some(element)
    }

    pub(super) fn insert(&mut self, at: usize, element: OpenElement) {
        self.count(element, 1);
        self.elements.insert(at, element);
    }

    pub(super) fn remove(&mut self, at: usize) {
        let element = self.elements.remove(at);
        self.count(element, -1);
    }

    /// Removes an element if it is open.
    pub(super) fn remove_node(&mut self, id: NodeId) {
        if let Some(at) = self.position(id) {
            self.remove(at);
        }
    }

    pub(super) fn replace(&mut self, at: usize, element: OpenElement) {
        self.count(self.elements[at], -1);
        self.count(element, 1);
        self.elements[at] = element;
    }

    pub(super) fn truncate(&mut self, length: usize) {
        while self.elements.len() > length {
            self.pop();
        }
    }

    fn count(&mut self, element: OpenElement, change: i32) {
        if element.namespace == Namespace::Html {
            let count = &mut self.counts[element.tag as usize];
            *count = count.wrapping_add_signed(change);
        }
    }

    pub(super) fn position(&self, id: NodeId) -> Option<usize> {
        self.elements.iter().rposition(|element| element.id == id)
    }

    /// Returns true when an HTML element with this tag is open.
    pub(super) fn has(&self, tag: Tag) -> bool {
        self.counts[tag as usize] > 0
    }

    /// Returns true when an HTML element with this tag is in a scope.
    pub(super) fn has_in(&self, scope: &TagSet, tag: Tag) -> bool {
        self.has(tag) && self.any_in(scope, |element| element.is(tag))
    }

    /// Returns true when an element of the set is in a scope.
    pub(super) fn has_any_in(&self, scope: &TagSet, set: &TagSet) -> bool {
        self.any_in(scope, |element| {
            element.namespace == Namespace::Html && set.contains(element.tag)
        })
    }

    /// Returns true when the element is in scope.
    pub(super) fn has_node_in_scope(&self, id: NodeId) -> bool {
        self.any_in(&SCOPE, |element| element.id == id)
    }

    fn any_in(&self, scope: &TagSet, found: impl Fn(&OpenElement) -> bool) -> bool {
        for element in self.elements.iter().rev() {
            if found(element) {
                return true;
            }
            if element.is_in(scope) {
                return false;
            }
        }
        false
    }

    /// Generates implied end tags, except for elements with the tag `except`.
    pub(super) fn imply_end_tags(&mut self, set: &TagSet, except: Option<Tag>) {
        while let Some(element) = self.current()
            && element.is_in(set)
            && Some(element.tag) != except
        {
            self.pop();
        }
    }

    /// Closes the element with this tag and all in it, if it is in a scope. Returns whether it was.
    pub(super) fn close_in(&mut self, scope: &TagSet, tag: Tag) -> bool {
        let is_open = self.has_in(scope, tag);
        if is_open {
            self.imply_end_tags(&IMPLIED_END, None);
            self.pop_until(tag);
        }
        is_open
    }

    /// Pops elements until the current one is in the set.
    pub(super) fn clear_to(&mut self, context: &TagSet) {
        while let Some(element) = self.current()
            && !element.is_in(context)
        {
            self.pop();
        }
    }

    /// Pops elements until one with this tag was popped.
    pub(super) fn pop_until(&mut self, tag: Tag) {
        while let Some(element) = self.pop()
            && !element.is(tag)
        {}
    }

    /// Pops elements until one of the set was popped.
    pub(super) fn pop_until_any(&mut self, set: &TagSet) {
        while let Some(element) = self.pop()
            && !(element.namespace == Namespace::Html && set.contains(element.tag))
        {}
    }
}
