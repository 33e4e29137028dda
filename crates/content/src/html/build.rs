//! The tree builder (HTML section 13.2.6), with scripting disabled. Writes into an [`Arena`], which is put into
//! document order at the end. Never grows beyond its limits: the rest of the page is left out, or its tags are.
//! The insertion modes are in `head`, `body`, `table` and `outer`; comments create no nodes.

pub(super) mod arena;
mod body;
mod body_end;
mod foreign;
mod formatting;
mod head;
mod outer;
mod sets;
mod stack;
mod table;

use std::ops::Range;

use self::arena::{Arena, NONE};
use self::formatting::Formatting;
use self::sets::FORMATTING;
use self::stack::{Namespace, OpenElement, Stack};
use super::dom::{Attribute, Dom, NodeId};
use super::node::Node;
use super::shadow;
use super::tag::Tag;
use super::tokenizer::{Doctype, TagToken, Text, TokenSink};
use crate::hash::HashSet;
use crate::limits;

/// Insertion modes. "in table text" is not among them: see [`Builder::pending`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Initial,
    BeforeHtml,
    BeforeHead,
    InHead,
    InHeadNoscript,
    AfterHead,
    InBody,
    Text,
    InTable,
    InCaption,
    InColumnGroup,
    InTableBody,
    InRow,
    InCell,
    InTemplate,
    AfterBody,
    InFrameset,
    AfterFrameset,
    AfterAfterBody,
    AfterAfterFrameset,
}

/// What remains to be done with a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Done,
    /// It is processed again, in the insertion mode that is current now.
    Again,
}

/// Where a node is inserted.
#[derive(Clone, Copy)]
enum InsertPosition {
    LastChild(NodeId),
    Before(NodeId),
}

/// The tree builder.
pub(super) struct Builder {
    arena: Arena,
    stack: Stack,
    formatting: Formatting,
    mode: Mode,
    /// The mode to return to from [`Mode::Text`].
    original: Mode,
    template_modes: Vec<Mode>,
    head: NodeId,
    form: NodeId,
    frameset_ok: bool,
    quirks: bool,
    foster_parenting: bool,
    /// A line feed at the start of the next text is dropped.
    skips_line_feed: bool,
    /// Text in a table that waits for the next token, as in the mode "in table text".
    pending: String,
    /// How the tokenizer continues after the current start tag.
    next_text: Text,
    truncated: bool,
    input_bytes: usize,
}

impl Builder {
    pub(super) fn new(page: &str) -> Builder {
        Builder {
            arena: Arena::new(page),
            stack: Stack::new(),
            formatting: Formatting::default(),
            mode: Mode::Initial,
            original: Mode::Initial,
            template_modes: Vec::new(),
            head: NONE,
            form: NONE,
            frameset_ok: true,
            quirks: false,
            foster_parenting: false,
            skips_line_feed: false,
            pending: String::new(),
            next_text: Text::Data,
            truncated: false,
            input_bytes: page.len(),
        }
    }

    /// Ends the page and returns its arena; `truncated` says whether something is missing already.
    pub(super) fn finish(mut self, truncated: bool) -> Dom {
        self.end_of_file();
        // Only the first shadow root of a host counts.
        let mut hosts = HashSet::default();
        for shadow in self.arena.shadows.clone() {
            if hosts.insert(self.arena.nodes[shadow as usize].parent) {
                shadow::fill_slots(&mut self.arena, shadow);
            }
        }
        self.arena.freeze(self.truncated || truncated, self.input_bytes)
    }

    /// Returns true when a start tag is left out because too many elements are open.
    fn exceeds_depth(&self, tag: Tag) -> bool {
        // If these were left out, scripts would become text. They contain no elements, so they do not nest.
        let keeps = matches!(
            tag,
            Tag::Script | Tag::Style | Tag::Title | Tag::Textarea | Tag::Iframe | Tag::Xmp
        );
        // Includes the document, `head` and `form`.
        let at_most = self.stack.len() + self.formatting.len() + 3;
        if at_most < limits::OPEN_FORMATTING || keeps || tag.is_void() {
            return false;
        }
        self.stack.len() + 1 >= limits::OPEN_DEPTH
            || (at_most >= limits::OPEN_DEPTH && self.open_nodes(|_| true) + 1 >= limits::OPEN_DEPTH)
            || (FORMATTING.contains(tag)
                && self.open_nodes(|tag| FORMATTING.contains(tag)) >= limits::OPEN_FORMATTING)
    }

