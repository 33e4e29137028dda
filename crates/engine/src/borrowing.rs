//! Keeps the units of shared limits that this node holds in step with what its work needs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::holdings::Need;
use crate::limits;

/// Returns what the work of this node needs of every limit.
fn needs(context: &Context) -> Vec<Need> {
    let mut needs = context.slots.needs();
    needs.extend(context.sessions.permits_needed());
    needs.extend(context.budget.needs());
    needs
}

/// Keeps what this node holds in step with what it needs, until `stop` is cancelled.
pub(crate) async fn run(context: Arc<Context>, stop: CancellationToken) {
    let Some(shared) = context.holdings.shared() else {
        return;
    };
    let mut next_look = Instant::now();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = shared.woken() => {}
            () = tokio::time::sleep(limits::HOLDINGS_POLL) => {}
        }
        let mut awaited = HashSet::new();
        let names = shared.names();
        if Instant::now() >= next_look && !names.is_empty() {
            next_look = Instant::now() + limits::AWAITED_POLL;
            match shared.limits().awaited(&names).await {
                Ok(subjects) => awaited.extend(subjects),
                Err(error) => tracing::debug!(%error, "cannot look at what other nodes wait for; retrying"),
            }
        }
        let due = shared.due(&needs(&context), &awaited);
        if due.is_empty() {
            continue;
        }
        let satisfied = match shared.exchange_all(|| needs(&context), &due, &awaited).await {
            Ok(satisfied) => satisfied,
            Err(error) => {
                tracing::debug!(%error, "cannot borrow units of limits; retrying");
                false
            }
        };
        context.slots.assign_all();
        if !satisfied {
            // Other nodes give units back within their own poll.
            tokio::time::sleep(limits::BORROW_RETRY).await;
        }
    }
}
