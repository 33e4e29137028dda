//! The arena of one page: nodes in document order. Each node knows where its subtree ends, so that a walk is
//! a count. Text and attribute values are ranges of one buffer. Nothing here recurses or allocates per node.

use std::ops::Range;

pub(crate) use super::attr;
use super::names::Names;
use super::node::Node;
pub(crate) use super::node::NodeId;
use super::tag::Tag;

/// Bytes of text in `noscript` above which it may be the page's content.
const NOSCRIPT_TEXT_BYTES: usize = 400;

/// One attribute: the number of its name, value as a range of the buffer. Equal classes mostly share a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: u32,
    pub(crate) start: u32,
    pub(crate) stop: u32,
}

/// A parsed page.
#[derive(Debug, Default)]
pub(crate) struct Dom {
    pub(crate) nodes: Vec<Node>,
    /// The elements of rare tags ([`Tag::is_rare`]), in document order.
    pub(crate) rare: Vec<NodeId>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) text: String,
    /// Names of elements and attributes.
    pub(crate) names: Names,
    pub(crate) truncated: bool,
    /// The `noscript` elements that hold content of the page, in document order. They are read like the rest.
    pub(crate) shown_noscript: Vec<NodeId>,
    /// Bytes of the input, for limits that depend on it.
    pub(crate) input_bytes: usize,
}

impl Dom {
    /// Returns the node at `id`.
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// Returns the tag of a node.
    pub(crate) fn tag(&self, id: NodeId) -> Tag {
        self.nodes[id as usize].tag
    }

    /// Returns one past the last node of the subtree of `id`.
    pub(crate) fn end(&self, id: NodeId) -> NodeId {
        self.nodes[id as usize].end(id)
    }

