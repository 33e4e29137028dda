//! The names of every element, read once: their hint, and which groups of common words they contain.

use super::hints::{self, Hint};
use super::weights::TextWeights;
use super::{widgets, words};
use crate::hash::HashMap;
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Result for one element.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameHints {
    pub(super) hint: Hint,
    /// One bit per word group (see [`group`]), [`LISTS_PAGES`] and [`LISTS_SITE`].
    pub(super) words: u32,
}

/// Number of word groups.
pub(super) const GROUPS: usize = 26;

/// Bit of a table of contents that lists other pages; no word group.
pub(super) const LISTS_PAGES: u32 = 1 << 31;

/// Bit of a list of all pages of a manual that stands beside each of them; no word group.
pub(super) const LISTS_SITE: u32 = 1 << 30;

/// Share of the page's text from which on a widget may be the content, in percent.
const MAX_WIDGET_TEXT: u64 = 60;

/// Result for an element whose names say nothing.
pub(super) const NO_HINT: NameHints = NameHints {
    hint: Hint::None,
    words: 0,
};

/// What the words of one `class` or `id` say: their groups, as bits, and the lists that contain one of them.
#[derive(Clone, Copy, Default)]
struct Words {
    groups: u32,
    lists: u16,
}

/// Reads the names of all elements. Each value of an attribute is split into words once.
pub(super) fn read(dom: &Dom) -> Vec<NameHints> {
    let mut by_value: HashMap<&str, Words> = HashMap::default();
    let mut by_class: HashMap<(Tag, &str), NameHints> = HashMap::default();
    (0..dom.len())
        .map(|id| {
            if dom.tag(id) == Tag::Text {
                return NO_HINT;
            }
            let only_class = match dom.attributes(id) {
                [only] if only.name == attr::CLASS => Some((dom.tag(id), dom.value(only))),
                _ => None,
            };
            if let Some(known) = only_class.and_then(|names| by_class.get(&names)) {
                return *known;
            }
            let mut words = Words::default();
            for attribute in dom.attributes(id) {
                if !matches!(attribute.name, attr::CLASS | attr::ID) {
                    continue;
                }
                let value = dom.value(attribute);
                let more = *by_value.entry(value).or_insert_with(|| words_of(value));
                words.groups |= more.groups;
                words.lists |= more.lists;
            }
            let hints = read_words(dom, id, words);
            // Words of a list are judged by what is in the element, too.
            if let Some(names) = only_class.filter(|_| words.lists == 0) {
                by_class.insert(names, hints);
            }
            hints
        })
        .collect()
}

/// Returns by node whether it is in a widget that holds a part of the page's text only.
pub(super) fn within_widgets(
    dom: &Dom,
    body: NodeId,
    names: &[NameHints],
    weights: &TextWeights,
) -> Vec<bool> {
    let text = |id: NodeId| u64::from(weights.text[id as usize]);
    let mut inside = vec![false; dom.nodes.len()];
    let mut at = body + 1;
    while at < dom.end(body) {
        let is_widget =
            names[at as usize].hint == Hint::Widget && text(at) * 100 < text(body) * MAX_WIDGET_TEXT;
        let next = if is_widget { dom.end(at) } else { at + 1 };
        inside[at as usize..next as usize].fill(is_widget);
        at = next;
    }
    inside
}

/// Reads the words of a `class` or `id`.
fn words_of(value: &str) -> Words {
    let mut words = Words::default();
    hints::each_word(value, &mut |word| {
        words.groups |= group(word).map_or(0, |group| 1 << group);
        words.lists |= words::lists(word);
    });
    if value.split_ascii_whitespace().any(widgets::is_name) {
        words.lists |= words::IN_WIDGETS;
    }
    words
}

