//! A running job as signals: polls its status and errors, keeps one light row a page, drops the page
//! bodies. It never asks for a page twice; after a failure it goes on where it was.

use std::collections::VecDeque;
use std::sync::Arc;

use harvestman_client::ClientError;
use harvestman_core::api::Document;
use harvestman_core::api::job::{JobErrors, JobProgress, StatusQuery};
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::console::Console;
use crate::limits::{
    ERRORS_MS, RETRY_FIRST_MS, RETRY_LONGEST_MS, SPEED_WINDOW_MS, STATUS_BUSY_MS, STATUS_DOCUMENTS,
    STATUS_QUIET_MS,
};

/// What the list shows of a page.
#[derive(Clone, PartialEq, Debug)]
pub struct PageRow {
    /// Offset in the job's documents.
    pub index: u64,
    /// Address after redirects.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// HTTP status of the page.
    pub status: Option<u16>,
    /// What went wrong, if anything did.
    pub error: Option<String>,
    /// Size of its content, bytes.
    pub size: usize,
}

impl PageRow {
    fn new(index: u64, document: &Document) -> Self {
        let metadata = &document.metadata;
        let url = metadata.url.as_ref().or(metadata.source_url.as_ref());
        let texts = [&document.markdown, &document.html, &document.raw_html];
        Self {
            index,
            url: url.cloned().unwrap_or_default(),
            title: metadata.title.clone().unwrap_or_default(),
            status: metadata.status_code,
            error: metadata.error.clone(),
            size: texts.into_iter().flatten().map(String::len).max().unwrap_or(0),
        }
    }

    /// Whether a filter in lower case finds it.
    pub fn matches(&self, filter: &str) -> bool {
        self.url.to_lowercase().contains(filter)
            || self.title.to_lowercase().contains(filter)
            || self
                .status
                .is_some_and(|status| status.to_string().starts_with(filter))
            || self
                .error
                .as_ref()
                .is_some_and(|error| error.to_lowercase().contains(filter))
    }
}

/// The signals of one job.
#[derive(Clone, Copy)]
pub struct JobFeed {
    /// The job.
    pub id: JobId,
    /// Its numbers; none before the first answer.
    pub progress: RwSignal<Option<JobProgress<()>>>,
    /// Its pages so far.
    pub rows: RwSignal<Vec<Arc<PageRow>>>,
    /// Failed and refused pages.
    pub errors: RwSignal<JobErrors>,
    /// Pages per second.
    pub speed: RwSignal<f64>,
    /// The last request got no answer.
    pub lost: RwSignal<bool>,
    /// Why the job cannot be shown at all.
    pub failure: RwSignal<Option<ClientError>>,
    /// Somebody still looks.
    alive: StoredValue<bool>,
}

impl JobFeed {
    /// Begins to follow a job, until the component that asked for it goes away.
    pub fn follow(console: Console, id: JobId) -> Self {
        let feed = Self {
            id,
            progress: RwSignal::new(None),
            rows: RwSignal::new(Vec::new()),
            errors: RwSignal::new(JobErrors::default()),
            speed: RwSignal::new(0.0),
            lost: RwSignal::new(false),
            failure: RwSignal::new(None),
            alive: StoredValue::new(true),
        };
        spawn_local(feed.watch_status(console));
        spawn_local(feed.watch_errors(console));
        feed
    }

    fn is_alive(self) -> bool {
        self.alive.try_get_value().unwrap_or(false)
    }

    /// Whether the job still runs, as far as known.
    pub fn is_running(self) -> bool {
        self.progress.with(|progress| {
            progress
                .as_ref()
                .is_some_and(|progress| !progress.status.is_final())
        })
    }

    /// Seconds left at the present speed.
    pub fn seconds_left(self) -> Option<f64> {
        let speed = self.speed.get();
        let errors = self.errors.with(|errors| errors.errors.len() as u64);
        self.progress.with(|progress| {
            let progress = progress.as_ref()?;
            let open = progress.total.saturating_sub(progress.completed + errors);
            (!progress.status.is_final() && speed > 0.0).then(|| open as f64 / speed)
        })
    }

