//! Whether a part that a server may do without, such as the browser, the model or the search provider, did its work
//! when it was last needed. It never tries the part itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by all clones; it is believed to work until it was needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Works {
    failed: Arc<AtomicBool>,
}

impl Works {
    /// Notes how the last use went.
    pub(crate) fn note(&self, works: bool) {
        self.failed.store(!works, Ordering::Relaxed);
    }

    /// Whether the last use went well.
    pub(crate) fn get(&self) -> bool {
        !self.failed.load(Ordering::Relaxed)
    }
}
