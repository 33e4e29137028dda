//! Maps: fetches what is needed to find the URLs of a site. The core decides which URLs are listed; listed
//! URLs are never fetched.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use harvestman_core::api::crawl::SitemapMode;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::map::{MapLink, MapRequest, MapResponse};
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::billing::MAP_CREDITS;
use harvestman_core::crawl::RobotsOutcome;
use harvestman_core::host::HostKey;
use harvestman_core::ids::{JobId, ScrapeId, TeamId};
use harvestman_core::map::{Listing, warnings};
use harvestman_core::sitemap::SitemapQueue;
use harvestman_fetch::{CookieJar, FetchError};
use harvestman_store::{JobKind, NewJob, Principal};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::budget::CreditReservation;
use crate::context::{Context, Engine};
use crate::error::{ScrapeFailure, internal_error, is_outage, stopping};
use crate::jobs::new_job;
use crate::page_cache::PageCache;
use crate::proxies::Routes;
use crate::scraper::{ScrapedPage, Target};
use crate::site_files::SiteFiles;
use crate::slots::SlotOwner;
use crate::turn::Turn;
use crate::{clock, limits, outage};

impl Engine {
    /// Lists the URLs of a site.
    pub async fn map(&self, principal: &Principal, request: MapRequest) -> Result<MapResponse, ApiError> {
        let started = Instant::now();
        let reserving = self.context.budget.reserve(principal.team);
        let reservation = within(request.timeout, started, reserving).await?;
        SiteMapper::new(self.context.clone(), principal.team, request)
            .run(principal, started, reservation)
            .await
    }
}

/// Returns the links of a map that is a part of a leased job of the team: it is not recorded as a call of its own. Tries
/// again while the store is unavailable.
///
/// # Errors
/// As for a map; 408 at `deadline`.
pub(crate) async fn map_links(
    context: &Arc<Context>,
    team: TeamId,
    request: &MapRequest,
    deadline: Instant,
) -> Result<Vec<MapLink>, ApiError> {
    let links = || SiteMapper::new(context.clone(), team, request.clone()).links();
    let links = timeout_at(deadline, outage::retry(is_outage, links));
    links.await.map_err(|_| ScrapeFailure::timeout().error)?
}

/// One map request.
struct SiteMapper {
    context: Arc<Context>,
    team: TeamId,
    request: MapRequest,
    id: JobId,
    cache: PageCache,
    routes: Arc<Routes>,
    files: SiteFiles,
    warnings: Vec<String>,
}

/// The result of the first fetches from a site. There is no page in sitemap-only mode, and no robots.txt when
/// sitemaps are skipped.
struct SiteProbe {
    page: Option<ScrapedPage>,
    robots: Option<RobotsOutcome>,
    /// Why there is no page, or no robots.txt if only that was fetched.
    failure: Option<ApiError>,
    /// No connection was made: the other scheme may work.
    unreachable: bool,
}

impl SiteMapper {
    fn new(context: Arc<Context>, team: TeamId, request: MapRequest) -> Self {
        let cache = PageCache::new(context.store.clone(), team, context.slots.metrics().clone());
        let options = ScrapeOptions {
            location: request.location.clone(),
            ..ScrapeOptions::default()
        };
        let routes = Arc::new(Routes::new(context.scraper.proxies(), &options));
        let files = SiteFiles::of_map(&context, routes.clone(), cache.clone(), &request);
        Self {
            context,
            team,
            request,
            id: clock::new_job_id(),
            cache,
            routes,
            files,
            warnings: Vec::new(),
        }
    }

    /// Runs the map, whose timeout began at `started`, and records the call and its credits before it returns.
    async fn run(
        self,
        principal: &Principal,
        started: Instant,
        reservation: CreditReservation,
    ) -> Result<MapResponse, ApiError> {
        let listing = Listing::new(&self.request)?;
        let request = &self.request;
        let call = NewJob {
            id: self.id,
            url: request.url.url.to_string(),
            ..new_job(&self.context, principal, JobKind::Map, request, &request.caller)?
        };
        let context = self.context.clone();
        let timeout = self.request.timeout;
        let work = Box::pin(self.build(listing));
        let result = tokio::select! {
            result = within(timeout, started, work) => result,
            () = context.stop.cancelled() => Err(stopping()),
        };
        let end = result.as_ref().map(|_| MAP_CREDITS).map_err(ApiError::clone);
        context.budget.record_call(reservation, call, end).await?;
        result
    }

    async fn links(self) -> Result<Vec<MapLink>, ApiError> {
        let listing = Listing::new(&self.request)?;
        Ok(Box::pin(self.build(listing)).await?.links)
    }

