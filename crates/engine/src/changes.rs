//! Notifications that a job changed, for status requests that wait for new documents and for live sockets. They are
//! only hints; the store is the truth.

use std::collections::HashMap;
use std::sync::Arc;

use harvestman_core::ids::JobId;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Waiters by job.
#[derive(Debug, Default)]
pub(crate) struct JobChanges {
    waiters: Mutex<HashMap<JobId, Arc<Notify>>>,
}

impl JobChanges {
    /// Wakes all waiters of the job.
    pub(crate) fn announce(&self, job: JobId) {
        let waiters = self.waiters.lock();
        if let Some(notify) = waiters.get(&job) {
            notify.notify_waiters();
        }
    }

    /// Returns the jobs that have waiters.
    pub(crate) fn jobs(&self) -> Vec<JobId> {
        let waiters = self.waiters.lock();
        let waited_for = waiters.iter().filter(|(_, notify)| Arc::strong_count(notify) > 1);
        waited_for.map(|(job, _)| *job).collect()
    }

    /// Returns a notifier for the job. Create the `notified()` future before reading the store, so that a
    /// change between the read and the wait is not missed.
    pub(crate) fn subscribe(&self, job: JobId) -> Arc<Notify> {
        let mut waiters = self.waiters.lock();
        waiters.retain(|_, notify| Arc::strong_count(notify) > 1);
        waiters.entry(job).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_change_wakes_all_waiters_of_that_job_and_no_others() {
        let changes = JobChanges::default();
        let [one, other] = [1, 2].map(|number| JobId(Uuid::from_u128(number)));
        let (first, second, stranger) = (
            changes.subscribe(one),
            changes.subscribe(one),
            changes.subscribe(other),
        );
        let (first, second, stranger) = (first.notified(), second.notified(), stranger.notified());
        tokio::pin!(first, second, stranger);
        // Waiters register before they read the store, so an announcement during the read still wakes them.
        assert!(!first.as_mut().enable() && !second.as_mut().enable() && !stranger.as_mut().enable());
        changes.announce(one);
        first.await;
        second.await;
        assert!(!stranger.as_mut().enable());
    }

    #[test]
    fn notifiers_without_waiters_are_removed() {
        let changes = JobChanges::default();
        for number in 0..100 {
            drop(changes.subscribe(JobId(Uuid::from_u128(number))));
        }
        assert_eq!(changes.waiters.lock().len(), 1);
    }
}
