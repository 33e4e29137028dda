//! Extracts and agents that search for their pages, with a test provider.

use super::*;

/// Starts a provider that returns these URLs for every query.
async fn search_provider(urls: Vec<String>) -> JsonService {
    JsonService::start(move |request| {
        let first = request.query["pageno"] == "1";
        let found = urls.iter().filter(|_| first);
        let results: Vec<Value> = found
            .map(|url| json!({ "url": url, "title": "A <b>find</b>", "content": "What it says." }))
            .collect();
        (200, json!({ "results": results }))
    })
    .await
}

async fn searching(provider: &JsonService, model: Option<&Model>) -> TestServer {
    let url = provider.url();
    let mut settings = vec![("HARVESTMAN_SEARCH_URL", url.as_str())];
    settings.extend(model.into_iter().flat_map(Model::settings));
    TestServer::start_with(&settings).await
}

/// Returns the credits used in the current month.
async fn credits_used(server: &TestServer) -> Value {
    server.get("/v2/team/credit-usage/historical").await.ok()["periods"][0]["creditsUsed"].clone()
}

#[tokio::test]
async fn an_extract_reads_its_own_pages_and_then_search_results() {
    let site = shop().await;
    let (cup, pot) = (site.url("/shop/cup"), site.url("/shop/pot"));
    let provider = search_provider(vec![
        "ftp://a.test/".to_owned(),
        cup.clone(),
        pot.clone(),
        site.url("/imprint"),
    ])
    .await;
    let server = searching(&provider, None).await;
    let prompt = format!("  pots\nand {}", "x".repeat(600));
    let request = json!({ "urls": [cup], "prompt": prompt, "schema": list(), "enableWebSearch": true, "limit": 2,
        "showSources": true });
    let status = extracted(&server, &request).await;
    assert_eq!(status["status"], "completed", "{status}");
    assert_eq!(status["sources"], json!({ "products": [cup, pot] }));
    assert_eq!(site.count("/imprint"), 0, "the page is beyond `limit`");
    let pages = json!([{"name": "Cup", "price": 9.5}, {"name": "Pot", "price": 20}]);
    assert_eq!(status["data"]["products"], pages);
    assert_eq!(status["creditsUsed"], 2 + 2, "{status}");
    assert_eq!(credits_used(&server).await, 4);
    let requests = provider.requests();
    let words = &requests[0].query["q"];
    assert!(
        words.starts_with("pots and xxx") && words.chars().count() == 500,
        "{words}"
    );

    // The limit leaves no room for search results.
    let full =
        json!({ "urls": [cup], "prompt": "pots", "schema": list(), "enableWebSearch": true, "limit": 1 });
    let status = extracted(&server, &full).await;
    assert!(warning(&status).contains("`limit` was reached"), "{status}");
    assert_eq!(
        (&status["creditsUsed"], provider.requests().len()),
        (&json!(1), requests.len())
    );

    // Without a prompt, the title of the schema is the query.
    let mut titled = list();
    titled["title"] = json!("Pots and pans");
    let request = json!({ "urls": [pot], "schema": titled, "enableWebSearch": true });
    assert_eq!(extracted(&server, &request).await["status"], "completed");
    assert_eq!(provider.requests()[requests.len()].query["q"], "Pots and pans");
}

#[tokio::test]
async fn pages_are_found_by_search_if_none_are_given() {
    let site = shop().await;
    let mut server = server(None).await;
    let extract = json!({ "prompt": "price of the cup", "schema": schema() });
    let agent = json!({ "prompt": "price of the cup", "schema": schema() });
    for (path, request) in [("/v2/extract", &extract), ("/v2/agent", &agent)] {
        assert_eq!(server.post(path, request).await.status, 400);
    }
    server.run_crawl(&json!({ "url": site.url("/shop/cup") })).await;
    let before = credits_used(&server).await;
    let status = extracted(&server, &extract).await;
    assert_eq!(status["data"], json!({"name": "Cup", "price": 9.5}), "{status}");
    assert!(
        warning(&status).contains("pages that your team scraped"),
        "{status}"
    );
    assert_eq!(status["creditsUsed"], 2 + 1);
    let id = started(&server, "/v2/agent", &agent).await;
    let status = wait_for_result(&server, "/v2/agent", &id).await;
    assert_fields(
        &status,
        json!({ "data": {"name": "Cup", "price": 9.5}, "creditsUsed": 3 }),
    );
    assert_eq!(credits_used(&server).await, before.as_u64().unwrap() + 6);
    server.kill9();

    let silent = JsonService::start(|_| (403, json!({}))).await;
    let server = searching(&silent, None).await;
    let failed = extracted(&server, &extract).await;
    assert_eq!(failed["status"], "failed");
    assert_contains(&failed, "/error", "returned status 403");
    let mut given = extract.clone();
    given["urls"] = json!([site.url("/shop/cup")]);
    given["enableWebSearch"] = json!(true);
    let status = extracted(&server, &given).await;
    assert_fields(&status, json!({ "status": "completed", "creditsUsed": 1 }));
    assert!(warning(&status).contains("returned status 403"), "{status}");
}

#[tokio::test]
async fn an_agent_searches_and_opens_the_results() {
    let site = shop().await;
    let cup = site.url("/shop/cup");
    let (provider, scraped) = (search_provider(vec![cup.clone()]).await, cup.clone());
    let model = Model::start(move |request| match request.number {
        1 | 3 => ModelReply::call("scrape", json!({ "url": scraped })),
        2 => ModelReply::call("search", json!({ "query": "cup price" })),
        4 => ModelReply::call("search", json!({ "query": "more cups" })),
        _ => ModelReply::call("done", json!({ "result": { "name": "Cup", "price": 9.5 } })),
    })
    .await;
    let server = searching(&provider, Some(&model)).await;
    let receiver = Receiver::start().await;
    let request = json!({ "prompt": "What does it cost?", "schema": schema(), "maxCredits": 8,
        "location": { "country": "DE" }, "webhook": receiver.url() });
    let id = started(&server, "/v2/agent", &request).await;
    let status = wait_for_result(&server, "/v2/agent", &id).await;
    assert_eq!(status["data"], json!({"name": "Cup", "price": 9.5}), "{status}");
    assert_eq!(status["creditsUsed"], 2 + 5);
    assert_eq!(credits_used(&server).await, 7);
    let requests = model.requests();
    assert!(
        requests[1]
            .last()
            .contains("neither given by the user nor returned")
    );
    let shown = requests[2].last();
    assert_eq!(shown, format!("<page>\n{cup} A find\nWhat it says.\n</page>"));
    assert!(requests[3].last().contains("It is a Cup"));
    assert!(requests[4].last().contains("the credits are used up"));
    let requests = provider.requests();
    assert!(requests.iter().all(|request| request.query["q"] == "cup price"));
    assert_eq!(requests[0].query["language"], "de-DE");
    let events = receiver.wait_for("agent.completed").await;
    assert_eq!(
        events[1].json["data"],
        json!([{ "creditsUsed": 2, "action": "search", "input": { "query": "cup price" } }])
    );
}
