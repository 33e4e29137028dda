//! API keys and webhook secret of a team, for the console. A key or secret appears only in the response that creates
//! it.

use harvestman_core::api::console::SuccessResponse;
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
use crate::error::{Failure, HandlerResult, json};
use crate::routes::PathId;
use crate::{keys, limits};

pub(crate) async fn list(Caller { app, principal }: Caller) -> HandlerResult {
    let rows = app.store().keys(Some(principal.team)).await?;
    json(&Keys {
        success: true,
        keys: rows.into_iter().map(|row| key_of_row(row, &principal)).collect(),
    })
}

pub(crate) async fn create(Caller { app, principal }: Caller, WholeBody(body): WholeBody) -> HandlerResult {
    let NewKeyRequest { name } = NewKeyRequest::from_json(&body)?;
    let rows = app.store().keys(Some(principal.team)).await?;
    if rows.iter().filter(|row| row.revoked_at.is_none()).count() >= limits::KEYS_PER_TEAM {
        let message = format!(
            "the team has the maximum of {} keys; revoke one first",
            limits::KEYS_PER_TEAM
        );
        return Err(Failure::conflict(message));
    }
    let key = keys::new_key().map_err(no_random_bytes)?;
    let (fingerprint, now) = (keys::fingerprint(&key), harvestman_engine::now());
    let hint = fingerprint.hint.clone();
    let id = app
        .store()
        .add_key(principal.team, &name, fingerprint, now)
        .await?;
    tracing::info!(team.id = %principal.team, key.id = %id, "API key created");
    let listed = Key {
        id,
        name,
        team: Some(principal.team_name),
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

pub(crate) async fn revoke(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    let key = KeyId(id.0);
    match app
        .store()
        .revoke_key(Some(principal.team), key, harvestman_engine::now())
        .await?
    {
        RevokeOutcome::Revoked => {
            app.principals().remove(key);
            tracing::info!(team.id = %principal.team, key.id = %key, "API key revoked");
            json(&SuccessResponse { success: true })
        }
        RevokeOutcome::LastKey => Err(Failure::conflict(
            "this is the last key of the team, which is needed to create others; create a new key first",
        )),
        RevokeOutcome::NotFound => Err(Failure::not_found("no such key, or it is already revoked")),
    }
}

pub(crate) async fn webhook_secret(Caller { app, principal }: Caller) -> HandlerResult {
    let source = webhook_secret_source(&app, principal.team).await?;
    json(&WebhookSecret {
        success: true,
        set: source.is_some(),
        source,
    })
}

/// Creates a new webhook secret for the team. It signs all later deliveries, including those of earlier events.
pub(crate) async fn rotate_webhook_secret(Caller { app, principal }: Caller) -> HandlerResult {
    let secret = keys::new_webhook_secret().map_err(no_random_bytes)?;
    app.store().set_webhook_secret(principal.team, &secret).await?;
    tracing::info!(team.id = %principal.team, "webhook secret replaced");
    json(&NewWebhookSecret {
        success: true,
        secret,
    })
}

pub(crate) async fn test_webhook(
    Caller { app, principal }: Caller,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let receiver = WebhookSpec::from_json(&body, Family::Webhook)?;
    json(&app.engine().test_webhook(&principal, receiver).await?)
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

fn key_of_row(row: KeyRow, principal: &Principal) -> Key {
    Key {
        id: row.id,
        name: row.name,
        team: Some(row.team_name),
        hint: row.hint,
        created_at: row.created_at,
        last_used_at: row.last_used_at,
        revoked_at: row.revoked_at,
        current: principal.key == Some(row.id),
    }
}

fn no_random_bytes(error: getrandom::Error) -> Failure {
    Failure::internal(format!("the system returned no random bytes: {error}"))
}