    /// Returns the parent; the document is its own parent.
    pub(crate) fn parent(&self, id: NodeId) -> NodeId {
        self.nodes[id as usize].parent
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> NodeId {
        self.nodes.len() as NodeId
    }

    /// Returns the text of a text node; empty for others.
    pub(crate) fn text(&self, id: NodeId) -> &str {
        &self.text[self.node(id).text_range()]
    }

    /// Returns the number of bytes of a text node that are not white space; 0 for others.
    pub(crate) fn ink(&self, id: NodeId) -> u32 {
        self.node(id).ink()
    }

    /// Returns whether the text of a text node is ASCII; true for others.
    pub(crate) fn is_ascii(&self, id: NodeId) -> bool {
        self.node(id).is_ascii()
    }

    /// Returns the name of an element.
    pub(crate) fn name(&self, id: NodeId) -> &str {
        self.names.get(self.node(id).name())
    }

    /// Returns the elements of a rare tag ([`Tag::is_rare`]), in document order.
    pub(crate) fn all(&self, tag: Tag) -> impl Iterator<Item = NodeId> {
        debug_assert!(tag.is_rare(), "{tag:?} is not listed");
        self.rare.iter().copied().filter(move |&id| self.tag(id) == tag)
    }

    /// Returns the attributes of a node, in order.
    pub(crate) fn attributes(&self, id: NodeId) -> &[Attribute] {
        &self.attributes[self.node(id).attributes()]
    }

    /// Returns the value of an attribute.
    pub(crate) fn value(&self, attribute: &Attribute) -> &str {
        &self.text[attribute.start as usize..attribute.stop as usize]
    }

    /// Returns the value of the attribute with this number (see [`attr`]).
    pub(crate) fn attr(&self, id: NodeId, name: u32) -> Option<&str> {
        self.attributes(id)
            .iter()
            .find(|a| a.name == name)
            .map(|a| self.value(a))
    }

    /// Returns the elements with an attribute whose name and value `matches` accepts, in document order.
    pub(crate) fn with_attribute<'a>(
        &'a self,
        matches: impl Fn(&Attribute) -> bool + 'a,
    ) -> impl Iterator<Item = NodeId> + 'a {
        // If no element matches, checking the list of all attributes is faster than checking each element. An attribute
        // that starts before the end of another one repeats one that was checked.
        let mut checked = 0;
        let is_new = |attribute: &&Attribute| {
            let is_new = attribute.start >= checked;
            checked = checked.max(attribute.stop);
            is_new
        };
        let end = match self.attributes.iter().filter(is_new).any(&matches) {
            true => self.len(),
            false => 0,
        };
        (0..end).filter(move |&id| self.attributes(id).iter().any(&matches))
    }

    /// Returns the value of an attribute by name.
    pub(crate) fn attr_named(&self, id: NodeId, name: &str) -> Option<&str> {
        self.attributes(id)
            .iter()
            .find(|a| self.names.get(a.name) == name)
            .map(|a| self.value(a))
    }

    /// Returns true when the `class` attribute has this token, ignoring case.
    pub(crate) fn has_class(&self, id: NodeId, class: &str) -> bool {
        self.classes(id).any(|c| c.eq_ignore_ascii_case(class))
    }

    /// Returns the tokens of the `class` attribute.
    pub(crate) fn classes(&self, id: NodeId) -> impl Iterator<Item = &str> {
        self.attr(id, attr::CLASS).unwrap_or("").split_ascii_whitespace()
    }

    /// Returns the children of a node.
    pub(crate) fn children(&self, id: NodeId) -> Children<'_> {
        Children {
            dom: self,
            next: id + 1,
            end: self.end(id),
        }
    }

    /// Returns all nodes below `id`, in document order.
    pub(crate) fn below(&self, id: NodeId) -> Range<NodeId> {
        id + 1..self.end(id)
    }

    /// Returns the ancestors of `id`, nearest first, without the document.
    pub(crate) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut at = id;
        std::iter::from_fn(move || {
            at = self.parent(at);
            (at != 0).then_some(at)
        })
    }

    /// Returns `id` and its ancestors, nearest first, without the document.
    pub(crate) fn inclusive_ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::once(id).chain(self.ancestors(id))
    }

    /// Returns the first element with this tag below `id`.
    pub(crate) fn first(&self, id: NodeId, tag: Tag) -> Option<NodeId> {
        self.below(id).find(|&n| self.tag(n) == tag)
    }

    /// Returns true for elements whose content is not text of this page.
    pub(crate) fn is_never_text(&self, id: NodeId) -> bool {
        let tag = self.tag(id);
        tag.is_never_text() || (tag == Tag::Noscript && !self.shows_noscript(id))
    }

    /// Returns true for a `noscript` that holds content of the page.
    pub(crate) fn shows_noscript(&self, id: NodeId) -> bool {
        self.shown_noscript.binary_search(&id).is_ok()
    }

    /// Finds the `noscript` elements that hold content: all when nearly all text of the page is in them, else those that
    /// repeat the template of a script directly before them, from which the script would make the content.
    pub(crate) fn detect_noscript_content(&mut self) {
        if self.all(Tag::Noscript).next().is_none() {
            return;
        }
        let (mut plain, mut inside) = (0usize, 0usize);
        let mut end = 0;
        let mut at = self.first(0, Tag::Body).unwrap_or(0);
        while at < self.len() {
            let tag = self.tag(at);
            if tag.is_never_text() {
                at = self.end(at);
                continue;
            }
            if tag == Tag::Noscript {
                end = self.end(at);
            }
            let count = self.ink(at) as usize;
            if at < end {
                inside += count;
            } else {
                plain += count;
            }
            at += 1;
        }
        if inside <= NOSCRIPT_TEXT_BYTES {
            return;
        }
        let holds_page = inside > plain * 3;
        let shown = self
            .all(Tag::Noscript)
            .filter(|&id| holds_page || self.is_after_template(id));
        self.shown_noscript = shown.collect();
    }

    /// Returns true when the element directly before is a script of type `text/template`.
    fn is_after_template(&self, id: NodeId) -> bool {
        let before = self.rare.partition_point(|&rare| rare < id);
        let Some(&script) = self.rare[..before].last() else {
            return false;
        };
        self.tag(script) == Tag::Script
            && self.attr(script, attr::TYPE) == Some("text/template")
            && self.parent(script) == self.parent(id)
            && (self.end(script)..id).all(|between| self.text(between).trim().is_empty())
    }

    /// Returns all text below `id` unchanged, without scripts and styles; stops after about `max` bytes.
    pub(crate) fn text_of(&self, id: NodeId, max: usize) -> String {
        let mut out = String::new();
        let mut at = id;
        while at < self.end(id) && out.len() < max {
            let tag = self.tag(at);
            if tag == Tag::Text {
                out.push_str(self.text(at));
            } else if at != id && matches!(tag, Tag::Script | Tag::Style | Tag::Template) {
                at = self.end(at);
                continue;
            } else if tag == Tag::Br || tag.is_block() {
                out.push(' ');
            }
            at += 1;
        }
        out
    }
}

