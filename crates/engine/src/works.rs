//! Whether an optional part of the server (browser, language model, search provider) worked when it was last
//! used. It never tests the part itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The state of one part, shared by all clones. It counts as working until a use fails.
#[derive(Clone, Debug, Default)]
pub(crate) struct Works {
    failed: Arc<AtomicBool>,
}

impl Works {
    /// Records the result of the last use.
    pub(crate) fn note(&self, works: bool) {
        self.failed.store(!works, Ordering::Relaxed);
    }

    /// Returns whether the last use succeeded.
    pub(crate) fn get(&self) -> bool {
        !self.failed.load(Ordering::Relaxed)
    }
}
