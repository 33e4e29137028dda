//! Fetches a page: over HTTP first, then with the browser if the page needs one; or with the browser first on
//! hosts whose pages always needed it. The rules are in the core; results per host are in `host_memory`.

use std::collections::HashSet;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::format::FormatKind;
use harvestman_core::api::options::{ScrapeOptions, is_private_header};
use harvestman_core::crawl::SlotKind;
use harvestman_core::scrape::{BrowserReason, EngineReason, FramedPage, browser_added, needs_browser};
use harvestman_fetch::{FetchError, FetchRequest};
use tokio::time::Instant;
use url::Url;

use super::{FetchResult, ScrapedPage, Scraper, Target, page_request, raw_page};
use crate::error::ScrapeFailure;
use crate::host_memory::BrowserEffect;
use crate::limits;
use crate::proxies::Fault;
use crate::site_response::SiteResponse;

impl Scraper {
    /// Fetches a page from its site and returns it with the URL that worked. If the site blocks the first class
    /// of proxies, fetches the page with the second one (docs/API.md section 4.1).
    pub(super) async fn visit_unblocked<'u>(
        &self,
        target: Target<'u>,
        deadline: Instant,
    ) -> Result<(&'u Url, ScrapedPage), ScrapeFailure> {
        let first = self.visit(&target, deadline).await;
        let is_blocked = match &first {
            Ok((_, scraped)) => scraped.is_blocked(),
            Err(failure) => failure.unreachable || failure.fault != Fault::No,
        };
        let has_time = Instant::now() + limits::SECOND_CLASS_TIME < deadline;
        let Some(class) = target.routes.second().filter(|_| is_blocked && has_time) else {
            return first;
        };
        let second = self.visit(&Target { class, ..target }, deadline).await;
        match (&first, &second) {
            (Ok(_), Err(_)) => first,
            _ => second,
        }
    }

    async fn visit<'u>(
        &self,
        target: &Target<'u>,
        deadline: Instant,
    ) -> Result<(&'u Url, ScrapedPage), ScrapeFailure> {
        let options = target.options;
        let used = target.routes.proxy_used(target.class);
        let is_browser_optional = !needs_browser(options);
        if is_browser_optional
            && !options.fast_mode
            && self.memory.starts_in_browser(target.url)
            && let Some(mut scraped) = self.try_browser_first(target, deadline).await
        {
            scraped.set_proxy_used(used);
            return Ok((target.url, scraped));
        }
        let mut url = target.url;
        let mut fetched = match self.connect_guessed(target, deadline).await {
            Ok(()) => self.fetch(url, target, deadline).await,
            Err(error) => Err(error.into()),
        };
        if let (Err(failure), Some(plain)) = (&fetched, target.fallback)
            && failure.unreachable
        {
            let second = self.fetch(plain, target, deadline).await;
            let timed_out = |failure: &ScrapeFailure| failure.error.code == ErrorCode::ScrapeTimeout;
            if second.as_ref().err().is_none_or(timed_out) {
                (url, fetched) = (plain, second);
            }
        }
        let FetchResult {
            response,
            captures,
            is_rendered,
        } = fetched?;
        let mut scraped = self.render(target.conversion(url), response, deadline).await?;
        if !is_rendered {
            scraped = self.follow_page_redirects(scraped, url, target, deadline).await?;
        }
        let mut frames = FrameBudget::default();
        if let Some(response) = self
            .inline_frames(&scraped, url, target, &mut frames, deadline)
            .await
        {
            // The page's own links come first, including those to its frames.
            let links = scraped.rendered.links;
            scraped = self.render(target.conversion(url), response, deadline).await?;
            let more = std::mem::replace(&mut scraped.rendered.links, links);
            scraped.rendered.add_links(more);
        }
        if is_rendered {
            scraped.set_browser_engine(EngineReason::Requested);
        } else {
            scraped.rendered.document.metadata.blocked_requests =
                (frames.blocked > 0).then_some(frames.blocked);
            scraped.set_http_engine(None);
            if is_browser_optional {
                scraped = self.render_if_needed(scraped, url, target, deadline).await?;
            }
        }
        scraped.captures = captures;
        if !is_rendered {
            scraped.warn_of_missing_captures(options);
        }
        scraped.set_proxy_used(used);
        Ok((url, scraped))
    }

    /// Connects to the site if its URL was given without a scheme. It may accept connections and never respond over
    /// TLS.
    async fn connect_guessed(&self, target: &Target<'_>, deadline: Instant) -> Result<(), FetchError> {
        if target.fallback.is_none() {
            return Ok(());
        }
        let Target {
            url, class, options, ..
        } = *target;
        let connecting =
            target
                .routes
                .connect_guessed(&self.fetcher, class, url, options.verify_tls(), deadline);
        connecting.await
    }

    /// Fetches a page with the browser on a host whose pages need it. Returns `None` if the page should be
    /// fetched over HTTP after all.
    async fn try_browser_first(&self, target: &Target<'_>, deadline: Instant) -> Option<ScrapedPage> {
        // Leaves a third of the time to fetch the page over HTTP.
        let now = Instant::now();
        let browser_deadline = now + deadline.saturating_duration_since(now) * 2 / 3;
        let browser_deadline = target.turn.acquire_browser(0, browser_deadline).await.ok()?;
        let mut scraped = self
            .render_in_browser(target.url, target, browser_deadline)
            .await
            .ok()??;
        scraped.set_browser_engine(EngineReason::Learned);
        // Only an HTTP response contains `Retry-After`.
        let is_busy = matches!(scraped.response.status, 429 | 503);
        (!is_busy && scraped.placeholder().is_none()).then_some(scraped)
    }

    /// Renders the page in the browser if it seems to need its scripts; otherwise returns the fetched page.
    ///
    /// # Errors
    /// If too many pages wait for the browser to keep this one, and it cannot be rendered.
    async fn render_if_needed(
        &self,
        mut fetched: ScrapedPage,
        url: &Url,
        target: &Target<'_>,
        deadline: Instant,
    ) -> Result<ScrapedPage, ScrapeFailure> {
        let Some(reason) = fetched.rendered.browser_reason(fetched.response.status) else {
            return Ok(fetched);
        };
        let plain_reason = if !reason.needs_browser() {
            self.memory.record(url, BrowserEffect::NotNeeded(reason));
            EngineReason::Page(reason)
        } else if fetched.response.retry_after_ms.is_some() {
            // The site asks clients to wait.
            EngineReason::Page(BrowserReason::ErrorPage)
        } else if target.options.fast_mode {
            EngineReason::FastMode
        } else if self.browser.is_none() {
            EngineReason::NoBrowser
        } else if self.memory.should_skip_browser(url, reason) {
            EngineReason::Unhelpful
        } else {
            let is_retest = self.memory.is_browser_unhelpful(url, reason);
            let bytes = fetched.memory_bytes();
            let Some(_share) = self.waiting_pages.try_take(target.cache.team(), bytes) else {
                drop(fetched);
                return self.render_without_copy(reason, url, target, deadline).await;
            };
            // A copy, because the budget of the fetcher is for bodies that are being read.
            fetched.response.body = Bytes::copy_from_slice(&fetched.response.body);
            let slot = target.turn.acquire_browser(bytes, deadline);
            let rendered = match slot.await {
                // Other pages of the host were rendered while this one waited.
                Ok(_) if !is_retest && self.memory.is_browser_unhelpful(url, reason) => {
                    target.turn.skip_browser();
                    fetched.set_http_engine(Some(EngineReason::Unhelpful));
                    return Ok(fetched);
                }
                Ok(deadline) => self.render_in_browser(url, target, deadline).await,
                Err(failure) => Err(failure),
            };
            match rendered {
                Ok(Some(mut rendered)) => {
                    rendered.set_browser_engine(EngineReason::Page(reason));
                    if rendered.adds_content_to(&fetched) {
                        self.memory.record(url, BrowserEffect::AddedContent(reason));
                        return Ok(rendered);
                    }
                    self.memory.record(url, BrowserEffect::AddedNothing(reason));
                    EngineReason::NothingAdded
                }
                Ok(None) => {
                    self.memory.record(url, BrowserEffect::AddedNothing(reason));
                    EngineReason::NothingAdded
                }
                Err(failure) => {
                    tracing::debug!(scrape.id = %target.id, error = %failure.error, "cannot render a page in the browser; returning it as fetched");
                    EngineReason::BrowserFailed
                }
            }
        };
        fetched.set_http_engine(Some(plain_reason));
        Ok(fetched)
    }

    /// Renders a page whose fetched version is not kept while it waits.
    async fn render_without_copy(
        &self,
        reason: BrowserReason,
        url: &Url,
        target: &Target<'_>,
        deadline: Instant,
    ) -> Result<ScrapedPage, ScrapeFailure> {
        let bytes = limits::SCRAPED_OVERHEAD_BYTES;
        let deadline = target.turn.acquire_browser(bytes, deadline).await?;
        let rendered = self.render_in_browser(url, target, deadline).await?;
        let mut rendered = rendered.ok_or_else(ScrapeFailure::timeout)?;
        rendered.set_browser_engine(EngineReason::Page(reason));
        Ok(rendered)
    }

    /// Renders the page in the browser; its turn must hold a browser slot. Returns `None` without a browser, and if
    /// the resource is not HTML.
    async fn render_in_browser(
        &self,
        url: &Url,
        target: &Target<'_>,
        deadline: Instant,
    ) -> Result<Option<ScrapedPage>, ScrapeFailure> {
        let Some(browser) = &self.browser else {
            return Ok(None);
        };
        let options = target.options;
        let render = |proxy| browser.render(url, options, None, proxy, deadline).boxed();
        let render = target.routes.attempt(target.class, url, render);
        match self.metrics.time_fetch(SlotKind::Browser, render).await?.response {
            Some(response) => self
                .render(target.conversion(url), response, deadline)
                .await
                .map(Some),
            None => Ok(None),
        }
    }

    /// Follows immediate redirects made by pages (docs/API.md section 5 rule 12).
    async fn follow_page_redirects(
        &self,
        mut scraped: ScrapedPage,
        requested: &Url,
        target: &Target<'_>,
        deadline: Instant,
    ) -> Result<ScrapedPage, ScrapeFailure> {
        let mut seen = HashSet::new();
        while scraped.response.status < 400
            && let Some(next) = scraped
                .response
                .refresh
                .take()
                .or_else(|| scraped.rendered.redirect.take())
        {
            let from = &scraped.response.url;
            if seen.len() >= limits::PAGE_REFRESHES as usize {
                let limit = limits::PAGE_REFRESHES;
                return Err(FetchError::TooManyRedirects { limit }.into());
            }
            // The same URL with other cookies is progress, not a loop.
            if !seen.insert((from.clone(), target.jar.header(from))) {
                return Err(FetchError::RedirectLoop {
                    url: from.to_string(),
                }
                .into());
            }
            let request = request_from(requested, &next, target, deadline);
            let fetch = target.routes.fetch(&self.fetcher, target.class, request);
            let response = SiteResponse::from(self.metrics.time_fetch(SlotKind::Plain, fetch).await?);
            scraped = self
                .render(target.conversion(requested), response, deadline)
                .await?;
        }
        Ok(scraped)
    }

    /// Fetches the frames of a page and inlines them. Returns `None` if the page has no frames.
    async fn inline_frames(
        &self,
        scraped: &ScrapedPage,
        requested: &Url,
        target: &Target<'_>,
        frames: &mut FrameBudget,
        deadline: Instant,
    ) -> Option<SiteResponse> {
        let has_frames = scraped
            .rendered
            .signs
            .as_ref()
            .is_some_and(|signs| signs.frames > 0);
        if !has_frames || scraped.response.status >= 400 {
            return None;
        }
        let depth = limits::FRAME_DEPTH;
        self.inline_nested_frames(&scraped.response, requested, target, deadline, frames, depth)
            .await
    }

    /// Returns a response with the documents of its frames inlined.
    fn inline_nested_frames<'a>(
        &'a self,
        response: &'a SiteResponse,
        requested: &'a Url,
        target: &'a Target<'a>,
        deadline: Instant,
        frames: &'a mut FrameBudget,
        depth: u32,
    ) -> BoxFuture<'a, Option<SiteResponse>> {
        async move {
            let framed_page = match depth {
                0 => None,
                _ => FramedPage::read(&raw_page(&response.url, response)),
            }?;
            let mut documents = Vec::new();
            for url in framed_page.urls() {
                let Some(rest) = frames.remaining.checked_sub(1) else {
                    break;
                };
                frames.remaining = rest;
                if target.options.block_ads && self.blocker.blocks_frame(&url, &response.url).await {
                    frames.blocked += 1;
                    documents.push(None);
                    continue;
                }
                let now = Instant::now();
                let time = limits::FRAME_TIMEOUT.min(deadline.saturating_duration_since(now) / 2);
                let mut request = request_from(requested, &url, target, now + time);
                request.max_body_bytes = limits::FRAME_BYTES;
                let fetch = target.routes.fetch(&self.fetcher, target.class, request);
                let document = match fetch.await {
                    Ok(response) if response.status < 400 => SiteResponse::from(response),
                    _ => {
                        documents.push(None);
                        continue;
                    }
                };
                let inner = self
                    .inline_nested_frames(&document, requested, target, deadline, frames, depth - 1)
                    .await;
                documents.push(Some(inner.unwrap_or(document)));
            }
            if documents.iter().all(Option::is_none) {
                return None;
            }
            let composing = tokio::task::spawn_blocking(move || {
                let pages = documents.iter().map(Option::as_ref);
                let pages: Vec<_> = pages
                    .map(|page| page.map(|page| raw_page(&page.url, page)))
                    .collect();
                framed_page.with(&pages)
            });
            let body = composing.await.ok()?.into();
            Some(SiteResponse {
                content_type: Some("text/html; charset=utf-8".to_owned()),
                body,
                ..response.clone()
            })
        }
        .boxed()
    }
}

