//! Start tags and text in the body (HTML section 13.2.6.4.7).

use super::super::dom::attr;
use super::super::tag::Tag;
use super::super::tokenizer::{TagToken, Text};
use super::arena::NONE;
use super::sets::{
    BLOCK_STARTS, BUTTON_SCOPE, FORMATTING, HEADINGS, IMPLIED_END, METADATA, SCOPE, SPECIAL, TABLE_PARTS,
};
use super::stack::Namespace;
use super::{Builder, Mode, Step};

/// Returns true when text is not only white space.
pub(super) fn is_visible(text: &str) -> bool {
    text.bytes().any(|byte| !byte.is_ascii_whitespace())
}

/// Returns true for a hidden `input`.
pub(super) fn is_hidden_input(builder: &Builder, token: &TagToken) -> bool {
    let kind = token
        .attributes
        .iter()
        .find(|attribute| attribute.name == attr::TYPE);
    kind.is_some_and(|kind| builder.arena.value(kind).eq_ignore_ascii_case("hidden"))
}

impl Builder {
    pub(super) fn text_in_body(&mut self, text: &str) -> &'static str {
        self.reconstruct_formatting();
        if self.frameset_ok && is_visible(text) {
            self.frameset_ok = false;
        }
        self.insert_text(text);
        ""
    }

    pub(super) fn start_in_body(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Html => return self.start_html(token),
            tag if METADATA.contains(tag) => return self.start_in_head(token),
            Tag::Body => self.start_body(token),
            Tag::Frameset => self.start_frameset_in_body(token),
            tag if BLOCK_STARTS.contains(tag) => {
                self.close_paragraph_in_scope();
                self.insert(token);
            }
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                self.close_paragraph_in_scope();
                if self.stack.current_is_in(&HEADINGS) {
                    self.stack.pop();
                }
                self.insert(token);
            }
            Tag::Pre | Tag::Listing => {
                self.close_paragraph_in_scope();
                self.insert(token);
                self.skips_line_feed = true;
                self.frameset_ok = false;
            }
            Tag::Form => self.start_form(token),
            Tag::Li | Tag::Dd | Tag::Dt => self.start_list_item(token),
            Tag::Plaintext => {
                self.close_paragraph_in_scope();
                self.insert(token);
                self.next_text = Text::Plaintext;
            }
            Tag::Button => {
                self.stack.close_in(&SCOPE, Tag::Button);
                self.insert_inline(token);
                self.frameset_ok = false;
            }
            Tag::A => {
                if let Some(open) = self.formatting.last(Tag::A) {
                    self.adopt(token);
                    self.formatting.remove(open.id);
                    self.stack.remove_node(open.id);
                }
                self.insert_formatting(token);
            }
            Tag::Nobr => {
                self.reconstruct_formatting();
                if self.stack.has_in(&SCOPE, Tag::Nobr) {
                    self.adopt(token);
                }
                self.insert_formatting(token);
            }
            tag if FORMATTING.contains(tag) => self.insert_formatting(token),
            Tag::Applet | Tag::Marquee | Tag::Object => {
                self.insert_inline(token);
                self.formatting.push_marker();
                self.frameset_ok = false;
            }
            Tag::Table => {
                if !self.quirks {
                    self.close_paragraph_in_scope();
                }
                self.insert(token);
                self.frameset_ok = false;
                self.mode = Mode::InTable;
            }
            Tag::Area | Tag::Br | Tag::Embed | Tag::Img | Tag::Keygen | Tag::Wbr => {
                self.insert_void_inline(token);
            }
            Tag::Image => {
                token.tag = Tag::Img;
                token.name = self.arena.names.element("", Tag::Img);
                self.insert_void_inline(token);
            }
            Tag::Input => self.start_input(token),
            Tag::Param | Tag::Source | Tag::Track => _ = self.insert_void(token),
            Tag::Hr => {
                self.close_paragraph_in_scope();
                if self.stack.has_in(&SCOPE, Tag::Select) {
                    self.stack.imply_end_tags(&IMPLIED_END, None);
                }
                self.insert_void(token);
                self.frameset_ok = false;
            }
            Tag::Textarea => {
                self.skips_line_feed = true;
                self.frameset_ok = false;
                return self.insert_raw_text(token, Text::Rcdata);
            }
            Tag::Xmp => {
                self.close_paragraph_in_scope();
                self.reconstruct_formatting();
                self.frameset_ok = false;
                return self.insert_raw_text(token, Text::Rawtext);
            }
            Tag::Iframe => {
                self.frameset_ok = false;
                return self.insert_raw_text(token, Text::Rawtext);
            }
            Tag::Noembed => return self.insert_raw_text(token, Text::Rawtext),
            Tag::Select => {
                if self.stack.has_in(&SCOPE, Tag::Select) {
                    self.stack.pop_until(Tag::Select);
                } else {
                    self.insert_inline(token);
                    self.frameset_ok = false;
                }
            }
            Tag::Option | Tag::Optgroup => self.start_option(token),
            Tag::Rb | Tag::Rtc | Tag::Rp | Tag::Rt => {
                if self.stack.has_in(&SCOPE, Tag::Ruby) {
                    let inner = matches!(token.tag, Tag::Rp | Tag::Rt);
                    self.stack.imply_end_tags(&IMPLIED_END, inner.then_some(Tag::Rtc));
                }
                self.insert(token);
            }
            Tag::Math => self.insert_foreign_root(token, Namespace::MathMl),
            Tag::Svg => self.insert_foreign_root(token, Namespace::Svg),
            Tag::Frame | Tag::Head => {}
            tag if TABLE_PARTS.contains(tag) => {}
            _ => self.insert_inline(token),
        }
        Step::Done
    }

    /// Inserts an element inside of the open formatting elements.
    fn insert_inline(&mut self, token: &mut TagToken) {
        self.reconstruct_formatting();
        self.insert(token);
    }

    fn insert_void_inline(&mut self, token: &mut TagToken) {
        self.reconstruct_formatting();
        self.insert_void(token);
        self.frameset_ok = false;
    }

    /// Closes a `p` element, which is in button scope.
    pub(super) fn close_paragraph(&mut self) {
        self.stack.imply_end_tags(&IMPLIED_END, Some(Tag::P));
        self.stack.pop_until(Tag::P);
    }

    pub(super) fn close_paragraph_in_scope(&mut self) {
        if self.stack.has_in(&BUTTON_SCOPE, Tag::P) {
            self.close_paragraph();
        }
    }

    fn start_body(&mut self, token: &mut TagToken) {
        if let Some(body) = self.stack.elements().get(1).copied()
            && body.is(Tag::Body)
            && !self.stack.has(Tag::Template)
        {
            self.frameset_ok = false;
            self.add_attributes(body.id, token);
        }
    }

    fn start_frameset_in_body(&mut self, token: &mut TagToken) {
        if self.frameset_ok
            && let Some(body) = self.stack.elements().get(1).copied()
            && body.is(Tag::Body)
        {
            self.arena.detach(body.id);
            self.stack.truncate(1);
            self.insert(token);
            self.mode = Mode::InFrameset;
        }
    }

    fn start_form(&mut self, token: &mut TagToken) {
        let in_template = self.stack.has(Tag::Template);
        if self.form != NONE && !in_template {
            return;
        }
        self.close_paragraph_in_scope();
        let form = self.insert(token);
        if !in_template {
            self.form = form;
        }
    }

    fn start_list_item(&mut self, token: &mut TagToken) {
        self.frameset_ok = false;
        for element in self.stack.elements().iter().rev() {
            let closes = match token.tag {
                Tag::Li => element.is(Tag::Li),
                _ => element.is(Tag::Dd) || element.is(Tag::Dt),
            };
            if closes {
                let tag = element.tag;
                self.stack.imply_end_tags(&IMPLIED_END, Some(tag));
                self.stack.pop_until(tag);
                break;
            }
            let passes = element.is(Tag::Address) || element.is(Tag::Div) || element.is(Tag::P);
            if element.is_in(&SPECIAL) && !passes {
                break;
            }
        }
        self.close_paragraph_in_scope();
        self.insert(token);
    }

    fn start_input(&mut self, token: &mut TagToken) {
        if self.stack.has_in(&SCOPE, Tag::Select) {
            self.stack.pop_until(Tag::Select);
        }
        let hidden = is_hidden_input(self, token);
        self.reconstruct_formatting();
        self.insert_void(token);
        self.frameset_ok &= hidden;
    }

    fn start_option(&mut self, token: &mut TagToken) {
        if self.stack.has_in(&SCOPE, Tag::Select) {
            let kept = (token.tag == Tag::Option).then_some(Tag::Optgroup);
            self.stack.imply_end_tags(&IMPLIED_END, kept);
        } else if self.stack.current_is(Tag::Option) {
            self.stack.pop();
        }
        self.insert_inline(token);
    }
}
