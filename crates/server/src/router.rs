//! The route table and the middleware around it. Paths that clients know but this server does not support are in
//! `not_offered`.

use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Extension, Router};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

use crate::app::App;
use crate::auth::{require_key, require_key_of_reader, require_key_unless_socket, require_operator};
use crate::cluster::forward;
use crate::edge::edge;
use crate::limits;
use crate::mcp::http::McpRoutes;
use crate::open_mode::refuse_other_hosts;
use crate::routes::{
    agent, batch, browser, console, crawl, docs, extract, feedback, files, health, interact, job,
    job_comparison, job_pages, keys, live, map, mcp, monitor, openapi, operator, parse, scrape, search, team,
    webhooks,
};

mod not_offered;

/// Authentication that a route requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// None.
    Public,
    /// An API key.
    Key,
    /// An API key, but the rate limits do not count the request: it reads the state of a job.
    Reader,
    /// The same; a WebSocket without a key is refused after the upgrade.
    ReaderOrSocket,
    /// The token of the operator's command line.
    Operator,
}

/// Row of the route table.
#[derive(Clone, Debug)]
pub struct Route {
    /// Method; `None` for all methods.
    pub method: Option<Method>,
    /// Path pattern with `{parameters}`.
    pub path: &'static str,
    /// Required authentication.
    pub access: Access,
    /// Whether the route is supported; if not, it only returns 501 or 404.
    pub offered: bool,
    handler: MethodRouter<App>,
}

macro_rules! table {
    ($($access:ident $method:ident $path:literal => $handler:expr;)*) => {
        vec![$(Route {
            method: Some(Method::$method),
            path: $path,
            access: Access::$access,
            offered: true,
            handler: on(MethodFilter::$method, $handler),
        }),*]
    };
}

/// Returns every route.
pub fn routes() -> Vec<Route> {
    let mut routes = table! {
        // Crawls, batches, scrapes and maps (docs/API.md sections 6 to 8).
        Key POST "/v2/crawl" => crawl::start;
        Key POST "/v2/crawl/params-preview" => crawl::params_preview;
        Key GET "/v2/crawl/active" => crawl::active;
        Key GET "/v2/crawl/ongoing" => crawl::active;
        ReaderOrSocket GET "/v2/crawl/{id}" => job::status;
        Key DELETE "/v2/crawl/{id}" => job::cancel;
        Reader GET "/v2/crawl/{id}/errors" => job::errors;
        Key POST "/v2/batch/scrape" => batch::start;
        ReaderOrSocket GET "/v2/batch/scrape/{id}" => job::status;
        Key DELETE "/v2/batch/scrape/{id}" => job::cancel;
        Reader GET "/v2/batch/scrape/{id}/errors" => job::errors;
        Key POST "/v2/scrape" => scrape::start;
        Reader GET "/v2/scrape/{id}" => scrape::result;
        Key POST "/v2/map" => map::start;
        Key POST "/v2/parse" => parse::start;
        Key GET "/v2/parse/formats" => parse::formats;
        Key POST "/v2/parse/upload-url" => parse::upload_url;
        Public PUT "/v2/parse/upload/{token}" => parse::upload;
        Key POST "/v2/search" => search::start;
        Key POST "/v2/search/{id}/feedback" => feedback::add_to_search;
        Key POST "/v2/feedback" => feedback::add;

        Public GET "/files/{name}" => files::file;

        // Documentation (6.10).
        Key POST "/v2/support/docs-search" => docs::ask;
        Key POST "/v2/support/ask" => docs::ask;
        Public GET "/docs" => docs::index;
        Public GET "/docs/{page}" => docs::page;
        Public GET "/docs/api" => docs::api_index;
        Public GET "/docs/api/{operation}" => docs::api_endpoint;

        // Extracts and agents (10).
        Key POST "/v2/extract" => extract::start;
        Reader GET "/v2/extract/{id}" => extract::status;
        Key DELETE "/v2/extract/{id}" => extract::cancel;
        Key POST "/v2/agent" => agent::start;
        Key GET "/v2/agent" => agent::list;
        Reader GET "/v2/agent/{id}" => agent::status;
        Key DELETE "/v2/agent/{id}" => agent::cancel;
        Key GET "/v2/agent/{id}/trace" => agent::trace;
        Key GET "/v2/agent/{id}/snapshots/{snapshot}" => agent::snapshot;
        Key GET "/v2/agent/threads/{id}" => agent::thread;

        // Monitors (13).
        Key POST "/v2/monitor" => monitor::create;
        Key GET "/v2/monitor" => monitor::list;
        Key GET "/v2/monitor/{id}" => monitor::get;
        Key PATCH "/v2/monitor/{id}" => monitor::update;
        Key DELETE "/v2/monitor/{id}" => monitor::delete;
        Key POST "/v2/monitor/{id}/run" => monitor::run;
        Key GET "/v2/monitor/{id}/checks" => monitor::checks;
        Key GET "/v2/monitor/{id}/checks/{check}" => monitor::check;

        // Browser sessions (6.11, 6.12, 11).
        Key POST "/v2/scrape/{id}/interact" => interact::start;
        Key DELETE "/v2/scrape/{id}/interact" => interact::stop;
        Key POST "/v2/browser" => browser::create;
        Key GET "/v2/browser" => browser::list;
        Key POST "/v2/browser/{id}/execute" => browser::execute;
        Key DELETE "/v2/browser/{id}" => browser::delete;
        Key POST "/v2/browser/{id}/extend" => browser::extend;
        Key GET "/v2/browser/{id}/files" => browser::files;
        Key POST "/v2/browser/{id}/files" => browser::add_file;
        Key POST "/v2/interact" => browser::create;
        Key GET "/v2/interact" => browser::list;
        Key POST "/v2/interact/{id}/execute" => browser::execute;
        Key DELETE "/v2/interact/{id}" => browser::delete;
        Key POST "/v2/interact/{id}/extend" => browser::extend;
        Key GET "/v2/interact/{id}/files" => browser::files;
        Key POST "/v2/interact/{id}/files" => browser::add_file;
        Public GET "/live/{token}" => live::page;
        Public GET "/live/sockets/{token}" => live::watch;
        Public GET "/live/assets/{file}" => live::asset;
        Public GET "/cdp/{token}" => live::cdp;
        Public GET "/cdp/{token}/{*rest}" => live::cdp_below;

        // The team (6.7 to 6.9, 12).
        Key GET "/v2/team/credit-usage" => team::credit_usage;
        Key GET "/v2/team/credit-usage/historical" => team::credit_history;
        Key GET "/v2/team/token-usage" => team::token_usage;
        Key GET "/v2/team/token-usage/historical" => team::token_history;
        Key GET "/v2/team/activity" => team::activity;
        Key GET "/v2/team/queue-status" => team::queue_status;
        Key GET "/v2/concurrency-check" => team::concurrency;

        // Model Context Protocol (docs/CLI.md).
        Key POST "/mcp" => mcp::handle;

        // Without a version (1).
        Public GET "/health" => health::live;
        Public GET "/health/live" => health::live;
        Public GET "/ready" => health::ready;
        Public GET "/health/ready" => health::ready;
        Public GET "/metrics" => health::metrics;
        Public GET "/openapi.json" => openapi::document;

        // The console.
        Public GET "/" => console::root;
        Public GET "/console" => console::root;
        Public GET "/console/" => console::page;
        Public GET "/console/{*path}" => console::page;
        Public POST "/console/api/start" => console::start;
        Key GET "/console/api/info" => console::info;
        Key GET "/console/api/jobs" => console::jobs;
        Key GET "/console/api/jobs/{id}" => job_pages::job;
        Key POST "/console/api/jobs/{id}/continue" => crawl::continue_crawl;
        Key GET "/console/api/jobs/{id}/pages" => job_pages::list;
        Key GET "/console/api/jobs/{id}/links" => job_pages::links;
        Key GET "/console/api/jobs/{id}/comparison" => job_comparison::pages;
        Key GET "/console/api/jobs/{id}/difference" => job_comparison::page;
        Key GET "/console/api/activity" => team::calls;
        Key GET "/console/api/usage" => team::usage_by_day;
        Key GET "/console/api/sessions" => console::sessions;
        Key GET "/console/api/jobs/{id}/webhooks" => webhooks::log;
        Key POST "/console/api/jobs/{id}/webhooks" => webhooks::resend;
        Key GET "/console/api/keys" => keys::list;
        Key POST "/console/api/keys" => keys::create;
        Key DELETE "/console/api/keys/{id}" => keys::revoke;
        Key GET "/console/api/webhook-secret" => keys::webhook_secret;
        Key POST "/console/api/webhook-secret" => keys::rotate_webhook_secret;
        Key POST "/console/api/webhook-test" => keys::test_webhook;
        Operator POST "/console/api/operator" => operator::command;
    };
    routes.extend(not_offered::routes());
    routes
}

