//! Whom to charge. The engines write the ledger.

use harvestman_core::ids::{JobId, KeyId, TeamId};

use crate::columns::Columns;
use crate::error::StoreError;
use crate::job::{JobKind, NewJob};
use crate::lease::Lease;
use crate::monitor::CheckLease;
use crate::rows::parse_kind;

/// Whom to charge, and for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    pub(crate) job: JobId,
    pub(crate) team: TeamId,
    pub(crate) key: Option<KeyId>,
    pub(crate) kind: JobKind,
}

impl Account {
    /// Reads the account of a job from a row with `team_id`, `key_id` and `kind`.
    pub(crate) fn read(row: &impl Columns, job: JobId) -> Result<Self, StoreError> {
        Ok(Self {
            job,
            team: TeamId(row.id("team_id")?),
            key: row.maybe_id("key_id")?.map(KeyId),
            kind: parse_kind(row)?,
        })
    }

    /// Returns the account of a request without a running job.
    pub(crate) fn of_call(call: &NewJob) -> Self {
        Self {
            job: call.id,
            team: call.team,
            key: call.key,
            kind: call.kind,
        }
    }

    /// Returns the account of a leased job.
    pub(crate) fn of_lease(lease: &Lease) -> Self {
        Self {
            job: lease.job,
            team: lease.team,
            key: lease.key,
            kind: lease.kind,
        }
    }

    /// Returns the account of a check.
    pub(crate) fn of_check(lease: &CheckLease) -> Self {
        Self {
            job: lease.check,
            team: lease.team,
            key: lease.key,
            kind: JobKind::Monitor,
        }
    }
}

/// Returns the number of the ledger entry of the pages of a check that follow the first `after` pages of a target. The
/// entry of the check's end has the number 0.
pub(crate) fn portion_seq(target: u32, after: u64) -> u64 {
    (u64::from(target) << 32) + after + 1
}
