//! The state of one job as signals: kind, counters, one row per page without its body, errors. While the job runs,
//! pages arrive over its WebSocket, or by polling the status if the socket fails. Each page is requested once; after
//! an error or a suspended tab, reading continues where it stopped. Start with [`JobFeed::follow`].

use std::collections::VecDeque;
use std::sync::Arc;

use harvestman_client::ClientError;
use harvestman_core::api::Document;
use harvestman_core::api::console::{ConsoleJob, JobProcessing};
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
use crate::page_row::PageRow;
use crate::sign_in::counters_only;

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
    /// URLs that an ended crawl knows and did not fetch.
    pub urls_left: RwSignal<u64>,
    /// Pages per second.
    pub speed: RwSignal<f64>,
    /// Whether the latest request failed temporarily.
    pub retrying: RwSignal<bool>,
    /// Why the job cannot be shown at all.
    pub failure: RwSignal<Option<ClientError>>,
    /// Whether the component that follows the job still exists.
    is_followed: StoredValue<bool>,
    /// Pages received over the socket that are not in `rows` yet.
    buffered: StoredValue<Vec<Document>>,
    speed_samples: StoredValue<VecDeque<(f64, u64)>>,
    /// Closes the socket.
    socket_closer: StoredValue<Option<Box<dyn Fn()>>, LocalStorage>,
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
            urls_left: RwSignal::new(0),
            speed: RwSignal::new(0.0),
            retrying: RwSignal::new(false),
            failure: RwSignal::new(None),
            is_followed: StoredValue::new(true),
            buffered: StoredValue::new(Vec::new()),
            speed_samples: StoredValue::new(VecDeque::new()),
            socket_closer: StoredValue::new_local(None),
        };
        on_cleanup(move || feed.close_socket());
        spawn_local(feed.load(console));
        feed
    }

    fn is_active(self) -> bool {
        self.is_followed.try_get_value().unwrap_or(false)
    }

    fn close_socket(self) {
        self.socket_closer.try_with_value(|close| {
            if let Some(close) = close {
                close();
            }
        });
    }

    /// Returns the status endpoint; `None` for a kind of job without pages.
    pub fn path(self) -> Option<StatusPath> {
        let kind = self
            .job
            .try_with_untracked(|job| job.as_ref().map(|job| job.kind))
            .flatten()?;
        StatusPath::of(kind)
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
    async fn retry_until_done<T>(
        self,
        console: Console,
        request: impl AsyncFn() -> Result<T, ClientError>,
    ) -> Option<T> {
        let mut retry_ms = RETRY_FIRST_MS;
        loop {
            let response = request().await;
            if !self.is_active() {
                return None;
            }
            match response {
                Ok(response) => {
                    self.retrying.set(false);
                    return Some(response);
                }
                Err(error) if error.is_transient() => {
                    console.handle_error(&error);
                    self.retrying.set(true);
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

    async fn load(self, console: Console) {
        let request = async || console.client().console_job(self.id).await;
        let Some(job) = self.retry_until_done(console, request).await else {
            return;
        };
        let path = StatusPath::of(job.kind);
        self.apply_counts(&job);
        self.job.set(Some(job));
        let Some(path) = path else { return };
        spawn_local(self.watch_errors(console, path));
        if self.load_pages(console).await.is_some() {
            self.watch_pages(console, path).await;
            self.complete_rows(console).await;
        }
    }

    /// Reads the pages that are already there.
    async fn load_pages(self, console: Console) -> Option<()> {
        loop {
            let skip = self.row_count();
            let request = async || console.client().job_pages(self.id, skip).await;
            let part = self.retry_until_done(console, request).await?;
            self.rows.update(|rows| {
                let first = rows.len() as u64;
                let new_rows = (first..).zip(part.pages);
                rows.extend(new_rows.map(|(index, page)| Arc::new(PageRow { index, page })));
            });
            if part.next.is_none() {
                return Some(());
            }
        }
    }

    /// Replaces the rows that were made from documents of a running job: the server also knows their depth, duration
    /// and time.
    async fn complete_rows(self, console: Console) -> Option<()> {
        let is_incomplete = |row: &Arc<PageRow>| row.page.stored_at.is_none();
        let mut skip = self
            .rows
            .try_with_untracked(|rows| rows.iter().position(is_incomplete))?? as u64;
        while skip < self.row_count() {
            let request = async || console.client().job_pages(self.id, skip).await;
            let part = self.retry_until_done(console, request).await?;
            let count = part.pages.len() as u64;
            self.rows.update(|rows| {
                for (row, page) in rows.iter_mut().skip(skip as usize).zip(part.pages) {
                    *row = Arc::new(PageRow {
                        index: row.index,
                        page,
                    });
                }
            });
            skip += count;
            part.next.filter(|_| count > 0)?;
        }
        Some(())
    }

    fn row_count(self) -> u64 {
        self.rows
            .try_with_untracked(|rows| rows.len() as u64)
            .unwrap_or_default()
    }

    async fn watch_pages(self, console: Console, path: StatusPath) {
        let (mut failures, mut reconnects) = (0, console.reconnects.get_untracked());
        loop {
            // After a reconnect, sockets may work again.
            let now = console.reconnects.get_untracked();
            if now != reconnects {
                (failures, reconnects) = (0, now);
            }
            let query = StatusQuery {
                skip: self.row_count(),
                limit: Some(STATUS_DOCUMENTS),
            };
            let request = async || {
                console
                    .client()
                    .job_status::<Document>(path, self.id, query)
                    .await
            };
            let Some(progress) = self.retry_until_done(console, request).await else {
                return;
            };
            let (document_count, done) = (progress.data.len(), progress.next.is_none());
            self.push_documents(&progress.data);
            self.apply_status(&progress);
            if done {
                return;
            }
            if document_count as u64 == STATUS_DOCUMENTS {
                continue;
            }
            if failures < SOCKET_FAILURES && !self.ended_untracked() {
                let before = self.row_count();
                self.receive_pages(console, path).await;
                failures += u32::from(self.row_count() == before && !self.ended_untracked());
            } else {
                console
                    .wait_for_retry(if document_count > 0 {
                        STATUS_BUSY_MS
                    } else {
                        STATUS_IDLE_MS
                    })
                    .await;
            }
            if !self.is_active() {
                return;
            }
        }
    }

    /// Receives pages over the socket until it closes, and polls the counters meanwhile.
    async fn receive_pages(self, console: Console, path: StatusPath) {
        let key = console.key.get_untracked();
        let deliver = move |message| self.handle_message(message);
        let Some(socket) = JobSocket::open(&path.url("", self.id), self.row_count(), key.as_deref(), deliver)
        else {
            return;
        };
        let socket_closer: Box<dyn Fn()> = Box::new(socket.closer());
        self.socket_closer.try_set_value(Some(socket_closer));
        let open = StoredValue::new(true);
        spawn_local(async move {
            let (mut stale_polls, mut known_rows) = (0, self.row_count());
            loop {
                console.wait_for_retry(COUNTERS_POLL_MS).await;
                if !self.is_active() || !open.try_get_value().unwrap_or(false) {
                    return;
                }
                let response = console
                    .client()
                    .job_status::<serde::de::IgnoredAny>(path, self.id, counters_only())
                    .await;
                let before = std::mem::replace(&mut known_rows, self.row_count());
                // A socket that sends nothing while pages complete is stale, for example after the machine slept.
                let is_stale = match response {
                    Ok(progress) => {
                        self.apply_status(&progress);
                        progress.completed > known_rows && known_rows == before
                    }
                    Err(error) => {
                        console.handle_error(&error);
                        true
                    }
                };
                stale_polls = if is_stale { stale_polls + 1 } else { 0 };
                if stale_polls >= STALE_SOCKET_POLLS || self.ended_untracked() {
                    self.close_socket();
                }
            }
        });
        socket.closed().await;
        open.try_set_value(false);
        self.flush_buffer();
    }

    fn handle_message(self, message: LiveMessage) {
        match message {
            LiveMessage::Catchup { data } => {
                self.push_documents(&data.data);
                self.apply_status(&data);
            }
            LiveMessage::Document { data } => {
                let first = self
                    .buffered
                    .try_update_value(|buffered| {
                        buffered.push(*data);
                        buffered.len() == 1
                    })
                    .unwrap_or(false);
                // Batch pages that arrive close together into one update.
                if first {
                    spawn_local(async move {
                        browser::sleep(SOCKET_BATCH_MS).await;
                        self.flush_buffer();
                    });
                }
            }
            LiveMessage::Done { .. } | LiveMessage::Error { .. } => self.flush_buffer(),
        }
    }

    /// Moves the buffered pages to the rows.
    fn flush_buffer(self) {
        if let Some(buffered) = self.buffered.try_update_value(std::mem::take) {
            self.push_documents(&buffered);
        }
    }

    fn push_documents(self, documents: &[Document]) {
        if !documents.is_empty() {
            self.rows.try_update(|rows| {
                for document in documents {
                    rows.push(Arc::new(PageRow::from_document(rows.len() as u64, document)));
                }
            });
        }
    }

    fn apply_status<D>(self, progress: &JobProgress<D>) {
        if !self.is_active() {
            return;
        }
        let now = browser::now_ms();
        let recent = self.speed_samples.try_update_value(|speed_samples| {
            speed_samples.push_back((now, progress.completed));
            while speed_samples.len() > 2
                && speed_samples
                    .front()
                    .is_some_and(|(at, _)| now - at > SPEED_WINDOW_MS)
            {
                speed_samples.pop_front();
            }
            speed_samples.front().and_then(|(at, completed)| {
                let seconds = (now - at) / 1000.0;
                (seconds >= 1.0).then(|| progress.completed.saturating_sub(*completed) as f64 / seconds)
            })
        });
        let total_duration = progress.duration.filter(|duration| *duration > 0.0);
        let average = total_duration.map(|duration| progress.completed as f64 / duration);
        let speed = match progress.status.is_final() {
            true => average,
            false => recent.flatten().or(average),
        };
        self.speed.set(speed.unwrap_or(0.0));
        self.progress.set(Some(without_documents(progress)));
    }

    fn apply_counts(self, job: &ConsoleJob) {
        self.urls_left.set(job.urls_left.unwrap_or_default());
        let pace = job.pace.unwrap_or_default();
        if self.pace.with_untracked(|current| *current != pace) {
            self.pace.set(pace);
        }
    }

    async fn watch_errors(self, console: Console, path: StatusPath) {
        while self.is_active() {
            // Read the status before the errors, so that the last poll includes every error of the job.
            let ended = self.ended_untracked();
            let response = console.client().job_errors(path, self.id).await;
            if !self.is_active() {
                return;
            }
            match response {
                Ok(errors) if self.errors.with_untracked(|current| *current != errors) => {
                    self.errors.set(errors)
                }
                Ok(_) => {}
                Err(error) if error.is_transient() => {}
                Err(_) => return,
            }
            let job = console.client().console_job(self.id).await;
            if !self.is_active() {
                return;
            }
            if let Ok(job) = job {
                self.apply_counts(&job);
            }
            if ended {
                return;
            }
            let mut waited = 0;
            while waited < ERRORS_POLL_MS && self.is_active() && !self.ended_untracked() {
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
        let mut response: JobProgress = console.client().job_status(path, self.id, query).await?;
        Ok(response.data.pop())
    }

    /// Cancels the job; the next status reports it.
    pub async fn cancel(self, console: Console) -> Result<(), ClientError> {
        match self.path() {
            Some(path) => console.client().cancel_job(path, self.id).await.map(drop),
            None => Ok(()),
        }
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
