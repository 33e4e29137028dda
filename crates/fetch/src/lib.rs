//! The only way out: every connection that the product opens starts here.
//!
//! A fetch resolves the name once, checks every answer against the table of special-purpose ranges, dials a
//! checked address, and reads the answer under one deadline with a cap on everything: headers, redirects,
//! cookies, decompressed bytes, and the bytes of all bodies in flight together.
//!
//! This crate never connects to an address that the [`AllowList`] and the table do not permit, never resolves a
//! name a second time between check and connect, never returns a short body as a whole one, and never guesses a
//! scheme. It knows nothing of crawls, robots.txt or page formats.

mod body;
mod budget;
mod client;
mod connect;
mod cookies;
mod decode;
mod egress;
mod error;
mod guard;
mod head;
pub mod limits;
mod pool;
mod redirect;
mod request;
mod resolve;
mod tls;

pub use client::{FetchConfig, Fetcher};
pub use connect::{Dial, Stream, TcpDialer};
pub use cookies::CookieJar;
pub use egress::Egress;
pub use error::FetchError;
pub use guard::{AllowList, Guard};
pub use request::{FetchRequest, FetchResponse};
pub use resolve::{DnsResolver, Resolve, ResolveError};
