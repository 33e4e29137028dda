//! The store through its public interface. `story` is one script that every engine must pass;
//! `faults` is about the embedded database's files; `cache` is about room; `random` plays crashes, lost answers and former
//! owners against the invariants.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cache;
mod faults;
mod place;
mod random;
mod story;
