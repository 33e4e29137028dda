//! State of a Rich Text Format file at a place: of its groups and of its paragraphs.

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
}

/// State that a group inherits from its parent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) destination: Destination,
    pub(super) format: TextFormat,
    pub(super) hidden: bool,
    /// Number of fallback characters after a `\u`.
    pub(super) fallback_chars: u32,
    pub(super) is_note: bool,
    pub(super) is_text_box: bool,
    pub(super) is_field: bool,
    pub(super) style: i32,
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
