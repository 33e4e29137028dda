//! Opens sessions: starts the browser, loads its profile, repeats the scrape, then stores the session. A
//! failure before that leaves no session.

use std::sync::Arc;
use std::time::Duration;

use harvestman_browser::{BrowserError, LiveBrowser};
use harvestman_core::api::browser::BrowserRequest;
use harvestman_core::api::caller::Caller;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::interact::InteractRequest;
use harvestman_core::api::options::ScrapeOptions;
use harvestman_core::ids::{JobId, ScrapeId, SessionId};
use harvestman_core::interact::{Lifetime, SessionError};
use harvestman_fetch::FetchError;
use harvestman_store::{JobKind, NewJob, NewSession, Principal};
use tokio::time::Instant;

use super::live::{Age, LiveSession, SessionResources, before_run_error, check_task};
use super::registry::SessionEnd;
use super::replay::Replay;
use crate::clock::Ticker;
use crate::context::Context;
use crate::error::stopping;
use crate::proxies::Routes;
use crate::{clock, limits};

/// Parameters of a new session.
struct SessionPlan<'a> {
    kind: JobKind,
    lifetime: Lifetime,
    options: &'a ScrapeOptions,
    /// The scrape to repeat.
    scrape: Option<(ScrapeId, &'a Replay)>,
    stream_web_view: bool,
    caller: &'a Caller,
}

impl Context {
    /// Returns the session that continues a scrape; the first call opens it.
    pub(super) async fn session_of_scrape(
        self: &Arc<Self>,
        principal: &Principal,
        scrape: ScrapeId,
        request: &InteractRequest,
    ) -> Result<Arc<LiveSession>, ApiError> {
        self.end_lost_sessions().await?;
        let registry = &self.sessions.registry;
        if let Some(session) = registry.by_scrape(scrape) {
            return check_owner(principal, session);
        }
        let lock = registry.opening_lock(scrape);
        let _guard = lock.lock().await;
        if let Some(session) = registry.by_scrape(scrape) {
            return check_owner(principal, session);
        }
        let stored = self.store.session_of(scrape).await;
        if let Some(row) = stored? {
            if row.team == principal.team {
                self.refuse_elsewhere(&row)?;
            }
            return Err(match row.team == principal.team {
                true => SessionError::Destroyed.into(),
                false => SessionError::OtherTeam.into(),
            });
        }
        let origin = self.store.scrape_origin(scrape).await?;
        let origin = origin.ok_or(SessionError::NoScrape)?;
        if origin.team != principal.team {
            return Err(SessionError::OtherTeam.into());
        }
        let replay = Replay::of(&origin, self.store.database_time(clock::now()).await?)?;
        check_task(
            self.sessions.browsers()?,
            &request.task(),
            self.config.llm.as_ref(),
        )
        .await?;
        if let Some(existing) = &request.existing_session_id {
            return self.continue_scrape(principal, existing, scrape, &replay).await;
        }
        self.open(
            principal,
            SessionPlan {
                kind: JobKind::Interact,
                lifetime: Lifetime::of_interact(request),
                options: &replay.options,
                scrape: Some((scrape, &replay)),
                stream_web_view: true,
                caller: &request.caller,
            },
        )
        .await
    }

    /// Lets an existing session of the team continue a scrape. Its browser keeps its own options.
    async fn continue_scrape(
        self: &Arc<Self>,
        principal: &Principal,
        id: &str,
        scrape: ScrapeId,
        replay: &Replay,
    ) -> Result<Arc<LiveSession>, ApiError> {
        let id: SessionId = id.parse().map_err(|_| SessionError::NoSession)?;
        let session = self.active_session(principal, id).await?;
        let turn = session.turn().await?;
        if self.sessions.registry.continues_a_scrape(id) {
            return Err(SessionError::InUse.into());
        }
        self.repeat_scrape(&session.browser, replay).await?;
        let bound = self.store.bind_session(id, scrape).await;
        if !bound? {
            return Err(SessionError::Destroyed.into());
        }
        self.sessions.registry.bind(id, scrape);
        drop(turn);
        Ok(session)
    }

    /// Opens a session that does not continue a scrape.
    pub(super) async fn open_standalone(
        self: &Arc<Self>,
        principal: &Principal,
        request: BrowserRequest,
    ) -> Result<Arc<LiveSession>, ApiError> {
        let options = ScrapeOptions {
            block_ads: request.block_ads,
            location: request.location.clone(),
            profile: request.profile.clone(),
            ..ScrapeOptions::default()
        };
        self.open(
            principal,
            SessionPlan {
                kind: JobKind::Browser,
                lifetime: Lifetime::of_browser(&request),
                options: &options,
                scrape: None,
                stream_web_view: request.stream_web_view,
                caller: &request.caller,
            },
        )
        .await
    }

