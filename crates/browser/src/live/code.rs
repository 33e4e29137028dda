//! The workers of one live browser: one per language, running one piece of code at a time.

use std::sync::Arc;

use harvestman_core::api::interact::Language;
use tokio::sync::{Mutex, watch};

use crate::error::BrowserError;
use crate::multiplexer::Multiplexer;
use crate::worker::{Languages, Outcome, Task, Worker};

pub(super) struct Code {
    languages: Arc<Languages>,
    workers: Mutex<Workers>,
    ended: watch::Sender<bool>,
}

#[derive(Default)]
struct Workers {
    node: Option<Worker>,
    python: Option<Worker>,
}

impl Code {
    /// `worker` is a Node.js worker that was started in advance.
    pub(super) fn new(languages: Arc<Languages>, worker: Option<Worker>) -> Code {
        let workers = Workers {
            node: worker,
            python: None,
        };
        Code {
            languages,
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
    ) -> Result<Outcome, BrowserError> {
        let work = async {
            let mut workers = self.workers.lock().await;
            let slot = workers.of(language);
            let known = slot.is_some();
            let mut outcome = self.run_in(slot, browser, language, task).await?;
            // The end of a worker between two calls may be noticed only now.
            if known && !outcome.begun && !outcome.alive && !outcome.execution.killed {
                outcome = self.run_in(slot, browser, language, task).await?;
            }
            Ok(outcome)
        };
        self.until_end(work).await
    }

    async fn run_in(
        &self,
        slot: &mut Option<Worker>,
        browser: &Multiplexer,
        language: Language,
        task: Task<'_>,
    ) -> Result<Outcome, BrowserError> {
        let mut worker = self.free(slot, browser, language).await?;
        let outcome = worker.run(task).await;
        match outcome.alive {
            true => *slot = Some(worker),
            false => worker.end().await,
        }
        Ok(outcome)
    }

    /// Connects the worker that was started in advance.
    pub(super) async fn warm_up(&self, browser: &Multiplexer) -> Result<(), BrowserError> {
        let work = async {
            let mut workers = self.workers.lock().await;
            match &mut workers.node {
                Some(worker) => worker.connect(browser).await,
                None => Ok(()),
            }
        };
        self.until_end(work).await
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
    async fn free(
        &self,
        slot: &mut Option<Worker>,
        browser: &Multiplexer,
        language: Language,
    ) -> Result<Worker, BrowserError> {
        if let Some(mut worker) = slot.take() {
            if worker.is_alive() && worker.connect(browser).await.is_ok() {
                return Ok(worker);
            }
            worker.end().await;
        }
        let mut worker = self.languages.start(language).await?;
        worker.connect(browser).await?;
        Ok(worker)
    }

    async fn until_end<T>(
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
    fn of(&mut self, language: Language) -> &mut Option<Worker> {
        match language {
            Language::Python => &mut self.python,
            Language::Node | Language::Bash => &mut self.node,
        }
    }
}
