//! Live browsers of teams, as they are stored: what is charged, and what is listed for a day.

use harvestman_core::ids::{ScrapeId, SessionId, TeamId};
use harvestman_core::time::Timestamp;

use crate::job::{JobKind, NewJob};

/// A session to be stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSession {
    /// The call that makes it; its id is the session's. Of it only what activity and ledger show is used.
    pub call: NewJob,
    /// The scrape that it continues.
    pub scrape: Option<ScrapeId>,
    /// Offers live views.
    pub stream_web_view: bool,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
}

/// A stored session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// Owner.
    pub team: TeamId,
    /// The scrape that it continues.
    pub scrape: Option<ScrapeId>,
    /// Offers live views.
    pub stream_web_view: bool,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to within some seconds.
    pub last_activity_at: Timestamp,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// How it ended; `None` while it lives.
    pub end: Option<SessionEnd>,
}

/// The end of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionEnd {
    /// When.
    pub at: Timestamp,
    /// What it cost.
    pub credits: u64,
}

/// A scrape, or a page of a larger job, as far as it can be done again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScrapeOrigin {
    /// Owner.
    pub team: TeamId,
    /// What the job does.
    pub kind: JobKind,
    /// The page's address.
    pub url: String,
    /// The job's request as JSON text.
    pub request: String,
    /// Nothing of it may be used any more.
    pub zero_data_retention: bool,
    /// When it goes; `None` while its job runs.
    pub expires_at: Option<Timestamp>,
    /// Whether the page is there.
    pub state: OriginState,
}

/// What became of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OriginState {
    /// It is being fetched.
    Running,
    /// It was had, or its single scrape has ended.
    Ended,
    /// A larger job could not have it.
    Failed,
}
