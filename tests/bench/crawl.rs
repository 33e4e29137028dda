//! One large crawl of a generated site: measures speed and memory, and checks that every page is stored once, even
//! when the server is killed during the crawl.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use harvestman_tests::TestServer;
use serde_json::{Value, json};

use crate::latency::Latencies;
use crate::process;
use crate::site::GeneratedSite;
use harvestman_tests::arguments::Arguments;

/// Amount by which the limit exceeds the size of the site, so that an extra page would be noticed.
const LIMIT_MARGIN: u64 = 1_000;
/// Pages of the warm-up crawl, after which caches and pools have their final size.
const WARM_UP_PAGES: u64 = 2_000;
/// Interval between two status requests.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Longest random delay between reaching a page count and the kill.
const KILL_WAIT_MS: u64 = 400;
/// Time without a new page after which the benchmark fails.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Total resources that the processes of the measured crawl used.
#[derive(Default)]
struct ResourceUsage {
    cpu_s: f64,
    peak_bytes: u64,
}

impl ResourceUsage {
    fn add(&mut self, pid: u32, cpu_before_s: f64) -> Result<()> {
        self.cpu_s += process::cpu_s(pid)? - cpu_before_s;
        self.peak_bytes = self.peak_bytes.max(process::peak_bytes(pid)?);
        Ok(())
    }
}

/// When the crawl had completed each tenth of its pages, and how many there were.
struct Tenths {
    pages: u64,
    started: Instant,
    passed: Vec<(u64, Instant)>,
}

impl Tenths {
    fn record(&mut self, completed: u64) {
        if completed >= self.pages * (self.passed.len() as u64 + 1) / 10 {
            self.passed.push((completed, Instant::now()));
        }
    }

    /// Returns the pages per second in each tenth.
    fn rates(&self) -> String {
        let mut last = (0, self.started);
        let rates = self.passed.iter().map(|&(completed, at)| {
            let rate = (completed - last.0) as f64 / (at - last.1).as_secs_f64();
            last = (completed, at);
            format!("{rate:.0}")
        });
        rates.collect::<Vec<_>>().join(" ")
    }
}

struct Options {
    pages: u64,
    kills: u64,
    seed: u64,
}

/// What the crawl took.
struct Measurements {
    wall_s: f64,
    tenths: Tenths,
    server: ResourceUsage,
    site_cpu_s: f64,
    resident_before: u64,
    resident_after: u64,
    /// The first page count from the middle of the crawl on, and the resident bytes then.
    halfway: Option<(u64, u64)>,
    database_bytes: u64,
    fetched: u64,
    /// Latencies of requests for only the newest document, in the first and in the last tenth of the crawl.
    early: Latencies,
    late: Latencies,
    restarts: Latencies,
}

/// Runs `crawl --pages N --kills K --concurrency C --seed S`.
pub(crate) async fn run(arguments: &mut Arguments) -> Result<()> {
    let options = Options {
        pages: arguments.number("--pages", 100_000)?,
        kills: arguments.number("--kills", 0)?,
        seed: arguments.number("--seed", 1)?,
    };
    let concurrency = arguments.number("--concurrency", 16)?.to_string();
    arguments.end()?;
    let Options { pages, kills, .. } = options;

    let site = GeneratedSite::serve(Duration::ZERO).await?;
    let mut server = TestServer::start_with(&[
        ("HARVESTMAN_MAX_CONCURRENCY", concurrency.as_str()),
        ("HARVESTMAN_LOG", "warn"),
    ])
    .await;
    println!("{pages} pages, {concurrency} at once, {kills} kills");
    let warm = start(&server, &site, WARM_UP_PAGES).await;
    follow(&server, &warm, |_, _| {}).await?;

    let (id, status, measurements) = measure(&mut server, &site, &options).await?;
    measurements.print(&options);
    check_counts(&status, pages)?;
    check_documents(&server, &site, &id, pages).await?;
    let errors = server.get(&format!("/v2/crawl/{id}/errors")).await.ok();
    ensure!(errors["errors"] == json!([]), "errors: {errors}");
    ensure!(
        server.terminate().await.success(),
        "the server did not stop cleanly"
    );
    check_ledger(&server, WARM_UP_PAGES + pages).await?;
    println!("exact           {pages} pages completed, charged and stored, each once");
    Ok(())
}

