//! What a team used and has left, what of its pages is in work and what waits (contract sections 6.7, 6.8 and
//! 12). Use is what the ledger says, added up by month and key.

use harvestman_core::api::team::{
    CreditPeriod, CreditUsage, KeyUse, OPEN_MODE_KEY, QueueStatus, UsageHistory, UsageQuery,
};
use harvestman_core::month::Month;
use harvestman_store::{MonthUsage, Principal, StoreError};

use crate::clock;
use crate::engine::Engine;

impl Engine {
    /// Credits of every month with use and of this one, also by key.
    pub async fn credit_history(
        &self,
        who: &Principal,
        query: UsageQuery,
    ) -> Result<UsageHistory<CreditPeriod>, StoreError> {
        let used = self.inner.store.month_usage(who.team).await?;
        let used = used.into_iter().map(by_name).collect();
        Ok(UsageHistory::of(used, query, this_month(), &who.key_name))
    }

    /// Credits of this month.
    pub async fn credit_usage(&self, who: &Principal) -> Result<CreditUsage, StoreError> {
        let month = this_month();
        let used = self.inner.store.credits_in_month(who.team, month).await?;
        Ok(CreditUsage::of(
            month,
            self.plans().of(who.team).credit_budget,
            used,
        ))
    }

    /// Pages in work and pages that wait.
    pub async fn queue_status(&self, who: &Principal) -> Result<QueueStatus, StoreError> {
        let queue = self.inner.store.queue(who.team).await?;
        let (in_work, most) = self.concurrency(who);
        Ok(QueueStatus::of(
            queue.unsettled,
            in_work as u64,
            most as u64,
            queue.last_success,
        ))
    }
}

/// The month that what is spent now belongs to.
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
