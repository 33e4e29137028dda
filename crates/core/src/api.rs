//! Wire models: every request and response of docs/API.md, one file per endpoint family.
//!
//! Requests are parsed strictly ([`Wire::from_json`] reports every problem with its path) and serialized
//! sparsely (only fields that differ from their defaults). Responses are plain serde types that ignore
//! unknown fields.

pub mod action;
pub mod agent;
pub mod agent_thread;
pub mod agent_trace;
pub mod batch;
pub mod body;
pub mod branding;
pub mod browser;
pub mod caller;
pub mod change_report;
pub mod command;
pub mod console;
pub mod country;
pub mod crawl;
pub mod error;
pub mod extract;
pub mod feedback;
pub mod fields;
pub mod format;
pub mod header_field;
pub mod health;
pub mod interact;
pub mod job;
pub mod keys;
pub mod live;
pub mod location;
pub mod map;
pub mod monitor;
pub mod monitor_response;
pub mod offer;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod options;
pub mod page;
pub mod params_preview;
pub mod parse;
pub mod parser;
pub mod problem;
pub mod query;
pub mod scrape;
pub mod search;
pub mod search_response;
pub mod session_file;
pub mod snippet;
pub mod support;
pub mod team;
pub mod url_field;
pub mod webhook;
pub mod wire_enum;

pub use batch::BatchScrapeRequest;
pub use crawl::{CrawlRequest, EnabledOptions};
pub use error::{ApiError, ErrorCode};
pub use fields::Wire;
pub use map::MapRequest;
pub use options::ScrapeOptions;
pub use page::{Document, Metadata};
pub use scrape::ScrapeRequest;
pub use url_field::TargetUrl;
