//! Formatting of text that files of several kinds have, and the elements that show it.

/// Text formatting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct TextFormat {
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) struck: bool,
    pub(super) script: Script,
    pub(super) code: bool,
}

/// Position of text relative to its line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Script {
    #[default]
    Normal,
    Super,
    Sub,
}

impl TextFormat {
    /// Returns the names of its elements, the outer ones first.
    pub(super) fn tags(self) -> impl DoubleEndedIterator<Item = &'static str> {
        let tags = [
            ("strong", self.bold),
            ("em", self.italic),
            ("del", self.struck),
            ("sup", self.script == Script::Super),
            ("sub", self.script == Script::Sub),
            ("code", self.code),
        ];
        tags.into_iter().filter_map(|(tag, on)| on.then_some(tag))
    }

    /// Returns this formatting with another one added.
    pub(super) fn with(self, other: TextFormat) -> TextFormat {
        let script = match other.script {
            Script::Normal => self.script,
            script => script,
        };
        TextFormat {
            bold: self.bold || other.bold,
            italic: self.italic || other.italic,
            struck: self.struck || other.struck,
            script,
            code: self.code || other.code,
        }
    }
}
