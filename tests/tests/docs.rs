//! The documentation of the real server: its pages, and questions with and without a language model.

#![allow(clippy::unwrap_used)]

use harvestman_tests::{Model, Question, Said, TestServer};
use http::Method;
use serde_json::{Value, json};

async fn with_model(model: &Model) -> TestServer {
    let settings = [
        ("HARVESTMAN_LLM_BASE_URL", model.url()),
        ("HARVESTMAN_LLM_MODEL", "small".to_owned()),
    ];
    let settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    TestServer::start_with(&settings).await
}

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
    let answer = ask(&server, "How do I cancel a running crawl?").await;
    assert!(
        answer["answer"]
            .as_str()
            .unwrap()
            .contains("DELETE /v2/crawl/{id}"),
        "{answer}"
    );
    let place = answer["evidence"][0]["pathOrUrl"].as_str().unwrap();
    let path = place
        .strip_prefix(&format!("http://{}", server.address()))
        .unwrap();
    let (path, anchor) = path.split_once('#').unwrap();
    let page = server.ask(Method::GET, path, &[], "").await;
    assert_eq!(page.status, 200);
    assert!(
        page.text().contains(&format!("id=\"{anchor}\"")),
        "{}",
        page.text()
    );
    assert_eq!(
        answer["usage"],
        json!({ "inputTokens": 0, "outputTokens": 0, "totalTokens": 0 })
    );
    assert!(answer["requestId"].is_string() && answer["durationMs"].is_u64());

    let same = server
        .post(
            "/v2/support/ask",
            &json!({ "question": "How do I cancel a running crawl?" }),
        )
        .await;
    assert_eq!(same.ok()["answer"], answer["answer"]);

    let nothing = ask(&server, "How do I bake bread?").await;
    assert_eq!(nothing["evidence"], json!([]));
    assert!(nothing["answer"].as_str().unwrap().contains("nothing about that"));

    for body in [json!({}), json!({ "question": "" }), json!({ "question": 1 })] {
        let answer = server.post("/v2/support/docs-search", &body).await;
        assert_eq!((answer.status, answer.code()), (400, "BAD_REQUEST"));
    }
    let list = server.ask(Method::GET, "/docs", &[], "").await;
    assert!(list.text().contains("href=\"docs/webhooks\""));
    let asked = server.ask(Method::GET, "/docs?q=robots.txt", &[], "").await;
    assert!(asked.text().contains("docs/politeness"));
    assert_eq!(
        server.ask(Method::GET, "/docs/nothing", &[], "").await.status,
        404
    );
}

fn cites(_: &Question) -> Said {
    Said::Text(r#"{"answer": "Send `DELETE` [1].", "sources": [1, 99]}"#)
}

#[tokio::test]
async fn a_model_answers_with_cited_passages() {
    let model = Model::start(cites).await;
    let server = with_model(&model).await;
    let answer = ask(&server, "How do I cancel a running crawl?").await;
    assert_eq!(answer["answer"], "Send `DELETE` [1].");
    assert_eq!(answer["evidence"].as_array().unwrap().len(), 1);
    assert!(answer["usage"]["totalTokens"].as_u64().unwrap() > 0, "{answer}");
    let questions = model.questions();
    assert!(questions[0].last().contains("<passage number=\"1\""));
    assert_eq!(questions[0].json["response_format"]["type"], "json_schema");

    // Without matching passages the model is not called.
    ask(&server, "How do I bake bread?").await;
    assert_eq!(model.questions().len(), 1);
}

#[tokio::test]
async fn passages_are_the_answer_when_the_model_fails() {
    for said in [
        Said::Text(r#"{"answer": "Forty-two.", "sources": []}"#),
        Said::Text(r#"{"answer": 42}"#),
        Said::Text("I would rather not."),
        Said::Status(401, r#"{"error": {"message": "wrong key"}}"#),
    ] {
        let model = Model::start(move |_| said.clone()).await;
        let server = with_model(&model).await;
        let answer = ask(&server, "How do I cancel a running crawl?").await;
        assert!(
            answer["answer"]
                .as_str()
                .unwrap()
                .contains("DELETE /v2/crawl/{id}"),
            "{answer}"
        );
        assert!(!answer["evidence"].as_array().unwrap().is_empty());
    }
    let model = Model::start(|_| Said::Text(r#"{"answer": "", "sources": []}"#)).await;
    let answer = ask(&with_model(&model).await, "How do I cancel a running crawl?").await;
    assert_eq!(answer["evidence"], json!([]));
}
