//! Documents rendered from fetched bytes, as callers receive them.
#![cfg(feature = "render")]
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use harvestman_core::api::{ErrorCode, ScrapeOptions};
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{RawPage, RenderedPage, render};
use serde_json::{Value, json};
use url::Url;

const PAGE: &str = r#"<!doctype html><html lang="en"><head><title>Herons</title>
<meta name="description" content="All about herons"><meta property="og:locale:alternate" content="fr_FR">
<meta name="x-team" content="birds"></head><body><nav><a href="/nav">Nav</a></nav>
<main><h1>Herons</h1><p>They <b>wade</b> and <a href="fish.html#top">fish</a>.
<img src="heron.jpg" alt="A heron"></p></main></body></html>"#;

fn page<'a>(url: &'a Url, content_type: Option<&'a str>, body: &'a [u8]) -> RawPage<'a> {
    RawPage {
        requested: url,
        url,
        status: 200,
        content_type,
        body,
    }
}

fn rendered(options: Value, content_type: &str, body: &[u8]) -> Result<RenderedPage, ErrorCode> {
    let url = Url::parse("https://a.test/birds/heron").unwrap();
    let options = ScrapeOptions::from_json(options.to_string().as_bytes()).unwrap();
    let id: ScrapeId = "018f2f9e-0000-7000-8000-000000000001".parse().unwrap();
    render(&page(&url, Some(content_type), body), &options, id).map_err(|error| error.code)
}

#[test]
fn a_document_has_the_requested_formats_and_metadata() {
    let options = json!({"formats": ["markdown", "html", "rawHtml", "links", "images",
        {"type": "attributes", "selectors": [{"selector": "main img", "attribute": "alt"}]}]});
    let rendered = rendered(options, "text/html; charset=utf-8", PAGE.as_bytes()).unwrap();
    let document = &rendered.document;
    let markdown = document.markdown.as_deref().unwrap();
    assert!(markdown.starts_with("# Herons"), "{markdown}");
    assert!(
        markdown.contains("[fish](https://a.test/birds/fish.html#top)"),
        "{markdown}"
    );
    assert!(!markdown.contains("Nav"), "{markdown}");
    assert!(document.html.as_deref().unwrap().contains("<h1>Herons</h1>"));
    assert_eq!(document.raw_html.as_deref(), Some(PAGE));
    let links = ["https://a.test/nav", "https://a.test/birds/fish.html"];
    assert_eq!(document.links.as_deref().unwrap(), links);
    assert_eq!(
        document.images.as_deref().unwrap(),
        ["https://a.test/birds/heron.jpg"]
    );
    assert_eq!(document.attributes.as_ref().unwrap()[0].values, ["A heron"]);
    assert_eq!(rendered.links.iter().map(Url::as_str).collect::<Vec<_>>(), links);
    assert_eq!(rendered.credits, 1);
    let mut metadata = serde_json::to_value(&document.metadata).unwrap();
    // Values derived from the content, not from the page's metadata.
    metadata
        .as_object_mut()
        .unwrap()
        .retain(|name, _| name != "articleTitle" && name != "publishedDate");
    assert_eq!(
        metadata,
        json!({
            "title": "Herons", "description": "All about herons", "language": "en",
            "ogLocaleAlternate": ["fr_FR"], "x-team": "birds",
            "sourceURL": "https://a.test/birds/heron", "url": "https://a.test/birds/heron",
            "statusCode": 200, "scrapeId": "018f2f9e-0000-7000-8000-000000000001",
            "contentType": "text/html; charset=utf-8", "creditsUsed": 1, "proxyUsed": "basic"
        })
    );
}

#[test]
fn an_empty_format_list_yields_metadata_only() {
    let rendered = rendered(json!({"formats": []}), "text/html", PAGE.as_bytes()).unwrap();
    let document = serde_json::to_value(&rendered.document).unwrap();
    assert_eq!(
        document.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["metadata"]
    );
    assert_eq!(document["metadata"]["title"], "Herons");
    assert_eq!(rendered.links.len(), 2, "a crawl can continue nevertheless");
}

#[test]
fn an_error_page_is_a_document_with_the_error() {
    let url = Url::parse("https://a.test/gone").unwrap();
    let page = RawPage {
        status: 404,
        ..page(&url, Some("text/html"), b"<h1>Gone fishing</h1>")
    };
    let id = "018f2f9e-0000-7000-8000-000000000001".parse().unwrap();
    let document = render(&page, &ScrapeOptions::default(), id).unwrap().document;
    assert_eq!(document.metadata.status_code, Some(404));
    assert_eq!(document.metadata.error.as_deref(), Some("Not Found"));
    assert_eq!(
        document.markdown.as_deref().map(str::trim),
        Some("# Gone fishing")
    );
}

