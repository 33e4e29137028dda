//! The kind of a page, from its URL and its metadata; decides how strictly it is pruned.

use url::Url;

use crate::html::dom::{Dom, NodeId, attr};
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

/// What makes a page one of a kind: its generator, its URL, and the types that it states. All in lower case but the
/// types.
struct Signs {
    types: &'static [&'static str],
    generators: &'static [&'static str],
    host_starts: &'static [&'static str],
    host_ends: &'static [&'static str],
    paths: &'static [&'static str],
}

const FORUM: Signs = Signs {
    types: &["DiscussionForumPosting", "QAPage"],
    generators: &[
        "phpbb", "vbulletin", "xenforo", "discourse", "mybb", "smf", "flarum", "nodebb", "invision",
    ],
    host_starts: &[
        "forum.", "forums.", "community.", "discuss.", "boards.", "discourse.", "talk.",
    ],
    host_ends: &[],
    paths: &[
        "/forum", "/threads/", "/thread/", "/topic/", "/viewtopic", "/showthread", "/questions/",
        "/discussions/", "/comments/",
    ],
};

const DOCUMENTATION: Signs = Signs {
    types: &["TechArticle", "APIReference"],
    generators: &[
        "antora", "asciidoctor", "crystal docs", "docbook", "docfx", "docusaurus", "docutils", "dokka",
        "doxygen", "exdoc", "gapdoc", "gi-docgen", "gitbook", "hugo docs", "javadoc", "latex2html",
        "linuxdoc", "makeinfo", "mdbook", "mkdocs", "odoc", "pdoc", "phpdocumentor", "publican", "rustdoc",
        "sphinx", "starlight", "texi2any", "texi2html", "typedoc", "vitepress", "vuepress",
    ],
    host_starts: &[
        "docs.", "doc.", "developer.", "developers.", "learn.", "wiki.", "api.", "help.", "support.",
    ],
    host_ends: &["wikipedia.org", "readthedocs.io"],
    paths: &[
        "/docs/", "/doc/", "/documentation", "/reference/", "/manual/", "/wiki/", "/guide/", "/guides/",
        "/tutorial", "/api/", "/handbook",
    ],
};

const PRODUCTS: &[&str] = &["Product", "ProductGroup"];
const LISTS: &[&str] = &["ItemList", "CollectionPage", "SearchResultsPage"];
/// Types of lists that may be of products.
const PRODUCT_LISTS: &[&str] = &["ItemList", "CollectionPage"];
const POSTS: &[&str] = &["NewsArticle", "BlogPosting", "Article"];
const REPORTS: &[&str] = &["ReportageNewsArticle", "OpinionNewsArticle", "Report"];

/// Maximum characters of one JSON-LD block that are read, and of all types together.
const MAX_BLOCK_CHARS: usize = 20_000;
const MAX_TYPES: usize = 100_000;

/// Detects the kind from URL, `og:type`, generator, JSON-LD types and `itemtype`.
pub(super) fn kind(dom: &Dom, url: &Url) -> PageKind {
    let page = KindMetadata::read(dom, url);
    if page.shows(&FORUM) {
        PageKind::Forum
    } else if page.shows(&DOCUMENTATION) {
        PageKind::Documentation
    } else if page.has_type(PRODUCTS) && !page.has_type(PRODUCT_LISTS) && !page.has_type(POSTS) {
        PageKind::Product
    } else if (page.has_type(PRODUCTS) || page.has_type(LISTS)) && !page.has_type(POSTS) {
        PageKind::Other
    } else if page.has_type(POSTS) || page.has_type(REPORTS) || page.is_og_article {
        PageKind::Article
    } else if is_technical(dom) {
        PageKind::Documentation
    } else {
        PageKind::Other
    }
}

/// The parts of URL and metadata that tell the kind of a page.
struct KindMetadata {
    host: String,
    path: String,
    /// All generators, in lower case.
    generators: String,
    /// JSON-LD without white space, and each `itemtype` as it would be stated there.
    types: String,
    is_og_article: bool,
}

impl KindMetadata {
    fn read(dom: &Dom, url: &Url) -> KindMetadata {
        let mut page = KindMetadata {
            host: url.host_str().unwrap_or("").to_ascii_lowercase(),
            path: url.path().to_ascii_lowercase(),
            generators: String::new(),
            types: String::new(),
            is_og_article: false,
        };
        for id in 0..dom.len() {
            match dom.tag(id) {
                Tag::Meta => page.read_meta(dom, id),
                Tag::Script if dom.attr(id, attr::TYPE).is_some_and(|t| t.contains("ld+json")) => {
                    let text = dom.below(id).next().map_or("", |text| dom.text(text));
                    let packed = text.chars().filter(|c| !c.is_whitespace());
                    page.types.extend(packed.take(MAX_BLOCK_CHARS));
                }
                _ => {
                    if let Some(name) = dom
                        .attr(id, attr::ITEMTYPE)
                        .and_then(|url| url.rsplit('/').next())
                    {
                        page.types.push_str(&format!("\"@type\":\"{name}\""));
                    }
                }
            }
            if page.types.len() > MAX_TYPES {
                break;
            }
        }
        page
    }

    fn read_meta(&mut self, dom: &Dom, id: NodeId) {
        let content = dom.attr(id, attr::CONTENT).unwrap_or("");
        if dom.attr(id, attr::PROPERTY) == Some("og:type") {
            self.is_og_article |= content.eq_ignore_ascii_case("article");
        }
        let name = dom.attr(id, attr::NAME);
        if name.is_some_and(|name| name.eq_ignore_ascii_case("generator")) {
            self.generators.push_str(&content.to_ascii_lowercase());
            self.generators.push(' ');
        }
    }

    fn has_type(&self, names: &[&str]) -> bool {
        names.iter().any(|name| {
            self.types.contains(&format!("\"@type\":\"{name}\""))
                || self.types.contains(&format!("\"@type\":[\"{name}\""))
        })
    }

    fn shows(&self, signs: &Signs) -> bool {
        self.has_type(signs.types)
            || signs.generators.iter().any(|name| self.generators.contains(name))
            || signs.paths.iter().any(|part| self.path.contains(part))
            || signs.host_starts.iter().any(|start| self.host.starts_with(start))
            || signs.host_ends.iter().any(|end| self.host.ends_with(end))
    }
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