    async fn watch_status(self, console: Console) {
        let mut retry_ms = RETRY_FIRST_MS;
        let mut samples: VecDeque<(f64, u64)> = VecDeque::new();
        while self.is_alive() {
            let query = StatusQuery {
                skip: self.rows.with_untracked(|rows| rows.len() as u64),
                limit: Some(STATUS_DOCUMENTS),
            };
            let answer = console.client().crawl_status(self.id, query).await;
            if !self.is_alive() {
                return;
            }
            let pause = match answer {
                Ok(progress) => {
                    retry_ms = RETRY_FIRST_MS;
                    let news = progress.data.len();
                    let done = progress.next.is_none();
                    self.take(progress, &mut samples);
                    if done {
                        return;
                    }
                    if news > 0 { STATUS_BUSY_MS } else { STATUS_QUIET_MS }
                }
                Err(error) if error.is_passing() => {
                    console.note(&error);
                    self.lost.set(true);
                    retry_ms = (retry_ms * 2).min(RETRY_LONGEST_MS);
                    retry_ms / 2
                }
                Err(error) => {
                    console.note(&error);
                    self.failure.set(Some(error));
                    return;
                }
            };
            browser::sleep(pause).await;
        }
    }

    fn take(self, progress: JobProgress, samples: &mut VecDeque<(f64, u64)>) {
        self.lost.set(false);
        if !progress.data.is_empty() {
            self.rows.update(|rows| {
                for document in &progress.data {
                    rows.push(Arc::new(PageRow::new(rows.len() as u64, document)));
                }
            });
        }
        let now = browser::now_ms();
        samples.push_back((now, progress.completed));
        while samples.len() > 2 && samples.front().is_some_and(|(at, _)| now - at > SPEED_WINDOW_MS) {
            samples.pop_front();
        }
        let whole = progress.duration.filter(|duration| *duration > 0.0);
        let average = whole.map(|duration| progress.completed as f64 / duration);
        let recent = samples.front().and_then(|(at, completed)| {
            let seconds = (now - at) / 1000.0;
            (seconds >= 1.0).then(|| progress.completed.saturating_sub(*completed) as f64 / seconds)
        });
        let speed = match progress.status.is_final() {
            true => average,
            false => recent.or(average),
        };
        self.speed.set(speed.unwrap_or(0.0));
        self.progress.set(Some(without_documents(progress)));
    }

    async fn watch_errors(self, console: Console) {
        while self.is_alive() {
            // Whether this look is the last one is decided before it: what fails in between is seen.
            let ended = self.progress.with_untracked(|progress| {
                progress
                    .as_ref()
                    .is_some_and(|progress| progress.status.is_final())
            });
            let answer = console.client().crawl_errors(self.id).await;
            if !self.is_alive() {
                return;
            }
            match answer {
                Ok(errors) if self.errors.with_untracked(|known| *known != errors) => self.errors.set(errors),
                Ok(_) => {}
                Err(error) if error.is_passing() => {}
                Err(_) => return,
            }
            if ended {
                return;
            }
            let mut waited = 0;
            while waited < ERRORS_MS && self.is_alive() && !self.ended_untracked() {
                browser::sleep(STATUS_BUSY_MS).await;
                waited += STATUS_BUSY_MS;
            }
        }
    }

    /// Whether the job has ended, or nobody looks any more; without subscribing.
    pub fn ended_untracked(self) -> bool {
        self.progress
            .try_with_untracked(|progress| {
                progress
                    .as_ref()
                    .is_some_and(|progress| progress.status.is_final())
            })
            .unwrap_or(true)
    }

    /// The whole document of a page.
    pub async fn document(self, console: Console, index: u64) -> Result<Option<Document>, ClientError> {
        let query = StatusQuery {
            skip: index,
            limit: Some(1),
        };
        let mut answer = console.client().crawl_status(self.id, query).await?;
        Ok(answer.data.pop())
    }

    /// Cancels the job; the next status shows it.
    pub async fn cancel(self, console: Console) -> Result<(), ClientError> {
        console.client().cancel_crawl(self.id).await.map(drop)
    }
}

fn without_documents(progress: JobProgress) -> JobProgress<()> {
    JobProgress {
        success: progress.success,
        status: progress.status,
        total: progress.total,
        completed: progress.completed,
        credits_used: progress.credits_used,
        expires_at: progress.expires_at,
        created_at: progress.created_at,
        completed_at: progress.completed_at,
        duration: progress.duration,
        next: progress.next,
        warning: progress.warning,
        error: progress.error,
        data: Vec::new(),
    }
}
