//! Title, author and date of an article, from JSON-LD, `meta` and the markup, in this order of precedence.
//! Reads what the page states; guesses nothing from prose.

use serde_json::Value;

use super::byline;
use super::dom::{Dom, NodeId, attr, collapse};
use super::name_set::NameSet;
use super::page_title::{TitleMetadata, heading_text, page_title};
use super::tag::Tag;
use crate::limits;

/// Types that describe the article.
const TEXT_TYPES: &[&str] = &[
    "Article", "NewsArticle", "BlogPosting", "TechArticle", "Report", "ScholarlyArticle",
    "ReportageNewsArticle", "OpinionNewsArticle", "AnalysisNewsArticle", "ReviewNewsArticle",
    "LiveBlogPosting", "Review", "Recipe", "HowTo", "DiscussionForumPosting", "MedicalWebPage",
    "SocialMediaPosting", "QAPage", "Question",
];
/// Types that describe the page, used when there is no article type.
const PAGE_TYPES: &[&str] = &[
    "WebPage", "CollectionPage", "AboutPage", "ItemPage", "Product", "ProfilePage", "FAQPage", "VideoObject",
];

/// Title, author and date of an article.
#[derive(Debug, Default)]
pub(crate) struct ArticleMetadata {
    pub(crate) title: Option<String>,
    /// From JSON-LD.
    pub(crate) author: Option<String>,
    /// From the markup, for pages without JSON-LD author.
    pub(crate) markup_author: Option<String>,
    /// A day as `2024-01-31`.
    pub(crate) published: Option<String>,
}

/// Reads title, author and date.
pub(crate) fn article_metadata(dom: &Dom) -> ArticleMetadata {
    let mut out = ArticleMetadata::default();
    let mut page = ArticleMetadata::default();
    for block in blocks(dom) {
        let Ok(value) = serde_json::from_str::<Value>(&block) else {
            continue;
        };
        let objects = objects(&value);
        for object in &objects {
            if is_type(object, TEXT_TYPES) {
                fill(&mut out, object, &objects);
            } else if is_type(object, PAGE_TYPES) {
                fill(&mut page, object, &objects);
            }
        }
    }
    let meta = |names: &[&str]| {
        names.iter().find_map(|name| {
            dom.all(Tag::Meta).find_map(|id| {
                let matches = [attr::PROPERTY, attr::NAME, attr::ITEMPROP]
                    .into_iter()
                    .filter_map(|key| dom.attr(id, key))
                    .any(|have| have.trim().eq_ignore_ascii_case(name));
                matches
                    .then(|| dom.attr(id, attr::CONTENT))
                    .flatten()
                    .map(collapse)
                    .filter(|text| !text.is_empty())
            })
        })
    };
    out.title = page_title(
        dom,
        TitleMetadata {
            is_article: out.title.is_some() || meta(&["og:type"]).as_deref() == Some("article"),
            headline: out.title,
            shared: meta(&["og:title"]),
            site: meta(&["og:site_name"]),
        },
    );
    if out.author.is_none() {
        out.markup_author = meta(&[
            "author", "article:author", "dc.creator", "parsely-author", "sailthru.author", "byl",
            "citation_author", "twitter:creator_name",
        ])
        .filter(|text| !text.starts_with("http") && !text.starts_with('@'))
        .or_else(|| byline::author(dom))
        .or(page.author);
    }
    out.published = meta(&["article:published_time"])
        .filter(|text| parse_day(text).is_some())
        .or(out.published);
    if out.published.is_none() {
        out.published = meta(&[
            "article:published_time", "datepublished", "og:article:published_time", "date", "dc.date",
            "dc.date.issued", "dcterms.created", "pubdate", "publishdate", "publish-date",
            "parsely-pub-date", "sailthru.date", "citation_publication_date", "citation_date",
            "article.published",
        ])
        .filter(|text| parse_day(text).is_some())
        .or_else(|| markup_date(dom, &out.title))
        .or(page.published);
    }
    out.published = out.published.as_deref().and_then(parse_day);
    out
}

/// Returns the texts of all JSON-LD blocks that are not too long.
pub(crate) fn blocks(dom: &Dom) -> impl Iterator<Item = String> {
    dom.all(Tag::Script)
        .filter(|&id| {
            dom.attr(id, attr::TYPE)
                .is_some_and(|kind| kind.contains("ld+json"))
        })
        .map(|id| dom.below(id).map(|n| dom.text(n)).collect::<String>())
        .filter(|text| text.len() <= limits::JSON_LD_BYTES)
        .map(|text| {
            let text = text
                .trim()
                .trim_start_matches("<!--")
                .trim_start_matches("//<![CDATA[")
                .trim_start_matches("/*<![CDATA[*/")
                .trim_end_matches("-->")
                .trim_end_matches("//]]>")
                .trim_end_matches("/*]]>*/")
                .trim_end()
                .trim_end_matches(';');
            // Line ends inside strings are common, but not valid JSON.
            text.replace(['\n', '\r', '\t'], " ")
        })
}

