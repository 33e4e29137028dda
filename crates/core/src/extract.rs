//! Data extraction by JSON Schema: [`fill()`] matches the data stated on a page with the properties of the schema,
//! [`answer`] checks the response of a language model against it, [`merge`] joins the results of several pages.
//!
//! Pure, with bounded work for any schema and page. A value returned as valid was validated here; nothing is
//! invented.

pub mod answer;
mod coerce;
pub mod fill;
pub mod merge;
mod names;
pub mod schema;
mod source;

pub use fill::{FillResult, fill, fill_schema};
pub use schema::Schema;

/// Properties of a schema.org `PostalAddress`, in the order in which an address is written.
pub(crate) const ADDRESS_PARTS: [&str; 5] = [
    "streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry",
];
