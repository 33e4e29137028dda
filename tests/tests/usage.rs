//! Every credit is in the ledger once: after a random sequence of requests, cancels, restarts and kills, the sums of
//! jobs, reports and ledger are equal. `HARVESTMAN_SEED` sets another seed.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use harvestman_tests::files::{Pdf, line};
use harvestman_tests::{DocsSite, HttpResponse, Page, RunningSite, TestServer, send_request};
use http::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

const SEED: u64 = 20_260_131;
const BUDGET: u64 = 1_000_000;
const PAGES: usize = 16;
const PDF_PAGES: usize = 3;
/// Keys with their names and teams.
const KEYS: [(&str, &str, &str); 4] = [
    ("fc-desk", "desk", "test"),
    ("fc-lap", "laptop", "test"),
    ("fc-ci", "pipeline", "test"),
    ("fc-other", "elsewhere", "other"),
];
/// Number of each kind of step.
const MIX: &[(Step, usize)] = &[
    (Step::Scrape, 24),
    (Step::Crawl, 8),
    (Step::Batch, 8),
    (Step::Append, 5),
    (Step::Map, 6),
    (Step::Parse, 7),
    (Step::Cancel, 8),
    (Step::Kill, 5),
    (Step::Stop, 2),
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Step {
    Scrape,
    Crawl,
    Batch,
    Append,
    Map,
    Parse,
    Cancel,
    Kill,
    Stop,
}

/// Seeded random number generator (splitmix64).
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn shuffled<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
        items
    }
}

/// Started job whose id the client has received.
#[derive(Clone)]
struct Job {
    key: usize,
    path: String,
}

/// A step with its key and response; no response if the server was killed before.
type StepResult = (Step, usize, Option<HttpResponse>);

struct Simulation {
    rng: Rng,
    server: TestServer,
    /// One site per key, so that the target of an activity entry shows its key.
    sites: Vec<RunningSite>,
    paths: Vec<String>,
    pdf: Vec<u8>,
    requests: JoinSet<StepResult>,
    maps: JoinSet<StepResult>,
    jobs: Vec<Job>,
    /// Number of responses by step and status; 0 for no response.
    responses: BTreeMap<String, usize>,
}

impl Simulation {
    async fn new(seed: u64) -> Simulation {
        let docs = DocsSite::new(PAGES);
        let page = |number| line(12, 700, &format!("Page {number} of the paper"));
        let pdf = Pdf {
            pages: (1..=PDF_PAGES).map(page).collect(),
            ..Pdf::default()
        };
        let pdf = pdf.bytes();
        let mut sites = Vec::new();
        for _ in KEYS {
            let paper = Page::new("application/pdf", pdf.clone());
            let site = docs.build().page("/paper.pdf", paper);
            sites.push(site.delay(Duration::from_millis(150)).serve().await);
        }
        let keys = KEYS.map(|(key, name, team)| format!("{key}={team}:{name}"));
        let server = TestServer::start_with(&[
            ("HARVESTMAN_API_KEYS", &keys.join(",")),
            ("HARVESTMAN_CREDIT_BUDGET", &BUDGET.to_string()),
            ("HARVESTMAN_MAX_CONCURRENCY", "3"),
        ])
        .await;
        let mut paths = docs.paths();
        paths.push("/paper.pdf".to_owned());
        Simulation {
            rng: Rng(seed),
            server,
            sites,
            paths,
            pdf,
            requests: JoinSet::new(),
            maps: JoinSet::new(),
            jobs: Vec::new(),
            responses: BTreeMap::new(),
        }
    }

