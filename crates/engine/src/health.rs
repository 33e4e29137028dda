//! Whether an optional part of the server (browser, language model, search provider) worked when it was last
//! used. It never tests the part itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The state of one part, shared by all clones. It counts as working until a use fails.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    failed: Arc<AtomicBool>,
}

impl Health {
    /// Records the result of the last use.
    pub(crate) fn record(&self, healthy: bool) {
        self.failed.store(!healthy, Ordering::Relaxed);
    }

    /// Returns whether the last use succeeded.
    pub(crate) fn is_healthy(&self) -> bool {
        !self.failed.load(Ordering::Relaxed)
    }
}
