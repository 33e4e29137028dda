//! The crawlers to compare: this server, and programs that crawl a site, print what they found and exit.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use harvestman_tests::TestServer;
use serde_json::{Value, json};

use crate::compare::Measurement;
use crate::process;

/// Variables that name the programs of the peers, each with the name of its peer. `cargo xtask bench compare` sets the
/// variables of the peers that it finds.
const PROGRAMS: &[(&str, &str)] = &[
    ("spider", "HARVESTMAN_BENCH_SPIDER"),
    ("crawlee", "HARVESTMAN_BENCH_CRAWLEE"),
    ("scrapy", "HARVESTMAN_BENCH_SCRAPY"),
];
/// Interval at which a program or job is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A crawler.
pub(super) enum Peer {
    /// This server, durable; with the browser if one is found.
    Server { with_browser: bool },
    /// A program that gets URL and page limit as its last arguments.
    Program {
        name: &'static str,
        command: Vec<PathBuf>,
    },
}

impl Peer {
    /// Returns this server and the peers that are installed.
    pub(super) fn installed(with_browser: bool) -> Vec<Peer> {
        let mut peers = vec![Peer::Server { with_browser }];
        for (name, variable) in PROGRAMS {
            match std::env::var(variable) {
                Ok(words) => peers.push(Peer::Program {
                    name,
                    command: words.split(' ').map(PathBuf::from).collect(),
                }),
                Err(_) => println!("{name} is not installed"),
            }
        }
        peers
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Peer::Server { .. } => "harvestman",
            Peer::Program { name, .. } => name,
        }
    }

    /// Crawls the site: Markdown of whole pages and their links.
    ///
    /// # Errors
    /// If the crawl fails or finds no pages.
    pub(super) async fn crawl(&self, url: &str, limit: u64) -> Result<Measurement> {
        let measured = match self {
            Peer::Server { with_browser } => crawl_with_server(url, limit, *with_browser).await?,
            Peer::Program { command, .. } => crawl_with_program(command, url, limit).await?,
        };
        ensure!(measured.pages > 0, "no pages");
        Ok(measured)
    }
}

async fn crawl_with_server(url: &str, limit: u64, with_browser: bool) -> Result<Measurement> {
    let chromium = std::env::var("HARVESTMAN_CHROMIUM").ok().filter(|_| with_browser);
    let server = TestServer::start_with(&[
        ("HARVESTMAN_LOG", "warn"),
        ("HARVESTMAN_CHROMIUM", chromium.as_deref().unwrap_or("off")),
    ])
    .await;
    let pid = server.pid();
    let cpu_before_s = process::cpu_s(pid)?;
    let started = Instant::now();
    let request = json!({
        "url": url,
        "limit": limit,
        "scrapeOptions": {
            "formats": ["markdown", "links"],
            "onlyMainContent": false,
            "maxAge": 0,
            "storeInCache": false,
        },
    });
    let id = server.crawl(&request).await;
    let path = format!("/v2/crawl/{id}?limit=1&skip={limit}");
    let mut last = (0, started);
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let status = server.get(&path).await.ok();
        let pages = status["completed"]
            .as_u64()
            .context("the status has no page count")?;
        if status["status"] != "scraping" {
            ensure!(status["status"] == "completed", "not completed: {status}");
            return Ok(Measurement {
                pages,
                wall_s: started.elapsed().as_secs_f64(),
                cpu_s: process::cpu_s(pid)? - cpu_before_s,
                peak_bytes: process::peak_bytes(pid)?,
            });
        }
        if pages > last.0 {
            last = (pages, Instant::now());
        }
        ensure!(
            last.1.elapsed() < Duration::from_secs(60),
            "no new page: {status}"
        );
    }
}

/// Runs a program to its end. Its processor time includes its start.
async fn crawl_with_program(command: &[PathBuf], url: &str, limit: u64) -> Result<Measurement> {
    let (program, arguments) = command.split_first().context("the command is empty")?;
    let own = std::process::id();
    let cpu_before_s = process::children_cpu_s(own)?;
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .args([url, &limit.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let peak_bytes = follow(&mut child).await?;
    let wall_s = started.elapsed().as_secs_f64();
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{} failed", program.display());
    let last = String::from_utf8_lossy(&output.stdout);
    let report: Value = serde_json::from_str(last.lines().last().unwrap_or_default())
        .context("the last line is not a JSON object")?;
    Ok(Measurement {
        pages: report["pages"].as_u64().context("no `pages` in the report")?,
        wall_s,
        cpu_s: process::children_cpu_s(own)? - cpu_before_s,
        peak_bytes,
    })
}

/// Waits for the end of a program, and returns its peak memory in bytes.
async fn follow(child: &mut Child) -> Result<u64> {
    let mut peak_bytes = 0;
    while child.try_wait()?.is_none() {
        // The memory of a process that has just ended cannot be read.
        peak_bytes = process::peak_bytes(child.id()).unwrap_or(peak_bytes);
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(peak_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_reports_its_pages_in_its_last_line() {
        let crawl = |script: &'static str| async move {
            let command = ["/bin/sh", "-c", script].map(PathBuf::from);
            crawl_with_program(&command, "http://site.test/", 5).await
        };
        let measured = crawl("echo start; echo '{\"pages\":3}'").await.unwrap();
        assert_eq!(measured.pages, 3);
        assert!(crawl("echo nothing").await.is_err());
        assert!(crawl("echo '{\"pages\":3}'; exit 1").await.is_err());
    }
}
