//! Signals (cancelled, pages added) for this node's drivers. The store decides both; a signal only spares a
//! driver the requests it would make, or the time it would wait, until its next commit reports the change.

use std::collections::HashMap;
use std::sync::Arc;

use harvestman_core::api::console::Limiter;
use harvestman_core::ids::JobId;
use harvestman_store::Lease;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Signals by job, for the jobs that this node drives.
#[derive(Debug, Default)]
pub(crate) struct DriverSignals {
    jobs: Mutex<HashMap<JobId, (u64, JobSignals)>>,
}

/// The signals of one job.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobSignals {
    /// Cancelled when the job is cancelled.
    pub(crate) cancelled: CancellationToken,
    /// Notified when pages were added.
    pub(crate) pages_added: Arc<Notify>,
    /// Why no further page starts; set by the driver.
    limiter: Arc<Mutex<Option<Limiter>>>,
}

impl JobSignals {
    /// Sets the reason why no further page of the job starts now.
    pub(crate) fn set_limiter(&self, limiter: Option<Limiter>) {
        *self.limiter.lock() = limiter;
    }
}

impl DriverSignals {
    /// Registers a driver and returns its signals. Call this before loading the job.
    pub(crate) fn register(&self, lease: &Lease) -> JobSignals {
        let signals = JobSignals::default();
        self.jobs.lock().insert(lease.job, (lease.epoch, signals.clone()));
        signals
    }

    /// Removes the driver that holds this lease.
    pub(crate) fn remove(&self, lease: &Lease) {
        let mut jobs = self.jobs.lock();
        if jobs
            .get(&lease.job)
            .is_some_and(|(epoch, _)| *epoch == lease.epoch)
        {
            jobs.remove(&lease.job);
        }
    }

    /// Returns the jobs that this node drives.
    pub(crate) fn jobs(&self) -> Vec<JobId> {
        self.jobs.lock().keys().copied().collect()
    }

    /// Signals to the job's driver, if it runs here, that the job is cancelled.
    pub(crate) fn cancel(&self, job: JobId) {
        if let Some((_, signals)) = self.jobs.lock().remove(&job) {
            signals.cancelled.cancel();
        }
    }

    /// Signals to the job's driver, if it runs here, that pages were added.
    pub(crate) fn pages_added(&self, job: JobId) {
        if let Some((_, signals)) = self.jobs.lock().get(&job) {
            signals.pages_added.notify_one();
        }
    }

    /// Returns why no further page of the job starts now; `None` if nothing limits it or it is not driven
    /// here.
    pub(crate) fn limiter(&self, job: JobId) -> Option<Limiter> {
        let jobs = self.jobs.lock();
        let (_, signals) = jobs.get(&job)?;
        *signals.limiter.lock()
    }
}
