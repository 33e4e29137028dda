//! What a crawl inherits from the one that it continues, the same for every engine.

use harvestman_core::crawl::Progress;

use crate::columns::Columns;
use crate::error::StoreError;
use crate::job::ContinueOutcome;
use crate::limits;

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
