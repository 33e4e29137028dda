//! Sets of tags as bits, so that long lists of elements are constants.

use super::tag::Tag::{self, *};

/// A set of elements, by their tags.
pub(crate) struct TagSet {
    html: [u64; 4],
    /// Contains the integration points of MathML and SVG.
    pub(super) integration_points: bool,
}

impl TagSet {
    pub(super) const fn of(tags: &[Tag]) -> TagSet {
        TagSet {
            html: [0; 4],
            integration_points: false,
        }
        .and(tags)
    }

    pub(super) const fn and(&self, tags: &[Tag]) -> TagSet {
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

    pub(super) const fn and_integration_points(mut self) -> TagSet {
        self.integration_points = true;
        self
    }

    /// Returns true when it contains the HTML element.
    pub(crate) const fn contains(&self, tag: Tag) -> bool {
        self.html[tag as usize / 64] & (1 << (tag as usize % 64)) != 0
    }
}

const BLOCKS: TagSet = TagSet::of(&[
    Address, Article, Aside, Blockquote, Body, Caption, Center, Dd, Details, Dialog, Dir, Div, Dl, Dt,
    Fieldset, Figcaption, Figure, Footer, Form, Frameset, H1, H2, H3, H4, H5, H6, Header, Hgroup, Hr, Html,
    Legend, Li, Main, Menu, Nav, Ol, Optgroup, Option, P, Plaintext, Pre, Search, Section, Summary, Table,
    Tbody, Td, Tfoot, Th, Thead, Tr, Ul, Xmp,
]);
const RARE: TagSet = TagSet::of(&[
    Base, Frame, H1, Iframe, Link, Meta, Noscript, Script, Template, Time, Title,
]);
const VOID: TagSet = TagSet::of(&[
    Area, Base, Br, Col, Embed, Frame, Hr, Img, Input, Link, Meta, Source, Track, Wbr,
]);
const NEVER_TEXT: TagSet = TagSet::of(&[
    Script, Style, Template, Head, Title, Meta, Link, Base, Noembed, Noframes, Datalist, Canvas, Svg, Object,
    Iframe, Audio, Video,
]);

impl Tag {
    /// Returns true for elements that start a new block.
    pub(crate) fn is_block(self) -> bool {
        BLOCKS.contains(self)
    }

    /// Returns true for elements that a page has few of, and that are looked for by their tag.
    pub(crate) fn is_rare(self) -> bool {
        RARE.contains(self)
    }

    /// Returns true for elements that cannot have children.
    pub(crate) fn is_void(self) -> bool {
        VOID.contains(self)
    }

    /// Returns true for elements whose content is never shown as text of the page.
    pub(crate) fn is_never_text(self) -> bool {
        NEVER_TEXT.contains(self)
    }
}
