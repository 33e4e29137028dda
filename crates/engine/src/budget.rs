//! Credits that a team may still use this month, if the operator has set a budget (docs/API.md section 18).
//! Each page reserves one credit in advance, so pages in flight exceed the budget only by what they cost
//! beyond one credit. The store's ledger is the truth; this is its copy in memory, plus what is not committed
//! yet.

use std::collections::HashMap;
use std::sync::Arc;

use harvestman_core::api::error::{ApiError, ErrorCode};
use harvestman_core::ids::{JobId, TeamId};
use harvestman_core::month::Month;
use harvestman_store::{NewJob, Store, StoreError};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument;

use crate::clock::{self, this_month};
use crate::error::{ScrapeFailure, internal_error};
use crate::holdings::{Holdings, Need, Subject};
use crate::limits;
use crate::plans::Plans;

/// The budgets of all teams.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    plans: Plans,
    store: Store,
    holdings: Holdings,
    accounts: Arc<Mutex<HashMap<TeamId, Account>>>,
}

#[derive(Debug)]
struct Account {
    month: Month,
    spent: u64,
    /// Number of pages in flight.
    in_flight: u64,
    /// Credits that jobs on this node have spent but not yet committed; only counted if other nodes share the budget.
    uncommitted: HashMap<JobId, u64>,
    /// When `spent` was last read from the store or changed.
    updated_at: Instant,
}

/// One reserved credit; released on drop, replaced by the real cost when it is spent.
#[derive(Debug)]
pub(crate) struct CreditReservation(Option<(Budget, TeamId)>);

impl Budget {
    pub(crate) fn new(plans: Plans, store: Store, holdings: Holdings) -> Self {
        Self {
            plans,
            store,
            holdings,
            accounts: Arc::default(),
        }
    }

    /// Returns how many credits of each shared budget the pages of this node need.
    pub(crate) fn needs(&self) -> Vec<Need> {
        let teams: Vec<TeamId> = self.accounts.lock().keys().copied().collect();
        let budget = |team: TeamId| self.plans.of(team).credit_budget;
        teams
            .into_iter()
            .filter_map(|team| Some(self.need(team, budget(team)?, false)))
            .collect()
    }

    fn need(&self, team: TeamId, limit: u64, more: bool) -> Need {
        let in_use = self.accounts.lock().get(&team).map_or(0, Account::in_use);
        let block = limits::CREDITS_PER_BLOCK.max(in_use / 4);
        Need {
            subject: Subject::Credits(team),
            in_use,
            wanted: in_use + if more { block } else { 0 },
            limit,
        }
    }

    /// Reserves a credit of a budget that all nodes share.
    async fn reserve_shared(self, team: TeamId, budget: u64) -> Result<CreditReservation, ApiError> {
        let deadline = Instant::now() + limits::CREDITS_WAIT;
        while !self.take(team) {
            let need = || self.need(team, budget, true);
            let holding = self.holdings.exchange(Subject::Credits(team), need).await?;
            let (in_flight, uncommitted) = {
                let mut accounts = self.accounts.lock();
                let account = accounts
                    .entry(team)
                    .or_insert_with(|| Account::new(this_month(), 0));
                account.month = this_month();
                account.spent = holding.spent;
                (account.in_flight, account.uncommitted())
            };
            if self.take(team) {
                break;
            }
            // Other nodes may give back idle credits, and credits that jobs here never commit become free once those
            // jobs end. Free credits may be out of reach: the node counts as dead until it reports itself after an
            // outage, and a commit during the exchange counts twice until the next one.
            let may_come =
                holding.held_elsewhere > 0 || uncommitted > 0 || holding.spent + in_flight < budget;
            if !may_come {
                return Err(used_up(budget));
            }
            if Instant::now() >= deadline {
                return Err(match self.holdings.are_kept() {
                    true => used_up(budget),
                    false => StoreError::Transient("this node cannot report itself".to_owned()).into(),
                });
            }
            tokio::time::sleep(limits::HOLDINGS_POLL).await;
        }
        Ok(CreditReservation(Some((self, team))))
    }

