//! Operations that fetch pages: scrapes, crawls, batches, maps and searches.

use super::examples::{self, JOB_ERRORS};
use super::operation::{Operation, Tag, delete, get, post, put, tagged};
use crate::api::batch::{BatchScrapeRequest, BatchStarted};
use crate::api::console::SuccessResponse;
use crate::api::crawl::{CrawlRequest, JobStarted};
use crate::api::error::ErrorCode;
use crate::api::feedback::{Feedback, FeedbackStored, SearchFeedback};
use crate::api::fields::{Schema, Slot};
use crate::api::job::JobCancelled;
use crate::api::map::MapRequest;
use crate::api::params_preview::ParamsPreviewRequest;
use crate::api::parse::{
    FileKind, ParseFormat, ParseFormatList, ParseFormats, ParseOptions, ParseUploadRequest, UploadUrl,
    UploadUrlRequest,
};
use crate::api::scrape::{ScrapeRequest, ScrapeResponse};
use crate::api::search::SearchRequest;
use crate::api::team::Data;
use crate::limits::{MAX_STATUS_LIMIT, MAX_UPLOAD_BYTES};

pub(super) fn operations() -> Vec<Operation> {
    tagged([
        (Tag::Pages, pages()),
        (Tag::Search, searches()),
        (Tag::Crawls, crawls()),
        (Tag::Batches, batches()),
    ])
}

fn pages() -> Vec<Operation> {
    vec![
        post("/v2/scrape", "scrape")
            .summary("Scrape a page")
            .body::<ScrapeRequest>(&["formats"])
            .response("The page.", ScrapeResponse::done(examples::document()))
            .fetches()
            .errors(&[ErrorCode::NotSupported]),
        get("/v2/scrape/{id}", "getScrape")
            .summary("Get a scraped page again")
            .description(
                "Works for 24 hours. While the scrape runs, `status` is `scraping` and there is no `data`. \
                 A failed scrape returns the status and body of its first response.",
            )
            .response(
                "The page, or the status.",
                ScrapeResponse::done(examples::document()),
            )
            .fetches(),
        post("/v2/parse", "parse")
            .summary("Convert a file")
            .description("Converts PDF, office, EPUB, HTML, CSV and text files.")
            .form::<ParseOptions>()
            .or_body::<ParseUploadRequest>()
            .response(
                "The file as a document.",
                ScrapeResponse::done(examples::document()),
            )
            .fetches()
            .errors(&[
                ErrorCode::ParseUnsupportedOptions,
                ErrorCode::NotFound,
                ErrorCode::Conflict,
            ]),
        post("/v2/parse/upload-url", "createUploadUrl")
            .summary("Get a URL for the upload of a file")
            .description(
                "Send the file to `uploadUrl`, then convert it with `uploadRef` in `POST /v2/parse`.",
            )
            .body::<UploadUrlRequest>(&["contentType"])
            .response("Where to send the file.", Data::new(upload_url()))
            .errors(&[ErrorCode::ConcurrencyLimited]),
        put("/v2/parse/upload/{token}", "uploadFile")
            .summary("Upload a file")
            .description("The token replaces the key.")
            .takes_file()
            .errors(&[ErrorCode::Conflict, ErrorCode::ConcurrencyLimited])
            .response("The file has arrived.", SuccessResponse { success: true }),
        get("/v2/parse/formats", "listParseFormats")
            .summary("List file types")
            .response(
                "The file types, and whether this server reads them.",
                ParseFormats {
                    success: true,
                    data: ParseFormatList {
                        formats: vec![ParseFormat {
                            format: "pdf".to_owned(),
                            kind: FileKind::Document,
                            extensions: vec![".pdf".to_owned()],
                            mime_types: vec!["application/pdf".to_owned()],
                            available: true,
                        }],
                    },
                },
            ),
        post("/v2/map", "map")
            .summary("List the URLs of a site")
            .body::<MapRequest>(&["search", "limit"])
            .response("The URLs.", examples::map())
            .fetches()
            .errors(&[ErrorCode::MapTimeout, ErrorCode::MapFailed]),
        post("/v2/feedback", "rateResult")
            .summary("Give feedback on a result")
            .body::<Feedback>(&[])
            .response("The feedback is stored.", feedback())
            .errors(&[ErrorCode::NotFound, ErrorCode::NotSupported]),
    ]
}

