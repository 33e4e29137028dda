//! The sets of elements that the rules of the tree builder name.

use super::super::tag::Tag::*;
use super::super::tag_set::TagSet;

/// Elements whose start tags are processed as in the head wherever they are.
pub(super) const METADATA: TagSet = TagSet::of(&[
    Base, Basefont, Bgsound, Link, Meta, Noframes, Script, Style, Template, Title,
]);
/// Blocks whose start and end tags follow the same rule, except for those that [`BLOCK_STARTS`] and [`BLOCK_ENDS`] add.
const BLOCKS: TagSet = TagSet::of(&[
    Address, Article, Aside, Blockquote, Center, Details, Dialog, Dir, Div, Dl, Fieldset, Figcaption, Figure,
    Footer, Header, Hgroup, Main, Menu, Nav, Ol, Search, Section, Summary, Ul,
]);
/// Elements whose start tags only close a paragraph.
pub(super) const BLOCK_STARTS: TagSet = BLOCKS.and(&[P]);
/// Elements whose end tags only close the element.
pub(super) const BLOCK_ENDS: TagSet = BLOCKS.and(&[Button, Listing, Pre, Select]);
/// Elements that are parts of a table.
pub(super) const TABLE_PARTS: TagSet = TagSet::of(&[Caption, Col, Colgroup, Tbody, Td, Tfoot, Th, Thead, Tr]);
/// HTML elements whose start tags end SVG and MathML.
pub(super) const FOREIGN_ENDS: TagSet = TagSet::of(&[
    B, Big, Blockquote, Body, Br, Center, Code, Dd, Div, Dl, Dt, Em, Embed, H1, H2, H3, H4, H5, H6, Head, Hr,
    I, Img, Li, Listing, Menu, Meta, Nobr, Ol, P, Pre, Ruby, S, Small, Span, Strong, Strike, Sub, Sup, Table,
    Tt, U, Ul, Var,
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
