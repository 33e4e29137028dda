//! HTTP in front of the engine: routes, keys, settings, the console's files, the command line.
//!
//! Handlers take requests apart and put answers together; rules of the API live in the core, jobs run
//! in the engine, state is in the store. This crate never fetches a page and never speaks SQL.

pub mod app;
pub mod auth;
pub mod body;
pub mod bootstrap;
pub mod cli;
pub mod config;
pub mod console;
mod docs;
mod duplex;
pub mod edge;
pub mod error;
pub mod keys;
pub mod limits;
pub mod links;
pub mod listen;
mod live_view;
mod mcp;
pub mod metrics;
mod offline;
mod operator;
mod rate;
mod read_file;
mod request;
pub mod router;
mod routes;
pub mod serve;
pub mod sign_in;
mod signals;
mod socket;
mod status;
