//! Ends sessions: on request, when their time or their team's budget is used up, or when their browser or the server
//! stops. A session ends once: only the task that removes it from the registry ends it, and the store charges it
//! once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::join_all;
use harvestman_core::api::error::ApiError;
use harvestman_core::billing;
use harvestman_core::ids::{SessionId, TeamId};
use harvestman_store::{SessionRow, StoreError};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::live::{LiveSession, SessionResources};
use super::registry::SessionEnd;
use crate::context::Context;
use crate::limits;
use crate::profiles::OpenProfile;

/// Ends expired sessions, and stores when the others were last used, until `stop` is cancelled.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    let mut last_stored = Instant::now();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(limits::SESSION_POLL) => {}
        }
        if let Err(error) = context.end_lost_sessions().await {
            tracing::debug!(%error, "cannot read which browser sessions other nodes have ended; retrying");
        }
        let (over, live) = context.partition_sessions();
        for session in over {
            context.end_later(session.id);
        }
        for id in context.sessions.registry.unsettled() {
            // If the store fails again, the end stays unsettled.
            let _later = context.settle_unsettled(id).await;
        }
        if last_stored.elapsed() >= limits::SESSION_USE_INTERVAL && !live.is_empty() {
            last_stored = Instant::now();
            if context.store.is_shared() {
                let teams: HashSet<TeamId> = live.iter().map(|session| session.team).collect();
                for team in teams {
                    if let Err(error) = context.budget.refresh(team).await {
                        tracing::debug!(%error, "cannot read the credits that a team has spent; retrying");
                    }
                }
            }
            let uses: Vec<_> = live
                .iter()
                .map(|session| (session.id, session.last_activity()))
                .collect();
            if let Err(error) = context.store.touch_sessions(&uses).await {
                tracing::warn!(%error, "cannot store when browser sessions were last used");
            }
        }
    }
}

impl Context {
    /// Returns the sessions that are over, and the others.
    fn partition_sessions(&self) -> (Vec<Arc<LiveSession>>, Vec<Arc<LiveSession>>) {
        let all = self.sessions.registry.all();
        let mut running: HashMap<TeamId, u64> = HashMap::new();
        for session in &all {
            let age = &session.age;
            *running.entry(session.team).or_default() += billing::browser_session(age.created, age.now());
        }
        all.into_iter().partition(|session| {
            session.is_over() || self.budget.is_exceeded(session.team, running[&session.team])
        })
    }

    /// Ends a session. Returns `None` if it had already ended.
    ///
    /// # Errors
    /// 503 if the store fails; the end is stored later.
    pub(super) async fn end_session(&self, id: SessionId) -> Result<Option<SessionRow>, ApiError> {
        let settled = match self.sessions.registry.remove(id) {
            Some(session) => self.finish(session).await,
            None => self.settle_unsettled(id).await,
        };
        settled.map_err(ApiError::from)
    }

    /// Ends a session in the background.
    pub(super) fn end_later(self: &Arc<Self>, id: SessionId) {
        if let Some(session) = self.sessions.registry.remove(id) {
            let context = self.clone();
            tokio::spawn(async move {
                // The end stays unsettled and is stored later.
                if let Err(error) = context.finish(session).await {
                    tracing::warn!(%error, session.id = %id, "cannot store the end of a browser session; retrying");
                }
            });
        }
    }

    /// Closes the browsers of sessions that another node has ended. That happens if this node does not report itself
    /// in time, for example because its process was stopped for a while.
    ///
    /// # Errors
    /// If the store fails while this node may have lost its sessions.
    pub(super) async fn end_lost_sessions(self: &Arc<Self>) -> Result<(), StoreError> {
        let Some(shared) = self.holdings.limits() else {
            return Ok(());
        };
        // Before the sessions are read: only those that are live after a loss cannot be ended because of it.
        let (losses, holds) = (shared.losses(), shared.holds());
        let registry = &self.sessions.registry;
        if holds && losses == registry.losses() {
            return Ok(());
        }
        for session in registry.all() {
            let row = self.store.session(session.id).await?;
            if row.is_some_and(|row| row.end.is_none()) {
                continue;
            }
            tracing::warn!(session.id = %session.id, "another node has ended a browser session of this one");
            // Another session may already use its profile.
            drop(session.take_resources());
            self.end_later(session.id);
        }
        if holds {
            registry.set_losses(losses);
        }
        Ok(())
    }

    /// Ends a session that was removed from the registry: saves its profile, closes its browser, charges it.
    pub(super) async fn finish(&self, session: Arc<LiveSession>) -> Result<Option<SessionRow>, StoreError> {
        let last_activity = session.last_activity();
        // The time between expiry and the poll that notices it is not charged.
        let end = SessionEnd {
            last_activity,
            at: session.age.now().min(session.ends_at()),
        };
        session.ended.cancel();
        let mut resources = session.take_resources();
        let profile = resources.as_mut().and_then(|resources| resources.profile.take());
        if let Some(profile) = profile {
            self.save(&session, profile).await;
        }
        session.browser.end().await;
        let settled = self.settle(session.id, end).await;
        if let Some(SessionResources {
            reservation, permit, ..
        }) = resources
        {
            drop((reservation, permit));
        }
        tracing::info!(session.id = %session.id, team.id = %session.team, "browser session ended");
        settled
    }

    async fn save(&self, session: &LiveSession, profile: OpenProfile) {
        if !profile.saves() {
            return;
        }
        match timeout(limits::PROFILE_SAVE_TIMEOUT, session.browser.storage()).await {
            Ok(Ok(storage)) => {
                let span = tracing::info_span!("session", session.id = %session.id);
                let saving = profile.save_at_end(self.store.clone(), storage);
                saving.instrument(span).await;
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, session.id = %session.id, "cannot read a profile from its browser");
            }
            Err(_) => {
                tracing::warn!(session.id = %session.id, "a browser did not return its profile in time")
            }
        }
    }

    /// Stores the end of a session and counts its credits; keeps it as unsettled if the store fails.
    async fn settle(&self, id: SessionId, end: SessionEnd) -> Result<Option<SessionRow>, StoreError> {
        let ended = self.store.end_session(id, end.last_activity, end.at).await;
        match &ended {
            Ok(Some(SessionRow {
                team, end: Some(end), ..
            })) => self.budget.spend_committed(*team, end.credits),
            Ok(_) => {}
            Err(_) => self.sessions.registry.add_unsettled(id, end),
        }
        ended
    }

    /// Stores an unsettled end again; `None` if there is none.
    async fn settle_unsettled(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        match self.sessions.registry.take_unsettled(id) {
            Some(end) => self.settle(id, end).await,
            None => Ok(None),
        }
    }

    /// Ends all sessions at shutdown. Those that take too long are charged at the next start.
    pub(crate) async fn end_sessions(&self) {
        let registry = &self.sessions.registry;
        registry.close();
        let all = registry
            .all()
            .into_iter()
            .map(|session| self.end_session(session.id));
        if timeout(limits::SESSIONS_STOP_TIMEOUT, join_all(all))
            .await
            .is_err()
        {
            tracing::warn!("some browser sessions did not end in time");
        }
        if let Some(browsers) = &self.sessions.browsers {
            browsers.stop().await;
        }
    }
}