/// Limits the frame documents of one page.
struct FrameBudget {
    /// Frames that may still be fetched.
    remaining: usize,
    /// Frames that `blockAds` blocked.
    blocked: u32,
}

impl Default for FrameBudget {
    fn default() -> Self {
        Self {
            remaining: limits::PAGE_FRAMES,
            blocked: 0,
        }
    }
}

/// Returns a request for a URL that a page refers to. The headers that may hold secrets are only sent to the origin of
/// the page's requested URL.
fn request_from(requested: &Url, url: &Url, target: &Target<'_>, deadline: Instant) -> FetchRequest {
    let mut request = page_request(url, target, deadline);
    if url.origin() != requested.origin() {
        request.headers.retain(|(name, _)| !is_private_header(name));
    }
    request
}

impl ScrapedPage {
    /// Returns whether the browser's version has more content than the `fetched` one.
    fn adds_content_to(&self, fetched: &ScrapedPage) -> bool {
        let is_error = |scraped: &ScrapedPage| scraped.response.status >= 400;
        if fetched.rendered.signs.is_none() || self.rendered.signs.is_none() {
            return false;
        }
        let is_worse = fetched.placeholder().is_none() && self.placeholder().is_some();
        let is_recovered = is_error(fetched) && !is_error(self);
        !is_worse && (is_recovered || self.shows_more_than(fetched))
    }

