//! API keys: how they are made and what is stored of them. Of a key only its hash and its last characters are
//! ever kept.

use std::fmt::Write;

use harvestman_store::KeyPrint;
use sha2::{Digest, Sha256};

use crate::limits::{HINT_CHARS, HINTED_KEY_CHARS};

/// A new key: `fc-` and 256 random bits in hexadecimal.
pub fn new_key() -> Result<String, getrandom::Error> {
    Ok(format!("fc-{}", random_hex::<32>()?))
}

/// A new secret for webhooks: `whsec_` and 256 random bits in hexadecimal.
pub fn new_webhook_secret() -> Result<String, getrandom::Error> {
    Ok(format!("whsec_{}", random_hex::<32>()?))
}

/// What the store keeps of a key. Of a short one nothing is told.
pub fn print(key: &str) -> KeyPrint {
    let long = key.len() >= HINTED_KEY_CHARS;
    let hint = key.get(key.len().saturating_sub(HINT_CHARS)..).filter(|_| long);
    KeyPrint {
        hash: hash(key),
        hint: hint.unwrap_or_default().to_owned(),
    }
}

/// What a key is found by.
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
    fn a_hint_never_gives_a_key_away() {
        let key = new_key().unwrap();
        assert_eq!(print(&key).hint, key[key.len() - 4..]);
        assert_eq!(print(&key).hash, hash(&key));
        for short in ["", "fc-a", "fc-12345678"] {
            assert_eq!(print(short).hint, "", "{short}");
        }
    }

    #[test]
    fn keys_are_long_and_differ_and_travel_as_a_subprotocol() {
        let (a, b) = (new_key().unwrap(), new_key().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 3 + 64);
        assert!(a.starts_with("fc-") && a.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-'));
    }
}
