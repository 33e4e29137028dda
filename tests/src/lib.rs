//! Whole-product tests: the real binary, fixture sites, real clients.
//!
//! [`Site`] is a web site in this process that records its requests; [`TestServer`] runs the real `harvestman` with a
//! temporary data folder. All connections are local.
//!
//! As tests do, these functions panic if something fails that a test relies on: a server that does not start, a state
//! that is not reached in time, another response than the named one.

#![allow(clippy::expect_used, clippy::unwrap_used)]

pub mod arguments;
mod assertions;
mod client;
pub mod command;
pub mod database;
pub mod database_proxy;
pub mod docs_site;
#[path = "../../crates/content/tests/files/fixtures.rs"]
pub mod files;
pub mod finished_crawl;
pub mod hostile;
pub mod json_service;
pub mod model;
pub mod names;
pub mod proxy;
pub mod receiver;
mod serve;
pub mod server;
pub mod site;
mod stored_job;
mod tls_front;
pub mod tools;

pub use assertions::{assert_contains, assert_fields};
pub use client::{HttpResponse, send_request};
pub use command::printed;
pub use database::TestDatabase;
pub use database_proxy::DatabaseProxy;
pub use docs_site::DocsSite;
pub use finished_crawl::FinishedCrawl;
pub use hostile::HostileSite;
pub use json_service::{JsonService, ReceivedRequest};
pub use model::{Model, ModelReply, ModelRequest};
pub use names::NameServer;
pub use proxy::TestProxy;
pub use receiver::Receiver;
pub use server::{AUTHORIZATION, Folder, JSON, TestServer};
pub use site::{Page, RunningSite, Site};
pub use stored_job::new_job;
pub use tls_front::{TlsFront, serve_without_tls};
