//! Usage and queue reports of a team: credits used and left, pages in progress and waiting (docs/API.md
//! sections 6.7, 6.8 and 12). Credits are the ledger's sums by month and key.

use harvestman_core::api::console::DayUse;
use harvestman_core::api::team::{
    CreditPeriod, CreditUsage, KeyUse, OPEN_MODE_KEY, QueueStatus, UsageHistory, UsageQuery,
};
use harvestman_core::day::Day;
use harvestman_store::{MonthUsage, Principal, StoreError};

use crate::clock::{self, this_month};
use crate::context::Engine;

impl Engine {
    /// Returns the credits of every month with usage and of the current month, also by key.
    pub async fn credit_history(
        &self,
        principal: &Principal,
        query: UsageQuery,
    ) -> Result<UsageHistory<CreditPeriod>, StoreError> {
        let used = self.context.store.month_usage(principal.team).await?;
        let used = used.into_iter().map(by_name).collect();
        Ok(UsageHistory::of(used, query, this_month(), &principal.key_name))
    }

    /// Returns the usage of the last `days` days (UTC), today included, by key.
    pub async fn usage_by_day(&self, principal: &Principal, days: u32) -> Result<Vec<DayUse>, StoreError> {
        let since = Day::of(clock::now()).minus(days.saturating_sub(1));
        let used = self.context.store.day_usage(principal.team, since).await?;
        let entries = used.into_iter().map(|usage| DayUse {
            date: usage.day,
            api_key: key_name(usage.key_name),
            credits: usage.credits,
            pages: usage.pages,
        });
        Ok(entries.collect())
    }

    /// Returns the credits of the current month.
    pub async fn credit_usage(&self, principal: &Principal) -> Result<CreditUsage, StoreError> {
        let month = this_month();
        let used = self.context.store.credits_in_month(principal.team, month).await?;
        Ok(CreditUsage::of(
            month,
            self.plans().of(principal.team).credit_budget,
            used,
        ))
    }

    /// Returns how many pages of the team are in flight (HTTP and browser), and the limit of pages over HTTP.
    pub fn concurrency(&self, principal: &Principal) -> (usize, usize) {
        let limit = self.context.config.plans.of(principal.team).max_concurrency;
        (self.context.slots.in_use(principal.team), limit)
    }

    /// Returns the numbers of pages in progress and waiting.
    pub async fn queue_status(&self, principal: &Principal) -> Result<QueueStatus, StoreError> {
        let queue = self.context.store.queue(principal.team).await?;
        let (in_flight, limit) = self.concurrency(principal);
        Ok(QueueStatus::of(
            queue.pending_pages, in_flight as u64, limit as u64, queue.last_success,
        ))
    }
}

fn by_name(usage: MonthUsage) -> KeyUse {
    KeyUse {
        month: usage.month,
        api_key: key_name(usage.key_name),
        credits: usage.credits,
    }
}

fn key_name(name: Option<String>) -> String {
    name.unwrap_or_else(|| OPEN_MODE_KEY.to_owned())
}
