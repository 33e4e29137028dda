//! Comparison of two jobs of a team, for the console: which pages are new, gone or changed, and the diff of one.

use harvestman_core::api::console::{JobComparison, PageDifference};
use harvestman_core::api::fields::Slot;
use harvestman_core::api::query::Query;
use harvestman_core::ids::JobId;
use harvestman_core::job_comparison::compare;
use harvestman_core::scrape::changes::text_diff;
use harvestman_store::{JobRow, blocking};

use crate::app::App;
use crate::auth::Caller;
use crate::error::{Failure, HandlerResult, json};
use crate::limits;
use crate::routes::job_pages::{StoredDocument, read, row};
use crate::routes::{PathId, QueryText, job_id};

/// Returns how the pages of the job differ from those of the job `with`.
pub(crate) async fn pages(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = Query::parse(&query);
    let this = row(&app, &principal, id).await?;
    let other = row(&app, &principal, other_job(&query)?).await?;
    let digest = |document: &str| StoredDocument::of(document).digest();
    let (before, _, cut_before) = read(&app, &other, 0, limits::COMPARED_PAGES, digest).await?;
    let (after, _, cut_after) = read(&app, &this, 0, limits::COMPARED_PAGES, digest).await?;
    let work = move || compare(&before, &after, limits::LISTED_CHANGES);
    let (counts, pages) = blocking(work).await?;
    json(&JobComparison {
        success: true,
        counts,
        pages,
        cut: cut_before || cut_after,
    })
}

/// Returns the diff of page `page` of the job and page `withPage` of the job `with`.
pub(crate) async fn page(
    Caller { app, principal }: Caller,
    PathId(id): PathId,
    QueryText(query): QueryText,
) -> HandlerResult {
    let query = Query::parse(&query);
    let index = |name| {
        let given = query.integer(name, 0..=Slot::UNBOUNDED)?;
        given.ok_or_else(|| Failure::parameter(name, "must be the index of a page"))
    };
    let this = row(&app, &principal, id).await?;
    let other = row(&app, &principal, other_job(&query)?).await?;
    let before = text(&app, &other, index("withPage")?).await?;
    let after = text(&app, &this, index("page")?).await?;
    let diff = blocking(move || text_diff(&before, &after)).await?;
    json(&PageDifference { success: true, diff })
}

fn other_job(query: &Query) -> Result<JobId, Failure> {
    query
        .text("with")
        .and_then(|text| job_id(text).ok())
        .ok_or_else(|| Failure::parameter("with", "must be the id of the job to compare with"))
}

/// Returns the compared text of one page of a job.
async fn text(app: &App, job: &JobRow, index: u64) -> Result<String, Failure> {
    let text = |document: &str| StoredDocument::of(document).text().to_owned();
    let (mut texts, ..) = read(app, job, index, 1, text).await?;
    texts.pop().ok_or_else(Failure::no_job)
}
