//! The fetcher against servers that break every rule, all on loopback. No test measures time: a deadline is
//! only set where it is expected to pass.

// Every module is test code.
#![allow(clippy::unwrap_used)]

mod addresses;
mod bodies;
mod connections;
mod dns;
mod h2;
mod heads;
mod lenient;
mod proxies;
mod redirects;
mod secure;
mod server;
