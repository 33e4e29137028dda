//! Elements in the text that are not text: images, check boxes, buttons, and `noscript` images.

use super::{Leave, Walk};
use crate::html::dom::{NodeId, attr};
use crate::html::links::{image_source, resolve};
use crate::html::tag::Tag;
use crate::markdown::inline::{Inline, Mark};
use crate::markdown::{escape, shape};

impl Walk<'_> {
    pub(super) fn image(&mut self, id: NodeId) {
        let Some(source) = image_source(self.dom, id) else {
            return;
        };
        if is_data(source)
            && self
                .dom
                .children(self.dom.parent(id))
                .any(|n| self.is_noscript_image(n))
        {
            return;
        }
        let alt = crate::html::dom::collapse(self.dom.attr(id, attr::ALT).unwrap_or(""));
        let is_data = is_data(source);
        let url = if is_data && self.request.remove_base64_images {
            if alt.is_empty() {
                return;
            }
            "<Base64-Image-Removed>".to_owned()
        } else if is_data {
            escape::destination(source, self.inline.cell).into_owned()
        } else {
            match resolve(self.request.base, source) {
                Some(url) => escape::destination(url.as_str(), self.inline.cell).into_owned(),
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

    pub(super) fn input(&mut self, id: NodeId) {
        let is_checkbox = self
            .dom
            .attr(id, attr::TYPE)
            .is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"));
        if is_checkbox && self.inline.is_empty() && self.blocks.is_at_item_start() && self.in_flow() {
            self.task = Some(match self.dom.attr(id, attr::CHECKED) {
                Some(_) => "[x] ",
                None => "[ ] ",
            });
        }
    }

    /// Returns true for a `noscript` that holds the image that a script would load.
    pub(super) fn noscript(&self, id: NodeId) -> bool {
        let beside = |n: NodeId| {
            self.dom.tag(n) == Tag::Img && image_source(self.dom, n).is_some_and(|source| !is_data(source))
        };
        self.is_noscript_image(id) && !self.dom.children(self.dom.parent(id)).any(beside)
    }

    /// Returns true for a `noscript` with an image and no text.
    fn is_noscript_image(&self, id: NodeId) -> bool {
        self.dom.tag(id) == Tag::Noscript
            && self.dom.below(id).any(|n| self.dom.tag(n) == Tag::Img)
            && !self.dom.below(id).any(|n| !self.dom.text(n).trim().is_empty())
    }

    /// Returns true for buttons whose text is content: those in headings and terms (accordions). Others are
    /// controls.
    pub(super) fn button(&mut self, id: NodeId) -> bool {
        let titled = self
            .open
            .iter()
            .any(|(_, leave)| matches!(leave, Leave::Heading(_) | Leave::Term { .. }));
        titled || self.shape.has_below(self.dom, id, shape::HEADING)
    }
}

/// Returns true for elements that separate words visibly, whether they are written or not.
pub(super) fn is_visible(tag: Tag) -> bool {
    use Tag::*;
    matches!(
        tag,
        Audio | Button | Canvas | Iframe | Img | Input | Object | Select | Svg | Textarea | Video
    )
}

fn is_data(source: &str) -> bool {
    source
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}
