//! The npm package's wasm: what the project's own client, core and content can do, offered to JavaScript.
//!
//! Values cross the border as JSON, read as strictly as the server reads a body. Failures cross it as plain objects,
//! which the JavaScript beside (`npm/`) turns into error classes. No rule of the API lives here, nothing is kept
//! between calls except what JavaScript holds, and nothing but the client talks to anyone.

mod border;
pub mod client;
mod options;
pub mod page;
pub mod robots;
pub mod scope;
pub mod sitemap;
#[cfg(test)]
mod types;
pub mod urls;
pub mod webhook;
