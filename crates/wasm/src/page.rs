//! Functions on the HTML of one page.

use std::collections::BTreeMap;

use harvestman_content::{HtmlPage, MetadataValue, PageMetadata};
use harvestman_core::api::ApiError;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::{
    boundary::{failure, text_of},
    options::PageOptions,
};

/// Returns whether the bytes of a page must be converted to UTF-8 by charsets.wasm first.
#[wasm_bindgen(js_name = needsCharsets)]
pub fn needs_charsets(body: &[u8], content_type: Option<String>) -> bool {
    harvestman_content::needs_charsets(body, content_type.as_deref())
}

/// Decodes the bytes of a page as a browser does, by the value of `Content-Type`, a BOM, its `meta` tags, or its
/// content.
#[wasm_bindgen(js_name = decodeHtml)]
pub fn decode_html(body: &[u8], content_type: Option<String>) -> String {
    harvestman_content::decode(body, content_type.as_deref())
        .text
        .into_owned()
}

/// Converts a page to GitHub-flavored Markdown, as the API does.
#[wasm_bindgen(js_name = htmlToMarkdown)]
pub fn html_to_markdown(html: &str, options: &str) -> Result<String, String> {
    markdown(html, options).map_err(|error| failure(&error))
}

/// Removes everything but the content from the HTML of a page, as the API does.
#[wasm_bindgen(js_name = cleanHtml)]
pub fn clean_html(html: &str, options: &str) -> Result<String, String> {
    clean(html, options).map_err(|error| failure(&error))
}

/// Returns every link of a page as a JSON array: absolute, without fragment and duplicates.
#[wasm_bindgen(js_name = extractLinks)]
pub fn extract_links(html: &str, options: &str) -> Result<String, String> {
    text_of(links(html, options).map(|links| json!(links)))
}

/// Returns title, description, language, Open Graph and all other metadata of a page as JSON, named as in the API.
#[wasm_bindgen(js_name = extractMetadata)]
pub fn extract_metadata(html: &str, options: &str) -> Result<String, String> {
    text_of(metadata(html, options).map(|metadata| json!(metadata)))
}

fn markdown(html: &str, options: &str) -> Result<String, ApiError> {
    let options = PageOptions::from_json(options)?;
    let page = HtmlPage::parse(html, &options.url()?);
    Ok(page.convert(&options.selection()?).markdown())
}

fn clean(html: &str, options: &str) -> Result<String, ApiError> {
    let options = PageOptions::from_json(options)?;
    let page = HtmlPage::parse(html, &options.url()?);
    Ok(page.convert(&options.selection()?).html())
}

fn links(html: &str, options: &str) -> Result<Vec<String>, ApiError> {
    Ok(HtmlPage::parse(html, &PageOptions::from_json(options)?.url()?).links())
}

fn metadata(html: &str, options: &str) -> Result<BTreeMap<String, Value>, ApiError> {
    Ok(fields_by_name(
        HtmlPage::parse(html, &PageOptions::from_json(options)?.url()?).metadata(),
    ))
}

fn fields_by_name(metadata: PageMetadata) -> BTreeMap<String, Value> {
    let PageMetadata {
        title,
        description,
        language,
        og_locale_alternate,
        other,
    } = metadata;
    let other = other.into_iter().map(|(name, value)| match value {
        MetadataValue::Text(text) => (name, json!(text)),
        MetadataValue::List(texts) => (name, json!(texts)),
    });
    let mut all: BTreeMap<String, Value> = other.collect();
    for (name, value) in [
        ("title", title),
        ("description", description),
        ("language", language),
    ] {
        if let Some(text) = value {
            all.insert(name.to_owned(), json!(text));
        }
    }
    if !og_locale_alternate.is_empty() {
        all.insert("ogLocaleAlternate".to_owned(), json!(og_locale_alternate));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: &str = "<html lang=en><title>Web</title><meta property='og:title' content='T'>\
        <nav><a href=/nav>Nav</a></nav><main><h1>Spiders</h1><p>Eight <b>legs</b>, see <a href=/legs#all>legs</a>.\
        </main>";
    const URL: &str = r#""url":"https://example.com/a""#;

    #[test]
    fn a_page_becomes_markdown_html_links_and_metadata() {
        let text = markdown(HTML, &format!("{{{URL}}}")).unwrap();
        assert!(text.contains("# Spiders") && text.contains("**legs**"), "{text}");
        assert!(text.contains("(https://example.com/legs#all)"), "{text}");
        let html = clean(HTML, &format!("{{{URL}}}")).unwrap();
        assert!(html.contains("<b>legs</b>") && !html.contains("Nav"), "{html}");
        let links = links(HTML, &format!("{{{URL}}}")).unwrap();
        assert_eq!(links, ["https://example.com/nav", "https://example.com/legs"]);
        let metadata = metadata(HTML, "{}").unwrap();
        assert_eq!(
            (&metadata["title"], &metadata["ogTitle"]),
            (&json!("Web"), &json!("T"))
        );
        assert_eq!(metadata["language"], "en");
    }

    #[test]
    fn options_select_parts_of_the_page() {
        let text = markdown(HTML, r#"{"includeTags":["b"]}"#).unwrap();
        assert!(text.contains("legs") && !text.contains("Spiders"), "{text}");
        let text = markdown(HTML, r#"{"excludeTags":["h1"]}"#).unwrap();
        assert!(!text.contains("Spiders"), "{text}");
    }

    #[test]
    fn invalid_options_are_rejected_with_a_reason() {
        let message = |options: &str| markdown(HTML, options).unwrap_err().message;
        assert!(message(r#"{"onlyMain":true}"#).contains("onlyMain"));
        assert!(message(r#"{"url":"nowhere"}"#).contains("`url` is not a valid URL"));
        assert!(message(r#"{"includeTags":["a["]}"#).contains("`includeTags`"));
    }
}
