//! Jobs that run while servers fail. The client sends a request to another server if one does not answer, with the same
//! idempotency key.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use harvestman_tests::{AUTHORIZATION, DocsSite, HttpResponse, RunningSite, send_request};
use http::Method;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

/// How long one server may take to answer before the client tries another one.
const ANSWER_WITHIN: Duration = Duration::from_secs(8);
/// How long a request may fail on all servers, and a job may make no progress.
const PATIENCE: Duration = Duration::from_secs(180);
/// Time that each page takes, so that jobs last through several faults.
const PAGE_DELAY: Duration = Duration::from_millis(100);
/// Pages of a job in flight, which are fetched again when its server dies.
const CONCURRENCY: u32 = 2;
/// Nothing listens here.
const REFUSED: &str = "http://127.0.0.1:1/refused";

/// Runs one job after the other until it is stopped.
pub(crate) struct Worker {
    pub(crate) number: u64,
    pub(crate) pages: u64,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) webhook: String,
    pub(crate) stopped: watch::Receiver<bool>,
}

/// A finished job.
pub(crate) struct Job {
    pub(crate) id: String,
    /// Path of its status.
    pub(crate) path: String,
    /// Last status.
    pub(crate) end: Value,
    /// URLs of its pages.
    pub(crate) pages: Vec<String>,
    /// Pages that cannot be fetched.
    pub(crate) failures: u64,
    pub(crate) site: RunningSite,
}

impl Worker {
    pub(crate) async fn run(self) -> Result<Vec<Job>> {
        let mut jobs = Vec::new();
        while !*self.stopped.borrow() {
            // Crawls and batch scrapes in turn.
            let is_crawl = (self.number + jobs.len() as u64).is_multiple_of(2);
            jobs.push(self.job(jobs.len(), is_crawl).await?);
        }
        Ok(jobs)
    }

    async fn job(&self, number: usize, is_crawl: bool) -> Result<Job> {
        let docs = DocsSite::new(usize::try_from(self.pages)?);
        let site = docs.build().delay(PAGE_DELAY).serve().await;
        let pages: Vec<String> = docs.paths().iter().map(|path| site.url(path)).collect();
        let webhook = json!({ "url": self.webhook, "events": ["started", "page", "completed", "failed"] });
        let (endpoint, failures, request) = if is_crawl {
            let request = json!({
                "url": site.url("/"), "maxConcurrency": CONCURRENCY, "webhook": webhook, "scrapeOptions": { "maxAge": 0 },
            });
            ("/v2/crawl", 0, request)
        } else {
            let urls: Vec<&str> = pages.iter().map(String::as_str).chain([REFUSED]).collect();
            let request =
                json!({ "urls": urls, "maxConcurrency": CONCURRENCY, "webhook": webhook, "maxAge": 0 });
            ("/v2/batch/scrape", 1, request)
        };
        let key = format!("worker-{}-job-{number}", self.number);
        let (id, end) = self.run_job(endpoint, &key, &request).await?;
        Ok(Job {
            path: format!("{endpoint}/{id}"),
            id,
            end,
            pages,
            failures,
            site,
        })
    }

    /// Runs a job with an idempotency key. Returns its id and its last status.
    pub(crate) async fn run_job(
        &self,
        endpoint: &str,
        key: &str,
        request: &Value,
    ) -> Result<(String, Value)> {
        let created = self
            .send(Method::POST, endpoint, key, &request.to_string())
            .await?;
        let id = created["id"].as_str().context("an accepted job has an id")?;
        Ok((id.to_owned(), self.end(&format!("{endpoint}/{id}")).await?))
    }

    /// Waits for the end of a job.
    async fn end(&self, path: &str) -> Result<Value> {
        let (mut most, mut since) = (0, Instant::now());
        loop {
            let status = self.send(Method::GET, &format!("{path}?limit=1"), "", "").await?;
            if status["status"] != "scraping" {
                return Ok(status);
            }
            let completed = status["completed"].as_u64().context("a job has a page count")?;
            ensure!(completed >= most, "{path}: {completed} pages after {most}");
            if completed > most {
                (most, since) = (completed, Instant::now());
            }
            ensure!(
                since.elapsed() < PATIENCE,
                "{path}: no new page after {most}: {status}"
            );
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }

    /// Sends a request to one server after the other until one answers it with 200.
    pub(crate) async fn send(&self, method: Method, path: &str, key: &str, body: &str) -> Result<Value> {
        self.send_until(method, path, key, body, &[200]).await
    }

    /// Sends a request to one server after the other until one answers it with one of these statuses.
    pub(crate) async fn send_until(
        &self,
        method: Method,
        path: &str,
        key: &str,
        body: &str,
        statuses: &[u16],
    ) -> Result<Value> {
        let since = Instant::now();
        for address in self.addresses.iter().cycle().skip(usize::try_from(self.number)?) {
            match self.ask(*address, method.clone(), path, key, body).await {
                Ok(response) if statuses.contains(&response.status) => return Ok(response.json),
                Ok(response) if response.status == 503 => {
                    ensure!(
                        response.headers.contains_key("retry-after"),
                        "{path}: 503 without Retry-After: {}",
                        response.text()
                    );
                }
                Ok(response) => bail!("{path}: {}: {}", response.status, response.text()),
                // The server is dead, frozen, or was killed while it answered.
                Err(_) => {}
            }
            ensure!(since.elapsed() < PATIENCE, "{path}: no server answers");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        bail!("there are no servers")
    }

    async fn ask(
        &self,
        address: SocketAddr,
        method: Method,
        path: &str,
        key: &str,
        body: &str,
    ) -> Result<HttpResponse> {
        let mut headers = vec![AUTHORIZATION];
        if method == Method::POST {
            headers.push(("content-type", "application/json"));
        }
        if !key.is_empty() {
            headers.push(("x-idempotency-key", key));
        }
        let body = Bytes::copy_from_slice(body.as_bytes());
        timeout(ANSWER_WITHIN, send_request(address, method, path, &headers, body)).await?
    }
}
