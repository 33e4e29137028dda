//! What a request type tells of its own fields: their names, and which JSON each takes.

/// One field of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: FieldKind,
}

/// The JSON that a field takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// More than one type, for example a string or an object.
    Any,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    Text,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// An array.
    List,
    /// An object.
    Object,
}