    fn shows_more_than(&self, fetched: &ScrapedPage) -> bool {
        let [before, after] = [fetched, self].map(|scraped| {
            let page = raw_page(&scraped.response.url, &scraped.response);
            scraped.rendered.measure_whole(&page)
        });
        before
            .zip(after)
            .is_some_and(|(before, after)| browser_added(&before, &after))
    }

    /// Returns what the page shows in place of its content, if anything.
    pub(super) fn placeholder(&self) -> Option<&'static str> {
        let reason = self.rendered.browser_reason(self.response.status);
        reason.and_then(BrowserReason::placeholder)
    }

    /// Returns whether the site seems to block this client: with a known challenge, or with nothing at all.
    fn is_blocked(&self) -> bool {
        let response = &self.response;
        let signs = self.rendered.signs.as_ref();
        let is_challenge = signs.is_some_and(|signs| signs.challenge);
        (matches!(response.status, 401 | 403 | 429 | 503) && is_challenge)
            || (response.status != 204 && response.body.is_empty())
    }

    pub(super) fn set_proxy_used(&mut self, used: &str) {
        self.rendered.document.metadata.proxy_used = Some(used.to_owned());
    }

    fn set_browser_engine(&mut self, reason: EngineReason) {
        self.rendered.scripts_have_run();
        let metadata = &mut self.rendered.document.metadata;
        metadata.scrape_engine = Some("browser".to_owned());
        metadata.scrape_engine_reason = Some(reason.name().to_owned());
    }

    fn set_http_engine(&mut self, reason: Option<EngineReason>) {
        let metadata = &mut self.rendered.document.metadata;
        metadata.scrape_engine = Some("http".to_owned());
        metadata.scrape_engine_reason = reason.map(|reason| reason.name().to_owned());
    }

    /// Warns of what the browser could not do with a file that it downloads.
    fn warn_of_missing_captures(&mut self, options: &ScrapeOptions) {
        let captures = &self.captures;
        let wants = |kind| options.wants(kind);
        let missing = [
            (
                "screenshot",
                wants(FormatKind::Screenshot) && captures.screenshot.is_none(),
            ),
            (
                "branding",
                wants(FormatKind::Branding) && captures.branding.is_none(),
            ),
            ("actions", !options.actions.is_empty() && captures.steps.is_none()),
        ];
        for (name, _) in missing.iter().filter(|(_, is_missing)| *is_missing) {
            let warning =
                format!("`{name}` had no effect: the URL is a file, which the browser does not show.");
            self.rendered.document.warn(&warning);
        }
    }

    /// Warns of a page that shows a placeholder instead of its content.
    pub(super) fn warn_of_placeholder(&mut self, options: &ScrapeOptions, has_browser: bool) {
        let Some(shown) = self.placeholder() else {
            return;
        };
        let advice = match has_browser {
            true if options.fast_mode => "Leave out `fastMode`, so that the browser may load it.",
            true => "A longer `waitFor` may help.",
            false => "The page needs a browser, but none is configured on this server.",
        };
        let warning = format!("The page shows {shown} instead of its content. {advice}");
        self.rendered.document.warn(&warning);
    }
}
