//! Throughput of a job on sites with latency, compared with a client that only fetches, and with the same job without
//! latency, in the same run.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use harvestman_tests::TestServer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use crate::process;
use crate::site::GeneratedSite;
use harvestman_tests::arguments::Arguments;

/// Concurrent requests of the fetching client: the default page limit of a team.
const CONCURRENCY: usize = 64;
/// Hosts of the batch with several hosts.
const HOSTS: u8 = 20;
/// Pages of the warm-up job.
const WARM_UP_PAGES: u64 = 500;

/// Sites on different loopback addresses.
struct Sites(Vec<GeneratedSite>);

impl Sites {
    async fn serve(hosts: u8, latency: Duration) -> Result<Sites> {
        let addresses = (1..=hosts).map(|host| IpAddr::V4(Ipv4Addr::new(127, 0, 0, host)));
        let sites = addresses.map(|address| GeneratedSite::serve_at(address, latency));
        Ok(Sites(try_join_all(sites).await?))
    }

    /// Returns the URLs of `pages` pages, alternating between the hosts.
    fn urls(&self, pages: u64) -> Vec<String> {
        let hosts = self.0.len() as u64;
        let tree = format!("docs-{pages}");
        (0..pages)
            .map(|number| {
                let site = &self.0[usize::try_from(number % hosts).unwrap_or(0)];
                format!("{}page-{number}", site.start(&tree))
            })
            .collect()
    }
}

/// Runs `pace --pages N --latency-ms L`.
pub(crate) async fn run(arguments: &mut Arguments) -> Result<()> {
    let pages = arguments.number("--pages", 4_000)?;
    let latency_ms = arguments.number("--latency-ms", 20)?;
    arguments.end()?;
    let latency = Duration::from_millis(latency_ms);
    let server = TestServer::start_with(&[
        ("HARVESTMAN_ALLOW_PRIVATE_HOSTS", "127.0.0.0/8"),
        ("HARVESTMAN_LOG", "warn"),
    ])
    .await;
    println!("{pages} pages with {latency_ms} ms latency, {CONCURRENCY} at once; pages/s");
    println!("                  fetch only   no latency   latency   relative speed");
    for (name, hosts, crawls) in [
        ("crawl, 1 host", 1, true),
        ("batch, 1 host", 1, false),
        ("batch, 20 hosts", HOSTS, false),
    ] {
        let near = Sites::serve(hosts, Duration::ZERO).await?;
        let far = Sites::serve(hosts, latency).await?;
        job(&server, &near, WARM_UP_PAGES, crawls).await?;
        let fetched = fetch_only(far.urls(pages)).await?;
        let at_hand = job(&server, &near, pages, crawls).await?;
        let cpu_before_s = process::cpu_s(server.pid())?;
        let remote = job(&server, &far, pages, crawls).await?;
        let cpu_s = process::cpu_s(server.pid())? - cpu_before_s;
        println!(
            "{name:<16}  {fetched:>10.0}   {at_hand:>10.0}   {remote:>7.0}   {:>19.2}   ({:.2} CPU s/s)",
            remote / fetched.min(at_hand),
            cpu_s * remote / pages as f64,
        );
    }
    Ok(())
}

/// Runs a job on the sites and returns its pages per second by the server's clock.
async fn job(server: &TestServer, sites: &Sites, pages: u64, crawls: bool) -> Result<f64> {
    let path = if crawls {
        let url = sites.0[0].start(&format!("docs-{pages}"));
        let request =
            json!({ "url": url, "limit": pages, "sitemap": "skip", "scrapeOptions": { "maxAge": 0 } });
        format!("/v2/crawl/{}", server.crawl(&request).await)
    } else {
        server
            .batch(&json!({ "urls": sites.urls(pages), "maxAge": 0 }))
            .await
    };
    let status: Value = server.wait_for_end(&path).await;
    ensure!(
        status["status"] == "completed" && status["completed"] == pages,
        "pages are missing: {status}"
    );
    let seconds = status["duration"]
        .as_f64()
        .context("a finished job has no duration")?;
    Ok(pages as f64 / seconds.max(0.001))
}

/// Returns the requests per second of a client that only reads each page.
async fn fetch_only(urls: Vec<String>) -> Result<f64> {
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let clients = (0..CONCURRENCY).map(|_| async {
        let mut connections = HashMap::new();
        while let Some(url) = urls.get(next.fetch_add(1, Ordering::Relaxed)) {
            let url: Url = url.parse()?;
            let address: SocketAddr = url.authority().parse()?;
            let stream = match connections.remove(&address) {
                Some(stream) => stream,
                None => TcpStream::connect(address).await?,
            };
            connections.insert(address, fetch(stream, &url).await?);
        }
        anyhow::Ok(())
    });
    try_join_all(clients).await?;
    Ok(urls.len() as f64 / started.elapsed().as_secs_f64())
}

/// Sends one request, reads its response by its `Content-Length`, and returns the connection for the next request.
async fn fetch(mut stream: TcpStream, url: &Url) -> Result<TcpStream> {
    let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", url.path(), url.authority());
    stream.set_nodelay(true)?;
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::with_capacity(16 * 1024);
    loop {
        if let Some(end) = response_end(&response)?
            && response.len() >= end
        {
            ensure!(response.starts_with(b"HTTP/1.1 200"), "{url} is not a page");
            return Ok(stream);
        }
        ensure!(
            stream.read_buf(&mut response).await? > 0,
            "the response of {url} ended early"
        );
    }
}

/// Returns the length of the response with its body, once its head is complete.
fn response_end(response: &[u8]) -> Result<Option<usize>> {
    let Some(head) = response.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&response[..head])?;
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    let length: usize = length.context("the response has no Content-Length")?.parse()?;
    Ok(Some(head + 4 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_fetching_client_reads_every_page_of_every_host() {
        let sites = Sites::serve(3, Duration::from_millis(1)).await.unwrap();
        let urls = sites.urls(200);
        assert!(fetch_only(urls.clone()).await.unwrap() > 0.0);
        let served: Vec<u64> = sites.0.iter().map(GeneratedSite::served).collect();
        assert_eq!(served, [67, 67, 66]);
        assert!(fetch_only(vec![format!("{}9999", urls[0])]).await.is_err());
    }
}