    /// Takes a credit that this node holds.
    fn take(&self, team: TeamId) -> bool {
        let mut accounts = self.accounts.lock();
        let Some(account) = accounts.get_mut(&team) else {
            return false;
        };
        let held = self.holdings.units(Subject::Credits(team));
        let has_room = account.in_use() < held;
        account.in_flight += u64::from(has_room);
        has_room
    }

    /// Reads what the team has spent this month on all nodes.
    pub(crate) async fn refresh(&self, team: TeamId) -> Result<(), StoreError> {
        if self.plans.of(team).credit_budget.is_none() {
            return Ok(());
        }
        let month = this_month();
        let spent = self.store.credits_in_month(team, month).await?;
        let mut accounts = self.accounts.lock();
        let account = accounts.entry(team).or_insert_with(|| Account::new(month, spent));
        (account.month, account.spent) = (month, spent);
        Ok(())
    }

    /// Reserves a credit.
    ///
    /// # Errors
    /// 402 if no credit is left.
    pub(crate) async fn reserve(&self, team: TeamId) -> Result<CreditReservation, ApiError> {
        let Some(budget) = self.plans.of(team).credit_budget else {
            return Ok(CreditReservation(None));
        };
        if self.holdings.limits().is_some() {
            // Runs to its end even if the caller goes away, because the store ends an exchange that has begun.
            let reserving = self.clone().reserve_shared(team, budget);
            return tokio::spawn(reserving.in_current_span())
                .await
                .map_err(internal_error)?;
        }
        let month = this_month();
        if self.is_stale(budget, team, month) {
            let spent = self.store.credits_in_month(team, month).await?;
            let mut accounts = self.accounts.lock();
            let in_flight = accounts.get(&team).map_or(0, |account| account.in_flight);
            let account = Account {
                in_flight,
                ..Account::new(month, spent)
            };
            accounts.insert(team, account);
        }
        match self.accounts.lock().get_mut(&team) {
            Some(account) if account.spent + account.in_flight < budget => account.in_flight += 1,
            _ => return Err(used_up(budget)),
        }
        Ok(CreditReservation(Some((self.clone(), team))))
    }

    /// Reserves a credit for a page.
    ///
    /// # Errors
    /// 402 if no credit is left, 408 if none has come from other nodes at `deadline`.
    pub(crate) async fn reserve_until(
        &self,
        deadline: Instant,
        team: TeamId,
    ) -> Result<CreditReservation, ApiError> {
        let reserving = timeout_at(deadline, self.reserve(team));
        reserving.await.map_err(|_| ScrapeFailure::timeout().error)?
    }

    /// Records a request that ends at once, and replaces its reservation with its price: `end` is the price in credits,
    /// or the error. Runs to its end even if the caller goes away.
    ///
    /// # Errors
    /// If the store fails.
    pub(crate) async fn record_call(
        &self,
        reservation: CreditReservation,
        call: NewJob,
        end: Result<u32, ApiError>,
    ) -> Result<(), ApiError> {
        let store = self.store.clone();
        let recording = async move {
            let end = end.as_ref().copied();
            store.record_call(&call, end, clock::now()).await?;
            if let Ok(credits) = end {
                reservation.spend_committed(credits);
            }
            Ok(())
        };
        tokio::spawn(recording.in_current_span())
            .await
            .map_err(internal_error)?
    }

    /// Checks that at least one credit is left.
    ///
    /// # Errors
    /// 402 if no credit is left.
    pub(crate) async fn check(&self, team: TeamId) -> Result<(), ApiError> {
        self.reserve(team).await.map(drop)
    }

    /// Counts credits as spent. If `uncommitted_of` is a job, they stay in use until that job commits them.
    fn charge(&self, team: TeamId, credits: u64, uncommitted_of: Option<JobId>) {
        if let Some(account) = self.accounts.lock().get_mut(&team) {
            account.spent += credits;
            account.updated_at = Instant::now();
            match uncommitted_of {
                _ if self.holdings.limits().is_none() => {}
                Some(job) => *account.uncommitted.entry(job).or_default() += credits,
                None => self.holdings.use_up(Subject::Credits(team), credits),
            }
        }
    }

    /// Counts credits that a job spends without a reservation. They are in use until the job commits them or ends.
    pub(crate) fn spend(&self, team: TeamId, job: JobId, credits: u32) {
        self.charge(team, credits.into(), Some(job));
    }

