//! SearXNG: `GET /search?format=json`. It has named time ranges only and no locations; [`super::SearchRun`]
//! filters by exact dates, and the location becomes part of the query.

use harvestman_core::api::location::Location;
use harvestman_core::api::search::SourceKind;
use harvestman_core::search::RecentUnit;
use harvestman_fetch::FetchRequest;
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::protocol::{Hit, Protocol, ProviderQuery, list, optional_text, shortest_range, text};

/// Approximate results per page: an instance merges the results of its engines.
const PAGE_SIZE: usize = 10;

pub(super) struct Searxng {
    endpoint: Url,
    api_key: Option<String>,
}

impl Searxng {
    pub(super) fn new(base: Url, api_key: Option<String>) -> Self {
        let mut endpoint = base;
        let path = endpoint.path().trim_end_matches('/').to_owned();
        if !path.ends_with("/search") {
            endpoint.set_path(&format!("{path}/search"));
        }
        Self { endpoint, api_key }
    }
}

impl Protocol for Searxng {
    fn request(&self, query: &ProviderQuery, page: usize, deadline: Instant) -> FetchRequest {
        let mut url = self.endpoint.clone();
        let category = match query.kind {
            SourceKind::Web => "general",
            SourceKind::News => "news",
            SourceKind::Images => "images",
        };
        {
            let mut pairs = url.query_pairs_mut();
            pairs
                .append_pair("q", &query.query_with_location())
                .append_pair("format", "json")
                .append_pair("categories", category)
                .append_pair("pageno", &(page + 1).to_string());
            if let Some(range) = query.window.recent.map(shortest_range) {
                let name = match range {
                    RecentUnit::Hour | RecentUnit::Day => "day",
                    RecentUnit::Week => "week",
                    RecentUnit::Month => "month",
                    RecentUnit::Year => "year",
                };
                pairs.append_pair("time_range", name);
            }
            if let Some(safe) = query.safe {
                pairs.append_pair("safesearch", if safe { "2" } else { "0" });
            }
            // The default country says nothing about the language that the user wants.
            if query.country != Location::default().country {
                let location = Location {
                    country: query.country.clone(),
                    languages: Vec::new(),
                };
                if let Some(language) = location.effective_languages().first() {
                    pairs.append_pair("language", language);
                }
            }
        }
        let mut request = FetchRequest::get(url, deadline.into_std());
        if let Some(key) = &self.api_key {
            request
                .headers
                .push(("Authorization".to_owned(), format!("Bearer {key}")));
        }
        request
    }

    fn parse(&self, kind: SourceKind, response: &Value) -> Result<Vec<Hit>, String> {
        let hits = list(response, "results")?.iter().map(|result| {
            let image = match kind {
                SourceKind::Images => optional_text(&result["img_src"]),
                SourceKind::Web | SourceKind::News => {
                    optional_text(&result["thumbnail"]).or_else(|| optional_text(&result["img_src"]))
                }
            };
            Hit {
                url: result["url"].as_str().unwrap_or_default().to_owned(),
                title: text(&result["title"]),
                description: text(&result["content"]),
                date: optional_text(&result["publishedDate"]),
                image_url: image,
                image_size: size(result["resolution"].as_str().unwrap_or_default()),
            }
        });
        Ok(hits.filter(|hit| !hit.url.is_empty()).collect())
    }

    fn page_size(&self, _: SourceKind) -> usize {
        PAGE_SIZE
    }
}

/// Parses an image size such as `640x480` or `640 × 480`.
fn size(text: &str) -> (u64, u64) {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}
