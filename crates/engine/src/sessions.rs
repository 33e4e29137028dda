//! Browser sessions: opened by the first interact call of a scrape or on their own, used, listed, ended.
//!
//! A session lives in memory; the store records that it exists and charges it when it ends. How the browser
//! executes code and prompts is defined elsewhere.

mod ending;
mod files;
mod live;
mod opening;
mod permits;
pub(crate) mod registry;
mod replay;

use std::sync::Arc;
use std::time::Duration;

use harvestman_core::api::browser::{
    BrowserCreated, BrowserRequest, BrowserSession, BrowserSessions, ExecuteRequest, SessionStatus,
    SessionsQuery,
};
use harvestman_core::api::console::ConsoleSession;
use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::api::interact::{ExecuteResponse, InteractRequest, SessionEnded, Task};
use harvestman_core::billing;
use harvestman_core::ids::{ScrapeId, SessionId};
use harvestman_core::interact::{SessionError, SessionUrls};
use harvestman_store::{Principal, SessionRow};
use tokio::sync::oneshot;
use tracing::Instrument;

use crate::clock;
use crate::context::{Context, Engine};
use crate::error::{internal_error, stopping};
use crate::limits;
use crate::prompt::TaskOutcome;
use live::LiveSession;
use registry::SessionHandle;

pub(crate) use ending::run;
pub use files::SessionFileSource;

impl Engine {
    /// Runs code or a prompt in the browser of a scraped page. The first call opens the browser and repeats
    /// the scrape. `base` is this server's URL as the client sees it. The work continues if the client
    /// disconnects.
    pub async fn interact(
        &self,
        principal: &Principal,
        scrape: ScrapeId,
        request: InteractRequest,
        base: &str,
    ) -> Result<ExecuteResponse, ApiError> {
        let (context, principal, base) = (self.context.clone(), principal.clone(), base.to_owned());
        run_detached(async move {
            let session = context.session_of_scrape(&principal, scrape, &request).await?;
            let timeout = Duration::from_millis(request.timeout_ms());
            context.execute(&session, request.task(), timeout, &base).await
        })
        .await
    }

    /// Ends the browser session of a scrape.
    ///
    /// # Errors
    /// 403 for another team's session; 404 if there is none or it has already ended.
    pub async fn stop_interaction(
        &self,
        principal: &Principal,
        scrape: ScrapeId,
    ) -> Result<SessionEnded, ApiError> {
        self.context.end_lost_sessions().await?;
        let store = &self.context.store;
        let session = store.session_of(scrape).await?;
        if session.is_none() {
            let origin = store.scrape_origin(scrape).await?;
            if origin.is_some_and(|origin| origin.team != principal.team) {
                return Err(SessionError::OtherTeam.into());
            }
        }
        self.end(principal, session).await
    }

    /// Opens a browser that does not continue a scrape.
    pub async fn open_browser(
        &self,
        principal: &Principal,
        request: BrowserRequest,
        base: &str,
    ) -> Result<BrowserCreated, ApiError> {
        let (context, principal) = (self.context.clone(), principal.clone());
        let (sender, receiver) = oneshot::channel();
        let opening = async move {
            // If the client has disconnected, it never learns the id and could not end the session.
            if let Err(Ok(session)) = sender.send(context.open_standalone(&principal, request).await) {
                context.end_later(session.id);
            }
        };
        tokio::spawn(opening.in_current_span());
        let session = receiver.await.map_err(internal_error)??;
        let urls = session.tokens.urls(base);
        Ok(BrowserCreated {
            success: true,
            id: session.id.to_string(),
            cdp_url: urls.cdp,
            live_view_url: urls.live_view,
            interactive_live_view_url: urls.interactive_live_view,
            expires_at: session.age.expires_at(),
        })
    }

    /// Lists the sessions of the team within the last day, newest first.
    pub async fn browser_sessions(
        &self,
        principal: &Principal,
        query: SessionsQuery,
        base: &str,
    ) -> Result<BrowserSessions, ApiError> {
        let live = query.status.map(|status| status == SessionStatus::Active);
        let rows = self
            .context
            .store
            .sessions(principal.team, live, clock::now())
            .await?;
        let sessions = rows.into_iter().map(|row| self.describe(&row, base));
        let is_wanted = |session: &BrowserSession| query.status.is_none_or(|status| session.status == status);
        Ok(BrowserSessions {
            success: true,
            sessions: sessions.filter(is_wanted).collect(),
        })
    }

