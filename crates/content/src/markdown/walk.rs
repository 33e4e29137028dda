//! The walk itself: enters and leaves elements in document order with a stack of its own and says what each one means.

use super::Request;
use super::blocks::{Blocks, Gap};
use super::code;
use super::escape;
use super::inline::{Inline, Mark};
use super::shape::{self, Shape};
use super::table::{self, Grid};
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::links::{image_source, resolve};
use crate::html::tag::Tag;
use crate::limits;

/// What happens when an element ends.
#[derive(Debug)]
enum Leave {
    Block,
    Heading(u8),
    Marks(usize),
    /// A block whose text is one line (a flat link, a heading inside a cell).
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
    Quotation,
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
    /// Open elements whose text is inline code.
    code: usize,
    /// The link that waits for the heading inside it.
    heading_link: Option<(NodeId, String)>,
    /// Kind and delimiter of the list that ended last, and the output length there.
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
            code: 0,
            heading_link: None,
            last_list: None,
        }
    }

    /// Walks one subtree, its root included.
    pub(super) fn subtree(&mut self, root: NodeId) {
        let end = self.dom.end(root);
        let mut at = root;
        while at < end && !self.blocks.is_full() {
            while self.open.last().is_some_and(|(end, _)| *end <= at) {
                self.leave();
            }
            let skip = self.request.dropped[at as usize] || !self.enter(at);
            at = if skip { self.dom.end(at) } else { at + 1 };
        }
        while !self.open.is_empty() {
            self.leave();
        }
        self.flush();
    }

    pub(super) fn finish(self) -> String {
        self.blocks.finish()
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
        if !text.is_empty() {
            self.blocks.block(&escape::line_starts(&text));
        }
    }

    /// Enters a node. False: nothing below it is to be walked.
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
            Tag::Noscript if !self.dom.shows_noscript => return self.noscript(id),
            Tag::Select | Tag::Textarea => return false,
            Tag::Button => return self.button(id),
            _ if tag.is_never_text() => return false,
            _ => {}
        }
        if let Some(level) = tag.heading_level() {
            return self.heading(id, level);
        }
        match tag {
            Tag::A => self.link(id),
            Tag::B | Tag::Strong => self.mark(id, Mark::Strong),
            Tag::I | Tag::Em | Tag::Cite | Tag::Dfn | Tag::Var => self.mark(id, Mark::Emphasis),
            Tag::Del | Tag::S | Tag::Strike => self.mark(id, Mark::Deleted),
            Tag::Sup => self.mark(id, Mark::Html("sup")),
            Tag::Sub => self.mark(id, Mark::Html("sub")),
            Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp => self.inline_code(id),
            Tag::Q => {
                self.inline.raw("“");
                self.on_leave(id, Leave::Quotation);
                true
            }
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
            _ if tag.is_block() => {
                self.flush();
                self.on_leave(id, Leave::Block);
                true
            }
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
            Leave::Quotation => self.inline.raw("”"),
        }
    }

    /// True where blocks can be written, not inside a cell or a one-line place.
    fn in_flow(&self) -> bool {
        !self.inline.cell && self.inline.one_line == 0
    }

    fn text(&mut self, id: NodeId) {
        let text = self.dom.text(id);
        if self.code == 0 {
            self.inline.text(text);
            return;
        }
        if text.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.inline.space();
        }
        if !text.trim().is_empty() {
            self.inline.raw(&code::span(text, self.inline.cell));
        }
        if text.ends_with(|c: char| c.is_ascii_whitespace()) {
            self.inline.space();
        }
    }

    /// A mark without blocks of its own; one that is open already, or inside a heading, adds nothing.
    fn mark(&mut self, id: NodeId, mark: Mark) -> bool {
        let in_heading = self
            .open
            .iter()
            .any(|(_, leave)| matches!(leave, Leave::Heading(_)));
        if self.inline.is_open(&mark) || (in_heading && mark == Mark::Strong) {
            return true;
        }
        self.inline.open(mark, false);
        self.on_leave(id, Leave::Marks(1));
        true
    }

    fn heading(&mut self, id: NodeId, level: u8) -> bool {
        self.flush();
        if !self.in_flow() {
            // In a cell or a link a heading is text.
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
        // A trailing `#` would be taken for a closing mark.
        if line.ends_with('#') && line.len() > level as usize + 1 {
            line.insert(line.len() - 1, '\\');
        }
        self.blocks.block(&line);
    }

    fn link(&mut self, id: NodeId) -> bool {
        let Some(href) = self.dom.attr(id, attr::HREF) else {
            return true;
        };
        if is_permalink(self.dom, id, href) {
            return false;
        }
        if self.inline.in_link() {
            return true;
        }
        let Some(url) = resolve(self.request.base, href)
            .filter(|url| !matches!(url.scheme(), "javascript" | "data" | "vbscript"))
        else {
            return true;
        };
        let url = String::from(url);
        let (dom, shape) = (self.dom, &self.shape);
        if !self.in_flow() || !shape.has_below(dom, id, shape::BLOCK) {
            self.inline.open(Mark::Link(url), false);
            self.on_leave(id, Leave::Marks(1));
        } else if shape.has_below(dom, id, shape::HEADING) {
            self.heading_link = Some((dom.end(id), url));
        } else if shape.has_below(dom, id, shape::PRE | shape::TABLE | shape::LIST)
            || shape.text(id) as usize > limits::LINK_BLOCK_TEXT_BYTES
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

    fn image(&mut self, id: NodeId) {
        let Some(source) = image_source(self.dom, id) else {
            return;
        };
        let alt = crate::html::dom::collapse(self.dom.attr(id, attr::ALT).unwrap_or(""));
        let is_data = source
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
        let url = if is_data && self.request.remove_base64_images {
            if alt.is_empty() {
                return;
            }
            "<Base64-Image-Removed>".to_owned()
        } else if is_data {
            escape::destination(source, self.inline.cell)
        } else {
            match resolve(self.request.base, source) {
                Some(url) => escape::destination(url.as_str(), self.inline.cell),
                None => return,
            }
        };
        let mut text = Inline::default();
        (text.cell, text.one_line) = (self.inline.cell, 1);
        text.open(Mark::Link(String::new()), false);
        text.text(&alt);
        let escaped = text.take();
        let escaped = escaped
            .strip_prefix('[')
            .and_then(|t| t.strip_suffix("]()"))
            .unwrap_or(&escaped);
        self.inline.raw(&format!("![{escaped}]({url})"));
    }

    fn input(&mut self, id: NodeId) {
        let is_checkbox = self
            .dom
            .attr(id, attr::TYPE)
            .is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"));
        if is_checkbox && self.inline.is_empty() && self.blocks.is_at_item_start() && self.in_flow() {
            self.inline.raw(if self.dom.attr(id, attr::CHECKED).is_some() {
                "[x]"
            } else {
                "[ ]"
            });
            self.inline.space();
        }
    }

    /// A `noscript` counts only where it holds the picture that a script would load.
    fn noscript(&self, id: NodeId) -> bool {
        let holds_picture = self.dom.below(id).any(|n| self.dom.tag(n) == Tag::Img);
        let beside = |n: NodeId| self.dom.tag(n) == Tag::Img && image_source(self.dom, n).is_some();
        let parent = self.dom.parent(id);
        let has_text = self.dom.below(id).any(|n| !self.dom.text(n).trim().is_empty());
        holds_picture && !has_text && !self.dom.children(parent).any(beside)
    }

    /// Buttons are controls; only in headings and terms (accordions) is their text content.
    fn button(&mut self, id: NodeId) -> bool {
        let titled = self
            .open
            .iter()
            .any(|(_, leave)| matches!(leave, Leave::Heading(_) | Leave::Term { .. }));
        titled || self.shape.has_below(self.dom, id, shape::HEADING)
    }

    fn inline_code(&mut self, id: NodeId) -> bool {
        if self.code > 0 {
            return true;
        }
        if self.shape.has_below(self.dom, id, shape::PRE) {
            return true;
        }
        // Several lines in a `code` without `pre` are a code block to whoever wrote them.
        if self.in_flow() && self.dom.tag(id) == Tag::Code && self.inline.is_empty() {
            let breaks = self.dom.below(id).filter(|&n| self.dom.tag(n) == Tag::Br).count();
            if breaks >= 2 || self.shape.has_below(self.dom, id, shape::BLOCK) {
                self.code_block(id);
                return false;
            }
        }
        if self.shape.has(id, shape::LINK | shape::IMAGE) {
            self.code += 1;
            self.on_leave(id, Leave::Code);
            return true;
        }
        let text = self.dom.text_of(id, usize::MAX);
        if text.starts_with(char::is_whitespace) {
            self.inline.space();
        }
        if !text.trim().is_empty() {
            self.inline.raw(&code::span(&text, self.inline.cell));
        }
        if text.ends_with(char::is_whitespace) {
            self.inline.space();
        }
        false
    }

    fn code_block(&mut self, id: NodeId) {
        let text = code::text(self.dom, id);
        if text.trim().is_empty() {
            return;
        }
        if !self.in_flow() {
            self.inline.raw(&code::span(&text, self.inline.cell));
            return;
        }
        self.flush();
        let language = code::language(self.dom, id);
        self.blocks.block(&code::fenced(&text, &language));
    }

    fn list(&mut self, id: NodeId, ordered: bool) -> bool {
        self.flush();
        if !self.in_flow() {
            self.on_leave(id, Leave::Block);
            return true;
        }
        // A list right in a list belongs to the item before it.
        let in_list = matches!(self.open.last(), Some((_, Leave::List { .. })));
        let width = self.lists.last().map_or(2, |list| list.width);
        let continued = in_list
            && self.lists.last().is_some_and(|list| list.items > 0)
            && self.blocks.open_continued_item(width);
        if continued || matches!(self.open.last(), Some((_, Leave::Item { .. }))) {
            self.blocks.set_gap(Gap::Line);
        }
        let start = self
            .dom
            .attr(id, attr::START)
            .and_then(|s| s.trim().parse::<u64>().ok())
            .unwrap_or(1);
        // Two lists one after the other would read as one: the second gets another mark.
        let after = self
            .last_list
            .filter(|(at, kind, _)| *at == self.blocks.len() && *kind == ordered)
            .map(|(_, _, mark)| mark);
        self.lists.push(List {
            ordered,
            next: start.min(999_999_999),
            delimiter: if after == Some('.') { ')' } else { '.' },
            bullet: if after == Some('-') { '*' } else { '-' },
            width: 2,
            items: 0,
        });
        self.on_leave(id, Leave::List { continued });
        true
    }

    fn item(&mut self, id: NodeId) -> bool {
        self.flush();
        if !self.in_flow() {
            self.on_leave(id, Leave::Block);
            return true;
        }
        let has_content = self.shape.text(id) > 0 || self.shape.has(id, shape::IMAGE);
        if !has_content {
            return false;
        }
        let marker = match self.lists.last_mut() {
            Some(list) if list.ordered => {
                let value = self
                    .dom
                    .attr(id, attr::VALUE)
                    .and_then(|v| v.trim().parse::<u64>().ok());
                let number = value.unwrap_or(list.next).min(999_999_999);
                list.next = number + 1;
                format!("{number}{} ", list.delimiter)
            }
            Some(list) => format!("{} ", list.bullet),
            None => "- ".to_owned(),
        };
        if let Some(list) = self.lists.last_mut() {
            list.width = marker.len();
            list.items += 1;
        }
        let opened = self.blocks.open_item(marker);
        self.on_leave(id, Leave::Item { opened });
        true
    }

    fn table(&mut self, id: NodeId) -> bool {
        self.flush();
        if self.in_flow() && self.grid.is_none() {
            if let Some(code) = gutter_table(self.dom, id) {
                self.code_block(code);
                return false;
            }
            if table::kind(self.dom, &self.shape, id) == table::Kind::Data {
                // A caption stands before the table as a paragraph.
                if let Some(caption) = self.dom.children(id).find(|&n| self.dom.tag(n) == Tag::Caption) {
                    let text = self.dom.text_of(caption, usize::MAX);
                    self.inline.text(&text);
                    self.flush();
                }
                self.grid = Some(Grid::default());
                self.inline.cell = true;
                self.on_leave(id, Leave::Table);
                return true;
            }
        }
        self.on_leave(id, Leave::Block);
        true
    }

    /// A term is a bold line; an API signature is code.
    fn term(&mut self, id: NodeId) -> bool {
        self.flush();
        let is_signature = self.dom.has_class(id, "sig") || self.dom.has_class(id, "sig-object");
        if is_signature && self.in_flow() {
            let signature = signature(self.dom, id);
            if !signature.is_empty() {
                self.blocks.block(&code::span(&signature, false));
                return false;
            }
        }
        let plain = self.shape.has_below(self.dom, id, shape::BLOCK | shape::LINK) || !self.in_flow();
        if plain {
            self.on_leave(id, Leave::Term { marks: 0 });
            return true;
        }
        self.inline.open(Mark::Strong, false);
        self.on_leave(id, Leave::Term { marks: 1 });
        true
    }
}

/// The one code block of a table that highlighters make of line numbers and code.
fn gutter_table(dom: &Dom, table: NodeId) -> Option<NodeId> {
    let rows = table::rows(dom, table);
    let [row] = rows.as_slice() else {
        // One row a line: number cell and code cell.
        let is_line = |row: &NodeId| {
            let cells: Vec<NodeId> = dom.children(*row).filter(|&n| dom.tag(n) == Tag::Td).collect();
            cells.len() == 2 && code::is_gutter(dom, cells[0])
        };
        return (rows.len() > 1 && rows.iter().all(is_line)).then_some(table);
    };
    let cells: Vec<NodeId> = dom.children(*row).filter(|&n| dom.tag(n) == Tag::Td).collect();
    let [gutter, code] = cells.as_slice() else {
        return None;
    };
    let gutter_text = dom.text_of(*gutter, 1 << 16);
    let numbers = gutter_text
        .bytes()
        .all(|b| b.is_ascii_digit() || b.is_ascii_whitespace())
        && !gutter_text.trim().is_empty();
    let pre = dom
        .first(*code, Tag::Pre)
        .or_else(|| dom.has_class(*code, "code").then_some(*code))?;
    (numbers || code::is_gutter(dom, *gutter)).then_some(pre)
}

/// The text of an API signature without its permalink and source link.
fn signature(dom: &Dom, id: NodeId) -> String {
    let mut out = String::new();
    let mut at = id + 1;
    while at < dom.end(id) {
        let skip = dom.tag(at) == Tag::A
            && (dom.has_class(at, "headerlink")
                || dom.has_class(at, "viewcode-link")
                || dom.has_class(at, "reference") && dom.has_class(at, "external"));
        if skip {
            at = dom.end(at);
            continue;
        }
        out.push_str(dom.text(at));
        at += 1;
    }
    crate::html::dom::collapse(&out)
}

/// True for links that stand beside a heading to point at it.
fn is_permalink(dom: &Dom, id: NodeId, href: &str) -> bool {
    const CLASSES: &[&str] = &[
        "headerlink",
        "anchor-link",
        "header-anchor",
        "hash-link",
        "heading-anchor",
        "anchorjs-link",
        "permalink",
        "id_link",
        "heading-link",
        "header-link",
        "toc-anchor",
        "sl-anchor-link",
        "direct-link",
    ];
    if dom.classes(id).any(|class| CLASSES.contains(&class)) && href.contains('#') {
        return true;
    }
    if !href.starts_with('#') {
        return false;
    }
    let text = dom.text_of(id, 64);
    let text = text.trim();
    let is_sign = matches!(
        text,
        "#" | "¶" | "§" | "🔗" | "⚓" | "\u{f0c1}" | "link" | "Link" | "Anchor" | "Permalink" | "​"
    );
    let in_heading = || {
        dom.ancestors(id)
            .take(3)
            .any(|n| dom.tag(n).heading_level().is_some())
    };
    let has_picture = dom.below(id).any(|n| matches!(dom.tag(n), Tag::Img));
    matches!(text, "#" | "¶") || ((is_sign || (text.is_empty() && !has_picture)) && in_heading())
}
