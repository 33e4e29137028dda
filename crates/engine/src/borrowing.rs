//! Borrows and gives back units of shared limits as the work of this node needs them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::holdings::Need;
use crate::limits;

/// Returns how many units of each limit the work of this node needs.
fn needs(context: &Context) -> Vec<Need> {
    let mut needs = context.slots.needs();
    needs.extend(context.sessions.permits_needed());
    needs.extend(context.budget.needs());
    needs
}

/// Borrows and gives back units as the needs of this node change, until `stop` is cancelled.
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
            // Other nodes give units back at their own polling interval.
            tokio::time::sleep(limits::BORROW_RETRY).await;
        }
    }
}
