//! Who may use the server after a start: configured keys are added to the store, and the very first
//! start makes a team and a key of its own, which is shown once.

use anyhow::Context;
use harvestman_core::api::team::OPEN_MODE_KEY;
use harvestman_core::time::Timestamp;
use harvestman_engine::Plans;
use harvestman_store::{Principal, Store, StoreError, TeamRow};

use crate::config::{Config, ConfiguredKey};
use crate::keys;

/// The built-in team: of the first key, of the console, and of everybody in open mode.
pub const TEAM: &str = "default";

/// What a start found or made.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// A key that was made now and is never shown again.
    pub new_key: Option<String>,
    /// Whom everybody acts as, in open mode.
    pub open_mode: Option<Principal>,
}

/// The settings' limits, with the plan of each team that has one.
pub async fn plans(config: &Config, store: &Store) -> Result<Plans, StoreError> {
    let plans = Plans::new(config.limits, config.plans.clone());
    for TeamRow { id, name, plan, .. } in store.teams().await? {
        if let Some(unknown) = plan.as_ref().filter(|plan| !plans.has(plan)) {
            tracing::warn!("the settings have no plan `{unknown}`; the team `{name}` has the usual limits");
        }
        plans.assign(id, plan.as_deref());
    }
    Ok(plans)
}

/// Brings the store's teams and keys to what the settings say.
pub async fn access(config: &Config, store: &Store, now: Timestamp) -> anyhow::Result<Access> {
    for configured in &config.api_keys {
        let team = store.ensure_team(&configured.team).await?;
        let print = keys::print(&configured.key);
        let hash = print.hash;
        store.add_key(team, &configured.name, print, now).await?;
        if store.principal(hash).await?.is_none() {
            let ConfiguredKey { team, name, .. } = configured;
            tracing::warn!(
                "the configured key `{name}` of team `{team}` is revoked and stays so; configure another"
            );
        }
    }
    if config.no_auth {
        let team = store.ensure_team(TEAM).await?;
        let everybody = Principal {
            team,
            team_name: TEAM.to_owned(),
            key: None,
            key_name: OPEN_MODE_KEY.to_owned(),
        };
        return Ok(Access {
            new_key: None,
            open_mode: Some(everybody),
        });
    }
    if store.has_keys().await? {
        return Ok(Access::default());
    }
    let key = keys::new_key().context("the system gave no random bytes for a key")?;
    let team = store.ensure_team(TEAM).await?;
    store.add_key(team, "first key", keys::print(&key), now).await?;
    Ok(Access {
        new_key: Some(key),
        open_mode: None,
    })
}
