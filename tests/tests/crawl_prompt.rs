//! Crawl options from a prompt: previewed, and used by a crawl.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{Model, Question, Said, Site, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn a_preview_returns_options_and_fetches_nothing() {
    let site = Site::new().graph(&[("/", &[])]).serve().await;
    let server = TestServer::start().await;
    let preview = async |prompt: &str| {
        let body = json!({ "url": site.url("/"), "prompt": prompt, "origin": "test" });
        server.post("/v2/crawl/params-preview", &body).await
    };
    let answer = preview("Only the blog, at most 20 pages, two levels deep")
        .await
        .ok();
    let data = json!({
        "url": site.url("/"),
        "includePaths": ["^/?$", "/blogs?(/|$)"],
        "maxDiscoveryDepth": 2,
        "limit": 20,
    });
    assert_eq!(answer, json!({ "success": true, "data": data }));
    let answer = preview("whatever you like").await.ok();
    assert_eq!(answer["data"], json!({ "url": site.url("/") }));
    assert!(answer["warning"].as_str().unwrap().contains("understood"));
    for prompt in ["", &"x".repeat(10_001)] {
        let answer = preview(prompt).await;
        assert_eq!((answer.status, answer.code()), (400, "BAD_REQUEST"));
        assert_eq!(answer.json["details"][0]["path"], json!(["prompt"]));
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
    let crawled = server.crawled(&request).await;
    crawled.assert_visited(&site, &["/", "/blog", "/blog/1"]);
    request["maxDiscoveryDepth"] = 2.into();
    let crawled = server.crawled(&request).await;
    crawled.assert_visited(&site, &["/", "/blog", "/blog/1", "/blog/2", "/blog/3"]);
}

async fn with_model(model: &Model) -> TestServer {
    let url = model.url();
    TestServer::start_with(&[
        ("HARVESTMAN_LLM_BASE_URL", &url),
        ("HARVESTMAN_LLM_MODEL", "small"),
    ])
    .await
}

async fn preview(server: &TestServer, prompt: &str) -> Value {
    let body = json!({ "url": "https://site.test/", "prompt": prompt });
    server.post("/v2/crawl/params-preview", &body).await.ok()
}

fn proposes(question: &Question) -> Said {
    match question.last() {
        // The proposal of a model is validated like a request.
        prompt if prompt.contains("Alles") => Said::Text(
            r#"{"limit": 20, "includePaths": ["^/blog/"], "ignoreRobotsTxt": true, "delay": 900, "webhook": "https://evil.test", "sitemap": "never"}"#,
        ),
        _ => Said::Text("```json\n{\"limit\": 7, \"maxDiscoveryDepth\": 1}\n```"),
    }
}

#[tokio::test]
async fn the_server_validates_the_proposal_of_a_model() {
    let site = Site::new()
        .graph(&[("/", &["/a", "/b"]), ("/a", &["/c"]), ("/b", &[]), ("/c", &[])])
        .serve()
        .await;
    let model = Model::start(proposes).await;
    let server = with_model(&model).await;
    let answer = preview(&server, "Alles vom Blog, höchstens 20 Seiten").await;
    let data = json!({ "url": "https://site.test/", "includePaths": ["^/?$", "^/blog/"], "limit": 20 });
    assert_eq!(answer["data"], data);
    let warning = answer["warning"].as_str().unwrap();
    for refused in ["`delay`", "`ignoreRobotsTxt`", "`sitemap`"] {
        assert!(warning.contains(refused), "{warning}");
    }
    let question = &model.questions()[0];
    assert_eq!(question.json["response_format"]["type"], "json_schema");
    assert!(
        question.last().contains("<request>\nAlles vom Blog"),
        "{}",
        question.last()
    );

    let request = json!({ "url": site.url("/"), "prompt": "the pages next to this one", "limit": 2 });
    let crawled = server.crawled(&request).await;
    crawled.assert_visited(&site, &["/", "/a"]);
}

#[tokio::test]
async fn built_in_rules_are_used_when_the_model_fails() {
    let failures = [
        Said::Text("{\"limit\": "),
        Said::Text("I cannot help with that."),
        Said::Status(429, r#"{"error": {"message": "slow down"}}"#),
        Said::Status(500, "oops"),
        Said::Silence,
        Said::Text("{}"),
        Said::Text(r#"{"limit": "many"}"#),
    ];
    let asked = failures.map(async |said| {
        let model = Model::start(move |_| said.clone()).await;
        let server = with_model(&model).await;
        (
            preview(&server, "at most 9 pages, two levels deep").await,
            model.questions().len(),
        )
    });
    for (number, (answer, asked)) in futures_util::future::join_all(asked)
        .await
        .into_iter()
        .enumerate()
    {
        assert!(asked > 0);
        let data = json!({ "url": "https://site.test/", "limit": 9, "maxDiscoveryDepth": 2 });
        assert_eq!(answer["data"], data, "failure {number}");
        assert!(
            answer["warning"].as_str().unwrap().contains("built-in rules"),
            "{answer}"
        );
    }
}
