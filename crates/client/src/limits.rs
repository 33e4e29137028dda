//! Limits of the client.

/// Documents per status request while pages are streamed.
pub(crate) const PAGE_DOCUMENTS: u64 = 100;

/// Characters of an unexpected response that are included in the error.
pub(crate) const UNREADABLE_CHARS: usize = 200;
