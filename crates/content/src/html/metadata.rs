//! Metadata of a page: title, description, language, Open Graph and other `meta` values, favicon. Only reads
//! the arena; never invents a value.

use std::collections::BTreeMap;

use url::Url;

use super::dom::{Dom, NodeId, attr, collapse};
use super::json_ld;
use super::links::resolve;
use super::tag::Tag;
use crate::limits;

/// One value of a metadata key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataValue {
    /// A single value; several values of one name are joined with `, `.
    Text(String),
    /// Several values of a key that the API defines as a list.
    List(Vec<String>),
}

/// Metadata of a page. Absent values are `None` or missing keys, never empty strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageMetadata {
    /// The first `title` element.
    pub title: Option<String>,
    /// The first `meta[name=description]` with content.
    pub description: Option<String>,
    /// The `lang` of `html`.
    pub language: Option<String>,
    /// Every `og:locale:alternate`, in document order.
    pub og_locale_alternate: Vec<String>,
    /// All other values by key: the API's names for common ones, else the name in the page.
    pub other: BTreeMap<String, MetadataValue>,
}

/// Names in pages and the API's keys for them. The first non-empty value counts.
const RENAMED: &[(&str, &str)] = &[
    ("keywords", "keywords"),
    ("robots", "robots"),
    ("og:title", "ogTitle"),
    ("og:description", "ogDescription"),
    ("og:url", "ogUrl"),
    ("og:image", "ogImage"),
    ("og:audio", "ogAudio"),
    ("og:determiner", "ogDeterminer"),
    ("og:locale", "ogLocale"),
    ("og:site_name", "ogSiteName"),
    ("og:video", "ogVideo"),
    ("article:published_time", "publishedTime"),
    ("article:modified_time", "modifiedTime"),
    ("article:section", "articleSection"),
    ("dcterms.created", "dcTermsCreated"),
    ("dc.date.created", "dcDateCreated"),
    ("dc.date", "dcDate"),
    ("dcterms.type", "dcTermsType"),
    ("dc.type", "dcType"),
    ("dcterms.audience", "dcTermsAudience"),
    ("dcterms.subject", "dcTermsSubject"),
    ("dc.subject", "dcSubject"),
    ("dc.description", "dcDescription"),
    ("dcterms.keywords", "dcTermsKeywords"),
];

/// Keys that the server sets; a page cannot set them.
const RESERVED: &[&str] = &[
    "title", "description", "language", "ogLocaleAlternate", "articleTag", "favicon", "sourceURL", "url",
    "statusCode", "error", "concurrencyLimited", "concurrencyQueueDurationMs", "scrapeEngine",
    "scrapeEngineReason", "scrapeId", "contentType", "creditsUsed", "proxyUsed", "cacheState", "cachedAt",
    "numPages", "totalPages", "ocrPages", "consentBanner", "blockedRequests", "articleTitle",
    "publishedDate",
];

/// Reads the metadata of a page.
pub(crate) fn metadata(dom: &Dom, base: &Url) -> PageMetadata {
    let mut out = PageMetadata {
        title: title(dom),
        language: language(dom),
        ..PageMetadata::default()
    };
    let mut tags: Vec<String> = Vec::new();
    for id in dom.all(Tag::Meta) {
        let Some(content) = dom
            .attr(id, attr::CONTENT)
            .map(collapse)
            .filter(|c| !c.is_empty())
        else {
            continue;
        };
        if content.len() > limits::METADATA_VALUE_BYTES {
            continue;
        }
        let names = [dom.attr(id, attr::PROPERTY), dom.attr(id, attr::NAME)];
        let mut last = None;
        for name in names
            .into_iter()
            .flatten()
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            if last == Some(name) {
                continue;
            }
            last = Some(name);
            add_meta(&mut out, &mut tags, name, &content);
        }
    }
    match tags.len() {
        0 => {}
        1 => {
            out.other
                .insert("articleTag".to_owned(), MetadataValue::Text(tags.remove(0)));
        }
        _ => {
            out.other
                .insert("articleTag".to_owned(), MetadataValue::List(tags));
        }
    }
    add_article_metadata(&mut out, json_ld::article_metadata(dom));
    if let Some(favicon) = favicon(dom, base) {
        out.other
            .insert("favicon".to_owned(), MetadataValue::Text(favicon));
    }
    out
}

