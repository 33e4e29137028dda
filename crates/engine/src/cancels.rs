//! Cancels on their way to the drivers of this node. The store decides that a job is cancelled; this
//! only spares the driver the requests it would make until its next commit tells it so.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use harvestman_core::ids::JobId;
use tokio_util::sync::CancellationToken;

/// The jobs that are driven here.
#[derive(Debug, Default)]
pub(crate) struct Cancels {
    driven: Mutex<HashMap<JobId, CancellationToken>>,
}

impl Cancels {
    /// Cancelled when the job is; ask before the job is loaded.
    pub(crate) fn watch(&self, job: JobId) -> CancellationToken {
        let token = CancellationToken::new();
        self.lock().insert(job, token.clone());
        token
    }

    /// The job is not driven here any more.
    pub(crate) fn forget(&self, job: JobId) {
        self.lock().remove(&job);
    }

    /// Tells the driver of the job, if it is here.
    pub(crate) fn cancel(&self, job: JobId) {
        if let Some(token) = self.lock().remove(&job) {
            token.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<JobId, CancellationToken>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
