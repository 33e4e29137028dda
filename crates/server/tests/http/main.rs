//! Tests through the real router, with a temporary store and only local network connections.

#![allow(clippy::unwrap_used, reason = "a panic shows where a test failed")]

mod app;
#[path = "../../../../tests/src/assertions.rs"]
pub mod assertions;
mod auth;
mod bodies;
mod connections;
mod console;
mod crawl;
mod docs;
mod edge;
mod isolation;
mod keys;
mod map;
mod openapi;
mod parse;
mod routes;
mod site;
mod socket;
mod store_faults;
#[path = "../../../../tests/src/stored_job.rs"]
pub mod stored_job;
mod team;
