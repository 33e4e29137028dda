//! Hints from the names that authors give to elements: words of `class`, `id`, `role` and the element name.
//! Names only hint; how much text an element holds decides whether a hint is followed.

use std::borrow::Cow;

use super::{widgets, words};
use crate::html::dom::{Dom, NodeId, attr};
use crate::html::tag::Tag;

/// Characters of the hash in a class name of CSS modules.
const HASH_CHARS: usize = 5;
/// Nodes of a table of contents that are read.
const CONTENTS_NODES: usize = 1000;
/// Words that name parts of a site, but also subjects of documentation.
const TECHNICAL_LISTS: u16 = words::IN_CONSENT | words::IN_BOILERPLATE;
/// Nodes at the start of an element that are searched for its heading, and bytes of it that are read.
const HEADING_NODES: usize = 16;
const MAX_HEADING_BYTES: usize = 400;

/// What the names of an element suggest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// No hint.
    None,
    /// Boilerplate, unless it holds much of the page's text.
    Boilerplate,
    /// Boilerplate when it is very short or mostly links.
    Ambiguous,
    /// A form: boilerplate when it holds little text.
    Form,
    /// A consent dialog.
    Consent,
    /// Customer reviews: not content of a product page.
    Reviews,
    /// Reader comments: content of a forum, not of other pages.
    Comments,
    /// About the author: not content, except in a forum.
    Byline,
    /// Not visible to readers.
    Hidden,
    /// Known not to be content.
    Widget,
}

