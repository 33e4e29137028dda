//! Operations about the team, the documentation and the server itself.

use super::examples;
use super::operation::{Content, Operation, Tag, get, post, public, tagged};
use crate::api::error::ErrorCode;
use crate::api::fields::{FieldType, Schema};
use crate::api::health::{Health, PartState, Readiness};
use crate::api::support::DocsSearchRequest;
use crate::api::team::{ConcurrencyCheck, Data, Endpoint, TokenUsage};
use crate::limits::{DEFAULT_ACTIVITY_LIMIT, MAX_ACTIVITY_LIMIT};

pub(super) fn operations() -> Vec<Operation> {
    tagged([
        (Tag::Team, team()),
        (Tag::Documentation, documentation()),
        (Tag::Server, server()),
    ])
}

fn team() -> Vec<Operation> {
    let by_key = |operation: Operation| {
        operation.query(
            "byApiKey",
            "One entry for each month and key.",
            &Schema::Boolean,
            Some(false.into()),
        )
    };
    vec![
        get("/v2/team/credit-usage", "getCreditUsage")
            .summary("Get this month's credits")
            .response("Credits of the month.", Data::new(examples::credit_usage())),
        by_key(get("/v2/team/credit-usage/historical", "getCreditHistory").summary("Get credits by month"))
            .response(
                "Calendar months in UTC, oldest first.",
                examples::credit_history(),
            ),
        get("/v2/team/token-usage", "getTokenUsage")
            .summary("Get this month's tokens")
            .response(
                "Tokens of the month; one credit is 15 tokens.",
                Data::new(TokenUsage::from(examples::credit_usage())),
            ),
        by_key(get("/v2/team/token-usage/historical", "getTokenHistory").summary("Get tokens by month"))
            .response(
                "Calendar months in UTC, oldest first.",
                examples::credit_history().in_tokens(),
            ),
        get("/v2/team/activity", "listActivity")
            .summary("List the requests of the last 24 hours")
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
        get("/v2/team/queue-status", "getQueueStatus")
            .summary("Count waiting and running pages")
            .response("Pages of the team.", examples::queue_status()),
        get("/v2/concurrency-check", "getConcurrency")
            .summary("Get the slots in use and their limit")
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
        post(path, id)
            .summary(summary)
            .body::<DocsSearchRequest>(&[])
            .response("An answer with its sources.", examples::docs())
    };
    let page = |path, id, summary| {
        public(path, id)
            .summary(summary)
            .content(200, "The page.", Content::Text("text/html"))
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
    let health = |path, id| {
        public(path, id)
            .summary("Check that the process is up")
            .response("The process is up.", Health::up())
    };
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
        public(path, id)
            .summary("Check that the server can take requests")
            .response("The server can take requests.", good)
            .response_with(503, "The server cannot take requests.", bad)
    };
    vec![
        health("/health", "getHealth"),
        health("/health/live", "getLiveness"),
        ready("/ready", "getReady"),
        ready("/health/ready", "getReadiness"),
        public("/metrics", "getMetrics")
            .summary("Get metrics for Prometheus")
            .description("Available only from the server's own machine, unless the operator opens them.")
            .content(200, "The metrics.", Content::Text("application/openmetrics-text"))
            .errors(&[ErrorCode::Forbidden]),
        public("/openapi.json", "getOpenApi")
            .summary("Get this document")
            .content(200, "This document.", Content::Object("An OpenAPI 3.1 document.")),
        public("/files/{name}", "getFile")
            .summary("Get a screenshot or PDF")
            .description("Works for 24 hours. The name is the secret.")
            .content(
                200,
                "The file.",
                Content::Bytes(&["image/png", "image/jpeg", "application/pdf"]),
            )
            .errors(&[ErrorCode::NotFound]),
    ]
}
