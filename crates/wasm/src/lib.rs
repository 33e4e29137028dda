//! The wasm part of the npm package: exposes core and content to JavaScript.
//!
//! Values cross the boundary as JSON text and are validated as strictly as by the server. A failure is thrown as JSON
//! text too, which the JavaScript in `npm/` turns into an error class. This crate has no API rules and does no I/O.
//!
//! The package has a wasm file for each feature, so that users of the client do not load the conversion of pages, and
//! hardly anyone loads the tables of charsets.

#[cfg(any(feature = "client", feature = "crawl", feature = "pages"))]
mod boundary;
#[cfg(feature = "charsets")]
pub mod charsets;
#[cfg(feature = "crawl")]
pub mod extract;
#[cfg(feature = "pages")]
pub mod frames;
#[cfg(feature = "client")]
pub mod interact;
#[cfg(feature = "crawl")]
pub mod local_crawl;
#[cfg(feature = "pages")]
mod options;
#[cfg(feature = "pages")]
pub mod page;
#[cfg(feature = "pages")]
pub mod render;
#[cfg(feature = "client")]
pub mod requests;
#[cfg(feature = "client")]
pub mod robots;
#[cfg(feature = "client")]
pub mod scope;
#[cfg(feature = "client")]
pub mod sitemap;
#[cfg(feature = "client")]
pub mod urls;
#[cfg(feature = "client")]
pub mod webhook;
