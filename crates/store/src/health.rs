//! Whether the database can be written. Both engines share it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::StoreError;

/// Whether the last write failed for a transient reason, such as a full disk or a lost connection.
#[derive(Debug, Default)]
pub(crate) struct WriteHealth(AtomicBool);

impl WriteHealth {
    pub(crate) fn record<T>(&self, result: &Result<T, StoreError>) {
        let now = matches!(result, Err(error) if error.is_transient());
        let before = self.0.swap(now, Ordering::Relaxed);
        match result {
            Err(error) if now && !before => tracing::error!(%error, "the database cannot be written"),
            _ if before && !now => tracing::info!("the database can be written again"),
            _ => {}
        }
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
