//! The documentation pages: the guide, the API reference and the search in both.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use crate::app::TestApp;

const BASE: &str = "http://hm.test:3002";

impl TestApp {
    /// Returns a documentation page.
    async fn page(&self, path: &str) -> String {
        let response = self.get(path).await;
        assert_eq!(response.status, 200, "{path}");
        String::from_utf8(response.body).unwrap()
    }
}

/// Returns the values of an attribute in HTML.
fn attribute<'h>(html: &'h str, name: &str) -> Vec<&'h str> {
    let start = format!(" {name}=\"");
    html.split(start.as_str())
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// Returns the row of a field in the tables of a page.
fn row<'h>(html: &'h str, field: &str) -> &'h str {
    let start = html
        .find(&format!("<tr><td><code>{field}</code>"))
        .unwrap_or_else(|| panic!("no row of {field}"));
    let row = &html[start..];
    &row[..row.find("</tr>").unwrap()]
}

#[tokio::test]
async fn every_link_has_a_target_and_every_operation_a_page() {
    let app = TestApp::start().await;
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    let mut links: Vec<(String, Url)> = Vec::new();
    let mut open = BTreeSet::from(["/docs".to_owned()]);
    while let Some(path) = open.pop_first() {
        let html = app.page(&path).await;
        let base = Url::parse(BASE).unwrap().join(&path).unwrap();
        for link in attribute(&html, "href") {
            let target = base.join(link).unwrap();
            if !target.as_str().starts_with(BASE) {
                continue;
            }
            if target.path().starts_with("/docs")
                && !pages.contains_key(target.path())
                && target.path() != path
            {
                open.insert(target.path().to_owned());
            }
            links.push((path.clone(), target));
        }
        pages.insert(path, html);
    }
    for (from, target) in links {
        let Some(html) = pages.get(target.path()) else {
            assert_eq!(
                app.get(target.path()).await.status,
                200,
                "{from} links to {target}"
            );
            continue;
        };
        let anchor = target.fragment().unwrap_or_default();
        assert!(
            anchor.is_empty() || attribute(html, "id").contains(&anchor),
            "{from} links to {target}, which is not a heading"
        );
    }
    let document = app.get("/openapi.json").await.json();
    let operations = document["paths"].as_object().unwrap().values();
    for operation in operations.flat_map(|methods| methods.as_object().unwrap().values()) {
        let path = format!("/docs/api/{}", operation["operationId"].as_str().unwrap());
        assert!(pages.contains_key(&path), "no link leads to {path}");
    }
    for (path, html) in &pages {
        for mark in ["<script", "rel=\"stylesheet", "<img", "<iframe", "@import"] {
            assert!(!html.contains(mark), "{path} has {mark}");
        }
    }
}

#[tokio::test]
async fn an_endpoint_has_an_example_fields_responses_and_errors() {
    let app = TestApp::start().await;
    let scrape = app.page("/docs/api/scrape").await;
    assert!(row(&scrape, "url").contains("required"), "{scrape}");
    for part in ["integer", "1000 to 300000", "<code>60000</code>", "Time limit"] {
        let timeout = row(&scrape, "timeout");
        assert!(timeout.contains(part), "{part}: {timeout}");
    }
    assert!(row(&scrape, "x-request-id").contains("in the header"));
    assert!(scrape.contains("href=\"#Document\"") && scrape.contains("<h3 id=\"Document\">"));
    assert!(
        scrape.contains("curl http://hm.test:3002/v2/scrape \\\n"),
        "{scrape}"
    );
    assert!(scrape.contains("<td class=\"status\">401</td>") && scrape.contains("<code>UNAUTHORIZED</code>"));
    let cancel = app.page("/docs/api/cancelCrawl").await;
    assert!(
        cancel.contains("curl &quot;http://hm.test:3002/v2/crawl/$ID&quot; \\\n  -X DELETE"),
        "{cancel}"
    );
    app.get("/docs/api/nothing").await.is_error(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_search_finds_endpoints_and_passages() {
    let app = TestApp::start().await;
    let found = app.page("/docs?q=cancel+a+crawl").await;
    let (endpoints, guide) = found.split_once("<h2>Guide</h2>").unwrap();
    assert!(endpoints.contains("href=\"docs/api/cancelCrawl\""), "{endpoints}");
    assert!(guide.contains("href=\"docs/"), "{guide}");
    let by_field = app.page("/docs?q=maxDiscoveryDepth").await;
    assert!(by_field.contains("href=\"docs/api/startCrawl\""), "{by_field}");
    let nothing = app.page("/docs?q=sourdough+bread").await;
    assert!(
        nothing.contains("does not cover that") && !nothing.contains("<h2>"),
        "{nothing}"
    );
}
