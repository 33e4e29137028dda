//! Searches: `POST /v2/search` (docs/API.md section 9).

use harvestman_core::api::search::SearchRequest;

use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{HandlerResult, json};
use crate::links::Base;

pub(crate) async fn start(
    Caller { app, principal }: Caller,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = SearchRequest::from_json(&body)?;
    json(&app.engine().search(&principal, &request, &base).await?)
}
