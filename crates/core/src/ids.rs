//! Ids of stored objects. All are lower-case UUIDs on the wire; new jobs use version 7 so that ids sort
//! by time. The core never generates one: the caller passes them in.

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

        #[cfg(feature = "openapi")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "format": "uuid" })
            }
        }

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
    /// A stored job: scrape, crawl, map, batch scrape, extract or agent. Also identifies a session in the
    /// activity list and the ledger.
    JobId
}
id! {
    /// One scraped page, as used by `GET /v2/scrape/{id}` and interact. The job id of a single scrape is
    /// also its scrape id.
    ScrapeId
}
id! {
    /// A live browser session of a team.
    SessionId
}
id! {
    /// The owner of keys, jobs, usage and activity.
    TeamId
}
id! {
    /// The row of an API key; never the secret itself.
    KeyId
}
id! {
    /// A monitor; its checks are jobs.
    MonitorId
}
id! {
    /// A webhook event; the same on every retry.
    WebhookId
}

/// Declares ids that stand for the same object.
macro_rules! same_ids {
    ($($from:ident => $to:ident),+) => {$(
        impl From<$from> for $to {
            fn from(id: $from) -> Self {
                Self(id.0)
            }
        }
    )+};
}

same_ids!(JobId => ScrapeId, ScrapeId => JobId, SessionId => JobId, JobId => SessionId);
