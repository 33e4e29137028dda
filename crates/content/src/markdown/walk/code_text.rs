//! Writes code: inline, and as blocks.

use super::{Leave, Walk};
use crate::html::dom::{NodeId, attr};
use crate::html::tag::Tag;
use crate::markdown::{code, shape};

impl Walk<'_> {
    pub(super) fn inline_code(&mut self, id: NodeId) -> bool {
        if self.code > 0 {
            return true;
        }
        if self.shape.has_below(self.dom, id, shape::PRE) {
            return true;
        }
        // Authors use `code` with several lines, without `pre`, as a code block.
        if self.in_flow() && self.dom.tag(id) == Tag::Code && self.inline.is_empty() {
            let breaks = self.dom.below(id).filter(|&n| self.dom.tag(n) == Tag::Br).count();
            if breaks >= 2 || self.is_shown_as_block(id) || self.shape.has_below(self.dom, id, shape::BLOCK) {
                self.code_block(id);
                return false;
            }
        }
        if self.shape.has(id, shape::LINK | shape::IMAGE) {
            self.code += 1;
            self.is_code_open = false;
            self.on_leave(id, Leave::Code);
            return true;
        }
        let text = self.dom.text_of(id, usize::MAX);
        if text.starts_with(char::is_whitespace) {
            self.inline.space();
        }
        if !text.trim().is_empty() {
            self.inline.code(&code::span(&text, self.inline.cell));
        }
        if text.ends_with(char::is_whitespace) {
            self.inline.space();
        }
        false
    }

    /// Returns true for a `code` that is shown as a block, by its style or a class.
    fn is_shown_as_block(&self, id: NodeId) -> bool {
        self.dom.has_class(id, "block")
            || self
                .dom
                .attr(id, attr::STYLE)
                .is_some_and(|style| style.contains("white-space: pre") || style.contains("white-space:pre"))
    }

    pub(super) fn code_block(&mut self, id: NodeId) {
        let mut text = code::text(self.dom, id, self.request.dropped);
        if self.dom.tag(id) == Tag::Code {
            // Without a `pre` the first line has the indentation of the page's source.
            text = text.trim().to_owned();
        }
        if text.trim().is_empty() {
            return;
        }
        if self.inline.cell {
            // A cell has no blocks: each line is code of its own.
            for line in text.lines() {
                if !line.trim().is_empty() {
                    self.inline.code(&code::line(line, true));
                }
                self.inline.line_break();
            }
            return;
        }
        if !self.in_flow() {
            self.inline.code(&code::span(&text, false));
            return;
        }
        self.flush();
        let language = code::language(self.dom, id);
        let fence = code::fence(&text, &language);
        drop(text);
        self.blocks.block(&fence);
    }

    /// Returns true for a `div` that contains nothing but code.
    pub(super) fn is_code_block(&self, id: NodeId) -> bool {
        code::is_fragment(self.dom, id)
            || self.dom.attr(id, attr::DATA_LANG).is_some()
                && self.dom.has_class(id, "code-block")
                && !self.shape.has_below(self.dom, id, shape::BLOCK | shape::PRE)
    }
}
