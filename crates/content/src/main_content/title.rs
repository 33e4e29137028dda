//! The heading that is the page's title: found where it stands outside the text, left out where an article's text begins
//! below it, since the metadata gives it. Never left out where little else is there, nor in manuals and lists.

use super::is_dropped;
use super::kind::Kind;
use super::mass::Mass;
use crate::html::dom::{Dom, NodeId, attr, collapse};
use crate::html::tag::Tag;

/// Bytes of unlinked text from which an article can do without the heading that repeats its title.
const UNTITLED_TEXT_BYTES: u32 = 200;
/// Signs between what a page is called and its site.
const SEPARATORS: [char; 12] = ['|', '-', '–', '—', '·', '•', ':', '«', '»', '/', '<', '>'];
/// Words in the title of a page of a manual.
const MANUAL: [&str; 7] = [
    "api",
    "docs",
    "documentation",
    "guide",
    "handbook",
    "manual",
    "reference",
];

/// The text of `title`, lower case.
pub(super) fn of_page(dom: &Dom) -> String {
    let title = (0..dom.len()).find(|&n| dom.tag(n) == Tag::Title);
    title.map(|n| of_heading(dom, n)).unwrap_or_default()
}

/// The text of a heading, lower case.
pub(super) fn of_heading(dom: &Dom, id: NodeId) -> String {
    collapse(&dom.text_of(id, 1000)).to_lowercase()
}

/// The first `h1` of an article when it says what `title` says, and the text can do without. An article here is what
/// stands in an `article` element, or what the page dates as one.
pub(super) fn repeated(dom: &Dom, root: NodeId, kind: Kind, mass: &Mass) -> Option<NodeId> {
    if kind != Kind::Other || !stands_alone(mass, root) {
        return None;
    }
    let is_article = |n: NodeId| dom.tag(n) == Tag::Article;
    if !std::iter::once(root).chain(dom.ancestors(root)).any(is_article) && !is_dated(dom) {
        return None;
    }
    let title = of_page(dom);
    if title
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| MANUAL.contains(&word))
    {
        return None;
    }
    (0..dom.len()).find(|&n| dom.tag(n) == Tag::H1 && is_name(&title, &of_heading(dom, n)))
}

/// True when the page says when it was published, as articles do.
fn is_dated(dom: &Dom) -> bool {
    let published = |n: NodeId| dom.attr(n, attr::PROPERTY) == Some("article:published_time");
    (0..dom.len()).any(|n| dom.tag(n) == Tag::Meta && published(n))
}

/// True for a heading that says only what site this is: it ends `title`, and another heading says what comes before.
pub(super) fn names_site(dom: &Dom, heading: NodeId) -> bool {
    let (title, text) = (of_page(dom), of_heading(dom, heading));
    let Some(own) = title.strip_suffix(&text).map(bare).filter(|own| !own.is_empty()) else {
        return false;
    };
    let is_heading = |n: NodeId| n != heading && dom.tag(n).heading_level().is_some();
    (0..dom.len()).any(|n| is_heading(n) && bare(&of_heading(dom, n)) == own)
}

/// A text without the signs at its end.
fn bare(text: &str) -> &str {
    text.trim_end_matches(|c: char| !c.is_alphanumeric())
}

/// True when a title is this text, with or without the site's name beside it.
fn is_name(title: &str, text: &str) -> bool {
    let text = bare(text);
    let parts = |rest: &str| rest.is_empty() || rest.trim_start().starts_with(SEPARATORS);
    let ends = |rest: &str| rest.is_empty() || rest.trim_end().ends_with(SEPARATORS);
    !text.is_empty()
        && (title.strip_prefix(text).is_some_and(parts) || title.strip_suffix(text).is_some_and(ends))
}

/// True for text enough to be read without a title.
fn stands_alone(mass: &Mass, root: NodeId) -> bool {
    let (text, linked) = (mass.text[root as usize], mass.linked[root as usize]);
    text.saturating_sub(linked) >= UNTITLED_TEXT_BYTES && linked <= text / 2
}

/// Leaves out the first `h1` of an article when the page's title has it and the text can do without.
pub(super) fn drop_repeated(dom: &Dom, root: NodeId, mass: &Mass, dropped: &mut [bool]) {
    if !stands_alone(mass, root) {
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

/// The page's title heading when it stands outside the root: the `h1` that the title repeats, else the first before it.
pub(super) fn outside(dom: &Dom, body: NodeId, root: NodeId, dropped: &[bool]) -> Option<NodeId> {
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
