//! The wire: every request and answer of the contract, one file per endpoint family.

pub mod error;
pub mod page;