    async fn build(mut self, mut listing: Listing) -> Result<MapResponse, ApiError> {
        let _share = self.context.maps.take_one(self.team).await;
        let url = &self.request.url.url;
        let proxy = self.routes.proxy(self.routes.first(), url);
        let fetcher = self.context.scraper.fetcher();
        let target = fetcher.check_target(url, proxy.as_deref()).await;
        target.map_err(|error| ApiError::new(error.code(), error.to_string()))?;

        let probe = self.probe_site(&mut listing).await;
        if let Some(robots) = probe.robots {
            listing = self.read_sitemaps(listing, robots).await?;
        }
        if let Some(failure) = probe.failure {
            if listing.is_empty() {
                return Err(failure);
            }
            self.warnings.push(failure.message);
        }
        if self.request.sitemap != SitemapMode::Only {
            listing.list_root();
        }
        let known_pages = self.cache.known_pages(listing.root()).await?;
        let list_known = self.request.use_index && self.request.sitemap != SitemapMode::Only;
        let filled = off_thread(listing, move |listing| {
            if let Some(page) = probe.page {
                listing.list(&page.response.url);
                page.rendered.links.iter().for_each(|link| listing.list(link));
                let about = page.rendered.document.metadata;
                listing.describe(&page.response.url, about.title, about.description);
            }
            for (url, page) in known_pages {
                if list_known {
                    listing.list(&url);
                }
                listing.describe(&url, page.title, page.description);
            }
        });
        listing = filled.await?;
        if listing.overflowed() {
            self.warnings.push(warnings::TOO_MANY.to_owned());
        }
        if self.request.allow_external_links {
            self.warnings.push(warnings::NO_EXTERNAL_LINKS.to_owned());
        }
        self.warnings.extend(self.request.caller.warning());
        let links = tokio::task::spawn_blocking(move || listing.finish()).await;
        Ok(MapResponse {
            success: true,
            id: Some(self.id),
            links: links.map_err(internal_error)?,
            warning: (!self.warnings.is_empty()).then(|| self.warnings.join(" ")),
        })
    }

    /// Fetches the given URL, over HTTP if HTTPS was a guess and is unreachable, and moves the map to the URL
    /// that it redirects to.
    async fn probe_site(&mut self, listing: &mut Listing) -> SiteProbe {
        let mut site = self.request.url.url.clone();
        let mut probe = match self.connect_guessed().await {
            Ok(()) => self.probe(&site).await,
            Err(error) => SiteProbe {
                page: None,
                robots: None,
                unreachable: error.is_before_response(),
                failure: Some(page_failure(ScrapeFailure::from(error).error)),
            },
        };
        if probe.unreachable
            && let Some(plain) = self.request.url.http_fallback()
        {
            let second = self.probe(&plain).await;
            if !second.unreachable {
                listing.rebase(&plain);
                (probe, site) = (second, plain);
            }
        }
        if let Some(page) = &probe.page {
            if page.response.status >= 400 {
                self.warnings.push(warnings::error_status(page.response.status));
            }
            if !listing.rebase(&page.response.url) {
                self.warnings
                    .push(warnings::redirected_off_site(&page.response.url));
            }
        }
        let root = HostKey::of(listing.root());
        if probe.robots.is_some()
            && root != HostKey::of(&site)
            && let Some(url) = root.robots_url()
        {
            probe.robots = Some(self.robots(url).await);
        }
        probe
    }

    /// Connects to the site if its URL was given without a scheme.
    async fn connect_guessed(&self) -> Result<(), FetchError> {
        let url = &self.request.url;
        if !url.scheme_guessed {
            return Ok(());
        }
        let timeout_ms = self.request.timeout.unwrap_or(ScrapeOptions::default().timeout);
        let deadline = Instant::now() + Duration::from_millis(timeout_ms);
        let (fetcher, class) = (self.context.scraper.fetcher(), self.routes.first());
        let connecting =
            self.routes
                .connect_guessed(fetcher, class, &url.url, self.files.verifies_tls(), deadline);
        connecting.await
    }

    async fn probe(&self, site: &Url) -> SiteProbe {
        let page = async {
            match self.request.sitemap {
                SitemapMode::Only => None,
                SitemapMode::Include | SitemapMode::Skip => Some(self.page(site).await),
            }
        };
        let robots = async {
            match (self.request.sitemap, HostKey::of(site).robots_url()) {
                (SitemapMode::Include | SitemapMode::Only, Some(url)) => Some(self.robots(url).await),
                (SitemapMode::Skip, _) | (_, None) => None,
            }
        };
        let mut probe = SiteProbe {
            page: None,
            robots: None,
            failure: None,
            unreachable: false,
        };
        let (page, robots) = tokio::join!(page, robots);
        match (page, &robots) {
            (Some(Ok(page)), _) => probe.page = Some(page),
            (Some(Err(failure)), _) => {
                probe.unreachable = failure.unreachable;
                probe.failure = Some(page_failure(failure.error));
            }
            (None, Some(RobotsOutcome::HostError(fault))) => {
                probe.unreachable = true;
                probe.failure = Some(page_failure(ApiError::new(fault.code, fault.message.clone())));
            }
            (None, Some(RobotsOutcome::Unreachable(why))) => {
                probe.unreachable = true;
                probe.failure = Some(ApiError::new(
                    ErrorCode::MapFailed,
                    warnings::unreachable(site, why),
                ));
            }
            (None, _) => {}
        }
        probe.robots = robots;
        probe
    }

