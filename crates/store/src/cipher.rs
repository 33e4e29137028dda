//! Encryption of single values with a secret key: ChaCha20-Poly1305 (RFC 8439), and a random nonce for each value. The
//! keys are derived with HKDF-SHA-256 (RFC 5869). [`secrets`](crate::secrets) decides which values are encrypted.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom, SystemRandom};

use crate::config::SecretKey;
use crate::error::StoreError;

/// Begins every encrypted value, before the id of its key. The number is the version of the format.
const PREFIX: &str = "sealed:1:";
/// Length of a key's id in bytes.
const ID_BYTES: usize = 8;

/// What a value is for. A value that was encrypted for one purpose cannot be decrypted for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    WebhookSecret,
    Request,
    Profile,
}

impl Purpose {
    fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::WebhookSecret => b"webhook secret",
            Self::Request => b"request",
            Self::Profile => b"profile",
        }
    }
}

/// Encrypts and decrypts with one key.
#[derive(Clone)]
pub(crate) struct Cipher {
    id: String,
    key: LessSafeKey,
}

impl Cipher {
    /// Derives the encryption key and its id.
    pub(crate) fn new(secret: &SecretKey) -> Result<Self, StoreError> {
        let derived = Salt::new(HKDF_SHA256, b"harvestman secret key").extract(secret.as_str().as_bytes());
        let mut id = [0; ID_BYTES];
        derived
            .expand(&[b"id"], IdLength)
            .and_then(|id_bytes| id_bytes.fill(&mut id))
            .map_err(|_| unusable())?;
        let key = derived
            .expand(&[b"values"], &CHACHA20_POLY1305)
            .map_err(|_| unusable())?;
        Ok(Self {
            id: hex::encode(id),
            key: LessSafeKey::new(UnboundKey::from(key)),
        })
    }

    /// Returns a name of the key that does not reveal it.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Encrypts a value into text. Up to 2^32 values of a key may have a random nonce each (NIST SP 800-38D section 8.3).
    pub(crate) fn seal(&self, purpose: Purpose, value: &[u8]) -> Result<String, StoreError> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| unusable())?;
        let mut sealed = value.to_vec();
        self.key
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(purpose.as_bytes()),
                &mut sealed,
            )
            .map_err(|_| unusable())?;
        sealed.splice(0..0, nonce);
        Ok(format!("{PREFIX}{}:{}", self.id, STANDARD_NO_PAD.encode(sealed)))
    }

    /// Decrypts what [`Self::seal`] returned; `None` if another key sealed it.
    pub(crate) fn open(&self, purpose: Purpose, text: &str) -> Option<Result<Vec<u8>, StoreError>> {
        let (id, data) = parse(text)?;
        (id == self.id).then(|| self.decrypt(purpose, data))
    }

    fn decrypt(&self, purpose: Purpose, data: &str) -> Result<Vec<u8>, StoreError> {
        let damaged = || StoreError::Unreadable("an encrypted value is damaged".to_owned());
        let mut bytes = STANDARD_NO_PAD.decode(data).map_err(|_| damaged())?;
        let (nonce, sealed) = bytes.split_first_chunk_mut().ok_or_else(damaged)?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let value = self
            .key
            .open_in_place(nonce, Aad::from(purpose.as_bytes()), sealed);
        value.map(|value| value.to_vec()).map_err(|_| damaged())
    }
}

/// Hides the key.
impl fmt::Debug for Cipher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Cipher").field(&self.id).finish()
    }
}

/// Returns the id of the key that encrypted this text; `None` if it is not encrypted.
pub(crate) fn key_of(text: &str) -> Option<&str> {
    parse(text).map(|(id, _)| id)
}

/// Returns whether the text may contain encrypted values.
pub(crate) fn may_contain_sealed(text: &str) -> bool {
    text.contains(PREFIX)
}

/// Splits an encrypted value into the id of its key and its data.
fn parse(text: &str) -> Option<(&str, &str)> {
    let (id, data) = text.strip_prefix(PREFIX)?.split_once(':')?;
    (id.len() == 2 * ID_BYTES).then_some((id, data))
}

/// The length of an id, for its derivation.
struct IdLength;

impl KeyType for IdLength {
    fn len(&self) -> usize {
        ID_BYTES
    }
}

fn unusable() -> StoreError {
    StoreError::Setup("cannot encrypt: the system returned no random bytes".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cipher(text: &str) -> Cipher {
        Cipher::new(&SecretKey::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn a_value_is_decrypted_by_its_key_for_its_purpose_only() {
        let (ours, other) = (cipher("0123456789abcdef"), cipher("0123456789abcdeX"));
        let sealed = ours.seal(Purpose::WebhookSecret, b"hush").unwrap();
        assert!(
            !sealed.contains("hush") && key_of(&sealed) == Some(ours.id()),
            "{sealed}"
        );
        assert_eq!(
            ours.open(Purpose::WebhookSecret, &sealed),
            Some(Ok(b"hush".to_vec()))
        );
        assert_eq!(other.open(Purpose::WebhookSecret, &sealed), None);
        assert!(ours.open(Purpose::Profile, &sealed).unwrap().is_err());
        assert_ne!(
            ours.seal(Purpose::WebhookSecret, b"hush").unwrap(),
            sealed,
            "random nonce"
        );
        for text in [
            "hush", "sealed:1:", "sealed:1:0123:xx", "sealed:2:0123456789abcdef:",
        ] {
            assert_eq!(ours.open(Purpose::WebhookSecret, text), None, "{text}");
        }
    }

    #[test]
    fn a_changed_value_is_damaged() {
        let cipher = cipher("0123456789abcdef");
        let sealed = cipher.seal(Purpose::Request, b"{}").unwrap();
        let last = sealed.len() - 1;
        let changed = match &sealed[last..] {
            "A" => format!("{}Q", &sealed[..last]),
            _ => format!("{}A", &sealed[..last]),
        };
        for text in [
            &*changed,
            &sealed[..sealed.len() - 8],
            &sealed[..PREFIX.len() + 17],
        ] {
            let opened = cipher.open(Purpose::Request, text).unwrap();
            assert!(
                matches!(opened, Err(StoreError::Unreadable(_))),
                "{text}: {opened:?}"
            );
        }
    }

    #[test]
    fn the_derived_keys_never_change() {
        let cipher = cipher("a key of version 0.1");
        let sealed = "sealed:1:5db5fc34a6e1e412:AAECAwQFBgcICQoLqRcSTmC6yOURxgQfyPl4JrOo/XjIaCTEmxPjZlxqfg";
        assert_eq!(
            cipher.open(Purpose::WebhookSecret, sealed),
            Some(Ok(b"stored long ago".to_vec()))
        );
    }
}
