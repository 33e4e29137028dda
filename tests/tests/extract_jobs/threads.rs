//! Agents that continue a conversation.

use super::*;

async fn ended(server: &TestServer, request: &Value) -> (Value, Value) {
    let started = server.post("/v2/agent", request).await.ok();
    let id = started["id"].as_str().unwrap();
    let status = wait_for_result(server, "/v2/agent", id).await;
    (started, status)
}

#[tokio::test]
async fn a_thread_continues_with_what_it_read_and_answered() {
    let site = shop().await;
    let (cup, pot) = (site.url("/shop/cup"), site.url("/shop/pot"));
    let model = Model::start(move |request| {
        let last = request.last();
        match request
            .texts()
            .iter()
            .filter(|text| text.starts_with("Task: "))
            .count()
        {
            _ if last.contains("wait") => ModelReply::Silence,
            1 if last.starts_with("Task: ") => ModelReply::call("scrape", json!({ "url": cup })),
            1 => ModelReply::call("done", json!({ "result": { "cup": 9.5 } })),
            _ if last.starts_with("Task: ") => ModelReply::call("scrape", json!({ "url": pot })),
            _ => ModelReply::Text("The pot is more expensive."),
        }
    })
    .await;
    let mut server = server(Some(&model)).await;
    let (first, status) = ended(
        &server,
        &json!({ "prompt": "The price of the cup", "urls": [site.url("/shop/cup")] }),
    )
    .await;
    assert_fields(&first, json!({ "threadId": first["id"], "threadTurn": 1 }));
    assert_fields(&status, json!({ "threadId": first["id"], "threadTurn": 1 }));

    server.kill9();
    server.restart().await;
    let thread = &first["threadId"];
    let next = json!({ "prompt": "Compare it with the pot", "threadId": thread, "mode": "chat" });
    let (second, status) = ended(&server, &next).await;
    assert_fields(&second, json!({ "threadId": thread, "threadTurn": 2 }));
    assert_eq!(status["message"], "The pot is more expensive.", "{status}");
    let requests = model.requests();
    let texts = requests[2].texts();
    assert_eq!(texts[1], "Task: The price of the cup");
    assert!(
        texts[2].contains(r#"{"cup":9.5}"#) && texts[2].contains("<page>"),
        "{}",
        texts[2]
    );
    // The pot is on the host that the user gave in the first run.
    assert!(
        requests[3].last().contains("It is a Pot"),
        "{}",
        requests[3].last()
    );

    let path = format!("/v2/agent/threads/{}", thread.as_str().unwrap());
    let read = server.get(&path).await.ok();
    let runs = &read["thread"]["runs"];
    assert_fields(&read["thread"], json!({ "id": thread, "status": "idle" }));
    assert_eq!((&runs[0]["id"], &runs[1]["id"]), (&first["id"], &second["id"]));
    assert_eq!((&runs[0]["turn"], &runs[1]["turn"]), (&json!(1), &json!(2)));
    assert_eq!(runs[1]["message"], "The pot is more expensive.");
    assert_fields(&runs[0], json!({ "status": "succeeded", "message": null }));
    assert_eq!(runs[0].get("data"), None);
    let with_data = server.get(&format!("{path}?includeData=true")).await.ok();
    assert_eq!(with_data["thread"]["runs"][0]["data"], json!({ "cup": 9.5 }));
    assert_eq!(server.get(&format!("{path}?includeData=maybe")).await.status, 400);
    let listed = server.get("/v2/agent").await.ok();
    assert_fields(
        &listed["agents"][0],
        json!({ "threadId": thread, "threadTurn": 2 }),
    );
    assert_eq!(listed["agents"][0]["origin"], "api");
    assert_eq!(listed["agents"][0]["options"]["model"], "small");
}

#[tokio::test]
async fn a_thread_is_refused_by_name_when_it_cannot_continue() {
    let site = shop().await;
    let model = Model::start(|_| ModelReply::Silence).await;
    let server = server(Some(&model)).await;
    let request = json!({ "prompt": "wait", "urls": [site.url("/shop/cup")] });
    let first = server.post("/v2/agent", &request).await.ok();
    let thread = &first["threadId"];
    let next = json!({ "prompt": "next", "threadId": thread });
    let busy = server.post("/v2/agent", &next).await;
    assert_eq!(busy.status, 409);
    assert_contains(&busy.json, "/error", "still in progress");
    let path = format!("/v2/agent/threads/{}", thread.as_str().unwrap());
    assert_eq!(server.get(&path).await.ok()["thread"]["status"], "running");
    server
        .delete(&format!("/v2/agent/{}", first["id"].as_str().unwrap()))
        .await
        .ok();
    assert_eq!(server.get(&path).await.ok()["thread"]["status"], "idle");

    // A thread of another team does not exist.
    let unknown = server
        .send_as_other(Method::POST, "/v2/agent", next.to_string())
        .await;
    assert_eq!(unknown.status, 404);
    assert_eq!(server.send_as_other(Method::GET, &path, "").await.status, 404);
    let none = json!({ "prompt": "next", "threadId": "0198c0de-0000-7000-8000-000000000000" });
    assert_eq!(server.post("/v2/agent", &none).await.json, unknown.json);
    assert_eq!(
        server
            .post("/v2/agent", &json!({ "prompt": "x", "threadId": "x" }))
            .await
            .status,
        400
    );
}

#[tokio::test]
async fn a_thread_without_a_model_warns_that_it_has_no_effect() {
    let (site, server) = (shop().await, server(None).await);
    let request = json!({ "prompt": "The price", "urls": [site.url("/shop/cup")], "schema": schema() });
    let (first, _) = ended(&server, &request).await;
    let mut next = request.clone();
    next["threadId"] = first["threadId"].clone();
    next["effort"] = json!("high");
    let (second, status) = ended(&server, &next).await;
    assert_eq!(second["threadTurn"], 2);
    assert_eq!(status["data"], json!({ "name": "Cup", "price": 9.5 }), "{status}");
    for part in [
        "earlier runs of the thread had no effect",
        "`effort` had no effect",
    ] {
        assert!(warning(&status).contains(part), "{part}: {status}");
    }
    let id = second["id"].as_str().unwrap();
    let trace = server.get(&format!("/v2/agent/{id}/trace")).await.ok();
    let events = trace["events"].as_array().unwrap();
    let types: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        [
            "run.started", "tool_call.started", "tool_call.finished", "artifact.updated", "run.finished"
        ]
    );
    let result = events[3]["artifact"]["snapshotId"].as_str().unwrap();
    let snapshot = server
        .get(&format!("/v2/agent/{id}/snapshots/{result}"))
        .await
        .ok();
    assert_eq!(
        snapshot["snapshot"],
        json!({ "name": "Cup", "price": 9.5 }).to_string()
    );
}
