//! Access after a start: adds the configured keys to the store. The very first start creates a team and a key, which
//! is shown once.

use anyhow::Context;
use harvestman_core::api::team::OPEN_MODE_KEY;
use harvestman_core::time::Timestamp;
use harvestman_engine::Plans;
use harvestman_store::{Principal, Store, StoreError, TeamRow};

use crate::config::{Config, ConfiguredKey};
use crate::keys;

/// Name of the built-in team, which owns the first key and every request in open mode.
pub const TEAM: &str = "default";

/// Access that a start has set up.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Key that this start created; it is not shown again.
    pub new_key: Option<String>,
    /// Principal of every request in open mode; `None` in other modes.
    pub open_mode: Option<Principal>,
}

/// Returns the configured limits, with the plan of each team that has one.
pub async fn plans(config: &Config, store: &Store) -> Result<Plans, StoreError> {
    let plans = Plans::new(config.limits, config.plans.clone());
    for TeamRow { id, name, plan, .. } in store.teams().await? {
        if let Some(unknown) = plan.as_ref().filter(|plan| !plans.has(plan)) {
            tracing::warn!("unknown plan `{unknown}` of team `{name}`; the team gets the default limits");
        }
        plans.assign(id, plan.as_deref());
    }
    Ok(plans)
}

/// Adds the configured teams and keys to the store, and creates a first key if there is none.
pub async fn access(config: &Config, store: &Store, now: Timestamp) -> anyhow::Result<Access> {
    for configured in &config.api_keys {
        let team = store.ensure_team(&configured.team).await?;
        let fingerprint = keys::fingerprint(&configured.key);
        let id = store.add_key(team, &configured.name, fingerprint, now).await?;
        let keys = store.keys(Some(team)).await?;
        if keys.iter().any(|key| key.id == id && key.revoked_at.is_some()) {
            let ConfiguredKey { team, name, .. } = configured;
            tracing::warn!(
                "the configured key `{name}` of team `{team}` is revoked and stays revoked; configure another key"
            );
        }
    }
    if config.no_auth {
        let team = store.ensure_team(TEAM).await?;
        let principal = Principal {
            team,
            team_name: TEAM.to_owned(),
            key: None,
            key_name: OPEN_MODE_KEY.to_owned(),
        };
        return Ok(Access {
            new_key: None,
            open_mode: Some(principal),
        });
    }
    if store.has_keys().await? {
        return Ok(Access::default());
    }
    let key = keys::new_key().context("cannot create a key: the system returned no random bytes")?;
    let team = store.ensure_team(TEAM).await?;
    store
        .add_key(team, "first key", keys::fingerprint(&key), now)
        .await?;
    Ok(Access {
        new_key: Some(key),
        open_mode: None,
    })
}
