//! The route table against the documentation, and behaviour that all routes share.

use std::collections::BTreeSet;

use axum::http::Method;
use harvestman_fetch::{FetchConfig, Fetcher};
use harvestman_server::router::{Access, routes};
use serde_json::json;
use uuid::Uuid;

use crate::app::TestApp;
use crate::assertions::assert_contains;
use crate::crawl::ALLOW;
use crate::site::Site;

/// Returns `(method, path, supported)` of every row of the documentation.
fn documented_routes() -> BTreeSet<(String, String, bool)> {
    let text = include_str!("../../../../docs/ROUTES.md");
    text.lines()
        .filter_map(|line| {
            let mut cells = line.split('|').skip(1).map(str::trim);
            let method = cells.next()?;
            let path = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
            let state = cells.next()?;
            Some((method.to_owned(), nameless(path), state == "served"))
        })
        .collect()
}

fn nameless(path: &str) -> String {
    let part = |part: &str| {
        if part.starts_with('{') {
            "{}".to_owned()
        } else {
            part.to_owned()
        }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Fills in the parameters of a path.
pub(crate) fn filled(path: &str) -> String {
    let id = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001);
    let part = |part: &str| match part {
        "{*rest}" | "{*path}" => "anything".to_owned(),
        part if part.starts_with('{') => id.to_string(),
        part => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[test]
fn the_route_table_matches_the_documentation() {
    let table: BTreeSet<_> = routes()
        .into_iter()
        .map(|route| {
            let method = route.method.map_or("any".to_owned(), |method| method.to_string());
            (method, nameless(route.path), route.offered)
        })
        .collect();
    let documented_routes = documented_routes();
    assert!(documented_routes.len() > 60, "the documentation was parsed");
    assert_eq!(
        table.difference(&documented_routes).collect::<Vec<_>>(),
        Vec::<&_>::new(),
        "not documented"
    );
    assert_eq!(
        documented_routes.difference(&table).collect::<Vec<_>>(),
        Vec::<&_>::new(),
        "not in the table"
    );
}

#[tokio::test]
async fn routes_check_the_key_before_anything_else() {
    let app = TestApp::start().await;
    for route in routes() {
        let method = route.method.clone().unwrap_or(Method::POST);
        let request = app.anonymous(method.clone(), &filled(route.path));
        let response = app.send(request, "{").await;
        match route.access {
            Access::Key | Access::Reader | Access::ReaderOrSocket | Access::Operator => {
                response.is_error(401, "UNAUTHORIZED");
            }
            Access::Public if route.path != "/console/api/start" => {
                assert_ne!(response.status, 401, "{method} {}", route.path);
            }
            Access::Public => {}
        }
    }
}

#[tokio::test]
async fn only_unsupported_routes_return_501() {
    let app = TestApp::start().await;
    for route in routes() {
        let method = route.method.clone().unwrap_or(Method::PUT);
        let request = app.request(method.clone(), &filled(route.path));
        let response = app.send(request, "{}").await;
        if route.offered {
            assert_ne!(response.status, 501, "{method} {}", route.path);
        } else if route.access == Access::Key {
            response.is_error(501, "FEATURE_NOT_SUPPORTED");
        } else {
            response.is_error(404, "NOT_FOUND");
            assert_contains(&response.json(), "/error", "/v2/");
        }
    }
}

#[tokio::test]
async fn ids_of_other_teams_and_unknown_ids_return_404_on_every_route() {
    let app = TestApp::with(ALLOW).await;
    let site = Site::open(0).await;
    let key = app.other_key("strangers").await;
    let started = app
        .post("/v2/crawl", &json!({ "url": site.url("/"), "limit": 1 }))
        .await;
    assert_eq!(started.status, 200, "{:?}", started);
    let id = started.json()["id"].as_str().unwrap().to_owned();
    for route in routes()
        .into_iter()
        .filter(|route| route.offered && route.path.contains("{id}"))
    {
        let method = route.method.clone().unwrap();
        let path = ["{id}", "{check}", "{snapshot}"]
            .iter()
            .fold(route.path.to_owned(), |path, name| path.replace(name, &id));
        let request = app.request_as(&key, method, &path);
        let body = match route.path {
            path if path.ends_with("/feedback") => r#"{"rating":"good"}"#,
            path if path.starts_with("/v2/monitor") || path.ends_with("/extend") => "{}",
            path if path.ends_with("/files") => r#"{"uploadRef":"x"}"#,
            // Valid for sessions.
            _ => r#"{"code":"1"}"#,
        };
        app.send(request, body).await.is_error(404, "NOT_FOUND");
        let unknown = app.request(route.method.clone().unwrap(), &filled(route.path));
        app.send(unknown, body).await.is_error(404, "NOT_FOUND");
        for bad in ["x", "0192", "%FF", "{0192}"] {
            let request = app.request(route.method.clone().unwrap(), &route.path.replace("{id}", bad));
            if request.uri_ref().is_none() {
                continue;
            }
            let response = app.send(request, "").await;
            response.is_error(400, "BAD_REQUEST");
            assert_eq!(response.json()["details"][0]["path"], json!(["id"]));
        }
    }
}

#[tokio::test]
async fn unknown_paths_and_wrong_methods_are_json_errors() {
    let app = TestApp::start().await;
    for path in ["/nowhere", "/v2", "/v2/nowhere", "/v3/crawl", "/"] {
        app.get(path).await.is_error(404, "NOT_FOUND");
    }
    for (method, path) in [
        (Method::GET, "/v2/crawl"),
        (Method::PUT, "/v2/crawl"),
        (Method::GET, "/v2/crawl/params-preview"),
        (Method::DELETE, "/health"),
    ] {
        let request = app.request(method, path);
        let response = app.send(request, "").await;
        response.is_error(405, "METHOD_NOT_ALLOWED");
        assert_ne!(response.header("allow"), "");
    }
    let old = app.get("/v1/scrape").await;
    assert!(
        old.is_error(404, "NOT_FOUND").json()["error"]
            .as_str()
            .unwrap()
            .contains("/v2/scrape")
    );
}

#[tokio::test]
async fn a_silent_name_server_does_not_extend_the_timeout_of_a_scrape() {
    let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let app = TestApp::with(&[("HARVESTMAN_DNS_SERVERS", &address.to_string())]).await;
    let fetcher = Fetcher::new(FetchConfig {
        dns_servers: vec![address],
        ..FetchConfig::default()
    })
    .unwrap();
    let url = "http://silent.test/";
    let scrape = json!({ "url": url, "timeout": 1000, "maxAge": 0 });
    let target = url.parse().unwrap();
    tokio::select! {
        response = app.post("/v2/scrape", &scrape) => drop(response.is_error(408, "SCRAPE_TIMEOUT")),
        resolved = fetcher.check_target(&target, None) => panic!("the resolver gave up first: {resolved:?}"),
    }
}
