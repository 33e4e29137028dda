//! Who waits for news of a job: status requests at its end, live sockets. News are only hints; the
//! store is the truth.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use harvestman_core::ids::JobId;
use tokio::sync::Notify;

/// Waiters by job.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    waiting: Mutex<HashMap<JobId, Arc<Notify>>>,
}

impl Changes {
    /// Wakes everybody who waits for the job.
    pub(crate) fn announce(&self, job: JobId) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(notify) = waiting.get(&job) {
            notify.notify_waiters();
        }
    }

    /// A place to wait at. Make the future of `notified()` before looking at the store, so that no
    /// news fall between the look and the wait.
    pub(crate) fn listen(&self, job: JobId) -> Arc<Notify> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, notify| Arc::strong_count(notify) > 1);
        waiting.entry(job).or_default().clone()
    }
}
