//! Monitors: create, list, read, change, delete, run; their checks and pages (docs/API.md section 13).

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use harvestman_core::api::console::SuccessResponse;
use harvestman_core::api::monitor::{ListQuery, MonitorChange, MonitorRequest};
use harvestman_core::api::monitor_response::{
    CheckPage, CheckPages, CheckStarted, CheckWithPages, PageStatus,
};
use harvestman_core::api::team::Data;
use harvestman_core::ids::MonitorId;

use crate::auth::Caller;
use crate::body::WholeBody;
use crate::error::{Failure, HandlerResult, json};
use crate::links::Base;
use crate::routes::{PathId, QueryText, job_id};

pub(crate) async fn create(
    Caller { app, principal }: Caller,
    Base(base): Base,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let request = MonitorRequest::from_json(&body)?;
    let monitor = app.engine().create_monitor(&principal, request, &base).await?;
    json(&Data::new(monitor))
}

pub(crate) async fn list(Caller { app, principal }: Caller, QueryText(query): QueryText) -> HandlerResult {
    let query = ListQuery::parse(&query, "offset")?;
    json(&Data::new(app.engine().monitors(&principal, query).await?))
}

pub(crate) async fn get(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    json(&Data::new(
        app.engine().monitor(&principal, MonitorId(id.0)).await?,
    ))
}

pub(crate) async fn update(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    WholeBody(body): WholeBody,
) -> HandlerResult {
    let change = MonitorChange::from_json(&body)?;
    let monitor = app
        .engine()
        .update_monitor(&principal, MonitorId(id.0), change)
        .await?;
    json(&Data::new(monitor))
}

pub(crate) async fn delete(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    app.engine().delete_monitor(&principal, MonitorId(id.0)).await?;
    json(&SuccessResponse { success: true })
}

pub(crate) async fn run(Caller { app, principal }: Caller, PathId(id): PathId) -> HandlerResult {
    let check = app.engine().run_monitor(&principal, MonitorId(id.0)).await?;
    json(&CheckStarted {
        success: true,
        id: check.id.clone(),
        data: check,
    })
}

pub(crate) async fn checks(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = ListQuery::parse(&query, "offset")?;
    json(&Data::new(
        app.engine().checks(&principal, MonitorId(id.0), query).await?,
    ))
}

pub(crate) async fn check(
    Caller { app, principal }: Caller,
    Base(base): Base,
    ids: Result<Path<(String, String)>, PathRejection>,
    QueryText(query): QueryText,
) -> HandlerResult {
    // An id that is not UTF-8 is not a UUID.
    let (monitor, check) = ids.map(|Path(ids)| ids).unwrap_or_default();
    let monitor = MonitorId(job_id(&monitor)?.0);
    let id = check.parse().map_err(|_| {
        Failure::parameter(
            "checkId",
            "must be a UUID, as returned when the check was started",
        )
    })?;
    let query: ListQuery<PageStatus> = ListQuery::parse(&query, "skip")?;
    let check = app.engine().check(&principal, monitor, id).await?;
    let chunk = app.engine().check_pages(id, query).await?;
    let pages: Vec<CheckPage> = chunk
        .entries
        .iter()
        .map(|entry| serde_json::from_str(entry))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::internal(format!("a stored page cannot be read: {error}")))?;
    let next = chunk.more.then(|| {
        let skip = query.offset + pages.len() as u64;
        let status = query
            .status
            .map(|status| format!("&status={status}"))
            .unwrap_or_default();
        let limit = query.limit;
        format!("{base}/v2/monitor/{monitor}/checks/{id}?skip={skip}&limit={limit}{status}")
    });
    json(&CheckPages {
        success: true,
        next,
        data: CheckWithPages { check, pages },
    })
}
