//! The state of one job as signals: kind, counters, one row per page without its body, errors. While the job runs,
//! pages arrive over its WebSocket, or by polling the status if the socket fails. Each page is requested once; after
//! an error or a suspended tab, reading continues where it stopped. Start with [`JobFeed::follow`].

use std::collections::VecDeque;
use std::sync::Arc;

use harvestman_client::{ClientError, ConsoleJob, JobProcessing, PageSummary};
use harvestman_core::api::Document;
use harvestman_core::api::job::{JobErrors, JobProgress, StatusPath, StatusQuery};
use harvestman_core::api::live::LiveMessage;
use harvestman_core::ids::JobId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::console::Console;
use crate::job_socket::JobSocket;
use crate::limits::{
    COUNTERS_POLL_MS, ERRORS_POLL_MS, RETRY_FIRST_MS, RETRY_LONGEST_MS, SOCKET_BATCH_MS, SOCKET_FAILURES,
    SPEED_WINDOW_MS, STALE_SOCKET_POLLS, STATUS_BUSY_MS, STATUS_DOCUMENTS, STATUS_IDLE_MS,
};
use crate::sign_in::numbers_only;

/// The facts about a page that the list shows.
#[derive(Clone, PartialEq, Debug)]
pub struct PageRow {
    /// Index in the job's documents.
    pub index: u64,
    /// URL after redirects.
    pub url: String,
    /// Title; may be empty.
    pub title: String,
    /// HTTP status.
    pub status: Option<u16>,
    /// Error message, if the page failed.
    pub error: Option<String>,
    /// Size of the content, bytes.
    pub size: usize,
}

impl PageRow {
    fn new(index: u64, line: PageSummary) -> Self {
        Self {
            index,
            url: line.url,
            title: line.title,
            status: line.status,
            error: line.error,
            size: line.size,
        }
    }

    fn of(index: u64, document: &Document) -> Self {
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

    /// Returns whether the row matches a lower-case filter by URL, title, status or error.
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
    /// Its kind, URL and request; none before the first response.
    pub job: RwSignal<Option<ConsoleJob>>,
    /// Its status and counters; none before the first response.
    pub progress: RwSignal<Option<JobProgress<()>>>,
    /// Its pages, so far.
    pub rows: RwSignal<Vec<Arc<PageRow>>>,
    /// Failed pages, and URLs blocked by robots.txt.
    pub errors: RwSignal<JobErrors>,
    /// Counts of browser use, waits and retries, and the current limiter.
    pub pace: RwSignal<JobProcessing>,
    /// Pages per second.
    pub speed: RwSignal<f64>,
    /// Whether the latest request failed temporarily.
    pub lost: RwSignal<bool>,
    /// Why the job cannot be shown at all.
    pub failure: RwSignal<Option<ClientError>>,
    /// Whether the component that follows the job still exists.
    alive: StoredValue<bool>,
    /// Pages received over the socket that are not in `rows` yet.
    told: StoredValue<Vec<Document>>,
    samples: StoredValue<VecDeque<(f64, u64)>>,
    /// Closes the socket.
    closer: StoredValue<Option<Box<dyn Fn()>>, LocalStorage>,
}

impl JobFeed {
    /// Follows a job until the calling component is removed.
    pub fn follow(console: Console, id: JobId) -> Self {
        let feed = Self {
            id,
            job: RwSignal::new(None),
            progress: RwSignal::new(None),
            rows: RwSignal::new(Vec::new()),
            errors: RwSignal::new(JobErrors::default()),
            pace: RwSignal::new(JobProcessing::default()),
            speed: RwSignal::new(0.0),
            lost: RwSignal::new(false),
            failure: RwSignal::new(None),
            alive: StoredValue::new(true),
            told: StoredValue::new(Vec::new()),
            samples: StoredValue::new(VecDeque::new()),
            closer: StoredValue::new_local(None),
        };
        on_cleanup(move || feed.hang_up());
        spawn_local(feed.begin(console));
        feed
    }

    fn is_alive(self) -> bool {
        self.alive.try_get_value().unwrap_or(false)
    }

    fn hang_up(self) {
        self.closer.try_with_value(|close| {
            if let Some(close) = close {
                close();
            }
        });
    }

    /// Returns the status endpoint; `None` for a kind of job without pages.
    pub fn path(self) -> Option<StatusPath> {
        let kind = self
            .job
            .try_with_untracked(|job| job.as_ref().map(|job| job.kind.clone()))
            .flatten()?;
        path_of(&kind)
    }

    /// Returns whether the job is still running, as far as known.
    pub fn is_running(self) -> bool {
        self.progress.with(|progress| {
            progress
                .as_ref()
                .is_some_and(|progress| !progress.status.is_final())
        })
    }

    /// Returns whether the job has ended or is no longer followed. Does not subscribe to the signal.
    pub fn ended_untracked(self) -> bool {
        self.progress
            .try_with_untracked(|progress| {
                progress
                    .as_ref()
                    .is_some_and(|progress| progress.status.is_final())
            })
            .unwrap_or(true)
    }

