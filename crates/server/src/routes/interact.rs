//! Browser session of a scrape: `POST` and `DELETE /v2/scrape/{id}/interact` (docs/API.md sections 6.11 and 6.12).

use harvestman_core::api::interact::InteractRequest;

use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{HandlerResult, json};
use crate::links::Base;
use crate::routes::PathId;

pub(crate) async fn start(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = InteractRequest::from_json(&body)?;
    json(
        &app.engine()
            .interact(&principal, id.into(), request, &base)
            .await?,
    )
}

pub(crate) async fn stop(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    json(&app.engine().stop_interaction(&principal, id.into()).await?)
}
