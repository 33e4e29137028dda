//! How sessions end: by a call, when their time or their team's budget is over, with their browser, or with the server. Each ends once: who
//! takes it out of the registry ends it. The store charges it once, whoever asks.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use harvestman_core::api::error::ApiError;
use harvestman_core::billing;
use harvestman_core::ids::{SessionId, TeamId};
use harvestman_store::{SessionRow, StoreError};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::live::LiveSession;
use super::registry::End;
use crate::engine::{Inner, unavailable};
use crate::profiles::OpenProfile;
use crate::{clock, limits};

/// Ends sessions whose time is over, and notes the use of the others, until `stop`.
pub(crate) async fn run(inner: Arc<Inner>, stop: CancellationToken) {
    let mut noted = Instant::now();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(limits::SESSION_POLL) => {}
        }
        let (over, live) = inner.looked_through();
        for session in over {
            inner.end_later(session.id);
        }
        for id in inner.sessions.registry.owed() {
            // It stays owed when the store does not take it.
            let _later = inner.settle_owed(id).await;
        }
        if noted.elapsed() >= limits::SESSION_NOTE && !live.is_empty() {
            noted = Instant::now();
            let uses: Vec<_> = live
                .iter()
                .map(|session| (session.id, session.last_activity()))
                .collect();
            if let Err(error) = inner.store.touch_sessions(&uses).await {
                tracing::warn!(%error, "the use of browser sessions could not be noted");
            }
        }
    }
}

impl Inner {
    /// The sessions that are over, and the others.
    fn looked_through(&self) -> (Vec<Arc<LiveSession>>, Vec<Arc<LiveSession>>) {
        let now = clock::now();
        let all = self.sessions.registry.all();
        let mut running: HashMap<TeamId, u64> = HashMap::new();
        for session in &all {
            *running.entry(session.team).or_default() += billing::browser_session(session.created, now);
        }
        all.into_iter().partition(|session| {
            session.is_over(now) || self.budget.is_exceeded(session.team, running[&session.team])
        })
    }

    /// Ends a session; `None` when it was ended before.
    ///
    /// Errors: 503 when the store does not take it now. It does later.
    pub(super) async fn end_session(&self, id: SessionId) -> Result<Option<SessionRow>, ApiError> {
        let settled = match self.sessions.registry.remove(id) {
            Some(session) => self.finish(session).await,
            None => self.settle_owed(id).await,
        };
        settled.map_err(|error| unavailable(&error))
    }

    /// Ends a session without anyone waiting for it.
    pub(super) fn end_later(self: &Arc<Self>, id: SessionId) {
        if let Some(session) = self.sessions.registry.remove(id) {
            let inner = self.clone();
            tokio::spawn(async move {
                // What the store does not take is owed, and was logged by whoever asked.
                if let Err(error) = inner.finish(session).await {
                    tracing::warn!(%error, session.id = %id, "the end of a browser session is not stored yet");
                }
            });
        }
    }

    /// Ends a session that is in no registry any more: saves its profile, ends its browser, charges it.
    pub(super) async fn finish(&self, session: Arc<LiveSession>) -> Result<Option<SessionRow>, StoreError> {
        let last_activity = session.last_activity();
        // Nobody is charged for the time that nobody looked.
        let end = End {
            last_activity,
            at: clock::now().min(session.lifetime.ends_at(session.created, last_activity)),
        };
        session.ended.cancel();
        let held = session.take_held();
        if let Some(profile) = held.as_ref().and_then(|held| held.profile.as_ref()) {
            self.save(&session, profile).await;
        }
        session.browser.end().await;
        let settled = self.settle(session.id, end).await;
        if let Some(held) = held {
            if let Ok(Some(SessionRow { end: Some(end), .. })) = &settled {
                held.reserved
                    .spend(u32::try_from(end.credits).unwrap_or(u32::MAX));
            }
            drop(held.place);
        }
        tracing::info!(session.id = %session.id, team.id = %session.team, "browser session ended");
        settled
    }

    async fn save(&self, session: &LiveSession, profile: &OpenProfile) {
        if !profile.saves() {
            return;
        }
        match timeout(limits::PROFILE_SAVE_TIME, session.browser.storage()).await {
            Ok(Ok(storage)) => {
                if let Err(error) = profile.keep(&self.store, storage).await {
                    tracing::warn!(%error, session.id = %session.id, "a profile could not be saved");
                }
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, session.id = %session.id, "a profile could not be read from its browser");
            }
            Err(_) => tracing::warn!(session.id = %session.id, "a browser did not tell its profile in time"),
        }
    }

    /// Tells the store of an end, which is owed when the store does not take it.
    async fn settle(&self, id: SessionId, end: End) -> Result<Option<SessionRow>, StoreError> {
        let ended = self.store.end_session(id, end.last_activity, end.at).await;
        if ended.is_err() {
            self.sessions.registry.owe(id, end);
        }
        ended
    }

    /// Tells the store of an end that is owed; `None` when none is.
    async fn settle_owed(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        match self.sessions.registry.take_owed(id) {
            Some(end) => self.settle(id, end).await,
            None => Ok(None),
        }
    }

    /// Ends all sessions with the server; what takes longer is charged at the next start.
    pub(crate) async fn end_sessions(&self) {
        let registry = &self.sessions.registry;
        registry.close();
        let all = registry
            .all()
            .into_iter()
            .map(|session| self.end_session(session.id));
        if timeout(limits::SESSIONS_STOP, join_all(all)).await.is_err() {
            tracing::warn!("not every browser session ended in time");
        }
        if let Some(browsers) = &self.sessions.browsers {
            browsers.stop().await;
        }
    }
}
