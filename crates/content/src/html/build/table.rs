//! Insertion modes of tables (HTML sections 13.2.6.4.9 to 13.2.6.4.15).

use super::super::tag::Tag;
use super::super::tokenizer::TagToken;
use super::arena::NONE;
use super::body::{is_hidden_input, is_visible};
use super::head::split_space;
use super::sets::{
    CELLS, FOSTERING, IMPLIED_END, TABLE_BODY_CONTEXT, TABLE_PARTS, TABLE_ROW_CONTEXT, TABLE_SCOPE,
    TABLE_SECTIONS,
};
use super::{Builder, Mode, Step};

impl Builder {
    /// Holds text directly in a table until the next token: white space stays in the table, other text moves
    /// in front of it.
    pub(super) fn text_in_table(&mut self, text: &str) -> &'static str {
        if self.stack.current_is_in(&FOSTERING) || self.stack.current_is(Tag::Template) {
            self.pending.push_str(text);
        } else {
            self.foster_parenting = true;
            self.text_in_body(text);
            self.foster_parenting = false;
        }
        ""
    }

    /// Inserts the text that waits.
    pub(super) fn flush_pending(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.pending);
        if is_visible(&text) {
            self.foster_parenting = true;
            self.text_in_body(&text);
            self.foster_parenting = false;
        } else {
            self.insert_text(&text);
        }
        text.clear();
        self.pending = text;
    }

    /// Pops elements until the table context is the current node.
    fn clear_to_table(&mut self) {
        self.stack.clear_to(&TABLE_SCOPE);
    }

    pub(super) fn start_in_table(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Caption => {
                self.clear_to_table();
                self.formatting.push_marker();
                self.insert(token);
                self.mode = Mode::InCaption;
            }
            Tag::Colgroup => {
                self.clear_to_table();
                self.insert(token);
                self.mode = Mode::InColumnGroup;
            }
            Tag::Col => {
                self.clear_to_table();
                self.insert_implied(Tag::Colgroup);
                self.mode = Mode::InColumnGroup;
                return Step::Again;
            }
            Tag::Tbody | Tag::Tfoot | Tag::Thead => {
                self.clear_to_table();
                self.insert(token);
                self.mode = Mode::InTableBody;
            }
            Tag::Td | Tag::Th | Tag::Tr => {
                self.clear_to_table();
                self.insert_implied(Tag::Tbody);
                self.mode = Mode::InTableBody;
                return Step::Again;
            }
            Tag::Table => {
                if self.close_table() {
                    return Step::Again;
                }
            }
            Tag::Style | Tag::Script | Tag::Template => return self.start_in_head(token),
            Tag::Input if is_hidden_input(self, token) => _ = self.insert_void(token),
            Tag::Form => {
                if !self.stack.has(Tag::Template) && self.form == NONE {
                    self.form = self.insert_void(token).id;
                }
            }
            _ => {
                self.foster_parenting = true;
                let step = self.start_in_body(token);
                self.foster_parenting = false;
                return step;
            }
        }
        Step::Done
    }

    /// Closes the table in table scope, if there is one.
    fn close_table(&mut self) -> bool {
        let open = self.stack.has_in(&TABLE_SCOPE, Tag::Table);
        if open {
            self.stack.pop_until(Tag::Table);
            self.reset_mode();
        }
        open
    }

    pub(super) fn end_in_table(&mut self, token: &TagToken) -> Step {
        match token.tag {
            Tag::Table => _ = self.close_table(),
            Tag::Template => return self.end_template(),
            Tag::Body | Tag::Html => {}
            tag if TABLE_PARTS.contains(tag) => {}
            _ => {
                self.foster_parenting = true;
                let step = self.end_in_body(token);
                self.foster_parenting = false;
                return step;
            }
        }
        Step::Done
    }

    /// Closes the caption in table scope, if there is one.
    fn close_caption(&mut self) -> bool {
        let was_open = self.stack.close_in(&TABLE_SCOPE, Tag::Caption);
        if was_open {
            self.formatting.clear_to_marker();
            self.mode = Mode::InTable;
        }
        was_open
    }

    pub(super) fn start_in_caption(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            tag if TABLE_PARTS.contains(tag) => again_if(self.close_caption()),
            _ => self.start_in_body(token),
        }
    }

    pub(super) fn end_in_caption(&mut self, token: &TagToken) -> Step {
        match token.tag {
            Tag::Caption => {
                self.close_caption();
                Step::Done
            }
            Tag::Table => again_if(self.close_caption()),
            Tag::Body | Tag::Html => Step::Done,
            tag if TABLE_PARTS.contains(tag) => Step::Done,
            _ => self.end_in_body(token),
        }
    }

    pub(super) fn text_in_column_group<'t>(&mut self, text: &'t str) -> &'t str {
        let (space, rest) = split_space(text);
        if !space.is_empty() {
            self.insert_text(space);
        }
        if !rest.is_empty() && self.leave_column_group() == Step::Done {
            return rest.trim_start_matches(|c: char| !c.is_ascii_whitespace());
        }
        rest
    }

    fn leave_column_group(&mut self) -> Step {
        let open = self.stack.current_is(Tag::Colgroup);
        if open {
            self.stack.pop();
            self.mode = Mode::InTable;
        }
        again_if(open)
    }

    pub(super) fn start_in_column_group(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Html => self.start_html(token),
            Tag::Col => {
                self.insert_void(token);
                Step::Done
            }
            Tag::Template => self.start_in_head(token),
            _ => self.leave_column_group(),
        }
    }

    pub(super) fn end_in_column_group(&mut self, tag: Tag) -> Step {
        match tag {
            Tag::Colgroup => {
                self.leave_column_group();
                Step::Done
            }
            Tag::Col => Step::Done,
            Tag::Template => self.end_template(),
            _ => self.leave_column_group(),
        }
    }

    /// Closes the current table section.
    fn close_section(&mut self) {
        self.stack.clear_to(&TABLE_BODY_CONTEXT);
        self.stack.pop();
        self.mode = Mode::InTable;
    }

    fn close_any_section(&mut self) -> Step {
        let open = self.stack.has_any_in(&TABLE_SCOPE, &TABLE_SECTIONS);
        if open {
            self.close_section();
        }
        again_if(open)
    }

    pub(super) fn start_in_table_body(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Tr => {
                self.stack.clear_to(&TABLE_BODY_CONTEXT);
                self.insert(token);
                self.mode = Mode::InRow;
                Step::Done
            }
            Tag::Th | Tag::Td => {
                self.stack.clear_to(&TABLE_BODY_CONTEXT);
                self.insert_implied(Tag::Tr);
                self.mode = Mode::InRow;
                Step::Again
            }
            Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Tbody | Tag::Tfoot | Tag::Thead => {
                self.close_any_section()
            }
            _ => self.start_in_table(token),
        }
    }

    pub(super) fn end_in_table_body(&mut self, token: &TagToken) -> Step {
        match token.tag {
            Tag::Tbody | Tag::Tfoot | Tag::Thead => {
                if self.stack.has_in(&TABLE_SCOPE, token.tag) {
                    self.close_section();
                }
                Step::Done
            }
            Tag::Table => self.close_any_section(),
            Tag::Body | Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Html | Tag::Td | Tag::Th | Tag::Tr => {
                Step::Done
            }
            _ => self.end_in_table(token),
        }
    }

    /// Closes the row in table scope, if there is one.
    fn close_row(&mut self) -> Step {
        let open = self.stack.has_in(&TABLE_SCOPE, Tag::Tr);
        if open {
            self.stack.clear_to(&TABLE_ROW_CONTEXT);
            self.stack.pop();
            self.mode = Mode::InTableBody;
        }
        again_if(open)
    }

    pub(super) fn start_in_row(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            Tag::Th | Tag::Td => {
                self.stack.clear_to(&TABLE_ROW_CONTEXT);
                self.insert(token);
                self.mode = Mode::InCell;
                self.formatting.push_marker();
                Step::Done
            }
            Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Tbody | Tag::Tfoot | Tag::Thead | Tag::Tr => {
                self.close_row()
            }
            _ => self.start_in_table(token),
        }
    }

    pub(super) fn end_in_row(&mut self, token: &TagToken) -> Step {
        match token.tag {
            Tag::Tr => {
                self.close_row();
                Step::Done
            }
            Tag::Table => self.close_row(),
            Tag::Tbody | Tag::Tfoot | Tag::Thead => {
                if self.stack.has_in(&TABLE_SCOPE, token.tag) {
                    return self.close_row();
                }
                Step::Done
            }
            Tag::Body | Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Html | Tag::Td | Tag::Th => Step::Done,
            _ => self.end_in_table(token),
        }
    }

    /// Closes the open cell.
    fn close_cell(&mut self) {
        self.stack.imply_end_tags(&IMPLIED_END, None);
        self.stack.pop_until_any(&CELLS);
        self.formatting.clear_to_marker();
        self.mode = Mode::InRow;
    }

    pub(super) fn start_in_cell(&mut self, token: &mut TagToken) -> Step {
        match token.tag {
            tag if TABLE_PARTS.contains(tag) => {
                let open = self.stack.has_any_in(&TABLE_SCOPE, &CELLS);
                if open {
                    self.close_cell();
                }
                again_if(open)
            }
            _ => self.start_in_body(token),
        }
    }

    pub(super) fn end_in_cell(&mut self, token: &TagToken) -> Step {
        match token.tag {
            Tag::Td | Tag::Th => {
                if self.stack.close_in(&TABLE_SCOPE, token.tag) {
                    self.formatting.clear_to_marker();
                    self.mode = Mode::InRow;
                }
                Step::Done
            }
            Tag::Body | Tag::Caption | Tag::Col | Tag::Colgroup | Tag::Html => Step::Done,
            Tag::Table | Tag::Tbody | Tag::Tfoot | Tag::Thead | Tag::Tr => {
                let open = self.stack.has_in(&TABLE_SCOPE, token.tag);
                if open {
                    self.close_cell();
                }
                again_if(open)
            }
            _ => self.end_in_body(token),
        }
    }
}

fn again_if(condition: bool) -> Step {
    if condition { Step::Again } else { Step::Done }
}
