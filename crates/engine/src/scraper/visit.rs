//! A visit to a page: plainly first, with the browser where the page shows that it needs one, or the other way round
//! where its host has shown it. The rules are in the core; what hosts have shown is in `host_memory`.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{BrowserReason, EngineReason, FramedPage, browser_added, needs_browser};
use harvestman_fetch::{CookieJar, FetchError, FetchRequest};
use tokio::time::Instant;
use url::Url;

use super::{Fetched, ScrapeFailure, Scraped, Scraper, Target, page_request, raw};
use crate::answer::Answer;
use crate::host_memory::Lesson;
use crate::limits;
use crate::turn::Turn;

/// Headers that a redirect to another origin must not carry.
const PRIVATE_HEADERS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

impl Scraper {
    /// A page from its site, and the address that reached it.
    pub(super) async fn visit<'t>(
        &self,
        target: &'t Target<'_>,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        jar: &CookieJar,
        deadline: Instant,
    ) -> Result<(&'t Url, Scraped), ScrapeFailure> {
        let is_free = !needs_browser(options);
        if is_free
            && self.memory.begins_with_browser(target.url)
            && let Some(scraped) = self.as_learned(target, options, id, deadline).await
        {
            return Ok((target.url, scraped));
        }
        let mut url = target.url;
        let mut fetched = self.fetch(url, target, options, jar, deadline).await;
        if let (Err(failure), Some(plain)) = (&fetched, &target.fallback)
            && failure.unreachable
            && let Ok(second) = self.fetch(plain, target, options, jar, deadline).await
        {
            (url, fetched) = (plain, Ok(second));
        }
        let Fetched {
            answer,
            taken,
            by_browser,
        } = fetched?;
        let mut scraped = self.render(url, answer, options, id, deadline).await?;
        if by_browser {
            scraped.came_by_browser(EngineReason::Requested);
        } else {
            scraped = self.follow(scraped, url, options, id, jar, deadline).await?;
            if let Some(answer) = self.with_frames(&scraped, options, jar, deadline).await {
                // Its own links come first, those to its frames among them.
                let links = scraped.rendered.links;
                scraped = self.render(url, answer, options, id, deadline).await?;
                let more = std::mem::replace(&mut scraped.rendered.links, links);
                scraped.rendered.add_links(more);
            }
            scraped.came_by_http(None);
            if is_free {
                scraped = self
                    .by_scripts(scraped, url, target.turn, options, id, deadline)
                    .await;
            }
        }
        scraped.taken = taken;
        Ok((url, scraped))
    }

    /// A page of a host whose pages need the browser; `None` where it has none to show.
    async fn as_learned(
        &self,
        target: &Target<'_>,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        deadline: Instant,
    ) -> Option<Scraped> {
        // Enough time is left to fetch it after all.
        let now = Instant::now();
        let patience = now + deadline.saturating_duration_since(now) * 2 / 3;
        let mut scraped = self
            .in_browser(target.url, target.turn, 0, options, id, patience)
            .await
            .ok()??;
        scraped.came_by_browser(EngineReason::Learned);
        // Only a plain response says when the site may be asked again.
        let is_busy = matches!(scraped.answer.status, 429 | 503);
        (!is_busy && scraped.placeholder().is_none()).then_some(scraped)
    }

    /// The page as its scripts make it where that is worth a browser, else as it was fetched.
    async fn by_scripts(
        &self,
        mut fetched: Scraped,
        url: &Url,
        turn: &Turn,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        deadline: Instant,
    ) -> Scraped {
        let Some(reason) = fetched.rendered.browser_reason(fetched.answer.status) else {
            return fetched;
        };
        let plain_reason = if !reason.needs_browser() {
            self.memory.learn(url, Lesson::Plain);
            EngineReason::Page(reason)
        } else if fetched.answer.retry_after_ms.is_some() {
            // The site wants to be left alone.
            EngineReason::Page(BrowserReason::ErrorPage)
        } else if self.browser.is_none() {
            EngineReason::NoBrowser
        } else if self.memory.is_useless(url, reason) {
            EngineReason::Unhelpful
        } else {
            let held = fetched.memory_bytes();
            match self.in_browser(url, turn, held, options, id, deadline).await {
                Ok(Some(mut made)) => {
                    made.came_by_browser(EngineReason::Page(reason));
                    if made.adds_to(&fetched) {
                        self.memory.learn(url, Lesson::Added);
                        return made;
                    }
                    self.memory.learn(url, Lesson::Nothing(reason));
                    EngineReason::NothingAdded
                }
                Ok(None) => {
                    self.memory.learn(url, Lesson::Nothing(reason));
                    EngineReason::NothingAdded
                }
                Err(failure) => {
                    tracing::debug!(scrape.id = %id, error = %failure.error, "a page of scripts stays as it was fetched");
                    EngineReason::BrowserFailed
                }
            }
        };
        fetched.came_by_http(Some(plain_reason));
        fetched
    }

    /// The page as the browser shows it; `None` without a browser, and for what is no HTML.
    async fn in_browser(
        &self,
        url: &Url,
        turn: &Turn,
        held_bytes: usize,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        deadline: Instant,
    ) -> Result<Option<Scraped>, ScrapeFailure> {
        let Some(browser) = &self.browser else {
            return Ok(None);
        };
        let deadline = turn.browser(held_bytes, deadline).await?;
        match browser.page(url, options, None, deadline).await?.answer {
            Some(answer) => self.render(url, answer, options, id, deadline).await.map(Some),
            None => Ok(None),
        }
    }

    /// Follows pages that send their reader elsewhere at once (contract section 5.12).
    async fn follow(
        &self,
        mut scraped: Scraped,
        requested: &Url,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        jar: &CookieJar,
        deadline: Instant,
    ) -> Result<Scraped, ScrapeFailure> {
        let mut seen = HashSet::new();
        while scraped.answer.status < 400
            && let Some(next) = scraped.rendered.redirect.take()
        {
            let from = &scraped.answer.url;
            if seen.len() >= limits::PAGE_REFRESHES as usize {
                let limit = limits::PAGE_REFRESHES;
                return Err(FetchError::TooManyRedirects { limit }.into());
            }
            // The same address with other cookies is progress, not a circle.
            if !seen.insert((from.clone(), jar.header(from))) {
                return Err(FetchError::RedirectLoop {
                    url: from.to_string(),
                }
                .into());
            }
            let request = request_from(requested, &next, options, jar, deadline);
            let answer = Answer::from(self.fetcher.fetch(request).await?);
            scraped = self.render(requested, answer, options, id, deadline).await?;
        }
        Ok(scraped)
    }

    /// A page of frames as one page; `None` for a page that is none.
    async fn with_frames(
        &self,
        scraped: &Scraped,
        options: &ScrapeOptions,
        jar: &CookieJar,
        deadline: Instant,
    ) -> Option<Answer> {
        let has_frames = scraped
            .rendered
            .signs
            .as_ref()
            .is_some_and(|signs| signs.frames > 0);
        if !has_frames || scraped.answer.status >= 400 {
            return None;
        }
        let mut left = limits::PAGE_FRAMES;
        self.framed(
            &scraped.answer,
            options,
            jar,
            deadline,
            &mut left,
            limits::FRAME_DEPTH,
        )
        .await
    }

    /// An answer with the documents of its frames in their places. `left` counts the documents that may be fetched.
    fn framed<'a>(
        &'a self,
        answer: &'a Answer,
        options: &'a ScrapeOptions,
        jar: &'a CookieJar,
        deadline: Instant,
        left: &'a mut usize,
        depth: u32,
    ) -> BoxFuture<'a, Option<Answer>> {
        async move {
            let framed = match depth {
                0 => None,
                _ => FramedPage::read(&raw(&answer.url, answer)),
            }?;
            let mut documents = Vec::new();
            for url in framed.urls() {
                let Some(rest) = left.checked_sub(1) else { break };
                *left = rest;
                let now = Instant::now();
                let time = limits::FRAME_TIME.min(deadline.saturating_duration_since(now) / 2);
                let mut request = request_from(&answer.url, &url, options, jar, now + time);
                request.max_body_bytes = limits::FRAME_BYTES;
                let document = match self.fetcher.fetch(request).await {
                    Ok(response) if response.status < 400 => Answer::from(response),
                    _ => {
                        documents.push(None);
                        continue;
                    }
                };
                let inner = self
                    .framed(&document, options, jar, deadline, left, depth - 1)
                    .await;
                documents.push(Some(inner.unwrap_or(document)));
            }
            if documents.iter().all(Option::is_none) {
                return None;
            }
            let composing = tokio::task::spawn_blocking(move || {
                let pages = documents.iter().map(Option::as_ref);
                let pages: Vec<_> = pages.map(|page| page.map(|page| raw(&page.url, page))).collect();
                framed.with(&pages)
            });
            let body = composing.await.ok()?.into();
            Some(Answer {
                content_type: Some("text/html; charset=utf-8".to_owned()),
                body,
                ..answer.clone()
            })
        }
        .boxed()
    }
}

