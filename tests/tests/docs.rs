//! The documentation of the real server: its pages, and questions with and without a language model.

#![allow(clippy::unwrap_used)]

#[path = "docs/examples.rs"]
mod examples;

use harvestman_tests::server::{KEY, OTHER_KEY};
use harvestman_tests::{Model, ModelReply, ModelRequest, TestServer, assert_contains};
use http::Method;
use serde_json::{Value, json};

async fn ask(server: &TestServer, question: &str) -> Value {
    server
        .post(
            "/v2/support/docs-search",
            &json!({ "question": question, "origin": "test" }),
        )
        .await
        .ok()
}

#[tokio::test]
async fn a_question_is_answered_with_passages_that_link_to_pages_of_the_server() {
    let server = TestServer::start().await;
    let response = ask(&server, "How do I cancel a running crawl?").await;
    assert_contains(&response, "/answer", "DELETE /v2/crawl/{id}");
    let url = response["evidence"][0]["pathOrUrl"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{}", server.address())).unwrap();
    let (path, anchor) = path.split_once('#').unwrap();
    let page = server.send(Method::GET, path, &[], "").await;
    assert_eq!(page.status, 200);
    assert!(
        page.text().contains(&format!("id=\"{anchor}\"")),
        "{}",
        page.text()
    );
    assert_eq!(
        response["usage"],
        json!({ "inputTokens": 0, "outputTokens": 0, "totalTokens": 0 })
    );
    assert!(response["requestId"].is_string() && response["durationMs"].is_u64());

    let same = server
        .post(
            "/v2/support/ask",
            &json!({ "question": "How do I cancel a running crawl?" }),
        )
        .await;
    assert_eq!(same.ok()["answer"], response["answer"]);

    let nothing = ask(&server, "How do I bake bread?").await;
    assert_eq!(nothing["evidence"], json!([]));
    assert_contains(&nothing, "/answer", "does not cover that");

    for body in [
        json!({}),
        json!({ "question": "" }),
        json!({ "question": 1 }),
        json!({ "question": "why?", "jobId": "" }),
    ] {
        server
            .post("/v2/support/docs-search", &body)
            .await
            .is_error(400, "BAD_REQUEST");
    }
    let list = server.send(Method::GET, "/docs", &[], "").await;
    assert!(list.text().contains("href=\"docs/webhooks\""));
    let found = server.send(Method::GET, "/docs?q=robots.txt", &[], "").await;
    assert!(found.text().contains("docs/politeness"));
    assert_eq!(
        server.send(Method::GET, "/docs/nothing", &[], "").await.status,
        404
    );
}

#[tokio::test]
async fn an_answer_about_a_job_starts_with_its_error() {
    let server = TestServer::start().await;
    let private = "http://10.1.2.3/private";
    let path = server.batch(&json!({ "urls": [private] })).await;
    server.wait_for_end(&path).await;
    let id = path.rsplit('/').next().unwrap();
    let ask_about = async |key: &str, id: &str| {
        let body = json!({ "question": "Why did my job fail?", "jobId": id }).to_string();
        let authorization = format!("Bearer {key}");
        let headers = [("authorization", authorization.as_str())];
        let response = server
            .send(Method::POST, "/v2/support/ask", &headers, body)
            .await
            .ok();
        response["answer"].as_str().unwrap().to_owned()
    };
    let answer = ask_about(KEY, id).await;
    let start = format!("The job could not read {private}: ");
    assert!(answer.starts_with(&start), "{answer}");
    for (key, id) in [(KEY, "x"), (OTHER_KEY, id)] {
        let answer = ask_about(key, id).await;
        assert!(answer.starts_with("No error is stored for this job"), "{answer}");
    }
}

fn cite_pages(_: &ModelRequest) -> ModelReply {
    ModelReply::Text(r#"{"answer": "Send `DELETE` [1].", "sources": [1, 99]}"#)
}

#[tokio::test]
async fn a_model_answers_with_cited_passages() {
    let model = Model::start(cite_pages).await;
    let server = TestServer::start_with(&model.settings()).await;
    let response = ask(&server, "How do I cancel a running crawl?").await;
    assert_eq!(response["answer"], "Send `DELETE` [1].");
    assert_eq!(response["evidence"].as_array().unwrap().len(), 1);
    assert!(
        response["usage"]["totalTokens"].as_u64().unwrap() > 0,
        "{response}"
    );
    let questions = model.requests();
    assert!(questions[0].last().contains("<passage number=\"1\""));
    assert_eq!(questions[0].json["response_format"]["type"], "json_schema");

    // Without matching passages the model is not called.
    ask(&server, "How do I bake bread?").await;
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn passages_are_the_answer_when_the_model_fails() {
    for said in [
        ModelReply::Text(r#"{"answer": "Forty-two.", "sources": []}"#),
        ModelReply::Text(r#"{"answer": 42}"#),
        ModelReply::Text("I would rather not."),
        ModelReply::Status(401, r#"{"error": {"message": "wrong key"}}"#),
    ] {
        let model = Model::start(move |_| said.clone()).await;
        let server = TestServer::start_with(&model.settings()).await;
        let response = ask(&server, "How do I cancel a running crawl?").await;
        assert_contains(&response, "/answer", "DELETE /v2/crawl/{id}");
        assert!(!response["evidence"].as_array().unwrap().is_empty());
    }
    let model = Model::start(|_| ModelReply::Text(r#"{"answer": "", "sources": []}"#)).await;
    let response = ask(
        &TestServer::start_with(&model.settings()).await,
        "How do I cancel a running crawl?",
    )
    .await;
    assert_eq!(response["evidence"], json!([]));
}