/// Stores one `meta` value under its key.
fn add_meta(out: &mut PageMetadata, tags: &mut Vec<String>, name: &str, content: &str) {
    let lower = name.to_ascii_lowercase();
    match lower.as_str() {
        "description" => {
            out.description.get_or_insert_with(|| content.to_owned());
            return;
        }
        "og:locale:alternate" => {
            if out.og_locale_alternate.len() < limits::METADATA_KEYS {
                out.og_locale_alternate.push(content.to_owned());
            }
            return;
        }
        "article:tag" => {
            if tags.len() < limits::METADATA_KEYS {
                tags.push(content.to_owned());
            }
            return;
        }
        _ => {}
    }
    let renamed = RENAMED.iter().find(|(from, _)| *from == lower).map(|(_, to)| *to);
    let key = renamed.unwrap_or(name);
    if renamed.is_none() && is_reserved(&lower) {
        return;
    }
    let has_room = out.other.len() < limits::METADATA_KEYS;
    match out.other.get_mut(key) {
        None if has_room => {
            out.other
                .insert(key.to_owned(), MetadataValue::Text(content.to_owned()));
        }
        Some(MetadataValue::Text(have))
            if renamed.is_none() && have.len() + content.len() < limits::METADATA_VALUE_BYTES =>
        {
            have.push_str(", ");
            have.push_str(content);
        }
        _ => {}
    }
}

/// Returns whether a name in lower case is a key of the API in another notation, such as `status_code`: clients that
/// convert keys to snake case would confuse the two.
fn is_reserved(lower: &str) -> bool {
    let plain = lower.replace(['_', '-'], "");
    let renamed = RENAMED.iter().map(|(_, to)| to);
    RESERVED
        .iter()
        .chain(renamed)
        .any(|key| key.eq_ignore_ascii_case(&plain))
}

/// Adds title, author and day of the article. An author from JSON-LD takes precedence over a `meta` value,
/// and that over one from the markup; a `meta` value that is a URL is not a name.
fn add_article_metadata(out: &mut PageMetadata, article: json_ld::ArticleMetadata) {
    let named =
        matches!(out.other.get("author"), Some(MetadataValue::Text(text)) if !text.starts_with("http"));
    let author = article
        .author
        .or(if named { None } else { article.markup_author });
    for (key, value) in [
        ("articleTitle", article.title),
        ("author", author),
        ("publishedDate", article.published),
    ] {
        if let Some(value) = value {
            out.other.insert(key.to_owned(), MetadataValue::Text(value));
        }
    }
}

fn title(dom: &Dom) -> Option<String> {
    let id = dom
        .all(Tag::Title)
        .find(|&id| !dom.ancestors(id).any(|a| dom.tag(a) == Tag::Svg))?;
    let text: String = dom.below(id).map(|n| dom.text(n)).collect();
    Some(collapse(&text)).filter(|title| !title.is_empty())
}

fn language(dom: &Dom) -> Option<String> {
    let html = dom.children(0).find(|&id| dom.tag(id) == Tag::Html)?;
    Some(dom.attr(html, attr::LANG)?.trim().to_owned()).filter(|lang| !lang.is_empty())
}

