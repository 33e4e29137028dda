//! Finds the heading that is the page's title, even outside the content. Drops it if an article's text
//! follows, because the metadata has it. Never drops it if there is little else, or in documentation and
//! lists.

use super::kind::PageKind;
use super::weights::TextWeights;
use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::tag::Tag;

/// Minimum bytes of unlinked text for an article to do without the heading that repeats its title.
const UNTITLED_TEXT_BYTES: u32 = 200;
/// Bytes of a block's text that are compared with titles and lists of words.
const START_BYTES: usize = 400;
/// Separators between the name of a page and the name of its site.
const SEPARATORS: [char; 12] = ['|', '-', '–', '—', '·', '•', ':', '«', '»', '/', '<', '>'];
/// Words in titles of documentation pages.
const MANUAL: [&str; 7] = [
    "api", "docs", "documentation", "guide", "handbook", "manual", "reference",
];

/// Returns the text of `title` in lower case.
pub(super) fn of_page(dom: &Dom) -> String {
    let title = dom.all(Tag::Title).next();
    title.map(|n| of_heading(dom, n)).unwrap_or_default()
}

/// Returns the text of a heading in lower case.
pub(super) fn of_heading(dom: &Dom, id: NodeId) -> String {
    lower_case(collapse(&dom.text_of(id, 1000)))
}

/// Returns the start of a block's text in lower case.
pub(super) fn start_of(dom: &Dom, id: NodeId) -> String {
    lower_case(collapse(&dom.text_of(id, START_BYTES)))
}

fn lower_case(mut text: String) -> String {
    match text.is_ascii() {
        true => text.make_ascii_lowercase(),
        false => text = text.to_lowercase(),
    }
    text
}

/// Returns the first `h1` of an article when it repeats `title` and the text is long enough without it. An
/// article is an `article` element, or a page with a publication date.
pub(super) fn repeated_title(
    dom: &Dom,
    root: NodeId,
    kind: PageKind,
    weights: &TextWeights,
) -> Option<NodeId> {
    if kind != PageKind::Other || !is_long_enough(weights, root) {
        return None;
    }
    let is_article = |n: NodeId| dom.tag(n) == Tag::Article;
    if !dom.inclusive_ancestors(root).any(is_article) && !is_dated(dom) {
        return None;
    }
    let title = of_page(dom);
    if title
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| MANUAL.contains(&word))
    {
        return None;
    }
    dom.all(Tag::H1).find(|&n| is_name(&title, &of_heading(dom, n)))
}

/// Returns true when the page states a publication date, as articles do.
fn is_dated(dom: &Dom) -> bool {
    let published = |n: NodeId| dom.attr(n, attr::PROPERTY) == Some("article:published_time");
    dom.all(Tag::Meta).any(published)
}

/// Returns true for a heading that only names the site: `title` ends with it, and another heading has the
/// rest of `title`.
pub(super) fn names_site(dom: &Dom, heading: NodeId) -> bool {
    let (title, text) = (of_page(dom), of_heading(dom, heading));
    let Some(own) = title.strip_suffix(&text).map(bare).filter(|own| !own.is_empty()) else {
        return false;
    };
    let is_heading = |n: NodeId| n != heading && dom.tag(n).heading_level().is_some();
    (0..dom.len()).any(|n| is_heading(n) && bare(&of_heading(dom, n)) == own)
}

/// Returns a text without punctuation at its end.
fn bare(text: &str) -> &str {
    text.trim_end_matches(|c: char| !c.is_alphanumeric())
}

/// Returns true when a title is this text, with or without the site name next to it.
fn is_name(title: &str, text: &str) -> bool {
    let text = bare(text);
    let parts = |rest: &str| rest.is_empty() || rest.trim_start().starts_with(SEPARATORS);
    let ends = |rest: &str| rest.is_empty() || rest.trim_end().ends_with(SEPARATORS);
    !text.is_empty()
        && (title.strip_prefix(text).is_some_and(parts) || title.strip_suffix(text).is_some_and(ends))
}

/// Returns true for a text long enough to be read without a title.
fn is_long_enough(weights: &TextWeights, root: NodeId) -> bool {
    let (text, linked) = (weights.text[root as usize], weights.linked[root as usize]);
    text.saturating_sub(linked) >= UNTITLED_TEXT_BYTES && linked <= text / 2
}

/// Drops the first `h1` of an article when the page's title contains it and the text is long enough without
/// it.
pub(super) fn drop_repeated(dom: &Dom, root: NodeId, weights: &TextWeights, dropped: &mut [bool]) {
    if !is_long_enough(weights, root) {
        return;
    }
    let title = of_page(dom);
    let heading = dom
        .below(root)
        .find(|&n| dom.tag(n) == Tag::H1 && !is_dropped(dom, root, n, dropped));
    if let Some(heading) = heading.filter(|&n| is_in(&title, &of_heading(dom, n))) {
        dropped[heading as usize] = true;
    }
}

/// Returns the title heading when it is outside the root: the `h1` that the page's title contains, else the
/// first before the root.
pub(super) fn title_outside(dom: &Dom, body: NodeId, root: NodeId, dropped: &[bool]) -> Option<NodeId> {
    let is_inside = |n: NodeId| n >= root && n < dom.end(root) && !is_dropped(dom, root, n, dropped);
    let headings: Vec<NodeId> = dom
        .below(body)
        .filter(|&n| dom.tag(n) == Tag::H1)
        .take(50)
        .collect();
    if headings.iter().any(|&n| is_inside(n)) {
        return None;
    }
    let title = of_page(dom);
    let text = |n: NodeId| of_heading(dom, n);
    let repeated = headings.iter().copied().find(|&n| is_in(&title, &text(n)));
    repeated.or_else(|| {
        headings
            .iter()
            .copied()
            .find(|&n| n < root && text(n).len() > 3 && !dom.ancestors(n).any(|a| dom.tag(a) == Tag::Nav))
    })
}

fn is_in(title: &str, text: &str) -> bool {
    text.len() > 3 && title.contains(text)
}

fn is_dropped(dom: &Dom, root: NodeId, id: NodeId, dropped: &[bool]) -> bool {
    let mut at = id;
    while at != root && at != 0 {
        if dropped[at as usize] {
            return true;
        }
        at = dom.parent(at);
    }
    false
}
