//! Models of `POST /v2/crawl/params-preview` (docs/API.md section 6.3): crawl options from a description in
//! words. Nothing is crawled.

use harvestman_derive::{Request, response};
use serde_json::{Map, Value};

use crate::api::caller::Caller;
use crate::api::crawl::SitemapMode;
use crate::api::fields::wire;
use crate::api::url_field::TargetUrl;
use crate::limits::MAX_PROMPT_CHARS;

/// Body of `POST /v2/crawl/params-preview`.
#[derive(Clone, PartialEq, Eq, Debug, Request)]
pub struct ParamsPreviewRequest {
    /// URL where the crawl would start.
    #[field(required, label = "URL", example = r#""https://example.com""#)]
    pub url: TargetUrl,
    /// Description of the crawl in words.
    #[field(
        required,
        bounds = 1..=MAX_PROMPT_CHARS,
        label = "Prompt",
        example = r#""Only the blog posts of this year""#
    )]
    pub prompt: String,
    /// Client and integration that sent the request.
    #[field(flatten)]
    pub caller: Caller,
}

wire!(ParamsPreviewRequest);

/// Response of `POST /v2/crawl/params-preview`.
#[response(Default)]
pub struct ParamsPreview {
    /// Always true.
    pub success: bool,
    /// Proposed options.
    pub data: CrawlParams,
    /// Warning that the description was not understood.
    pub warning: Option<String>,
}

/// Proposed crawl options. `POST /v2/crawl` accepts each of them, except `maxDepth`.
#[response(Default)]
pub struct CrawlParams {
    /// Start URL; always present.
    pub url: String,
    /// Regular expressions; only matching paths are crawled.
    pub include_paths: Option<Vec<String>>,
    /// Regular expressions; matching paths are skipped.
    pub exclude_paths: Option<Vec<String>>,
    /// Maximum depth, for information only.
    pub max_depth: Option<u32>,
    /// Maximum discovery depth.
    pub max_discovery_depth: Option<u32>,
    /// Use of sitemaps.
    pub sitemap: Option<SitemapMode>,
    /// Whether pages of the same host that are not below the path of the start URL are crawled too.
    pub crawl_entire_domain: Option<bool>,
    /// Whether linked pages of other hosts are crawled too.
    pub allow_external_links: Option<bool>,
    /// Whether subdomains are crawled too.
    pub allow_subdomains: Option<bool>,
    /// Whether URLs that differ only by their query are one page.
    pub ignore_query_parameters: Option<bool>,
    /// Whether robots.txt is ignored.
    pub ignore_robots_txt: Option<bool>,
    /// Product token to match in robots.txt.
    pub robots_user_agent: Option<String>,
    /// Whether similar URLs are one page.
    #[serde(rename = "deduplicateSimilarURLs")]
    pub deduplicate_similar_urls: Option<bool>,
    /// Pause between two requests, whole seconds: clients do not accept fractions here.
    pub delay: Option<u32>,
    /// Maximum number of pages.
    pub limit: Option<u64>,
}

impl CrawlParams {
    /// Adds these options to the body of a crawl request. Fields that the body sets keep their values. `url`
    /// and `maxDepth` are not added.
    pub fn fill(&self, body: &mut Map<String, Value>) {
        let Ok(Value::Object(proposed)) = serde_json::to_value(self) else {
            return;
        };
        for (name, value) in proposed {
            let is_set = body.get(&name).is_some_and(|known| !known.is_null());
            if !is_set && name != "url" && name != "maxDepth" {
                body.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::{CrawlRequest, Wire};

    #[test]
    fn explicit_fields_win_over_proposed_ones() {
        let proposed = CrawlParams {
            url: "https://b.test/".to_owned(),
            limit: Some(50),
            max_depth: Some(2),
            max_discovery_depth: Some(2),
            sitemap: Some(SitemapMode::Only),
            include_paths: Some(vec!["^/blog".to_owned()]),
            ..CrawlParams::default()
        };
        let mut body = json!({"url": "https://a.test/", "limit": 10_000, "sitemap": null});
        proposed.fill(body.as_object_mut().unwrap());
        let request = CrawlRequest::from_value(body).unwrap();
        assert_eq!(request.url.url.as_str(), "https://a.test/");
        assert_eq!((request.limit, request.max_discovery_depth), (10_000, Some(2)));
        assert_eq!(
            (request.sitemap, request.include_paths.len()),
            (SitemapMode::Only, 1)
        );
    }
}
