//! Typed client of the API over the runtime's `fetch`: one method per endpoint, with the request and response
//! types of `harvestman-core`.
//!
//! It never stores the key, never retries a request, and never mixes kinds of failure: an error response of the
//! server ([`ClientError::Api`]), no response ([`ClientError::Network`]), a response that is not from this API
//! ([`ClientError::Unreadable`]) and a request that the caller aborted ([`ClientError::Aborted`]) stay distinct.

mod agent;
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
mod monitor;
mod parse;
mod scrape;
mod search;
mod support;
mod team;
mod transport;

pub use error::ClientError;
pub use transport::Client;
