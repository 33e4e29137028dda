//! Insertion modes of templates, of framesets and after the body (HTML sections 13.2.6.4.16 to 13.2.6.4.21).

use super::super::tag::Tag;
use super::super::tokenizer::TagToken;
use super::head::split_space;
use super::sets::METADATA;
use super::{Builder, Mode, Step};

impl Builder {
    pub(super) fn start_in_template(&mut self, token: &mut TagToken) -> Step {
        let mode = match token.tag {
            tag if METADATA.contains(tag) => return self.start_in_head(token),
            Tag::Caption | Tag::Colgroup | Tag::Tbody | Tag::Tfoot | Tag::Thead => Mode::InTable,
            Tag::Col => Mode::InColumnGroup,
            Tag::Tr => Mode::InTableBody,
            Tag::Td | Tag::Th => Mode::InRow,
            _ => Mode::InBody,
        };
        if let Some(last) = self.template_modes.last_mut() {
            *last = mode;
        }
        self.mode = mode;
        Step::Again
    }

    pub(super) fn end_in_template(&mut self, tag: Tag) -> Step {
        match tag {
            Tag::Template => self.end_template(),
            _ => Step::Done,
        }
    }

    /// Processes text after the body: white space goes into it, other text opens it again.
    pub(super) fn text_after_body<'t>(&mut self, text: &'t str) -> &'t str {
        let (space, rest) = split_space(text);
        if !space.is_empty() {
            self.text_in_body(space);
        }
        if !rest.is_empty() {
            self.mode = Mode::InBody;
        }
        rest
    }

    pub(super) fn start_after_body(&mut self, token: &mut TagToken) -> Step {
        if token.tag == Tag::Html {
            return self.start_html(token);
        }
        self.mode = Mode::InBody;
        Step::Again
    }

    pub(super) fn end_after_body(&mut self, tag: Tag) -> Step {
        if tag == Tag::Html && self.mode == Mode::AfterBody {
            self.mode = Mode::AfterAfterBody;
            return Step::Done;
        }
        self.mode = Mode::InBody;
        Step::Again
    }

    /// Processes text in and after a frameset: only its white space is kept.
    pub(super) fn text_in_frameset<'t>(&mut self, text: &'t str) -> &'t str {
        let (space, rest) = split_space(text);
        if !space.is_empty() {
            if self.mode == Mode::AfterAfterFrameset {
                // By the rules of a body, though there is none.
                self.reconstruct_formatting();
            }
            self.insert_text(space);
        }
        rest.trim_start_matches(|c: char| !c.is_ascii_whitespace())
    }

    pub(super) fn start_in_frameset(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Html => return self.start_html(token),
            Tag::Frameset => _ = self.insert(token),
            Tag::Frame => _ = self.insert_void(token),
            Tag::Noframes => return self.start_in_head(token),
            _ => {}
        }
        Step::Done
    }

    pub(super) fn end_in_frameset(&mut self, tag: Tag) -> Step {
        if tag == Tag::Frameset && self.stack.len() > 1 {
            self.stack.pop();
            if !self.stack.current_is(Tag::Frameset) {
                self.mode = Mode::AfterFrameset;
            }
        }
        Step::Done
    }

    pub(super) fn start_after_frameset(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Html => self.start_html(token),
            Tag::Noframes => self.start_in_head(token),
            _ => Step::Done,
        }
    }

    pub(super) fn end_after_frameset(&mut self, tag: Tag) -> Step {
        if tag == Tag::Html {
            self.mode = Mode::AfterAfterFrameset;
        }
        Step::Done
    }
}