    /// Counts the elements that are open or will be opened again.
    fn open_nodes(&self, counts: impl Fn(Tag) -> bool) -> usize {
        let open = self
            .stack
            .elements()
            .iter()
            .map(|element| (element.id, element.tag));
        let mut ids: Vec<NodeId> = open
            .chain(self.formatting.elements())
            .chain([(self.head, Tag::Head), (self.form, Tag::Form)])
            .filter(|&(id, tag)| id != NONE && counts(tag))
            .map(|(id, _)| id)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len()
    }

    /// Returns the appropriate place for inserting a node, with `target` instead of the current node.
    fn place(&self, target: OpenElement) -> InsertPosition {
        if !self.foster_parenting || !target.is_in(&sets::FOSTERING) {
            return InsertPosition::LastChild(target.id);
        }
        let elements = self.stack.elements();
        let bound = |element: &OpenElement| element.is(Tag::Table) || element.is(Tag::Template);
        let Some(at) = elements.iter().rposition(bound) else {
            return InsertPosition::LastChild(elements[0].id);
        };
        let found = elements[at];
        if found.is(Tag::Template) {
            InsertPosition::LastChild(found.id)
        } else if self.arena.nodes[found.id as usize].parent != NONE {
            InsertPosition::Before(found.id)
        } else {
            InsertPosition::LastChild(elements[at.saturating_sub(1)].id)
        }
    }

    fn insert_at(&mut self, place: InsertPosition, id: NodeId) {
        match place {
            InsertPosition::LastChild(parent) => self.arena.append(parent, id),
            InsertPosition::Before(sibling) => self.arena.insert_before(sibling, id),
        }
    }

    /// Returns the current node; before `html` that is the document.
    fn current(&self) -> OpenElement {
        self.stack.current().copied().unwrap_or(OpenElement {
            id: 0,
            name: 0,
            tag: Tag::Document,
            namespace: Namespace::Html,
        })
    }

    /// Inserts an element whose attributes are a range of the attribute list.
    fn insert_node(
        &mut self,
        element: OpenElement,
        shown_name: u16,
        attributes: Range<usize>,
    ) -> OpenElement {
        let place = self.place(self.current());
        let element = self.create_node(element, shown_name, attributes);
        self.insert_at(place, element.id);
        element
    }

    /// Creates an element. `shown_name` is its name in the arena.
    fn create_node(
        &mut self,
        mut element: OpenElement,
        shown_name: u16,
        attributes: Range<usize>,
    ) -> OpenElement {
        let tag = element.tag.in_arena();
        let id = self.arena.push(Node::element(tag, shown_name, attributes));
        if tag == Tag::Template && self.arena.attr(id, "shadowrootmode").is_some() {
            // The contents of the template are shown.
            let name = self.arena.names.element("div", Tag::Div);
            self.arena.nodes[id as usize].rename(Tag::Div, name);
            self.arena.shadows.push(id);
        }
        element.id = id;
        element
    }

    /// Moves the attributes of a token to the attribute list.
    fn take_attributes(&mut self, token: &mut TagToken) -> Range<usize> {
        self.arena.push_attributes(&mut token.attributes)
    }

    /// Inserts an HTML element for a token and opens it.
    fn insert(&mut self, token: &mut TagToken) -> NodeId {
        let element = self.insert_void(token);
        self.stack.push(element);
        element.id
    }

    /// Inserts an HTML element for a token without opening it.
    fn insert_void(&mut self, token: &mut TagToken) -> OpenElement {
        let attributes = self.take_attributes(token);
        let element = OpenElement {
            id: NONE,
            name: token.name,
            tag: token.tag,
            namespace: Namespace::Html,
        };
        self.insert_node(element, token.name, attributes)
    }

    /// Inserts an HTML element that has no tag in the page, and opens it.
    fn insert_implied(&mut self, tag: Tag) -> NodeId {
        let name = self.arena.names.element("", tag);
        let element = OpenElement {
            id: NONE,
            name,
            tag,
            namespace: Namespace::Html,
        };
        let element = self.insert_node(element, name, 0..0);
        self.stack.push(element);
        element.id
    }

    /// Inserts text at the appropriate place.
    fn insert_text(&mut self, text: &str) {
        match self.place(self.current()) {
            InsertPosition::LastChild(parent) => self.arena.append_text(parent, text),
            InsertPosition::Before(sibling) => self.arena.insert_text_before(sibling, text),
        }
    }