    /// Returns the estimated seconds left at the current speed.
    pub fn seconds_left(self) -> Option<f64> {
        let speed = self.speed.get();
        let errors = self.errors.with(|errors| errors.errors.len() as u64);
        self.progress.with(|progress| {
            let progress = progress.as_ref()?;
            let open = progress.total.saturating_sub(progress.completed + errors);
            (!progress.status.is_final() && speed > 0.0).then(|| open as f64 / speed)
        })
    }

    /// Repeats a request with back-off until it succeeds. Returns `None` after a permanent error, or if the job is no
    /// longer followed.
    async fn insist<T>(self, console: Console, ask: impl AsyncFn() -> Result<T, ClientError>) -> Option<T> {
        let mut retry_ms = RETRY_FIRST_MS;
        loop {
            let answer = ask().await;
            if !self.is_alive() {
                return None;
            }
            match answer {
                Ok(answer) => {
                    self.lost.set(false);
                    return Some(answer);
                }
                Err(error) if error.is_transient() => {
                    console.handle_error(&error);
                    self.lost.set(true);
                    console.wait_for_retry(retry_ms).await;
                    retry_ms = (retry_ms * 2).min(RETRY_LONGEST_MS);
                }
                Err(error) => {
                    console.handle_error(&error);
                    self.failure.set(Some(error));
                    return None;
                }
            }
        }
    }

    async fn begin(self, console: Console) {
        let ask = async || console.client().console_job(self.id).await;
        let Some(job) = self.insist(console, ask).await else {
            return;
        };
        let path = path_of(&job.kind);
        self.take_pace(&job);
        self.job.set(Some(job));
        let Some(path) = path else { return };
        spawn_local(self.watch_errors(console, path));
        if self.catch_up(console).await.is_some() {
            self.watch_pages(console, path).await;
        }
    }

    /// Reads the pages that are already there.
    async fn catch_up(self, console: Console) -> Option<()> {
        loop {
            let skip = self.row_count();
            let ask = async || console.client().job_pages(self.id, skip).await;
            let part = self.insist(console, ask).await?;
            self.rows.update(|rows| {
                let first = rows.len() as u64;
                let new = (first..).zip(part.pages);
                rows.extend(new.map(|(index, line)| Arc::new(PageRow::new(index, line))));
            });
            if part.next.is_none() {
                return Some(());
            }
        }
    }

    fn row_count(self) -> u64 {
        self.rows
            .try_with_untracked(|rows| rows.len() as u64)
            .unwrap_or_default()
    }

    async fn watch_pages(self, console: Console, path: StatusPath) {
        let (mut failures, mut back) = (0, console.reconnects.get_untracked());
        loop {
            // After a reconnect, sockets may work again.
            let now = console.reconnects.get_untracked();
            if now != back {
                (failures, back) = (0, now);
            }
            let query = StatusQuery {
                skip: self.row_count(),
                limit: Some(STATUS_DOCUMENTS),
            };
            let ask = async || {
                console
                    .client()
                    .job_status::<Document>(path, self.id, query)
                    .await
            };
            let Some(progress) = self.insist(console, ask).await else {
                return;
            };
            let (news, done) = (progress.data.len(), progress.next.is_none());
            self.add(&progress.data);
            self.take(&progress);
            if done {
                return;
            }
            if news as u64 == STATUS_DOCUMENTS {
                continue;
            }
            if failures < SOCKET_FAILURES && !self.ended_untracked() {
                let before = self.row_count();
                self.listen(console, path).await;
                failures += u32::from(self.row_count() == before && !self.ended_untracked());
            } else {
                console
                    .rest(if news > 0 { STATUS_BUSY_MS } else { STATUS_IDLE_MS })
                    .await;
            }
            if !self.is_alive() {
                return;
            }
        }
    }

    /// Receives pages over the socket until it closes, and polls the counters meanwhile.
    async fn listen(self, console: Console, path: StatusPath) {
        let key = console.key.get_untracked();
        let told = move |message| self.hear(message);
        let Some(socket) = JobSocket::open(&path.url("", self.id), self.row_count(), key.as_deref(), told)
        else {
            return;
        };
        let closer: Box<dyn Fn()> = Box::new(socket.closer());
        self.closer.try_set_value(Some(closer));
        let open = StoredValue::new(true);
        spawn_local(async move {
            let (mut silent, mut told) = (0, self.row_count());
            loop {
                console.wait_for_retry(COUNTERS_POLL_MS).await;
                if !self.is_alive() || !open.try_get_value().unwrap_or(false) {
                    return;
                }
                let answer = console
                    .client()
                    .job_status::<serde::de::IgnoredAny>(path, self.id, numbers_only())
                    .await;
                let before = std::mem::replace(&mut told, self.row_count());
                // A socket that sends nothing while pages complete is stale, for example after the machine slept.
                let is_silent = match answer {
                    Ok(progress) => {
                        self.take(&progress);
                        progress.completed > told && told == before
                    }
                    Err(error) => {
                        console.handle_error(&error);
                        true
                    }
                };
                silent = if is_silent { silent + 1 } else { 0 };
                if silent >= STALE_SOCKET_POLLS || self.ended_untracked() {
                    self.hang_up();
                }
            }
        });
        socket.closed().await;
        open.try_set_value(false);
        self.gather();
    }

