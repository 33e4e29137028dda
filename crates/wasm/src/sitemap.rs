//! Parses sitemaps.

use harvestman_core::{api::ApiError, sitemap::Sitemap};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::boundary::{bad_input, parse_url, text_of};

/// Returns the JSON text `{ pages, sitemaps }` of a decompressed sitemap or sitemap index fetched from `url`.
#[wasm_bindgen(js_name = parseSitemap)]
pub fn parse_sitemap(body: &[u8], url: &str) -> Result<String, String> {
    text_of(parse(body, url))
}

fn parse(body: &[u8], url: &str) -> Result<Value, ApiError> {
    let url = parse_url(url)?;
    let Sitemap { pages, children } =
        Sitemap::parse(body, &url).ok_or_else(|| bad_input("the body is not a sitemap"))?;
    Ok(json!({ "pages": pages, "sitemaps": children }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_child_sitemaps_are_parsed() {
        let xml = b"<urlset><url><loc>https://example.com/a</loc></url></urlset>";
        let expected = json!({ "pages": ["https://example.com/a"], "sitemaps": [] });
        assert_eq!(parse(xml, "https://example.com/sitemap.xml").unwrap(), expected);
        let index = b"<sitemapindex><sitemap><loc>https://example.com/1.xml</loc></sitemap></sitemapindex>";
        let found = parse(index, "https://example.com/sitemap.xml").unwrap();
        assert_eq!(found["sitemaps"], json!(["https://example.com/1.xml"]));
        assert!(parse(b"<html><body>no</body></html>", "https://example.com/").is_err());
    }
}
