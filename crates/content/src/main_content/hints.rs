//! What the names that authors give to blocks say about them: words of `class`, `id`, `role` and the element itself.
//! Names only hint; whether a hint is followed is decided by how much text hangs on it.

use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// How sure a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// Nothing against it.
    None,
    /// Boilerplate unless it holds much of the page's text.
    Boilerplate,
    /// Boilerplate when it is mostly links or very short.
    Weak,
    /// A form: boilerplate when little hangs on it.
    Form,
    /// Consent dialogs.
    Consent,
    /// What buyers wrote: no content of a product page.
    Reviews,
    /// What readers wrote below: content on a forum, not elsewhere.
    Comments,
    /// About an author: no content except on a forum post.
    Byline,
    /// Never shown to a reader as it stands.
    Hidden,
}

/// Words that stand alone or between separators in names of boilerplate.
const BOILERPLATE: &[&str] = &[
    "ad",
    "ads",
    "adbox",
    "adsense",
    "adslot",
    "advert",
    "advertisement",
    "advertising",
    "adunit",
    "aside",
    "breadcrumb",
    "breadcrumbs",
    "colophon",
    "crumbs",
    "footer",
    "interstitial",
    "lightbox",
    "login",
    "mailchimp",
    "megamenu",
    "modal",
    "nav",
    "navbar",
    "navbox",
    "navfooter",
    "navheader",
    "navigation",
    "navigations",
    "newsletter",
    "newsletters",
    "nocontent",
    "noprint",
    "offcanvas",
    "optin",
    "outbrain",
    "pager",
    "pagination",
    "paging",
    "paywall",
    "popular",
    "popup",
    "prevnext",
    "readmore",
    "recirc",
    "recirculation",
    "recommend",
    "recommendation",
    "recommendations",
    "related",
    "relatedposts",
    "scrolltop",
    "searchbox",
    "searchform",
    "share",
    "sharebar",
    "sharebox",
    "sharedaddy",
    "sharethis",
    "sharing",
    "sidebar",
    "sidebars",
    "sidenav",
    "signin",
    "signup",
    "sitemap",
    "skiplink",
    "skiplinks",
    "social",
    "socials",
    "sphinxsidebar",
    "sponsored",
    "sponsors",
    "subscribe",
    "taboola",
    "toast",
    "toolbar",
    "trending",
    "upsell",
    "addtoany",
    "jumplinks",
    "backtotop",
    "printfooter",
    "catlinks",
    "editsection",
    "sociable",
];

/// Words of blocks that may be either; they count only against link lists and scraps.
const WEAK: &[&str] = &[
    "toc",
    "widget",
    "widgets",
    "promo",
    "promos",
    "promotion",
    "recommended",
    "sponsor",
    "feedback",
    "subscription",
    "tooltip",
    "overlay",
    "skip",
    "search",
    "donate",
    "dropdown",
    "actions",
    "banner",
    "categories",
    "category",
    "controls",
    "cta",
    "footnav",
    "header",
    "links",
    "masthead",
    "menu",
    "menus",
    "meta",
    "metadata",
    "postmeta",
    "rail",
    "secondary",
    "tag",
    "taglist",
    "tags",
    "tools",
    "topbar",
    "topics",
    "utility",
    "follow",
];

/// Words of consent managers: however much they write, it is never the page's.
const CONSENT: &[&str] = &[
    "consent",
    "cookie",
    "cookies",
    "cookiebanner",
    "cookiebot",
    "didomi",
    "gdpr",
    "onetrust",
    "osano",
    "qccmp",
    "truste",
    "usercentrics",
    "cookieconsent",
    "cookielaw",
    "cookienotice",
];

/// Words of blocks that open on a click: hidden at first, but content.
const FOLDED: &[&str] = &[
    "accordion",
    "answer",
    "collapse",
    "collapsed",
    "collapsible",
    "content",
    "details",
    "expand",
    "expandable",
    "expander",
    "faq",
    "fold",
    "panel",
    "spoiler",
    "tab",
    "tabcontent",
    "tabpanel",
    "tabs",
    "toggle",
];

const COMMENTS: &[&str] = &[
    "comment",
    "commentlist",
    "comments",
    "commentlisting",
    "disqus",
    "discussion",
    "livefyre",
    "replies",
    "respond",
    "responses",
    "trackbacks",
    "pingbacks",
    "facebookcomments",
];

const BYLINE: &[&str] = &[
    "author",
    "authors",
    "authorbio",
    "authorbox",
    "bio",
    "byline",
    "signature",
    "extras",
    "userextras",
    "postprofile",
    "contributor",
    "contributors",
    "profile",
    "avatar",
];

/// Words that make an `aside` part of the text.
const CALLOUT: &[&str] = &[
    "admonition",
    "alert",
    "callout",
    "caution",
    "danger",
    "example",
    "footnote",
    "footnotes",
    "hint",
    "important",
    "info",
    "note",
    "notice",
    "pullquote",
    "quote",
    "starlight",
    "tip",
    "warning",
];