    async fn open(
        self: &Arc<Self>,
        principal: &Principal,
        plan: SessionPlan<'_>,
    ) -> Result<Arc<LiveSession>, ApiError> {
        let browsers = self.sessions.browsers()?;
        let id = SessionId(clock::new_job_id().0);
        let tokens = self.config.token_key.tokens(id, plan.stream_web_view);
        let permit = self.sessions.permits.permit(principal.team).await?;
        let reservation = self.budget.reserve(principal.team).await?;
        let named = plan.options.profile.as_ref();
        let owner = JobId::from(id);
        let profile = self
            .profiles
            .open(&self.store, principal.team, named, owner)
            .await?;
        let browser = browsers.open(plan.options).await.map_err(before_run_error)?;
        let preparation = async {
            if let Some(profile) = &profile {
                browser
                    .restore(&profile.storage)
                    .await
                    .map_err(before_run_error)?;
            }
            if let Some((_, replay)) = plan.scrape {
                self.repeat_scrape(&browser, replay).await?;
            }
            Ok(self.store.database_time(clock::now()).await?)
        };
        let now = match preparation.await {
            Ok(now) => now,
            Err(error) => {
                browser.end().await;
                return Err(error);
            }
        };
        let age = Age::new(Ticker::at(Instant::now(), now), plan.lifetime);
        let resources = SessionResources {
            profile,
            reservation,
            permit,
        };
        let session = LiveSession::new(id, principal.team, age, browser, tokens, resources);
        self.register(principal, &plan, Arc::new(session)).await
    }

    /// Stores the session and adds it to the registry.
    async fn register(
        self: &Arc<Self>,
        principal: &Principal,
        plan: &SessionPlan<'_>,
        session: Arc<LiveSession>,
    ) -> Result<Arc<LiveSession>, ApiError> {
        let url = plan.scrape.map(|(_, replay)| replay.url.to_string());
        let new_session = NewSession {
            call: NewJob {
                id: JobId::from(session.id),
                team: principal.team,
                key: principal.key,
                kind: plan.kind,
                url: url.unwrap_or_default(),
                request: String::new(),
                base: String::new(),
                page_limit: 0,
                webhook: None,
                origin: plan.caller.origin.clone(),
                integration: plan.caller.integration.clone(),
                username: plan.caller.username(),
                zero_data_retention: false,
                retention_ms: limits::SESSION_RETENTION_MS,
                created_at: session.age.created,
            },
            scrape: plan.scrape.map(|(scrape, _)| scrape),
            stream_web_view: plan.stream_web_view,
            expires_at: session.age.expires_at(),
        };
        if let Err(error) = self.store.begin_session(&new_session).await {
            session.browser.end().await;
            // It may be stored nevertheless: the response to a commit can be lost.
            let end = SessionEnd {
                last_activity: session.age.created,
                at: session.age.created,
            };
            self.sessions.registry.add_unsettled(session.id, end);
            let stored = match new_session.scrape {
                Some(scrape) => self.store.session_of(scrape).await?,
                None => None,
            };
            return Err(match stored {
                Some(row) if row.id != session.id => opened_elsewhere(),
                _ => error.into(),
            });
        }
        tracing::info!(session.id = %session.id, team.id = %principal.team, "browser session started");
        if !self.sessions.registry.add(session.clone(), new_session.scrape) {
            let ended = self.finish(session).await;
            return Err(ended.map_or_else(ApiError::from, |_| stopping()));
        }
        self.keep_downloads(session.clone());
        Ok(session)
    }

    /// Repeats a scrape.
    ///
    /// # Errors
    /// 409 if the page cannot be scraped again, 502 if the browser fails.
    async fn repeat_scrape(&self, browser: &LiveBrowser, replay: &Replay) -> Result<(), ApiError> {
        let deadline = Instant::now() + Duration::from_millis(replay.options.timeout);
        let mut result = match self.connect_guessed(replay, deadline).await {
            Ok(()) => browser.replay(&replay.url, &replay.options, deadline).await,
            Err(error) => Err(BrowserError::Navigation {
                reason: error.to_string(),
            }),
        };
        if let (Err(BrowserError::Navigation { .. }), Some(fallback)) = (&result, &replay.fallback) {
            result = browser.replay(fallback, &replay.options, deadline).await;
        }
        result.map_err(|error| match error {
            BrowserError::Navigation { .. }
            | BrowserError::BadRedirect
            | BrowserError::Timeout
            | BrowserError::Download
            | BrowserError::Crashed
            | BrowserError::Action { .. } => SessionError::NoReplay(error.to_string()).into(),
            error => before_run_error(error),
        })
    }

    /// Connects to the site if its URL was given without a scheme: a browser would wait for TLS until the deadline.
    async fn connect_guessed(&self, replay: &Replay, deadline: Instant) -> Result<(), FetchError> {
        let Replay {
            url,
            fallback: Some(_),
            options,
        } = replay
        else {
            return Ok(());
        };
        let routes = Routes::new(self.scraper.proxies(), options);
        let (fetcher, class) = (self.scraper.fetcher(), routes.first());
        routes
            .connect_guessed(fetcher, class, url, options.verify_tls(), deadline)
            .await
    }
}

/// Returns the error of a first call when another node opened the session of the scrape meanwhile.
fn opened_elsewhere() -> ApiError {
    let mut error = ApiError::new(
        ErrorCode::Unavailable,
        "another server of the cluster has just opened the session of this scrape; send the request again",
    );
    error.retry_after_s = Some(1);
    error
}

/// Returns the session if it belongs to the principal's team.
fn check_owner(principal: &Principal, session: Arc<LiveSession>) -> Result<Arc<LiveSession>, ApiError> {
    match session.team == principal.team {
        true => Ok(session),
        false => Err(SessionError::OtherTeam.into()),
    }
}
