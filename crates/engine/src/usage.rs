//! Usage and queue reports of a team: credits used and left, pages in progress and waiting (docs/API.md
//! sections 6.7, 6.8 and 12). Credits are the ledger's sums by month and key.

use harvestman_core::api::team::{
    CreditPeriod, CreditUsage, KeyUse, OPEN_MODE_KEY, QueueStatus, UsageHistory, UsageQuery,
};
use harvestman_core::month::Month;
use harvestman_store::{MonthUsage, Principal, StoreError};

use crate::clock;
use crate::engine::Engine;

impl Engine {
    /// Returns the credits of every month with usage and of the current month, also by key.
    pub async fn credit_history(
        &self,
        principal: &Principal,
        query: UsageQuery,
    ) -> Result<UsageHistory<CreditPeriod>, StoreError> {
        let used = self.inner.store.month_usage(principal.team).await?;
        let used = used.into_iter().map(by_name).collect();
        Ok(UsageHistory::of(used, query, this_month(), &principal.key_name))
    }

    /// Returns the credits of the current month.
    pub async fn credit_usage(&self, principal: &Principal) -> Result<CreditUsage, StoreError> {
        let month = this_month();
        let used = self.inner.store.credits_in_month(principal.team, month).await?;
        Ok(CreditUsage::of(
            month,
            self.plans().of(principal.team).credit_budget,
            used,
        ))
    }

    /// Returns the numbers of pages in progress and waiting.
    pub async fn queue_status(&self, principal: &Principal) -> Result<QueueStatus, StoreError> {
        let queue = self.inner.store.queue(principal.team).await?;
        let (in_flight, limit) = self.concurrency(principal);
        Ok(QueueStatus::of(
            queue.pending_pages,
            in_flight as u64,
            limit as u64,
            queue.last_success,
        ))
    }
}

/// Returns the current calendar month (UTC).
pub(crate) fn this_month() -> Month {
    Month::of(clock::now())
}

fn by_name(usage: MonthUsage) -> KeyUse {
    KeyUse {
        month: usage.month,
        api_key: usage.key_name.unwrap_or_else(|| OPEN_MODE_KEY.to_owned()),
        credits: usage.credits,
    }
}
