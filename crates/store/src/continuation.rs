//! What a crawl inherits from the one that it continues, the same for every engine.

use harvestman_core::crawl::Progress;
use harvestman_core::ids::JobId;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::job::{ContinueOutcome, NewJob};
use crate::limits;
use crate::operations::operations;

/// The URLs that an ended crawl knows.
pub(crate) struct KnownUrls {
    all: u64,
    /// Number of URLs left to fetch for a crawl that continues this one.
    pub(crate) left: u64,
    /// Start pages among them.
    seeds_left: u64,
    /// Position of the first URL that is found later.
    pub(crate) next_position: u64,
}

impl KnownUrls {
    /// Reads the columns `urls`, `left_over`, `seeds_left` and `last_position`.
    pub(crate) fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self {
            all: row.count("urls")?,
            left: row.count("left_over")?,
            seeds_left: row.count("seeds_left")?,
            next_position: row.count("last_position")? + 1,
        })
    }

    /// Returns why the crawl cannot be continued, if it cannot.
    pub(crate) fn refusal(&self) -> Option<ContinueOutcome> {
        match () {
            () if self.left == 0 => Some(ContinueOutcome::NothingLeft),
            () if self.all > limits::INHERITED_URLS => Some(ContinueOutcome::TooManyUrls(self.all)),
            () => None,
        }
    }

    /// Returns the progress of the new crawl, from that of the ended one.
    pub(crate) fn progress(&self, earlier: Progress) -> Progress {
        earlier.continued(self.seeds_left == 0, self.all - self.seeds_left)
    }
}

operations! {
    /// Crawls that continue an earlier one.
    trait Continuations {
        /// Creates a crawl that continues an `earlier` one, which has ended. The new crawl knows the URLs of the
        /// earlier one, does not fetch its pages again, and starts with the URLs that failed, were not fetched or
        /// exceeded the limit.
        async fn continue_crawl(
            &self,
            #[seal_request &] job: &NewJob,
            earlier: JobId,
        ) -> Result<ContinueOutcome, StoreError>;

        /// Returns how many URLs a crawl that continues this one would start with.
        async fn urls_left(&self, job: JobId) -> Result<u64, StoreError>;
    }
}
