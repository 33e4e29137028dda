//! The sets of elements that the rules of the tree builder name.

use super::super::tag::Tag::{self, *};

/// A set of elements.
pub(super) struct TagSet {
    html: [u64; 4],
    /// Contains the integration points of MathML and SVG.
    pub(super) integration_points: bool,
}

impl TagSet {
    const fn of(tags: &[Tag]) -> TagSet {
        TagSet {
            html: [0; 4],
            integration_points: false,
        }
        .and(tags)
    }

    const fn and(&self, tags: &[Tag]) -> TagSet {
        let mut html = self.html;
        let mut at = 0;
        while at < tags.len() {
            html[tags[at] as usize / 64] |= 1 << (tags[at] as usize % 64);
            at += 1;
        }
        TagSet {
            html,
            integration_points: self.integration_points,
        }
    }

    const fn and_integration_points(mut self) -> TagSet {
        self.integration_points = true;
        self
    }

    /// Returns true when it contains the HTML element.
    pub(super) fn contains(&self, tag: Tag) -> bool {
        self.html[tag as usize / 64] & (1 << (tag as usize % 64)) != 0
    }
}

/// Elements whose start tags are processed as in the head wherever they are.
pub(super) const METADATA: TagSet = TagSet::of(&[
    Base, Basefont, Bgsound, Link, Meta, Noframes, Script, Style, Template, Title,
]);
/// Bounds of "has an element in scope".
pub(super) const SCOPE: TagSet = TagSet::of(&[
    Applet, Caption, Html, Table, Td, Th, Marquee, Object, Select, Template,
])
.and_integration_points();
pub(super) const LIST_ITEM_SCOPE: TagSet = SCOPE.and(&[Ol, Ul]);
pub(super) const BUTTON_SCOPE: TagSet = SCOPE.and(&[Button]);
pub(super) const TABLE_SCOPE: TagSet = TagSet::of(&[Html, Table, Template]);
pub(super) const TABLE_BODY_CONTEXT: TagSet = TagSet::of(&[Tbody, Tfoot, Thead, Template, Html]);
pub(super) const TABLE_ROW_CONTEXT: TagSet = TagSet::of(&[Tr, Template, Html]);
pub(super) const TABLE_SECTIONS: TagSet = TagSet::of(&[Tbody, Tfoot, Thead]);
pub(super) const CELLS: TagSet = TagSet::of(&[Td, Th]);
pub(super) const HEADINGS: TagSet = TagSet::of(&[H1, H2, H3, H4, H5, H6]);
/// Elements in which text and elements that tables cannot contain are foster-parented.
pub(super) const FOSTERING: TagSet = TagSet::of(&[Table, Tbody, Tfoot, Thead, Tr]);
pub(super) const IMPLIED_END: TagSet = TagSet::of(&[Dd, Dt, Li, Optgroup, Option, P, Rb, Rp, Rt, Rtc]);
pub(super) const THOROUGHLY_IMPLIED_END: TagSet =
    IMPLIED_END.and(&[Caption, Colgroup, Tbody, Td, Tfoot, Th, Thead, Tr]);
pub(super) const SPECIAL: TagSet = TagSet::of(&[
    Address, Applet, Area, Article, Aside, Base, Basefont, Bgsound, Blockquote, Body, Br, Button, Caption,
    Center, Col, Colgroup, Dd, Details, Dir, Div, Dl, Dt, Embed, Fieldset, Figcaption, Figure, Footer, Form,
    Frame, Frameset, H1, H2, H3, H4, H5, H6, Head, Header, Hgroup, Hr, Html, Iframe, Img, Input, Keygen, Li,
    Link, Listing, Main, Marquee, Menu, Meta, Nav, Noembed, Noframes, Noscript, Object, Ol, P, Param,
    Plaintext, Pre, Script, Search, Section, Select, Source, Style, Summary, Table, Tbody, Td, Template,
    Textarea, Tfoot, Th, Thead, Title, Tr, Track, Ul, Wbr, Xmp,
])
.and_integration_points();
/// Elements that HTML reopens in later blocks while they stay unclosed, without `a`: links matter.
pub(super) const FORMATTING: TagSet =
    TagSet::of(&[B, Big, Code, Em, Font, I, Nobr, S, Small, Strike, Strong, Tt, U]);
