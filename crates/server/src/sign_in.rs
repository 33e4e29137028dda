//! One-time sign-in code in the console link that a start prints: 128 random bits, valid for ten minutes and one use.
//! Only the hash of the code is kept.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use subtle::ConstantTimeEq;

use crate::keys;

/// Verifier of the sign-in code of one start.
#[derive(Debug)]
pub struct SignIn {
    pending: Mutex<Option<PendingCode>>,
}

#[derive(Debug)]
struct PendingCode {
    hash: [u8; 32],
    expires_at: Instant,
}

impl SignIn {
    /// Creates a code that is valid for `time`, and its verifier.
    pub fn new(time: Duration) -> Result<(SignIn, String), getrandom::Error> {
        let code = keys::random_hex::<16>()?;
        let pending = PendingCode {
            hash: keys::hash(&code),
            expires_at: Instant::now() + time,
        };
        Ok((
            SignIn {
                pending: Mutex::new(Some(pending)),
            },
            code,
        ))
    }

    /// Returns whether the code is correct and still valid. A code can be redeemed only once.
    pub fn redeem(&self, code: &str) -> bool {
        let mut pending = self.pending.lock();
        let good = pending.as_ref().is_some_and(|pending| {
            let same: bool = pending.hash.ct_eq(&keys::hash(code)).into();
            same && Instant::now() < pending.expires_at
        });
        if good {
            *pending = None;
        }
        good
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_valid_once() {
        let (sign_in, code) = SignIn::new(Duration::from_secs(60)).unwrap();
        assert_eq!(code.len(), 32);
        assert!(!sign_in.redeem("wrong") && !sign_in.redeem(""));
        assert!(sign_in.redeem(&code));
        assert!(!sign_in.redeem(&code));
    }

    #[test]
    fn a_code_expires() {
        let (sign_in, code) = SignIn::new(Duration::ZERO).unwrap();
        assert!(!sign_in.redeem(&code));
    }
}
