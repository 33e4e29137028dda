//! HTTP fetching: every connection that the product opens starts here.
//!
//! A fetch resolves the host name once, checks every resolved address against the table of special-purpose ranges,
//! dials a checked address, and reads the response under one deadline. Headers, redirects, cookies, decompressed
//! bytes and the total memory of all bodies in flight are limited.
//!
//! This crate never connects to an address that the [`AllowList`] and the table do not permit, never resolves a
//! name again between check and connect, never returns a truncated body as a complete one, and never guesses a
//! scheme. Crawls, robots.txt and page formats are handled elsewhere. Start with [`Fetcher`].

mod body;
mod budget;
mod client;
mod connect;
mod cookies;
mod decode;
mod egress;
mod error;
mod forward;
mod guard;
mod head;
pub mod limits;
mod pool;
mod proxy;
mod redirect;
mod request;
mod resolve;
mod tls;

pub use client::{FetchConfig, Fetcher};
pub use connect::{Dial, Stream, TcpDialer};
pub use cookies::CookieJar;
pub use egress::{Egress, Upstream};
pub use error::FetchError;
pub use guard::{AllowList, Guard};
pub use proxy::Proxy;
pub use request::{FetchRequest, FetchResponse};
pub use resolve::{DnsResolver, Resolve, ResolveError};
