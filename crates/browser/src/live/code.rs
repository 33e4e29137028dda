//! The workers of one live browser: one per language, running one piece of code at a time.

use std::sync::Arc;

use harvestman_core::api::interact::Language;
use tokio::sync::{Mutex, watch};

use crate::error::BrowserError;
use crate::files::BrowserFiles;
use crate::multiplexer::Multiplexer;
use crate::worker::{CodeOutcome, Languages, Task, Worker};

pub(super) struct Code {
    languages: Arc<Languages>,
    files: Arc<BrowserFiles>,
    workers: Mutex<Workers>,
    ended: watch::Sender<bool>,
}

#[derive(Default)]
struct Workers {
    node: Option<Worker>,
    python: Option<Worker>,
}

impl Code {
    /// Creates the workers of a browser; `worker` is a Node.js worker that was started in advance.
    pub(super) fn new(languages: Arc<Languages>, worker: Option<Worker>, files: Arc<BrowserFiles>) -> Code {
        let workers = Workers {
            node: worker,
            python: None,
        };
        Code {
            languages,
            files,
            workers: Mutex::new(workers),
            ended: watch::Sender::new(false),
        }
    }

    /// Runs code with a page.
    pub(super) async fn run(
        &self,
        browser: &Multiplexer,
        language: Language,
        task: Task<'_>,
    ) -> Result<CodeOutcome, BrowserError> {
        let work = async {
            let mut workers = self.workers.lock().await;
            let worker_slot = workers.slot(language);
            let had_worker = worker_slot.is_some();
            let mut outcome = self.run_in(worker_slot, browser, language, task).await?;
            // The end of a worker between two calls may be noticed only now.
            if had_worker && !outcome.begun && !outcome.alive && !outcome.execution.killed {
                outcome = self.run_in(worker_slot, browser, language, task).await?;
            }
            Ok(outcome)
        };
        self.unless_ended(work).await
    }

    async fn run_in(
        &self,
        worker_slot: &mut Option<Worker>,
        browser: &Multiplexer,
        language: Language,
        task: Task<'_>,
    ) -> Result<CodeOutcome, BrowserError> {
        let mut worker = self.connected_worker(worker_slot, browser, language).await?;
        let outcome = worker.run(task).await;
        match outcome.alive {
            true => *worker_slot = Some(worker),
            false => worker.end().await,
        }
        Ok(outcome)
    }

    /// Connects the worker that was started in advance.
    pub(super) async fn warm_up(&self, browser: &Multiplexer) -> Result<(), BrowserError> {
        let work = async {
            let mut workers = self.workers.lock().await;
            match &mut workers.node {
                Some(worker) => worker.connect(browser, &self.files).await,
                None => Ok(()),
            }
        };
        self.unless_ended(work).await
    }

    /// Kills all workers, and with them any running code.
    pub(super) async fn end(&self) {
        self.ended.send_replace(true);
        let Workers { node, python } = std::mem::take(&mut *self.workers.lock().await);
        for worker in [node, python].into_iter().flatten() {
            worker.end().await;
        }
    }

    /// Returns the connected worker of a language; starts a new one if there is none or it cannot be used any
    /// more.
    async fn connected_worker(
        &self,
        worker_slot: &mut Option<Worker>,
        browser: &Multiplexer,
        language: Language,
    ) -> Result<Worker, BrowserError> {
        if let Some(mut worker) = worker_slot.take() {
            if worker.is_alive() && worker.connect(browser, &self.files).await.is_ok() {
                return Ok(worker);
            }
            worker.end().await;
        }
        let mut worker = self.languages.start(language).await?;
        worker.connect(browser, &self.files).await?;
        Ok(worker)
    }

    async fn unless_ended<T>(
        &self,
        work: impl Future<Output = Result<T, BrowserError>>,
    ) -> Result<T, BrowserError> {
        let mut ended = self.ended.subscribe();
        tokio::select! {
            done = work => done,
            _ = ended.wait_for(|ended| *ended) => Err(BrowserError::Gone),
        }
    }
}

impl Workers {
    fn slot(&mut self, language: Language) -> &mut Option<Worker> {
        match language {
            Language::Python => &mut self.python,
            Language::Node | Language::Bash => &mut self.node,
        }
    }
}
