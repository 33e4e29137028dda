//! Words of texts and how much they weigh, for everything that compares texts with a query: searches, maps,
//! highlights, summaries and documentation search. Each of these decides what counts as a match.

mod bm25;
#[cfg(feature = "render")]
mod words;

pub(crate) use bm25::Bm25;
#[cfg(feature = "render")]
pub(crate) use words::{Words, is_stop_word};
