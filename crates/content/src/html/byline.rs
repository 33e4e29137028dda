//! The author that the markup of a page names.

use super::dom::{Attribute, Dom, NodeId, attr, collapse};
use super::name_set::NameSet;
use super::tag::Tag;

/// Maximum number of nodes of a byline that are read.
const BYLINE_NODES: usize = 100;
/// Maximum number of words of a byline without links that is taken for a name.
const NAME_WORDS: usize = 5;

/// Classes of elements with the name of the author.
static AUTHOR_CLASSES: NameSet = NameSet::of(&[
    "author-name", "byline-name", "author__name", "byline__name", "p-author", "authorname", "article-author",
]);
/// Classes of elements with the name of the author of a post.
static POSTER_CLASSES: NameSet = NameSet::of(&["username", "bigusername", "PostUser-name"]);

/// Returns the first author marked up with `rel=author`, `itemprop=author` or a known class; else the author of the
/// first post, the first link to the page of an author, or the name in the first byline.
pub(super) fn author(dom: &Dom) -> Option<String> {
    let has = |attribute: &Attribute, is_known: fn(&str) -> bool| {
        dom.value(attribute).split_ascii_whitespace().any(is_known)
    };
    let marked = dom.with_attribute(|attribute| match attribute.name {
        attr::REL => has(attribute, |word| word == "author"),
        attr::ITEMPROP => dom.value(attribute) == "author",
        attr::CLASS => has(attribute, |class| AUTHOR_CLASSES.contains(class)),
        _ => false,
    });
    let posted = dom.with_attribute(|attribute| {
        attribute.name == attr::CLASS && has(attribute, |class| POSTER_CLASSES.contains(class))
    });
    let has_author_links = memchr::memmem::find(dom.text.as_bytes(), b"/author").is_some();
    let linked = dom.with_attribute(move |attribute| {
        let path = dom.value(attribute);
        let is_link = has_author_links && attribute.name == attr::HREF;
        is_link && (path.contains("/author/") || path.contains("/authors/"))
    });
    let bylines =
        dom.with_attribute(|attribute| attribute.name == attr::CLASS && names_author(dom.value(attribute)));
    marked
        .chain(posted)
        .chain(linked)
        .filter(|&id| !matches!(dom.tag(id), Tag::Meta | Tag::Link))
        .find_map(|id| name_in(dom, id))
        .or_else(|| bylines.filter_map(|id| name_in_byline(dom, id)).next())
}

/// Returns true for a `class` such as `article-byline` or `PostAuthor`.
fn names_author(class: &str) -> bool {
    let class = class.to_ascii_lowercase();
    class.contains("byline") || class.contains("author") && !class.contains("authori")
}

/// Returns the text of the first link with a text, or all of a text that is as short as a name.
fn name_in_byline(dom: &Dom, byline: NodeId) -> Option<String> {
    let mut links = dom
        .below(byline)
        .take(BYLINE_NODES)
        .filter(|&link| dom.tag(link) == Tag::A);
    let is_name =
        |text: &String| text.split(' ').count() <= NAME_WORDS && !text.contains(|c: char| c.is_ascii_digit());
    links
        .find_map(|link| name_in(dom, link))
        .or_else(|| name_in(dom, byline).filter(is_name))
}

/// Returns the name in an element: what is marked up as the name, or else its text.
fn name_in(dom: &Dom, id: NodeId) -> Option<String> {
    let is_name = |&part: &NodeId| dom.attr(part, attr::ITEMPROP) == Some("name");
    let part = dom.below(id).take(BYLINE_NODES).find(is_name);
    let stated = part.and_then(|part| dom.attr(part, attr::CONTENT));
    let text = stated.map_or_else(|| dom.text_of(part.unwrap_or(id), 200), str::to_owned);
    let text = collapse(&text);
    let text = text
        .strip_prefix("By ")
        .or_else(|| text.strip_prefix("by "))
        .unwrap_or(&text)
        .trim();
    let is_label = text.starts_with('@') || text.eq_ignore_ascii_case("username");
    (text.len() > 2 && text.len() < 80 && !is_label).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    #[test]
    fn the_author_is_found_in_the_markup() {
        for (html, name) in [
            ("<a rel=author>By Ann Bee</a>", "Ann Bee"),
            (
                "<div itemprop=author><img><meta itemprop=name content='Ann Bee'>A</div>",
                "Ann Bee",
            ),
            (
                "<div itemprop=author><a>Ann <b>B</b></a><span itemprop=name>Ann Bee</span> 12 badges</div>",
                "Ann Bee",
            ),
            (
                "<span class=username>Username</span><p class=author><a class=username>ann</a>",
                "ann",
            ),
            (
                "<div class=Site-authors>All <b>2</b></div><a href=/authors/ann>Ann Bee</a>",
                "Ann Bee",
            ),
            (
                "<p class=article-byline><a><img></a> By <a href=/ann>Ann Bee</a>, May 5, 2010",
                "Ann Bee",
            ),
            ("<p class=PostByline>by Ann Bee</p>", "Ann Bee"),
        ] {
            assert_eq!(author(&parse(html)).as_deref(), Some(name), "{html}");
        }
        for html in [
            "<p class=authorization>Ann Bee",
            "<p class=byline>Long ago, on May 5, 2010",
            "<a href=/author/x>@</a>",
        ] {
            assert_eq!(author(&parse(html)), None, "{html}");
        }
    }
}
