//! Browser sessions, as they are stored. They are charged when they end and listed for a day.

use harvestman_core::ids::{ScrapeId, SessionId, TeamId};
use harvestman_core::time::Timestamp;
use uuid::Uuid;

use crate::error::StoreError;
use crate::job::NewJob;
use crate::operations::operations;

/// A session to store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSession {
    /// The request that creates it; its id becomes the session's id. Only the fields for activity and ledger
    /// are used.
    pub call: NewJob,
    /// The scrape that it continues.
    pub scrape: Option<ScrapeId>,
    /// Whether it offers live views.
    pub stream_web_view: bool,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
}

/// A stored session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionRow {
    /// Session id.
    pub id: SessionId,
    /// The team that owns it.
    pub team: TeamId,
    /// The node that holds its browser; `None` on a store that no other node uses.
    pub node: Option<Uuid>,
    /// The scrape that it continues.
    pub scrape: Option<ScrapeId>,
    /// Whether it offers live views.
    pub stream_web_view: bool,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, accurate to a few seconds.
    pub last_activity_at: Timestamp,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// How it ended; `None` while it is live.
    pub end: Option<SessionEnd>,
}

/// The end of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionEnd {
    /// Time of the end.
    pub at: Timestamp,
    /// Credits charged.
    pub credits: u64,
}

operations! {
    /// Browser sessions.
    trait Sessions {
        /// Creates a live session and its activity entry.
        async fn begin_session(&self, session: &NewSession) -> Result<(), StoreError>;

        /// Updates the last use of live sessions.
        async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError>;

        /// Binds a live session to a scrape. Returns false when it continues another scrape or has ended.
        async fn bind_session(&self, id: SessionId, scrape: ScrapeId) -> Result<bool, StoreError>;

        /// Changes when a live session ends at the latest. Returns false when it has ended.
        async fn extend_session(&self, id: SessionId, expires_at: Timestamp) -> Result<bool, StoreError>;

        /// Ends a session at `at`, or when its lifetime ends if that is earlier, and charges it in the same
        /// transaction. Only the first call ends it; later ones return `None`.
        async fn end_session(
            &self,
            id: SessionId,
            last_activity: Timestamp,
            at: Timestamp,
        ) -> Result<Option<SessionRow>, StoreError>;

        /// Returns a session of any team; `None` from a day after its end.
        async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError>;

        /// Returns the session of any team that continues this scrape.
        async fn session_of(&self, scrape: ScrapeId) -> Result<Option<SessionRow>, StoreError>;

        /// Lists the sessions of a team that began within the last day, newest first. `live` selects those that
        /// are live or those that have ended.
        async fn sessions(
            &self,
            team: TeamId,
            live: Option<bool>,
            now: Timestamp,
        ) -> Result<Vec<SessionRow>, StoreError>;
    }
}

operations! {
    /// Browser profiles.
    trait Profiles {
        /// Returns the last saved state of a browser profile.
        async fn profile(&self, team: TeamId, name: &str) -> Result<Option<String>, StoreError>
            => open_profile;

        /// Saves the state of a browser profile, replacing the older one. Returns false, and saves nothing, if another
        /// node writes to the profile.
        async fn save_profile(
            &self,
            team: TeamId,
            name: String,
            #[seal_profile] state: String,
            now: Timestamp,
        ) -> Result<bool, StoreError>;
    }
}
