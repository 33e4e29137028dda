//! Serper: `POST /search`, `/news`, `/images` with JSON; Google's results with Google's parameters.

use harvestman_core::api::search::SourceKind;
use harvestman_fetch::FetchRequest;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use super::protocol::{Hit, Protocol, ProviderQuery, list, optional_text, text};

/// Results per page that Serper charges as one query.
const PAGE_SIZE: usize = 10;

pub(super) struct Serper {
    pub(super) base: Url,
    pub(super) api_key: Option<String>,
}

impl Protocol for Serper {
    fn request(&self, query: &ProviderQuery, page: usize, deadline: Instant) -> FetchRequest {
        let mut url = self.base.clone();
        let endpoint = match query.kind {
            SourceKind::Web => "search",
            SourceKind::News => "news",
            SourceKind::Images => "images",
        };
        url.set_path(&format!("{}/{endpoint}", self.base.path().trim_end_matches('/')));
        let mut body = json!({
            "q": query.query,
            "gl": query.country.to_lowercase(),
            "num": PAGE_SIZE,
            "page": page + 1,
        });
        if let Some(tbs) = &query.tbs {
            body["tbs"] = tbs.as_str().into();
        }
        if let Some(location) = &query.location {
            body["location"] = location.as_str().into();
        }
        if let Some(safe) = query.safe {
            body["safe"] = if safe { "active" } else { "off" }.into();
        }
        let mut request = FetchRequest::post_json(url, body.to_string().into(), deadline.into_std());
        if let Some(key) = &self.api_key {
            request.headers.push(("X-API-KEY".to_owned(), key.clone()));
        }
        request
    }

    fn parse(&self, kind: SourceKind, response: &Value) -> Result<Vec<Hit>, String> {
        let name = match kind {
            SourceKind::Web => "organic",
            SourceKind::News => "news",
            SourceKind::Images => "images",
        };
        let hits = list(response, name)?.iter().map(|result| Hit {
            url: result["link"].as_str().unwrap_or_default().to_owned(),
            title: text(&result["title"]),
            description: text(&result["snippet"]),
            date: optional_text(&result["date"]),
            image_url: optional_text(&result["imageUrl"]),
            image_size: (
                result["imageWidth"].as_u64().unwrap_or(0),
                result["imageHeight"].as_u64().unwrap_or(0),
            ),
        });
        Ok(hits.filter(|hit| !hit.url.is_empty()).collect())
    }

    fn page_size(&self, _: SourceKind) -> usize {
        PAGE_SIZE
    }
}
