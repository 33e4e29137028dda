//! A visit to a page: plainly first, with the browser where the page shows that it needs one, or the other way round
//! where its host has shown it. The rules are in the core; what hosts have shown is in `host_memory`.

use std::collections::HashSet;
use std::sync::Arc;

use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::ids::ScrapeId;
use harvestman_core::scrape::{BrowserReason, EngineReason, browser_added, needs_browser};
use harvestman_fetch::{CookieJar, FetchError};
use tokio::time::Instant;
use url::Url;

use super::{Fetched, ScrapeFailure, Scraped, Scraper, Target, page_request};
use crate::answer::Answer;
use crate::host_memory::Lesson;
use crate::limits;

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
            && let Some(scraped) = self.as_learned(target.url, options, id, deadline).await
        {
            return Ok((target.url, scraped));
        }
        let mut url = target.url;
        let mut fetched = self.fetch(url, target.profile, options, jar, deadline).await;
        if let (Err(failure), Some(plain)) = (&fetched, &target.fallback)
            && failure.unreachable
            && let Ok(second) = self.fetch(plain, target.profile, options, jar, deadline).await
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
            scraped.came_by_http(None);
            if is_free {
                scraped = self.by_scripts(scraped, url, options, id, deadline).await;
            }
        }
        scraped.taken = taken;
        Ok((url, scraped))
    }

    /// A page of a host whose pages need the browser; `None` where it has none to show.
    async fn as_learned(
        &self,
        url: &Url,
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        deadline: Instant,
    ) -> Option<Scraped> {
        let mut scraped = self.in_browser(url, options, id, deadline).await.ok()??;
        scraped.came_by_browser(EngineReason::Learned);
        let reason = scraped.rendered.browser_reason(scraped.answer.status)?;
        reason.placeholder().is_none().then_some(scraped)
    }

    /// The page as its scripts make it where that is worth a browser, else as it was fetched.
    async fn by_scripts(
        &self,
        mut fetched: Scraped,
        url: &Url,
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
        } else if self.browser.is_none() {
            EngineReason::NoBrowser
        } else if self.memory.is_useless(url, reason) {
            EngineReason::Unhelpful
        } else {
            match self.in_browser(url, options, id, deadline).await {
                Ok(Some(mut made)) if made.adds_to(&fetched) => {
                    self.memory.learn(url, Lesson::Added);
                    made.came_by_browser(EngineReason::Page(reason));
                    return made;
                }
                Ok(_) => {
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
        options: &Arc<ScrapeOptions>,
        id: ScrapeId,
        deadline: Instant,
    ) -> Result<Option<Scraped>, ScrapeFailure> {
        let Some(browser) = &self.browser else {
            return Ok(None);
        };
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
            let mut request = page_request(&next, options, jar, deadline);
            if next.origin() != requested.origin() {
                request.headers.retain(|(name, _)| {
                    PRIVATE_HEADERS
                        .iter()
                        .all(|private| !name.eq_ignore_ascii_case(private))
                });
            }
            let answer = Answer::from(self.fetcher.fetch(request).await?);
            scraped = self.render(requested, answer, options, id, deadline).await?;
        }
        Ok(scraped)
    }
}

impl Scraped {
    /// Whether the page, as the browser shows it, has more of its content than as it was `fetched`.
    fn adds_to(&self, fetched: &Scraped) -> bool {
        let is_error = |scraped: &Scraped| scraped.answer.status >= 400;
        match (&fetched.rendered.signs, &self.rendered.signs) {
            (Some(before), Some(after)) => {
                (is_error(fetched) && !is_error(self)) || browser_added(before, after)
            }
            _ => false,
        }
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
        let reason = self.rendered.browser_reason(self.answer.status);
        let Some(shown) = reason.and_then(BrowserReason::placeholder) else {
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
