//! `POST /v2/crawl/params-preview` (docs/API.md section 6.3): crawl options from a description in
//! words. Nothing is crawled.

use harvestman_derive::Request;
use serde::{Deserialize, Serialize};
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
    /// What the caller states about itself.
    #[field(flatten)]
    pub caller: Caller,
}

wire!(ParamsPreviewRequest);

/// Answer of `POST /v2/crawl/params-preview`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ParamsPreview {
    /// Always true.
    pub success: bool,
    /// The proposed options.
    pub data: CrawlParams,
    /// Nothing was understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Proposed crawl options. Each would be accepted by `POST /v2/crawl`, except `max_depth`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CrawlParams {
    /// The seed; always there.
    pub url: String,
    /// Paths that belong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_paths: Option<Vec<String>>,
    /// Paths that do not belong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude_paths: Option<Vec<String>>,
    /// For information only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// Deepest discovery depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_discovery_depth: Option<u32>,
    /// What sitemaps are used for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sitemap: Option<SitemapMode>,
    /// Siblings and parents belong too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl_entire_domain: Option<bool>,
    /// Other hosts belong too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_external_links: Option<bool>,
    /// Subdomains belong too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_subdomains: Option<bool>,
    /// Queries make no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_query_parameters: Option<bool>,
    /// Do not ask robots.txt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_robots_txt: Option<bool>,
    /// Product token for robots.txt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots_user_agent: Option<String>,
    /// Similar URLs are the same page.
    #[serde(rename = "deduplicateSimilarURLs", skip_serializing_if = "Option::is_none")]
    pub deduplicate_similar_urls: Option<bool>,
    /// Pause between fetches, whole seconds: clients do not take fractions here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<u32>,
    /// Pages, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl CrawlParams {
    /// Fills what a crawl request's body does not set itself: explicit fields win. `url` and
    /// `maxDepth` are not taken over.
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
