//! Notifications that a job changed, for status requests that wait at its end and for live sockets. They are
//! only hints; the store is the truth.

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
    /// Wakes everyone who waits for the job.
    pub(crate) fn announce(&self, job: JobId) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(notify) = waiting.get(&job) {
            notify.notify_waiters();
        }
    }

    /// Returns a notifier for the job. Create the `notified()` future before reading the store, so that a
    /// change between the read and the wait is not missed.
    pub(crate) fn listen(&self, job: JobId) -> Arc<Notify> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, notify| Arc::strong_count(notify) > 1);
        waiting.entry(job).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_change_wakes_all_waiters_of_that_job_and_no_others() {
        let changes = Changes::default();
        let [one, other] = [1, 2].map(|number| JobId(Uuid::from_u128(number)));
        let (first, second, stranger) = (changes.listen(one), changes.listen(one), changes.listen(other));
        let (first, second, stranger) = (first.notified(), second.notified(), stranger.notified());
        tokio::pin!(first, second, stranger);
        // Registered before the announcement, because a read of the store lies in between.
        assert!(!first.as_mut().enable() && !second.as_mut().enable() && !stranger.as_mut().enable());
        changes.announce(one);
        first.await;
        second.await;
        assert!(!stranger.as_mut().enable());
    }

    #[test]
    fn notifiers_without_waiters_are_removed() {
        let changes = Changes::default();
        for number in 0..100 {
            drop(changes.listen(JobId(Uuid::from_u128(number))));
        }
        assert_eq!(changes.waiting.lock().unwrap().len(), 1);
    }
}
