//! Every credit is in the ledger once: after a random sequence of requests, cancels, restarts and kills, the sums of
//! jobs, reports and ledger are equal. `HARVESTMAN_SEED` sets another seed.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use harvestman_store::{Store, StoreConfig};
use harvestman_tests::files::{Pdf, line};
use harvestman_tests::{Answer, DocsSite, Page, RunningSite, TestServer, ask};
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
const MIX: &[(Deed, usize)] = &[
    (Deed::Scrape, 24),
    (Deed::Crawl, 8),
    (Deed::Batch, 8),
    (Deed::Append, 5),
    (Deed::Map, 6),
    (Deed::Parse, 7),
    (Deed::Cancel, 8),
    (Deed::Kill, 5),
    (Deed::Stop, 2),
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Deed {
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
struct Dice(u64);

impl Dice {
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
type Heard = (Deed, usize, Option<Answer>);

struct World {
    dice: Dice,
    server: TestServer,
    /// One site per key, so that the target of an activity entry shows its key.
    sites: Vec<RunningSite>,
    paths: Vec<String>,
    pdf: Vec<u8>,
    asked: JoinSet<Heard>,
    maps: JoinSet<Heard>,
    jobs: Vec<Job>,
    /// Number of responses by step and status; 0 for no response.
    answers: BTreeMap<String, usize>,
}

impl World {
    async fn new(seed: u64) -> World {
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
        World {
            dice: Dice(seed),
            server,
            sites,
            paths,
            pdf,
            asked: JoinSet::new(),
            maps: JoinSet::new(),
            jobs: Vec::new(),
            answers: BTreeMap::new(),
        }
    }

    async fn play(&mut self) {
        let deeds = MIX.iter().flat_map(|(deed, times)| vec![*deed; *times]);
        for deed in self.dice.shuffled(deeds.collect()) {
            let key = self.dice.below(KEYS.len());
            match deed {
                Deed::Scrape => {
                    let url = match self.dice.below(8) {
                        // The site does not support TLS: the scrape fails and costs nothing.
                        0 => self.sites[key].url("/").replace("http:", "https:"),
                        1 => self.sites[key].url("/missing"),
                        _ => self.urls(key, 1).remove(0),
                    };
                    let formats = [json!(["markdown"]), json!(["markdown", "summary"])];
                    let formats = &formats[self.dice.below(2)];
                    self.post(
                        deed,
                        key,
                        "/v2/scrape",
                        &json!({ "url": url, "formats": formats }),
                    );
                }
                Deed::Crawl => {
                    let max_age = [0, 172_800_000][self.dice.below(2)];
                    let request = json!({
                        "url": self.sites[key].url("/"), "limit": 1 + self.dice.below(PAGES), "sitemap": "skip",
                        "scrapeOptions": { "formats": ["markdown"], "maxAge": max_age },
                    });
                    self.post(deed, key, "/v2/crawl", &request);
                }
                Deed::Batch => {
                    let count = 1 + self.dice.below(PAGES);
                    let request = json!({ "urls": self.urls(key, count) });
                    self.post(deed, key, "/v2/batch/scrape", &request);
                }
                Deed::Append => {
                    let Some((Job { key, .. }, id)) = self.job("/v2/batch/scrape/") else {
                        continue;
                    };
                    let request = json!({ "urls": self.urls(key, 3), "appendToId": id });
                    self.post(deed, key, "/v2/batch/scrape", &request);
                }
                Deed::Map => self.post(deed, key, "/v2/map", &json!({ "url": self.sites[key].url("/") })),
                Deed::Parse => {
                    let name = KEYS[key].1;
                    let head = format!(
                        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}.pdf\"\r\n\r\n"
                    );
                    let body = [head.as_bytes(), &self.pdf, b"\r\n--x--\r\n"].concat();
                    let form = "multipart/form-data; boundary=x";
                    self.ask(deed, key, Method::POST, "/v2/parse", form, body.into());
                }
                Deed::Cancel => {
                    if let Some((job, _)) = self.job("/v2/") {
                        self.ask(deed, job.key, Method::DELETE, &job.path, "", Bytes::new());
                    }
                }
                Deed::Kill => {
                    self.server.kill9();
                    self.server.restart().await;
                }
                Deed::Stop => {
                    // A map that a shutdown interrupts may or may not be charged, so wait for all maps first.
                    while let Some(heard) = self.maps.join_next().await {
                        self.hear(heard.unwrap());
                    }
                    assert!(self.server.terminate().await.success());
                    self.server.restart().await;
                }
            }
            let pause = [0, 30, 200][self.dice.below(3)];
            tokio::time::sleep(Duration::from_millis(pause)).await;
            while let Some(heard) = self.asked.try_join_next() {
                self.hear(heard.unwrap());
            }
        }
        for mut open in [std::mem::take(&mut self.asked), std::mem::take(&mut self.maps)] {
            while let Some(heard) = open.join_next().await {
                self.hear(heard.unwrap());
            }
        }
    }

    /// Returns random pages of the site of a key.
    fn urls(&mut self, key: usize, count: usize) -> Vec<String> {
        let paths = self.dice.shuffled(self.paths.clone());
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
        let newest = self.dice.below(fitting.len().clamp(1, 3));
        let job = fitting.into_iter().rev().nth(newest)?;
        let id = job.path.rsplit('/').next()?.to_owned();
        Some((job, id))
    }

    fn post(&mut self, deed: Deed, key: usize, path: &str, request: &Value) {
        let body = Bytes::from(request.to_string());
        self.ask(deed, key, Method::POST, path, "application/json", body);
    }

    fn ask(&mut self, deed: Deed, key: usize, method: Method, path: &str, content_type: &str, body: Bytes) {
        let (address, path) = (self.server.address(), path.to_owned());
        let (bearer, content_type) = (format!("Bearer {}", KEYS[key].0), content_type.to_owned());
        let asking = async move {
            let headers = [
                ("authorization", bearer.as_str()),
                ("content-type", content_type.as_str()),
            ];
            (deed, key, ask(address, method, &path, &headers, body).await.ok())
        };
        if deed == Deed::Map {
            self.maps.spawn(asking);
        } else {
            self.asked.spawn(asking);
        }
    }

    fn hear(&mut self, (deed, key, answer): Heard) {
        let status = answer.as_ref().map_or(0, |answer| answer.status);
        *self.answers.entry(format!("{deed:?} {status}")).or_default() += 1;
        let Some(answer) = answer else { return };
        match deed {
            Deed::Map => assert_eq!(
                answer.status, 200,
                "every map with a response succeeds: {}",
                answer.json
            ),
            Deed::Crawl | Deed::Batch if answer.status == 200 => {
                let id = answer.json["id"].as_str().unwrap();
                let family = if deed == Deed::Crawl {
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

    async fn get(&self, key: usize, path: &str) -> Answer {
        let bearer = format!("Bearer {}", KEYS[key].0);
        self.server
            .ask(Method::GET, path, &[("authorization", &bearer)], Bytes::new())
            .await
    }

    /// Returns the credits of a team by key, as reported by its jobs and documents.
    async fn of_jobs(&self, key: usize) -> BTreeMap<&'static str, u64> {
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
        let place = (0..KEYS.len()).find(|key| {
            let site = self.sites[*key].address().to_string();
            target.contains(&format!("//{site}/")) || target == format!("upload:{}.pdf", KEYS[*key].1)
        });
        KEYS[place.unwrap_or_else(|| panic!("{target} belongs to no key"))].1
    }

    /// Returns the credits of an activity entry, after waiting for the end of its job.
    async fn credits(&self, key: usize, entry: &Value) -> u64 {
        let id = entry["id"].as_str().unwrap();
        match entry["endpoint"].as_str().unwrap() {
            "map" => 1,
            "scrape" => {
                let answer = self.get(key, &format!("/v2/scrape/{id}")).await;
                match answer.status {
                    200 => answer.json["data"]["metadata"]["creditsUsed"].as_u64().unwrap(),
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
    async fn of_report(&self, key: usize, unit: &str, field: &str) -> BTreeMap<String, u64> {
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
}

#[tokio::test(flavor = "multi_thread")]
async fn ledger_jobs_and_reports_agree_after_restarts_and_kills() {
    let seed = std::env::var("HARVESTMAN_SEED").map_or(SEED, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut world = World::new(seed).await;
    world.play().await;
    println!("answers {:?}", world.answers);

    let mut totals = Vec::new();
    for (key, (_, _, team)) in KEYS.iter().enumerate().filter(|(key, _)| [0, 3].contains(key)) {
        let jobs: BTreeMap<String, u64> = world
            .of_jobs(key)
            .await
            .into_iter()
            .map(|(name, credits)| (name.to_owned(), credits))
            .filter(|(_, credits)| *credits > 0)
            .collect();
        let report = world.of_report(key, "credit", "creditsUsed").await;
        println!("team {team}: jobs {jobs:?}, report {report:?}");
        assert_eq!(jobs, report, "seed {seed}");
        let tokens = world.of_report(key, "token", "tokensUsed").await;
        assert!(report.iter().all(|(name, credits)| tokens[name] == 15 * credits));
        let total: u64 = report.values().sum();
        assert!(total > 0);
        totals.push((*team, total));

        let left = world.get(key, "/v2/team/credit-usage").await.ok();
        assert_eq!(left["data"]["planCredits"], BUDGET);
        assert_eq!(left["data"]["remainingCredits"], BUDGET - total, "{left}");

        let queue = world.get(key, "/v2/team/queue-status").await.ok();
        assert_eq!(queue["jobsInQueue"], 0, "{queue}");
        assert!(queue["mostRecentSuccess"].is_string(), "{queue}");
    }

    assert!(world.server.terminate().await.success());
    let store = Store::open(&StoreConfig::new(world.server.data_dir().join("data")))
        .await
        .unwrap();
    for (team, total) in totals {
        let id = store.ensure_team(team).await.unwrap();
        let ledger = store.ledger_total(id).await.unwrap();
        println!("team {team}: ledger {ledger}, report {total}");
        assert_eq!(ledger, total, "seed {seed}");
    }
    store.close().await.unwrap();
}
