//! Words from outside on their way to the drivers of this node: a job was cancelled, pages were added
//! to it. The store decides both; this only spares a driver the requests it would make, or the wait it
//! would have, until its next commit tells it so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use harvestman_core::crawl::Limiter;
use harvestman_core::ids::JobId;
use harvestman_store::Lease;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The jobs that are driven here.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    jobs: Mutex<HashMap<JobId, (u64, Words)>>,
}

/// What a driver listens to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    /// Cancelled when the job is.
    pub(crate) cancelled: CancellationToken,
    /// Pages were added.
    pub(crate) added: Arc<Notify>,
    /// What the driver says itself: why no further page starts.
    limiter: Arc<Mutex<Option<Limiter>>>,
}

impl Words {
    /// Notes why no further page of the job starts now.
    pub(crate) fn set_limiter(&self, limiter: Option<Limiter>) {
        *self.limiter.lock().unwrap_or_else(PoisonError::into_inner) = limiter;
    }
}

impl Driven {
    /// What to listen to; ask before the job is loaded.
    pub(crate) fn watch(&self, lease: &Lease) -> Words {
        let words = Words::default();
        self.lock().insert(lease.job, (lease.epoch, words.clone()));
        words
    }

    /// The job is not driven here any more under this lease.
    pub(crate) fn forget(&self, lease: &Lease) {
        let mut jobs = self.lock();
        if jobs
            .get(&lease.job)
            .is_some_and(|(epoch, _)| *epoch == lease.epoch)
        {
            jobs.remove(&lease.job);
        }
    }

    /// Tells the driver of the job, if it is here, that it is cancelled.
    pub(crate) fn cancel(&self, job: JobId) {
        if let Some((_, words)) = self.lock().remove(&job) {
            words.cancelled.cancel();
        }
    }

    /// Tells the driver of the job, if it is here, that pages were added.
    pub(crate) fn add(&self, job: JobId) {
        if let Some((_, words)) = self.lock().get(&job) {
            words.added.notify_one();
        }
    }

    /// Why no further page of the job starts now; none when nothing keeps it, or it is not driven here.
    pub(crate) fn limiter(&self, job: JobId) -> Option<Limiter> {
        let jobs = self.lock();
        let (_, words) = jobs.get(&job)?;
        *words.limiter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<JobId, (u64, Words)>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
