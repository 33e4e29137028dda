//! Formulas: written as TeX where the page provides it; other MathML is written as plain characters.

use super::Walk;
use crate::html::dom::{NodeId, attr, collapse};
use crate::html::tag::Tag;
use crate::limits;

impl Walk<'_> {
    /// Writes a formula as TeX. Returns false when the page has no TeX for it.
    pub(super) fn formula(&mut self, id: NodeId) -> bool {
        let Some(tex) = self.tex(id) else { return false };
        let is_block = self.dom.attr(id, attr::DISPLAY) == Some("block");
        let mark = if is_block { "$$" } else { "$" };
        let tex = if self.inline.cell {
            tex.replace('|', "\\|")
        } else {
            tex
        };
        self.inline.raw(&format!("{mark}{tex}{mark}"));
        true
    }

    fn tex(&self, id: NodeId) -> Option<String> {
        let dom = self.dom;
        let annotation = dom.below(id).find(|&n| {
            dom.tag(n) == Tag::Annotation
                && dom
                    .attr(n, attr::ENCODING)
                    .is_some_and(|kind| kind.to_ascii_lowercase().contains("tex"))
        });
        let text = match annotation {
            Some(annotation) => dom.text_of(annotation, limits::FORMULA_BYTES),
            None => dom
                .attr(id, attr::ALTTEXT)
                .or_else(|| dom.attr(dom.parent(id), attr::DATA_ENTRY))?
                .to_owned(),
        };
        let text = collapse(&text);
        (!text.is_empty() && text.len() <= limits::FORMULA_BYTES && !text.contains('$')).then_some(text)
    }
}
