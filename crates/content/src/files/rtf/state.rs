//! State of a Rich Text Format file at a place: of its groups, paragraphs and stories.

use super::blocks::Blocks;
use crate::files::markup::Markup;
use crate::files::text_format::TextFormat;

/// Destination of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Destination {
    #[default]
    Body,
    Nowhere,
    /// The names of fonts.
    Fonts,
    /// The names of styles.
    Styles,
    /// A document property.
    Property(&'static str),
    /// The instruction of a field.
    Instruction,
    /// The marker of a list item.
    ListMarker,
    Equation,
}

/// State that a group inherits from its parent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) destination: Destination,
    pub(super) format: TextFormat,
    pub(super) hidden: bool,
    /// Number of fallback characters after a `\u`.
    pub(super) fallback_chars: u32,
    /// Whether a story ends with the group.
    pub(super) is_story: bool,
    pub(super) is_field: bool,
    pub(super) is_equation_block: bool,
    pub(super) style: i32,
    /// The number of the style of characters that the group defines.
    pub(super) character_style: Option<i32>,
    pub(super) font: Option<i32>,
}

/// Paragraph properties; `\pard` resets them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Paragraph {
    pub(super) style: i32,
    pub(super) outline: Option<u8>,
    pub(super) is_item: bool,
    pub(super) depth: u8,
    pub(super) in_table: bool,
}

/// The main text, a note or a text box.
#[derive(Default)]
pub(super) struct Story {
    /// The number of the note.
    pub(super) note: Option<u32>,
    pub(super) paragraph: Paragraph,
    /// The text of the paragraph so far, and its list marker.
    pub(super) line: Markup,
    pub(super) marker: String,
    /// Whether the marker is valid only if the paragraph is in a list.
    pub(super) needs_list: bool,
    /// Whether a link is open in the line.
    pub(super) link: bool,
    pub(super) blocks: Blocks,
    /// Blocks of the table cell that is being read.
    pub(super) cell: Blocks,
}

impl Story {
    /// Returns the blocks that the paragraph is one of: those of a cell or of the story.
    pub(super) fn blocks(&mut self) -> &mut Blocks {
        if self.paragraph.in_table {
            return &mut self.cell;
        }
        self.blocks.end_table();
        &mut self.blocks
    }
}
