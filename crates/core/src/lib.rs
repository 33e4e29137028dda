//! The sans-IO core of Harvestman: the wire API, every decision of a crawl, and page rendering.
//!
//! All of it is pure computation on values that the caller passes in. It does no I/O, reads no clock
//! and draws no random numbers, so the same code runs in the server, in the browser and in Node, and
//! tests can simulate a whole crawl on virtual time. Start with [`crawl`], the crawl state machine.

pub mod api;
pub mod billing;
pub mod cache;
pub mod cluster;
pub mod crawl;
pub mod day;
#[cfg(feature = "render")]
pub mod docs;
#[cfg(feature = "render")]
pub mod extract;
pub mod frontier;
pub mod host;
pub mod ids;
pub mod interact;
pub mod job_comparison;
pub mod limits;
pub mod link_graph;
pub mod map;
#[cfg(feature = "render")]
pub mod monitor;
pub mod month;
pub mod page_version;
pub mod paging;
pub mod params_preview;
#[cfg(feature = "render")]
pub mod pii;
pub mod politeness;
pub mod robots;
pub mod scope;
pub mod scrape;
#[cfg(feature = "render")]
pub mod search;
pub mod sitemap;
mod text;
pub mod time;
pub mod url_key;
pub mod webhook;