    /// Counts credits that the store counts as spent already.
    pub(crate) fn spend_committed(&self, team: TeamId, credits: u64) {
        self.charge(team, credits, None);
    }

    /// Uses up the units of credits that the job has committed: the store now counts them as spent.
    pub(crate) fn committed(&self, team: TeamId, job: JobId, credits: u64) {
        if let Some(account) = self.accounts.lock().get_mut(&team)
            && let Some(uncommitted) = account.uncommitted.get_mut(&job)
        {
            let credits = credits.min(*uncommitted);
            *uncommitted -= credits;
            self.holdings.use_up(Subject::Credits(team), credits);
        }
    }

    /// Closes the account of a job that this node no longer works on. Also uses up the units of its uncommitted
    /// credits: the store may have counted them anyway, and the next exchange shows whether it has.
    pub(crate) fn close(&self, team: TeamId, job: JobId) {
        self.committed(team, job, u64::MAX);
        if let Some(account) = self.accounts.lock().get_mut(&team) {
            account.uncommitted.remove(&job);
        }
    }

    /// Returns whether the team exceeds its budget once the `running` credits of its open sessions are added.
    pub(crate) fn is_exceeded(&self, team: TeamId, running: u64) -> bool {
        self.plans.of(team).credit_budget.is_some_and(|budget| {
            let accounts = self.accounts.lock();
            let account = accounts
                .get(&team)
                .filter(|account| account.month == this_month());
            account.map_or(0, |account| account.spent).saturating_add(running) > budget
        })
    }

    /// Returns whether `spent` must be read from the store: the account is from another month, or the budget seems
    /// used up although some pages may never be charged (a job was cancelled, a page redirected to a known one).
    fn is_stale(&self, budget: u64, team: TeamId, month: Month) -> bool {
        self.accounts.lock().get(&team).is_none_or(|account| {
            let quiet = account.in_flight == 0 && account.updated_at.elapsed() > limits::BUDGET_RECHECK_AFTER;
            account.month != month || (account.spent >= budget && quiet)
        })
    }
}

impl Account {
    fn new(month: Month, spent: u64) -> Self {
        Self {
            month,
            spent,
            in_flight: 0,
            uncommitted: HashMap::new(),
            updated_at: Instant::now(),
        }
    }

    fn uncommitted(&self) -> u64 {
        self.uncommitted.values().sum()
    }

    fn in_use(&self) -> u64 {
        self.in_flight + self.uncommitted()
    }
}

fn used_up(budget: u64) -> ApiError {
    let message = format!(
        "the team has used its {budget} credits for this month; wait for the next month, or ask the operator for a larger budget"
    );
    ApiError::new(ErrorCode::InsufficientCredits, message)
}

impl CreditReservation {
    /// Replaces the reservation with the credits that a page of the job cost. They are in use until the job commits them
    /// or ends.
    pub(crate) fn spend(self, job: JobId, credits: u32) {
        if let Some((budget, team)) = &self.0 {
            budget.spend(*team, job, credits);
        }
    }

    /// Replaces the reservation with credits that the store counts as spent already.
    pub(crate) fn spend_committed(self, credits: u32) {
        if let Some((budget, team)) = &self.0 {
            budget.spend_committed(*team, credits.into());
        }
    }
}

