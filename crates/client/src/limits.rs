//! Limits of the client.

/// Characters of an unexpected response that are included in the error.
pub(crate) const UNREADABLE_CHARS: usize = 200;