/// Returns what the names of an element with these words suggest.
fn read_words(dom: &Dom, id: NodeId, words: Words) -> NameHints {
    let Words { mut groups, lists } = words;
    if lists & words::IN_CONTENTS != 0 && hints::links_to_other_pages(dom, id) {
        groups |= LISTS_PAGES;
    }
    if dom.attr(id, attr::ITEMPROP).is_some() {
        groups |= 1 << (GROUPS - 1);
    }
    NameHints {
        hint: hints::hint(dom, id, lists),
        words: groups,
    }
}

/// Returns the group of a word, if it has one.
fn group(word: &str) -> Option<u32> {
    Some(match word {
        "title" | "headline" | "heading" | "subtitle" => 0,
        "content" | "body" | "text" | "entry" | "story" | "article" | "richtext" | "rte" | "prose"
        | "markdown" | "wysiwyg" | "copy" | "main" => 1,
        "desc" | "description" | "summary" | "excerpt" | "intro" | "lead" | "dek" | "overview"
        | "abstract" | "about" => 2,
        "price" | "prices" | "cart" | "buy" | "stock" | "shipping" | "checkout" | "variant" | "variants"
        | "quantity" | "sku" | "add" => 3,
        "product" | "products" => 4,
        "card" | "cards" | "tile" | "teaser" | "item" | "items" | "thumb" | "thumbnail" => 5,
        "post" | "posts" | "message" | "messages" | "thread" | "topic" | "reply" | "replies" | "answer"
        | "question" | "forum" => 6,
        "comment" | "comments" | "review" | "reviews" | "rating" | "ratings" | "testimonial"
        | "testimonials" | "stars" => 7,
        "author" | "user" | "username" | "avatar" | "byline" | "profile" | "member" | "bio" => 8,
        "date" | "time" | "timestamp" | "published" | "datetime" => 9,
        "meta" | "info" | "stats" | "count" | "details" | "badge" | "label" | "status" => 10,
        "hero" | "banner" | "jumbotron" | "masthead" => 11,
        "faq" | "faqs" | "accordion" | "collapse" | "tab" | "tabs" | "panel" | "toggle" => 12,
        "spec" | "specs" | "specification" | "specifications" | "feature" | "features" | "attributes" => 13,
        "gallery" | "image" | "images" | "img" | "photo" | "picture" | "carousel" | "slider" | "swiper"
        | "slide" | "slick" => 14,
        "btn" | "button" | "buttons" | "cta" | "action" | "actions" => 15,
        "list" | "listing" | "grid" | "results" | "result" | "collection" | "archive" | "feed" => 16,
        "caption" | "credit" | "figure" | "wp" => 17,
        "menu" | "nav" | "navigation" | "dropdown" | "submenu" | "navbar" | "breadcrumb" | "breadcrumbs" => {
            18
        }
        "footer" | "bottom" | "copyright" | "legal" => 19,
        "header" | "top" | "topbar" | "head" => 20,
        "side" | "sidebar" | "aside" | "rail" | "widget" | "secondary" | "right" | "left" | "column" => 21,
        "filter" | "filters" | "facet" | "facets" | "sort" | "sorting" | "search" | "refine" | "options"
        | "pagination" | "pager" => 22,
        "related" | "recommended" | "recommendations" | "similar" | "popular" | "trending" | "more"
        | "latest" | "recent" | "upsell" | "cross" => 23,
        "newsletter" | "subscribe" | "signup" | "promo" | "ad" | "ads" | "popup" | "modal" | "share"
        | "social" | "sponsor" | "sponsored" | "contact" | "form" => 24,
        _ => return None,
    })
}

/// Returns the word groups of an element and its nearest ancestors, 2, 5 and 10 elements in all.
pub(super) fn groups_around(dom: &Dom, names: &[NameHints], id: NodeId) -> [u32; 3] {
    let mut groups = [0; 3];
    for (distance, node) in dom.inclusive_ancestors(id).take(10).enumerate() {
        for (all, within) in groups.iter_mut().zip([2, 5, 10]) {
            *all |= if distance < within {
                names[node as usize].words
            } else {
                0
            };
        }
    }
    groups
}
