//! Typed client of the API over the runtime's `fetch`: one method per endpoint, requests and answers
//! are the types of `harvestman-core`.
//!
//! It never stores the key, never repeats a request by itself, and never turns one kind of failure
//! into another: an answer of the server ([`ClientError::Api`]), no answer ([`ClientError::Network`]),
//! an answer that is not ours ([`ClientError::Unreadable`]) and a request that the caller stopped
//! ([`ClientError::Aborted`]) stay apart.

mod batch;
mod browser;
mod console;
mod crawl;
mod error;
mod extract;
mod health;
mod interact;
mod keys;
mod limits;
mod map;
mod pages;
mod scrape;
mod search;
mod support;
mod team;
mod transport;

pub use console::{
    ConsoleInfo, ConsoleJob, ConsoleJobs, ConsoleLimits, ConsoleSession, ConsoleSessions, JobLinks, JobPace,
    PageLine, PageLines, SignedIn, WebhookAttempt, WebhookEvent, WebhookLog,
};
pub use error::ClientError;
pub use health::{PartHealth, Readiness};
pub use pages::Pages;
pub use transport::Client;
