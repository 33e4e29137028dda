//! Crawl options from a prompt: previewed, and used by a crawl.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{Model, ModelReply, ModelRequest, Site, TestServer, assert_contains};
use serde_json::{Value, json};

#[tokio::test]
async fn a_preview_returns_options_and_fetches_nothing() {
    let site = Site::new().graph(&[("/", &[])]).serve().await;
    let server = TestServer::start().await;
    let preview = async |prompt: &str| {
        let body = json!({ "url": site.url("/"), "prompt": prompt, "origin": "test" });
        server.post("/v2/crawl/params-preview", &body).await
    };
    let response = preview("Only the blog, at most 20 pages, two levels deep")
        .await
        .ok();
    let data = json!({
        "url": site.url("/"),
        "includePaths": ["^/?$", "/blogs?(/|$)"],
        "maxDiscoveryDepth": 2,
        "limit": 20,
    });
    assert_eq!(response, json!({ "success": true, "data": data }));
    let response = preview("whatever you like").await.ok();
    assert_eq!(response["data"], json!({ "url": site.url("/") }));
    assert_contains(&response, "/warning", "No option could be derived");
    for prompt in ["", &"x".repeat(10_001)] {
        let response = preview(prompt).await;
        response.is_error(400, "BAD_REQUEST");
        assert_eq!(response.json["details"][0]["path"], json!(["prompt"]));
    }
    assert!(site.hits().is_empty());
}

#[tokio::test]
async fn a_crawl_uses_its_prompt_for_options_that_the_body_omits() {
    let site = Site::new()
        .graph(&[
            ("/", &["/blog", "/docs", "/blog/1"]),
            ("/blog", &["/blog/2"]),
            ("/blog/1", &["/blog/3"]),
            ("/blog/2", &[]),
            ("/blog/3", &[]),
            ("/docs", &[]),
        ])
        .serve()
        .await;
    let server = TestServer::start().await;
    let mut request = json!({ "url": site.url("/"), "prompt": "blog posts, one level deep" });
    let crawled = server.run_crawl(&request).await;
    crawled.assert_visited(&site, &["/", "/blog", "/blog/1"]);
    request["maxDiscoveryDepth"] = 2.into();
    let crawled = server.run_crawl(&request).await;
    crawled.assert_visited(&site, &["/", "/blog", "/blog/1", "/blog/2", "/blog/3"]);
}

async fn preview(server: &TestServer, prompt: &str) -> Value {
    let body = json!({ "url": "https://site.test/", "prompt": prompt });
    server.post("/v2/crawl/params-preview", &body).await.ok()
}

fn propose_options(request: &ModelRequest) -> ModelReply {
    match request.last() {
        // The proposal of a model is validated like a request.
        prompt if prompt.contains("Alles") => ModelReply::Text(
            r#"{"limit": 20, "includePaths": ["^/blog/"], "ignoreRobotsTxt": true, "delay": 900, "webhook": "https://evil.test", "sitemap": "never"}"#,
        ),
        _ => ModelReply::Text("```json\n{\"limit\": 7, \"maxDiscoveryDepth\": 1}\n```"),
    }
}

#[tokio::test]
async fn the_server_validates_the_proposal_of_a_model() {
    let site = Site::new()
        .graph(&[("/", &["/a", "/b"]), ("/a", &["/c"]), ("/b", &[]), ("/c", &[])])
        .serve()
        .await;
    let model = Model::start(propose_options).await;
    let server = TestServer::start_with(&model.settings()).await;
    let response = preview(&server, "Alles vom Blog, höchstens 20 Seiten").await;
    let data = json!({ "url": "https://site.test/", "includePaths": ["^/?$", "^/blog/"], "limit": 20 });
    assert_eq!(response["data"], data);
    let warning = response["warning"].as_str().unwrap();
    for refused in ["`delay`", "`ignoreRobotsTxt`", "`sitemap`"] {
        assert!(warning.contains(refused), "{warning}");
    }
    let request = &model.requests()[0];
    assert_eq!(request.json["response_format"]["type"], "json_schema");
    assert!(
        request.last().contains("<request>\nAlles vom Blog"),
        "{}",
        request.last()
    );

    let request = json!({ "url": site.url("/"), "prompt": "the pages next to this one", "limit": 2 });
    let crawled = server.run_crawl(&request).await;
    crawled.assert_visited(&site, &["/", "/a"]);
}

#[tokio::test]
async fn built_in_rules_are_used_when_the_model_fails() {
    let failures = [
        ModelReply::Text("{\"limit\": "),
        ModelReply::Text("I cannot help with that."),
        ModelReply::Status(429, r#"{"error": {"message": "slow down"}}"#),
        ModelReply::Status(500, "oops"),
        ModelReply::Silence,
        ModelReply::Text("{}"),
        ModelReply::Text(r#"{"limit": "many"}"#),
    ];
    let attempts = failures.map(async |reply| {
        let model = Model::start(move |_| reply.clone()).await;
        let server = TestServer::start_with(&model.settings()).await;
        (
            preview(&server, "at most 9 pages, two levels deep").await,
            model.requests().len(),
        )
    });
    for (number, (response, request_count)) in futures_util::future::join_all(attempts)
        .await
        .into_iter()
        .enumerate()
    {
        assert!(request_count > 0);
        let data = json!({ "url": "https://site.test/", "limit": 9, "maxDiscoveryDepth": 2 });
        assert_eq!(response["data"], data, "failure {number}");
        assert_contains(&response, "/warning", "built-in rules");
    }
}
