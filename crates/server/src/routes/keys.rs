//! API keys and webhook secret of a team, for the console. A key or secret is only in the response that creates it.

use axum::extract::State;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::api::keys::{
    Key, Keys, NewKey, NewKeyRequest, NewWebhookSecret, SecretSource, WebhookSecret,
};
use harvestman_core::api::webhook::WebhookSpec;
use harvestman_core::ids::{KeyId, TeamId};
use harvestman_core::webhook::Family;
use harvestman_store::{KeyRow, Principal, RevokeOutcome, StoreError};

use crate::app::App;
use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Answer, Failure, json};
use crate::routes::PathId;
use crate::{keys, limits};

pub(crate) async fn list(State(app): State<App>, Caller(who): Caller) -> Answer {
    let rows = app.store().keys(Some(who.team)).await?;
    json(&Keys {
        success: true,
        keys: rows.into_iter().map(|row| listed(row, &who)).collect(),
    })
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(who): Caller,
    WholeBody(body): WholeBody,
) -> Answer {
    let NewKeyRequest { name } = NewKeyRequest::from_json(&body)?;
    let rows = app.store().keys(Some(who.team)).await?;
    if rows.iter().filter(|row| row.revoked_at.is_none()).count() >= limits::KEYS_PER_TEAM {
        let sentence = format!(
            "the team has the maximum of {} keys; revoke one first",
            limits::KEYS_PER_TEAM
        );
        return Err(Failure::new(ErrorCode::Conflict, sentence));
    }
    let key = keys::new_key().map_err(no_random_bytes)?;
    let (print, now) = (keys::print(&key), harvestman_engine::now());
    let hint = print.hint.clone();
    let id = app.store().add_key(who.team, &name, print, now).await?;
    tracing::info!(team.id = %who.team, key.id = %id, "API key created");
    let listed = Key {
        id,
        name,
        team: Some(who.team_name),
        hint,
        created_at: now,
        last_used_at: None,
        revoked_at: None,
        current: false,
    };
    json(&NewKey {
        success: true,
        listed,
        key,
    })
}

pub(crate) async fn revoke(State(app): State<App>, Caller(who): Caller, PathId(id): PathId) -> Answer {
    let key = KeyId(id.0);
    match app
        .store()
        .revoke_key(Some(who.team), key, harvestman_engine::now())
        .await?
    {
        RevokeOutcome::Revoked => {
            app.principals().forget(key);
            tracing::info!(team.id = %who.team, key.id = %key, "API key revoked");
            json(&serde_json::json!({ "success": true }))
        }
        RevokeOutcome::LastKey => Err(Failure::new(
            ErrorCode::Conflict,
            "this is the last key of the team, which is needed to create others; create a new key first",
        )),
        RevokeOutcome::NotFound => Err(Failure::new(
            ErrorCode::NotFound,
            "no such key, or it is already revoked",
        )),
    }
}

pub(crate) async fn webhook_secret(State(app): State<App>, Caller(who): Caller) -> Answer {
    let source = webhook_secret_source(&app, who.team).await?;
    json(&WebhookSecret {
        success: true,
        set: source.is_some(),
        source,
    })
}

/// Creates a new webhook secret for the team. It signs all later deliveries, including those of earlier events.
pub(crate) async fn rotate_webhook_secret(State(app): State<App>, Caller(who): Caller) -> Answer {
    let secret = keys::new_webhook_secret().map_err(no_random_bytes)?;
    app.store().set_webhook_secret(who.team, &secret).await?;
    tracing::info!(team.id = %who.team, "webhook secret replaced");
    json(&NewWebhookSecret {
        success: true,
        secret,
    })
}

pub(crate) async fn test_webhook(
    State(app): State<App>,
    Caller(who): Caller,
    WholeBody(body): WholeBody,
) -> Answer {
    let receiver = WebhookSpec::from_json(&body, Family::Webhook)?;
    json(&app.engine().test_webhook(&who, receiver).await?)
}

/// Returns the source of the secret that signs the team's webhooks.
pub(crate) async fn webhook_secret_source(
    app: &App,
    team: TeamId,
) -> Result<Option<SecretSource>, StoreError> {
    let own = app
        .store()
        .webhook_secret(team)
        .await?
        .map(|_| SecretSource::Team);
    let setting = app.config().webhook_secret.as_ref();
    Ok(own.or_else(|| setting.map(|_| SecretSource::Setting)))
}

fn listed(row: KeyRow, who: &Principal) -> Key {
    Key {
        id: row.id,
        name: row.name,
        team: Some(row.team_name),
        hint: row.hint,
        created_at: row.created_at,
        last_used_at: row.last_used_at,
        revoked_at: row.revoked_at,
        current: who.key == Some(row.id),
    }
}

fn no_random_bytes(error: getrandom::Error) -> Failure {
    Failure::new(
        ErrorCode::Unknown,
        format!("the system returned no random bytes: {error}"),
    )
}