/// Returns the first `link` whose rel has the word `icon`, else the first with a word that contains it
/// (`apple-touch-icon`).
fn favicon(dom: &Dom, base: &Url) -> Option<String> {
    let links: Vec<(NodeId, String)> = dom
        .all(Tag::Link)
        .filter(|&id| {
            dom.attr(id, attr::HREF)
                .is_some_and(|href| !href.trim().is_empty())
        })
        .filter_map(|id| Some((id, dom.attr(id, attr::REL)?.to_ascii_lowercase())))
        .collect();
    let word = links
        .iter()
        .find(|(_, rel)| rel.split_ascii_whitespace().any(|word| word == "icon"));
    let inside = || {
        links.iter().find(|(_, rel)| {
            rel.split_ascii_whitespace()
                .any(|word| word.contains("icon") && word != "mask-icon")
        })
    };
    let (id, _) = word.or_else(inside)?;
    resolve(base, dom.attr(*id, attr::HREF)?).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    fn read(html: &str) -> PageMetadata {
        metadata(&parse(html), &Url::parse("https://site.test/a/b").unwrap())
    }

    fn text<'a>(meta: &'a PageMetadata, key: &str) -> Option<&'a str> {
        match meta.other.get(key)? {
            MetadataValue::Text(text) => Some(text),
            MetadataValue::List(_) => None,
        }
    }

    #[test]
    fn common_tags_get_the_api_names() {
        let meta = read(
            "<html lang=' de-AT '><title> A \n B </title><title>no</title><meta name=Description content=''>\
             <meta name=Description content='one'><meta name=description content='two'><meta property='og:title' content='T'>\
             <meta name='og:site_name' content='S'><meta property='og:locale:alternate' content='fr_FR'>\
             <meta property='og:locale:alternate' content='es_ES'><meta property='article:published_time' content='2024-01-02'>",
        );
        assert_eq!(meta.title.as_deref(), Some("A B"));
        assert_eq!(meta.description.as_deref(), Some("one"));
        assert_eq!(meta.language.as_deref(), Some("de-AT"));
        assert_eq!(meta.og_locale_alternate, ["fr_FR", "es_ES"]);
        assert_eq!(text(&meta, "ogTitle"), Some("T"));
        assert_eq!(text(&meta, "ogSiteName"), Some("S"));
        assert_eq!(text(&meta, "publishedTime"), Some("2024-01-02"));
        assert_eq!(text(&meta, "og:title"), None);
    }

    #[test]
    fn other_names_are_joined_and_cannot_override_server_keys() {
        let meta = read(
            "<meta name=author content=A><meta name=author content=B><meta name=statusCode content=1><meta name=ogTitle content=x>\
             <meta property='article:tag' content=t1>",
        );
        assert_eq!(text(&meta, "author"), Some("A, B"));
        assert_eq!(text(&meta, "articleTag"), Some("t1"));
        assert_eq!(meta.other.keys().collect::<Vec<_>>(), ["articleTag", "author"]);
        let meta = read("<meta property='article:tag' content=t1><meta property='article:tag' content=t2>");
        assert_eq!(
            meta.other["articleTag"],
            MetadataValue::List(vec!["t1".into(), "t2".into()])
        );
    }

    #[test]
    fn names_that_differ_from_server_keys_only_in_notation_are_dropped() {
        for name in [
            "num_pages", "status_code", "scrape-id", "og_locale_alternate", "proxy_used", "Title",
            "SOURCE_URL", "published_time", "og-title",
        ] {
            let meta = read(&format!("<meta name='{name}' content=x>"));
            assert!(meta.other.is_empty(), "{name}: {:?}", meta.other);
        }
        let meta =
            read("<meta name=status content=a><meta name=page_count content=b><meta name=ROBOTS content=c>");
        assert_eq!(
            meta.other.keys().collect::<Vec<_>>(),
            ["page_count", "robots", "status"]
        );
    }

    #[test]
    fn the_favicon_is_found_by_rel_word() {
        let of = |html: &str| text(&read(html), "favicon").map(str::to_owned);
        assert_eq!(
            of("<link rel=apple-touch-icon href=t.png><link rel='Shortcut ICON' href='/f.ico'>").as_deref(),
            Some("https://site.test/f.ico")
        );
        assert_eq!(
            of("<link rel=mask-icon href=m.svg><link rel=apple-touch-icon href=t.png>").as_deref(),
            Some("https://site.test/a/t.png")
        );
        assert_eq!(
            of("<link rel=stylesheet href=s.css><svg><title>x</title></svg>"),
            None
        );
    }
}
