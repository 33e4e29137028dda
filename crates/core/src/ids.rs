//! Identities of stored things. All are UUIDs on the wire (lower case); new jobs use version 7 so
//! that ids sort by time. The core never makes one: the shell hands them in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text).map(Self)
            }
        }
    };
}

id! {
    /// A stored run: scrape, crawl, map, batch scrape, extract or agent. In activity and ledger also a session.
    JobId
}
id! {
    /// One scraped page; the id for `GET /v2/scrape/{id}` and for interact. A single scrape's job
    /// id is its scrape id.
    ScrapeId
}
id! {
    /// A live browser of a team.
    SessionId
}
id! {
    /// Owner of keys, jobs, usage and activity.
    TeamId
}
id! {
    /// An API key's row; never the secret itself.
    KeyId
}
id! {
    /// One webhook event; the same on every retry of it.
    WebhookId
}

impl From<JobId> for ScrapeId {
    fn from(id: JobId) -> Self {
        Self(id.0)
    }
}

impl From<ScrapeId> for JobId {
    fn from(id: ScrapeId) -> Self {
        Self(id.0)
    }
}

impl From<SessionId> for JobId {
    fn from(id: SessionId) -> Self {
        Self(id.0)
    }
}

impl From<JobId> for SessionId {
    fn from(id: JobId) -> Self {
        Self(id.0)
    }
}
