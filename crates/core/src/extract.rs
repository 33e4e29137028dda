//! Extraction of data after a JSON Schema: what a page states is matched with the properties of the schema ([`fill()`]),
//! what a language model says is checked against it ([`answer`]), results of several pages are joined ([`merge`]).
//!
//! Pure, and bounded on any schema and page. What is given out as valid was validated here; nothing is invented.

pub mod answer;
mod coerce;
pub mod fill;
pub mod merge;
mod names;
pub mod schema;
mod source;

pub use fill::{Filled, fill};
pub use schema::Schema;
