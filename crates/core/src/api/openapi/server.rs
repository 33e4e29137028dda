//! Operations about the team, the documentation and the server itself.

use super::examples;
use super::operation::{Content, Operation, Tag};
use crate::api::error::ErrorCode;
use crate::api::fields::{FieldType, Schema};
use crate::api::health::{Health, PartState, Readiness};
use crate::api::support::DocsSearchRequest;
use crate::api::team::{ConcurrencyCheck, Data, Endpoint, TokenUsage};
use crate::limits::{DEFAULT_ACTIVITY_LIMIT, MAX_ACTIVITY_LIMIT};

pub(super) fn operations() -> Vec<Operation> {
    let mut operations = team();
    operations.extend(documentation());
    operations.extend(server());
    operations
}

fn team() -> Vec<Operation> {
    let new = |path, id, summary| Operation::new(Tag::Team, "GET", path, id, summary);
    let by_key = |operation: Operation| {
        operation.query(
            "byApiKey",
            "One entry for each month and key.",
            &Schema::Boolean,
            Some(false.into()),
        )
    };
    vec![
        new(
            "/v2/team/credit-usage",
            "getCreditUsage",
            "Get this month's credits",
        )
        .response("Credits of the month.", Data::new(examples::credit_usage())),
        by_key(new(
            "/v2/team/credit-usage/historical",
            "getCreditHistory",
            "Get credits by month",
        ))
        .response(
            "Calendar months in UTC, oldest first.",
            examples::credit_history(),
        ),
        new("/v2/team/token-usage", "getTokenUsage", "Get this month's tokens").response(
            "Tokens of the month; one credit is 15 tokens.",
            Data::new(TokenUsage::from(examples::credit_usage())),
        ),
        by_key(new(
            "/v2/team/token-usage/historical",
            "getTokenHistory",
            "Get tokens by month",
        ))
        .response(
            "Calendar months in UTC, oldest first.",
            examples::credit_history().in_tokens(),
        ),
        new(
            "/v2/team/activity",
            "listActivity",
            "List the requests of the last 24 hours",
        )
        .query(
            "endpoint",
            "Only requests of this kind.",
            &Endpoint::schema(()),
            None,
        )
        .query(
            "limit",
            "Maximum number of entries.",
            &Schema::Integer(1..=MAX_ACTIVITY_LIMIT),
            Some(DEFAULT_ACTIVITY_LIMIT.into()),
        )
        .query(
            "cursor",
            "`cursor` of the previous response.",
            &Schema::Text(0..=usize::MAX),
            None,
        )
        .pattern("^[A-Za-z0-9_-]{32}$")
        .response("Requests, newest first.", examples::activity()),
        new(
            "/v2/team/queue-status",
            "getQueueStatus",
            "Count waiting and running pages",
        )
        .response("Pages of the team.", examples::queue_status()),
        new(
            "/v2/concurrency-check",
            "getConcurrency",
            "Get the slots in use and their limit",
        )
        .response(
            "Pages that are fetched now, and their limit.",
            ConcurrencyCheck {
                success: true,
                concurrency: 4,
                max_concurrency: 64,
            },
        ),
    ]
}

fn documentation() -> Vec<Operation> {
    let ask = |path, id, summary| {
        Operation::new(Tag::Documentation, "POST", path, id, summary)
            .body::<DocsSearchRequest>(&[])
            .response("An answer with its sources.", examples::docs())
    };
    let page = |path, id, summary| {
        Operation::public(Tag::Documentation, path, id, summary).content(
            200,
            "The page.",
            Content::Text("text/html"),
        )
    };
    vec![
        ask(
            "/v2/support/docs-search",
            "searchDocs",
            "Answer a question from the documentation",
        ),
        ask(
            "/v2/support/ask",
            "askDocs",
            "Answer a question from the documentation (older path)",
        ),
        page("/docs", "getGuide", "Show the guide").query(
            "q",
            "Words to find in the guide and among the endpoints.",
            &Schema::Text(0..=usize::MAX),
            None,
        ),
        page("/docs/{page}", "getGuidePage", "Show a page of the guide").errors(&[ErrorCode::NotFound]),
        page("/docs/api", "getApiReference", "Show the API reference"),
        page(
            "/docs/api/{operation}",
            "getEndpointReference",
            "Show the reference of an endpoint",
        )
        .errors(&[ErrorCode::NotFound]),
    ]
}

fn server() -> Vec<Operation> {
    let new = |path, id, summary| Operation::public(Tag::Server, path, id, summary);
    let health =
        |path, id| new(path, id, "Check that the process is up").response("The process is up.", Health::up());
    let ready = |path, id| {
        let good = Readiness {
            status: PartState::Ok,
            database: PartState::Ok,
            queue: PartState::Ok,
            browser: PartState::Ok,
            llm: PartState::NotConfigured,
            search: PartState::NotConfigured,
            open: false,
        };
        let bad = Readiness {
            status: PartState::Unavailable,
            database: PartState::Unavailable,
            queue: PartState::Unavailable,
            ..good
        };
        new(path, id, "Check that the server can take requests")
            .response("The server can take requests.", good)
            .response_with(503, "The server cannot take requests.", bad)
    };
    vec![
        health("/health", "getHealth"),
        health("/health/live", "getLiveness"),
        ready("/ready", "getReady"),
        ready("/health/ready", "getReadiness"),
        new("/metrics", "getMetrics", "Get metrics for Prometheus")
            .description("Available only from the server's own machine, unless the operator opens them.")
            .content(200, "The metrics.", Content::Text("application/openmetrics-text"))
            .errors(&[ErrorCode::Forbidden]),
        new("/openapi.json", "getOpenApi", "Get this document").content(
            200,
            "This document.",
            Content::Object("An OpenAPI 3.1 document."),
        ),
        new("/files/{name}", "getFile", "Get a screenshot or PDF")
            .description("Works for 24 hours. The name is the secret.")
            .content(
                200,
                "The file.",
                Content::Bytes(&["image/png", "image/jpeg", "application/pdf"]),
            )
            .errors(&[ErrorCode::NotFound]),
    ]
}
