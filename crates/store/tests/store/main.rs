//! Tests of the store through its public interface. `story` is one script that every engine must pass;
//! `faults` tests the files of the embedded database; `cache` the size limit of the page cache, `index` what waits for
//! its full-text index; `leases` how teams share the shards; `random` checks the invariants under crashes, lost replies
//! and former owners; `nodes` tests several nodes on one database; `encryption` which secrets are encrypted with which key;
//! `damaged` what happens to rows that cannot be read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cache;
mod damaged;
#[path = "../../../../tests/src/database_proxy.rs"]
#[expect(dead_code, unreachable_pub, reason = "whole-product tests use more of it")]
mod database_proxy;
mod encryption;
mod faults;
mod fixtures;
mod index;
mod leases;
mod nodes;
mod outages;
mod random;
mod story;
