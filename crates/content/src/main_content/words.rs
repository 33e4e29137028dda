//! Word lists for names and short texts. Their meaning is decided in `hints`.

use std::sync::LazyLock;

use crate::hash::HashMap;

/// The lists, as bits of [`lists`].
pub(super) const IN_BOILERPLATE: u16 = 1;
pub(super) const IN_AMBIGUOUS: u16 = 1 << 1;
pub(super) const IN_CONSENT: u16 = 1 << 2;
pub(super) const IN_COLLAPSED: u16 = 1 << 3;
pub(super) const IN_COMMENTS: u16 = 1 << 4;
pub(super) const IN_BYLINE: u16 = 1 << 5;
pub(super) const IN_CALLOUT: u16 = 1 << 6;
pub(super) const IN_REVIEWS: u16 = 1 << 7;
pub(super) const IN_NOT_CALLOUT: u16 = 1 << 8;
pub(super) const IN_SEARCH: u16 = 1 << 9;
pub(super) const IN_RESULTS: u16 = 1 << 10;
const IN_LINK_BLOCK_TITLES: u16 = 1 << 11;
const IN_CONTROL_TEXTS: u16 = 1 << 12;
pub(super) const IN_CONTENTS: u16 = 1 << 13;
/// Not of a word, but of a whole name.
pub(super) const IN_WIDGETS: u16 = 1 << 14;

static LISTS: LazyLock<HashMap<&str, u16>> = LazyLock::new(|| {
    let mut map = HashMap::default();
    for (list, bit) in [
        (BOILERPLATE, IN_BOILERPLATE),
        (AMBIGUOUS, IN_AMBIGUOUS),
        (CONSENT, IN_CONSENT),
        (COLLAPSED, IN_COLLAPSED),
        (COMMENTS, IN_COMMENTS),
        (BYLINE, IN_BYLINE),
        (CALLOUT, IN_CALLOUT),
        (&["review", "reviews", "ratings", "testimonials"], IN_REVIEWS),
        (
            &["nav", "share", "social", "newsletter", "sidebar"],
            IN_NOT_CALLOUT,
        ),
        (&["search"], IN_SEARCH),
        (&["toc"], IN_CONTENTS),
        (&["result", "results"], IN_RESULTS),
        (LINK_BLOCK_TITLES, IN_LINK_BLOCK_TITLES),
        (CONTROL_TEXTS, IN_CONTROL_TEXTS),
    ] {
        for word in list {
            *map.entry(*word).or_default() |= bit;
        }
    }
    map
});

/// Returns the lists that contain a word of a name.
pub(super) fn lists(word: &str) -> u16 {
    LISTS.get(word).copied().unwrap_or(0)
}

/// Returns true for the heading of a block that leads to other pages, in lower case.
pub(super) fn is_link_block_title(text: &str) -> bool {
    lists(text) & IN_LINK_BLOCK_TITLES != 0
}

/// Returns true for the text of a control, in lower case.
pub(super) fn is_control_text(text: &str) -> bool {
    lists(text) & IN_CONTROL_TEXTS != 0
}

/// Words in names of boilerplate, alone or between separators.
const BOILERPLATE: &[&str] = &[
    "ad", "ads", "adbox", "adsense", "adslot", "advert", "advertisement", "advertising", "adunit", "aside",
    "breadcrumb", "breadcrumbs", "colophon", "crumbs", "footer", "interstitial", "lightbox", "login",
    "mailchimp", "megamenu", "modal", "nav", "navbar", "navbox", "navfooter", "navheader", "navigation",
    "navigations", "newsletter", "newsletters", "nocontent", "noprint", "offcanvas", "optin", "outbrain",
    "pager", "pagination", "paging", "paywall", "popular", "popup", "prevnext", "readmore", "recirc",
    "recirculation", "recommend", "recommendation", "recommendations", "related", "relatedposts",
    "scrolltop", "searchbox", "searchform", "share", "sharebar", "sharebox", "sharedaddy", "sharethis",
    "sharing", "sidebar", "sidebars", "sidenav", "signin", "signup", "sitemap", "skiplink", "skiplinks",
    "social", "socials", "sphinxsidebar", "sponsored", "sponsors", "subscribe", "taboola", "toast",
    "toolbar", "trending", "upsell", "addtoany", "jumplinks", "backtotop", "printfooter", "catlinks",
    "editsection", "sociable",
];

/// Words in names of blocks that may be content or not; they count only against link lists and very short
/// blocks.
const AMBIGUOUS: &[&str] = &[
    "widget", "widgets", "promo", "promos", "promotion", "recommended", "sponsor", "feedback",
    "subscription", "tooltip", "overlay", "skip", "search", "donate", "dropdown", "actions", "banner",
    "categories", "category", "controls", "cta", "footnav", "header", "links", "masthead", "menu", "menus",
    "meta", "metadata", "postmeta", "rail", "secondary", "tag", "taglist", "tags", "tools", "topbar",
    "topics", "utility", "follow",
];

/// Words of consent managers: however much text they have, it is never content.
const CONSENT: &[&str] = &[
    "consent", "cookie", "cookies", "cookiebanner", "cookiebot", "didomi", "gdpr", "onetrust", "osano",
    "qccmp", "truste", "usercentrics", "cookieconsent", "cookielaw", "cookienotice",
];

/// Words of blocks that open on a click: hidden at first, but content.
const COLLAPSED: &[&str] = &[
    "accordion", "answer", "collapse", "collapsed", "collapsible", "content", "details", "expand",
    "expandable", "expander", "faq", "fold", "panel", "spoiler", "tab", "tabcontent", "tabpanel", "tabs",
    "toggle",
];

const COMMENTS: &[&str] = &[
    "comment", "commentlist", "comments", "commentlisting", "disqus", "discussion", "livefyre", "replies",
    "respond", "responses", "trackbacks", "pingbacks", "facebookcomments",
];

const BYLINE: &[&str] = &[
    "author", "authors", "authorbio", "authorbox", "bio", "byline", "signature", "extras", "userextras",
    "postprofile", "contributor", "contributors", "profile", "avatar",
];

/// Words that make an `aside` part of the content.
const CALLOUT: &[&str] = &[
    "admonition", "alert", "callout", "caution", "danger", "example", "footnote", "footnotes", "hint",
    "important", "info", "note", "notice", "pullquote", "quote", "starlight", "tip", "warning",
];

/// Headings of blocks that lead to other pages.
const LINK_BLOCK_TITLES: &[&str] = &[
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

/// Texts that are not content when they are the whole text of a block.
const CONTROL_TEXTS: &[&str] = &[
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
