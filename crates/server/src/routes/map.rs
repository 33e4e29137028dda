//! URLs of a site: `POST /v2/map` (docs/API.md section 6.5).

use harvestman_core::api::map::MapRequest;

use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{HandlerResult, json};

pub(crate) async fn start(Caller { app, principal }: Caller, WholeBody(body): WholeBody) -> HandlerResult {
    json(
        &app.engine()
            .map(&principal, MapRequest::from_json(&body)?)
            .await?,
    )
}
