//! The walk: enters and leaves elements in document order, with its own stack, and decides how each is
//! written.

mod code_text;
mod controls;
mod formula;
mod structures;

use indexmap::IndexSet;

use super::Request;
use super::anchors::{self, SelfLink};
use super::blocks::{Blocks, Gap};
use super::callout;
use super::code;
use super::escape;
use super::footnotes::Footnotes;
use super::inline::{Inline, Mark};
use super::shape::{self, Shape};
use super::table::Grid;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;
use crate::limits;

/// What to do when an element ends.
#[derive(Debug)]
enum Leave {
    Block,
    Heading(u8),
    Marks(usize),
    /// A block written on one line (a short link, a heading inside a cell).
    OneLine {
        marks: usize,
        block: bool,
    },
    Quote {
        opened: bool,
    },
    Item {
        opened: bool,
    },
    List {
        continued: bool,
    },
    Row,
    Cell(NodeId),
    Table,
    Code,
    Term {
        marks: usize,
    },
    /// Text that is written when the element ends.
    Closing(&'static str),
    /// A button whose text is written.
    Button,
}

struct List {
    ordered: bool,
    next: u64,
    delimiter: char,
    bullet: char,
    width: usize,
    items: usize,
}

/// The walk over one page.
pub(super) struct Walk<'a> {
    request: &'a Request<'a>,
    dom: &'a Dom,
    shape: Shape,
    blocks: Blocks,
    inline: Inline,
    open: Vec<(NodeId, Leave)>,
    lists: Vec<List>,
    grid: Option<Grid>,
    footnotes: Footnotes,
    /// Numbers of the notes whose references were written, in order.
    referenced: IndexSet<usize>,
    /// The title of a callout that only repeats its kind; skipped.
    skipped_title: Option<NodeId>,
    /// The task marker of an item, until its text is written.
    task: Option<&'static str>,
    /// Number of open elements whose text is inline code.
    code: usize,
    /// A part of the code of the open element is written.
    is_code_open: bool,
    /// A link to be written inside the heading that it contains.
    heading_link: Option<(NodeId, String)>,
    tex: formula::TexSource,
    /// Output length at the end of the last list, whether it was ordered, and its marker.
    last_list: Option<(usize, bool, char)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(request: &'a Request<'a>, max: usize) -> Walk<'a> {
        Walk {
            request,
            dom: request.dom,
            shape: Shape::of(request.dom),
            blocks: Blocks::new(max),
            inline: Inline::default(),
            open: Vec::new(),
            lists: Vec::new(),
            grid: None,
            footnotes: Footnotes::of(request.dom),
            referenced: IndexSet::new(),
            skipped_title: None,
            task: None,
            code: 0,
            is_code_open: false,
            heading_link: None,
            tex: formula::TexSource::of(request.dom),
            last_list: None,
        }
    }

    /// Walks one subtree, including its root.
    pub(super) fn subtree(&mut self, root: NodeId) {
        self.range(root, self.dom.end(root));
    }

    /// Walks the nodes from `at` to `end`, which must be complete subtrees.
    fn range(&mut self, mut at: NodeId, end: NodeId) {
        while at < end && !self.blocks.is_full() {
            while self.open.last().is_some_and(|(end, _)| *end <= at) {
                self.leave();
            }
            let is_skipped = self.footnotes.is_skipped(at) || self.skipped_title == Some(at);
            let skip = is_skipped || self.request.dropped[at as usize] || !self.enter(at);
            if skip && controls::is_visible(self.dom.tag(at)) {
                self.inline.separate();
            }
            at = if skip { self.dom.end(at) } else { at + 1 };
        }
        while !self.open.is_empty() {
            self.leave();
        }
        self.flush();
    }

    /// Writes the notes whose references were written, and returns the text.
    pub(super) fn finish(mut self) -> String {
        // A note that is content, but whose reference was dropped, comes last.
        for number in self.footnotes.numbers() {
            let is_content = self
                .footnotes
                .note(number)
                .is_some_and(|note| self.is_content(note));
            if is_content {
                self.referenced.insert(number);
            }
        }
        let mut next = 0;
        // Notes may contain references to further notes.
        while let Some(&number) = self.referenced.get_index(next) {
            next += 1;
            let Some(note) = self.footnotes.note(number) else {
                continue;
            };
            if next > 1 {
                self.blocks.set_gap(Gap::Line);
            }
            let opened = self
                .blocks
                .open_item(format!("[^{}]: ", self.footnotes.label(number)));
            self.range(note + 1, self.dom.end(note));
            if opened {
                self.blocks.close();
            }
        }
        self.blocks.finish()
    }

    /// Returns true for a node that is part of the content.
    fn is_content(&self, id: NodeId) -> bool {
        let dropped = |n: NodeId| self.request.dropped[n as usize];
        self.request.roots.iter().any(|&root| {
            let inside = id >= root && id < self.dom.end(root);
            inside && !dropped(id) && !self.dom.ancestors(id).take_while(|&n| n > root).any(dropped)
        })
    }

    fn on_leave(&mut self, id: NodeId, leave: Leave) {
        self.open.push((self.dom.end(id), leave));
    }

    /// Ends the paragraph.
    fn flush(&mut self) {
        if self.inline.cell {
            if !self.inline.is_empty() {
                self.inline.line_break();
            }
            return;
        }
        if self.inline.one_line > 0 {
            self.inline.space();
            return;
        }
        let text = self.inline.take();
        if text.is_empty() {
            return;
        }
        let mut text = escape::line_starts(&text);
        if let Some(task) = self.task.take()
            && self.blocks.is_at_item_start()
        {
            text.to_mut().insert_str(0, task);
        }
        self.blocks.block(&text);
    }

    /// Enters a node. Returns false when nothing below it is walked.
    fn enter(&mut self, id: NodeId) -> bool {
        let tag = self.dom.tag(id);
        match tag {
            Tag::Text => {
                self.text(id);
                return false;
            }
            Tag::Br => {
                if self.inline.breaks() > 0
                    && !self.inline.is_empty()
                    && !self.inline.cell
                    && self.inline.one_line == 0
                {
                    self.flush();
                } else {
                    self.inline.line_break();
                }
                return false;
            }
            Tag::Wbr => return false,
            Tag::Img => {
                self.image(id);
                return false;
            }
            Tag::Input => {
                self.input(id);
                return false;
            }
            Tag::Hr => {
                self.flush();
                if !self.inline.cell && self.inline.one_line == 0 {
                    self.blocks.block("---");
                }
                return false;
            }
            Tag::Noscript if !self.dom.shows_noscript(id) => return self.noscript(id),
            Tag::Select | Tag::Textarea => return false,
            Tag::Math if self.formula(id) => return false,
            Tag::Script if self.tex_script(id) => return false,
            Tag::Span if self.is_copy(id) => return false,
            Tag::Div if self.is_rendered_tex(id) => return false,
            Tag::Button => {
                self.inline.separate();
                let shown = self.button(id);
                if shown {
                    self.on_leave(id, Leave::Button);
                }
                return shown;
            }
            _ if tag.is_never_text() => return false,
            _ => {}
        }
        if let Some(level) = tag.heading_level().or_else(|| shape::level(self.dom, id, tag)) {
            return self.heading(id, level);
        }
        match tag {
            Tag::A => self.link(id),
            Tag::B | Tag::Strong => self.mark(id, Mark::Strong),
            Tag::I | Tag::Em | Tag::Cite | Tag::Dfn | Tag::Var => self.mark(id, Mark::Emphasis),
            Tag::Del | Tag::S | Tag::Strike => self.mark(id, Mark::Deleted),
            Tag::Sup if self.note_reference(id) => false,
            Tag::Sup if self.footnotes.has_reference(self.dom, id) => true,
            Tag::Sup => self.mark(id, Mark::Html("sup")),
            Tag::Sub => self.mark(id, Mark::Html("sub")),
            Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp => self.inline_code(id),
            Tag::Q => self.enclose(id, "“", "”"),
            Tag::Rt if self.needs_parentheses(id) => self.enclose(id, "(", ")"),
            Tag::Pre | Tag::Xmp => {
                self.code_block(id);
                false
            }
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => self.list(id, tag == Tag::Ol),
            Tag::Li => self.item(id),
            Tag::Blockquote => {
                self.flush();
                let opened = self.in_flow() && self.blocks.open_quote();
                self.on_leave(id, Leave::Quote { opened });
                true
            }
            Tag::Table => self.table(id),
            // The caption was written before the table.
            Tag::Caption if self.grid.is_some() => false,
            Tag::Tr if self.grid.is_some() => {
                if let Some(grid) = &mut self.grid {
                    grid.open_row(self.dom, id);
                }
                self.on_leave(id, Leave::Row);
                true
            }
            Tag::Td | Tag::Th if self.grid.is_some() => {
                self.inline.take();
                self.on_leave(id, Leave::Cell(id));
                true
            }
            Tag::Dt => self.term(id),
            Tag::Div if self.is_code_block(id) => {
                self.code_block(id);
                false
            }
            _ if tag.is_block() || tag == Tag::Other => self.block(id, tag),
            _ => true,
        }
    }

    fn leave(&mut self) {
        let Some((_, leave)) = self.open.pop() else { return };
        match leave {
            Leave::Block => self.flush(),
            Leave::Heading(level) => {
                self.inline.one_line -= 1;
                self.end_heading(level);
            }
            Leave::Marks(count) => (0..count).for_each(|_| self.inline.close()),
            Leave::OneLine { marks, block } => {
                (0..marks).for_each(|_| self.inline.close());
                self.inline.one_line -= 1;
                if block {
                    self.flush();
                }
            }
            Leave::Quote { opened } => {
                self.flush();
                if opened {
                    self.blocks.close();
                }
            }
            Leave::Item { opened } => {
                self.flush();
                if opened {
                    self.blocks.close();
                    self.blocks.set_gap(Gap::Line);
                }
            }
            Leave::List { continued } => {
                self.flush();
                if continued {
                    self.blocks.close();
                }
                if let Some(list) = self.lists.pop()
                    && list.items > 0
                {
                    let mark = if list.ordered { list.delimiter } else { list.bullet };
                    self.last_list = Some((self.blocks.len(), list.ordered, mark));
                }
                if self.lists.is_empty() {
                    self.blocks.set_gap(Gap::Blank);
                }
            }
            Leave::Row => {}
            Leave::Cell(id) => {
                let text = self.inline.take();
                if let Some(grid) = &mut self.grid {
                    grid.cell(self.dom, id, text.replace('\n', " "));
                }
            }
            Leave::Table => {
                self.inline.take();
                self.inline.cell = false;
                if let Some(grid) = self.grid.take() {
                    let text = grid.write();
                    if !text.is_empty() {
                        self.blocks.set_gap(Gap::Blank);
                        self.blocks.block(&text);
                    }
                }
            }
            Leave::Code => self.code -= 1,
            Leave::Term { marks } => {
                (0..marks).for_each(|_| self.inline.close());
                self.flush();
            }
            Leave::Closing(text) => self.inline.raw(text),
            Leave::Button => self.inline.separate(),
        }
    }

    /// Enters a callout, or a block without its own Markdown form.
    fn block(&mut self, id: NodeId, tag: Tag) -> bool {
        if self.in_flow()
            && let Some(callout) = callout::of(self.dom, id)
        {
            self.flush();
            self.skipped_title = callout.title;
            let opened = self.blocks.open_quote();
            self.blocks.block(&format!("[!{}]", callout.kind));
            self.blocks.set_gap(Gap::Line);
            self.on_leave(id, Leave::Quote { opened });
        } else if tag.is_block() {
            self.flush();
            self.on_leave(id, Leave::Block);
        }
        true
    }

    /// Returns true where blocks can be written: not in a cell or a one-line block.
    fn in_flow(&self) -> bool {
        !self.inline.cell && self.inline.one_line == 0
    }

    fn text(&mut self, id: NodeId) {
        let text = self.dom.text(id);
        if self.code == 0 {
            self.words(id, text);
            return;
        }
        if text.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.inline.space();
        }
        if !text.trim().is_empty() {
            let span = code::span(text, self.inline.cell);
            match std::mem::replace(&mut self.is_code_open, true) {
                true => self.inline.more_code(&span),
                false => self.inline.code(&span),
            }
        }
        if text.ends_with(|c: char| c.is_ascii_whitespace()) {
            self.inline.space();
        }
    }

    /// Opens a mark. One that is already open, or bold inside a heading, adds nothing.
    fn mark(&mut self, id: NodeId, mark: Mark) -> bool {
        let in_heading = self
            .open
            .iter()
            .any(|(_, leave)| matches!(leave, Leave::Heading(_)));
        if self.inline.is_open(&mark) || (in_heading && mark == Mark::Strong) || self.code > 0 {
            return true;
        }
        self.inline.open(mark, false);
        self.on_leave(id, Leave::Marks(1));
        true
    }

    fn heading(&mut self, id: NodeId, level: u8) -> bool {
        self.flush();
        if !self.in_flow() {
            // In a cell or a link a heading is plain text.
            self.on_leave(id, Leave::Block);
            return true;
        }
        self.inline.one_line += 1;
        self.on_leave(id, Leave::Heading(level));
        if let Some((end, url)) = self.heading_link.take()
            && id < end
        {
            self.inline.open(Mark::Link(url), false);
            self.on_leave(id, Leave::Marks(1));
        }
        true
    }

    fn end_heading(&mut self, level: u8) {
        let text = self.inline.take();
        if text.is_empty() {
            return;
        }
        let mut line = "#".repeat(level as usize);
        line.push(' ');
        line.push_str(&text.replace('\n', " "));
        // A trailing `#` would be read as a closing sequence.
        if line.ends_with('#') && line.len() > level as usize + 1 {
            line.insert(line.len() - 1, '\\');
        }
        self.blocks.block(&line);
    }

    /// Writes a footnote reference if the element is one.
    fn note_reference(&mut self, id: NodeId) -> bool {
        let Some(number) = self.footnotes.reference(id) else {
            return false;
        };
        self.inline.raw(&format!("[^{}]", self.footnotes.label(number)));
        self.referenced.insert(number);
        true
    }

    fn link(&mut self, id: NodeId) -> bool {
        let Some(href) = self.dom.attr(id, attr::HREF) else {
            return true;
        };
        if self.note_reference(id) {
            return false;
        }
        match anchors::self_link(self.dom, id, href) {
            SelfLink::Permalink => return false,
            SelfLink::Whole => return true,
            SelfLink::None => {}
        }
        if self.inline.in_link() {
            return true;
        }
        let Some(url) = self.request.targets.link(self.request.base, id, href) else {
            return true;
        };
        let (dom, shape) = (self.dom, &self.shape);
        if !self.in_flow() || !shape.has_below(dom, id, shape::BLOCK) {
            self.inline.open(Mark::Link(url), false);
            self.on_leave(id, Leave::Marks(1));
        } else if shape.has_below(dom, id, shape::HEADING) {
            self.heading_link = Some((dom.end(id), url));
        } else if shape.has_below(dom, id, shape::PRE | shape::TABLE | shape::LIST)
            || shape.text(id) > limits::LINK_BLOCK_TEXT_BYTES
        {
            self.inline.open(Mark::Link(url), true);
            self.on_leave(id, Leave::Marks(1));
        } else {
            self.flush();
            self.inline.open(Mark::Link(url), false);
            self.inline.one_line += 1;
            self.on_leave(
                id,
                Leave::OneLine {
                    marks: 1,
                    block: true,
                },
            );
        }
        true
    }
}
