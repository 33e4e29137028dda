//! A visit to a page, the same for every page of the product: reserves credits, opens the profile, fetches the page
//! over HTTP or with the browser, converts it, attaches files, compares it with its last version, spends the credits.
//! The caller decides when to visit a page, and holds its turn.

use std::sync::Arc;
use std::time::Duration;

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::api::page::Document;
use harvestman_core::api::url_field::TargetUrl;
use harvestman_core::billing;
use harvestman_core::crawl::{FetchedPage, SlotKind};
use harvestman_core::ids::ScrapeId;
use harvestman_core::pii::Redactor;
use harvestman_fetch::CookieJar;
use harvestman_store::Lease;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument;
use tracing::field::Empty;
use url::Url;

use crate::browser_pages::PageCaptures;
use crate::budget::CreditReservation;
use crate::context::Context;
use crate::error::{ScrapeFailure, internal_error, is_outage};
use crate::files::FileTarget;
use crate::page_cache::PageCache;
use crate::profiles::OpenProfile;
use crate::proxies::Routes;
use crate::scraper::{ScrapedPage, Target};
use crate::slots::SlotOwner;
use crate::turn::Turn;
use crate::{clock, files, outage, tracking};

/// Visits to the pages of one job.
pub(crate) struct PageVisits {
    context: Arc<Context>,
    owner: SlotOwner,
    options: Arc<ScrapeOptions>,
    /// The options for pages of origins that the caller did not name, if they differ.
    public_options: Option<Arc<ScrapeOptions>>,
    /// `None` if the client does not get the documents, which then need no files.
    files: Option<FileTarget>,
    uses_model: bool,
    /// Whether the price of a page includes the model for formats that need one.
    charges_model: bool,
    cache: PageCache,
    jar: CookieJar,
    routes: Arc<Routes>,
}

/// The page to visit.
pub(crate) struct Page<'u> {
    pub(crate) url: &'u Url,
    /// URL to try if the connection to `url` fails: a URL given without a scheme is tried over https first
    /// (docs/API.md section 3).
    pub(crate) fallback: Option<Url>,
    /// Whether the caller named the origin of `url`. Other origins do not get headers that may hold secrets.
    pub(crate) is_own_origin: bool,
    pub(crate) id: ScrapeId,
    /// The page's credit; `None` to reserve one.
    pub(crate) reservation: Option<CreditReservation>,
}

impl PageVisits {
    pub(crate) fn new(
        context: Arc<Context>,
        owner: SlotOwner,
        options: Arc<ScrapeOptions>,
        files: Option<FileTarget>,
    ) -> Self {
        Self {
            cache: PageCache::new(context.store.clone(), owner.team, context.slots.metrics().clone()),
            routes: Arc::new(Routes::new(context.scraper.proxies(), &options)),
            public_options: options.without_private_headers().map(Arc::new),
            context,
            owner,
            options,
            files,
            uses_model: true,
            charges_model: true,
            jar: CookieJar::default(),
        }
    }

    /// Creates the visits of an extract or agent, which uses only the text of its pages.
    pub(crate) fn of_run(context: &Arc<Context>, lease: &Lease, options: Arc<ScrapeOptions>) -> Self {
        Self {
            charges_model: context.config.llm.is_some(),
            ..Self::new(context.clone(), SlotOwner::of(lease), options, None)
        }
    }

    /// Like [`PageVisits::of_run`], without the language model: `json` is filled from what the page states.
    pub(crate) fn of_agent(context: &Arc<Context>, lease: &Lease, options: Arc<ScrapeOptions>) -> Self {
        Self {
            uses_model: false,
            ..Self::of_run(context, lease, options)
        }
    }

    pub(crate) fn options(&self) -> &Arc<ScrapeOptions> {
        &self.options
    }

    pub(crate) fn routes(&self) -> &Arc<Routes> {
        &self.routes
    }

    pub(crate) fn cache(&self) -> &PageCache {
        &self.cache
    }

