//! Follows a job to its end: prints documents as they become ready, each once, or the single result. An interrupt ends
//! the command, not the job, and prints how to resume.

use std::time::Duration;

use harvestman_core::api::command::RequestCommand;
use harvestman_core::ids::JobId;
use serde_json::Value;

use crate::limits;
use crate::request::api_client::{ApiClient, RequestError};
use crate::request::output::{self, Output};
use crate::request::progress::Progress;
use crate::request::{INTERRUPTED, PARTIAL, warn};

/// Returns whether the request starts a job.
pub(crate) fn is_job(command: RequestCommand) -> bool {
    match command {
        RequestCommand::Crawl | RequestCommand::Batch | RequestCommand::Extract | RequestCommand::Agent => {
            true
        }
        RequestCommand::Scrape | RequestCommand::Map | RequestCommand::Search => false,
    }
}

/// Returns whether the job has a document for each page.
pub(crate) fn streams(command: RequestCommand) -> bool {
    matches!(command, RequestCommand::Crawl | RequestCommand::Batch)
}

/// A job being followed.
pub(super) struct Job {
    client: ApiClient,
    command: RequestCommand,
    id: JobId,
    /// Documents printed so far.
    seen: u64,
    failures: u64,
}

impl Job {
    pub(super) fn new(client: ApiClient, command: RequestCommand, id: JobId, seen: u64) -> Job {
        Job {
            client,
            command,
            id,
            seen,
            failures: 0,
        }
    }

    /// Counts and prints the URLs that the server did not accept.
    pub(super) fn report_invalid<'v>(&mut self, urls: impl Iterator<Item = &'v Value>) {
        for url in urls {
            self.failures += 1;
            eprintln!("harvestman: invalid URL: {url}");
        }
    }

    /// Follows the job until it ends or the user interrupts.
    pub(super) async fn follow(mut self, mut out: Output) -> anyhow::Result<u8> {
        eprintln!("harvestman: {} {}", self.command, self.id);
        tokio::select! {
            code = self.run(&mut out) => code,
            _ = tokio::signal::ctrl_c() => {
                out.flush()?;
                self.print_how_to_resume(out.flags());
                Ok(INTERRUPTED)
            }
        }
    }

    fn print_how_to_resume(&self, output: &str) {
        let Job { command, id, .. } = self;
        let server = self.client.flags();
        let skip = match streams(*command) {
            true => format!(" --skip {}", self.seen),
            false => String::new(),
        };
        let state = match self.client.is_in_process() {
            true => "the job is stored",
            false => "the job continues",
        };
        eprintln!("harvestman: interrupted; {state}. To resume:");
        eprintln!("  harvestman {command} {server} --resume {id}{skip}{output}");
        eprintln!("To stop it:\n  harvestman {command} {server} --cancel {id}");
    }

    async fn run(&mut self, out: &mut Output) -> anyhow::Result<u8> {
        let last = match streams(self.command) {
            true => self.documents(out).await?,
            false => self.ended().await?,
        };
        warn(&last);
        let status = last["status"].as_str().unwrap_or_default();
        if let Some(thread) = last["threadId"].as_str().filter(|_| !self.client.is_in_process()) {
            let server = self.client.flags();
            eprintln!("harvestman: to continue: harvestman agent {server} --thread-id {thread} \"...\"");
        }
        if status != "completed" {
            let reason = last["error"]
                .as_str()
                .map_or(String::new(), |error| format!(": {error}"));
            let end = match status {
                "failed" => "failed".to_owned(),
                status => format!("is {status}"),
            };
            eprintln!("harvestman: {} {} {end}{reason}", self.command, self.id);
            // Partial results are better than none.
            if !last["partial"].is_null() {
                eprintln!("harvestman: the result is incomplete");
                out.value(&last, &last["partial"])?;
            }
            return Ok(1);
        }
        if !streams(self.command) {
            output::result(self.command, &Value::Null, &last, out)?;
            return Ok(0);
        }
        let errors = self.get(&format!("{}/errors", self.path())).await?;
        for error in errors["errors"].as_array().into_iter().flatten() {
            self.failures += 1;
            let text = |name: &str| error[name].as_str().unwrap_or_default();
            eprintln!("harvestman: {}: {}", text("url"), text("error"));
        }
        let (seen, failures) = (self.seen, self.failures);
        let pages = output::count(seen, "page");
        eprintln!("harvestman: {status}, {pages}, {failures} failed");
        Ok(match (seen, failures) {
            (0, _) => 1,
            (_, 0) => 0,
            _ => PARTIAL,
        })
    }

    /// Prints documents until the job has ended. Returns the last response.
    async fn documents(&mut self, out: &mut Output) -> anyhow::Result<Value> {
        let mut progress = Progress::start(self.seen);
        loop {
            let path = format!(
                "{}?skip={}&limit={}",
                self.path(),
                self.seen,
                limits::REMOTE_DOCUMENTS
            );
            let mut response = self.get(&path).await?;
            let documents = response["data"].take();
            let documents = documents.as_array().map_or(&[][..], Vec::as_slice);
            progress.above(|| -> anyhow::Result<()> {
                for document in documents {
                    out.document(document)?;
                    self.seen += 1;
                }
                Ok(out.flush()?)
            })?;
            let count = |name: &str| response[name].as_u64().unwrap_or_default();
            progress.show_pages(count("completed"), count("total"));
            if progress.wants_failures() {
                let errors = self.get(&format!("{}/errors", self.path())).await?;
                progress.show_failures(errors["errors"].as_array().map_or(0, Vec::len) as u64);
            }
            let ended = response["status"] != "scraping";
            if ended && response["next"].is_null() {
                return Ok(response);
            }
            if !ended && documents.is_empty() {
                tokio::time::sleep(limits::REMOTE_POLL_INTERVAL).await;
            }
        }
    }

    /// Waits for the end of a job with a single result. Returns the last response.
    async fn ended(&self) -> anyhow::Result<Value> {
        loop {
            let response = self.get(&self.path()).await?;
            if response["status"] != "processing" {
                return Ok(response);
            }
            tokio::time::sleep(limits::REMOTE_POLL_INTERVAL).await;
        }
    }

    fn path(&self) -> String {
        format!("{}/{}", self.command.path(), self.id)
    }

    /// Sends a GET request, with a few retries after transient errors.
    async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let mut attempt = 1;
        loop {
            let error = match self.client.get(path).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let transient = error
                .downcast_ref::<RequestError>()
                .filter(|error| error.is_transient());
            let Some(transient) = transient.filter(|_| attempt < limits::REMOTE_ATTEMPTS) else {
                let Job { command, id, .. } = self;
                return Err(error.context(format!("cannot read {command} {id}")));
            };
            eprintln!("harvestman: {transient}; retrying");
            let requested = transient.retry_after_s().map(Duration::from_secs);
            let pause = requested.unwrap_or(limits::REMOTE_RETRY_DELAY * attempt);
            tokio::time::sleep(pause.min(limits::REMOTE_MAX_RETRY_DELAY)).await;
            attempt += 1;
        }
    }
}
