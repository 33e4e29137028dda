//! Liveness and readiness of a server (docs/API.md section 1).

use harvestman_derive::response;

use crate::api::wire_enum::wire_enum;

wire_enum! {
    /// State of a part of the server.
    PartState {
        /// The part works.
        Ok = "ok",
        /// The part does not work at the moment.
        Unavailable = "unavailable",
        /// The server is shutting down.
        Stopping = "stopping",
        /// The operator has not configured the part.
        NotConfigured = "not configured",
    }
}

/// Response of `GET /health`.
#[response(Copy, Eq)]
pub struct Health {
    /// Always `ok`.
    pub status: PartState,
}

impl Health {
    /// Returns the response of a process that is up.
    pub fn up() -> Self {
        Self {
            status: PartState::Ok,
        }
    }
}

/// Response of `GET /ready`: the state of each part of the server.
#[response(Copy, Eq)]
pub struct Readiness {
    /// `ok` when every required part works.
    pub status: PartState,
    /// State of the database; required.
    pub database: PartState,
    /// State of the job queue; required.
    pub queue: PartState,
    /// State of the browser.
    pub browser: PartState,
    /// State of the language model.
    pub llm: PartState,
    /// State of the search provider.
    pub search: PartState,
    /// Whether requests need no key.
    pub open: bool,
}

impl Readiness {
    /// Returns the parts with their names.
    pub fn parts(&self) -> [(&'static str, PartState); 5] {
        [
            ("database", self.database),
            ("queue", self.queue),
            ("browser", self.browser),
            ("llm", self.llm),
            ("search", self.search),
        ]
    }

    /// Returns whether the server can take requests.
    pub fn is_ready(&self) -> bool {
        self.status == PartState::Ok
    }
}
