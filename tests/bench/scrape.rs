//! Latency of single scrapes, compared with fetching the same page directly.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bytes::Bytes;
use harvestman_tests::{TestServer, send_request};
use http::Method;
use serde_json::json;
use url::Url;

use crate::latency::Latencies;
use crate::site::GeneratedSite;
use harvestman_tests::arguments::Arguments;

/// Scrapes before the measurement.
const WARM_UP: u64 = 20;

/// Runs `scrape --calls N --latency-ms L`.
pub(crate) async fn run(arguments: &mut Arguments) -> Result<()> {
    let calls = arguments.number("--calls", 500)?;
    let latency_ms = arguments.number("--latency-ms", 0)?;
    arguments.end()?;
    ensure!(calls > 0, "--calls must be at least 1");
    let site = GeneratedSite::serve(Duration::from_millis(latency_ms)).await?;
    let server = TestServer::start_with(&[("HARVESTMAN_LOG", "warn")]).await;
    let (mut direct, mut scraped) = (Latencies::default(), Latencies::default());
    for call in 0..WARM_UP + calls {
        let url = format!("{}page-{call}", site.start(&format!("docs-{}", WARM_UP + calls)));
        let (fetching, scraping) = (fetch(&url).await?, scrape(&server, &url).await?);
        if call >= WARM_UP {
            direct.push(fetching);
            scraped.push(scraping);
        }
    }
    println!("direct fetch  {}", direct.line());
    println!("scrape        {}", scraped.line());
    Ok(())
}

async fn fetch(url: &str) -> Result<Duration> {
    let url: Url = url.parse()?;
    let started = Instant::now();
    let page = send_request(
        url.authority().parse()?,
        Method::GET,
        url.path(),
        &[],
        Bytes::new(),
    )
    .await?;
    let time = started.elapsed();
    ensure!(page.status == 200, "{url} has the status {}", page.status);
    Ok(time)
}

async fn scrape(server: &TestServer, url: &str) -> Result<Duration> {
    let request = json!({ "url": url, "maxAge": 0, "storeInCache": false, "onlyMainContent": false });
    let started = Instant::now();
    let response = server.post("/v2/scrape", &request).await;
    let time = started.elapsed();
    ensure!(
        response.status == 200,
        "the scrape of {url} failed: {}",
        response.text()
    );
    Ok(time)
}
