//! The one-time code in the console's address that a start prints: 128 random bits, good for ten
//! minutes and one use. The code itself is never kept, only its hash.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq;

use crate::keys;

/// The sign-in of one start.
#[derive(Debug)]
pub struct SignIn {
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    hash: [u8; 32],
    until: Instant,
}

impl SignIn {
    /// A fresh code, good for `time`, with the place that takes it.
    pub fn new(time: Duration) -> Result<(SignIn, String), getrandom::Error> {
        let code = keys::random_hex::<16>()?;
        let open = Open {
            hash: keys::hash(&code),
            until: Instant::now() + time,
        };
        Ok((
            SignIn {
                open: Mutex::new(Some(open)),
            },
            code,
        ))
    }

    /// Whether the code is the right one and still good. After the first `true` it never is again.
    pub fn redeem(&self, code: &str) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let good = open.as_ref().is_some_and(|open| {
            let same: bool = open.hash.ct_eq(&keys::hash(code)).into();
            same && Instant::now() < open.until
        });
        if good {
            *open = None;
        }
        good
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once() {
        let (sign_in, code) = SignIn::new(Duration::from_secs(60)).unwrap();
        assert_eq!(code.len(), 32);
        assert!(!sign_in.redeem("wrong") && !sign_in.redeem(""));
        assert!(sign_in.redeem(&code));
        assert!(!sign_in.redeem(&code));
    }

    #[test]
    fn a_code_ends_with_its_time() {
        let (sign_in, code) = SignIn::new(Duration::ZERO).unwrap();
        assert!(!sign_in.redeem(&code));
    }
}
