//! What both engines share in the commit of a batch: its owner, its result, and the meaning of an outcome.

use harvestman_core::crawl::{AdmittedUrl, CommitResponse, JobState, Snapshot};
use harvestman_core::ids::JobId;

use crate::error::CommitError;
use crate::lease::Lease;
use crate::limits;
use crate::prepared::{PreparedDocument, PreparedOutcome};

/// Warning of a crawl that found more links than it may store.
pub(crate) const FRONTIER_FULL: &str = "The crawl found more links than it can store, and dropped some. Raise \
    `limit`, or narrow the crawl with `includePaths` or `excludePaths`.";

/// Result of the transaction.
pub(crate) enum CommitResult {
    Committed(Vec<AdmittedUrl>, JobState),
    Repeated,
    LeaseLost,
}

impl CommitResult {
    /// Returns the response for the batch with this number. `load` reads the response to a repeated commit.
    pub(crate) async fn response(
        self,
        number: u64,
        load: impl Future<Output = Result<(Snapshot, JobState), crate::StoreError>>,
    ) -> Result<CommitResponse, CommitError> {
        match self {
            Self::Committed(admitted, state) => Ok(CommitResponse {
                number,
                admitted,
                state,
            }),
            Self::LeaseLost => Err(CommitError::LeaseLost),
            Self::Repeated => {
                tracing::info!("a commit was repeated: its response was lost");
                let (snapshot, state) = load.await?;
                Ok(CommitResponse {
                    number,
                    admitted: snapshot.open,
                    state,
                })
            }
        }
    }
}

/// The shard and its fencing token.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) job: JobId,
    pub(crate) shard: u32,
    pub(crate) epoch: u64,
}

impl Owner {
    pub(crate) fn of(lease: &Lease) -> Self {
        Self {
            job: lease.job,
            shard: lease.shard,
            epoch: lease.epoch,
        }
    }
}

/// A page to store under this number. Without a document, only the fact that there was one is stored.
pub(crate) struct NewPage {
    pub(crate) seq: u64,
    pub(crate) key: Option<[u8; 16]>,
    pub(crate) document: Option<PreparedDocument>,
    pub(crate) credits: u32,
}

/// Returns the state of a URL with this outcome.
pub(crate) fn state_after(outcome: &PreparedOutcome) -> &'static str {
    match outcome {
        PreparedOutcome::Page { .. } => "done",
        PreparedOutcome::Failed(_) => "failed",
        PreparedOutcome::Dropped(_) => "dropped",
    }
}

/// Logs an outcome of a URL that is settled or was never admitted: a page is stored and charged at most once.
pub(crate) fn ignore_outcome(job: JobId, outcome: &PreparedOutcome) {
    let outcome = state_after(outcome);
    tracing::error!(job.id = %job, outcome, "outcome ignored: the URL is not open");
}

/// Adds warnings of a job, each text once.
pub(crate) fn add_warnings(warnings: &mut Vec<String>, sentences: impl IntoIterator<Item = String>) {
    for sentence in sentences {
        if warnings.len() < limits::WARNINGS_PER_JOB && !warnings.contains(&sentence) {
            warnings.push(sentence);
        }
    }
}

/// Returns how many more URLs a job may store.
pub(crate) fn rows_left(page_limit: u64, url_count: u64) -> u64 {
    page_limit
        .saturating_mul(limits::FRONTIER_PER_PAGE)
        .saturating_add(limits::FRONTIER_BASE)
        .saturating_sub(url_count)
}