fn searches() -> Vec<Operation> {
    vec![
        post("/v2/search", "search")
            .summary("Search the web or the team's pages")
            .body::<SearchRequest>(&["limit", "sources"])
            .response("Results by source.", examples::search())
            .fetches()
            .errors(&[ErrorCode::SearchTimeout, ErrorCode::NotSupported]),
        post("/v2/search/{id}/feedback", "rateSearch")
            .summary("Give feedback on a search")
            .body::<SearchFeedback>(&[])
            .response("The feedback is stored.", feedback()),
    ]
}

fn upload_url() -> UploadUrl {
    let headers = [("Content-Type".to_owned(), "application/pdf".to_owned())];
    UploadUrl {
        upload_url: "http://localhost:3002/v2/parse/upload/2c6b1f2ad7d34d46b2b5a1f0c1f6e9aa".to_owned(),
        upload_ref: examples::id().to_string(),
        method: "PUT".to_owned(),
        headers: headers.into(),
        expires_at: examples::later(),
        max_size_bytes: MAX_UPLOAD_BYTES as u64,
    }
}

fn feedback() -> FeedbackStored {
    FeedbackStored {
        success: true,
        feedback_id: examples::id().to_string(),
        credits_refunded: 0,
        already_submitted: None,
    }
}

/// Adds the parameters and responses that the status of a crawl and of a batch share.
fn status(operation: Operation) -> Operation {
    operation
        .description(
            "Follow `next` until it is null. A request with a `skip` at the end of a running job waits up \
             to 1 s for a new document. With `Upgrade: websocket` the path is the live socket of the job.",
        )
        .query(
            "skip",
            "Number of documents to leave out.",
            &Schema::Integer(0..=Slot::UNBOUNDED),
            Some(0.into()),
        )
        .query(
            "limit",
            "Maximum number of documents to return. Default: as many as fit into 10 MiB.",
            &Schema::Integer(1..=MAX_STATUS_LIMIT),
            None,
        )
        .socket("The live socket is open.")
        .response("Status and documents of the job.", examples::progress())
}

fn crawls() -> Vec<Operation> {
    vec![
        post("/v2/crawl", "startCrawl")
            .summary("Start a crawl")
            .body::<CrawlRequest>(&["limit"])
            .idempotent()
            .response(
                "The crawl is stored and will run.",
                JobStarted::new(examples::id(), examples::status_url("crawl")),
            )
            .errors(JOB_ERRORS),
        post("/v2/crawl/params-preview", "previewCrawlOptions")
            .summary("Get crawl options for a description in words")
            .body::<ParamsPreviewRequest>(&[])
            .response("Options that a crawl accepts.", examples::params_preview()),
        get("/v2/crawl/active", "listActiveCrawls")
            .summary("List running crawls")
            .response(
                "The team's running crawls, newest first.",
                examples::active_crawls(),
            ),
        get("/v2/crawl/ongoing", "listOngoingCrawls")
            .summary("List running crawls (older path)")
            .response(
                "The team's running crawls, newest first.",
                examples::active_crawls(),
            ),
        status(get("/v2/crawl/{id}", "getCrawl").summary("Get status and pages of a crawl")),
        delete("/v2/crawl/{id}", "cancelCrawl")
            .summary("Cancel a crawl")
            .response("The crawl is cancelled.", JobCancelled::new())
            .errors(&[ErrorCode::Conflict]),
        get("/v2/crawl/{id}/errors", "getCrawlErrors")
            .summary("List failed pages of a crawl")
            .response(
                "Failed pages, and URLs that robots.txt disallows.",
                examples::job_errors(),
            ),
    ]
}

fn batches() -> Vec<Operation> {
    vec![
        post("/v2/batch/scrape", "startBatchScrape")
            .summary("Scrape a list of pages")
            .body::<BatchScrapeRequest>(&["formats"])
            .idempotent()
            .response(
                "The batch is stored and will run.",
                BatchStarted::new(
                    examples::id(),
                    examples::status_url("batch/scrape"),
                    Some(Vec::new()),
                ),
            )
            .errors(JOB_ERRORS)
            .errors(&[ErrorCode::NotFound]),
        status(get("/v2/batch/scrape/{id}", "getBatchScrape").summary("Get status and pages of a batch")),
        delete("/v2/batch/scrape/{id}", "cancelBatchScrape")
            .summary("Cancel a batch")
            .response("The batch is cancelled.", JobCancelled::new())
            .errors(&[ErrorCode::Conflict]),
        get("/v2/batch/scrape/{id}/errors", "getBatchScrapeErrors")
            .summary("List failed pages of a batch")
            .response("Failed pages.", examples::job_errors()),
    ]
}
