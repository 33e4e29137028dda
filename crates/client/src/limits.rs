//! Limits of the client.

/// Documents asked for with one status request while pages are followed.
pub(crate) const PAGE_DOCUMENTS: u64 = 100;

/// Characters of an answer that is not ours which are shown to the caller.
pub(crate) const UNREADABLE_CHARS: usize = 200;
