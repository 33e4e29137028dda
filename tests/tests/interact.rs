//! Browser sessions with the real server and Chromium: opened by an interact request or directly, used, listed,
//! ended, and charged once, whatever happens to the client, the browser and the server.

#![allow(clippy::unwrap_used)]

mod interact {
    pub(crate) mod ends;
    pub(crate) mod files;
    pub(crate) mod profiles;
    pub(crate) mod replay;
    pub(crate) mod setup;
    pub(crate) mod statuses;
}