/// A request that a page leads to: without what only the origin of the page may see.
fn request_from(
    page: &Url,
    url: &Url,
    options: &ScrapeOptions,
    jar: &CookieJar,
    deadline: Instant,
) -> FetchRequest {
    let mut request = page_request(url, options, jar, deadline);
    if url.origin() != page.origin() {
        let is_private = |name: &str| {
            PRIVATE_HEADERS
                .iter()
                .any(|private| name.eq_ignore_ascii_case(private))
        };
        request.headers.retain(|(name, _)| !is_private(name));
    }
    request
}

impl Scraped {
    /// Whether the page, as the browser shows it, has more of its content than as it was `fetched`.
    fn adds_to(&self, fetched: &Scraped) -> bool {
        let is_error = |scraped: &Scraped| scraped.answer.status >= 400;
        let (Some(before), Some(after)) = (&fetched.rendered.signs, &self.rendered.signs) else {
            return false;
        };
        let is_worse = fetched.placeholder().is_none() && self.placeholder().is_some();
        let is_recovered = is_error(fetched) && !is_error(self);
        !is_worse && (is_recovered || browser_added(before, after))
    }

    /// What the page shows in place of its content.
    pub(super) fn placeholder(&self) -> Option<&'static str> {
        let reason = self.rendered.browser_reason(self.answer.status);
        reason.and_then(BrowserReason::placeholder)
    }

    fn came_by_browser(&mut self, reason: EngineReason) {
        self.rendered.scripts_have_run();
        let metadata = &mut self.rendered.document.metadata;
        metadata.scrape_engine = Some("browser".to_owned());
        metadata.scrape_engine_reason = Some(reason.name().to_owned());
    }

    fn came_by_http(&mut self, reason: Option<EngineReason>) {
        let metadata = &mut self.rendered.document.metadata;
        metadata.scrape_engine = Some("http".to_owned());
        metadata.scrape_engine_reason = reason.map(|reason| reason.name().to_owned());
    }

    /// Warns the caller of a page that shows something in place of its content.
    pub(super) fn warn_of_placeholder(&mut self, has_browser: bool) {
        let Some(shown) = self.placeholder() else {
            return;
        };
        let advice = match has_browser {
            true => "A longer `waitFor` may help.",
            false => "It needs a browser, and none is configured on this server.",
        };
        let warning = format!("The page shows {shown} in place of its content. {advice}");
        self.rendered.document.warn(&warning);
    }
}