    /// Returns the time limit of a page.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.options.timeout)
    }

    /// Waits for a slot of the team.
    ///
    /// # Errors
    /// If there is none at `deadline`.
    pub(crate) async fn turn(&self, kind: SlotKind, deadline: Instant) -> Result<Turn, Elapsed> {
        let slots = &self.context.slots;
        let slot = timeout_at(deadline, slots.acquire(self.owner, kind)).await?;
        Ok(Turn::of_call(slots.clone(), self.owner, Some(slot)))
    }

    /// Visits a page in a turn of its own, within its own time limit and the `deadline` of its job. Tries again while the
    /// store is unavailable. For `is_own_origin` see [`Page`].
    ///
    /// # Errors
    /// As for a scrape; 402 if the budget is used up.
    pub(crate) async fn read(
        &self,
        url: &TargetUrl,
        is_own_origin: bool,
        deadline: Instant,
    ) -> Result<FetchedPage, ApiError> {
        let may_retry = |error: &ApiError| is_outage(error) && Instant::now() < deadline;
        outage::retry(may_retry, || self.read_once(url, is_own_origin, deadline)).await
    }

    async fn read_once(
        &self,
        url: &TargetUrl,
        is_own_origin: bool,
        deadline: Instant,
    ) -> Result<FetchedPage, ApiError> {
        let kind = self.context.scraper.first_slot(&self.options);
        let turn = self.turn(kind, deadline).await;
        let turn = turn.map_err(|_| ScrapeFailure::timeout().error)?;
        let page = Page {
            url: &url.url,
            fallback: url.http_fallback(),
            is_own_origin,
            id: clock::new_scrape_id(),
            reservation: None,
        };
        let deadline = deadline.min(Instant::now() + self.timeout());
        let visited = self.visit(page, &turn, deadline).await;
        visited.map_err(|failure| failure.error)
    }

    /// Visits a page.
    pub(crate) async fn visit(
        &self,
        page: Page<'_>,
        turn: &Turn,
        deadline: Instant,
    ) -> Result<FetchedPage, ScrapeFailure> {
        // Zero data retention includes not storing in the cache.
        let shown = self.options.store_in_cache.then_some(page.url);
        // Without the query, which may contain a token.
        let span = tracing::debug_span!(
            "page",
            scrape.id = %page.id,
            server.address = shown.and_then(Url::host_str),
            url.path = shown.map(Url::path),
            http.response.status_code = Empty,
            "error.type" = Empty,
        );
        let visited = self
            .visit_once(page, turn, deadline)
            .instrument(span.clone())
            .await;
        match &visited {
            Ok(page) => span.record("http.response.status_code", page.status),
            Err(failure) => span.record("error.type", failure.error.code.as_str()),
        };
        visited
    }

    async fn visit_once(
        &self,
        page: Page<'_>,
        turn: &Turn,
        deadline: Instant,
    ) -> Result<FetchedPage, ScrapeFailure> {
        let started = Instant::now();
        let reservation = match page.reservation {
            Some(reservation) => reservation,
            None => self.reserve(turn, deadline).await?,
        };
        let profile = turn.on_store(is_outage, || self.open_profile()).await;
        let profile = profile.map_err(ScrapeFailure::transient)?;
        let public_options = self.public_options.as_ref().filter(|_| !page.is_own_origin);
        let target = Target {
            url: page.url,
            fallback: page.fallback.as_ref(),
            id: page.id,
            options: public_options.unwrap_or(&self.options),
            profile: profile.as_ref(),
            cache: &self.cache,
            jar: &self.jar,
            routes: &self.routes,
            class: self.routes.first(),
            turn,
            uses_model: self.uses_model,
        };
        let ScrapedPage {
            response,
            mut rendered,
            captures,
            redactor,
        } = self.context.scraper.scrape(target, deadline).await?;
        let document = &mut rendered.document;
        turn.record_in(&mut document.metadata);
        let completing = self.complete(page.url, document, profile, captures, redactor, turn);
        completing.await.map_err(ScrapeFailure::transient)?;
        let credits = match self.charges_model {
            true => rendered.credits,
            false => billing::without_model(rendered.credits),
        };
        reservation.spend(self.owner.job, credits);
        rendered.document.took_ms = u64::try_from(started.elapsed().as_millis()).ok();
        Ok(FetchedPage {
            retry_after_ms: response.retry_after_ms,
            final_url: response.url,
            status: response.status,
            links: rendered.links,
            document: rendered.document,
            credits,
        })
    }

    async fn reserve(&self, turn: &Turn, deadline: Instant) -> Result<CreditReservation, ScrapeFailure> {
        let (budget, team) = (&self.context.budget, self.owner.team);
        let reserved = match turn.is_of_job() {
            true => turn.on_store(is_outage, || budget.reserve(team)).await,
            false => budget.reserve_until(deadline, team).await,
        };
        reserved.map_err(|error| match error.code {
            ErrorCode::InsufficientCredits => ScrapeFailure::permanent(error),
            _ => ScrapeFailure::transient(error),
        })
    }

    async fn open_profile(&self) -> Result<Option<OpenProfile>, ApiError> {
        let Context { profiles, store, .. } = &*self.context;
        let named = self.options.profile.as_ref();
        profiles.open(store, self.owner.team, named, self.owner.job).await
    }

    /// Saves the profile, and adds to the document what is not made from the page's bytes.
    async fn complete(
        &self,
        url: &Url,
        document: &mut Document,
        profile: Option<OpenProfile>,
        mut captures: PageCaptures,
        redactor: Option<Redactor>,
        turn: &Turn,
    ) -> Result<(), ApiError> {
        let store = &self.context.store;
        if let (Some(profile), Some(storage)) = (profile, captures.storage.take()) {
            let save = || profile.save(store, storage.clone());
            turn.on_store(is_outage, save).await?;
        }
        if let Some(target) = &self.files {
            files::attach(store, target, document, captures, turn).await?;
        }
        if let Some(redactor) = &redactor {
            redactor.branding(&mut document.branding);
        }
        if let Some(redactor) = redactor.clone()
            && let Some(mut actions) = document.actions.take()
        {
            let work = move || {
                redactor.actions(&mut actions);
                actions
            };
            let redacted = tokio::task::spawn_blocking(work).await;
            document.actions = Some(redacted.map_err(internal_error)?);
        }
        let (team, options) = (self.owner.team, &self.options);
        tracking::track(store, team, url, options, document, turn).await?;
        // The earlier version may have been stored without `redactPII`.
        if let (Some(redactor), Some(changes)) = (&redactor, &mut document.change_tracking) {
            redactor.changes(changes);
        }
        Ok(())
    }
}