/// Returns the hint of an element whose names have words of these lists.
pub(super) fn hint(dom: &Dom, id: NodeId, mut lists: u16) -> Hint {
    let tag = dom.tag(id);
    if matches!(
        tag,
        Tag::Text | Tag::Html | Tag::Body | Tag::Main | Tag::Pre | Tag::Code
    ) {
        return Hint::None;
    }
    let is_named = lists & TECHNICAL_LISTS != 0;
    if is_named && (is_link_target(dom, id) || dom.classes(id).any(is_section)) {
        lists = lists_of(dom.attr(id, attr::CLASS).unwrap_or_default());
    }
    let is = |list: u16| lists & list != 0;
    if is(words::IN_CONSENT) && (tag.is_block() || tag == Tag::Other) && tag.heading_level().is_none() {
        return Hint::Consent;
    }
    if is(words::IN_WIDGETS) && widgets::is_widget(dom, id) {
        return Hint::Widget;
    }
    if is_hidden(dom, id) && !is(words::IN_COLLAPSED) {
        return Hint::Hidden;
    }
    match tag {
        Tag::Nav | Tag::Footer | Tag::Dialog | Tag::Search | Tag::Fieldset => return Hint::Boilerplate,
        Tag::Form => return Hint::Form,
        Tag::Aside => {
            return if is(words::IN_CALLOUT) {
                Hint::None
            } else {
                Hint::Boilerplate
            };
        }
        Tag::Header => return Hint::Ambiguous,
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
    if is(words::IN_CALLOUT) && !is(words::IN_NOT_CALLOUT) {
        return Hint::None;
    }
    if dom.classes(id).any(|class| {
        matches!(
            class,
            "sr-only" | "visually-hidden" | "screen-reader-text" | "visuallyhidden" | "screen-reader-only"
        )
    }) {
        return Hint::Ambiguous;
    }
    if is(words::IN_SEARCH) && is(words::IN_RESULTS) {
        return Hint::None;
    }
    if is(words::IN_BOILERPLATE) || (is(words::IN_CONTENTS) && !links_to_other_pages(dom, id)) {
        return if matches!(tag, Tag::Span | Tag::A) {
            Hint::Ambiguous
        } else {
            Hint::Boilerplate
        };
    }
    if matches!(tag, Tag::Span | Tag::A) {
        return Hint::None;
    }
    if is(words::IN_REVIEWS) {
        Hint::Reviews
    } else if is(words::IN_COMMENTS) {
        Hint::Comments
    } else if is(words::IN_BYLINE) {
        Hint::Byline
    } else if is(words::IN_AMBIGUOUS) {
        Hint::Ambiguous
    } else {
        Hint::None
    }
}

/// Returns true when most links of an element lead to other pages. A table of contents of the page's own sections only
/// repeats their headings.
pub(super) fn links_to_other_pages(dom: &Dom, id: NodeId) -> bool {
    let links = dom
        .below(id)
        .take(CONTENTS_NODES)
        .filter(|&n| dom.tag(n) == Tag::A);
    let hrefs: Vec<&str> = links.filter_map(|n| dom.attr(n, attr::HREF)).collect();
    let own = hrefs
        .iter()
        .filter(|href| href.trim_start().starts_with('#'))
        .count();
    hrefs.len() > own * 2
}

/// Returns true for what a browser does not show: `hidden`, `display: none`, `aria-hidden`, modal dialogs.
fn is_hidden(dom: &Dom, id: NodeId) -> bool {
    let (mut hidden, mut comes_later) = (false, false);
    for attribute in dom.attributes(id) {
        let value = dom.value(attribute);
        match attribute.name {
            // Streamed pages arrive in hidden parts (`S:0`) that a script moves into place.
            attr::ID => comes_later |= value.starts_with("S:"),
            attr::ROLE => comes_later |= value == "tabpanel",
            attr::HIDDEN => hidden |= value != "until-found",
            attr::ARIA_MODAL => hidden |= value == "true",
            attr::ARIA_HIDDEN => hidden |= value.trim() == "true" && dom.tag(id) != Tag::Img,
            attr::STYLE => hidden |= hides(value),
            _ => {}
        }
    }
    hidden && !comes_later
}

/// Returns true for the value of a `style` attribute that hides its element.
fn hides(style: &str) -> bool {
    let style: String = style.chars().filter(|c| !c.is_whitespace()).take(400).collect();
    let style = style.to_ascii_lowercase();
    style.contains("display:none") || style.contains("visibility:hidden")
}

/// Returns the lists that contain a word of this `class` or `id`.
pub(super) fn lists_of(value: &str) -> u16 {
    let mut lists = 0;
    each_word(value, &mut |word| lists |= words::lists(word));
    lists
}

/// Returns true for a section or definition whose subject has such a name, for example cookies, pagination or modal
/// dialogs: its `id` is the target of links, and its heading has the same words.
fn is_link_target(dom: &Dom, id: NodeId) -> bool {
    let mut words: Vec<String> = Vec::new();
    each_word(dom.attr(id, attr::ID).unwrap_or_default(), &mut |word| {
        if words::lists(word) & TECHNICAL_LISTS != 0 {
            words.push(word.to_owned());
        }
    });
    if words.is_empty() {
        return false;
    }
    if matches!(
        dom.tag(id),
        Tag::Dt | Tag::Dd | Tag::Dl | Tag::Li | Tag::Tr | Tag::Td
    ) {
        return true;
    }
    let is_heading = |&at: &NodeId| dom.tag(at).heading_level().is_some();
    dom.below(id)
        .take(HEADING_NODES)
        .find(is_heading)
        .is_some_and(|heading| {
            let text = dom.text_of(heading, MAX_HEADING_BYTES).to_lowercase();
            let has = |word: &String| {
                text.split(|c: char| !c.is_alphanumeric())
                    .any(|part| part == word)
            };
            words.iter().all(has) && !is_link_block_title(&text)
        })
}

/// Returns true for the names of a sidebar and of no other boilerplate.
pub(super) fn is_only_sidebar(names: &[String]) -> bool {
    let is_sidebar = |name: &&String| name.starts_with("sidebar");
    names.iter().any(|name| is_sidebar(&name))
        && lists_of_others(names, is_sidebar) & (words::IN_BOILERPLATE | words::IN_CONSENT) == 0
}

/// Returns true for the names of a list of comments, rather than of one comment.
pub(super) fn is_comment_list(names: &[String]) -> bool {
    lists_of_others(names, |name| *name == "comment") & words::IN_COMMENTS != 0
}

/// Returns the lists of the names other than these.
fn lists_of_others(names: &[String], is_left_out: impl Fn(&&String) -> bool) -> u16 {
    let others = names.iter().filter(|name| !is_left_out(name));
    others.fold(0, |all, word| all | words::lists(word))
}

/// Returns true for classes with which DocBook, Asciidoctor and pandoc mark a section of a text, such as `sect2`. The `id`
/// of a section is the target of links.
pub(super) fn is_section(class: &str) -> bool {
    matches!(
        class.trim_end_matches(|c: char| c.is_ascii_digit()),
        "appendix" | "chapter" | "level" | "preface" | "refsect" | "sect"
    )
}

/// Returns the words of the `class` and the `id` of an element.
pub(super) fn words(dom: &Dom, id: NodeId) -> Vec<String> {
    let mut words = Vec::new();
    for name in [attr::CLASS, attr::ID] {
        each_word(dom.attr(id, name).unwrap_or_default(), &mut |word| {
            words.push(word.to_owned())
        });
    }
    words
}

/// Splits a `class` or `id` into lower-case words, at separators and where a capital follows a small letter. Names
/// without separators stay whole.
pub(super) fn each_word(value: &str, found: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut end = |word: &mut String| {
        if !word.is_empty() {
            found(word);
            word.clear();
        }
    };
    for token in value.split_ascii_whitespace().take(24) {
        // CSS frameworks encode rules in class names (`md:hidden`, `[&_nav]:x`); those are not names.
        if token.len() > 60 || token.contains([':', '[', '/', '&', '=']) {
            continue;
        }
        let mut small = false;
        for c in without_hash(token).chars() {
            if !c.is_ascii_alphanumeric() || (small && c.is_ascii_uppercase()) {
                end(&mut word);
            }
            if c.is_ascii_alphanumeric() {
                word.push(c.to_ascii_lowercase());
            }
            small = c.is_ascii_lowercase();
        }
        end(&mut word);
    }
}

/// Returns a class name without the hash that CSS modules append (`table_root__adKqa`), whose letters are not words.
fn without_hash(token: &str) -> &str {
    let is_hash = |tail: &str| tail.len() == HASH_CHARS && !tail.bytes().all(|b| b.is_ascii_lowercase());
    match token.rsplit_once("__") {
        Some((name, tail)) if is_hash(tail) => name,
        _ => token,
    }
}

/// Returns true when a short text is the heading of a block that leads to other pages.
pub(super) fn is_link_block_title(text: &str) -> bool {
    let text = text
        .trim()
        .trim_end_matches([':', '…', '.', '»', '›', '→', '!', '?'])
        .trim();
    if text.len() > 60 {
        return false;
    }
    let lower = lower_case(text);
    words::is_link_block_title(&lower)
        || [
            "related ", "more from ", "more in ", "more on ", "more about ", "recommended ", "most popular",
            "popular in ", "you may also", "you might also", "latest from ",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// Returns true when the whole text of a block is a control or a label, not content.
pub(super) fn is_control_text(text: &str) -> bool {
    let text = text.trim().trim_end_matches([':', '…', '»', '›', '→']).trim();
    text.len() <= 48 && words::is_control_text(&lower_case(text))
}

/// Returns a text in lower case, with straight apostrophes.
fn lower_case(text: &str) -> Cow<'_, str> {
    match text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.to_lowercase().replace('’', "'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_css_modules_are_not_words() {
        for (class, expected) in [
            ("table_root__adKqa", &["table", "root"][..]),
            ("card__title", &["card", "title"]),
            ("side__navBar", &["side", "nav", "bar"]),
            ("mainText__2-ads other", &["main", "text", "other"]),
        ] {
            let mut words = Vec::new();
            each_word(class, &mut |word| words.push(word.to_owned()));
            assert_eq!(words, expected, "{class}");
        }
    }
}
