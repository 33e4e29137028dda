//! Retention: jobs and their pages go when their time is over.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::engine::Inner;
use crate::{clock, limits};

/// Removes what has expired, now and then, until `stop`.
pub(crate) async fn run(inner: Arc<Inner>, stop: CancellationToken) {
    loop {
        match inner.store.expire(clock::now()).await {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(jobs, "removed expired jobs"),
            Err(error) => tracing::warn!(%error, "expired jobs could not be removed; trying again"),
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(limits::EXPIRY_POLL) => {}
        }
    }
}