    /// Adds the attributes of a token that an element does not have.
    fn add_attributes(&mut self, id: NodeId, token: &mut TagToken) {
        let mut joined: Vec<Attribute> = self.arena.attributes_of(id).to_vec();
        if joined.len() + token.attributes.len() > limits::ATTRIBUTES_PER_TAG {
            self.truncated = true;
            return;
        }
        let before = joined.len();
        for attribute in &token.attributes {
            if joined[..before].iter().all(|known| known.name != attribute.name) {
                joined.push(*attribute);
            }
        }
        if joined.len() > before {
            token.attributes.clear();
            let start = self.arena.attributes.len();
            self.arena.attributes.append(&mut joined);
            self.arena.nodes[id as usize].set_attributes(start..self.arena.attributes.len());
        }
    }

    /// Inserts an element that contains only text.
    fn insert_raw_text(&mut self, token: &mut TagToken, text: Text) -> Step {
        self.insert(token);
        self.next_text = text;
        self.original = self.mode;
        self.mode = Mode::Text;
        Step::Done
    }

    /// Resets the insertion mode appropriately (HTML section 13.2.4.1).
    fn reset_mode(&mut self) {
        let mode = self.stack.elements().iter().rev().find_map(|element| {
            if element.namespace != Namespace::Html {
                return None;
            }
            Some(match element.tag {
                Tag::Td | Tag::Th => Mode::InCell,
                Tag::Tr => Mode::InRow,
                Tag::Tbody | Tag::Thead | Tag::Tfoot => Mode::InTableBody,
                Tag::Caption => Mode::InCaption,
                Tag::Colgroup => Mode::InColumnGroup,
                Tag::Table => Mode::InTable,
                Tag::Template => *self.template_modes.last()?,
                Tag::Head => Mode::InHead,
                Tag::Body => Mode::InBody,
                Tag::Frameset => Mode::InFrameset,
                Tag::Html if self.head == NONE => Mode::BeforeHead,
                Tag::Html => Mode::AfterHead,
                _ => return None,
            })
        });
        self.mode = mode.unwrap_or(Mode::InBody);
    }

    fn start_in_mode(&mut self, token: &mut TagToken) -> Step {
        match self.mode {
            Mode::Initial => self.leave_initial(),
            Mode::BeforeHtml => self.start_before_html(token),
            Mode::BeforeHead => self.start_before_head(token),
            Mode::InHead => self.start_in_head(token),
            Mode::InHeadNoscript => self.start_in_head_noscript(token),
            Mode::AfterHead => self.start_after_head(token),
            Mode::InBody => self.start_in_body(token),
            // The tokenizer finds no start tags in text.
            Mode::Text => Step::Done,
            Mode::InTable => self.start_in_table(token),
            Mode::InCaption => self.start_in_caption(token),
            Mode::InColumnGroup => self.start_in_column_group(token),
            Mode::InTableBody => self.start_in_table_body(token),
            Mode::InRow => self.start_in_row(token),
            Mode::InCell => self.start_in_cell(token),
            Mode::InTemplate => self.start_in_template(token),
            Mode::AfterBody | Mode::AfterAfterBody => self.start_after_body(token),
            Mode::InFrameset => self.start_in_frameset(token),
            Mode::AfterFrameset | Mode::AfterAfterFrameset => self.start_after_frameset(token),
        }
    }

    fn end_in_mode(&mut self, token: &TagToken) -> Step {
        match self.mode {
            Mode::Initial => self.leave_initial(),
            Mode::BeforeHtml => self.end_before_html(token.tag),
            Mode::BeforeHead => self.end_before_head(token.tag),
            Mode::InHead => self.end_in_head(token.tag),
            Mode::InHeadNoscript => self.end_in_head_noscript(token.tag),
            Mode::AfterHead => self.end_after_head(token.tag),
            Mode::InBody => self.end_in_body(token),
            Mode::Text => {
                self.stack.pop();
                self.mode = self.original;
                Step::Done
            }
            Mode::InTable => self.end_in_table(token),
            Mode::InCaption => self.end_in_caption(token),
            Mode::InColumnGroup => self.end_in_column_group(token.tag),
            Mode::InTableBody => self.end_in_table_body(token),
            Mode::InRow => self.end_in_row(token),
            Mode::InCell => self.end_in_cell(token),
            Mode::InTemplate => self.end_in_template(token.tag),
            Mode::AfterBody | Mode::AfterAfterBody => self.end_after_body(token.tag),
            Mode::InFrameset => self.end_in_frameset(token.tag),
            Mode::AfterFrameset | Mode::AfterAfterFrameset => self.end_after_frameset(token.tag),
        }
    }

