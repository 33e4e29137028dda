//! Normalised URL identity (contract section 5 rule 1).

use std::fmt;

/// Identity of a page within a job: the first 128 bits of SHA-256 of the URL's normal form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(pub u128);

impl fmt::Debug for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UrlKey({:032x})", self.0)
    }
}

impl UrlKey {
    /// The key as stored: 16 bytes, big endian.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Reads back what [`UrlKey::to_bytes`] gave.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}
