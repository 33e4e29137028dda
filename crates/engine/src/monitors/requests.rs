//! Requests about monitors (docs/API.md section 13).

use harvestman_core::api::error::ApiError;
use harvestman_core::api::monitor::{
    ListQuery, MonitorChange, MonitorRequest, MonitorSwitch, MonitorTarget, Target,
};
use harvestman_core::api::monitor_response::{
    BillingStatus, Check, CheckStatus, CheckTrigger, Monitor, MonitorStatus, PageStatus,
};
use harvestman_core::api::problem;
use harvestman_core::ids::{JobId, MonitorId};
use harvestman_core::limits::MAX_MONITORS;
use harvestman_core::monitor::schedule::Plan;
use harvestman_core::monitor::{TargetJob, check_credits, check_targets, job_of, target_ids};
use harvestman_core::scope::Scope;
use harvestman_core::time::Timestamp;
use harvestman_store::{
    CheckPageChunk, CheckRow, MonitorRow, MonitorUpdate, NewMonitor, Principal, StartOutcome, StoreError,
    discarded_parts,
};
use serde_json::Value;

use super::start::{read, start};
use crate::context::Engine;
use crate::error::internal_error;
use crate::jobs::check_complete;
use crate::{clock, limits};

impl Engine {
    /// Creates a monitor. Its first check is due at the first time in its schedule.
    ///
    /// # Errors
    /// 400 for a schedule that never fires or targets that cannot be checked, 409 at the limit of the team.
    pub async fn create_monitor(
        &self,
        principal: &Principal,
        request: MonitorRequest,
        base: &str,
    ) -> Result<Monitor, ApiError> {
        let now = clock::now();
        let time = self.context.store.database_time(now).await?;
        let plan = self.check_monitor(&request, time).await?;
        let monitor = NewMonitor {
            id: MonitorId(harvestman_store::new_id()),
            team: principal.team,
            key: principal.key,
            request: serde_json::to_string(&request).map_err(internal_error)?,
            base: base.to_owned(),
            next_run_at: plan.next_after(time).unwrap_or(time),
            created_at: now,
        };
        let created = self.context.store.create_monitor(&monitor, MAX_MONITORS).await;
        if !created? {
            let message = format!(
                "the team has the maximum of {MAX_MONITORS} monitors; delete one that is no longer needed"
            );
            return Err(ApiError::conflict(message));
        }
        tracing::info!(monitor.id = %monitor.id, team.id = %principal.team, "monitor created");
        self.monitor(principal, monitor.id).await
    }

    async fn check_monitor(&self, request: &MonitorRequest, now: Timestamp) -> Result<Plan, ApiError> {
        let plan = Plan::new(&request.schedule, now)?;
        check_targets(&request.targets)?;
        self.check_receiver(request.webhook.as_ref()).await?;
        for (index, target) in request.targets.iter().enumerate() {
            let checked = self.check_target_job(&target.target).await;
            checked.map_err(|error| problem::under(&format!("targets[{index}]"), error))?;
        }
        Ok(plan)
    }

    async fn check_target_job(&self, target: &Target) -> Result<(), ApiError> {
        match job_of(target, MonitorId(harvestman_store::new_id())) {
            TargetJob::Pages(batch, urls) => {
                self.check_options(&batch.options)
                    .map_err(|error| problem::under("scrapeOptions", error))?;
                for url in urls.iter().take(limits::MONITOR_URLS_CHECKED) {
                    self.check_target(&url.url, &batch.options).await?;
                }
                Ok(())
            }
            TargetJob::Crawl(request) => {
                Scope::compile(&request)?;
                request.check_enabled(self.context.config.enabled)?;
                self.check_options(&request.scrape_options)
                    .map_err(|error| problem::under("scrapeOptions", error))?;
                self.check_target(&request.url.url, &request.scrape_options).await
            }
            TargetJob::Searches(_) => Ok(()),
        }
    }

    /// Lists monitors of the team, newest first, without those whose stored requests cannot be read.
    pub async fn monitors(
        &self,
        principal: &Principal,
        query: ListQuery<MonitorStatus>,
    ) -> Result<Vec<Monitor>, ApiError> {
        let store = &self.context.store;
        let rows = store
            .monitors(principal.team, query.status, query.limit, query.offset)
            .await?;
        let readable = rows.iter().filter_map(|row| match response(row) {
            Ok(monitor) => Some(monitor),
            Err(error) => {
                tracing::error!(%error, monitor.id = %row.id, "cannot read a stored monitor; it is not listed");
                None
            }
        });
        Ok(readable.collect())
    }