impl Drop for CreditReservation {
    fn drop(&mut self) {
        if let Some((budget, team)) = &self.0
            && let Some(account) = budget.accounts.lock().get_mut(team)
        {
            account.in_flight = account.in_flight.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use futures_util::FutureExt;
    use harvestman_store::{JobKind, StoreConfig};

    use super::*;
    use crate::plans::Limits;
    use crate::test_database::{self, connect, wait_until};

    const WAITS_FOR_SHARE: &str = "EXISTS (SELECT FROM pg_locks WHERE NOT granted
        AND relation = 'harvestman.share'::regclass)";

    /// Returns the budget of a new team, as a node of the database sees it.
    async fn budget_of(url: &str, credits: u64) -> (Budget, TeamId) {
        let store = test_database::open(url).await;
        let team = store.ensure_team("team").await.unwrap();
        let limits = Limits {
            credit_budget: Some(credits),
            ..Limits::at_once(1)
        };
        let plans = Plans::new(limits, BTreeMap::new());
        let holdings = Holdings::new(store.shared_limits());
        (Budget::new(plans, store, holdings), team)
    }

    #[tokio::test]
    async fn a_call_whose_caller_goes_away_is_charged_on_sqlite() {
        let folder = std::env::temp_dir().join(format!("harvestman-budget-{}", clock::new_job_id()));
        let store = Store::open(&StoreConfig::new(&folder)).await.unwrap();
        let team = store.ensure_team("team").await.unwrap();
        let limits = Limits {
            credit_budget: Some(1),
            ..Limits::at_once(1)
        };
        let holdings = Holdings::new(store.shared_limits());
        let budget = Budget::new(Plans::new(limits, BTreeMap::new()), store.clone(), holdings);
        let reservation = budget.reserve(team).await.unwrap();
        let call = NewJob {
            id: clock::new_job_id(),
            team,
            key: None,
            kind: JobKind::Map,
            url: String::new(),
            request: "{}".to_owned(),
            base: String::new(),
            page_limit: 1,
            webhook: None,
            origin: None,
            integration: None,
            username: None,
            zero_data_retention: false,
            retention_ms: 1000,
            created_at: clock::now(),
        };
        let recording = budget.record_call(reservation, call, Ok(1));
        assert!(
            recording.now_or_never().is_none(),
            "the caller goes away before the commit"
        );
        while store.credits_in_month(team, this_month()).await.unwrap() == 0 {
            tokio::task::yield_now().await;
        }
        let refused = budget.reserve(team).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::InsufficientCredits);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_exchange_ends_even_if_its_caller_goes_away_on_postgresql() {
        let url = test_database::create("budget").await;
        let (budget, team) = budget_of(&url, 100).await;
        let holdings = budget.holdings.clone();
        let client = connect(&url).await;
        let lock = "BEGIN; LOCK TABLE harvestman.share";
        client.batch_execute(lock).await.unwrap();
        let late = budget
            .reserve_until(Instant::now() + Duration::from_millis(20), team)
            .await;
        assert_eq!(late.unwrap_err().code, ErrorCode::ScrapeTimeout);
        let reserving = tokio::spawn(async move { budget.reserve(team).await });
        wait_until(&client, WAITS_FOR_SHARE).await;
        reserving.abort();
        assert!(reserving.await.unwrap_err().is_cancelled());
        client.batch_execute("COMMIT").await.unwrap();
        let since = Instant::now();
        while holdings.units(Subject::Credits(team)) == 0 {
            assert!(
                since.elapsed() < Duration::from_secs(20),
                "the node does not learn what it holds"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_node_that_cannot_report_itself_refuses_no_request_for_its_budget_on_postgresql() {
        let url = test_database::create("unreported").await;
        let (budget, team) = budget_of(&url, 1).await;
        let client = connect(&url).await;
        let refuse_reports = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
                AS 'BEGIN RAISE SQLSTATE ''53100''; END';
            CREATE TRIGGER refuse BEFORE UPDATE ON harvestman.node EXECUTE FUNCTION refuse()";
        client.batch_execute(refuse_reports).await.unwrap();
        while budget.holdings.are_kept() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let refused = budget.reserve(team).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Unavailable);
        let accept_reports = "DROP TRIGGER refuse ON harvestman.node";
        client.batch_execute(accept_reports).await.unwrap();
        budget.reserve(team).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_commit_during_an_exchange_refuses_no_request_on_postgresql() {
        let url = test_database::create("committed").await;
        let (budget, team) = budget_of(&url, 10).await;
        let job = clock::new_job_id();
        budget.reserve(team).await.unwrap().spend(job, 8);
        let client = connect(&url).await;
        let commit = format!(
            "BEGIN; LOCK TABLE harvestman.share;
            INSERT INTO harvestman.month_usage (team_id, month, key_id, credits)
            VALUES ('{team}', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM'), gen_random_uuid(), 8)"
        );
        client.batch_execute(&commit).await.unwrap();
        let reserving = tokio::spawn({
            let budget = budget.clone();
            async move { budget.reserve(team).await }
        });
        wait_until(&client, WAITS_FOR_SHARE).await;
        budget.committed(team, job, 8);
        client.batch_execute("COMMIT").await.unwrap();
        reserving.await.unwrap().unwrap();
    }
}