/// Starts the crawl and follows it to its end, with kills. Returns its id and its last status.
async fn measure(
    server: &mut TestServer,
    site: &GeneratedSite,
    options: &Options,
) -> Result<(String, Value, Measurements)> {
    let pages = options.pages;
    let own_cpu_s = process::cpu_s(std::process::id())?;
    let mut cpu_before_s = process::cpu_s(server.pid())?;
    process::reset_peak(server.pid())?;
    let resident_before = process::resident_bytes(server.pid())?;
    let served_before = site.served();
    let (mut usage, mut restarts) = (ResourceUsage::default(), Latencies::default());
    let started = Instant::now();
    let id = start(server, site, pages).await;
    for (at, wait) in kill_times(pages, options.kills, options.seed) {
        if follow_until(server, &id, at, |_, _| {}).await?["status"] != "scraping" {
            break;
        }
        tokio::time::sleep(wait).await;
        usage.add(server.pid(), cpu_before_s)?;
        server.kill9();
        let killed = Instant::now();
        server.restart().await;
        restarts.push(killed.elapsed());
        cpu_before_s = 0.0;
    }
    let (mut early, mut late) = (Latencies::default(), Latencies::default());
    let (mut halfway, pid) = (None, server.pid());
    let mut tenths = Tenths {
        pages,
        started,
        passed: Vec::new(),
    };
    let status = follow(server, &id, |completed, time| {
        tenths.record(completed);
        if completed >= pages / 2 && halfway.is_none() {
            halfway = process::resident_bytes(pid).ok().map(|bytes| (completed, bytes));
        }
        if completed < pages / 10 {
            early.push(time);
        } else if completed > pages / 10 * 9 {
            late.push(time);
        }
    })
    .await?;
    let wall_s = started.elapsed().as_secs_f64();
    usage.add(pid, cpu_before_s)?;
    let measurements = Measurements {
        wall_s,
        tenths,
        server: usage,
        site_cpu_s: process::cpu_s(std::process::id())? - own_cpu_s,
        resident_before,
        resident_after: process::resident_bytes(pid)?,
        halfway,
        database_bytes: process::folder_bytes(&server.data_dir().join("data"))?,
        fetched: site.served() - served_before,
        early,
        late,
        restarts,
    };
    Ok((id, status, measurements))
}

