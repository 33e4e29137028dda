//! Insertion modes up to the start of the body (HTML sections 13.2.6.4.1 to 13.2.6.4.6).

use super::super::tag::Tag;
use super::super::tokenizer::{TagToken, Text};
use super::sets::{METADATA, THOROUGHLY_IMPLIED_END};
use super::stack::{Namespace, OpenElement};
use super::{Builder, Mode, Step};

/// Splits text after its leading white space.
pub(super) fn split_space(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches([' ', '\t', '\n', '\x0c', '\r']);
    text.split_at(text.len() - rest.len())
}

impl Builder {
    /// Leaves the initial mode. A page without a doctype is in quirks mode.
    pub(super) fn leave_initial(&mut self) -> Step {
        self.quirks = true;
        self.mode = Mode::BeforeHtml;
        Step::Again
    }

    /// Adds what is missing to leave a mode before "in head".
    pub(super) fn leave_before_head(&mut self) {
        match self.mode {
            Mode::Initial => _ = self.leave_initial(),
            Mode::BeforeHtml => {
                self.insert_implied(Tag::Html);
                self.mode = Mode::BeforeHead;
            }
            _ => {
                self.head = self.insert_implied(Tag::Head);
                self.mode = Mode::InHead;
            }
        }
    }

    /// Closes or adds what is necessary to leave a mode of the head.
    pub(super) fn leave_head(&mut self) {
        self.mode = match self.mode {
            Mode::InHeadNoscript => {
                self.stack.pop();
                Mode::InHead
            }
            Mode::InHead => {
                self.stack.pop();
                Mode::AfterHead
            }
            _ => {
                self.insert_implied(Tag::Body);
                Mode::InBody
            }
        };
    }

    fn again_before_head(&mut self) -> Step {
        self.leave_before_head();
        Step::Again
    }

    fn again_in_head(&mut self) -> Step {
        self.leave_head();
        Step::Again
    }

    pub(super) fn start_before_html(&mut self, token: &mut TagToken) -> Step {
        if token.tag != Tag::Html {
            return self.again_before_head();
        }
        self.insert(token);
        self.mode = Mode::BeforeHead;
        Step::Done
    }

    pub(super) fn end_before_html(&mut self, tag: Tag) -> Step {
        match tag {
            Tag::Head | Tag::Body | Tag::Html | Tag::Br => self.again_before_head(),
            _ => Step::Done,
        }
    }

    pub(super) fn start_before_head(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Html => self.start_html(token),
            Tag::Head => {
                self.head = self.insert(token);
                self.mode = Mode::InHead;
                Step::Done
            }
            _ => self.again_before_head(),
        }
    }

    pub(super) fn end_before_head(&mut self, tag: Tag) -> Step {
        self.end_before_html(tag)
    }

    /// Processes text before the head: white space is dropped.
    pub(super) fn text_before_head<'t>(&mut self, text: &'t str) -> &'t str {
        let (_, rest) = split_space(text);
        if !rest.is_empty() {
            self.leave_before_head();
        }
        rest
    }

    /// Processes text in or after the head.
    pub(super) fn text_in_head<'t>(&mut self, text: &'t str) -> &'t str {
        let (space, rest) = split_space(text);
        if !space.is_empty() {
            self.insert_text(space);
        }
        if !rest.is_empty() {
            self.leave_head();
        }
        rest
    }

    pub(super) fn start_in_head(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Html => self.start_html(token),
            Tag::Base | Tag::Basefont | Tag::Bgsound | Tag::Link | Tag::Meta => {
                self.insert_void(token);
                Step::Done
            }
            Tag::Title => self.insert_raw_text(token, Text::Rcdata),
            Tag::Noframes | Tag::Style => self.insert_raw_text(token, Text::Rawtext),
            Tag::Script => self.insert_raw_text(token, Text::Script),
            Tag::Noscript => {
                self.insert(token);
                self.mode = Mode::InHeadNoscript;
                Step::Done
            }
            Tag::Template => {
                self.insert(token);
                self.formatting.push_marker();
                self.frameset_ok = false;
                self.mode = Mode::InTemplate;
                self.template_modes.push(Mode::InTemplate);
                Step::Done
            }
            Tag::Head => Step::Done,
            _ => self.again_in_head(),
        }
    }

    pub(super) fn end_in_head(&mut self, tag: Tag) -> Step {
        match tag {
            Tag::Head | Tag::Body | Tag::Html | Tag::Br => {
                self.leave_head();
                if tag == Tag::Head { Step::Done } else { Step::Again }
            }
            Tag::Template => self.end_template(),
            _ => Step::Done,
        }
    }

    /// Processes `</template>` in any mode.
    pub(super) fn end_template(&mut self) -> Step {
        if self.stack.has(Tag::Template) {
            self.stack.imply_end_tags(&THOROUGHLY_IMPLIED_END, None);
            self.stack.pop_until(Tag::Template);
            self.formatting.clear_to_marker();
            self.template_modes.pop();
            self.reset_mode();
        }
        Step::Done
    }

    pub(super) fn start_in_head_noscript(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Html => self.start_html(token),
            Tag::Basefont | Tag::Bgsound | Tag::Link | Tag::Meta | Tag::Noframes | Tag::Style => {
                self.start_in_head(token)
            }
            Tag::Head | Tag::Noscript => Step::Done,
            _ => self.again_in_head(),
        }
    }

    pub(super) fn end_in_head_noscript(&mut self, tag: Tag) -> Step {
        match tag {
            Tag::Noscript => {
                self.leave_head();
                Step::Done
            }
            Tag::Br => self.again_in_head(),
            _ => Step::Done,
        }
    }

    pub(super) fn start_after_head(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Html => self.start_html(token),
            Tag::Body => {
                self.insert(token);
                self.frameset_ok = false;
                self.mode = Mode::InBody;
                Step::Done
            }
            Tag::Frameset => {
                self.insert(token);
                self.mode = Mode::InFrameset;
                Step::Done
            }
            tag if METADATA.contains(tag) => {
                let name = self.arena.names.element("", Tag::Head);
                self.stack.push(OpenElement {
                    id: self.head,
                    name,
                    tag: Tag::Head,
                    namespace: Namespace::Html,
                });
                let step = self.start_in_head(token);
                self.stack.remove_node(self.head);
                step
            }
            Tag::Head => Step::Done,
            _ => self.again_in_head(),
        }
    }

    pub(super) fn end_after_head(&mut self, tag: Tag) -> Step {
        match tag {
            Tag::Template => self.end_template(),
            Tag::Body | Tag::Html | Tag::Br => self.again_in_head(),
            _ => Step::Done,
        }
    }

    /// Processes `<html>` where the element exists.
    pub(super) fn start_html(&mut self, token: &mut TagToken) -> Step {
        if !self.stack.has(Tag::Template)
            && let Some(html) = self.stack.elements().first().copied()
        {
            self.add_attributes(html.id, token);
        }
        Step::Done
    }
}
