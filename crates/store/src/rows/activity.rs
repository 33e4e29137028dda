//! Activity, calls and pending work.

use harvestman_core::ids::{JobId, KeyId};
use harvestman_core::time::Timestamp;

use crate::activity::{Activity, ActivityQuery, Call, CallList, CallQuery, RunningJobs, TeamQueue};
use crate::columns::{Columns, bad_column};
use crate::error::StoreError;
use crate::job::JobStatus;
use crate::limits;
use crate::rows::jobs::parse_kind;

/// Builds an activity from a row of `activity`.
pub(crate) fn activity(row: &impl Columns) -> Result<Activity, StoreError> {
    Ok(Activity {
        id: JobId(row.id("job_id")?),
        endpoint: row.text("endpoint")?,
        target: row.maybe_text("target")?,
        origin: row.maybe_text("origin")?,
        integration: row.maybe_text("integration")?,
        username: row.maybe_text("username")?,
        created_at: row.time("created_at")?,
    })
}

/// Builds a call from a row of `activity` with `key_name`, `status` and `error`.
fn call(row: &impl Columns) -> Result<Call, StoreError> {
    let status = row.maybe_text("status")?;
    Ok(Call {
        activity: activity(row)?,
        key: row.maybe_id("key_id")?.map(KeyId),
        key_name: row.maybe_text("key_name")?,
        status: status
            .map(|word| JobStatus::parse(&word).ok_or_else(|| bad_column("status")))
            .transpose()?,
        error: row.maybe_text("error")?,
        ended_at: row.maybe_time("ended_at")?,
        credits: row.maybe_count("credits")?,
    })
}

/// Builds the sums of a kind from a row with `kind`, `jobs` and `unsettled`.
pub(crate) fn running_jobs(row: &impl Columns) -> Result<RunningJobs, StoreError> {
    Ok(RunningJobs {
        kind: parse_kind(row)?,
        count: row.count("jobs")?,
        pending_pages: row.count("unsettled")?,
    })
}

/// Builds the pending work of a team from a row with `unsettled` and `last_success`.
pub(crate) fn team_queue(row: &impl Columns) -> Result<TeamQueue, StoreError> {
    Ok(TeamQueue {
        pending_pages: row.count("unsettled")?,
        last_success: row.maybe_time("last_success")?,
    })
}

/// Reads one page of calls with one or more queries. When a filter matches few rows, it stops after
/// [`limits::CALLS_EXAMINED`] rows, so that no page takes longer than another.
pub(crate) struct CallReader<'a> {
    filter: &'a CallQuery,
    next: ActivityQuery,
    calls: Vec<Call>,
    examined: usize,
}

impl<'a> CallReader<'a> {
    pub(crate) fn new(filter: &'a CallQuery) -> Self {
        let mut next = filter.activity.clone();
        next.limit = match filter.key.is_some() || filter.status.is_some() {
            true => limits::CALLS_PER_QUERY,
            // The extra row shows whether there are more.
            false => filter.activity.limit + 1,
        };
        Self {
            filter,
            next,
            calls: Vec::new(),
            examined: 0,
        }
    }

    /// Returns the query whose rows [`CallReader::add`] takes next.
    pub(crate) fn next_query(&self) -> &ActivityQuery {
        &self.next
    }

    /// Adds the rows of a query. Returns the list if it is complete.
    pub(crate) fn add(&mut self, rows: &[impl Columns]) -> Result<Option<CallList>, StoreError> {
        let limit = self.filter.activity.limit as usize;
        for row in rows {
            let call = call(row)?;
            let position = (call.activity.created_at, call.activity.id);
            let is_match = self.filter.key.is_none_or(|key| Some(key) == call.key)
                && self
                    .filter
                    .status
                    .is_none_or(|status| Some(status) == call.status);
            if is_match && self.calls.len() == limit {
                return Ok(Some(self.list(self.next.before)));
            }
            if is_match {
                self.calls.push(call);
            }
            self.next.before = Some(position);
        }
        self.examined += rows.len();
        if rows.len() < self.next.limit as usize {
            return Ok(Some(self.list(None)));
        }
        Ok((self.examined >= limits::CALLS_EXAMINED).then(|| self.list(self.next.before)))
    }

    fn list(&mut self, next: Option<(Timestamp, JobId)>) -> CallList {
        CallList {
            calls: std::mem::take(&mut self.calls),
            next,
        }
    }
}