/// Returns the objects of a block: itself, and those of a list, of `@graph` and of `mainEntity`. The JSON
/// parser limits the depth.
pub(crate) fn objects(value: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list.iter().rev()),
            Value::Object(map) => {
                found.push(value);
                for key in ["mainEntityOfPage", "mainEntity", "@graph"] {
                    open.extend(map.get(key));
                }
            }
            _ => {}
        }
        if found.len() > limits::METADATA_KEYS {
            break;
        }
    }
    found
}

fn is_type(object: &Value, types: &[&str]) -> bool {
    let is = |value: &Value| {
        value
            .as_str()
            .is_some_and(|name| types.contains(&name.rsplit(['/', ':']).next().unwrap_or(name)))
    };
    match &object["@type"] {
        Value::Array(list) => list.iter().any(is),
        one => is(one),
    }
}

fn fill(out: &mut ArticleMetadata, object: &Value, all: &[&Value]) {
    let text = |value: &Value| {
        value
            .as_str()
            .map(|t| collapse(&unescape(t)))
            .filter(|t| !t.is_empty() && t.len() < 1000)
    };
    if out.title.is_none() {
        out.title = text(&object["headline"]).or_else(|| text(&object["name"]));
    }
    if out.author.is_none() {
        out.author = ["author", "creator"]
            .into_iter()
            .find_map(|key| names(&object[key], all));
    }
    if out.published.is_none() {
        out.published = ["datePublished", "dateCreated", "uploadDate"]
            .into_iter()
            .find_map(|key| text(&object[key]).filter(|t| parse_day(t).is_some()));
    }
}