impl Measurements {
    fn print(&self, options: &Options) {
        let &Options { pages, kills, .. } = options;
        let print = |name: &str, text: String| println!("{name:15} {text}");
        let per = |time_s: f64| pages as f64 / time_s;
        print(
            "wall",
            format!("{:.1} s, {:.0} pages/s", self.wall_s, per(self.wall_s)),
        );
        if kills == 0 {
            print("by tenths", format!("{} pages/s", self.tenths.rates()));
        }
        let cpu_s = self.server.cpu_s;
        print(
            "server CPU",
            format!("{cpu_s:.1} s, {:.0} pages per CPU second", per(cpu_s)),
        );
        let whose = "this process: site and status requests";
        print("site CPU", format!("{:.1} s ({whose})", self.site_cpu_s));
        print("peak memory", format!("{:.1} MiB", mib(self.server.peak_bytes)));
        let per_url = |after: u64| after.saturating_sub(self.resident_before) as f64 / pages as f64;
        print(
            "memory growth",
            format!(
                "{:.0} bytes per URL at the peak, {:.0} at the end (from {:.1} MiB)",
                per_url(self.server.peak_bytes),
                per_url(self.resident_after),
                mib(self.resident_before)
            ),
        );
        if let Some((completed, bytes)) = self.halfway
            && kills == 0
            && completed < pages
        {
            let growth = self.resident_after as f64 - bytes as f64;
            let per_url = growth / (pages - completed) as f64;
            let from = mib(bytes);
            print(
                "",
                format!("{per_url:.0} bytes per URL after page {completed} (from {from:.1} MiB)"),
            );
        }
        print("database", format!("{:.1} MiB", mib(self.database_bytes)));
        let repeated = self.fetched.saturating_sub(pages);
        print(
            "fetched",
            format!("{} pages, {repeated} of them repeatedly", self.fetched),
        );
        if kills > 0 {
            print("restart", self.restarts.line());
        } else {
            print("status, first tenth", self.early.line());
            print("status, last tenth", self.late.line());
        }
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

async fn start(server: &TestServer, site: &GeneratedSite, pages: u64) -> String {
    let url = site.start(&format!("docs-{pages}"));
    server
        .crawl(&json!({ "url": url, "limit": pages + LIMIT_MARGIN, "scrapeOptions": { "maxAge": 0 } }))
        .await
}

/// Returns when to kill the server: page counts and delays after them, in order.
fn kill_times(pages: u64, kills: u64, seed: u64) -> Vec<(u64, Duration)> {
    let mut state = seed;
    let mut random = |below: u64| {
        // Knuth's MMIX generator; its upper bits are random enough for this purpose.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below.max(1)
    };
    let mut kill_times: Vec<_> = (0..kills)
        .map(|_| (random(pages), Duration::from_millis(random(KILL_WAIT_MS))))
        .collect();
    kill_times.sort_unstable();
    kill_times
}

async fn follow(server: &TestServer, id: &str, seen: impl FnMut(u64, Duration)) -> Result<Value> {
    follow_until(server, id, u64::MAX, seen).await
}

/// Polls the status until the crawl has ended or has `pages` pages, and returns the last status. `seen` gets each
/// page count with the time of the request.
async fn follow_until(
    server: &TestServer,
    id: &str,
    pages: u64,
    mut seen: impl FnMut(u64, Duration),
) -> Result<Value> {
    let (mut most, mut since) = (0, Instant::now());
    loop {
        let started = Instant::now();
        let path = format!("/v2/crawl/{id}?limit=1&skip={}", most.max(1) - 1);
        let status = server.get(&path).await.ok();
        let completed = status["completed"]
            .as_u64()
            .context("the status has no page count")?;
        seen(completed, started.elapsed());
        if status["status"] != "scraping" || completed >= pages {
            return Ok(status);
        }
        if completed > most {
            (most, since) = (completed, Instant::now());
        }
        ensure!(
            since.elapsed() < TIMEOUT,
            "no new page after {completed}: {status}"
        );
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn check_counts(status: &Value, pages: u64) -> Result<()> {
    ensure!(status["status"] == "completed", "not completed: {status}");
    for field in ["completed", "total", "creditsUsed"] {
        ensure!(
            status[field] == pages,
            "{field} is {}, not {pages}",
            status[field]
        );
    }
    Ok(())
}

/// Follows `next` and checks that each page of the site has exactly one document.
async fn check_documents(server: &TestServer, site: &GeneratedSite, id: &str, pages: u64) -> Result<()> {
    let mut missing: BTreeSet<u64> = (0..pages).collect();
    let base = format!("http://{}", server.address());
    let mut path = format!("/v2/crawl/{id}");
    let mut times = Latencies::default();
    loop {
        let started = Instant::now();
        let response = server.get(&path).await.ok();
        times.push(started.elapsed());
        for document in response["data"].as_array().context("`data` is not a list")? {
            let url = document["metadata"]["sourceURL"]
                .as_str()
                .context("a document has no `sourceURL`")?;
            let number = site
                .number(url)
                .with_context(|| format!("{url} is not a page of the site"))?;
            ensure!(missing.remove(&number), "{url} has two documents");
            ensure!(
                document["markdown"]
                    .as_str()
                    .is_some_and(|text| text.contains("Sentence")),
                "{url} is empty"
            );
        }
        let Some(next) = response["next"].as_str() else {
            break;
        };
        path = next
            .strip_prefix(&base)
            .context("`next` is on another server")?
            .to_owned();
    }
    ensure!(
        missing.is_empty(),
        "{} pages are missing: {:?}",
        missing.len(),
        missing.first()
    );
    println!("10 MiB pages    {}", times.line());
    Ok(())
}

/// Checks the credits in the ledger after the server has stopped.
async fn check_ledger(server: &TestServer, credits: u64) -> Result<()> {
    let in_ledger = server.ledger_total("test").await;
    ensure!(
        in_ledger == credits,
        "the ledger has {in_ledger} credits, not {credits}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kill_times_are_sorted_and_reproducible() {
        let times = kill_times(1_000, 5, 7);
        assert_eq!(times.len(), 5);
        assert!(times.is_sorted() && times.iter().all(|(at, _)| *at < 1_000));
        assert_eq!(times, kill_times(1_000, 5, 7));
        assert_ne!(times, kill_times(1_000, 5, 8));
    }
}
