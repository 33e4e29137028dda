//! Credits: the ledger, and its sums per team, key, and month or day.

use harvestman_core::api::error::ApiError;
use harvestman_core::day::Day;
use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::month::Month;
use harvestman_core::time::Timestamp;

use crate::error::StoreError;
use crate::job::NewJob;
use crate::operations::operations;

/// Credits of one calendar month (UTC) and key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MonthUsage {
    /// The month.
    pub month: Month,
    /// The key; `None` for use without a key.
    pub key: Option<KeyId>,
    /// Name of the key.
    pub key_name: Option<String>,
    /// Credits used.
    pub credits: u64,
}

/// Credits and pages of one calendar day (UTC) and key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DayUsage {
    /// The day.
    pub day: Day,
    /// The key; `None` for use without a key.
    pub key: Option<KeyId>,
    /// Name of the key.
    pub key_name: Option<String>,
    /// Credits used.
    pub credits: u64,
    /// Pages returned, including free ones.
    pub pages: u64,
}

/// What a transaction adds to the sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct UsageChange {
    pub(crate) credits: u64,
    /// Pages that the caller receives.
    pub(crate) pages: u64,
}

impl UsageChange {
    /// Returns the use of something that is not a page.
    pub(crate) fn credits(credits: impl Into<u64>) -> Self {
        Self {
            credits: credits.into(),
            pages: 0,
        }
    }

    /// Returns the use of one page.
    pub(crate) fn page(credits: impl Into<u64>) -> Self {
        Self {
            credits: credits.into(),
            pages: 1,
        }
    }
}

operations! {
    /// The ledger and its sums.
    trait Usage {
        /// Records a request that ends at once: its activity entry and, unless it is free, its ledger
        /// entry, from the fields of `call`. `end` is the price in credits, or the error.
        async fn record_call(
            &self,
            call: &NewJob,
            end: Result<u32, &ApiError>,
            now: Timestamp,
        ) -> Result<(), StoreError>;

        /// Returns the sum of all ledger entries of a team, in credits. Reads the whole ledger, to check the
        /// sums.
        async fn ledger_total(&self, team: TeamId) -> Result<u64, StoreError>;

        /// Returns the credits that a team used in a month.
        async fn credits_in_month(&self, team: TeamId, month: Month) -> Result<u64, StoreError>;

        /// Returns the credits of a team per month and key, oldest month first.
        async fn month_usage(&self, team: TeamId) -> Result<Vec<MonthUsage>, StoreError>;

        /// Returns the credits and pages of a team per day and key from the day `since` on, oldest day first.
        async fn day_usage(&self, team: TeamId, since: Day) -> Result<Vec<DayUsage>, StoreError>;
    }
}
