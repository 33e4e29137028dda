//! Element names that this crate distinguishes, as one byte. All others are `Tag::Other`.

macro_rules! tags {
    ($($variant:ident $name:literal),* $(,)?) => {
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
        }

        impl Tag {
            /// Returns the tag of an element with this (lower-case) name.
            pub(crate) fn of(name: &str) -> Tag {
                match name {
                    $($name => Tag::$variant,)*
                    _ => Tag::Other,
                }
            }
        }
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
    Title "title", Tr "tr", Track "track", Tt "tt", U "u", Ul "ul", Var "var", Video "video", Wbr "wbr", Xmp "xmp",
}

impl Tag {
    /// Returns true for elements that start a new block.
    pub(crate) fn is_block(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Address
                | Article
                | Aside
                | Blockquote
                | Body
                | Caption
                | Center
                | Dd
                | Details
                | Dialog
                | Dir
                | Div
                | Dl
                | Dt
                | Fieldset
                | Figcaption
                | Figure
                | Footer
                | Form
                | Frameset
                | H1
                | H2
                | H3
                | H4
                | H5
                | H6
                | Header
                | Hgroup
                | Hr
                | Html
                | Legend
                | Li
                | Main
                | Menu
                | Nav
                | Ol
                | Optgroup
                | Option
                | P
                | Plaintext
                | Pre
                | Search
                | Section
                | Summary
                | Table
                | Tbody
                | Td
                | Tfoot
                | Th
                | Thead
                | Tr
                | Ul
                | Xmp
        )
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

    /// Returns true for elements that cannot have children.
    pub(crate) fn is_void(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Area | Base | Br | Col | Embed | Frame | Hr | Img | Input | Link | Meta | Source | Track | Wbr
        )
    }

    /// Returns true for elements whose content is never shown as text of the page.
    pub(crate) fn is_never_text(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Script
                | Style
                | Template
                | Head
                | Title
                | Meta
                | Link
                | Base
                | Noembed
                | Noframes
                | Datalist
                | Canvas
                | Svg
                | Object
                | Iframe
                | Audio
                | Video
                | Rp
        )
    }
}
