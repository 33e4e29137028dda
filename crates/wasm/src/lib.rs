//! The wasm part of the npm package: exposes client, core and content to JavaScript.
//!
//! Values cross the boundary as JSON and are validated as strictly as by the server. Failures cross it as plain
//! objects, which the JavaScript in `npm/` turns into error classes. This crate has no API rules and no state of its
//! own, and only the client does I/O.

mod boundary;
pub mod client;
mod options;
pub mod page;
pub mod robots;
pub mod scope;
pub mod sitemap;
pub mod urls;
pub mod webhook;
