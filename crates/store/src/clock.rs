//! The wall clock of this machine.

use std::time::SystemTime;

use harvestman_core::time::Timestamp;

/// Returns the wall clock time, for timestamps that no decision depends on.
pub(crate) fn clock() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
