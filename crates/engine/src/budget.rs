//! Credits that a team may still use this month, if the operator has set a budget (docs/API.md section 18).
//! Each page reserves one credit in advance, so pages in flight exceed the budget only by what they cost
//! beyond one credit. The store's ledger is the truth; this is its copy in memory, plus what is not committed
//! yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::ids::TeamId;
use harvestman_core::month::Month;
use harvestman_store::Store;
use tokio::time::Instant;

use crate::clock::this_month;
use crate::limits;
use crate::plans::Plans;

/// The budgets of all teams.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    plans: Plans,
    store: Store,
    accounts: Arc<Mutex<HashMap<TeamId, Account>>>,
}

#[derive(Debug)]
struct Account {
    month: Month,
    spent: u64,
    /// Number of pages in flight.
    in_flight: u64,
    /// When `spent` was last read from the store or changed.
    updated_at: Instant,
}

/// One reserved credit; released on drop, replaced by the real cost in `spend`.
#[derive(Debug)]
pub(crate) struct CreditReservation(Option<(Budget, TeamId)>);

impl Budget {
    pub(crate) fn new(plans: Plans, store: Store) -> Self {
        let accounts = Arc::default();
        Self {
            plans,
            store,
            accounts,
        }
    }

    /// Reserves a credit.
    ///
    /// # Errors
    /// 402 if no credit is left.
    pub(crate) async fn reserve(&self, team: TeamId) -> Result<CreditReservation, ApiError> {
        let Some(budget) = self.plans.of(team).credit_budget else {
            return Ok(CreditReservation(None));
        };
        let month = this_month();
        if self.is_stale(budget, team, month) {
            let spent = self.store.credits_in_month(team, month).await;
            let spent = spent?;
            let mut accounts = self.accounts();
            let in_flight = accounts.get(&team).map_or(0, |account| account.in_flight);
            let updated_at = Instant::now();
            accounts.insert(
                team,
                Account {
                    month,
                    spent,
                    in_flight,
                    updated_at,
                },
            );
        }
        match self.accounts().get_mut(&team) {
            Some(account) if account.spent + account.in_flight < budget => account.in_flight += 1,
            _ => {
                let message = format!(
                    "the team has used its {budget} credits of this month; wait for the next month, or ask the operator for a larger budget"
                );
                return Err(ApiError::new(ErrorCode::InsufficientCredits, message));
            }
        }
        Ok(CreditReservation(Some((self.clone(), team))))
    }

    /// Checks that at least one credit is left.
    ///
    /// # Errors
    /// 402 if no credit is left.
    pub(crate) async fn check(&self, team: TeamId) -> Result<(), ApiError> {
        self.reserve(team).await.map(drop)
    }

    /// Returns whether the team exceeds its budget once the `running` credits of its open sessions are added.
    pub(crate) fn is_exceeded(&self, team: TeamId, running: u64) -> bool {
        self.plans.of(team).credit_budget.is_some_and(|budget| {
            let accounts = self.accounts();
            let account = accounts
                .get(&team)
                .filter(|account| account.month == this_month());
            account.map_or(0, |account| account.spent).saturating_add(running) > budget
        })
    }

    /// Returns whether `spent` has to be read from the store: the account is of another month, or the budget
    /// seems used up although some pages may never be charged (a job was cancelled, a page redirected to a
    /// known one).
    fn is_stale(&self, budget: u64, team: TeamId, month: Month) -> bool {
        self.accounts().get(&team).is_none_or(|account| {
            let quiet = account.in_flight == 0 && account.updated_at.elapsed() > limits::BUDGET_RECHECK_AFTER;
            account.month != month || (account.spent >= budget && quiet)
        })
    }

    fn accounts(&self) -> MutexGuard<'_, HashMap<TeamId, Account>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CreditReservation {
    /// Replaces the reservation with the credits that the page cost.
    pub(crate) fn spend(self, credits: u32) {
        if let Some((budget, team)) = &self.0
            && let Some(account) = budget.accounts().get_mut(team)
        {
            account.spent += u64::from(credits);
            account.updated_at = Instant::now();
        }
    }
}

impl Drop for CreditReservation {
    fn drop(&mut self) {
        if let Some((budget, team)) = &self.0
            && let Some(account) = budget.accounts().get_mut(team)
        {
            account.in_flight = account.in_flight.saturating_sub(1);
        }
    }
}
