//! Creation and hashing of API keys. Only the hash and the last characters of a key are ever stored.

use harvestman_store::KeyFingerprint;
use sha2::{Digest, Sha256};

use crate::limits::{HINT_CHARS, MIN_HINT_KEY_CHARS};

/// Creates an API key: `fc-` and 256 random bits in hexadecimal.
pub fn new_key() -> Result<String, getrandom::Error> {
    Ok(format!("fc-{}", random_hex::<32>()?))
}

/// Creates a webhook secret: `whsec_` and 256 random bits in hexadecimal.
pub fn new_webhook_secret() -> Result<String, getrandom::Error> {
    Ok(format!("whsec_{}", random_hex::<32>()?))
}

/// Returns what is stored of a key: its hash and, unless the key is short, its last characters.
pub fn fingerprint(key: &str) -> KeyFingerprint {
    let long = key.len() >= MIN_HINT_KEY_CHARS;
    let hint = key.get(key.len().saturating_sub(HINT_CHARS)..).filter(|_| long);
    KeyFingerprint {
        hash: hash(key),
        hint: hint.unwrap_or_default().to_owned(),
    }
}

/// Returns the SHA-256 hash that a key is looked up with.
pub fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Returns `N` random bytes in hexadecimal.
pub(crate) fn random_hex<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_of_a_short_key_is_empty() {
        let key = new_key().unwrap();
        assert_eq!(fingerprint(&key).hint, key[key.len() - 4..]);
        assert_eq!(fingerprint(&key).hash, hash(&key));
        for short in ["", "fc-a", "fc-12345678"] {
            assert_eq!(fingerprint(short).hint, "", "{short}");
        }
    }

    #[test]
    fn keys_are_long_unique_and_valid_as_a_subprotocol() {
        let (a, b) = (new_key().unwrap(), new_key().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 3 + 64);
        assert!(a.starts_with("fc-") && a.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-'));
    }
}
