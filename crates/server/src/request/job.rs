//! Jobs of a server seen through to their end: documents as they become ready, each once, or the one result. Who is
//! interrupted is told how to go on; the job itself goes on in any case.

use std::process::ExitCode;
use std::time::Duration;

use harvestman_core::api::command::RequestCommand;
use harvestman_core::ids::JobId;
use serde_json::Value;

use crate::limits;
use crate::request::output::{self, Output};
use crate::request::remote::{Remote, RemoteError};
use crate::request::{INTERRUPTED, PARTLY, warn};

/// Whether the request starts a job.
pub(crate) fn is_job(command: RequestCommand) -> bool {
    match command {
        RequestCommand::Crawl | RequestCommand::Batch | RequestCommand::Extract | RequestCommand::Agent => {
            true
        }
        RequestCommand::Scrape | RequestCommand::Map | RequestCommand::Search => false,
    }
}

/// Whether the job has a document for each page.
pub(crate) fn streams(command: RequestCommand) -> bool {
    matches!(command, RequestCommand::Crawl | RequestCommand::Batch)
}

/// Whether the job can be stopped.
pub(crate) fn is_cancelled(command: RequestCommand) -> bool {
    is_job(command) && command != RequestCommand::Extract
}

/// A job that is waited for.
pub(super) struct Job {
    remote: Remote,
    command: RequestCommand,
    id: JobId,
    /// Documents that were handed out.
    seen: u64,
    failures: u64,
}

impl Job {
    pub(super) fn new(remote: Remote, command: RequestCommand, id: JobId, seen: u64) -> Job {
        Job {
            remote,
            command,
            id,
            seen,
            failures: 0,
        }
    }

    /// Counts and tells addresses that were not taken.
    pub(super) fn failed<'v>(&mut self, addresses: impl Iterator<Item = &'v Value>) {
        for address in addresses {
            self.failures += 1;
            eprintln!("harvestman: not an address: {address}");
        }
    }

    /// Waits for the end, or for the user's interrupt.
    pub(super) async fn see_through(mut self, mut out: Output) -> anyhow::Result<ExitCode> {
        eprintln!("harvestman: {} {}", self.command, self.id);
        let code = tokio::select! {
            code = self.run(&mut out) => code?,
            _ = tokio::signal::ctrl_c() => {
                out.flush()?;
                self.tell_how_to_go_on();
                INTERRUPTED
            }
        };
        Ok(ExitCode::from(code))
    }

    fn tell_how_to_go_on(&self) {
        let Job { command, id, .. } = self;
        let server = format!("--api-url {}", self.remote.base());
        let skip = match streams(*command) {
            true => format!(" --skip {}", self.seen),
            false => String::new(),
        };
        eprintln!("harvestman: interrupted; the job goes on. To read on:");
        eprintln!("  harvestman {command} {server} --resume {id}{skip}");
        if is_cancelled(*command) {
            eprintln!("To stop it:\n  harvestman {command} {server} --cancel {id}");
        }
    }

    async fn run(&mut self, out: &mut Output) -> anyhow::Result<u8> {
        let last = match streams(self.command) {
            true => self.documents(out).await?,
            false => self.ended().await?,
        };
        warn(&last);
        let status = last["status"].as_str().unwrap_or_default();
        if status != "completed" {
            let reason = last["error"]
                .as_str()
                .map_or(String::new(), |error| format!(": {error}"));
            eprintln!("harvestman: {} {} is {status}{reason}", self.command, self.id);
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
        eprintln!("harvestman: {status}, {seen} pages, {failures} failed");
        Ok(match (seen, failures) {
            (_, 0) => 0,
            (0, _) => 1,
            _ => PARTLY,
        })
    }

    /// Hands out documents until the last; the last answer.
    async fn documents(&mut self, out: &mut Output) -> anyhow::Result<Value> {
        loop {
            let path = format!(
                "{}?skip={}&limit={}",
                self.path(),
                self.seen,
                limits::REMOTE_DOCUMENTS
            );
            let mut answer = self.get(&path).await?;
            let documents = answer["data"].take();
            let documents = documents.as_array().map_or(&[][..], Vec::as_slice);
            for document in documents {
                out.line(document)?;
                self.seen += 1;
            }
            out.flush()?;
            let ended = answer["status"] != "scraping";
            if ended && answer["next"].is_null() {
                return Ok(answer);
            }
            if !ended && documents.is_empty() {
                tokio::time::sleep(limits::REMOTE_POLL_INTERVAL).await;
            }
        }
    }

    /// Waits for the result of a job that has only one.
    async fn ended(&self) -> anyhow::Result<Value> {
        loop {
            let answer = self.get(&self.path()).await?;
            if answer["status"] != "processing" {
                return Ok(answer);
            }
            tokio::time::sleep(limits::REMOTE_POLL_INTERVAL).await;
        }
    }

    fn path(&self) -> String {
        format!("{}/{}", self.command.path(), self.id)
    }

    /// Asks again where that may help, a few times.
    async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let mut attempt = 1;
        loop {
            let error = match self.remote.get(path).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let transient = error
                .downcast_ref::<RemoteError>()
                .filter(|error| error.is_transient());
            let Some(transient) = transient.filter(|_| attempt < limits::REMOTE_ATTEMPTS) else {
                let Job { command, id, .. } = self;
                return Err(error.context(format!("{command} {id} cannot be read")));
            };
            eprintln!("harvestman: {transient}; trying again");
            let asked = transient.retry_after_s().map(Duration::from_secs);
            let pause = asked.unwrap_or(limits::REMOTE_RETRY_DELAY * attempt);
            tokio::time::sleep(pause.min(limits::REMOTE_MAX_RETRY_DELAY)).await;
            attempt += 1;
        }
    }
}
