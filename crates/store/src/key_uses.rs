//! When the use of each key was last written. Both engines share it.

use std::collections::HashMap;

use harvestman_core::ids::KeyId;
use harvestman_core::time::Timestamp;
use parking_lot::Mutex;

use crate::limits;

/// Limits writes of `last_used_at` to one per key and [`limits::KEY_USE_INTERVAL_MS`].
#[derive(Debug, Default)]
pub(crate) struct KeyUses(Mutex<HashMap<KeyId, Timestamp>>);

impl KeyUses {
    /// Records a use. Returns whether it must be written.
    pub(crate) fn record(&self, key: KeyId, now: Timestamp) -> bool {
        let mut uses = self.0.lock();
        match uses.get(&key) {
            Some(last) if now.millis_since(*last) < limits::KEY_USE_INTERVAL_MS => false,
            _ => {
                uses.insert(key, now);
                true
            }
        }
    }
}
