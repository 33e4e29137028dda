//! The fetcher against servers that break every rule, all on loopback. Nothing here measures time: a deadline is
//! only given where its passing is the expected result.

// All of this is test code.
#![allow(clippy::unwrap_used)]

mod addresses;
mod bodies;
mod connections;
mod dns;
mod h2;
mod heads;
mod lenient;
mod redirects;
mod secure;
mod server;