#[test]
fn an_image_with_an_error_status_is_a_document() {
    let url = Url::parse("https://a.test/gone.png").unwrap();
    let page = RawPage {
        status: 503,
        ..page(&url, Some("image/png"), b"\x89PNG")
    };
    let id = "018f2f9e-0000-7000-8000-000000000001".parse().unwrap();
    let document = render(&page, &ScrapeOptions::default(), id).unwrap().document;
    assert_eq!(document.metadata.status_code, Some(503));
    assert_eq!(document.markdown.as_deref(), Some(""));
}

#[test]
fn the_error_of_an_image_names_its_type_and_what_reads_it() {
    let url = Url::parse("https://a.test/logo").unwrap();
    let page = page(&url, Some("text/html"), b"\x89PNG\r\n\x1a\n");
    let id = "018f2f9e-0000-7000-8000-000000000001".parse().unwrap();
    let error = render(&page, &ScrapeOptions::default(), id).unwrap_err();
    assert_eq!(
        error.message,
        "The target is an image of the type `png` with the content type `text/html`, which this server cannot \
         convert to text without `image` in `parsers`."
    );
}

#[test]
fn an_empty_body_yields_empty_texts() {
    let options = json!({"formats": ["markdown", "html", "rawHtml"]});
    for content_type in ["text/html", "text/plain", "application/x-unknown"] {
        let document = rendered(options.clone(), content_type, b"").unwrap().document;
        let texts = [&document.markdown, &document.html, &document.raw_html];
        assert_eq!(texts.map(Option::as_deref), [Some(""); 3], "{content_type}");
    }
}

#[test]
fn text_is_its_own_markdown_and_code_is_fenced() {
    let check = |content_type: &str, body: &str, expected: &str| {
        let document = rendered(json!({}), content_type, body.as_bytes())
            .unwrap()
            .document;
        assert_eq!(document.markdown.as_deref(), Some(expected), "{content_type}");
    };
    check("text/plain", "one\n  two\n", "one\n  two\n");
    check("text/markdown", "# A\n", "# A\n");
    check("text/csv", "a,b\n1,2\n", "a,b\n1,2\n");
    check("application/json", "{\"a\": 1}\n", "```json\n{\"a\": 1}\n```");
    check("application/xml", "<a>```</a>", "````xml\n<a>```</a>\n````");
    check("text/plain; charset=iso-8859-1", "a", "a");
    check("image/png", "", "");
    let document = rendered(
        json!({"formats": ["html", "rawHtml", "links", "images"]}),
        "text/plain",
        b"a < b",
    )
    .unwrap()
    .document;
    assert_eq!(document.html.as_deref(), Some("<pre>a &lt; b</pre>"));
    assert_eq!(document.raw_html.as_deref(), Some("a < b"));
    assert_eq!((document.links, document.images), (Some(vec![]), Some(vec![])));
}

#[test]
fn unsupported_types_are_rejected_and_pdfs_without_a_parser_are_base64() {
    assert_eq!(
        rendered(json!({}), "image/png", b"\x89PNG").unwrap_err(),
        ErrorCode::UnsupportedFile
    );
    assert_eq!(
        rendered(json!({}), "application/pdf", b"%PDF-1.7").unwrap_err(),
        ErrorCode::UnsupportedFile
    );
    let document = rendered(json!({"parsers": []}), "application/pdf", b"%PDF-1.7")
        .unwrap()
        .document;
    assert_eq!(document.markdown.as_deref(), Some("JVBERi0xLjc="));
}

#[test]
fn include_and_exclude_tags_select_the_content() {
    let check = |options: Value, has: &[&str], has_not: &[&str]| {
        let markdown = rendered(options, "text/html", PAGE.as_bytes())
            .unwrap()
            .document
            .markdown
            .unwrap();
        assert!(has.iter().all(|text| markdown.contains(text)), "{markdown}");
        assert!(!has_not.iter().any(|text| markdown.contains(text)), "{markdown}");
    };
    check(json!({"onlyMainContent": false}), &["Nav", "Herons"], &[]);
    check(json!({"includeTags": ["nav"]}), &["Nav"], &["Herons"]);
    check(json!({"excludeTags": ["h1"]}), &["wade"], &["# Herons"]);
    assert_eq!(
        rendered(json!({"includeTags": ["a[["]}), "text/html", b"x").unwrap_err(),
        ErrorCode::BadRequest
    );
}

#[test]
fn the_rule_based_cleanup_adds_a_warning() {
    let body = "<main><p>Text that stays here.</p><p>We use cookies. Accept all or see our privacy policy.</p></main>";
    let document = rendered(json!({"onlyCleanContent": true}), "text/html", body.as_bytes())
        .unwrap()
        .document;
    let markdown = document.markdown.unwrap();
    assert!(
        markdown.contains("stays") && !markdown.contains("cookies"),
        "{markdown}"
    );
    assert!(document.warning.unwrap().contains("onlyCleanContent"));
}