    /// Returns a monitor.
    ///
    /// # Errors
    /// 404 if the team has no such monitor.
    pub async fn monitor(&self, principal: &Principal, id: MonitorId) -> Result<Monitor, ApiError> {
        Ok(response(&self.monitor_row(principal, id).await?)?)
    }

    async fn monitor_row(&self, principal: &Principal, id: MonitorId) -> Result<MonitorRow, ApiError> {
        let row = self.context.store.monitor(principal.team, id).await?;
        row.ok_or_else(monitor_not_found)
    }

    /// Changes a monitor. A check that is running keeps its options.
    ///
    /// # Errors
    /// As for [`Self::create_monitor`]; 404 if the team has no such monitor, 409 if parts that the change does not replace
    /// were discarded because their key is lost.
    pub async fn update_monitor(
        &self,
        principal: &Principal,
        id: MonitorId,
        change: MonitorChange,
    ) -> Result<Monitor, ApiError> {
        loop {
            let row = self.monitor_row(principal, id).await?;
            let now = clock::now();
            let time = self.context.store.database_time(now).await?;
            let before = read(&row)?;
            let mut discarded = discarded_parts(&row.request);
            discarded.retain(|part| match *part {
                "webhook" => change.webhook.is_none(),
                _ => change.targets.is_none(),
            });
            check_complete(
                &discarded,
                "this monitor is lost; send its `targets` and `webhook` again",
            )?;
            let after = change.clone().apply(before.clone());
            let plan = self.check_monitor(&after, time).await?;
            let active = match change.status {
                Some(MonitorSwitch::Active) => true,
                Some(MonitorSwitch::Paused) => false,
                None => row.status == MonitorStatus::Active,
            };
            let next_run_at = match row.next_run_at {
                _ if !active => None,
                Some(next) if before.schedule == after.schedule => Some(next),
                _ => plan.next_after(time),
            };
            let update = MonitorUpdate {
                seen: row.updated_at,
                request: serde_json::to_string(&after).map_err(internal_error)?,
                next_run_at,
                changed_targets: changed_targets(&before.targets, &after.targets),
                now,
            };
            let store = &self.context.store;
            if store.update_monitor(principal.team, id, update).await? {
                self.context.new_checks.notify_one();
                return self.monitor(principal, id).await;
            }
        }
    }

    /// Deletes a monitor with its checks, and cancels the one that is running.
    ///
    /// # Errors
    /// 404 if the team has no such monitor.
    pub async fn delete_monitor(&self, principal: &Principal, id: MonitorId) -> Result<(), ApiError> {
        let deleted = self
            .context
            .store
            .delete_monitor(principal.team, id, clock::now())
            .await;
        for job in deleted?.ok_or_else(monitor_not_found)? {
            self.context.driver_signals.cancel(job);
            self.context.changes.announce(job);
        }
        Ok(())
    }

    /// Starts a check now, even if the monitor is paused.
    ///
    /// # Errors
    /// 404 if the team has no such monitor, 409 if a check is running or parts of the monitor were discarded, 402 if no
    /// credit is left.
    pub async fn run_monitor(&self, principal: &Principal, id: MonitorId) -> Result<Check, ApiError> {
        let row = self.monitor_row(principal, id).await?;
        check_complete(
            &discarded_parts(&row.request),
            "this monitor is lost; change its `targets` and `webhook`",
        )?;
        self.context.budget.check(principal.team).await?;
        let (check, outcome) = start(&self.context, &row, CheckTrigger::Manual).await?;
        match outcome {
            StartOutcome::Started => self.check(principal, id, check).await,
            StartOutcome::Overlap => Err(ApiError::conflict(
                "a check of this monitor is running; wait for its end",
            )),
            StartOutcome::Stale => Err(monitor_not_found()),
        }
    }

    /// Lists checks of a monitor, newest first.
    ///
    /// # Errors
    /// 404 if the team has no such monitor.
    pub async fn checks(
        &self,
        principal: &Principal,
        id: MonitorId,
        query: ListQuery<CheckStatus>,
    ) -> Result<Vec<Check>, ApiError> {
        self.monitor_row(principal, id).await?;
        let store = &self.context.store;
        let rows = store.checks(id, query.status, query.limit, query.offset, clock::now());
        let rows = rows.await?;
        Ok(rows.into_iter().map(check_response).collect::<Result<_, _>>()?)
    }

