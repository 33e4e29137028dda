//! Browser sessions through the whole product, with a real Chromium: opened by the first interact of a scrape or for
//! themselves, used, listed, ended and charged once, whatever happens to caller, browser and server.

#![allow(clippy::unwrap_used)]

mod interact {
    pub(crate) mod ends;
    pub(crate) mod place;
    pub(crate) mod profiles;
    pub(crate) mod replay;
    pub(crate) mod statuses;
}
