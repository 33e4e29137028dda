//! Isolation of teams. A table lists every supported route with the response that another team's key must get; a
//! route without a row fails the test. The test prints the response of each route.

use std::collections::BTreeSet;

use axum::http::Method;
use harvestman_core::ids::{JobId, KeyId, ScrapeId, SessionId, TeamId};
use harvestman_server::router::{Access, Route, routes};
use harvestman_store::{JobKind, NewSession};
use serde_json::{Value, json};

use crate::app::{TestApp, TestResponse};
use crate::crawl::ALLOW;
use crate::site::Site;
use crate::stored_job::new_job;

/// Expected response for another team's key.
#[derive(Clone, Copy)]
enum Expected {
    /// The id belongs to this team: this status and error code.
    Refused(ResourceKind, u16, &'static str),
    /// The request concerns the caller's own team: this status, and none of our data in the response.
    Own(u16),
    /// A token in the path authenticates the request; no API key opens it.
    Token,
    /// The same status for everyone.
    Everybody(u16),
    /// No API key of any team opens it.
    Operator,
}

#[derive(Clone, Copy)]
enum ResourceKind {
    Crawl,
    Batch,
    Scrape,
    Agent,
    Session,
    Monitor,
    Key,
}

use Expected::{Everybody, Operator, Own, Refused, Token};
use ResourceKind::{Agent, Batch, Crawl, Key, Monitor, Scrape, Session};

const fn not_found(kind: ResourceKind) -> Expected {
    Refused(kind, 404, "NOT_FOUND")
}

const fn forbidden(kind: ResourceKind) -> Expected {
    Refused(kind, 403, "FORBIDDEN")
}

/// Returns the entry of a route of the console for one crawl.
const fn of_crawl(method: &'static str, path: &'static str) -> Entry {
    (method, path, "", not_found(Crawl))
}

/// Method, path, body, and the expected response for another team.
type Entry = (&'static str, &'static str, &'static str, Expected);

/// Planned routes may already have a row.
const TABLE: &[Entry] = &[
    ("POST", "/v2/crawl", "{}", Own(400)),
    ("POST", "/v2/crawl/params-preview", "{}", Own(400)),
    ("GET", "/v2/crawl/active", "", Own(200)),
    ("GET", "/v2/crawl/ongoing", "", Own(200)),
    ("GET", "/v2/crawl/{id}", "", not_found(Crawl)),
    ("DELETE", "/v2/crawl/{id}", "", not_found(Crawl)),
    ("GET", "/v2/crawl/{id}/errors", "", not_found(Crawl)),
    ("POST", "/v2/batch/scrape", "{}", Own(400)),
    ("POST", "/v2/batch/scrape", APPEND, not_found(Batch)),
    ("GET", "/v2/batch/scrape/{id}", "", not_found(Batch)),
    ("DELETE", "/v2/batch/scrape/{id}", "", not_found(Batch)),
    ("GET", "/v2/batch/scrape/{id}/errors", "", not_found(Batch)),
    ("POST", "/v2/scrape", "{}", Own(400)),
    ("GET", "/v2/scrape/{id}", "", not_found(Scrape)),
    ("POST", "/v2/scrape/{id}/interact", CODE, forbidden(Scrape)),
    ("DELETE", "/v2/scrape/{id}/interact", "", forbidden(Scrape)),
    ("POST", "/v2/map", "{}", Own(400)),
    ("POST", "/v2/parse", "{}", Own(400)),
    ("GET", "/v2/parse/formats", "", Own(200)),
    ("POST", "/v2/parse/upload-url", "{}", Own(400)),
    ("PUT", "/v2/parse/upload/{token}", "", Token),
    ("POST", "/v2/browser", "{}", Own(503)),
    ("GET", "/v2/browser", "", Own(200)),
    ("POST", "/v2/browser/{id}/execute", CODE, forbidden(Session)),
    ("DELETE", "/v2/browser/{id}", "", forbidden(Session)),
    ("POST", "/v2/browser/{id}/extend", "{}", forbidden(Session)),
    ("GET", "/v2/browser/{id}/files", "", forbidden(Session)),
    ("POST", "/v2/browser/{id}/files", UPLOAD, forbidden(Session)),
    ("POST", "/v2/interact/{id}/extend", "{}", forbidden(Session)),
    ("GET", "/v2/interact/{id}/files", "", forbidden(Session)),
    ("POST", "/v2/interact/{id}/files", UPLOAD, forbidden(Session)),
    ("POST", "/v2/interact", "{}", Own(503)),
    ("GET", "/v2/interact", "", Own(200)),
    ("POST", "/v2/interact/{id}/execute", CODE, forbidden(Session)),
    ("DELETE", "/v2/interact/{id}", "", forbidden(Session)),
    ("POST", "/v2/search", "{}", Own(400)),
    ("POST", "/v2/search/{id}/feedback", RATING, not_found(Crawl)),
    ("POST", "/v2/feedback", "{}", Own(400)),
    ("POST", "/v2/monitor", "{}", Own(400)),
    ("GET", "/v2/monitor", "", Own(200)),
    ("GET", "/v2/monitor/{id}", "", not_found(Monitor)),
    ("PATCH", "/v2/monitor/{id}", "{}", not_found(Monitor)),
    ("POST", "/v2/monitor/{id}/run", "{}", not_found(Monitor)),
    ("GET", "/v2/monitor/{id}/checks", "", not_found(Monitor)),
    ("GET", "/v2/monitor/{id}/checks/{check}", "", not_found(Monitor)),
    ("DELETE", "/v2/monitor/{id}", "", not_found(Monitor)),
    ("POST", "/v2/extract", "{}", Own(400)),
    ("GET", "/v2/extract/{id}", "", not_found(Agent)),
    ("DELETE", "/v2/extract/{id}", "", not_found(Agent)),
    ("POST", "/v2/agent", CONTINUE, not_found(Agent)),
    ("GET", "/v2/agent", "", Own(200)),
    ("GET", "/v2/agent/{id}", "", not_found(Agent)),
    ("GET", "/v2/agent/threads/{id}", "", not_found(Agent)),
    ("GET", "/v2/agent/{id}/trace", "", not_found(Agent)),
    ("GET", "/v2/agent/{id}/snapshots/{snapshot}", "", not_found(Agent)),
    ("DELETE", "/v2/agent/{id}", "", not_found(Agent)),
    ("GET", "/v2/team/credit-usage", "", Own(200)),
    ("GET", "/v2/team/credit-usage/historical", "", Own(200)),
    ("GET", "/v2/team/token-usage", "", Own(200)),
    ("GET", "/v2/team/token-usage/historical", "", Own(200)),
    ("GET", "/v2/team/activity", "", Own(200)),
    ("GET", "/v2/team/queue-status", "", Own(200)),
    ("GET", "/v2/concurrency-check", "", Own(200)),
    ("POST", "/v2/support/docs-search", "{}", Own(400)),
    ("POST", "/v2/support/ask", "{}", Own(400)),
    ("GET", "/files/{name}", "", Token),
    ("GET", "/live/{token}", "", Token),
    ("GET", "/live/sockets/{token}", "", Token),
    ("GET", "/live/assets/{file}", "", Token),
    ("GET", "/cdp/{token}", "", Token),
    ("GET", "/cdp/{token}/{*rest}", "", Token),
    // An error of the protocol, in its own form.
    ("POST", "/mcp", "{}", Own(200)),
    ("GET", "/health", "", Everybody(200)),
    ("GET", "/health/live", "", Everybody(200)),
    ("GET", "/ready", "", Everybody(200)),
    ("GET", "/health/ready", "", Everybody(200)),
    ("GET", "/metrics", "", Everybody(200)),
    ("GET", "/openapi.json", "", Everybody(200)),
    ("GET", "/docs", "", Everybody(200)),
    ("GET", "/docs/{page}", "", Everybody(404)),
    ("GET", "/docs/api", "", Everybody(200)),
    ("GET", "/docs/api/{operation}", "", Everybody(404)),
    ("GET", "/", "", Everybody(404)),
    ("GET", "/console", "", Everybody(307)),
    ("GET", "/console/", "", Everybody(200)),
    ("GET", "/console/{*path}", "", Everybody(200)),
    ("POST", "/console/api/start", r#"{"code":"x"}"#, Everybody(401)),
    ("GET", "/console/api/info", "", Own(200)),
    ("GET", "/console/api/jobs", "", Own(200)),
    of_crawl("GET", "/console/api/jobs/{id}"),
    of_crawl("POST", "/console/api/jobs/{id}/continue"),
    of_crawl("GET", "/console/api/jobs/{id}/pages"),
    of_crawl("GET", "/console/api/jobs/{id}/links"),
    of_crawl("GET", "/console/api/jobs/{id}/comparison"),
    of_crawl("GET", "/console/api/jobs/{id}/difference"),
    ("GET", "/console/api/activity", "", Own(200)),
    ("GET", "/console/api/usage", "", Own(200)),
    ("GET", "/console/api/sessions", "", Own(200)),
    of_crawl("GET", "/console/api/jobs/{id}/webhooks"),
    (
        "POST",
        "/console/api/jobs/{id}/webhooks",
        RESEND,
        not_found(Crawl),
    ),
    ("GET", "/console/api/keys", "", Own(200)),
    ("POST", "/console/api/keys", "{}", Own(400)),
    ("DELETE", "/console/api/keys/{id}", "", not_found(Key)),
    ("GET", "/console/api/webhook-secret", "", Own(200)),
    ("POST", "/console/api/webhook-secret", "{}", Own(200)),
    ("POST", "/console/api/webhook-test", "{}", Own(400)),
    ("POST", "/console/api/operator", COMMAND, Operator),
];

const COMMAND: &str = r#"{"command":"list-teams"}"#;
const CONTINUE: &str = r#"{"prompt":"x","urls":["http://127.0.0.1:1/"],"schema":{},"threadId":"{id}"}"#;
const CODE: &str = r#"{"code":"1"}"#;
const UPLOAD: &str = r#"{"uploadRef":"x"}"#;
const RATING: &str = r#"{"rating":"good"}"#;
const APPEND: &str = r#"{"urls":["http://127.0.0.1:1/"],"appendToId":"{id}"}"#;
const RESEND: &str = r#"{"webhookId":"0192f000-0000-7000-8000-000000000001"}"#;

/// Resources of one team.
struct Resources {
    crawl: JobId,
    batch: JobId,
    scrape: ScrapeId,
    agent: JobId,
    session: SessionId,
    monitor: String,
    key: KeyId,
    site: String,
}

impl Resources {
    async fn create(app: &TestApp, site: &Site) -> Resources {
        let started = async |path: &str, body: Value| -> JobId {
            let response = app.post(path, &body).await;
            assert_eq!(response.status, 200, "{path}: {}", response.json());
            let response = response.json();
            let id = response
                .get("id")
                .unwrap_or(&response["data"]["metadata"]["scrapeId"]);
            id.as_str().unwrap().parse().unwrap()
        };
        let crawl = started("/v2/crawl", json!({ "url": site.url("/"), "limit": 3 })).await;
        let batch = started("/v2/batch/scrape", json!({ "urls": [site.url("/page/1")] })).await;
        let scrape = started("/v2/scrape", json!({ "url": site.url("/") }))
            .await
            .into();
        let task = json!({ "prompt": "x", "urls": [site.url("/page/2")], "schema": {} });
        let agent = started("/v2/agent", task).await;
        let watched = json!({ "name": "x", "schedule": { "text": "hourly" },
            "targets": [{ "type": "scrape", "urls": [site.url("/page/2")] }] });
        let watched = app.post("/v2/monitor", &watched).await;
        let monitor = watched.json()["data"]["id"].as_str().unwrap().to_owned();
        let own = app.app.store().keys(None).await.unwrap().remove(0);
        let session = session(app, own.team).await;
        Resources {
            crawl,
            batch,
            scrape,
            agent,
            session,
            monitor,
            key: own.id,
            site: site.url("/"),
        }
    }

    fn id(&self, kind: ResourceKind) -> String {
        match kind {
            Crawl => self.crawl.to_string(),
            Batch => self.batch.to_string(),
            Scrape => self.scrape.to_string(),
            Agent => self.agent.to_string(),
            Session => self.session.to_string(),
            Monitor => self.monitor.clone(),
            Key => self.key.to_string(),
        }
    }

    /// Asserts that a response contains none of the ids and URLs.
    fn assert_not_in(&self, response: &TestResponse, row: &str) {
        let text = String::from_utf8_lossy(&response.body);
        let kinds = [Crawl, Batch, Scrape, Agent, Session, Key];
        let ids = kinds.map(|kind| self.id(kind));
        for secret in ids.iter().chain([&self.site]) {
            assert!(!text.contains(secret.as_str()), "{row} reveals {secret}: {text}");
        }
    }
}

/// Stores a session without a browser: its owner is known anyway.
async fn session(app: &TestApp, team: TeamId) -> SessionId {
    let now = harvestman_engine::now();
    let id = harvestman_engine::new_job_id();
    let call = new_job(id, team, JobKind::Browser, now);
    let session = NewSession {
        call,
        scrape: None,
        stream_web_view: true,
        expires_at: now + std::time::Duration::from_secs(600),
    };
    app.app.store().begin_session(&session).await.unwrap();
    id.into()
}

struct Row {
    route: Route,
    path: String,
    body: String,
    other: Expected,
}

impl Row {
    fn name(&self) -> String {
        let method = self.route.method.as_ref().map_or("any", |method| method.as_str());
        format!("{method} {}", self.route.path)
    }

    /// Sends the request of the row with a key.
    async fn send(&self, app: &TestApp, key: Option<&str>) -> TestResponse {
        let method = self.route.method.clone().unwrap_or(Method::GET);
        let mut request = app.anonymous(method, &self.path);
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        app.send(request, self.body.clone()).await
    }
}

/// Returns the rows of supported routes, with the ids of this team filled in.
fn rows(resources: &Resources) -> Vec<Row> {
    let all = routes();
    let route = |method: &str, path: &str| {
        let same =
            |route: &&Route| route.path == path && route.method.as_ref().is_some_and(|of| of == method);
        let found = all.iter().find(same).cloned();
        found.unwrap_or_else(|| panic!("{method} {path} is in the table of this test but is not a route"))
    };
    let rows = TABLE.iter().map(|(method, path, body, other)| {
        let id = match other {
            Refused(kind, ..) => resources.id(*kind),
            Own(_) | Token | Everybody(_) | Operator => resources.id(Session),
        };
        let names = [
            "{id}", "{name}", "{token}", "{file}", "{page}", "{check}", "{snapshot}", "{*rest}", "{*path}",
        ];
        Row {
            route: route(method, path),
            path: names
                .iter()
                .fold((*path).to_owned(), |path, name| path.replace(name, &id)),
            body: body.replace("{id}", &id),
            other: *other,
        }
    });
    rows.filter(|row| row.route.offered).collect()
}

fn outcome(response: &TestResponse) -> String {
    let status = response.status.as_u16();
    let json: Option<Value> = serde_json::from_slice(&response.body).ok();
    match json.as_ref().and_then(|json| json["code"].as_str()) {
        Some(code) => format!("{status} {code}"),
        None => status.to_string(),
    }
}

#[tokio::test]
async fn every_route_refuses_missing_invalid_and_foreign_keys() {
    let app = TestApp::with(ALLOW).await;
    // Its pages block, so that crawl and batch are still running when others try to cancel them.
    let site = Site::blocked(3).await;
    let resources = Resources::create(&app, &site).await;
    let other_key = app.other_key("strangers").await;

    let rows = rows(&resources);
    let tested: BTreeSet<String> = rows.iter().map(Row::name).collect();
    for route in routes().into_iter().filter(|route| route.offered) {
        let method = route.method.map_or("any".to_owned(), |method| method.to_string());
        let name = format!("{method} {}", route.path);
        assert!(
            tested.contains(&name),
            "{name} has no row; add the expected response for another team"
        );
    }

    println!(
        "{:<46} {:<18} {:<18} another team's key",
        "route", "no key", "invalid key"
    );
    for row in &rows {
        let name = row.name();
        let none = row.send(&app, None).await;
        let bad = row.send(&app, Some("fc-nobody")).await;
        let other = row.send(&app, Some(&other_key)).await;
        println!(
            "{name:<46} {:<18} {:<18} {}",
            outcome(&none),
            outcome(&bad),
            outcome(&other)
        );
        for response in [&none, &bad, &other] {
            resources.assert_not_in(response, &name);
        }
        if row.route.access != Access::Public {
            none.is_error(401, "UNAUTHORIZED");
            bad.is_error(401, "UNAUTHORIZED");
        }
        match row.other {
            Refused(_, status, code) => {
                other.is_error(status, code);
            }
            Operator => {
                other.is_error(401, "UNAUTHORIZED");
                row.send(&app, Some(&app.key)).await.is_error(401, "UNAUTHORIZED");
            }
            Own(status) => assert_eq!(other.status, status, "{name}: {other:?}"),
            Token => {
                for response in [&none, &bad, &other] {
                    assert_eq!(response.status, 404, "{name}: {response:?}");
                }
            }
            Everybody(status) => {
                for response in [&none, &bad, &other] {
                    assert_eq!(response.status, status, "{name}: {response:?}");
                }
            }
        }
    }
    assert_unchanged(&app, &resources).await;
    assert_owner_passes(&app, &rows).await;
}

/// Asserts that the requests of others had no effect.
async fn assert_unchanged(app: &TestApp, resources: &Resources) {
    for path in [
        format!("/v2/crawl/{}", resources.crawl),
        format!("/v2/batch/scrape/{}", resources.batch),
    ] {
        let status = app.get(&path).await.json();
        assert_eq!(status["status"], "scraping", "{path}: {status}");
    }
    let batch = app
        .get(&format!("/v2/batch/scrape/{}", resources.batch))
        .await
        .json();
    assert_eq!(batch["total"], 1, "no page was added");
    let store = app.app.store();
    let session = store.session(resources.session).await.unwrap().unwrap();
    assert_eq!(session.end, None);
    let secret = app.get("/console/api/webhook-secret").await.json();
    assert_eq!(secret["set"], false);
}

/// Asserts that the ids are valid: the same requests with the owner's key are not refused.
async fn assert_owner_passes(app: &TestApp, rows: &[Row]) {
    for row in rows {
        if let Refused(_, status, code) = row.other {
            let own = row.send(app, Some(&app.key)).await;
            // The owner has no such event, check or snapshot.
            let is_unknown = row.body == RESEND
                || ["{check}", "{snapshot}"]
                    .iter()
                    .any(|end| row.route.path.ends_with(end));
            assert!(
                (is_unknown && own.status == 404) || outcome(&own) != format!("{status} {code}"),
                "{}: {own:?}",
                row.name()
            );
        }
    }
}
