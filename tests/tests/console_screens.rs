//! The screens of the console of the real server in Chromium, from form to result.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::process::Command;

use harvestman_tests::server::KEY;
use harvestman_tests::{DocsSite, Model, ModelReply, Page, Receiver, Site, TestServer, tools};
use serde_json::{Value, json};

/// Links of the page that the layout check chooses in the graph.
const HUB_LINKS: usize = 150;
/// More requests than the activity list shows at once.
const CALLS: usize = 60;
/// URL of a closed port.
const NOWHERE: &str = "http://127.0.0.1:1/";

/// Runs a script of `tests/clients` in the console of a server.
async fn run_script(server: &TestServer, script: &str, arguments: &[&str], done: &str) {
    let mut browser = Command::new(tools::path("HARVESTMAN_TEST_NODE"));
    browser
        .env("NODE_PATH", tools::path("HARVESTMAN_TEST_JAVASCRIPT"))
        .envs([tools::chromium()])
        .arg(tools::script(script))
        .args([format!("http://{}", server.address()), KEY.to_owned()])
        .args(arguments);
    tools::run(browser, done, server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_screen_is_accessible_and_fits_a_phone() {
    let server = TestServer::start().await;
    let site = DocsSite::new(4).build().serve().await;
    let job = server.crawl(&json!({ "url": site.url("/") })).await;
    server.wait(&job).await;
    run_script(&server, "console_routes.mjs", &[&job], "screens").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drafts_focus_and_overflowing_tabs_are_kept() {
    let server = TestServer::start().await;
    let site = DocsSite::new(8).build().serve().await;
    let receiver = Receiver::start().await;
    let job = server
        .crawl(&json!({ "url": site.url("/"), "webhook": receiver.url() }))
        .await;
    server.wait(&job).await;
    run_script(&server, "console_state.mjs", &[&job], "state: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_screen_uses_its_space_at_every_width() {
    let server = TestServer::start().await;
    let text = "<p>A paragraph of a long page.</p>".repeat(200);
    let leaves: Vec<String> = (0..HUB_LINKS).map(|number| format!("/{number}")).collect();
    let links: String = leaves
        .iter()
        .map(|leaf| format!("<a href={leaf}>{leaf}</a> "))
        .collect();
    let html = format!("<title>Long</title><main><h1>Long</h1>{text}<p>{links}</p></main>");
    let site = leaves
        .iter()
        .fold(Site::new(), |site, leaf| site.page(leaf, Page::links(leaf, &[])));
    let site = site.page("/", Page::html(html)).serve().await;
    let url = site.url("/");
    let job = server.crawl(&json!({ "url": url })).await;
    server.wait(&job).await;
    run_script(&server, "console_layout.mjs", &[&job, &url], "layout: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_a_job_are_counted_explained_and_retried() {
    let server = TestServer::start().await;
    let site = Site::new()
        .page("/", Page::links("/", &[]))
        .page("/gone", Page::links("/gone", &[]).status(404))
        .page("/away", Page::links("/away", &[]).status(410))
        .serve()
        .await;
    let urls = [&site.url("/"), &site.url("/gone"), &site.url("/away")];
    let urls = json!([
        urls[0],
        urls[1],
        urls[2],
        format!("{NOWHERE}a"),
        format!("{NOWHERE}b")
    ]);
    let status = server.batch(&json!({ "urls": urls })).await;
    server.wait_for_end(&status).await;
    let (_, job) = status.rsplit_once('/').unwrap();
    run_script(&server, "console_failures.mjs", &[job], "failures: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_of_a_crawl_show_their_pages_and_removed_content_is_marked() {
    let server = TestServer::start().await;
    let page = |title: &str, name: &str, links: &str| {
        let text = format!("All that is known about {name}. ").repeat(20);
        Page::html(format!("{title}<main><h1>{name}</h1><p>{text}</p>{links}</main>"))
    };
    let titled = |name: &str| page(&format!("<title>{name}</title>"), name, "");
    let links = ["/old", "/thin", "/copy-1", "/copy-2", "/untitled"]
        .map(|path| format!("<p><a href={path}>A link to {path}</a></p>"))
        .concat();
    let head = "<title>Start</title><nav><a href=/thin>Menu of the site</a></nav>";
    let site = Site::new()
        .page("/", page(head, "Start", &links))
        .page("/old", Page::redirect(302, "/new"))
        .page("/new", titled("New"))
        .page(
            "/thin",
            Page::html("<title>Thin</title><main><p>Short.</p></main>"),
        )
        .page("/copy-1", titled("Copy"))
        .page("/copy-2", titled("Copy"))
        .page("/untitled", page("", "Untitled", ""))
        .serve()
        .await;
    let job = server.crawl(&json!({ "url": site.url("/") })).await;
    server.wait(&job).await;
    run_script(&server, "console_health.mjs", &[&job], "health: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_says_what_its_request_needs_and_how_long_its_result_is_kept() {
    let server = TestServer::start().await;
    let graph: &[(&str, &[&str])] = &[("/docs/index.html", &["/a", "/b"])];
    let page = |path: &str| Page::links(&format!("Page {path}"), &[]);
    let site = Site::new().graph(graph);
    let site = site.page("/a", page("/a")).page("/b", page("/b")).serve().await;
    let base = site.url("");
    let base = base.trim_end_matches('/');
    run_script(&server, "console_notices.mjs", &[base], "notices: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_palette_finds_old_jobs_keys_settings_and_documentation() {
    let server = TestServer::start().await;
    let graph: &[(&str, &[&str])] = &[("/Harvest", &[]), ("/other", &[])];
    let site = Site::new().graph(graph).serve().await;
    let url = site.url("/Harvest");
    let job = server.crawl(&json!({ "url": url })).await;
    server.wait(&job).await;
    for _ in 0..100 {
        server
            .post("/v2/scrape", &json!({ "url": site.url("/other") }))
            .await
            .ok();
    }
    let key = json!({ "name": "colleague" });
    server.post("/console/api/keys", &key).await.ok();
    let extract = json!({ "urls": [url], "schema": { "properties": { "title": { "type": "string" } } } });
    let extract = server.post("/v2/extract", &extract).await.ok();
    let arguments = [&job, &url, extract["id"].as_str().unwrap()];
    run_script(&server, "console_palette.mjs", &arguments, "palette: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_of_a_crawl_are_compared() {
    let server = TestServer::start().await;
    let birds = |number: &str| {
        Page::html(format!(
            "<title>Birds</title><main><h1>Birds</h1><p>There are {number} birds.</p></main>"
        ))
    };
    let site = Site::new()
        .page("/", Page::links("Start", &["/changed", "/old"]))
        .page("/old", Page::links("Old", &[]))
        .page("/changed", birds("ten"))
        .serve()
        .await;
    let crawl = json!({ "url": site.url("/"), "scrapeOptions": { "maxAge": 0 } });
    let job = server.crawl(&crawl).await;
    server.wait(&job).await;
    site.change("/", Some(Page::links("Start", &["/changed", "/new"])));
    site.change("/new", Some(Page::links("New", &[])));
    site.change("/changed", Some(birds("nine")));
    let job = server.crawl(&crawl).await;
    server.wait(&job).await;
    run_script(&server, "console_compare.mjs", &[&job], "compare: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documentation_is_accessible_and_searchable() {
    let server = TestServer::start().await;
    run_script(&server, "docs_pages.mjs", &[], "documentation: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_team_sees_its_activity_usage_and_keys() {
    let server = TestServer::start().await;
    let site = DocsSite::new(4).build().serve().await;
    let receiver = Receiver::start().await;
    let crawl = server.crawl(&json!({ "url": site.url("/") })).await;
    server.wait(&crawl).await;
    let failed = server.crawl(&json!({ "url": NOWHERE })).await;
    server.wait(&failed).await;
    for _ in 0..CALLS {
        server
            .post("/v2/map", &json!({ "url": site.url("/") }))
            .await
            .ok();
    }
    let (top, receiving) = (site.url("/"), receiver.url());
    let arguments = [&top, &crawl, &receiving].map(String::as_str);
    run_script(&server, "console_team.mjs", &arguments, "team: ok").await;
    // The test event is signed with the secret that the script created.
    let deliveries = receiver.wait_until(|all| !all.is_empty()).await;
    assert!(!deliveries[0].header("x-service-signature").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn monitors_are_created_checked_and_compared() {
    let server = TestServer::start_with(&[("HARVESTMAN_RATE_LIMIT", "100000")]).await;
    let priced = |price: &str| Page::html(format!("<title>Cup</title><h1>Cup</h1><p>Price: {price}</p>"));
    let site = Site::new().page("/cup", priced("$10.00")).serve().await;
    let url = site.url("/cup");
    let monitor = json!({ "name": "Prices", "schedule": { "text": "hourly" }, "goal": "the price falls",
        "targets": [{ "type": "scrape", "urls": [url] }] });
    let monitor = server.post("/v2/monitor", &monitor).await.ok();
    let id = monitor["data"]["id"].as_str().unwrap();
    for price in ["$10.00", "$9.50"] {
        site.change("/cup", Some(priced(price)));
        let check = server
            .post(&format!("/v2/monitor/{id}/run"), &json!({}))
            .await
            .ok();
        let path = format!("/v2/monitor/{id}/checks/{}", check["id"].as_str().unwrap());
        let has_ended = |check: &Value| check["data"]["finishedAt"].is_string();
        server.wait_until(&path, has_ended).await;
    }
    // The list is longer than one response of the API.
    for number in 0..100 {
        let other = json!({ "name": format!("Other {number}"), "schedule": { "text": "daily" },
            "targets": [{ "type": "scrape", "urls": [NOWHERE] }] });
        server.post("/v2/monitor", &other).await.ok();
    }
    run_script(&server, "console_monitors.mjs", &[&url, id], "monitors: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_screen_that_cannot_be_fetched_shows_an_error_and_loads_on_retry() {
    let server = TestServer::start().await;
    run_script(&server, "console_parts.mjs", &[], "parts: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn selected_search_results_are_scraped() {
    let server = TestServer::start().await;
    let site = DocsSite::new(4).build().serve().await;
    // Without a search provider, the search covers the team's own pages.
    let crawl = server.crawl(&json!({ "url": site.url("/") })).await;
    server.wait(&crawl).await;
    run_script(&server, "console_search.mjs", &["page", "2"], "search: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_from_a_file_is_run_again_and_compared() {
    let server = TestServer::start().await;
    let page = |name: &str| {
        Page::html(format!(
            "<title>{name}</title><main><h1>{name}</h1><p>About {name}.</p></main>"
        ))
    };
    let site = Site::new()
        .page("/", page("Start"))
        .page("/page-1", page("One"))
        .page("/page-2", page("Two"))
        .serve()
        .await;
    run_script(&server, "console_batches.mjs", &[&site.url("")], "batches: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extract_shows_its_sources() {
    let server = TestServer::start().await;
    // Without a language model, the structured data of the page is used.
    let data = r#"{"@type":"Product","name":"Cup","offers":{"price":"9.50"}}"#;
    let html = format!(
        "<title>Cup</title><script type=\"application/ld+json\">{data}</script><main><h1>Cup</h1><p>It is a cup.</p></main>"
    );
    let site = Site::new().page("/cup", Page::html(html)).serve().await;
    run_script(
        &server,
        "console_extract.mjs",
        &[&site.url("/cup")],
        "extract: ok",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_converted() {
    let server = TestServer::start().await;
    run_script(&server, "console_parse.mjs", &[], "parse: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_started_continued_and_cancelled() {
    let cup = "<title>Cup</title><main><h1>Cup</h1><p>It is a Cup for 9.50.</p></main>";
    let site = Site::new().page("/cup", Page::html(cup)).serve().await;
    let url = site.url("/cup");
    let page = url.clone();
    let model = Model::start(move |request| {
        let last = request.last();
        let texts = request.texts();
        match texts.iter().filter(|text| text.starts_with("Task: ")).count() {
            _ if last.contains("wait for me") => ModelReply::Silence,
            1 if last.starts_with("Task: ") => ModelReply::call("scrape", json!({ "url": page })),
            1 => ModelReply::call("done", json!({ "result": { "cup": 9.5 } })),
            _ => ModelReply::Text("The pot is more expensive."),
        }
    })
    .await;
    let server = TestServer::start_with(&model.settings()).await;
    run_script(&server, "console_agent.mjs", &[&url], "agent: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documentation_answers_questions_and_explains_failures() {
    let server = TestServer::start().await;
    let failed = server.crawl(&json!({ "url": NOWHERE })).await;
    server.wait(&failed).await;
    run_script(&server, "console_ask.mjs", &[], "ask: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_can_be_filled_by_keyboard_and_as_json() {
    let server = TestServer::start_with(&[tools::chromium()]).await;
    let greet =
        "document.querySelector('#said').textContent = 'Hello ' + document.querySelector('#name').value";
    let html = format!(
        "<title>Greeter</title><main><h1>Greeter</h1><p>A paragraph, and a second paragraph.</p>\
         <p>The third paragraph.</p><input id=name><button id=greet onclick=\"{greet}\">Greet</button>\
         <p id=said>Nobody is greeted.</p></main>"
    );
    let site = Site::new().page("/greeter", Page::html(html)).serve().await;
    run_script(
        &server,
        "console_forms.mjs",
        &[&site.url("/greeter")],
        "forms: ok",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_work_without_requests_to_the_server() {
    let server = TestServer::start().await;
    run_script(&server, "console_tools.mjs", &[], "tools: ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn local_settings_are_stored_and_cleared() {
    let server = TestServer::start().await;
    run_script(&server, "console_settings.mjs", &[], "settings: ok").await;
}
