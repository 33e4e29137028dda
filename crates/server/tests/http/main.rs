//! The server through its real router, with a store of its own and no network beyond this machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod app;
mod auth;
mod bodies;
mod connections;
mod console;
mod crawl;
mod edge;
mod isolation;
mod keys;
mod map;
mod parse;
mod routes;
mod site;
mod socket;
mod team;
