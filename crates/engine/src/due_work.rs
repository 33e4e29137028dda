//! Looks for work that this node could lease, and wakes the loops that lease it. One read covers all kinds of work,
//! so an idle node puts little load on the store. Work that begins on this node wakes the loops at once.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::{clock, limits};

/// Looks regularly until `stop` is cancelled.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(limits::LEASE_POLL) => {}
        }
        match context.store.due_work(clock::now()).await {
            Ok(due) => {
                for (is_due, wake) in [
                    (due.shards, &context.new_work),
                    (due.events, &context.outbox),
                    (due.checks, &context.new_checks),
                ] {
                    if is_due {
                        wake.notify_one();
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "cannot look for work; retrying"),
        }
    }
}
