//! The wire: every request and answer of the contract, one file per endpoint family.
//!
//! Requests are read strictly ([`Wire::from_json`]: every problem is told, with its place) and
//! written sparsely (only what differs from the defaults). Answers are plain serde types that
//! ignore fields they do not know.

pub mod action;
pub mod body;
pub mod caller;
pub mod country;
pub mod crawl;
pub mod error;
pub mod fields;
pub mod format;
pub mod header_field;
pub mod job;
pub mod location;
pub mod options;
pub mod page;
pub mod parser;
pub mod problem;
pub mod query;
pub mod scrape;
pub mod url_field;
pub mod webhook;
pub mod wire_enum;

pub use crawl::{CrawlRequest, Enabled};
pub use error::{ApiError, ErrorCode};
pub use fields::Wire;
pub use options::ScrapeOptions;
pub use page::{Document, Metadata};
pub use scrape::ScrapeRequest;
pub use url_field::TargetUrl;