    /// Lists the sessions of the team within the last day that are live or among the newest `limit`, with their
    /// credits and end times.
    pub async fn session_overviews(
        &self,
        principal: &Principal,
        limit: usize,
        base: &str,
    ) -> Result<Vec<ConsoleSession>, ApiError> {
        let store = &self.context.store;
        let rows = store.sessions(principal.team, None, clock::now()).await?;
        let mut overviews = Vec::new();
        let is_listed = |(at, row): &(usize, SessionRow)| *at < limit || row.end.is_none();
        for (_, row) in rows.into_iter().enumerate().filter(is_listed) {
            let origin = match row.scrape {
                Some(scrape) => store.scrape_origin(scrape).await?,
                None => None,
            };
            let origin = origin.filter(|origin| !origin.zero_data_retention);
            let live = self.context.sessions.registry.get(row.id);
            let credits = match (row.end, &live) {
                (Some(end), _) => end.credits,
                (None, Some(live)) => billing::browser_session(live.age.created, live.age.now()),
                (None, None) => billing::browser_session(row.created_at, row.last_activity_at),
            };
            overviews.push(ConsoleSession {
                session: self.describe(&row, base),
                scrape_id: row.scrape,
                url: origin.map(|origin| origin.url),
                ended_at: row.end.map(|end| end.at),
                ends_at: live.map(|live| live.ends_at()),
                expires_at: row.expires_at,
                credits,
            });
        }
        Ok(overviews)
    }

    fn describe(&self, row: &SessionRow, base: &str) -> BrowserSession {
        let live = self.context.sessions.registry.get(row.id);
        let live = live.filter(|_| row.end.is_none());
        let active = live.is_some() || self.context.is_elsewhere(row);
        let urls = match (&live, active) {
            (Some(live), _) => live.tokens.urls(base),
            (None, true) => {
                let key = &self.context.config.token_key;
                key.tokens(row.id, row.stream_web_view).urls(base)
            }
            (None, false) => SessionUrls::default(),
        };
        BrowserSession {
            id: row.id.to_string(),
            status: match active {
                true => SessionStatus::Active,
                false => SessionStatus::Destroyed,
            },
            cdp_url: urls.cdp,
            live_view_url: urls.live_view,
            interactive_live_view_url: urls.interactive_live_view,
            stream_web_view: row.stream_web_view,
            created_at: row.created_at,
            last_activity: live.map_or(row.last_activity_at, |live| live.last_activity()),
        }
    }

    /// Runs code in a session of the team. The work continues if the client disconnects.
    ///
    /// # Errors
    /// 403 for another team's session, 404 for an unknown one, 410 for one that has ended; otherwise as for
    /// [`Engine::interact`].
    pub async fn execute(
        &self,
        principal: &Principal,
        id: SessionId,
        request: ExecuteRequest,
        base: &str,
    ) -> Result<ExecuteResponse, ApiError> {
        let session = self.context.active_session(principal, id).await?;
        let (context, base) = (self.context.clone(), base.to_owned());
        let timeout = Duration::from_millis(request.timeout_ms());
        let task = Task::Code {
            code: request.code,
            language: request.language,
        };
        run_detached(async move { context.execute(&session, task, timeout, &base).await }).await
    }

    /// Ends a session of the team.
    ///
    /// # Errors
    /// 403 for another team's session; 404 if there is none or it has already ended.
    pub async fn end_browser(&self, principal: &Principal, id: SessionId) -> Result<SessionEnded, ApiError> {
        self.context.end_lost_sessions().await?;
        let session = self.context.store.session(id).await?;
        self.end(principal, session).await
    }

    async fn end(
        &self,
        principal: &Principal,
        session: Option<SessionRow>,
    ) -> Result<SessionEnded, ApiError> {
        let row = session.ok_or(SessionError::NoSession)?;
        if row.team != principal.team {
            return Err(SessionError::OtherTeam.into());
        }
        self.context.refuse_elsewhere(&row)?;
        let context = self.context.clone();
        let ended = run_detached(async move { context.end_session(row.id).await }).await?;
        let row = ended.ok_or(SessionError::NoSession)?;
        let end = row.end.ok_or(SessionError::NoSession)?;
        Ok(SessionEnded {
            success: true,
            session_duration_ms: end.at.millis_since(row.created_at),
            credits_billed: end.credits,
            error: None,
        })
    }