    /// Returns a check.
    ///
    /// # Errors
    /// 404 if the team has no such monitor or the monitor no such check.
    pub async fn check(&self, principal: &Principal, id: MonitorId, check: JobId) -> Result<Check, ApiError> {
        self.monitor_row(principal, id).await?;
        let row = self.context.store.check(id, check, clock::now()).await?;
        let row =
            row.ok_or_else(|| ApiError::not_found("the monitor has no such check; it may have expired"))?;
        Ok(check_response(row)?)
    }

    /// Returns pages of a check as JSON texts.
    pub async fn check_pages(
        &self,
        check: JobId,
        query: ListQuery<PageStatus>,
    ) -> Result<CheckPageChunk, ApiError> {
        let store = &self.context.store;
        let pages = store.check_pages(
            check,
            query.status,
            query.offset,
            query.limit,
            limits::CHECK_PAGE_BYTES,
        );
        Ok(pages.await?)
    }
}

/// Returns the indexes of the targets that have changed.
pub(super) fn changed_targets(before: &[MonitorTarget], after: &[MonitorTarget]) -> Vec<u32> {
    let differs = |index: &usize| {
        let before = before.get(*index).map(|given| &given.target);
        before != after.get(*index).map(|given| &given.target)
    };
    let indexes = (0..before.len()).filter(differs);
    indexes.filter_map(|index| u32::try_from(index).ok()).collect()
}

fn monitor_not_found() -> ApiError {
    ApiError::not_found("no such monitor; it may have been deleted")
}

fn response(row: &MonitorRow) -> Result<Monitor, StoreError> {
    let request = read(row)?;
    let now = clock::now();
    let plan = Plan::stored(&request.schedule).ok();
    let body: Value = serde_json::from_str(&row.request)
        .map_err(|_| StoreError::Unreadable("request of a monitor".to_owned()))?;
    let mut targets = body["targets"].as_array().cloned().unwrap_or_default();
    for (target, id) in targets.iter_mut().zip(target_ids(&request.targets)) {
        target["id"] = id.into();
    }
    let per_month = plan
        .as_ref()
        .map(|plan| plan.checks_per_month(now).saturating_mul(check_credits(&request)));
    Ok(Monitor {
        id: row.id.to_string(),
        name: request.name.clone(),
        status: row.status,
        schedule: plan.map(|plan| plan.to_response()).unwrap_or_default(),
        next_run_at: row.next_run_at,
        last_run_at: row.last_run_at,
        current_check_id: row.check.map(|check| check.to_string()),
        targets,
        webhook: body.get("webhook").map(|webhook| match webhook {
            Value::String(url) => serde_json::json!({ "url": url }),
            object => object.clone(),
        }),
        notification: body.get("notification").cloned(),
        retention_days: request.retention_days,
        estimated_credits_per_month: per_month,
        last_check_summary: row.last_summary,
        judge_enabled: request.goal.as_ref().map(|_| request.judged_goal().is_some()),
        goal: request.goal,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

fn check_response(row: CheckRow) -> Result<Check, StoreError> {
    let unreadable = |_| StoreError::Unreadable("figures of a check".to_owned());
    // A check whose request is damaged has failed.
    let request = MonitorRequest::from_json(row.request.as_bytes()).ok();
    let ended = row.finished_at.is_some();
    // Those of a running check are not complete.
    let results = row.target_results.filter(|_| ended);
    let results = results.as_deref().map(serde_json::from_str).transpose();
    Ok(Check {
        id: row.id.to_string(),
        monitor_id: row.monitor.to_string(),
        status: row.status,
        trigger: match row.scheduled_for {
            Some(_) => CheckTrigger::Scheduled,
            None => CheckTrigger::Manual,
        },
        scheduled_for: row.scheduled_for,
        started_at: row.started_at,
        finished_at: row.finished_at,
        estimated_credits: request.as_ref().map(check_credits),
        reserved_credits: None,
        actual_credits: ended.then_some(row.credits),
        billing_status: match (ended, row.credits) {
            (true, 0) => BillingStatus::NotApplicable,
            (true, _) => BillingStatus::Confirmed,
            (false, _) => BillingStatus::Reserved,
        },
        summary: row.summary,
        target_results: results.map_err(unreadable)?,
        notification_status: None,
        error: row.error,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}