/// Returns the names of one or several people, joined with `, `.
fn names(value: &Value, all: &[&Value]) -> Option<String> {
    let list: Vec<&Value> = match value {
        Value::Array(list) => list.iter().take(20).collect(),
        Value::Null => return None,
        one => vec![one],
    };
    let name = |value: &Value| match value {
        Value::String(text) if !text.starts_with("http") => Some(collapse(text)),
        Value::Object(map) => {
            let direct = map
                .get("name")
                .and_then(|name| name.as_str().or_else(|| name.get(0)?.as_str()));
            let by_id = || {
                let id = map.get("@id")?;
                all.iter()
                    .find(|other| other.get("@id") == Some(id) && other["name"].is_string())?["name"]
                    .as_str()
            };
            direct.or_else(by_id).map(|text| collapse(&unescape(text)))
        }
        _ => None,
    };
    let mut names: Vec<String> = Vec::new();
    for found in list.into_iter().filter_map(name).filter(|n| !n.is_empty()) {
        if !names.contains(&found) {
            names.push(found);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// Decodes the entities that are often left in JSON-LD.
pub(crate) fn unescape(text: &str) -> String {
    text.replace("&amp;", "&")
        .replace("&#39;", "'")
        .replace("&#8217;", "’")
        .replace("&quot;", "\"")
}

/// Classes of elements with the date of an article.
static DATE_CLASSES: NameSet = NameSet::of(&[
    "date", "published", "post-date", "entry-date", "publish-date", "published-date", "article-date",
    "pubdate", "posted-on", "post__date", "article__date", "blog-date", "date-published", "timestamp",
    "dateline", "publication-date",
]);

/// Returns a date marked up with `itemprop=datePublished` or `dateCreated`, the first `time`, or a known class.
fn markup_date(dom: &Dom, title: &Option<String>) -> Option<String> {
    let value = |id: NodeId| {
        let text = dom
            .attr(id, attr::DATETIME)
            .or_else(|| dom.attr(id, attr::CONTENT))
            .map(str::to_owned)
            .unwrap_or_else(|| dom.text_of(id, 60));
        parse_day(&text).map(|_| text)
    };
    let has_word = |name: u32, is_known: fn(&str) -> bool| {
        dom.with_attribute(move |attribute| {
            attribute.name == name && dom.value(attribute).split_ascii_whitespace().any(is_known)
        })
    };
    has_word(attr::ITEMPROP, |word| {
        matches!(word, "datePublished" | "dateCreated")
    })
    .find_map(value)
    .or_else(|| dom.all(Tag::Time).find_map(value))
    .or_else(|| {
        has_word(attr::CLASS, |class| {
            DATE_CLASSES.contains(class) || class.contains("pub-date")
        })
        .find_map(value)
    })
    .or_else(|| date_below_heading(dom, title))
}

/// Returns a date that is (nearly) the whole text, or the last word, of one of the first text nodes below the title. Link
/// texts do not count.
fn date_below_heading(dom: &Dom, title: &Option<String>) -> Option<String> {
    const TEXTS: usize = 40;
    const BYTES: usize = 40;
    let is_title =
        |&id: &NodeId| matches!(dom.tag(id), Tag::H1 | Tag::H2) && Some(heading_text(dom, id)) == *title;
    let heading = (0..dom.len())
        .find(is_title)
        .or_else(|| dom.all(Tag::H1).next())?;
    (heading..dom.len())
        .filter(|&id| dom.tag(id) == Tag::Text && !dom.text(id).trim().is_empty())
        .filter(|&id| {
            !dom.ancestors(id)
                .take(6)
                .any(|n| dom.tag(n).is_never_text() || dom.tag(n) == Tag::A)
        })
        .take(TEXTS)
        .map(|id| dom.text(id).trim())
        .filter(|text| text.len() <= BYTES)
        .flat_map(|text| [text, text.rsplit(' ').next().unwrap_or(text)])
        .find(|text| parse_day(text).is_some())
        .map(str::to_owned)
}

/// Returns the day of an ISO time as `2024-01-31`; also of `20240131`, `2024/1/31`, `January 31, 2024` and
/// `31 Jan 2024`.
pub fn parse_day(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: Vec<&str> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .take(3)
        .collect();
    let (year, month, day) = match digits.as_slice() {
        [date, ..] if date.len() == 8 && text.starts_with(date) => {
            (&date[..4], date[4..6].parse::<u8>().ok()?, &date[6..])
        }
        [year, month, day] if year.len() == 4 && text.starts_with(year) => {
            (*year, month.parse::<u8>().ok()?, *day)
        }
        _ => parse_written_date(text)?,
    };
    let (year, day) = (year.parse::<u16>().ok()?, day.parse::<u8>().ok()?);
    let plausible = (1900..2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    plausible.then(|| format!("{year}-{month:02}-{day:02}"))
}

/// Returns year, month and day of a date with an English month name.
fn parse_written_date(text: &str) -> Option<(&str, u8, &str)> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
        .take(12)
        .collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let lower = word.get(..3)?.to_ascii_lowercase();
        let full = [
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
            "november", "december",
        ];
        let month = MONTHS.iter().position(|m| *m == lower)?;
        if word.len() > 4 && !full[month].eq_ignore_ascii_case(word) {
            return None;
        }
        let number = |at: usize| {
            words
                .get(at)
                .map(|w| w.trim_end_matches(|c: char| c.is_ascii_alphabetic()))
                .filter(|w| (1..=2).contains(&w.len()))
        };
        let year = |at: usize| {
            words
                .get(at)
                .copied()
                .filter(|w| w.len() == 4 && w.bytes().all(|b| b.is_ascii_digit()))
        };
        let month = month as u8 + 1;
        if let (Some(day), Some(year)) = (number(at + 1), year(at + 2)) {
            return Some((year, month, day));
        }
        Some((year(at + 1)?, month, number(at.checked_sub(1)?)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::parse::parse;

    #[test]
    fn json_ld_takes_precedence_over_markup() {
        let found = article_metadata(&parse(
            r#"<title>A title - Site</title><script type="application/ld+json">{"@graph":[{"@type":"Person","@id":"p1","name":"Ann B"},
            {"@type":["NewsArticle"],"headline":"A title","author":{"@id":"p1"},"datePublished":"2024-03-05T10:00:00Z"}]}</script>
            <span class="author-name">Else</span>"#,
        ));
        assert_eq!(found.title.as_deref(), Some("A title"));
        assert_eq!(found.author.as_deref(), Some("Ann B"));
        assert_eq!(found.published.as_deref(), Some("2024-03-05"));
    }

    #[test]
    fn common_date_formats_are_parsed() {
        for text in [
            "2024-01-05T10:00Z", "20240105", "2024/1/5 09:00", "January 5, 2024", "Fri, 05 Jan 2024 10:00",
            "Posted Jan 5th, 2024",
        ] {
            assert_eq!(parse_day(text).as_deref(), Some("2024-01-05"), "{text}");
        }
        for text in ["", "5", "2024", "2024-13-05", "Marching 5, 2024", "05.01.24"] {
            assert_eq!(parse_day(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_below_the_heading_is_used_last() {
        let published = |html: &str| article_metadata(&parse(html)).published;
        let page = "<h1>T</h1><p>by Ann</p><div>Updated March 13, 2024</div><p>Long ago, on May 5, 2010, a man came to us and said so.";
        assert_eq!(published(page).as_deref(), Some("2024-03-13"));
        let topic = "<title>Herons - Birds</title><h1>Birds</h1><p>May 5, 2010</p><h2>Herons</h2><p>by ann - 2024-03-13";
        assert_eq!(published(topic).as_deref(), Some("2024-03-13"));
        assert_eq!(
            published("<h1>T</h1><a href=x>May 5, 2010</a><script>'May 5, 2010'</script>"),
            None
        );
    }

    #[test]
    fn markup_is_used_without_json_ld() {
        let found = article_metadata(&parse(
            "<title>Title | Site</title><h1>Title</h1><a rel=author>By Ann</a><time datetime=2020-01-02T00:00>x</time>",
        ));
        assert_eq!(found.title.as_deref(), Some("Title"));
        assert_eq!(found.markup_author.as_deref(), Some("Ann"));
        assert_eq!(found.published.as_deref(), Some("2020-01-02"));
        let nothing = article_metadata(&parse("<script type='application/ld+json'>{broken</script><p>x"));
        assert!(nothing.author.is_none() && nothing.published.is_none() && nothing.title.is_none());
    }
}
