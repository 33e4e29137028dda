//! One file a screen.

pub mod crawl;
pub mod job;
pub mod not_found;
pub mod overview;
pub mod scrape;
pub mod settings;
pub mod sign_in;
