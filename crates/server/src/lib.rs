//! HTTP server and command line of Harvestman: routes, authentication, settings, the console's files, commands.
//!
//! Handlers parse requests and build responses. The rules of the API live in the core, jobs run in the engine, and
//! state is in the store. This crate never fetches a page and never runs SQL. Start reading at [`router`] for the API
//! and at [`cli`] for the commands.

pub mod app;
pub mod auth;
pub mod body;
pub mod bootstrap;
pub mod cli;
pub mod cluster;
pub mod config;
mod consent;
pub mod console;
mod disk;
mod docs;
mod doctor;
mod driver;
mod duplex;
pub mod edge;
pub mod error;
mod input;
pub mod keys;
pub mod limits;
pub mod links;
pub mod listen;
mod live_view;
mod log;
mod manual;
mod mcp;
#[cfg(all(target_os = "linux", target_env = "gnu", not(feature = "system-allocator")))]
mod memory;
pub mod metrics;
mod offline;
mod open_mode;
mod operator;
mod pings;
mod process_limits;
mod rate;
mod read_file;
mod recognize_text;
mod request;
pub mod router;
mod routes;
pub mod serve;
mod setup;
pub mod sign_in;
mod signals;
mod socket;
mod status;
mod telemetry;
mod upload_permits;
