//! The sans-IO heart of Harvestman: the wire API, the decisions of a crawl, the rendering of pages.
//!
//! Everything here is plain computation over values that are handed in. It never does I/O, never
//! asks for the time and never draws random numbers, so the same code runs in the server, in the
//! browser and in Node, and a whole crawl can be simulated on virtual time.

pub mod api;
pub mod billing;
pub mod cache;
pub mod crawl;
#[cfg(feature = "render")]
pub mod docs;
#[cfg(feature = "render")]
pub mod extract;
pub mod frontier;
pub mod host;
pub mod ids;
pub mod interact;
pub mod limits;
pub mod link_graph;
pub mod map;
pub mod month;
pub mod page_version;
pub mod paging;
pub mod params_preview;
pub mod politeness;
pub mod robots;
pub mod scope;
pub mod scrape;
#[cfg(feature = "render")]
pub mod search;
pub mod sitemap;
pub mod time;
pub mod url_key;
pub mod webhook;
