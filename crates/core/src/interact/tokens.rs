//! Tokens of browser sessions: the id of the session and a proof that only holders of the key can compute. This lets
//! every node of a cluster derive the URLs of every session, and the session that a URL belongs to.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;

use super::{SessionTokens, ViewTokens};
use crate::ids::SessionId;

/// Bytes of the id, and of the proof.
const HALF: usize = 16;

/// Key from which the tokens of sessions are derived.
#[derive(Clone)]
pub struct TokenKey(Vec<u8>);

impl TokenKey {
    /// Creates a key from a secret.
    pub fn new(secret: impl Into<Vec<u8>>) -> Self {
        Self(secret.into())
    }

    /// Returns the tokens of a session; `views` says whether it offers live views.
    pub fn tokens(&self, id: SessionId, views: bool) -> SessionTokens {
        SessionTokens {
            cdp: self.token(id, b"cdp"),
            views: views.then(|| ViewTokens {
                view: self.token(id, b"view"),
                control: self.token(id, b"control"),
            }),
        }
    }

    /// Returns the session of a token, whatever the token opens; `None` for a token that this key has not made.
    pub fn session(&self, token: &str) -> Option<SessionId> {
        let bytes: [u8; 2 * HALF] = hex::decode(token).ok()?.try_into().ok()?;
        let (id, proof) = bytes.split_at(HALF);
        let id = SessionId(Uuid::from_slice(id).ok()?);
        let doors: [&[u8]; 3] = [b"cdp", b"view", b"control"];
        let is_genuine = |door: &&[u8]| self.mac(id, door).verify_truncated_left(proof).is_ok();
        doors.iter().any(is_genuine).then_some(id)
    }

    fn token(&self, id: SessionId, door: &[u8]) -> String {
        let proof = self.mac(id, door).finalize().into_bytes();
        hex::encode(id.0.as_bytes()) + &hex::encode(&proof[..HALF])
    }

    fn mac(&self, id: SessionId, door: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(b"session token ");
        mac.update(id.0.as_bytes());
        mac.update(door);
        mac
    }
}

/// Hides the key.
impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_session_to_holders_of_the_key() {
        let id = SessionId(Uuid::from_u128(7));
        let key = TokenKey::new("one secret");
        let tokens = key.tokens(id, true);
        let views = tokens.views.clone().unwrap();
        let all = [&tokens.cdp, &views.view, &views.control];
        for token in all {
            assert_eq!(key.session(token), Some(id));
            assert_eq!(TokenKey::new("another secret").session(token), None);
            assert_eq!(key.session(&token.replace('7', "8")), None, "of another session");
        }
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
        assert_eq!(TokenKey::new("one secret").tokens(id, true), tokens);
        assert_eq!(key.tokens(id, false).views, None);
        for bad in [
            "",
            "0",
            "zz",
            &all[0][..62],
            &all[0].to_uppercase().replace(|c: char| c.is_ascii_digit(), ""),
        ] {
            assert_eq!(key.session(bad), None, "{bad}");
        }
    }
}
