//! Brave Search: `GET /res/v1/{web,news,images}/search`.

use harvestman_core::api::search::SourceKind;
use harvestman_core::search::{RecentUnit, Window};
use harvestman_fetch::FetchRequest;
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::protocol::{Hit, Protocol, ProviderQuery, list, optional_text, shortest_range, text};

/// Maximum results per page; image results have only one page.
const WEB_SIZE: usize = 20;
const NEWS_SIZE: usize = 50;
const IMAGES_SIZE: usize = 100;

pub(super) struct Brave {
    pub(super) base: Url,
    pub(super) api_key: Option<String>,
}

impl Protocol for Brave {
    fn request(&self, query: &ProviderQuery, page: usize, deadline: Instant) -> FetchRequest {
        let mut url = self.base.clone();
        let kind = match query.kind {
            SourceKind::Web => "web",
            SourceKind::News => "news",
            SourceKind::Images => "images",
        };
        url.set_path(&format!(
            "{}/res/v1/{kind}/search",
            self.base.path().trim_end_matches('/')
        ));
        {
            let mut pairs = url.query_pairs_mut();
            pairs
                .append_pair("q", &query.query_with_location())
                .append_pair("country", &query.country)
                .append_pair(
                    "count",
                    &self.page_size(query.kind).min(query.count.max(1)).to_string(),
                );
            if query.kind != SourceKind::Images {
                pairs.append_pair("offset", &page.to_string());
                if let Some(freshness) = freshness(&query.window) {
                    pairs.append_pair("freshness", &freshness);
                }
            }
            if let Some(safe) = query.safe {
                pairs.append_pair("safesearch", if safe { "strict" } else { "off" });
            }
        }
        let mut request = FetchRequest::get(url, deadline.into_std());
        if let Some(key) = &self.api_key {
            request
                .headers
                .push(("X-Subscription-Token".to_owned(), key.clone()));
        }
        request
    }

    fn parse(&self, kind: SourceKind, response: &Value) -> Result<Vec<Hit>, String> {
        let results = match kind {
            SourceKind::Web if response["web"].is_null() => return Ok(Vec::new()),
            SourceKind::Web => list(&response["web"], "results")?,
            SourceKind::News | SourceKind::Images => list(response, "results")?,
        };
        let hits = results.iter().map(|result| Hit {
            url: result["url"].as_str().unwrap_or_default().to_owned(),
            title: text(&result["title"]),
            description: text(&result["description"]),
            date: optional_text(&result["page_age"]).or_else(|| optional_text(&result["age"])),
            image_url: optional_text(&result["properties"]["url"])
                .or_else(|| optional_text(&result["thumbnail"]["src"])),
            image_size: (
                result["properties"]["width"].as_u64().unwrap_or(0),
                result["properties"]["height"].as_u64().unwrap_or(0),
            ),
        });
        Ok(hits.filter(|hit| !hit.url.is_empty()).collect())
    }

    fn page_size(&self, kind: SourceKind) -> usize {
        match kind {
            SourceKind::Web => WEB_SIZE,
            SourceKind::News => NEWS_SIZE,
            SourceKind::Images => IMAGES_SIZE,
        }
    }
}

/// Returns the time filter in Brave's syntax: the shortest range that covers it, at least a day, or two
/// dates.
fn freshness(window: &Window) -> Option<String> {
    let range = match (window.recent.map(shortest_range), &window.days) {
        (Some(RecentUnit::Hour | RecentUnit::Day), _) => "pd",
        (Some(RecentUnit::Week), _) => "pw",
        (Some(RecentUnit::Month), _) => "pm",
        (Some(RecentUnit::Year), _) => "py",
        (None, (Some(first), Some(last))) => return Some(format!("{first}to{last}")),
        (None, _) => return None,
    };
    Some(range.to_owned())
}