    fn hear(self, message: LiveMessage) {
        match message {
            LiveMessage::Catchup { data } => {
                self.add(&data.data);
                self.take(&data);
            }
            LiveMessage::Document { data } => {
                let first = self
                    .told
                    .try_update_value(|told| {
                        told.push(*data);
                        told.len() == 1
                    })
                    .unwrap_or(false);
                // Batch pages that arrive close together into one update.
                if first {
                    spawn_local(async move {
                        browser::sleep(SOCKET_BATCH_MS).await;
                        self.gather();
                    });
                }
            }
            LiveMessage::Done { .. } | LiveMessage::Error { .. } => self.gather(),
        }
    }

    /// Moves the buffered pages to the rows.
    fn gather(self) {
        if let Some(told) = self.told.try_update_value(std::mem::take) {
            self.add(&told);
        }
    }

    fn add(self, documents: &[Document]) {
        if !documents.is_empty() {
            self.rows.try_update(|rows| {
                for document in documents {
                    rows.push(Arc::new(PageRow::of(rows.len() as u64, document)));
                }
            });
        }
    }

    fn take<D>(self, progress: &JobProgress<D>) {
        if !self.is_alive() {
            return;
        }
        let now = browser::now_ms();
        let recent = self.samples.try_update_value(|samples| {
            samples.push_back((now, progress.completed));
            while samples.len() > 2 && samples.front().is_some_and(|(at, _)| now - at > SPEED_WINDOW_MS) {
                samples.pop_front();
            }
            samples.front().and_then(|(at, completed)| {
                let seconds = (now - at) / 1000.0;
                (seconds >= 1.0).then(|| progress.completed.saturating_sub(*completed) as f64 / seconds)
            })
        });
        let whole = progress.duration.filter(|duration| *duration > 0.0);
        let average = whole.map(|duration| progress.completed as f64 / duration);
        let speed = match progress.status.is_final() {
            true => average,
            false => recent.flatten().or(average),
        };
        self.speed.set(speed.unwrap_or(0.0));
        self.progress.set(Some(without_documents(progress)));
    }

    fn take_pace(self, job: &ConsoleJob) {
        let pace = job.pace.clone().unwrap_or_default();
        if self.pace.with_untracked(|known| *known != pace) {
            self.pace.set(pace);
        }
    }

    async fn watch_errors(self, console: Console, path: StatusPath) {
        while self.is_alive() {
            // Read the status before the errors, so that the last poll includes every error of the job.
            let ended = self.ended_untracked();
            let answer = console.client().job_errors(path, self.id).await;
            if !self.is_alive() {
                return;
            }
            match answer {
                Ok(errors) if self.errors.with_untracked(|known| *known != errors) => self.errors.set(errors),
                Ok(_) => {}
                Err(error) if error.is_transient() => {}
                Err(_) => return,
            }
            let job = console.client().console_job(self.id).await;
            if !self.is_alive() {
                return;
            }
            if let Ok(job) = job {
                self.take_pace(&job);
            }
            if ended {
                return;
            }
            let mut waited = 0;
            while waited < ERRORS_POLL_MS && self.is_alive() && !self.ended_untracked() {
                browser::sleep(STATUS_BUSY_MS).await;
                waited += STATUS_BUSY_MS;
            }
        }
    }

    /// Fetches the full document of a page.
    pub async fn document(self, console: Console, index: u64) -> Result<Option<Document>, ClientError> {
        let Some(path) = self.path() else { return Ok(None) };
        let query = StatusQuery {
            skip: index,
            limit: Some(1),
        };
        let mut answer: JobProgress = console.client().job_status(path, self.id, query).await?;
        Ok(answer.data.pop())
    }

    /// Cancels the job; the next status reports it.
    pub async fn cancel(self, console: Console) -> Result<(), ClientError> {
        match self.path() {
            Some(path) => console.client().cancel_job(path, self.id).await.map(drop),
            None => Ok(()),
        }
    }
}

/// Returns the status endpoint of a kind of job; `None` for a kind without pages.
pub fn path_of(kind: &str) -> Option<StatusPath> {
    match kind {
        "crawl" => Some(StatusPath::Crawl),
        "batch_scrape" => Some(StatusPath::BatchScrape),
        _ => None,
    }
}

fn without_documents<D>(progress: &JobProgress<D>) -> JobProgress<()> {
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
        next: progress.next.clone(),
        warning: progress.warning.clone(),
        error: progress.error.clone(),
        data: Vec::new(),
    }
}