/// Builds the router with all routes and middleware. The tools of `/mcp` call a second router with the same state.
pub fn router(app: App) -> Router {
    let routes = McpRoutes(api_router(app.clone()));
    api_router(app).layer(Extension(routes))
}

fn api_router(app: App) -> Router {
    let mut router = Router::new();
    for Route {
        method,
        path,
        access,
        handler,
        ..
    } in routes()
    {
        // Runs inside the key check, so that the node that the client sent the request to counts it.
        let handler = match forward::is_of_session(path) {
            true => handler.route_layer(from_fn_with_state(app.clone(), forward::forward)),
            false => handler,
        };
        let guarded = match access {
            Access::Public => handler,
            // A route for all methods never responds 405, so no 405 needs to bypass the layer.
            Access::Key if method.is_none() => handler.layer(from_fn_with_state(app.clone(), require_key)),
            Access::Key => handler.route_layer(from_fn_with_state(app.clone(), require_key)),
            Access::Reader => handler.route_layer(from_fn_with_state(app.clone(), require_key_of_reader)),
            Access::ReaderOrSocket => {
                handler.route_layer(from_fn_with_state(app.clone(), require_key_unless_socket))
            }
            Access::Operator => handler.route_layer(from_fn_with_state(app.clone(), require_operator)),
        };
        router = router.route(path, guarded);
    }
    router
        .fallback(health::unknown_path)
        .method_not_allowed_fallback(health::wrong_method)
        .layer(
            CompressionLayer::new()
                .quality(CompressionLevel::Fastest)
                .compress_when(DefaultPredicate::new().and(SizeAbove::new(limits::MIN_COMPRESSED_BYTES))),
        )
        .layer(from_fn_with_state(app.clone(), refuse_other_hosts))
        .layer(from_fn_with_state(app.clone(), forward::accept))
        .layer(from_fn_with_state(app.clone(), edge))
        .with_state(app)
}
