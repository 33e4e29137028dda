//! Reads the pages of a run: each in a slot of the team, within its budget, through the same scraper as any
//! other page.

use std::sync::Arc;
use std::time::Duration;

use harvestman_core::api::error::ApiError;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::Document;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_fetch::CookieJar;
use harvestman_store::Lease;
use tokio::time::Instant;
use url::Url;

use crate::clock;
use crate::context::Context;
use crate::error::ScrapeFailure;
use crate::page_cache::PageCache;
use crate::scraper::{Scraped, Target};
use crate::slots::SlotOwner;
use crate::turn::Turn;

/// Reads the pages of one run.
pub(super) struct PageReader<'a> {
    context: &'a Arc<Context>,
    lease: &'a Lease,
    cache: PageCache,
    jar: CookieJar,
}

/// A page that a run has read.
pub(super) struct RunPage {
    pub(super) document: Document,
    /// Final URL, after redirects.
    pub(super) url: Url,
    /// All links of the page.
    pub(super) links: Vec<Url>,
    pub(super) credits: u32,
}

impl<'a> PageReader<'a> {
    pub(super) fn new(context: &'a Arc<Context>, lease: &'a Lease) -> Self {
        Self {
            context,
            lease,
            cache: PageCache::new(context.store.clone(), lease.team),
            jar: CookieJar::default(),
        }
    }

    /// Reads one page, within its own timeout and the run's deadline.
    ///
    /// # Errors
    /// As for a scrape; 402 if the budget is used up.
    pub(super) async fn read(
        &self,
        url: &TargetUrl,
        options: &Arc<ScrapeOptions>,
        deadline: Instant,
    ) -> Result<RunPage, ApiError> {
        let context = self.context;
        let reservation = context.budget.reserve(&context.store, self.lease.team).await?;
        let owner = SlotOwner {
            team: self.lease.team,
            key: self.lease.key,
            job: self.lease.job,
        };
        let slot = context.slots.acquire(owner, context.scraper.first_slot(options));
        let slot = tokio::time::timeout_at(deadline, slot)
            .await
            .map_err(|_| ScrapeFailure::timeout().error)?;
        let turn = Turn::of_call(context.slots.clone(), owner, Some(slot));
        let deadline = deadline.min(Instant::now() + Duration::from_millis(options.timeout));
        let profile = context
            .profiles
            .open(
                &context.store,
                self.lease.team,
                options.profile.as_ref(),
                self.lease.job,
            )
            .await?;
        let target = Target {
            url: &url.url,
            fallback: url.http_fallback(),
            profile: profile.as_ref(),
            turn: &turn,
        };
        let id = clock::new_scrape_id();
        let scraped = context
            .scraper
            .scrape(target, &self.cache, options, id, &self.jar, deadline)
            .await;
        let Scraped {
            response,
            rendered,
            mut captures,
        } = scraped.map_err(|failure| failure.error)?;
        if let (Some(profile), Some(storage)) = (&profile, captures.storage.take()) {
            profile.save(&context.store, storage).await?;
        }
        reservation.spend(rendered.credits);
        Ok(RunPage {
            document: rendered.document,
            url: response.url,
            links: rendered.links,
            credits: rendered.credits,
        })
    }
}
