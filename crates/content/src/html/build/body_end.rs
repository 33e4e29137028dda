//! End tags in the body (HTML section 13.2.6.4.7).

use super::super::tag::Tag;
use super::super::tokenizer::TagToken;
use super::arena::NONE;
use super::sets::{
    BLOCK_ENDS, BUTTON_SCOPE, FORMATTING, HEADINGS, IMPLIED_END, LIST_ITEM_SCOPE, SCOPE, SPECIAL,
};
use super::stack::{Namespace, OpenElement};
use super::{Builder, Mode, Step};

impl Builder {
    pub(super) fn end_in_body(&mut self, token: &TagToken) -> Step {
        let tag = token.tag;
        match tag {
            Tag::Template => return self.end_template(),
            Tag::Body | Tag::Html => {
                if self.stack.has_in(&SCOPE, Tag::Body) {
                    self.mode = Mode::AfterBody;
                    return if tag == Tag::Html { Step::Again } else { Step::Done };
                }
            }
            tag if BLOCK_ENDS.contains(tag) => _ = self.stack.close_in(&SCOPE, tag),
            Tag::Form => self.end_form(),
            Tag::P => {
                if !self.stack.has_in(&BUTTON_SCOPE, Tag::P) {
                    self.insert_implied(Tag::P);
                }
                self.close_paragraph();
            }
            Tag::Li | Tag::Dd | Tag::Dt => {
                let scope = if tag == Tag::Li { &LIST_ITEM_SCOPE } else { &SCOPE };
                if self.stack.has_in(scope, tag) {
                    self.stack.imply_end_tags(&IMPLIED_END, Some(tag));
                    self.stack.pop_until(tag);
                }
            }
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                if self.stack.has_any_in(&SCOPE, &HEADINGS) {
                    self.stack.imply_end_tags(&IMPLIED_END, None);
                    self.stack.pop_until_any(&HEADINGS);
                }
            }
            tag if tag == Tag::A || FORMATTING.contains(tag) => return self.adopt(token),
            Tag::Applet | Tag::Marquee | Tag::Object => {
                if self.stack.close_in(&SCOPE, tag) {
                    self.formatting.clear_to_marker();
                }
            }
            Tag::Br => {
                // It acts as a start tag without attributes.
                self.reconstruct_formatting();
                let name = self.arena.names.element("", Tag::Br);
                let element = OpenElement {
                    id: NONE,
                    name,
                    tag,
                    namespace: Namespace::Html,
                };
                self.insert_node(element, name, 0..0);
                self.frameset_ok = false;
            }
            _ => return self.any_other_end(token),
        }
        Step::Done
    }

    /// Closes the nearest element with this name, unless a special element is in between.
    pub(super) fn any_other_end(&mut self, token: &TagToken) -> Step {
        for (at, element) in self.stack.elements().iter().enumerate().rev() {
            if element.namespace == Namespace::Html && element.name == token.name {
                self.stack.truncate(at);
                break;
            }
            if element.is_in(&SPECIAL) {
                break;
            }
        }
        Step::Done
    }

    fn end_form(&mut self) {
        if self.stack.has(Tag::Template) {
            self.stack.close_in(&SCOPE, Tag::Form);
            return;
        }
        let form = std::mem::replace(&mut self.form, NONE);
        if form != NONE && self.stack.has_node_in_scope(form) {
            self.stack.imply_end_tags(&IMPLIED_END, None);
            self.stack.remove_node(form);
        }
    }
}