    async fn robots(&self, url: Url) -> RobotsOutcome {
        self.files.robots(url, &self.context.config.robots_agent).await
    }

    async fn page(&self, url: &Url) -> Result<ScrapedPage, ScrapeFailure> {
        let options = Arc::new(ScrapeOptions {
            formats: Vec::new(),
            headers: self.request.headers.clone(),
            location: self.request.location.clone(),
            max_age: self.request.ignore_cache.then_some(0),
            ..ScrapeOptions::default()
        });
        let deadline = Instant::now() + Duration::from_millis(options.timeout);
        let owner = SlotOwner::of_team(self.team, self.id);
        let target = Target {
            uses_model: true,
            url,
            fallback: None,
            id: ScrapeId::from(self.id),
            options: &options,
            profile: None,
            cache: &self.cache,
            jar: &CookieJar::default(),
            routes: &self.routes,
            class: self.routes.first(),
            turn: &Turn::of_call(self.context.slots.clone(), owner, None),
        };
        self.context.scraper.scrape(target, deadline).await
    }

    /// Lists the URLs of the site's sitemaps, within the limits of number and time.
    async fn read_sitemaps(
        &mut self,
        mut listing: Listing,
        robots: RobotsOutcome,
    ) -> Result<Listing, ApiError> {
        let root = listing.root().clone();
        let mut queue = SitemapQueue::default();
        if let (RobotsOutcome::Found(robots), Some(url)) = (&robots, HostKey::of(&root).robots_url()) {
            queue = SitemapQueue::from_robots(&url, robots.sitemaps());
        }
        if queue.is_empty() {
            queue.push_root(SitemapQueue::default_url(&root));
        }
        let deadline = Instant::now() + limits::MAP_SITEMAPS_TIMEOUT;
        let mut fetches = FuturesUnordered::new();
        let mut read = 0_u32;
        while !listing.is_full() {
            if let Some((file, sitemap)) = queue.pop_read() {
                let Some(sitemap) = sitemap else { continue };
                read += 1;
                for child in sitemap.children {
                    if HostKey::of(&child) == HostKey::of(&file.url) || listing.admits_host(&child) {
                        queue.push_child(&file, child);
                    }
                }
                listing = off_thread(listing, move |listing| {
                    sitemap.pages.iter().for_each(|page| listing.list(page));
                })
                .await?;
                continue;
            }
            while let Some(url) = queue.next_file().cloned() {
                queue.mark_in_flight(&url);
                let files = self.files.clone();
                fetches.push(async move { (files.sitemap(url.clone()).await, url) });
            }
            match timeout_at(deadline, fetches.next()).await {
                Ok(Some((sitemap, url))) => {
                    queue.store_result(&url, sitemap);
                }
                Ok(None) => break,
                Err(_) => {
                    self.warnings.push(warnings::SITEMAPS_TOO_SLOW.to_owned());
                    break;
                }
            }
        }
        if read == 0 && self.request.sitemap == SitemapMode::Only {
            self.warnings.push(warnings::NO_SITEMAP.to_owned());
        }
        Ok(listing)
    }
}

/// Updates the listing on a blocking thread: a sitemap has tens of thousands of URLs.
async fn off_thread(
    mut listing: Listing,
    work: impl FnOnce(&mut Listing) + Send + 'static,
) -> Result<Listing, ApiError> {
    let work = tokio::task::spawn_blocking(move || {
        work(&mut listing);
        listing
    });
    work.await.map_err(internal_error)
}

async fn within<T>(
    timeout_ms: Option<u64>,
    started: Instant,
    work: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let Some(timeout_ms) = timeout_ms else {
        return work.await;
    };
    let deadline = started + Duration::from_millis(timeout_ms);
    timeout_at(deadline, work).await.unwrap_or_else(|_| {
        Err(ApiError::new(
            ErrorCode::MapTimeout,
            format!(
                "the map did not finish within its `timeout` of {timeout_ms} ms; allow more time, or map a part of the site"
            ),
        ))
    })
}

/// Keeps the error codes that clients know; any other failure to fetch the page becomes `MAP_FAILED`.
fn page_failure(error: ApiError) -> ApiError {
    match error.code {
        ErrorCode::DnsResolution
        | ErrorCode::UnsafeTarget
        | ErrorCode::SslError
        | ErrorCode::BadRequest
        | ErrorCode::Unavailable => error,
        _ => ApiError::new(ErrorCode::MapFailed, warnings::no_page(&error.message)),
    }
}
