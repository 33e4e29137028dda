//! The open database as a whole.

use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::operations::operations;

operations! {
    /// The open database as a whole.
    trait Lifecycle {
        /// Finishes queued writes and closes the database. Later calls return [`StoreError::Closed`].
        async fn close(&self) -> Result<(), StoreError>;

        /// Checks that the database can be read and, after a failed write, written.
        async fn ping(&self) -> Result<(), StoreError>;

        /// Returns the time by which deadlines pass: that of the database, or `now` if it has no clock.
        async fn database_time(&self, now: Timestamp) -> Result<Timestamp, StoreError>;

        /// Deletes what has expired at `now`, in a bounded number of small transactions. Returns the number of
        /// deleted jobs; call again until it is 0.
        async fn expire(&self, now: Timestamp) -> Result<u64, StoreError>;
    }
}
