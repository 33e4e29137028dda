//! Operator commands for teams, keys and plans: run directly on the store, or by the running server that holds it
//! ([`endpoint`]). A key appears in the clear only in the output of the command that creates it.

use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::limits::MAX_KEY_NAME_CHARS;
use harvestman_engine::Plans;
use harvestman_store::{FeedbackRow, KeyRow, NewFeedback, RevokeOutcome, Store, TeamRow};
use serde::{Deserialize, Serialize};

use crate::error::Failure;
use crate::{bootstrap, keys, limits};

pub(crate) mod endpoint;

/// Operator command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub(crate) enum Command {
    /// Creates a key for an existing team.
    CreateKey { team: String, name: String },
    /// Lists the active keys of one team or of all teams; with `revoked`, also the revoked keys.
    ListKeys { team: Option<String>, revoked: bool },
    /// Revokes a key.
    RevokeKey { id: KeyId },
    /// Creates a team without keys.
    CreateTeam { name: String },
    /// Lists all teams.
    ListTeams,
    /// Lists the newest feedback of clients.
    ListFeedback,
    /// Applies the limits of a plan to a team; without a plan the default limits.
    SetPlan { team: String, plan: Option<String> },
}

/// Result of a command.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandOutput {
    /// Lines to print.
    pub(crate) text: String,
    /// Key to remove from the cache of key lookups.
    pub(crate) revoked: Option<KeyId>,
}

impl CommandOutput {
    fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            revoked: None,
        }
    }
}

/// Runs a command.
///
/// # Errors
/// Unknown keys, teams and plans, invalid names, and store errors, with a message for the operator.
pub(crate) async fn execute(
    command: Command,
    store: &Store,
    plans: &Plans,
) -> Result<CommandOutput, Failure> {
    let now = harvestman_engine::now();
    match command {
        Command::CreateKey { team, name } => {
            check_name(&team)?;
            check_name(&name)?;
            let key = keys::new_key().map_err(|error| {
                let message = format!("cannot create a key: the system returned no random bytes: {error}");
                Failure::internal(message)
            })?;
            let team = existing_team(store, &team).await?;
            store.add_key(team, &name, keys::fingerprint(&key), now).await?;
            Ok(CommandOutput::text(format!("{key}\n")))
        }
        Command::ListKeys { team, revoked } => {
            let wanted = |row: &&KeyRow| {
                (revoked || row.revoked_at.is_none())
                    && team.as_ref().is_none_or(|team| *team == row.team_name)
            };
            let rows = store.keys(None).await?;
            Ok(CommandOutput::text(
                rows.iter().filter(wanted).map(key_line).collect::<String>(),
            ))
        }
        Command::RevokeKey { id } => match store.revoke_key(None, id, now).await? {
            RevokeOutcome::Revoked => Ok(CommandOutput {
                text: format!("revoked {id}\n"),
                revoked: Some(id),
            }),
            RevokeOutcome::LastKey | RevokeOutcome::NotFound => Err(Failure::not_found(format!(
                "no such key {id}, or it is already revoked"
            ))),
        },
        Command::CreateTeam { name } => {
            check_name(&name)?;
            let id = store.ensure_team(&name).await?;
            Ok(CommandOutput::text(format!("{id}  {name}\n")))
        }
        Command::ListTeams => {
            let rows = store.teams().await?;
            Ok(CommandOutput::text(
                rows.iter().map(|row| team_line(row, plans)).collect::<String>(),
            ))
        }
        Command::ListFeedback => {
            let rows = store.feedback(limits::FEEDBACK_LISTED).await?;
            Ok(CommandOutput::text(
                rows.iter().map(feedback_line).collect::<String>(),
            ))
        }
        Command::SetPlan { team, plan } => set_plan(store, plans, &team, plan.as_deref()).await,
    }
}

async fn set_plan(
    store: &Store,
    plans: &Plans,
    team: &str,
    plan: Option<&str>,
) -> Result<CommandOutput, Failure> {
    if let Some(unknown) = plan.filter(|plan| !plans.has(plan)) {
        let configured: Vec<&str> = plans.names().collect();
        let configured = match configured.as_slice() {
            [] => "no plans are configured".to_owned(),
            configured => format!("configured plans: {}", configured.join(", ")),
        };
        let message = format!("unknown plan `{unknown}`; {configured}");
        return Err(Failure::bad_request(message));
    }
    let updated = store.set_plan(team, plan).await?;
    let id = updated.ok_or_else(|| unknown_team(team))?;
    plans.assign(id, plan);
    Ok(CommandOutput::text(match plan {
        Some(plan) => format!("{team} now has the plan {plan}\n"),
        None => format!("{team} now has the default limits\n"),
    }))
}

/// Returns the team with this name; creates only the built-in one, so that a misspelt name creates no team.
async fn existing_team(store: &Store, name: &str) -> Result<TeamId, Failure> {
    if name == bootstrap::TEAM {
        return Ok(store.ensure_team(name).await?);
    }
    let teams = store.teams().await?;
    let team = teams.into_iter().find(|team| team.name == name);
    team.map(|team| team.id).ok_or_else(|| unknown_team(name))
}

fn unknown_team(name: &str) -> Failure {
    Failure::not_found(format!(
        "unknown team `{name}`; see `harvestman teams list`, or create it with `harvestman teams create`"
    ))
}

fn check_name(name: &str) -> Result<(), Failure> {
    let chars = name.chars().count();
    if (1..=MAX_KEY_NAME_CHARS).contains(&chars) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let message =
        format!("the name must have 1 to {MAX_KEY_NAME_CHARS} characters and no control characters");
    Err(Failure::bad_request(message))
}

fn key_line(row: &KeyRow) -> String {
    let hint = match row.hint.as_str() {
        "" => "-".to_owned(),
        hint => format!("...{hint}"),
    };
    let used = row
        .last_used_at
        .map_or("never used".to_owned(), |at| format!("used {at}"));
    let revoked = row
        .revoked_at
        .map_or(String::new(), |at| format!("  revoked {at}"));
    let KeyRow {
        id,
        created_at,
        team_name,
        name,
        ..
    } = row;
    format!("{id}  {created_at}  {used}  {hint}  {team_name}  {name}{revoked}\n")
}

fn feedback_line(row: &FeedbackRow) -> String {
    let NewFeedback {
        job,
        endpoint,
        rating,
        body,
        at,
        ..
    } = &row.feedback;
    format!("{at}  {}  {endpoint}  {job}  {rating}  {body}\n", row.team_name)
}

fn team_line(row: &TeamRow, plans: &Plans) -> String {
    let plan = match &row.plan {
        Some(plan) if plans.has(plan) => format!("plan {plan}"),
        Some(plan) => format!("plan {plan} (not configured)"),
        None => "default limits".to_owned(),
    };
    let keys = match row.keys {
        1 => "1 key".to_owned(),
        keys => format!("{keys} keys"),
    };
    format!("{}  {}  {}  {keys}  {plan}\n", row.id, row.created_at, row.name)
}