    /// Returns whether this node holds the browser of a session.
    pub fn holds_session(&self, id: SessionId) -> bool {
        self.context.sessions.registry.get(id).is_some()
    }

    /// Returns whether this node holds the browser of the session that continues a scrape.
    pub fn holds_session_of(&self, scrape: ScrapeId) -> bool {
        self.context.sessions.registry.by_scrape(scrape).is_some()
    }

    /// Returns the session that a token gives access to; `None` if there is no such session any more.
    pub async fn session_by_token(&self, token: &str) -> Option<SessionHandle> {
        // If the store fails, the session is ended once it responds.
        let _later = self.context.end_lost_sessions().await;
        let (session, access) = self.context.sessions.registry.by_token(token)?;
        Some(SessionHandle {
            browser: session.browser.clone(),
            access,
            ended: session.ended.clone(),
        })
    }
}

impl Context {
    /// Returns an active session of the team.
    async fn active_session(
        self: &Arc<Self>,
        principal: &Principal,
        id: SessionId,
    ) -> Result<Arc<LiveSession>, ApiError> {
        self.end_lost_sessions().await?;
        let live = self.sessions.registry.get(id);
        let team = match &live {
            Some(session) => Some(session.team),
            None => {
                let row = self.store.session(id).await?;
                if let Some(row) = row.as_ref().filter(|row| row.team == principal.team) {
                    self.refuse_elsewhere(row)?;
                }
                row.map(|row| row.team)
            }
        };
        match (team, live) {
            (None, _) => Err(SessionError::NoSession.into()),
            (Some(team), _) if team != principal.team => Err(SessionError::OtherTeam.into()),
            (Some(_), None) => Err(SessionError::Destroyed.into()),
            (Some(_), Some(session)) => Ok(session),
        }
    }

    /// Returns whether another node holds the browser of a live session.
    fn is_elsewhere(&self, row: &SessionRow) -> bool {
        row.end.is_none() && row.node.is_some_and(|node| self.store.node() != Some(node))
    }

    /// Refuses a session whose browser another node holds: requests that can be forwarded never get here.
    ///
    /// # Errors
    /// 503 if the session is live, but not on this node.
    pub(super) fn refuse_elsewhere(&self, row: &SessionRow) -> Result<(), ApiError> {
        if !self.is_elsewhere(row) {
            return Ok(());
        }
        let mut error = ApiError::new(
            ErrorCode::Unavailable,
            "the browser of this session runs on another server of the cluster, which cannot be reached from here; \
             the operator can set node_url and cluster_secret",
        );
        error.retry_after_s = Some(limits::ELSEWHERE_RETRY_AFTER_S);
        Err(error)
    }

    /// Runs a task in a session, after the calls before it.
    async fn execute(
        self: &Arc<Self>,
        session: &Arc<LiveSession>,
        task: Task,
        timeout: Duration,
        base: &str,
    ) -> Result<ExecuteResponse, ApiError> {
        let result = session.run(task, timeout, self.config.llm.as_ref()).await;
        if session.browser.has_ended() {
            // The browser died during this call: end the session, so that the next call gets 410.
            self.end_later(session.id);
        }
        let TaskOutcome { output, execution } = match result {
            Err(_) if self.stop.is_cancelled() => return Err(stopping()),
            result => result?,
        };
        let files = self.files_of(session.id, base).await?;
        let urls = session.tokens.urls(base);
        let success = execution.exit_code == 0 && !execution.killed;
        Ok(ExecuteResponse {
            success,
            live_view_url: Some(urls.live_view),
            interactive_live_view_url: Some(urls.interactive_live_view),
            cdp_url: Some(urls.cdp),
            session_id: Some(session.id.to_string()),
            output,
            stdout: Some(execution.stdout),
            stderr: Some(execution.stderr),
            result: execution.result,
            exit_code: Some(execution.exit_code),
            killed: Some(execution.killed),
            error: match success {
                true => None,
                false => Some(execution.error.unwrap_or_else(|| "the code failed".to_owned())),
            },
            files,
        })
    }
}

/// Runs work to its end even if the caller stops waiting.
async fn run_detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> Result<T, ApiError> {
    let task = tokio::spawn(work.in_current_span());
    task.await.unwrap_or_else(|panic| Err(internal_error(panic)))
}
