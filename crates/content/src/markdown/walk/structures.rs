//! Enters structured elements: lists and their items, tables, terms.

use super::{Leave, List, Walk};
use crate::html::dom::{NodeId, attr};
use crate::html::tag::Tag;
use crate::markdown::blocks::Gap;
use crate::markdown::inline::Mark;
use crate::markdown::table::{self, Grid};
use crate::markdown::{anchors, code, shape};

/// Parts of a ruby annotation that are searched for parentheses.
const MAX_RUBY_PARTS: usize = 16;

impl Walk<'_> {
    pub(super) fn list(&mut self, id: NodeId, ordered: bool) -> bool {
        self.flush();
        if !self.in_flow() {
            self.on_leave(id, Leave::Block);
            return true;
        }
        // A list directly inside a list belongs to the item before it.
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
        // Two adjacent lists would read as one: the second gets another marker.
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

    pub(super) fn item(&mut self, id: NodeId) -> bool {
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
        self.task = None;
        let opened = self.blocks.open_item(marker);
        self.on_leave(id, Leave::Item { opened });
        true
    }

    pub(super) fn table(&mut self, id: NodeId) -> bool {
        self.flush();
        if self.in_flow() && self.grid.is_none() {
            if let Some(code) = table::gutter_table(self.dom, id) {
                self.code_block(code);
                return false;
            }
            if table::kind(self.dom, &self.shape, id) == table::TableKind::Data {
                // A caption is written before the table, wherever it is in it.
                let open = std::mem::take(&mut self.open);
                for caption in self.dom.children(id).filter(|&n| self.dom.tag(n) == Tag::Caption) {
                    self.range(caption, self.dom.end(caption));
                }
                self.open = open;
                self.grid = Some(Grid::default());
                self.inline.cell = true;
                self.on_leave(id, Leave::Table);
                return true;
            }
        }
        self.on_leave(id, Leave::Block);
        true
    }

    /// Writes text before and after an element.
    pub(super) fn enclose(&mut self, id: NodeId, before: &str, after: &'static str) -> bool {
        self.inline.text(before);
        self.on_leave(id, Leave::Closing(after));
        true
    }

    /// Returns true for the reading of a ruby annotation without parentheses (`rp`) of its own.
    pub(super) fn needs_parentheses(&self, id: NodeId) -> bool {
        let mut beside = self.dom.children(self.dom.parent(id)).take(MAX_RUBY_PARTS);
        self.shape.text(id) > 0 && !beside.any(|n| self.dom.tag(n) == Tag::Rp)
    }

    /// Writes a term as a bold line, and an API signature as code.
    pub(super) fn term(&mut self, id: NodeId) -> bool {
        self.flush();
        let is_signature = self.dom.has_class(id, "sig") || self.dom.has_class(id, "sig-object");
        if is_signature && self.in_flow() {
            let signature = anchors::signature(self.dom, id);
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
