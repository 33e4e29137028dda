//! The shared crawl cases: which pages a crawl visits. Each case is the whole web.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "simulation/model_store.rs"]
#[allow(dead_code)]
mod model_store;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use harvestman_core::api::crawl::CrawlRequest;
use harvestman_core::api::error::ErrorCode;
use harvestman_core::crawl::{
    Crawl, FetchFailure, FetchedPage, Input, Output, PageOutcome, PageTask, Policy, RobotsOutcome,
};
use harvestman_core::ids::ScrapeId;
use harvestman_core::robots::Robots;
use harvestman_core::sitemap::Sitemap;
use harvestman_core::time::Timestamp;
use harvestman_core::url_key::resolve_link;
use model_store::ModelStore;
use serde_json::{Value, json};
use url::Url;

const FETCH_MS: u64 = 20;

#[test]
fn crawls_visit_what_the_shared_cases_say() {
    let file: Value = serde_json::from_str(include_str!("data/cases.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() >= 32);
    let mut wrong = Vec::new();
    for case in cases {
        for concurrency in [1, 8] {
            for problem in compare(case, &crawl(case, concurrency)) {
                wrong.push(format!("{} with {concurrency}: {problem}", case["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn crawl(case: &Value, concurrency: u32) -> ModelStore {
    let request = CrawlRequest::from_json(case["request"].to_string().as_bytes()).unwrap();
    let policy = Policy {
        robots_agent: "harvestman".to_owned(),
        max_concurrency: concurrency,
    };
    let mut crawl = Crawl::new(&request, policy).unwrap();
    let mut store = ModelStore::new(request.limit);
    let (epoch, _) = store.lease();
    let mut now = Timestamp(1_000_000);
    let mut answers: VecDeque<(Timestamp, Input)> = VecDeque::new();
    for _ in 0..10_000 {
        while let Some(output) = crawl.poll(now) {
            let (after, input) = match output {
                Output::FetchRobots { host, .. } => {
                    let robots = match case["robots"][host.as_str()].as_str() {
                        Some(text) => {
                            RobotsOutcome::Found(Robots::parse(text.as_bytes(), crawl.robots_agent()))
                        }
                        None => RobotsOutcome::Missing,
                    };
                    (FETCH_MS, Input::RobotsFetched { host, robots })
                }
                Output::FetchSitemap { url } => {
                    let sitemap = sitemap(case, &url);
                    (FETCH_MS, Input::SitemapFetched { url, sitemap })
                }
                Output::FetchPage(task) => {
                    let outcome = page(case, &task);
                    (
                        FETCH_MS,
                        Input::PageFetched {
                            key: task.key,
                            outcome,
                        },
                    )
                }
                Output::Commit(batch) => (0, Input::Committed(store.commit(epoch, &batch).unwrap())),
                Output::Finish => return store,
            };
            let at = Timestamp(now.0 + after);
            let place = answers.partition_point(|(time, _)| *time <= at);
            answers.insert(place, (at, input));
        }
        match (answers.pop_front(), crawl.wake_at()) {
            (Some((at, input)), wake) if wake.is_none_or(|wake| at <= wake) => {
                now = at;
                crawl.handle(now, input);
            }
            (answer, Some(wake)) => {
                answers.extend(answer);
                now = wake;
            }
            (_, None) => panic!("{}: nothing to do and not ended", case["name"]),
        }
    }
    panic!("{}: does not end", case["name"]);
}

fn sitemap(case: &Value, url: &Url) -> Option<Sitemap> {
    let entry = &case["sitemaps"][url.as_str()];
    let list = |value: &Value, tag: &str| {
        let entry = |item: &Value| format!("<{tag}><loc>{}</loc></{tag}>", item.as_str().unwrap());
        value.as_array().unwrap().iter().map(entry).collect::<String>()
    };
    let body = match entry {
        Value::Array(_) => format!("<urlset>{}</urlset>", list(entry, "url")),
        Value::Object(_) => format!(
            "<sitemapindex>{}</sitemapindex>",
            list(&entry["index"], "sitemap")
        ),
        _ => return None,
    };
    Sitemap::parse(body.as_bytes(), url)
}

/// Follows redirects as the fetcher does.
fn page(case: &Value, task: &PageTask) -> PageOutcome {
    let id = ScrapeId(
        "00000000-0000-4000-8000-000000000000"
            .parse::<ScrapeId>()
            .unwrap()
            .0,
    );
    let mut url = task.url.clone();
    for _ in 0..20 {
        let entry = &case["web"][url.as_str()];
        if let Some(target) = entry["redirect"].as_str() {
            url = resolve_link(&url, target).unwrap();
            continue;
        }
        let (status, hrefs) = match entry {
            Value::Array(list) => (200, list.clone()),
            Value::Object(page) => {
                let hrefs = page.get("links").and_then(Value::as_array).cloned();
                (
                    page.get("status").and_then(Value::as_u64).unwrap_or(200),
                    hrefs.unwrap_or_default(),
                )
            }
            _ => (404, Vec::new()),
        };
        let base = entry["base"].as_str().and_then(|base| resolve_link(&url, base));
        let base = base.as_ref().unwrap_or(&url);
        let links = hrefs
            .iter()
            .filter_map(|href| resolve_link(base, href.as_str().unwrap()))
            .collect();
        return PageOutcome::Page(Box::new(FetchedPage {
            final_url: url,
            status: u16::try_from(status).unwrap(),
            links,
            document: Box::default(),
            credits: 0,
            retry_after_ms: None,
        }));
    }
    PageOutcome::Failed(FetchFailure {
        id,
        code: ErrorCode::SiteError,
        message: "too many redirects".to_owned(),
        passing: false,
    })
}

fn compare(case: &Value, store: &ModelStore) -> Vec<String> {
    let texts = |value: &Value| -> BTreeSet<String> {
        let list = value.as_array().into_iter().flatten();
        list.map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let expect = &case["expect"];
    let mut visited: BTreeMap<String, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for page in &store.pages {
        if visited
            .insert(page.offer.url.to_string(), page.offer.depth)
            .is_some()
        {
            wrong.push(format!("{} twice", page.offer.url));
        }
    }
    let required = texts(&expect["visited"]);
    wrong.extend(
        required
            .iter()
            .filter(|url| !visited.contains_key(*url))
            .map(|url| format!("{url} missing")),
    );
    let mut allowed = required;
    allowed.extend(texts(&expect["optional"]));
    allowed.extend(texts(&expect["within"]));
    for group in expect["one_of"].as_array().into_iter().flatten() {
        let group = texts(group);
        let found = group.iter().filter(|url| visited.contains_key(*url)).count();
        if found != 1 {
            wrong.push(format!("{found} of {group:?}"));
        }
        allowed.extend(group);
    }
    wrong.extend(
        visited
            .keys()
            .filter(|url| !allowed.contains(*url))
            .map(|url| format!("{url} too much")),
    );
    if let Some(count) = expect["count"].as_u64()
        && count != store.completed
    {
        wrong.push(format!("{} pages instead of {count}", store.completed));
    }
    for (url, depth) in expect["depth"].as_object().into_iter().flatten() {
        if visited.get(url).map(|found| json!(found)) != Some(depth.clone()) {
            wrong.push(format!("{url} at depth {:?}", visited.get(url)));
        }
    }
    wrong
}