    async fn run_steps(&mut self) {
        let steps = MIX.iter().flat_map(|(step, times)| vec![*step; *times]);
        for step in self.rng.shuffled(steps.collect()) {
            let key = self.rng.below(KEYS.len());
            match step {
                Step::Scrape => {
                    let url = match self.rng.below(8) {
                        // The site does not support TLS: the scrape fails and costs nothing.
                        0 => self.sites[key].url("/").replace("http:", "https:"),
                        1 => self.sites[key].url("/missing"),
                        _ => self.urls(key, 1).remove(0),
                    };
                    let formats = [json!(["markdown"]), json!(["markdown", "summary"])];
                    let formats = &formats[self.rng.below(2)];
                    self.post(
                        step,
                        key,
                        "/v2/scrape",
                        &json!({ "url": url, "formats": formats }),
                    );
                }
                Step::Crawl => {
                    let max_age = [0, 172_800_000][self.rng.below(2)];
                    let request = json!({
                        "url": self.sites[key].url("/"), "limit": 1 + self.rng.below(PAGES), "sitemap": "skip",
                        "scrapeOptions": { "formats": ["markdown"], "maxAge": max_age },
                    });
                    self.post(step, key, "/v2/crawl", &request);
                }
                Step::Batch => {
                    let count = 1 + self.rng.below(PAGES);
                    let request = json!({ "urls": self.urls(key, count) });
                    self.post(step, key, "/v2/batch/scrape", &request);
                }
                Step::Append => {
                    let Some((Job { key, .. }, id)) = self.job("/v2/batch/scrape/") else {
                        continue;
                    };
                    let request = json!({ "urls": self.urls(key, 3), "appendToId": id });
                    self.post(step, key, "/v2/batch/scrape", &request);
                }
                Step::Map => self.post(step, key, "/v2/map", &json!({ "url": self.sites[key].url("/") })),
                Step::Parse => {
                    let name = KEYS[key].1;
                    let head = format!(
                        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}.pdf\"\r\n\r\n"
                    );
                    let body = [head.as_bytes(), &self.pdf, b"\r\n--x--\r\n"].concat();
                    let form = "multipart/form-data; boundary=x";
                    self.send(step, key, Method::POST, "/v2/parse", form, body.into());
                }
                Step::Cancel => {
                    if let Some((job, _)) = self.job("/v2/") {
                        self.send(step, job.key, Method::DELETE, &job.path, "", Bytes::new());
                    }
                }
                Step::Kill => {
                    self.server.kill9();
                    self.server.restart().await;
                }
                Step::Stop => {
                    // A map that a shutdown interrupts may or may not be charged, so wait for all maps first.
                    while let Some(result) = self.maps.join_next().await {
                        self.record(result.unwrap());
                    }
                    assert!(self.server.terminate().await.success());
                    self.server.restart().await;
                }
            }
            let pause = [0, 30, 200][self.rng.below(3)];
            tokio::time::sleep(Duration::from_millis(pause)).await;
            while let Some(result) = self.requests.try_join_next() {
                self.record(result.unwrap());
            }
        }
        for mut requests_left in [std::mem::take(&mut self.requests), std::mem::take(&mut self.maps)] {
            while let Some(result) = requests_left.join_next().await {
                self.record(result.unwrap());
            }
        }
    }

    /// Returns random pages of the site of a key.
    fn urls(&mut self, key: usize, count: usize) -> Vec<String> {
        let paths = self.rng.shuffled(self.paths.clone());
        paths
            .iter()
            .take(count)
            .map(|path| self.sites[key].url(path))
            .collect()
    }

    /// Returns one of the newest jobs whose path starts with `prefix`, with its id.
    fn job(&mut self, prefix: &str) -> Option<(Job, String)> {
        let mut fitting = self.jobs.clone();
        fitting.retain(|job| job.path.starts_with(prefix));
        let newest = self.rng.below(fitting.len().clamp(1, 3));
        let job = fitting.into_iter().rev().nth(newest)?;
        let id = job.path.rsplit('/').next()?.to_owned();
        Some((job, id))
    }

    fn post(&mut self, step: Step, key: usize, path: &str, request: &Value) {
        let body = Bytes::from(request.to_string());
        self.send(step, key, Method::POST, path, "application/json", body);
    }

    fn send(&mut self, step: Step, key: usize, method: Method, path: &str, content_type: &str, body: Bytes) {
        let (address, path) = (self.server.address(), path.to_owned());
        let (bearer, content_type) = (format!("Bearer {}", KEYS[key].0), content_type.to_owned());
        let request = async move {
            let headers = [
                ("authorization", bearer.as_str()),
                ("content-type", content_type.as_str()),
            ];
            (
                step,
                key,
                send_request(address, method, &path, &headers, body).await.ok(),
            )
        };
        if step == Step::Map {
            self.maps.spawn(request);
        } else {
            self.requests.spawn(request);
        }
    }

    fn record(&mut self, (step, key, response): StepResult) {
        let status = response.as_ref().map_or(0, |response| response.status);
        *self.responses.entry(format!("{step:?} {status}")).or_default() += 1;
        let Some(response) = response else { return };
        match step {
            Step::Map => assert_eq!(
                response.status, 200,
                "every map with a response succeeds: {}",
                response.json
            ),
            Step::Crawl | Step::Batch if response.status == 200 => {
                let id = response.json["id"].as_str().unwrap();
                let family = if step == Step::Crawl {
                    "crawl"
                } else {
                    "batch/scrape"
                };
                let path = format!("/v2/{family}/{id}");
                self.jobs.push(Job { key, path });
            }
            _ => {}
        }
    }

    async fn get(&self, key: usize, path: &str) -> HttpResponse {
        let bearer = format!("Bearer {}", KEYS[key].0);
        self.server
            .send(Method::GET, path, &[("authorization", &bearer)], Bytes::new())
            .await
    }

    /// Returns the credits of a team by key, as reported by its jobs and documents.
    async fn credits_of_jobs(&self, key: usize) -> BTreeMap<&'static str, u64> {
        let mut used = BTreeMap::new();
        let mut cursor = String::new();
        loop {
            let page = self
                .get(key, &format!("/v2/team/activity?limit=10{cursor}"))
                .await
                .ok();
            for entry in page["data"].as_array().unwrap() {
                let target = entry["target"].as_str().unwrap();
                let owner = self.owner(target);
                *used.entry(owner).or_default() += self.credits(key, entry).await;
            }
            match page["cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return used,
            }
        }
    }

    /// Returns the name of the key that a target belongs to.
    fn owner(&self, target: &str) -> &'static str {
        let owner = (0..KEYS.len()).find(|key| {
            let site = self.sites[*key].address().to_string();
            target.contains(&format!("//{site}/")) || target == format!("upload:{}.pdf", KEYS[*key].1)
        });
        KEYS[owner.unwrap_or_else(|| panic!("{target} belongs to no key"))].1
    }

    /// Returns the credits of an activity entry, after waiting for the end of its job.
    async fn credits(&self, key: usize, entry: &Value) -> u64 {
        let id = entry["id"].as_str().unwrap();
        match entry["endpoint"].as_str().unwrap() {
            "map" => 1,
            "scrape" | "parse" => {
                let response = self.get(key, &format!("/v2/scrape/{id}")).await;
                match response.status {
                    200 => response.json["data"]["metadata"]["creditsUsed"].as_u64().unwrap(),
                    _ => 0,
                }
            }
            kind => {
                let family = if kind == "crawl" { "crawl" } else { "batch/scrape" };
                let mut path = format!("/v2/{family}/{id}");
                let mut documents = 0;
                // `next` of a running job returns later documents.
                loop {
                    let page = self.get(key, &path).await.ok();
                    for document in page["data"].as_array().unwrap() {
                        documents += document["metadata"]["creditsUsed"].as_u64().unwrap();
                    }
                    let Some(next) = page["next"].as_str() else {
                        assert_eq!(page["creditsUsed"], documents, "{page}");
                        return documents;
                    };
                    path = next[next.find("/v2/").unwrap()..].to_owned();
                }
            }
        }
    }

    /// Returns the credits by key, as in a report; `unit` is credit or token.
    async fn credits_of_report(&self, key: usize, unit: &str, field: &str) -> BTreeMap<String, u64> {
        let path = format!("/v2/team/{unit}-usage/historical");
        let plain = self.get(key, &path).await.ok();
        let by_key = self.get(key, &format!("{path}?byApiKey=true")).await.ok();
        let sum = |report: &Value| -> u64 {
            let periods = report["periods"].as_array().unwrap();
            periods.iter().map(|period| period[field].as_u64().unwrap()).sum()
        };
        assert_eq!(sum(&plain), sum(&by_key));
        let mut used = BTreeMap::new();
        for period in by_key["periods"].as_array().unwrap() {
            let name = period["apiKey"].as_str().unwrap().to_owned();
            *used.entry(name).or_default() += period[field].as_u64().unwrap();
        }
        used
    }

    /// Returns the credits by key of today and yesterday.
    async fn credits_by_day(&self, key: usize) -> BTreeMap<String, u64> {
        let report = self.get(key, "/console/api/usage?days=2").await.ok();
        let mut used = BTreeMap::new();
        for day in report["days"].as_array().unwrap() {
            let credits = day["credits"].as_u64().unwrap();
            assert!(day["date"].as_str().unwrap().len() == 10 && (credits == 0 || day["pages"].is_u64()));
            *used
                .entry(day["apiKey"].as_str().unwrap().to_owned())
                .or_default() += credits;
        }
        used.retain(|_, credits| *credits > 0);
        used
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ledger_jobs_and_reports_agree_after_restarts_and_kills() {
    let seed = std::env::var("HARVESTMAN_SEED").map_or(SEED, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut simulation = Simulation::new(seed).await;
    simulation.run_steps().await;
    println!("responses {:?}", simulation.responses);

    let mut totals = Vec::new();
    for (key, (_, _, team)) in KEYS.iter().enumerate().filter(|(key, _)| [0, 3].contains(key)) {
        let jobs: BTreeMap<String, u64> = simulation
            .credits_of_jobs(key)
            .await
            .into_iter()
            .map(|(name, credits)| (name.to_owned(), credits))
            .filter(|(_, credits)| *credits > 0)
            .collect();
        let report = simulation.credits_of_report(key, "credit", "creditsUsed").await;
        println!("team {team}: jobs {jobs:?}, report {report:?}");
        assert_eq!(jobs, report, "seed {seed}");
        let tokens = simulation.credits_of_report(key, "token", "tokensUsed").await;
        assert!(report.iter().all(|(name, credits)| tokens[name] == 15 * credits));
        assert_eq!(simulation.credits_by_day(key).await, report, "seed {seed}");
        let total: u64 = report.values().sum();
        assert!(total > 0);
        totals.push((*team, total));

        let left = simulation.get(key, "/v2/team/credit-usage").await.ok();
        assert_eq!(left["data"]["planCredits"], BUDGET);
        assert_eq!(left["data"]["remainingCredits"], BUDGET - total, "{left}");

        let queue = simulation.get(key, "/v2/team/queue-status").await.ok();
        assert_eq!(queue["jobsInQueue"], 0, "{queue}");
        assert!(queue["mostRecentSuccess"].is_string(), "{queue}");
    }

    assert!(simulation.server.terminate().await.success());
    for (team, total) in totals {
        let ledger = simulation.server.ledger_total(team).await;
        println!("team {team}: ledger {ledger}, report {total}");
        assert_eq!(ledger, total, "seed {seed}");
    }
}
