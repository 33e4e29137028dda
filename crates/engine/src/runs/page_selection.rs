//! Selects the pages that a run reads: the most relevant ones of a site by URL and title, and those that a
//! web search finds.

use std::sync::Arc;

use futures_util::FutureExt;
use harvestman_core::api::crawl::SitemapMode;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::extract::{ExtractRequest, ExtractTarget};
use harvestman_core::api::location::Location;
use harvestman_core::api::map::{MapLink, MapRequest};
use harvestman_core::api::search::SearchRequest;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::limits::MAX_SEARCH_QUERY_CHARS;
use harvestman_store::Lease;
use serde_json::{Map, Value};
use tokio::time::Instant;
use url::Url;

use crate::context::Context;
use crate::limits;
use crate::map::map_links;

/// Returns the words used to rank the pages of a site: the prompt, else the property names of the schema.
pub(super) fn ranking_query(prompt: Option<&str>, schema: Option<&Map<String, Value>>) -> Option<String> {
    if let Some(prompt) = prompt {
        return Some(prompt.to_owned());
    }
    let properties = schema?.get("properties")?.as_object()?;
    let names: Vec<&str> = properties
        .keys()
        .map(String::as_str)
        .take(limits::RANKING_PROPERTY_NAMES)
        .collect();
    (!names.is_empty()).then(|| names.join(" "))
}

/// Returns the query of a web search: the beginning of the prompt, else the schema's title or property names.
pub(super) fn search_query(prompt: Option<&str>, schema: Option<&Map<String, Value>>) -> Option<String> {
    let title = || schema?.get("title")?.as_str().map(str::to_owned);
    let text = match prompt {
        Some(prompt) => prompt.to_owned(),
        None => title().or_else(|| ranking_query(None, schema))?,
    };
    let beginning: String = text.trim().chars().take(MAX_SEARCH_QUERY_CHARS).collect();
    let words: Vec<&str> = beginning.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Returns a search request whose results a run can open.
pub(super) fn search_request(words: String, limit: u64, location: &Location) -> SearchRequest {
    SearchRequest {
        limit,
        country: location.country.clone(),
        ignore_invalid_urls: true,
        ..SearchRequest::new(words)
    }
}

/// Returns pages at and below a target, most relevant first, at most `limit`.
///
/// # Errors
/// As for a map.
pub(super) async fn pages_below(
    context: &Arc<Context>,
    lease: &Lease,
    request: &ExtractRequest,
    target: &ExtractTarget,
    limit: u64,
    deadline: Instant,
) -> Result<Vec<Url>, ApiError> {
    // The part before `/*` is the top page; few sites serve it with a trailing slash.
    let top =
        TargetUrl::parse(target.url.as_sent().trim_end_matches('/')).unwrap_or_else(|_| target.url.clone());
    let map = MapRequest {
        search: ranking_query(request.prompt.as_deref(), request.schema.as_ref()),
        include_subdomains: request.include_subdomains,
        sitemap: match request.ignore_sitemap {
            true => SitemapMode::Skip,
            false => SitemapMode::Include,
        },
        location: request.scrape_options.location.clone(),
        headers: request.scrape_options.headers.clone(),
        ..MapRequest::new(top.clone())
    };
    let links = map_links(context, lease.team, &map, deadline).boxed().await?;
    Ok(links_below(&top.url, links, limit))
}

/// Returns the links at or below a URL; the URL itself if there are none.
fn links_below(top: &Url, links: Vec<MapLink>, limit: u64) -> Vec<Url> {
    let path = top.path().trim_end_matches('/');
    let is_below = |url: &Url| {
        let rest = url.path().strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let urls = links.into_iter().filter_map(|link| Url::parse(&link.url).ok());
    let mut chosen: Vec<Url> = urls.filter(is_below).collect();
    chosen.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    if chosen.is_empty() {
        chosen.push(top.clone());
    }
    chosen
}

/// Returns the links to other hosts whose URL contains a word of the query, most relevant first.
pub(super) fn external_links(page: &Url, links: &[Url], query: &str) -> Vec<Url> {
    let words: Vec<String> = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= limits::RANKING_WORD_CHARS)
        .map(str::to_lowercase)
        .collect();
    let score = |url: &Url| {
        let text = url.as_str().to_lowercase();
        words.iter().filter(|word| text.contains(word.as_str())).count()
    };
    let mut ranked: Vec<(usize, &Url)> = links
        .iter()
        .filter(|link| link.host() != page.host())
        .map(|link| (score(link), link))
        .filter(|(score, _)| *score > 0)
        .collect();
    ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    ranked.into_iter().map(|(_, link)| link.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_pages_below_the_url_are_chosen() {
        let top = Url::parse("https://a.test/docs/").unwrap();
        let links = |urls: &[&str]| -> Vec<MapLink> {
            urls.iter()
                .map(|url| serde_json::from_value(json!({ "url": url })).unwrap())
                .collect()
        };
        let chosen = |urls: &[&str], limit| -> Vec<String> {
            links_below(&top, links(urls), limit)
                .into_iter()
                .map(String::from)
                .collect()
        };
        assert_eq!(
            chosen(
                &[
                    "https://a.test/docs/x", "https://a.test/docsearch", "https://a.test/",
                    "https://a.test/docs"
                ],
                9
            ),
            ["https://a.test/docs/x", "https://a.test/docs"]
        );
        assert_eq!(
            chosen(&["https://a.test/docs/x", "https://a.test/docs/y"], 1).len(),
            1
        );
        assert_eq!(chosen(&[], 9), ["https://a.test/docs/"]);
    }

    #[test]
    fn external_links_must_contain_a_word_of_the_query() {
        let page = Url::parse("https://a.test/").unwrap();
        let links: Vec<Url> = [
            "https://b.test/about", "https://b.test/cup-prices", "https://a.test/prices",
            "https://c.test/prices",
        ]
        .iter()
        .map(|url| Url::parse(url).unwrap())
        .collect();
        let found = external_links(&page, &links, "the prices of a cup");
        assert_eq!(
            found.iter().map(Url::as_str).collect::<Vec<_>>(),
            ["https://b.test/cup-prices", "https://c.test/prices"]
        );
    }

    #[test]
    fn the_web_search_uses_the_prompt_or_the_schema() {
        let named = json!({"properties": {"price": {}, "name": {}}});
        let titled = json!({"title": "Cups", "properties": {"price": {}}});
        let query_of = |prompt, schema: &Value| search_query(prompt, schema.as_object());
        assert_eq!(
            query_of(Some(" the\n price "), &titled).as_deref(),
            Some("the price")
        );
        assert_eq!(query_of(None, &titled).as_deref(), Some("Cups"));
        assert_eq!(query_of(None, &named).as_deref(), Some("name price"));
        assert_eq!(
            (query_of(Some(" "), &titled), query_of(None, &json!({}))),
            (None, None)
        );
        let long = "ö".repeat(600);
        assert_eq!(query_of(Some(&long), &named).unwrap().chars().count(), 500);
    }

    #[test]
    fn pages_are_ranked_by_the_property_names_of_the_schema() {
        let schema = json!({"properties": {"price": {}, "title": {}}});
        assert_eq!(
            ranking_query(None, schema.as_object()).as_deref(),
            Some("price title")
        );
        assert_eq!(ranking_query(Some("x"), schema.as_object()).as_deref(), Some("x"));
        assert_eq!(ranking_query(None, json!({}).as_object()), None);
    }
}