/// Iterator over the children of a node.
pub(crate) struct Children<'a> {
    dom: &'a Dom,
    next: NodeId,
    end: NodeId,
}

impl Iterator for Children<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        if self.next >= self.end {
            return None;
        }
        let at = self.next;
        self.next = self.dom.end(at);
        Some(at)
    }
}

/// Collapses runs of white space to one space and trims.
pub(crate) fn collapse(text: &str) -> String {
    // Most short texts are in this form.
    if is_collapsed(text.as_bytes()) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut push = |words: &str| {
        if !out.is_empty() && !words.is_empty() {
            out.push(' ');
        }
        out.push_str(words);
    };
    for line in text.split('\n').map(str::trim_ascii) {
        match is_collapsed(line.as_bytes()) {
            true => push(line),
            false => line.split_whitespace().for_each(&mut push),
        }
    }
    out
}

/// Returns true when a text has no white space other than single spaces between words. Returns false when it has bytes
/// that begin white space outside ASCII.
fn is_collapsed(text: &[u8]) -> bool {
    // Without an early exit, so that many bytes are compared at once.
    let is_other = |byte: &u8| matches!(byte, b'\t'..=b'\r' | 0xc2 | 0xe1..=0xe3);
    let other = text.iter().fold(false, |found, byte| found | is_other(byte));
    let pairs = text.iter().zip(text.iter().skip(1));
    let double = pairs.fold(false, |found, pair| found | (*pair.0 == b' ' && *pair.1 == b' '));
    !(other || double || text.starts_with(b" ") || text.ends_with(b" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    #[test]
    fn elements_are_found_by_repeated_classes() {
        let dom = &parse("<p class=note>a<p id=x class='note'>b<p class=other>c<p class=note hidden>dé</p>");
        let found = |class: &'static str| {
            dom.with_attribute(move |a| a.name == attr::CLASS && dom.value(a) == class)
                .map(|id| dom.text_of(id, 9))
                .collect::<String>()
        };
        assert_eq!(found("note"), " a b dé");
        assert_eq!(found("other"), " c");
        let starts: Vec<u32> = dom
            .attributes
            .iter()
            .filter(|a| a.name == attr::CLASS)
            .map(|a| a.start)
            .collect();
        assert!(starts[0] == starts[1] && starts[1] == starts[3], "{starts:?}");
        let hidden = dom.with_attribute(|a| a.name == attr::HIDDEN && dom.value(a).is_empty());
        assert_eq!(hidden.count(), 1);
    }

    #[test]
    fn white_space_collapses_in_any_script() {
        for text in [
            "", " ", "a", " a", "a ", "a b", "a  b", "\n a\t\r\n b\u{b}c\u{c} ", "ä b", "ä\u{a0}b",
            "「ab\u{3000} c」 ", "\u{85}a", "\0 \x1c",
        ] {
            let words: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(collapse(text), words.join(" "), "{text:?}");
        }
    }
}