    /// Returns the rest of a text, which another mode must process.
    fn text_in_mode<'t>(&mut self, text: &'t str) -> &'t str {
        match self.mode {
            Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead => self.text_before_head(text),
            Mode::InHead | Mode::InHeadNoscript | Mode::AfterHead => self.text_in_head(text),
            Mode::InBody | Mode::InCaption | Mode::InCell | Mode::InTemplate => self.text_in_body(text),
            Mode::Text => {
                self.insert_text(text);
                ""
            }
            Mode::InTable | Mode::InTableBody | Mode::InRow => self.text_in_table(text),
            Mode::InColumnGroup => self.text_in_column_group(text),
            Mode::AfterBody | Mode::AfterAfterBody => self.text_after_body(text),
            Mode::InFrameset | Mode::AfterFrameset | Mode::AfterAfterFrameset => self.text_in_frameset(text),
        }
    }

    fn process_text(&mut self, mut text: &str) {
        while !text.is_empty() {
            text = if self.text_is_foreign() {
                self.text_in_foreign(text)
            } else {
                self.text_in_mode(text)
            };
        }
    }

    /// Processes the end of the file, which only adds `html`, `head` and `body` when they are missing.
    fn end_of_file(&mut self) {
        self.flush_pending();
        loop {
            match self.mode {
                Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead => self.leave_before_head(),
                Mode::InHead | Mode::InHeadNoscript | Mode::AfterHead => self.leave_head(),
                Mode::Text => {
                    self.stack.pop();
                    self.mode = self.original;
                }
                _ if self.template_modes.is_empty() => return,
                _ => {
                    self.stack.pop_until(Tag::Template);
                    self.formatting.clear_to_marker();
                    self.template_modes.pop();
                    self.reset_mode();
                }
            }
        }
    }
}

impl TokenSink for Builder {
    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn is_full(&mut self) -> bool {
        let full = self.arena.is_full();
        self.truncated |= full;
        full
    }

    fn open_tag(&mut self) {
        self.flush_pending();
    }

    fn start_tag(&mut self, token: &mut TagToken) -> Text {
        self.truncated |= token.truncated;
        if self.exceeds_depth(token.tag) {
            self.truncated = true;
            return Text::Data;
        }
        self.skips_line_feed = false;
        self.next_text = Text::Data;
        loop {
            let step = if self.start_is_foreign(token) {
                self.start_in_foreign(token)
            } else {
                self.start_in_mode(token)
            };
            if step == Step::Done {
                return self.next_text;
            }
        }
    }

    fn end_tag(&mut self, token: &TagToken) {
        self.skips_line_feed = false;
        let foreign = self.current().namespace != Namespace::Html;
        if foreign && self.end_in_foreign(token) == Step::Done {
            return;
        }
        while self.end_in_mode(token) == Step::Again {}
    }

    fn text(&mut self, mut text: &str) {
        if std::mem::take(&mut self.skips_line_feed) {
            text = text.strip_prefix('\n').unwrap_or(text);
        }
        self.process_text(text);
    }

    fn null(&mut self) {
        self.skips_line_feed = false;
        if self.text_is_foreign() {
            self.insert_text("\u{fffd}");
            return;
        }
        // NUL itself is dropped, but it is not white space, so it ends the modes that only white space stays in.
        loop {
            match self.mode {
                Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead => self.leave_before_head(),
                Mode::InHead | Mode::InHeadNoscript | Mode::AfterHead => self.leave_head(),
                Mode::InColumnGroup if self.stack.current_is(Tag::Colgroup) => {
                    self.stack.pop();
                    self.mode = Mode::InTable;
                }
                Mode::AfterBody | Mode::AfterAfterBody => self.mode = Mode::InBody,
                _ => return,
            }
        }
    }

    fn comment(&mut self, _data: &str) {
        self.flush_pending();
        self.skips_line_feed = false;
    }

    fn doctype(&mut self, doctype: Doctype) {
        self.flush_pending();
        self.skips_line_feed = false;
        if self.mode == Mode::Initial {
            self.quirks = doctype.is_quirky();
            self.mode = Mode::BeforeHtml;
        }
    }

    fn allows_cdata(&self) -> bool {
        self.current().namespace != Namespace::Html
    }
}

#[cfg(test)]
mod tests;
