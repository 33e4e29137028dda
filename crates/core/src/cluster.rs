//! The secret that the nodes of a cluster share, and what it signs.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::interact::TokenKey;

/// The shared secret.
#[derive(Clone, PartialEq, Eq)]
pub struct ClusterSecret(String);

impl ClusterSecret {
    /// Smallest number of characters of a secret.
    pub const MIN_CHARS: usize = 16;

    /// Returns the secret unless it is too short.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() >= Self::MIN_CHARS).then(|| Self(text.to_owned()))
    }

    /// Returns a string that is equal for equal secrets and does not reveal them.
    pub fn fingerprint(&self) -> String {
        self.sign("fingerprint", &[])
    }

    /// Returns the key of session tokens, the same on every node.
    pub fn token_key(&self) -> TokenKey {
        TokenKey::new(self.mac("session tokens", &[]).finalize().into_bytes().to_vec())
    }

    /// Returns the hexadecimal signature of these texts for this purpose.
    pub fn sign(&self, purpose: &str, texts: &[&str]) -> String {
        hex::encode(self.mac(purpose, texts).finalize().into_bytes())
    }

    /// Returns whether a signature is correct, in constant time.
    pub fn verify(&self, purpose: &str, texts: &[&str], signature: &str) -> bool {
        let signature = hex::decode(signature).unwrap_or_default();
        self.mac(purpose, texts).verify_slice(&signature).is_ok()
    }

    fn mac(&self, purpose: &str, texts: &[&str]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).expect("HMAC takes keys of any length");
        for text in [&purpose].into_iter().chain(texts) {
            // The length prefix separates each text from the next.
            mac.update(&(text.len() as u64).to_be_bytes());
            mac.update(text.as_bytes());
        }
        mac
    }
}

/// Hides the secret.
impl std::fmt::Debug for ClusterSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClusterSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_secret_purpose_and_list_of_texts() {
        assert_eq!(ClusterSecret::parse("too short"), None);
        let secret = ClusterSecret::parse("0123456789abcdef").unwrap();
        let other = ClusterSecret::parse("0123456789abcdeX").unwrap();
        let signature = secret.sign("request", &["GET", "/live"]);
        assert!(secret.verify("request", &["GET", "/live"], &signature));
        assert!(!other.verify("request", &["GET", "/live"], &signature));
        assert!(!secret.verify("other", &["GET", "/live"], &signature));
        assert!(!secret.verify("request", &["GET/", "live"], &signature));
        assert!(!secret.verify("request", &["GET", "/live"], "") && !secret.verify("request", &[], "zz"));
        assert_ne!(secret.fingerprint(), other.fingerprint());
        assert_eq!(format!("{secret:?}"), "ClusterSecret");
    }
}
