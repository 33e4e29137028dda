//! Element names that this crate distinguishes, as one byte. All others are `Tag::Other`.

use super::name_hash::hash;

macro_rules! tags {
    ($($variant:ident $name:literal),* ; $($internal:ident $internal_name:literal),* $(,)?) => {
        /// Kind of a node: the document, text, or an element by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum Tag {
            /// The root of the arena.
            Document,
            /// A text node.
            Text,
            /// An element with a name not listed here.
            Other,
            $(#[allow(missing_docs)] $variant,)*
            $(#[allow(missing_docs)] $internal,)*
        }

        /// Every tag, in the order of its value.
        const TAGS: &[Tag] = &[
            Tag::Document, Tag::Text, Tag::Other, $(Tag::$variant,)* $(Tag::$internal,)*
        ];

        /// Their names; the first three have none.
        pub(super) const NAMES: &[&str] = &["", "", "", $($name,)* $($internal_name,)*];
    };
}

tags! {
    A "a", Abbr "abbr", Address "address", Annotation "annotation", Area "area", Article "article", Aside "aside",
    Audio "audio", B "b", Base "base", Big "big", Blockquote "blockquote", Body "body", Br "br", Button "button",
    Canvas "canvas", Caption "caption", Center "center", Cite "cite", Code "code", Col "col", Colgroup "colgroup",
    Data "data", Datalist "datalist", Dd "dd", Del "del", Details "details", Dfn "dfn", Dialog "dialog", Dir "dir",
    Div "div", Dl "dl", Dt "dt", Em "em", Embed "embed", Fieldset "fieldset", Figcaption "figcaption",
    Figure "figure", Font "font", Footer "footer", Form "form", Frame "frame", Frameset "frameset", H1 "h1", H2 "h2",
    H3 "h3", H4 "h4", H5 "h5", H6 "h6", Head "head", Header "header", Hgroup "hgroup", Hr "hr", Html "html", I "i",
    Iframe "iframe", Img "img", Input "input", Ins "ins", Kbd "kbd", Label "label", Legend "legend", Li "li",
    Link "link", Main "main", Map "map", Mark "mark", Math "math", Menu "menu", Meta "meta", Meter "meter", Nav "nav",
    Nobr "nobr", Noembed "noembed", Noframes "noframes", Noscript "noscript", Object "object", Ol "ol",
    Optgroup "optgroup", Option "option", Output "output", P "p", Picture "picture", Plaintext "plaintext", Pre "pre",
    Progress "progress", Q "q", Rp "rp", Rt "rt", Ruby "ruby", S "s", Samp "samp", Script "script", Search "search",
    Section "section", Select "select", Slot "slot", Small "small", Source "source", Span "span", Strike "strike",
    Strong "strong", Style "style", Sub "sub", Summary "summary", Sup "sup", Svg "svg", Table "table", Tbody "tbody",
    Td "td", Template "template", Textarea "textarea", Tfoot "tfoot", Th "th", Thead "thead", Time "time",
    Title "title", Tr "tr", Track "track", Tt "tt", U "u", Ul "ul", Var "var", Video "video", Wbr "wbr", Xmp "xmp";
    // Names that only the tree builder distinguishes: in the arena these elements are `Other`.
    AnnotationXml "annotation-xml", Applet "applet", Basefont "basefont", Bgsound "bgsound", Desc "desc",
    ForeignObject "foreignobject", Image "image", Keygen "keygen", Listing "listing", Malignmark "malignmark",
    Marquee "marquee", Mglyph "mglyph", Mi "mi", Mn "mn", Mo "mo", Ms "ms", Mtext "mtext", Param "param", Rb "rb",
    Rtc "rtc",
}

/// Slots of the lookup table; a power of two, several times the number of names.
const SLOTS: usize = 512;
/// Tags by the hash of their names, with linear probing; 0 is an empty slot.
static TABLE: [u8; SLOTS] = table();

const fn table() -> [u8; SLOTS] {
    let mut table = [0; SLOTS];
    let mut tag = Tag::Other as usize + 1;
    while tag < NAMES.len() {
        let mut slot = hash(NAMES[tag]) as usize % SLOTS;
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = tag as u8;
        tag += 1;
    }
    table
}

impl Tag {
    /// Returns the tag of an element with this (lower-case) name.
    #[cfg(feature = "files")]
    pub(crate) fn of(name: &str) -> Tag {
        Tag::parse(name, hash(name)).in_arena()
    }

    /// Returns the tag that the tree builder uses for a (lower-case) name with this [`hash`].
    pub(super) fn parse(name: &str, hash: u32) -> Tag {
        let mut slot = hash as usize % SLOTS;
        loop {
            match TABLE[slot] as usize {
                0 => return Tag::Other,
                tag if NAMES[tag] == name => return TAGS[tag],
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }

    /// Returns the tag as it is in the arena: without the names that only the tree builder distinguishes.
    pub(super) fn in_arena(self) -> Tag {
        if self > Tag::Xmp { Tag::Other } else { self }
    }

    /// Returns 1 to 6 for `h1` to `h6`.
    pub(crate) fn heading_level(self) -> Option<u8> {
        match self {
            Tag::H1 => Some(1),
            Tag::H2 => Some(2),
            Tag::H3 => Some(3),
            Tag::H4 => Some(4),
            Tag::H5 => Some(5),
            Tag::H6 => Some(6),
            _ => None,
        }
    }
}
