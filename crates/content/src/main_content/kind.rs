//! The kind of a page, from its URL and its metadata; decides how strictly it is pruned.

use url::Url;

use crate::html::dom::{Dom, attr};
use crate::html::tag::Tag;

/// Kinds of pages that are pruned differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    /// A single text, such as a news story or a post.
    Article,
    /// Reference or guide: lists of links are content.
    Documentation,
    /// A discussion: posts are content.
    Forum,
    /// A product for sale: its description is content, customer reviews are not.
    Product,
    /// Anything else, such as lists and start pages.
    Other,
}

/// Detects the kind from URL, `og:type`, generator, JSON-LD types and `itemtype`.
pub(super) fn kind(dom: &Dom, url: &Url) -> PageKind {
    let host = url.host_str().unwrap_or("").to_ascii_lowercase();
    let path = url.path().to_ascii_lowercase();
    let (mut og_article, mut generator, mut types) = (false, String::new(), String::new());
    for id in 0..dom.len() {
        match dom.tag(id) {
            Tag::Meta => {
                let content = dom.attr(id, attr::CONTENT).unwrap_or("");
                if dom.attr(id, attr::PROPERTY).is_some_and(|p| p == "og:type") {
                    og_article |= content.eq_ignore_ascii_case("article");
                }
                if dom
                    .attr(id, attr::NAME)
                    .is_some_and(|n| n.eq_ignore_ascii_case("generator"))
                {
                    generator.push_str(&content.to_ascii_lowercase());
                    generator.push(' ');
                }
            }
            Tag::Script if dom.attr(id, attr::TYPE).is_some_and(|t| t.contains("ld+json")) => {
                let text = dom.below(id).next().map_or("", |text| dom.text(text));
                types.extend(text.chars().filter(|c| !c.is_whitespace()).take(20_000));
            }
            _ if dom.attr(id, attr::ITEMTYPE).is_some() => {
                types.push_str(&format!(
                    "\"@type\":\"{}\"",
                    dom.attr(id, attr::ITEMTYPE)
                        .unwrap_or("")
                        .rsplit('/')
                        .next()
                        .unwrap_or("")
                ));
            }
            _ => {}
        }
        if types.len() > 100_000 {
            break;
        }
    }
    let has_type = |names: &[&str]| {
        names.iter().any(|name| {
            types.contains(&format!("\"@type\":\"{name}\""))
                || types.contains(&format!("\"@type\":[\"{name}\""))
        })
    };
    let in_path = |words: &[&str]| words.iter().any(|word| path.contains(word));
    let forum_generators = [
        "phpbb",
        "vbulletin",
        "xenforo",
        "discourse",
        "mybb",
        "smf",
        "flarum",
        "nodebb",
        "invision",
    ];
    if has_type(&["DiscussionForumPosting", "QAPage"])
        || forum_generators.iter().any(|name| generator.contains(name))
        || in_path(&[
            "/forum",
            "/threads/",
            "/thread/",
            "/topic/",
            "/viewtopic",
            "/showthread",
            "/questions/",
            "/discussions/",
            "/comments/",
        ])
        || [
            "forum.",
            "forums.",
            "community.",
            "discuss.",
            "boards.",
            "discourse.",
            "talk.",
        ]
        .iter()
        .any(|start| host.starts_with(start))
    {
        return PageKind::Forum;
    }
    let doc_generators = [
        "antora",
        "asciidoctor",
        "crystal docs",
        "docbook",
        "docfx",
        "docusaurus",
        "docutils",
        "dokka",
        "doxygen",
        "exdoc",
        "gapdoc",
        "gi-docgen",
        "gitbook",
        "hugo docs",
        "javadoc",
        "latex2html",
        "linuxdoc",
        "makeinfo",
        "mdbook",
        "mkdocs",
        "odoc",
        "pdoc",
        "phpdocumentor",
        "publican",
        "rustdoc",
        "sphinx",
        "starlight",
        "texi2any",
        "texi2html",
        "typedoc",
        "vitepress",
        "vuepress",
    ];
    if has_type(&["TechArticle", "APIReference"])
        || doc_generators.iter().any(|name| generator.contains(name))
        || [
            "docs.",
            "doc.",
            "developer.",
            "developers.",
            "learn.",
            "wiki.",
            "api.",
            "help.",
            "support.",
        ]
        .iter()
        .any(|start| host.starts_with(start))
        || in_path(&[
            "/docs/",
            "/doc/",
            "/documentation",
            "/reference/",
            "/manual/",
            "/wiki/",
            "/guide/",
            "/guides/",
            "/tutorial",
            "/api/",
            "/handbook",
        ])
        || host.ends_with("wikipedia.org")
        || host.ends_with("readthedocs.io")
    {
        return PageKind::Documentation;
    }
    if has_type(&["Product", "ProductGroup"])
        && !has_type(&[
            "ItemList",
            "CollectionPage",
            "NewsArticle",
            "BlogPosting",
            "Article",
        ])
    {
        return PageKind::Product;
    }
    if has_type(&[
        "Product",
        "ItemList",
        "CollectionPage",
        "ProductGroup",
        "SearchResultsPage",
    ]) && !has_type(&["NewsArticle", "BlogPosting", "Article"])
    {
        return PageKind::Other;
    }
    if has_type(&[
        "NewsArticle",
        "BlogPosting",
        "Article",
        "ReportageNewsArticle",
        "OpinionNewsArticle",
        "Report",
    ]) || og_article
    {
        return PageKind::Article;
    }
    if is_technical(dom) {
        return PageKind::Documentation;
    }
    PageKind::Other
}

/// Minimum elements of code on a page that is a reference, and of places that links can lead to.
const MIN_CODE: usize = 10;
const MIN_PLACES: usize = 5;

/// Returns true for a page about code, with many places that links can lead to, which is not a post.
fn is_technical(dom: &Dom) -> bool {
    let (mut code, mut places) = (0, 0);
    for id in 0..dom.len() {
        match dom.tag(id) {
            Tag::Article | Tag::Time => return false,
            Tag::Pre | Tag::Code | Tag::Tt | Tag::Kbd | Tag::Samp | Tag::Var => code += 1,
            Tag::A if dom.attr(id, attr::NAME).is_some() => places += 1,
            Tag::Dt if dom.attr(id, attr::ID).is_some() => places += 1,
            tag if tag.heading_level().is_some() => {
                let is_place = [id, dom.parent(id)]
                    .iter()
                    .any(|&id| dom.attr(id, attr::ID).is_some());
                places += usize::from(is_place);
            }
            _ => {}
        }
    }
    code >= MIN_CODE && places >= MIN_PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    #[test]
    fn generators_and_code_say_that_a_page_is_documentation() {
        let members = "<h3 id=sail>sail</h3><p><code>sail()</code> <var>wind</var>".repeat(5);
        let dated = format!("<time>Monday</time>{members}");
        for (html, is_documentation) in [
            ("<meta name=Generator content=makeinfo>", true),
            ("<meta name=generator content='Docutils 0.19'>", true),
            ("<meta name=generator content='WordPress 6.4'>", false),
            (members.as_str(), true),
            (dated.as_str(), false),
            ("<h2 id=a>A</h2><p><code>sail()</code>", false),
        ] {
            let url = Url::parse("https://example.org/ships").unwrap();
            let found = kind(&parse(html), &url) == PageKind::Documentation;
            assert_eq!(found, is_documentation, "{html}");
        }
    }
}