/// What the element's names say.
pub(super) fn hint(dom: &Dom, id: NodeId) -> Hint {
    let tag = dom.tag(id);
    if matches!(
        tag,
        Tag::Text | Tag::Html | Tag::Body | Tag::Main | Tag::Pre | Tag::Code
    ) {
        return Hint::None;
    }
    let words = if dom.attributes(id).is_empty() {
        Vec::new()
    } else {
        words(dom, id)
    };
    let is = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if is(CONSENT) && (tag.is_block() || tag == Tag::Other) && tag.heading_level().is_none() {
        return Hint::Consent;
    }
    if is_hidden(dom, id) && !is(FOLDED) {
        return Hint::Hidden;
    }
    match tag {
        Tag::Nav | Tag::Footer | Tag::Dialog | Tag::Search | Tag::Fieldset => return Hint::Boilerplate,
        Tag::Form => return Hint::Form,
        Tag::Aside => {
            return if is(CALLOUT) {
                Hint::None
            } else {
                Hint::Boilerplate
            };
        }
        Tag::Header => return Hint::Weak,
        _ => {}
    }
    if let Some(role) = dom.attr(id, attr::ROLE) {
        match role.trim() {
            "navigation" | "contentinfo" | "search" | "dialog" | "alertdialog" | "menu" | "menubar"
            | "toolbar" | "banner" | "complementary" => {
                return Hint::Boilerplate;
            }
            "main" | "article" => return Hint::None,
            _ => {}
        }
    }
    if !(tag.is_block() || tag == Tag::Span || tag == Tag::Other || tag == Tag::A)
        || tag.heading_level().is_some()
    {
        return Hint::None;
    }
    if is(CALLOUT) && !is(&["nav", "share", "social", "newsletter", "sidebar"]) {
        return Hint::None;
    }
    if dom.classes(id).any(|class| {
        matches!(
            class,
            "sr-only" | "visually-hidden" | "screen-reader-text" | "visuallyhidden" | "screen-reader-only"
        )
    }) {
        return Hint::Weak;
    }
    if is(&["search"]) && is(&["result", "results"]) {
        return Hint::None;
    }
    if is(BOILERPLATE) {
        return if matches!(tag, Tag::Span | Tag::A) {
            Hint::Weak
        } else {
            Hint::Boilerplate
        };
    }
    if matches!(tag, Tag::Span | Tag::A) {
        return Hint::None;
    }
    if is(&["review", "reviews", "ratings", "testimonials"]) {
        Hint::Reviews
    } else if is(COMMENTS) {
        Hint::Comments
    } else if is(BYLINE) {
        Hint::Byline
    } else if is(WEAK) {
        Hint::Weak
    } else {
        Hint::None
    }
}

/// True for what a browser does not show: `hidden`, `display: none`, modal dialogs, text for other programs.
fn is_hidden(dom: &Dom, id: NodeId) -> bool {
    if dom.attributes(id).is_empty() {
        return false;
    }
    // Streamed pages arrive in hidden pieces (`S:0`) that a script moves into place.
    let streamed = dom.attr(id, attr::ID).is_some_and(|name| name.starts_with("S:"));
    if matches!(dom.attr(id, attr::ROLE), Some("tabpanel")) || streamed {
        return false;
    }
    if dom
        .attr(id, attr::HIDDEN)
        .is_some_and(|value| value != "until-found")
        || dom.attr(id, attr::ARIA_MODAL) == Some("true")
    {
        return true;
    }
    if dom
        .attr(id, attr::ARIA_HIDDEN)
        .is_some_and(|value| value.trim() == "true")
        && dom.tag(id) != Tag::Img
    {
        return true;
    }
    dom.attr(id, attr::STYLE).is_some_and(|style| {
        let style: String = style.chars().filter(|c| !c.is_whitespace()).take(400).collect();
        let style = style.to_ascii_lowercase();
        style.contains("display:none") || style.contains("visibility:hidden")
    })
}

/// The words of class and id in lower case: split at separators and where a capital follows a small letter; names
/// without separators come as they are.
fn words(dom: &Dom, id: NodeId) -> Vec<String> {
    let mut words = Vec::new();
    for name in [attr::CLASS, attr::ID] {
        let Some(value) = dom.attr(id, name) else { continue };
        for token in value.split_ascii_whitespace().take(24) {
            // Style systems write rules into names (`md:hidden`, `[&_nav]:x`): they are no names.
            if token.contains([':', '[', '/', '&', '=']) || token.len() > 60 {
                continue;
            }
            let mut word = String::new();
            let mut small = false;
            for c in token.chars() {
                if !c.is_ascii_alphanumeric() || (small && c.is_ascii_uppercase()) {
                    push(&mut words, &mut word);
                }
                if c.is_ascii_alphanumeric() {
                    word.push(c.to_ascii_lowercase());
                }
                small = c.is_ascii_lowercase();
            }
            push(&mut words, &mut word);
        }
    }
    words
}

