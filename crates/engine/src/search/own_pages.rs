//! Search results from the pages that the team has cached, for servers without a search provider.

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use harvestman_core::api::error::ApiError;
use harvestman_core::api::search::SourceKind;
use harvestman_core::api::search_response::{SearchResults, WebResult};
use harvestman_core::search::{self as rules, Candidate, Query, Window, rank};
use tokio::time::Instant;

use super::SearchRun;
use crate::{clock, limits};

impl SearchRun<'_> {
    pub(super) async fn own_pages(&mut self, results: &mut SearchResults) -> Result<(), ApiError> {
        let request = self.request;
        let source = request
            .sources
            .iter()
            .find(|source| source.kind == SourceKind::Web);
        let tbs = source
            .and_then(|source| source.tbs.as_ref())
            .or(request.tbs.as_ref());
        let window = tbs.map(|tbs| Window::of(tbs, clock::now())).unwrap_or_default();
        let query = Query::of(&request.query);
        let store = &self.context.store;
        let candidates = store
            .search_pages(
                self.team,
                &query,
                &self.filter.hosts(),
                &window,
                limits::SEARCH_CANDIDATES,
            )
            .await?;
        let matching = candidates.into_iter().filter(|page| {
            self.filter.allows(&page.url, page.content_type.as_deref()) && query.allows(&page.url)
        });
        let mut pages = rank(&query, matching.collect());
        if window.by_date {
            pages.sort_by_key(|page| std::cmp::Reverse(page.fetched_at));
        }
        pages.truncate(usize::try_from(request.limit).unwrap_or(usize::MAX));
        let passages: Vec<Option<String>> = match request.highlights {
            true => {
                let work: FuturesOrdered<_> = pages.iter().map(|page| self.passage(page)).collect();
                work.collect().await
            }
            false => Vec::new(),
        };
        let mut passages = passages.into_iter();
        let web = (1..).zip(pages).map(|(position, page)| WebResult {
            category: self
                .filter
                .category(&page.url, page.content_type.as_deref())
                .map(|category| category.to_string()),
            description: passages.next().flatten().or(page.description).unwrap_or_default(),
            url: page.url.to_string(),
            title: page.title.unwrap_or_default(),
            position: Some(position),
            ..WebResult::default()
        });
        let web: Vec<WebResult> = web.collect();
        let warning = if web.is_empty() {
            rules::NO_STORED_PAGES
        } else {
            rules::STORED_PAGES_ONLY
        };
        self.warnings.push(warning.to_owned());
        results.web = Some(web);
        if request.sources.len() > 1 {
            self.warnings.push(rules::NEEDS_PROVIDER.to_owned());
            results.news = request.wants(SourceKind::News).then(Vec::new);
            results.images = request.wants(SourceKind::Images).then(Vec::new);
        }
        Ok(())
    }

    /// Returns the passage of a cached page that matches the query. A page without a description that matches by its URL
    /// alone has its opening instead.
    async fn passage(&self, page: &Candidate) -> Option<String> {
        let context = self.context;
        let cached = context.store.cached_page_by_id(self.team, page.id).await.ok()??;
        if cached.body.len() > limits::SEARCH_PASSAGE_FILE_BYTES && !is_text(page.content_type.as_deref()) {
            return None;
        }
        let deadline = self.deadline.min(Instant::now() + limits::SEARCH_PASSAGE_TIMEOUT);
        let converting = context.scraper.convert_copy(self.team, cached, deadline);
        let markdown = converting.await?.markdown?;
        let query = self.request.query.clone();
        let is_described = page.description.is_some();
        let finding = tokio::task::spawn_blocking(move || {
            let opening = || rules::opening(&markdown).filter(|_| !is_described);
            rules::passage(&markdown, &query).or_else(opening)
        });
        finding.await.ok()?
    }
}

/// Returns whether a copy can be converted without the reader of files.
fn is_text(content_type: Option<&str>) -> bool {
    content_type.is_none_or(|kind| kind.starts_with("text/") || kind.contains("html"))
}
