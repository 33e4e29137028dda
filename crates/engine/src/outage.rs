//! Outages of the store: repeats operations until they are over.

use std::fmt::Display;

use crate::limits;

/// Repeats an operation while the store is unavailable (busy, disk full), so that no work is lost.
pub(crate) async fn retry<T, E: Display, O: Future<Output = Result<T, E>>>(
    is_transient: impl Fn(&E) -> bool,
    operation: impl Fn() -> O,
) -> Result<T, E> {
    let mut pause = limits::COMMIT_RETRY;
    loop {
        match operation().await {
            Err(error) if is_transient(&error) => {
                tracing::warn!(%error, "cannot read or store what this work needs; retrying");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(limits::COMMIT_RETRY_MAX);
            }
            result => return result,
        }
    }
}
