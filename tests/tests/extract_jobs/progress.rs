//! What extracts and agents report before and without a result: partial results, warnings, traces.

use super::*;

/// Waits until the status of a run has a partial result.
async fn wait_for_partial(server: &TestServer, path: &str) -> Value {
    server
        .wait_until(path, |status| !status["partial"].is_null())
        .await
}

/// Returns the types of the events of a trace.
fn types(trace: &Value) -> Vec<&str> {
    let events = trace["events"].as_array().unwrap();
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_running_extract_shows_what_it_has_and_can_be_cancelled() {
    let site = shop().await;
    let server = server(None).await;
    site.hold_after(1);
    let request = json!({ "urls": [site.url("/shop/cup"), site.url("/shop/pot")], "schema": list(),
        "agent": { "model": "FIRE-1" } });
    let id = started(&server, "/v2/extract", &request).await;
    let path = format!("/v2/extract/{id}");
    let running = wait_for_partial(&server, &path).await;
    assert_eq!(running["status"], "processing");
    assert_eq!(
        running["partial"]["products"].as_array().unwrap().len(),
        1,
        "{running}"
    );
    assert!(
        warning(&running).contains("`agent.model` had no effect"),
        "{running}"
    );
    assert_eq!(server.send_as_other(Method::DELETE, &path, "").await.status, 404);
    assert_eq!(server.delete(&path).await.ok(), json!({ "success": true }));
    let cancelled = server.get(&path).await.ok();
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(cancelled["partial"], running["partial"]);
    assert_eq!(cancelled["creditsUsed"], 0);
    site.release();
    assert_eq!(server.delete(&path).await.ok(), json!({ "success": true }));
    let done = started(
        &server,
        "/v2/extract",
        &json!({ "urls": [site.url("/shop/cup")], "schema": schema() }),
    )
    .await;
    wait_for_result(&server, "/v2/extract", &done).await;
    assert_eq!(server.delete(&format!("/v2/extract/{done}")).await.status, 409);
}

#[tokio::test]
async fn an_agent_that_loops_ends_at_its_steps_with_a_partial_result() {
    let site = shop().await;
    let cup = site.url("/shop/cup");
    let model = Model::start(move |_| ModelReply::call("scrape", json!({ "url": cup }))).await;
    let server = server(Some(&model)).await;
    let request = json!({ "prompt": "The price", "urls": [site.url("/shop/cup")], "schema": schema(),
        "model": "spark-1-pro", "effort": "low", "exchange": { "enabled": true } });
    let id = started(&server, "/v2/agent", &request).await;
    let status = wait_for_result(&server, "/v2/agent", &id).await;
    assert_fields(
        &status,
        json!({ "status": "failed", "stopReason": "step_limit", "creditsUsed": 0 }),
    );
    assert_contains(&status, "/error", "no result after 8 steps");
    assert_eq!(status["partial"], json!({ "name": "Cup", "price": 9.5 }));
    assert_eq!(status["partialSchemaValid"], true);
    for part in [
        "`model` had no effect",
        "chose `small`",
        "`exchange` had no effect",
        "`partial` contains data found on the pages",
    ] {
        assert!(warning(&status).contains(part), "{part}: {status}");
    }
    // Eight steps, and a last request that offers only `done`.
    let requests = model.requests();
    assert_eq!(requests.len(), 9);
    assert_eq!(requests[8].json["tools"].as_array().unwrap().len(), 1);

    let trace = server
        .get(&format!("/v2/agent/{id}/trace?liveView=true"))
        .await
        .ok();
    let step = ["tool_call.started", "tool_call.finished", "artifact.updated"];
    let steps = std::iter::repeat_n(step, 8).flatten();
    let expected: Vec<&str> = std::iter::once("run.started")
        .chain(steps)
        .chain(["run.finished"])
        .collect();
    assert_eq!(types(&trace), expected);
    assert_eq!(trace["activeBrowserSessions"], json!([]));
    let last = trace["events"].as_array().unwrap().last().unwrap();
    assert_fields(last, json!({ "outcome": "failed", "producerSequence": 26 }));
    assert_eq!(last["error"]["message"], status["error"]);
}

#[tokio::test]
async fn a_result_after_the_last_step_completes_the_agent_with_a_warning() {
    let site = shop().await;
    let cup = site.url("/shop/cup");
    let model = Model::start(
        move |request| match request.last().contains("No steps are left") {
            true => ModelReply::call("done", json!({ "result": { "name": "Cup", "price": 9.5 } })),
            false => ModelReply::call("scrape", json!({ "url": cup })),
        },
    )
    .await;
    let server = server(Some(&model)).await;
    let request = json!({ "prompt": "The price", "urls": [site.url("/shop/cup")], "schema": schema(), "effort": "low",
        "model": "small" });
    let id = started(&server, "/v2/agent", &request).await;
    let status = wait_for_result(&server, "/v2/agent", &id).await;
    assert_eq!(status["data"], json!({ "name": "Cup", "price": 9.5 }), "{status}");
    assert_eq!(
        (warning(&status), status.get("partial")),
        (
            "The agent used all of its 8 steps; the result may be incomplete.",
            None
        )
    );
}

#[tokio::test]
async fn the_trace_of_an_agent_refers_to_what_it_read() {
    let site = shop().await;
    let cup = site.url("/shop/cup");
    let model = Model::start(move |request| match request.number {
        1 => ModelReply::call("scrape", json!({ "url": cup })),
        2 => ModelReply::Silence,
        _ => ModelReply::Status(500, ""),
    })
    .await;
    let server = server(Some(&model)).await;
    let request = json!({ "prompt": "The price", "urls": [site.url("/shop/cup")], "schema": schema() });
    let id = started(&server, "/v2/agent", &request).await;
    let path = format!("/v2/agent/{id}");
    let running = wait_for_partial(&server, &path).await;
    assert_fields(
        &running,
        json!({ "status": "processing", "partial": { "name": "Cup", "price": 9.5 } }),
    );
    let trace = server.get(&format!("{path}/trace")).await.ok();
    assert_eq!(
        types(&trace),
        [
            "run.started", "tool_call.started", "tool_call.finished", "artifact.updated"
        ]
    );
    assert_eq!(
        trace["events"][1]["parameters"],
        json!({ "url": site.url("/shop/cup") })
    );
    let artifact = &trace["events"][3]["artifact"];
    assert_eq!(artifact["path"], site.url("/shop/cup"));
    let snapshot = format!("{path}/snapshots/{}", artifact["snapshotId"].as_str().unwrap());
    let read = server.get(&snapshot).await.ok();
    assert_contains(&read, "/snapshot", "It is a Cup");
    assert_eq!(server.get(&format!("{path}/snapshots/{id}")).await.status, 404);
    assert_eq!(server.get(&format!("{path}/snapshots/x")).await.status, 400);
    for path in [&snapshot, &format!("{path}/trace")] {
        assert_eq!(server.send_as_other(Method::GET, path, "").await.status, 404);
    }
    server.delete(&path).await.ok();
    let cancelled = server.get(&path).await.ok();
    assert_fields(
        &cancelled,
        json!({ "error": "cancelled", "partial": running["partial"] }),
    );
    let trace = server.get(&format!("{path}/trace")).await.ok();
    assert_eq!(trace["events"][4]["outcome"], "cancelled");
}

#[tokio::test]
async fn words_are_a_result_without_a_schema() {
    let site = shop().await;
    let model = Model::start(|request| match request.json.get("tools") {
        Some(_) if request.last().contains("done by tool") => {
            ModelReply::call("done", json!({ "result": "Nine euros fifty." }))
        }
        _ => ModelReply::Text("It costs nine euros fifty."),
    })
    .await;
    let server = server(Some(&model)).await;
    for (prompt, answer) in [
        ("done by tool", "Nine euros fifty."),
        ("in words", "It costs nine euros fifty."),
    ] {
        let request = json!({ "prompt": prompt, "urls": [site.url("/shop/cup")] });
        let id = started(&server, "/v2/agent", &request).await;
        let status = wait_for_result(&server, "/v2/agent", &id).await;
        assert_fields(&status, json!({ "status": "completed", "data": answer }));
    }
    let both = json!({ "prompt": "The price", "urls": [site.url("/shop/cup"), site.url("/shop/pot")] });
    let status = extracted(&server, &both).await;
    let words = "It costs nine euros fifty.";
    assert_eq!(status["data"], json!([words]), "{status}");
    assert!(warning(&status).contains("answered in words"), "{status}");
}
