//! Usage, activity and concurrency of a team: `/v2/team/...` and `/v2/concurrency-check` (docs/API.md sections 6.7 to
//! 6.9 and 12).

use harvestman_core::api::console::UsageDays;
use harvestman_core::api::query::Query;
use harvestman_core::api::team::{
    API_VERSION, AccountableUser, Activity, ActivityEntry, ActivityQuery, Call, Calls, CallsQuery,
    ConcurrencyCheck, Data, Endpoint, TokenUsage, UsageQuery,
};
use harvestman_core::ids::JobId;
use harvestman_core::paging::Cursor;
use harvestman_store::{CallQuery, JobStatus, StoreError};

use crate::auth::Caller;
use crate::error::{HandlerResult, json};
use crate::limits;
use crate::routes::QueryText;

pub(crate) async fn credit_history(
    Caller { app, principal }: Caller,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = UsageQuery::parse(&query)?;
    json(&app.engine().credit_history(&principal, query).await?)
}

pub(crate) async fn token_history(
    Caller { app, principal }: Caller,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = UsageQuery::parse(&query)?;
    json(&app.engine().credit_history(&principal, query).await?.in_tokens())
}

/// Returns the usage of the last `days` days by key.
pub(crate) async fn usage_by_day(
    Caller { app, principal }: Caller,
    QueryText(query): QueryText,
) -> HandlerResult {
    let days = Query::parse(&query)
        .integer("days", 1..=limits::USAGE_DAYS)?
        .unwrap_or(limits::USAGE_DAYS_DEFAULT);
    json(&UsageDays {
        success: true,
        days: app.engine().usage_by_day(&principal, days as u32).await?,
    })
}

pub(crate) async fn credit_usage(Caller { app, principal }: Caller) -> HandlerResult {
    json(&Data::new(app.engine().credit_usage(&principal).await?))
}

pub(crate) async fn token_usage(Caller { app, principal }: Caller) -> HandlerResult {
    let usage = app.engine().credit_usage(&principal).await?;
    json(&Data::new(TokenUsage::from(usage)))
}

pub(crate) async fn queue_status(Caller { app, principal }: Caller) -> HandlerResult {
    json(&app.engine().queue_status(&principal).await?)
}

pub(crate) async fn concurrency(Caller { app, principal }: Caller) -> HandlerResult {
    let (running, limit) = app.engine().concurrency(&principal);
    json(&ConcurrencyCheck {
        success: true,
        concurrency: running as u64,
        max_concurrency: limit as u64,
    })
}

pub(crate) async fn activity(
    Caller { app, principal }: Caller,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = ActivityQuery::parse(&query)?;
    let mut store_query = store_query(query);
    // One entry more shows whether there is a next page.
    store_query.limit += 1;
    let rows = app.store().activity(principal.team, &store_query).await?;
    let entries: Result<Vec<_>, StoreError> = rows.into_iter().map(entry).collect();
    json(&Activity::of(entries?, query.limit as usize))
}

/// Returns the activity with keys and outcomes, for the console.
pub(crate) async fn calls(Caller { app, principal }: Caller, QueryText(query): QueryText) -> HandlerResult {
    let query = CallsQuery::parse(&query)?;
    let call_query = CallQuery {
        activity: store_query(query.activity),
        key: query.key,
        status: query.outcome,
    };
    let rows = app.store().calls(principal.team, &call_query).await?;
    let data: Result<Vec<_>, StoreError> = rows.calls.into_iter().map(call).collect();
    json(&Calls {
        success: true,
        data: data?,
        cursor: rows.next.map(|(time, id)| Cursor { time, id: id.0 }.encode()),
    })
}

fn store_query(query: ActivityQuery) -> harvestman_store::ActivityQuery {
    harvestman_store::ActivityQuery {
        now: harvestman_engine::now(),
        endpoint: query.endpoint.map(|endpoint| endpoint.to_string()),
        before: query.cursor.map(|cursor| (cursor.time, JobId(cursor.id))),
        limit: query.limit as u32,
    }
}

fn call(row: harvestman_store::Call) -> Result<Call, StoreError> {
    let created_at = row.activity.created_at;
    let is_running = row.status == Some(JobStatus::Scraping);
    let until = row.ended_at.or_else(|| is_running.then(harvestman_engine::now));
    Ok(Call {
        duration: until.map(|until| until.millis_since(created_at)),
        credits: row.credits,
        entry: entry(row.activity)?,
        key: row.key_name,
        outcome: row.status,
        error: row.error,
    })
}

fn entry(row: harvestman_store::Activity) -> Result<ActivityEntry, StoreError> {
    let endpoint = Endpoint::parse(&row.endpoint);
    Ok(ActivityEntry {
        id: row.id,
        endpoint: endpoint.ok_or_else(|| StoreError::Unreadable("endpoint of activity".to_owned()))?,
        api_version: API_VERSION.to_owned(),
        created_at: row.created_at,
        target: row.target,
        audit_metadata: row.username.map(|username| AccountableUser { username }),
    })
}
