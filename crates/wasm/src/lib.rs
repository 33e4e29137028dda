//! The wasm part of the npm package: exposes core and content to JavaScript.
//!
//! Values cross the boundary as JSON text and are validated as strictly as by the server. A failure is thrown as JSON
//! text too, which the JavaScript in `npm/` turns into an error class. This crate has no API rules and does no I/O.

mod boundary;
pub mod frames;
pub mod interact;
pub mod local_crawl;
mod options;
pub mod page;
pub mod requests;
pub mod robots;
pub mod scope;
pub mod sitemap;
pub mod urls;
pub mod webhook;
