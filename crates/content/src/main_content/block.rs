//! A block of text as the model and the rules after it see it.

use super::open_elements::{AMBIGUOUS, ARTICLE, CONSENT, FOOTER, HEADER, HIDDEN, MAIN, NAV, Surroundings};
use crate::html::dom::NodeId;
use crate::html::tag::Tag;

// Features that the rules use as well, by position. `score/train.py` uses the last three.
const BYTES: usize = 0;
const WORDS: usize = 1;
const LINKED_PERCENT: usize = 2;
const TAG: usize = 11;
const CHOSEN: usize = 12;
const TITLED: usize = 16;

/// Flags of what belongs to the site and not to the page.
const OF_SITE: u32 = NAV | FOOTER | HEADER | CONSENT | HIDDEN;

/// One block with text of its own.
pub(crate) struct Block {
    pub(crate) id: NodeId,
    pub(crate) features: Vec<i32>,
    /// Hash of its text, and key of the start of its text, unless that is short.
    pub(super) hash: u64,
    pub(super) start: Option<u64>,
    /// It refers to other pages by its words, those of the text before, or those of its heading.
    pub(super) leads_away: bool,
    /// It is in a table of contents of other pages, which is among the paragraphs of the page's longest text.
    pub(super) in_contents: bool,
    /// It is a sibling of the paragraphs of the page's longest text, or an item of a list among them.
    pub(super) among_paragraphs: bool,
    pub(super) around: Surroundings,
    pub(super) look: Look,
}

/// What blocks of one kind on a page have in common: their element, its depth, and the names around it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Look {
    pub(super) tag: i32,
    pub(super) depth: i32,
    pub(super) flags: u32,
    pub(super) words: [u32; 3],
}

impl Block {
    /// Returns the number of bytes without white space.
    pub(super) fn bytes(&self) -> i32 {
        self.features[BYTES]
    }

    /// Returns the number of words.
    pub(super) fn size(&self) -> i32 {
        self.features[WORDS].max(1)
    }

    /// Returns the share of its text in links, in percent.
    pub(super) fn linked_percent(&self) -> i32 {
        self.features[LINKED_PERCENT]
    }

    /// Returns true for an `h1` that the rules chose.
    pub(super) fn is_chosen_heading(&self) -> bool {
        self.features[TAG] == tag_code(Tag::H1) && self.features[CHOSEN] == 1
    }

    /// Returns true for an `h2` that the rules chose and whose text is the page's title: the heading of a page without
    /// `h1`, such as a chapter of a book.
    pub(super) fn is_chosen_title(&self) -> bool {
        self.features[TAG] == tag_code(Tag::H2) && self.features[CHOSEN] == 1 && self.features[TITLED] == 2
    }

    /// Returns true for an `h1` whose text is in the page's title.
    pub(super) fn is_title(&self) -> bool {
        self.features[TAG] == tag_code(Tag::H1) && self.features[TITLED] > 0
    }

    /// Returns the innermost repeated element that it is in, or 0. A block whose first text follows such an element is not.
    pub(super) fn repeated(&self) -> NodeId {
        match self.around.repeated {
            around if around <= self.id => around,
            _ => 0,
        }
    }

    /// Returns true if names or elements around it mark it as secondary content.
    pub(super) fn is_named_beside(&self) -> bool {
        self.around.beside != 0
    }

    /// Returns true for the same, apart from names that content may have as well.
    pub(super) fn is_surely_beside(&self) -> bool {
        self.around.beside & !AMBIGUOUS != 0
    }

    /// Returns true in the navigation, a header or footer, a consent dialog, or a hidden element.
    pub(super) fn is_of_site(&self) -> bool {
        self.around.flags & OF_SITE != 0
    }

    /// Returns true in the navigation.
    pub(super) fn is_in_navigation(&self) -> bool {
        self.around.flags & NAV != 0
    }

    /// Returns true in a `main` or `article`.
    pub(super) fn is_within_main(&self) -> bool {
        self.around.flags & (MAIN | ARTICLE) != 0
    }
}

/// Returns the number of an element for the model. Elements with the same role have the same.
pub(super) fn tag_code(tag: Tag) -> i32 {
    match tag {
        Tag::P => 0,
        Tag::Li => 1,
        Tag::Td | Tag::Th => 2,
        Tag::H1 => 3,
        Tag::H2 => 4,
        Tag::H3 => 5,
        Tag::H4 | Tag::H5 | Tag::H6 => 6,
        Tag::Div => 7,
        Tag::Section | Tag::Article | Tag::Main => 8,
        Tag::Pre => 9,
        Tag::Dt | Tag::Dd => 10,
        Tag::Blockquote => 11,
        Tag::Figcaption | Tag::Caption => 12,
        Tag::Summary | Tag::Details => 13,
        Tag::Legend | Tag::Form | Tag::Fieldset => 14,
        _ => 15,
    }
}
