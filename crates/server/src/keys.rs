//! API keys: how they are made and what is stored of them. Only the hash of a key is ever kept.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// A new key: `fc-` and 256 random bits in hexadecimal.
pub fn new_key() -> Result<String, getrandom::Error> {
    Ok(format!("fc-{}", random_hex::<32>()?))
}

/// What the store knows of a key.
pub fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// `N` random bytes in hexadecimal.
pub(crate) fn random_hex<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    let mut text = String::with_capacity(2 * N);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_long_and_differ_and_travel_as_a_subprotocol() {
        let (a, b) = (new_key().unwrap(), new_key().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 3 + 64);
        assert!(a.starts_with("fc-") && a.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-'));
    }
}
