//! Numbers of the attribute names that this crate looks up, and of other common ones.

macro_rules! attribute_names {
    ($($constant:ident $name:literal),* ; $($other:literal),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Order { $($constant),* }
        $(pub(crate) const $constant: u32 = Order::$constant as u32;)*
        /// The names by number, and then other common names.
        pub(super) const NAMES: &[&str] = &[$($name,)* $($other),*];
    };
}

attribute_names! {
    HREF "href", SRC "src", CLASS "class", ID "id", REL "rel", NAME "name", PROPERTY "property", CONTENT "content",
    ALT "alt", SRCSET "srcset", DATA_SRC "data-src", DATA_SRCSET "data-srcset", LANG "lang",
    TYPE "type", ROLE "role", HIDDEN "hidden", ARIA_HIDDEN "aria-hidden", STYLE "style", START "start",
    CHECKED "checked", COLSPAN "colspan", ROWSPAN "rowspan", DATETIME "datetime", ITEMPROP "itemprop",
    ITEMTYPE "itemtype", DATA_LANG "data-lang", DATA_LANGUAGE "data-language", LANGUAGE "language",
    VALUE "value", DATA_ORIGINAL "data-original", DATA_LAZY_SRC "data-lazy-src",
    DATA_LAZY_SRCSET "data-lazy-srcset",
    ARIA_MODAL "aria-modal", DATA_ORIGINAL_SRC "data-original-src",
    DATA_LAZY "data-lazy", ENCODING "encoding", ALTTEXT "alttext", DISPLAY "display", DATA_ENTRY "data-entry",
    TITLE "title", ARIA_CURRENT "aria-current", ARIA_LEVEL "aria-level";
    "width", "height", "target", "for", "action", "method", "placeholder", "tabindex", "aria-label",
    "aria-labelledby", "aria-expanded", "aria-controls", "aria-haspopup", "aria-describedby",
    "itemscope", "charset", "http-equiv", "media", "sizes", "loading", "decoding", "fetchpriority", "async",
    "defer", "crossorigin", "integrity", "nonce", "onclick", "xmlns", "d", "fill", "stroke", "transform", "x", "y",
    "points", "focusable", "align", "valign", "border", "cellpadding", "cellspacing", "bgcolor", "color", "size",
    "face", "scope", "label", "selected", "disabled", "autocomplete", "maxlength", "data-id", "data-type",
    "data-url", "data-title", "data-target", "data-toggle", "data-testid", "dir", "rows", "cols", "hreflang",
}
