//! Retention: removes jobs and their pages when they expire.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::{clock, limits};

/// Removes expired jobs periodically until `stop` is cancelled.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    loop {
        match context.store.expire(clock::now()).await {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(jobs, "removed expired jobs"),
            Err(error) => tracing::warn!(%error, "cannot remove expired jobs; retrying"),
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(limits::EXPIRY_POLL) => {}
        }
    }
}
