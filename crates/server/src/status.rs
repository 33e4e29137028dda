//! Status of a crawl or batch scrape (docs/API.md sections 6.2 and 6.6): the counts of the job and its documents.
//! Stored documents are spliced into the JSON unchanged and are never parsed again.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future;
use futures_util::stream::{self, StreamExt};
use harvestman_core::api::job::{JobProgress, JobStatus, StatusPath, StatusQuery};
use harvestman_core::ids::JobId;
use harvestman_core::paging::{MAX_DATA_BYTES, next_url, status_json};
use harvestman_core::time::Timestamp;
use harvestman_store::{JobRow, Principal};

use crate::app::App;
use crate::error::{Failure, json_response};
use crate::limits;

/// A job with some of its documents.
#[derive(Clone, Debug)]
pub(crate) struct StatusPage {
    /// The job.
    pub(crate) row: JobRow,
    /// Documents as JSON, from `query.skip` on.
    pub(crate) documents: Vec<String>,
    /// Offset after the last of these documents.
    pub(crate) next_skip: u64,
    path: StatusPath,
    query: StatusQuery,
}

/// Reads a job of the team.
///
/// # Errors
/// 404 if there is no such job of the kind of this path.
pub(crate) async fn job_row(
    app: &App,
    principal: &Principal,
    path: StatusPath,
    id: JobId,
) -> Result<JobRow, Failure> {
    let row = app
        .store()
        .job(principal.team, id, harvestman_engine::now())
        .await?;
    row.filter(|row| StatusPath::of(row.kind) == Some(path))
        .ok_or_else(Failure::no_job)
}

/// Waits up to [`limits::TAIL_HOLD`] for a new document when `skip` is at the end of a running job, so that a client
/// that follows `next` in a loop does not poll too fast.
pub(crate) async fn hold_tail(
    app: &App,
    principal: &Principal,
    path: StatusPath,
    id: JobId,
    skip: u64,
) -> Result<(), Failure> {
    let row = job_row(app, principal, path, id).await?;
    if !row.status.is_final() && row.completed <= skip {
        tokio::select! {
            () = app.engine().wait_for_change(principal, id, skip, limits::TAIL_HOLD) => {}
            () = app.stopping().cancelled() => {}
        }
    }
    Ok(())
}

impl StatusPage {
    /// Reads the job and as many of the requested documents as fit.
    pub(crate) async fn read(
        app: &App,
        principal: &Principal,
        path: StatusPath,
        id: JobId,
        query: StatusQuery,
    ) -> Result<StatusPage, Failure> {
        let row = job_row(app, principal, path, id).await?;
        // A document stored after the row was read belongs to the next request.
        let available = row.completed.saturating_sub(query.skip);
        let wanted = query.limit.map_or(available, |limit| limit.min(available));
        if wanted == 0 {
            return Ok(StatusPage {
                row,
                documents: Vec::new(),
                next_skip: query.skip,
                path,
                query,
            });
        }
        let chunk = app
            .store()
            .documents(id, query.skip, Some(wanted), MAX_DATA_BYTES)
            .await?;
        Ok(StatusPage {
            row,
            documents: chunk.documents,
            next_skip: chunk.next_skip,
            path,
            query,
        })
    }

    /// Builds the response. Documents of a job with zero data retention are deleted after the last chunk is sent and
    /// before the response ends; a client that disconnects earlier can request them again.
    pub(crate) fn response(&self, app: &App, base: &str) -> Response {
        let json = self.json(base, harvestman_engine::now());
        if !self.row.zero_data_retention || self.documents.is_empty() {
            return json_response(StatusCode::OK, json);
        }
        let (store, job) = (app.store().clone(), self.row.id);
        let (skip, until) = (self.query.skip, self.next_skip);
        let delete_delivered = async move { store.delete_delivered(job, skip, until).await.err().map(Err) };
        let (mut json, mut parts) = (Bytes::from(json), Vec::new());
        while !json.is_empty() {
            parts.push(Ok(json.split_to(json.len().min(limits::RESPONSE_CHUNK_BYTES))));
        }
        let body = stream::iter(parts).chain(stream::once(delete_delivered).filter_map(future::ready));
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        (kind, Body::from_stream(body)).into_response()
    }

    /// Builds the JSON of the response. `base` is the base URL of its links.
    pub(crate) fn json(&self, base: &str, now: Timestamp) -> String {
        let row = &self.row;
        let status = row.status;
        let end = row.completed_at.unwrap_or(now);
        let head = JobProgress::<()> {
            success: true,
            status,
            total: row.total(),
            completed: row.completed,
            credits_used: row.credits,
            expires_at: Some(row.expires(now)),
            created_at: Some(row.created_at),
            completed_at: row.completed_at,
            duration: status
                .is_final()
                .then(|| end.millis_since(row.created_at) as f64 / 1000.0),
            next: next_url(
                &self.path.url(base, row.id),
                self.query,
                self.next_skip.saturating_sub(self.query.skip),
                row.completed,
                status.is_final(),
            ),
            warning: (!row.warnings.is_empty()).then(|| row.warnings.join(" ")),
            error: row.error.clone().filter(|_| status == JobStatus::Failed),
            data: Vec::new(),
        };
        status_json(&head, self.documents.iter().map(String::as_str))
    }

    /// Returns the page as the first message of a live socket has it. While documents remain, an ended job counts as
    /// running, because clients stop at a final status.
    pub(crate) fn into_catchup(mut self) -> StatusPage {
        if self.next_skip < self.row.completed {
            self.row.status = JobStatus::Scraping;
            self.row.completed_at = None;
        }
        self
    }

    /// Creates the final status without documents, for the end of a live socket.
    pub(crate) fn finished(row: JobRow, path: StatusPath) -> StatusPage {
        let query = StatusQuery {
            skip: row.completed,
            limit: None,
        };
        StatusPage {
            row,
            documents: Vec::new(),
            next_skip: query.skip,
            path,
            query,
        }
    }
}

#[cfg(test)]
mod tests;
