//! Parses sitemaps.

use harvestman_core::{
    api::{ApiError, ErrorCode},
    sitemap::Sitemap,
};
use serde_json::{Value, json};
use url::Url;
use wasm_bindgen::prelude::*;

use crate::boundary::{input_failure, to_js};

/// Returns `{ pages, sitemaps }` of a decompressed sitemap or sitemap index fetched from `url`.
#[wasm_bindgen(js_name = parseSitemap)]
pub fn parse_sitemap(body: &[u8], url: &str) -> Result<JsValue, JsValue> {
    to_js(&parse(body, url).map_err(|error| input_failure(&error))?)
}

fn parse(body: &[u8], url: &str) -> Result<Value, ApiError> {
    let bad = |message: String| ApiError::new(ErrorCode::BadRequest, message);
    let url = Url::parse(url).map_err(|error| bad(format!("`url` is not a valid URL ({error}): `{url}`")))?;
    let Sitemap { pages, children } =
        Sitemap::parse(body, &url).ok_or_else(|| bad("the body is not a sitemap".to_owned()))?;
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
