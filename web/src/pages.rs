//! The screens, one file each. `screens.rs` maps routes to them; reusable parts are in `components/`.

pub mod activity;
pub mod agent;
pub mod ask;
pub mod batch;
pub mod crawl;
pub mod extract;
pub mod job;
pub mod keys;
pub mod map;
pub mod monitor;
pub mod monitors;
pub mod not_found;
pub mod overview;
pub mod parse;
pub mod scrape;
pub mod search;
pub mod session;
pub mod sessions;
pub mod settings;
pub mod sign_in;
pub mod tools;
pub mod usage;
