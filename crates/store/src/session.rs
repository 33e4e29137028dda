//! Browser sessions, as they are stored. They are charged when they end and listed for a day.

use harvestman_core::ids::{ScrapeId, SessionId, TeamId};
use harvestman_core::time::Timestamp;

use crate::job::{JobKind, NewJob};

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

/// What is needed to repeat a scrape or a page of a larger job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScrapeOrigin {
    /// The team that owns it.
    pub team: TeamId,
    /// Kind of the job.
    pub kind: JobKind,
    /// URL of the page.
    pub url: String,
    /// The job's request as JSON text.
    pub request: String,
    /// Zero data retention: the scrape must not be repeated.
    pub zero_data_retention: bool,
    /// When it expires; `None` while its job is running.
    pub expires_at: Option<Timestamp>,
    /// State of the page.
    pub state: OriginState,
}

/// State of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OriginState {
    /// Being fetched.
    Running,
    /// Fetched, or its single scrape has ended.
    Ended,
    /// A page of a larger job that could not be fetched.
    Failed,
}