fn push(words: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

/// Headings of blocks that lead away from the page.
const AWAY: &[&str] = &[
    "related",
    "related articles",
    "related posts",
    "related stories",
    "related content",
    "related news",
    "related topics",
    "related links",
    "related products",
    "related reading",
    "related coverage",
    "read more",
    "read next",
    "read also",
    "more from",
    "more stories",
    "more news",
    "more on this story",
    "more on this topic",
    "you may also like",
    "you might also like",
    "you may like",
    "recommended",
    "recommended for you",
    "recommended articles",
    "recommended stories",
    "recommended reading",
    "popular",
    "popular posts",
    "popular articles",
    "most popular",
    "most read",
    "most viewed",
    "trending",
    "trending now",
    "latest",
    "latest news",
    "latest posts",
    "latest articles",
    "latest stories",
    "recent posts",
    "recent articles",
    "recent news",
    "top stories",
    "don't miss",
    "editor's picks",
    "editors' picks",
    "more in",
    "also read",
    "see also",
    "up next",
    "newsletter",
    "subscribe",
    "sign up",
    "share this",
    "share this article",
    "share this post",
    "share this story",
    "share",
    "about the author",
    "leave a comment",
    "leave a reply",
    "comments",
    "tags",
    "filed under",
    "follow us",
    "advertisement",
    "what to read next",
    "keep reading",
    "around the web",
    "from around the web",
    "sponsored",
    "promoted",
    "explore more",
    "similar articles",
    "similar posts",
    "more like this",
    "customers also bought",
    "customers also viewed",
    "recently viewed",
    "navigation",
    "table of contents",
    "contents",
    "on this page",
    "in this article",
    "quick links",
    "this page",
    "previous topic",
    "next topic",
    "artículos relacionados",
    "noticias relacionadas",
    "te puede interesar",
    "leia também",
    "veja também",
    "mehr zum thema",
    "das könnte sie auch interessieren",
    "à lire aussi",
    "sur le même sujet",
    "leggi anche",
    "articoli correlati",
    "lees ook",
    "читайте также",
    "关联阅读",
    "相关文章",
    "相关新闻",
    "関連記事",
    "あわせて読みたい",
];

/// True when a short text is the title of something that leads away.
pub(super) fn leads_away(text: &str) -> bool {
    let lower = text
        .trim()
        .trim_end_matches([':', '…', '.', '»', '›', '→', '!', '?'])
        .trim()
        .to_lowercase()
        .replace('’', "'");
    if lower.len() > 60 {
        return false;
    }
    AWAY.contains(&lower.as_str())
        || [
            "related ",
            "more from ",
            "more in ",
            "more on ",
            "more about ",
            "recommended ",
            "most popular",
            "popular in ",
            "you may also",
            "you might also",
            "latest from ",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// Whole texts of blocks that are no content wherever they stand.
const SCRAPS: &[&str] = &[
    "advertisement",
    "advertisements",
    "ad",
    "ads",
    "sponsored",
    "share",
    "share this",
    "share this article",
    "share this post",
    "tweet",
    "print",
    "email",
    "pin",
    "pin it",
    "facebook",
    "twitter",
    "linkedin",
    "whatsapp",
    "pinterest",
    "reddit",
    "copy link",
    "copy",
    "copied",
    "copied!",
    "read more",
    "continue reading",
    "show more",
    "load more",
    "see more",
    "view more",
    "back to top",
    "skip to content",
    "skip to main content",
    "sign up",
    "subscribe",
    "log in",
    "login",
    "sign in",
    "close",
    "menu",
    "search",
    "loading",
    "loading...",
    "story continues below advertisement",
    "article continues below advertisement",
    "article continues after advertisement",
    "continue reading below",
    "scroll to continue",
    "read full article",
    "share on facebook",
    "share on twitter",
    "share on linkedin",
    "save",
    "bookmark",
    "report",
    "reply",
    "like",
    "follow",
    "next",
    "previous",
    "prev",
    "edit",
    "edit this page",
    "was this page helpful?",
    "was this helpful?",
    "yes",
    "no",
    "click to share",
    "leave a comment",
    "post a comment",
    "add a comment",
    "no comments",
    "0 comments",
    "on this page",
    "table of contents",
    "publicidad",
    "publicidade",
    "anzeige",
    "werbung",
    "реклама",
    "広告",
    "advertising",
];

/// True when a block's whole text is a control or a label, no content.
pub(super) fn is_scrap(text: &str) -> bool {
    let text = text.trim().trim_end_matches([':', '…', '»', '›', '→']).trim();
    text.len() <= 48 && SCRAPS.contains(&text.to_lowercase().as_str())
}
